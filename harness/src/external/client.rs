//! This program as an MCP client of one compressor process: bounded in time, in bytes, in messages.

use std::{
    collections::BTreeSet,
    io,
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::fault::Fault;
use crate::stdio::{
    message::{self, CALL, INITIALIZE, INITIALIZED, LIST, LIST_CHANGED, METHOD_NOT_FOUND, Message, PING, Page},
    process::{Ending, GRACE, Launch, Line, Process, StartError},
};

/// Bytes of a reply that a model is shown; a longer one is cut, as clients do.
pub(super) const REPLY_BYTES: usize = 256 << 10;

/// How long and how much to take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// From the start of a process to its first tool list.
    pub start: Duration,
    /// For an answer to a call.
    pub call: Duration,
    /// For a process to end after its stdin was closed, again after it was asked to, and for its children after it.
    pub end: Duration,
    /// Bytes of one message.
    pub message_bytes: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Tools of one list.
    pub tools: usize,
    /// Lists in a row because a change was announced.
    pub relists: usize,
    /// Messages that come before an answer.
    pub messages: usize,
    /// Faults in a row after which an arm is not tried again.
    pub faults: u32,
}

/// The result of a request, or its error, as sent.
type Replied = Result<Box<RawValue>, Box<RawValue>>;

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            call: Duration::from_secs(30),
            end: GRACE,
            message_bytes: 16 << 20,
            pages: 200,
            tools: 10_000,
            relists: 8,
            messages: 10_000,
            faults: 3,
        }
    }
}

/// A tool as a compressor lists it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ListedTool {
    /// Its own name.
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) input_schema: Value,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    /// What a model reads.
    pub(super) text: String,
    pub(super) is_error: bool,
    /// The text was longer.
    pub(super) cut: bool,
}

/// A conversation with one process.
pub(super) struct Client {
    process: Process,
    limits: Limits,
    last_id: u64,
    changed: bool,
    /// Text that it wants its clients to show to a model.
    pub(super) instructions: String,
    /// It says that its list may change.
    pub(super) declares_changes: bool,
}

#[derive(Deserialize)]
struct Initialized {
    #[serde(rename = "protocolVersion")]
    _version: String,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default)]
    capabilities: Value,
}

#[derive(Deserialize)]
struct WireTool {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(rename = "inputSchema", default)]
    input_schema: Value,
}

#[derive(Deserialize)]
struct CallResult {
    #[serde(default)]
    content: Vec<Map<String, Value>>,
    #[serde(rename = "structuredContent", default)]
    structured: Option<Value>,
    #[serde(rename = "isError", default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct ErrorObject {
    #[serde(default)]
    message: String,
}

impl Client {
    /// Starts a process; it is to be [greeted](Self::greet) next.
    pub(super) fn start(launch: &Launch<'_>, limits: &Limits) -> Result<Self, Fault> {
        let process = Process::start(launch).map_err(|error| match error {
            StartError::NotFound { program } => Fault::CannotStart { program, cause: "no such program".to_owned() },
            StartError::Spawn { program, source } => Fault::CannotStart { program, cause: source.to_string() },
        })?;
        Ok(Self {
            process,
            limits: limits.clone(),
            last_id: 0,
            changed: false,
            instructions: String::new(),
            declares_changes: false,
        })
    }

    /// Shakes hands.
    pub(super) fn greet(&mut self, until: Instant) -> Result<(), Fault> {
        let asked = message::initialize(&json!({ "roots": { "listChanged": false } }));
        let bound = self.limits.start;
        let result = self.ask(INITIALIZE, &asked, until, bound)?.map_err(|error| refused(INITIALIZE, &error))?;
        let initialized: Initialized = parse(INITIALIZE, &result)?;
        self.instructions = initialized.instructions.unwrap_or_default();
        let declared = initialized.capabilities.pointer("/tools/listChanged").and_then(Value::as_bool);
        self.declares_changes = declared == Some(true);
        self.send(INITIALIZED, &message::notification(INITIALIZED).to_string())
    }

    /// The tool list, all pages, asked for again while a change is announced within `settle` of it.
    pub(super) fn list(&mut self, until: Instant, settle: Duration) -> Result<Vec<ListedTool>, Fault> {
        for _ in 0..=self.limits.relists {
            self.changed = false;
            let tools = self.list_once(until)?;
            self.take_waiting(Instant::now() + settle)?;
            if !self.changed {
                return Ok(tools);
            }
        }
        Err(Fault::Restless { times: self.limits.relists + 1 })
    }

    /// Whether a change was announced since the list was last asked for; listens for so long.
    pub(super) fn list_changed(&mut self, settle: Duration) -> Result<bool, Fault> {
        self.take_waiting(Instant::now() + settle)?;
        Ok(self.changed)
    }

    /// Calls a tool under its own name.
    pub(super) fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> Result<Answer, Fault> {
        let params = json!({ "name": tool, "arguments": arguments });
        let bound = self.limits.call;
        match self.ask(CALL, &params, Instant::now() + bound, bound)? {
            Ok(result) => Ok(shown(parse(CALL, &result)?)),
            Err(error) => {
                let said: ErrorObject = serde_json::from_str(error.get())
                    .map_err(|wrong| bad(CALL, format!("an error that is none: {wrong}")))?;
                Ok(cut(said.message, true))
            }
        }
    }

    /// Ends the process with all that it started.
    pub(super) fn end(mut self) -> Ending {
        self.process.end()
    }

    fn list_once(&mut self, until: Instant) -> Result<Vec<ListedTool>, Fault> {
        let mut tools: Vec<ListedTool> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut params = json!({});
        let bound = self.limits.start;
        for _ in 0..self.limits.pages {
            let result = self.ask(LIST, &params, until, bound)?.map_err(|error| refused(LIST, &error))?;
            let page = Page::read(&result).map_err(|cause| bad(LIST, cause))?;
            let listed: Vec<WireTool> = parse(LIST, page.tools)?;
            if tools.len() + listed.len() > self.limits.tools {
                return Err(Fault::TooManyTools { limit: self.limits.tools });
            }
            tools.extend(listed.into_iter().map(|tool| ListedTool {
                name: tool.name,
                description: tool.description,
                input_schema: tool.input_schema,
            }));
            let Some(cursor) = page.next().map_err(|cause| bad(LIST, cause))? else { return Ok(tools) };
            if !seen.insert(cursor.clone()) {
                break;
            }
            params = json!({ "cursor": cursor });
        }
        Err(Fault::EndlessPages { pages: seen.len() })
    }

    /// Sends a request and waits for its result or error; whatever comes in between is taken on the way.
    fn ask(
        &mut self,
        method: &str,
        params: &Value,
        until: Instant,
        bound: Duration,
    ) -> Result<Result<Box<RawValue>, Box<RawValue>>, Fault> {
        self.last_id += 1;
        self.send(method, &message::request(self.last_id, method, params).to_string())?;
        for _ in 0..self.limits.messages {
            match self.process.line(until) {
                Line::Text(line) => {
                    if let Some(answer) = self.take(&line, method)? {
                        return Ok(answer);
                    }
                }
                Line::TimedOut => return Err(Fault::no_answer(method, bound, self.process.last_words())),
                Line::Closed => return Err(self.ended(method)),
                Line::TooLarge => return Err(Fault::MessageTooLarge { limit: self.limits.message_bytes }),
            }
        }
        Err(Fault::Chatter { messages: self.limits.messages, method: method.to_owned() })
    }

    /// Takes what came without being asked for, until then.
    fn take_waiting(&mut self, until: Instant) -> Result<(), Fault> {
        for _ in 0..self.limits.messages {
            match self.process.line(until) {
                // Found out by whoever asks next.
                Line::TimedOut | Line::Closed => return Ok(()),
                Line::TooLarge => return Err(Fault::MessageTooLarge { limit: self.limits.message_bytes }),
                Line::Text(line) => drop(self.take(&line, LIST)?),
            }
            if self.changed {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes one line: the answer to the open request, or nothing.
    fn take(&mut self, line: &[u8], method: &str) -> Result<Option<Replied>, Fault> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let excerpt = || String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        let text = str::from_utf8(line).map_err(|_| Fault::NotUtf8 { excerpt: excerpt() })?;
        let message: Message<'_> = serde_json::from_str(text)
            .map_err(|error| Fault::NotJson { cause: error.to_string(), excerpt: excerpt() })?;
        match (message.method, message.id) {
            (Some(asked), Some(id)) => self.reply(&asked, id)?,
            (Some(told), None) => self.changed |= told == LIST_CHANGED,
            // An answer to an earlier request, or to none, is not ours to judge.
            (None, id) if id.map(RawValue::get) != Some(self.last_id.to_string().as_str()) => {}
            (None, _) => {
                return match (message.result, message.error) {
                    (_, Some(error)) => Ok(Some(Err(error.to_owned()))),
                    (Some(result), None) => Ok(Some(Ok(result.to_owned()))),
                    (None, None) => Err(bad(method, "it has neither result nor error".to_owned())),
                };
            }
        }
        Ok(None)
    }

    /// Answers a request of the process, so that it does not wait.
    fn reply(&mut self, asked: &str, id: &RawValue) -> Result<(), Fault> {
        let reply = match asked {
            PING => message::result(id, "{}"),
            "roots/list" => message::result(id, r#"{"roots":[]}"#),
            _ => message::error(id, METHOD_NOT_FOUND, &format!("this client offers no {asked}")),
        };
        self.send("an answer", &reply)
    }

    fn send(&mut self, method: &str, message: &str) -> Result<(), Fault> {
        match self.process.send(message.as_bytes()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(Fault::NotReading { method: method.to_owned() })
            }
            Err(_) => Err(self.ended(method)),
        }
    }

    fn ended(&mut self, method: &str) -> Fault {
        Fault::Ended { status: self.process.status(), method: method.to_owned(), stderr: self.process.last_words() }
    }
}

fn refused(method: &str, error: &RawValue) -> Fault {
    Fault::Refused { method: method.to_owned(), error: error.get().chars().take(300).collect() }
}

fn bad(method: &str, cause: String) -> Fault {
    Fault::BadAnswer { method: method.to_owned(), cause }
}

fn parse<'a, T: Deserialize<'a>>(method: &str, result: &'a RawValue) -> Result<T, Fault> {
    serde_json::from_str(result.get()).map_err(|error| bad(method, error.to_string()))
}

/// What a client shows to a model: text as it is, other blocks as JSON, structured content only where there is nothing
/// else, `_meta` never.
fn shown(result: CallResult) -> Answer {
    let mut texts: Vec<String> = Vec::with_capacity(result.content.len());
    for mut block in result.content {
        block.shift_remove("_meta");
        let text = match (block.get("type").and_then(Value::as_str), block.get("text")) {
            (Some("text"), Some(Value::String(text))) => text.clone(),
            _ => Value::Object(block).to_string(),
        };
        texts.push(text);
    }
    if texts.is_empty()
        && let Some(structured) = result.structured
    {
        texts.push(structured.to_string());
    }
    cut(texts.join("\n"), result.is_error)
}

/// No longer than a model is shown, and never empty, which providers refuse.
fn cut(mut text: String, is_error: bool) -> Answer {
    let cut = text.len() > REPLY_BYTES;
    if cut {
        let end = (0..=REPLY_BYTES).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
    }
    if text.is_empty() {
        "(no content)".clone_into(&mut text);
    }
    Answer { text, is_error, cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(result: &Value) -> Answer {
        shown(serde_json::from_value(result.clone()).unwrap())
    }

    #[test]
    fn a_model_reads_text_other_blocks_as_json_and_never_meta() {
        let answer = read(&json!({
            "content": [
                { "type": "text", "text": "one", "_meta": { "secret": 1 } },
                { "type": "image", "data": "x", "_meta": { "secret": 1 } },
            ],
            "structuredContent": { "also": "there" }, "_meta": { "secret": 1 }, "isError": true,
        }));
        assert_eq!(
            answer,
            Answer { text: "one\n{\"type\":\"image\",\"data\":\"x\"}".into(), is_error: true, cut: false }
        );
    }

    #[test]
    fn structured_content_stands_in_for_missing_content_and_nothing_is_not_empty() {
        assert_eq!(read(&json!({ "content": [], "structuredContent": { "a": 1 } })).text, "{\"a\":1}");
        assert_eq!(read(&json!({ "content": [] })).text, "(no content)");
        assert_eq!(read(&json!({ "content": [{ "type": "text", "text": "" }] })).text, "(no content)");
    }

    #[test]
    fn a_long_reply_is_cut_between_characters() {
        let answer = cut("é".repeat(REPLY_BYTES), false);
        assert!(answer.cut && answer.text.len() == REPLY_BYTES);
        let answer = cut(format!("x{}", "é".repeat(REPLY_BYTES)), false);
        assert_eq!(answer.text.len(), REPLY_BYTES - 1);
    }
}
