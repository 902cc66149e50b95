//! The conversation: initialize, list page by page, list again while the server says that its list changed.

use std::{collections::BTreeSet, time::Instant};

use serde_json::{Value, json, value::RawValue};

use super::{CaptureError, CaptureOptions, Captured};
use crate::stdio::{
    message::{self, INITIALIZE, INITIALIZED, LIST, LIST_CHANGED, METHOD_NOT_FOUND, Message, PING, Page},
    process::{Line, Process},
};

/// One conversation with a server.
pub(super) struct Session<'a> {
    process: Process,
    options: &'a CaptureOptions,
    deadline: Instant,
    /// Id of the last request.
    last_id: u64,
    /// Lines read from stdout.
    lines: usize,
    /// Changes announced since the list was last begun.
    changed: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(process: Process, options: &'a CaptureOptions) -> Self {
        let deadline = Instant::now() + options.timeout;
        Self { process, options, deadline, last_id: 0, lines: 0, changed: false }
    }

    pub(super) fn run(&mut self) -> Result<Captured, CaptureError> {
        let initialize = self.ask(INITIALIZE, &message::initialize(&json!({})))?;
        let parsed: Value = serde_json::from_str(initialize.get()).map_err(|error| answer(INITIALIZE, &error))?;
        if !parsed.get("protocolVersion").is_some_and(Value::is_string) {
            return Err(CaptureError::Answer { method: INITIALIZE, cause: "it has no protocolVersion".to_owned() });
        }
        self.send(INITIALIZED, &message::notification(INITIALIZED).to_string())?;
        for lists in 1..=self.options.max_relists {
            self.changed = false;
            let pages = self.list()?;
            if !self.changed {
                self.settle()?;
            }
            if !self.changed {
                return Ok(Captured { initialize, pages, lists });
            }
        }
        Err(CaptureError::Restless { times: self.options.max_relists })
    }

    pub(super) fn end(&mut self) {
        self.process.end();
    }

    fn list(&mut self) -> Result<Vec<Box<RawValue>>, CaptureError> {
        let mut pages = Vec::new();
        let mut seen = BTreeSet::new();
        let mut parameters = json!({});
        loop {
            if pages.len() == self.options.max_pages {
                return Err(CaptureError::TooManyPages { limit: self.options.max_pages });
            }
            let page = self.ask(LIST, &parameters)?;
            let next = next_cursor(&page)?;
            pages.push(page);
            let Some(cursor) = next else { return Ok(pages) };
            if !seen.insert(cursor.clone()) {
                return Err(CaptureError::RepeatedCursor { page: pages.len(), cursor });
            }
            parameters = json!({ "cursor": cursor });
        }
    }

    /// Listens until nothing was announced for a while. A server that closes its stdout has nothing to add.
    fn settle(&mut self) -> Result<(), CaptureError> {
        let until = (Instant::now() + self.options.settle).min(self.deadline);
        while !self.changed {
            match self.process.line(until) {
                Line::TimedOut | Line::Closed => return Ok(()),
                Line::TooLarge => return Err(CaptureError::TooLarge { limit: self.options.max_bytes }),
                Line::Text(line) => drop(self.take(&line, LIST)?),
            }
        }
        Ok(())
    }

    /// Sends a request and waits for its result; whatever comes in between is taken on the way.
    fn ask(&mut self, method: &'static str, parameters: &Value) -> Result<Box<RawValue>, CaptureError> {
        self.last_id += 1;
        self.send(method, &message::request(self.last_id, method, parameters).to_string())?;
        loop {
            match self.process.line(self.deadline) {
                Line::Text(line) => {
                    if let Some(result) = self.take(&line, method)? {
                        return Ok(result);
                    }
                }
                Line::TimedOut => {
                    return Err(CaptureError::NoAnswer {
                        method: method.to_owned(),
                        seconds: self.options.timeout.as_secs_f64(),
                        command: self.options.shown(),
                        stderr: self.process.last_words(),
                    });
                }
                Line::Closed => return Err(self.ended(method)),
                Line::TooLarge => return Err(CaptureError::TooLarge { limit: self.options.max_bytes }),
            }
        }
    }

    /// Takes one line: the result of the open request, or nothing.
    fn take(&mut self, line: &[u8], method: &'static str) -> Result<Option<Box<RawValue>>, CaptureError> {
        self.lines += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        let message: Message<'_> = serde_json::from_slice(line).map_err(|error| CaptureError::Invalid {
            line: self.lines,
            cause: error.to_string(),
            excerpt: String::from_utf8_lossy(line).chars().take(80).collect(),
        })?;
        match (message.method, message.id) {
            (Some(name), Some(id)) => self.reply(&name, id)?,
            (Some(name), None) => self.changed |= name == LIST_CHANGED,
            // An answer to an earlier request, or to none, is not ours to judge.
            (None, id) if id.map(RawValue::get) != Some(self.last_id.to_string().as_str()) => {}
            (None, _) => {
                if let Some(error) = message.error {
                    return Err(CaptureError::Refused { method, error: error.get().to_owned() });
                }
                let Some(result) = message.result else {
                    return Err(CaptureError::Answer { method, cause: "it has neither result nor error".to_owned() });
                };
                return Ok(Some(result.to_owned()));
            }
        }
        Ok(None)
    }

    /// Answers a request of the server's, so that it does not wait.
    fn reply(&mut self, method: &str, id: &RawValue) -> Result<(), CaptureError> {
        // A client without capabilities offers none but this.
        let reply = if method == PING {
            message::result(id, "{}")
        } else {
            message::error(id, METHOD_NOT_FOUND, &format!("this client offers no {method}"))
        };
        self.send("an answer", &reply)
    }

    fn send(&mut self, method: &'static str, message: &str) -> Result<(), CaptureError> {
        match self.process.send(message.as_bytes()) {
            Ok(()) => Ok(()),
            // A server that is gone says more by how it ended.
            Err(source) if source.kind() == std::io::ErrorKind::BrokenPipe => Err(self.ended(method)),
            Err(source) => Err(CaptureError::Send { method, source }),
        }
    }

    fn ended(&mut self, method: &str) -> CaptureError {
        CaptureError::Ended {
            command: self.options.shown(),
            status: self.process.status(),
            method: method.to_owned(),
            stderr: self.process.last_words(),
        }
    }
}

/// The cursor of the page after this one.
fn next_cursor(page: &RawValue) -> Result<Option<String>, CaptureError> {
    Page::read(page).and_then(|page| page.next()).map_err(|cause| CaptureError::Answer { method: LIST, cause })
}

fn answer(method: &'static str, error: &serde_json::Error) -> CaptureError {
    CaptureError::Answer { method, cause: error.to_string() }
}
