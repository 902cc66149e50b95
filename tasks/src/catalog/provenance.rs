//! Where a catalog comes from: `index.toml`, or the `index.json` that a capture writes.
//!
//! Other keys are ignored: an index is a note about the files, and other tools may write more into it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{error::TasksError, mark::without_mark};

/// One server's entry in the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The catalog's name.
    pub server: String,
    /// The published package.
    #[serde(default)]
    pub package: String,
    /// The registry it was published on, such as `npm` or `pypi`.
    #[serde(default)]
    pub registry: String,
    /// Its exact version.
    #[serde(default)]
    pub version: String,
    /// The registry's integrity value for that version.
    #[serde(default)]
    pub integrity: String,
    /// The licence it states.
    #[serde(default)]
    pub licence: String,
    /// The command that was run.
    #[serde(default)]
    pub command: String,
    /// Environment set for it, `NAME=value`; never secrets.
    #[serde(default)]
    pub env: Vec<String>,
    /// Capabilities that the capturing client declared.
    #[serde(default)]
    pub client_capabilities: Value,
    /// Protocol version in the server's answer.
    #[serde(default)]
    pub protocol_version_answered: String,
    /// Number of tools.
    #[serde(default)]
    pub tools: Option<u64>,
    /// SHA-256 of the file, in hex.
    pub sha256: String,
    /// Day of the capture, `YYYY-MM-DD`.
    #[serde(default)]
    pub captured: Option<String>,
    /// Protocol version that the client asked for.
    #[serde(default)]
    pub protocol_version_requested: Option<String>,
}

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    captured: Option<String>,
    #[serde(default)]
    protocol_version_requested: Option<String>,
    servers: Vec<Provenance>,
}

/// Parses an index; `name` tells `index.toml` from `index.json`, `file` is named in messages.
pub(super) fn parse(file: &str, name: &str, bytes: &[u8]) -> Result<Vec<Provenance>, TasksError> {
    let index_error = |cause: String| TasksError::Index { file: file.to_owned(), cause };
    let mut index: Index = if name == "index.toml" {
        let text = str::from_utf8(bytes).map_err(|error| index_error(error.to_string()))?;
        toml::from_str(text).map_err(|error| index_error(error.to_string()))?
    } else {
        serde_json::from_slice(without_mark(bytes)).map_err(|error| index_error(error.to_string()))?
    };
    for server in &mut index.servers {
        // The capture states both once, for all servers.
        server.captured = server.captured.take().or_else(|| index.captured.clone());
        server.protocol_version_requested =
            server.protocol_version_requested.take().or_else(|| index.protocol_version_requested.clone());
    }
    Ok(index.servers)
}
