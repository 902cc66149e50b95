//! An upstream server that replays a catalog: what stands behind a compressor under test.
//!
//! It is as demanding and as tolerant as real servers and the compressors in the wild need (each point broke one of them):
//! arguments are validated against the original schema; a tool with an output schema answers with structured content of
//! that shape; any protocol version is taken; ids may be numbers or strings; `_meta` is ignored; resources and prompts are
//! empty lists although nobody declared them. Results are canned and say nothing, and every call that arrives is logged
//! before it is answered: scoring takes what reached the server, not what a compressor says of it.

mod canned;
mod catalog;
mod log;

use std::io::{self, BufRead, Read as _, Write};

use bench_tasks::catalog::Catalogs;
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use thiserror::Error;

use self::catalog::Replayed;
pub use self::log::{CallLog, Reached};
use crate::stdio::{
    PROTOCOL_VERSION,
    message::{
        self, CALL, INITIALIZE, INVALID_PARAMS, INVALID_REQUEST, LIST, METHOD_NOT_FOUND, Message, PARSE_ERROR, PING,
    },
};

/// Bytes that one line of a client may have.
const MAX_LINE: u64 = 64 << 20;

/// Why a catalog cannot be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// No catalog has this name.
    #[error("no catalog is called `{server}`; there are {known}")]
    Unknown {
        /// The name.
        server: String,
        /// Names there are.
        known: String,
    },
    /// A catalog's own text could not be read again.
    #[error("catalog `{server}`: {source}")]
    Catalog {
        /// The catalog.
        server: String,
        /// The cause.
        source: serde_json::Error,
    },
}

/// A server that replays one catalog, or several as one.
pub struct ReplayServer {
    replayed: Replayed,
    list_changed: Option<bool>,
}

impl ReplayServer {
    /// A server of one catalog, or of all of them as one, whose tools then are called `server__tool`.
    ///
    /// `list_changed` overrides whether the server declares that its tool list may change; `None`: as captured.
    ///
    /// # Errors
    /// No catalog of this name.
    pub fn new(catalogs: &Catalogs, server: Option<&str>, list_changed: Option<bool>) -> Result<Self, ReplayError> {
        let replayed = match (server, catalogs.catalogs.as_slice()) {
            (None, [only]) => Replayed::one(only)?,
            (None, _) => Replayed::all(catalogs)?,
            (Some(server), _) => {
                let names = || catalogs.catalogs.iter().map(|catalog| &*catalog.server).collect::<Vec<_>>().join(", ");
                let unknown = || ReplayError::Unknown { server: server.to_owned(), known: names() };
                Replayed::one(catalogs.get(server).ok_or_else(unknown)?)?
            }
        };
        Ok(Self { replayed, list_changed })
    }

    /// Answers every line of `input` until its end. Each answer is flushed before the next line is read.
    ///
    /// # Errors
    /// A stream that broke, a line beyond 64 MiB, a log that cannot be written.
    pub fn serve(&self, mut input: impl BufRead, mut output: impl Write, log: &mut CallLog) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(());
            }
            if read as u64 == MAX_LINE {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a line of 64 MiB or more on stdin"));
            }
            if let Some(mut answer) = self.answer(&line, log)? {
                answer.push('\n');
                output.write_all(answer.as_bytes())?;
                output.flush()?;
            }
        }
    }

    /// The answer to one line; none to a notification, an answer or a blank line.
    fn answer(&self, line: &[u8], log: &mut CallLog) -> io::Result<Option<String>> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let message: Message<'_> = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => {
                let code = if error.is_data() { INVALID_REQUEST } else { PARSE_ERROR };
                return Ok(Some(message::error(RawValue::NULL, code, &error.to_string())));
            }
        };
        let (Some(id), Some(method)) = (message.id, message.method.as_deref()) else { return Ok(None) };
        let answer = match method {
            INITIALIZE => Ok(self.initialize(message.params)),
            PING | "logging/setLevel" => Ok("{}".to_owned()),
            LIST => self.page(message.params),
            CALL => self.call(message.params, log)?,
            "resources/list" => Ok(r#"{"resources":[]}"#.to_owned()),
            "resources/templates/list" => Ok(r#"{"resourceTemplates":[]}"#.to_owned()),
            "prompts/list" => Ok(r#"{"prompts":[]}"#.to_owned()),
            other => Err((METHOD_NOT_FOUND, format!("this server offers no {other}"))),
        };
        Ok(Some(match answer {
            Ok(result) => message::result(id, &result),
            Err((code, why)) => message::error(id, code, &why),
        }))
    }

    /// Asked as the capture asked, a server answers with the bytes that were captured; asked for another version of the
    /// protocol, it speaks that one.
    fn initialize(&self, params: Option<&RawValue>) -> String {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "protocolVersion")]
            version: Option<String>,
        }
        let asked = params.and_then(|params| serde_json::from_str::<Params>(params.get()).ok());
        let asked = asked.and_then(|params| params.version).filter(|version| version != PROTOCOL_VERSION);
        let captured = &self.replayed.initialize;
        if asked.is_none() && self.list_changed.is_none() {
            return captured.get().to_owned();
        }
        let mut answer: Map<String, Value> = serde_json::from_str(captured.get()).unwrap_or_default();
        if let Some(version) = asked {
            answer.insert("protocolVersion".to_owned(), version.into());
        }
        if let Some(changes) = self.list_changed {
            let capabilities = answer.entry("capabilities").or_insert_with(|| json!({}));
            if let Some(capabilities) = capabilities.as_object_mut() {
                capabilities.insert("tools".to_owned(), json!({ "listChanged": changes }));
            }
        }
        Value::Object(answer).to_string()
    }

    /// The page that a cursor names; without one the first.
    fn page(&self, params: Option<&RawValue>) -> Answer {
        #[derive(Deserialize)]
        struct Params {
            cursor: Option<String>,
        }
        let cursor = params.and_then(|params| serde_json::from_str::<Params>(params.get()).ok()?.cursor);
        self.replayed.page(cursor.as_deref()).map(str::to_owned).ok_or_else(|| {
            (INVALID_PARAMS, format!("tools/list gave out no cursor {:?}", cursor.as_deref().unwrap_or_default()))
        })
    }

    fn call(&self, params: Option<&RawValue>, log: &mut CallLog) -> io::Result<Answer> {
        #[derive(Deserialize)]
        struct Params {
            name: String,
            arguments: Option<Map<String, Value>>,
        }
        let params: Params = match serde_json::from_str(params.map_or("{}", RawValue::get)) {
            Ok(params) => params,
            Err(error) => return Ok(Err((INVALID_PARAMS, format!("tools/call: {error}")))),
        };
        let arguments = params.arguments.unwrap_or_default();
        let Some(tool) = self.replayed.tool(&params.name) else {
            let server = self.replayed.name.clone();
            log.write(&Reached { server, tool: params.name.as_str().into(), arguments, valid: false })?;
            return Ok(Err((INVALID_PARAMS, format!("Unknown tool: {}", params.name))));
        };
        let refused = tool.definition.validate(&arguments).err();
        let valid = refused.is_none();
        log.write(&Reached { server: tool.server.clone(), tool: tool.definition.name.clone(), arguments, valid })?;
        Ok(Ok(match refused {
            None => tool.result.clone(),
            Some(why) => {
                let text = format!("Input validation error: {why}");
                json!({ "content": [{ "type": "text", "text": text }], "isError": true }).to_string()
            }
        }))
    }
}

/// A result as JSON text, or an error's code and message.
type Answer = Result<String, (i32, String)>;

#[cfg(test)]
mod tests;
