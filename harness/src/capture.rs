//! Capturing a catalog: a stdio MCP client that keeps what the server sends byte for byte.
//!
//! JSON-RPC is spoken raw, not through an SDK: an SDK would re-encode the results, and the bytes are what a catalog is.
//! Time and memory are bounded, stderr is drained, and the server's whole process group is ended.

mod error;
mod session;
#[cfg(test)]
mod tests;

use std::{ffi::OsString, time::Duration};

use bench_tasks::Catalog;
use serde_json::value::RawValue;

pub use self::error::CaptureError;
use self::session::Session;
use crate::stdio::process::{GRACE, Launch, Process};

/// What to run, and how long and how much to take.
#[derive(Debug, Clone)]
pub struct CaptureOptions {
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// Time for the whole capture.
    pub timeout: Duration,
    /// The list counts once no change was announced for this long.
    pub settle: Duration,
    /// Bytes taken from the server's stdout in all.
    pub max_bytes: usize,
    /// Pages taken of one list.
    pub max_pages: usize,
    /// Times that the list is asked for again because a change was announced.
    pub max_relists: usize,
}

impl CaptureOptions {
    /// A command with the default bounds: 30 s, one quiet second, 64 MiB, 1,000 pages, 20 lists.
    pub fn new(command: Vec<OsString>) -> Self {
        Self {
            command,
            timeout: Duration::from_secs(30),
            settle: Duration::from_secs(1),
            max_bytes: 64 << 20,
            max_pages: 1000,
            max_relists: 20,
        }
    }

    /// The command as a person would type it, for messages.
    fn shown(&self) -> String {
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    }
}

/// What a server sent.
#[derive(Debug, Clone)]
pub struct Captured {
    /// The `initialize` result.
    pub initialize: Box<RawValue>,
    /// The `tools/list` results of the last list, in page order.
    pub pages: Vec<Box<RawValue>>,
    /// How often the list was asked for; more than once where the server announced a change.
    pub lists: usize,
}

impl Captured {
    /// The catalog file: the results as sent, in one JSON object and with a newline at the end.
    pub fn file(&self) -> Vec<u8> {
        let pages: Vec<&str> = self.pages.iter().map(|page| page.get()).collect();
        format!("{{\"initialize\":{},\"tools_list_pages\":[{}]}}\n", self.initialize.get(), pages.join(","))
            .into_bytes()
    }

    /// The catalog under this name.
    ///
    /// # Errors
    /// If the list is one that no client could use, such as one with a tool twice.
    pub fn catalog(&self, name: &str) -> Result<Catalog, CaptureError> {
        Ok(Catalog::parse(name, &format!("{name}.json"), self.file().into())?)
    }

    /// A name for the catalog: the server's own, in letters that a tool name can hold; `server` if nothing is left.
    pub fn suggested_name(&self) -> String {
        let initialize: serde_json::Value = serde_json::from_str(self.initialize.get()).unwrap_or_default();
        let own = initialize.pointer("/serverInfo/name").and_then(serde_json::Value::as_str).unwrap_or_default();
        let legal: String = own.chars().map(|c| if is_name_char(c) { c } else { '-' }).collect();
        match legal.trim_matches('-') {
            "" => "server".to_owned(),
            name => name.to_owned(),
        }
    }
}

/// Whether a catalog can have this name: letters, digits, `_` and `-`, since it becomes a part of tool names.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Starts the server, takes its tool list, and ends it.
pub fn capture(options: &CaptureOptions) -> Result<Captured, CaptureError> {
    let launch = Launch {
        command: &options.command,
        environment: None,
        folder: None,
        line_bytes: options.max_bytes,
        total_bytes: options.max_bytes as u64,
        grace: GRACE,
    };
    let process = Process::start(&launch)?;
    let mut session = Session::new(process, options);
    let captured = session.run();
    session.end();
    captured
}
