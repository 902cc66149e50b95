//! Catalogs: what MCP servers answered to `tools/list`, byte for byte.
//!
//! A catalog file is `{"initialize": <result>, "tools_list_pages": [<result>, …]}`, where each `<result>` is what the
//! server sent. The bytes are kept and hashed as they are; what is parsed beside them keeps key order, unknown members
//! and numbers as sent.

mod audit;
mod parse;
mod provenance;
mod tool;
mod validate;
mod vendored;

use std::{fs, path::Path, sync::Arc};

use serde_json::Value;
use sha2::{Digest, Sha256};

pub use self::{
    audit::{CatalogWarning, audit},
    provenance::Provenance,
    tool::ToolDef,
};
use crate::error::TasksError;

/// All catalogs of a suite, in name order.
#[derive(Debug, Clone)]
pub struct Catalogs {
    /// The catalogs, sorted by server name (bytewise), names unique.
    pub catalogs: Vec<Catalog>,
}

/// One server's catalog.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// The catalog's name: its file name without `.json`.
    pub server: Arc<str>,
    /// The file as it is.
    pub bytes: Arc<[u8]>,
    /// SHA-256 of [`Catalog::bytes`], in lower-case hex.
    pub sha256: String,
    /// The `initialize` result; `null` where the file has none.
    pub initialize: Value,
    /// The instructions in the `initialize` result: context that a client shows to the model.
    pub instructions: Option<String>,
    /// The tools of all pages, in upstream order, names unique.
    pub tools: Vec<Arc<ToolDef>>,
    /// Number of pages that `tools/list` took.
    pub pages: usize,
    /// Where it comes from, if an index beside it says so.
    pub provenance: Option<Provenance>,
}

impl Catalogs {
    /// The eight reference servers that are compiled into this crate.
    pub fn vendored() -> Result<Self, TasksError> {
        vendored::load()
    }

    /// Reads every `*.json` of `folder` but `index.json`, and `index.toml` or `index.json` where there is one.
    ///
    /// # Errors
    /// Names the file, the place in it and the cause; also when the folder holds no catalog.
    pub fn load(folder: &Path) -> Result<Self, TasksError> {
        let read_error = |path: &Path, source| TasksError::Read { path: path.to_owned(), source };
        let mut files = Vec::new();
        let mut index = Vec::new();
        for entry in fs::read_dir(folder).map_err(|source| read_error(folder, source))? {
            let path = entry.map_err(|source| read_error(folder, source))?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name == "index.toml" || name == "index.json" {
                let bytes = fs::read(&path).map_err(|source| read_error(&path, source))?;
                index.extend(provenance::parse(&path.display().to_string(), &name, &bytes)?);
            } else if let Some(server) = name.strip_suffix(".json") {
                let bytes = fs::read(&path).map_err(|source| read_error(&path, source))?;
                files.push((server.to_owned(), path.display().to_string(), bytes.into()));
            }
        }
        if files.is_empty() {
            return Err(TasksError::NoCatalog { path: folder.to_owned() });
        }
        Self::from_files(files, &index)
    }

    /// Builds catalogs from `(server, file as named in messages, bytes)` and the provenance known of them.
    pub fn from_files(files: Vec<(String, String, Arc<[u8]>)>, index: &[Provenance]) -> Result<Self, TasksError> {
        let mut catalogs = Vec::with_capacity(files.len());
        for (server, file, bytes) in files {
            let mut catalog = Catalog::parse(&server, &file, bytes)?;
            if let Some(provenance) = index.iter().find(|entry| entry.server == server) {
                if !provenance.sha256.eq_ignore_ascii_case(&catalog.sha256) {
                    let cause = format!(
                        "is sha256 {}, but the index says {}; capture it again or correct the index",
                        catalog.sha256, provenance.sha256
                    );
                    return Err(TasksError::Catalog { file, place: "whole file".into(), cause });
                }
                catalog.provenance = Some(provenance.clone());
            }
            catalogs.push(catalog);
        }
        catalogs.sort_by(|a, b| a.server.cmp(&b.server));
        Ok(Self { catalogs })
    }

    /// The catalog of `server`.
    pub fn get(&self, server: &str) -> Option<&Catalog> {
        let at = self.catalogs.binary_search_by(|catalog| (*catalog.server).cmp(server)).ok()?;
        self.catalogs.get(at)
    }

    /// The definition of one upstream tool.
    pub fn tool(&self, server: &str, tool: &str) -> Option<&Arc<ToolDef>> {
        self.get(server)?.tool(tool)
    }

    /// Number of tools over all catalogs.
    pub fn tool_count(&self) -> usize {
        self.catalogs.iter().map(|catalog| catalog.tools.len()).sum()
    }

    /// All tools in catalog order, then upstream order.
    pub fn tools(&self) -> impl Iterator<Item = (&Catalog, &Arc<ToolDef>)> {
        self.catalogs.iter().flat_map(|catalog| catalog.tools.iter().map(move |tool| (catalog, tool)))
    }
}

impl Catalog {
    /// Parses one catalog file; `file` is only named in messages.
    ///
    /// # Errors
    /// Names file, line and column or tool, and cause: truncated JSON, a tool without a name, two tools of one name, a
    /// lone surrogate, a member of the wrong type.
    pub fn parse(server: &str, file: &str, bytes: Arc<[u8]>) -> Result<Self, TasksError> {
        if let Some(why) = parse::unprintable(server) {
            let (file, place) = (file.escape_debug().to_string(), "file name".to_owned());
            return Err(TasksError::Catalog { file, place, cause: format!("names a server with {why}") });
        }
        let parsed = parse::parse(file, &bytes)?;
        let instructions = parsed.initialize.get("instructions").and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            server: server.into(),
            sha256: hex(&Sha256::digest(&bytes)),
            initialize: parsed.initialize,
            instructions,
            tools: parsed.tools,
            pages: parsed.pages,
            provenance: None,
            bytes,
        })
    }

    /// The definition of one upstream tool.
    pub fn tool(&self, name: &str) -> Option<&Arc<ToolDef>> {
        self.tools.iter().find(|tool| &*tool.name == name)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
