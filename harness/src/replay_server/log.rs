//! The log of calls that reached the server: JSON Lines, one per call, each written before the call is answered.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::Path,
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One call that reached the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reached {
    /// Catalog name.
    pub server: Arc<str>,
    /// Upstream tool name, as it was called.
    pub tool: Arc<str>,
    /// Arguments as they arrived.
    pub arguments: Map<String, Value>,
    /// Whether the tool exists and its original schema takes the arguments.
    pub valid: bool,
}

/// Where calls are logged to; nowhere, if nobody asked.
pub struct CallLog(Option<File>);

impl CallLog {
    /// Appends to a file or a pipe.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn to(path: &Path) -> io::Result<Self> {
        OpenOptions::new().append(true).create(true).open(path).map(Some).map(Self)
    }

    /// Logs nothing.
    pub fn none() -> Self {
        Self(None)
    }

    /// Writes one call, whole, in one go: several servers may append to one file.
    pub(crate) fn write(&mut self, call: &Reached) -> io::Result<()> {
        let Some(file) = &mut self.0 else { return Ok(()) };
        let mut line = serde_json::to_vec(call)?;
        line.push(b'\n');
        file.write_all(&line)
    }
}
