//! What a compressor can do wrong, by name: a fault ends an episode as the arm's, unless it is the harness's own; an oddity
//! is only noted.

use std::{collections::BTreeMap, sync::Mutex, sync::PoisonError, time::Duration};

use serde::Serialize;
use thiserror::Error;

/// Why a compressor cannot go on.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Fault {
    /// The program could not be run.
    #[error("{program} cannot be run: {cause}")]
    CannotStart {
        /// The program.
        program: String,
        /// The cause.
        cause: String,
    },
    /// A command that is to be run before the start failed.
    #[error("`{command}` failed ({status}){stderr}")]
    PrepareFailed {
        /// The command.
        command: String,
        /// How it ended.
        status: String,
        /// The last of what it said, as a clause.
        stderr: String,
    },
    /// The time for an answer is over.
    #[error("no answer to {method} within {seconds} s{stderr}")]
    NoAnswer {
        /// What was asked.
        method: String,
        /// The bound, in seconds.
        seconds: f64,
        /// What it last said on stderr, as a clause.
        stderr: String,
    },
    /// It does not read what it is sent.
    #[error("it does not read its stdin: {method} waits to be taken")]
    NotReading {
        /// What was to be asked.
        method: String,
    },
    /// It ended although its stdin was open.
    #[error("it ended ({status}) before it answered {method}{stderr}")]
    Ended {
        /// How it ended.
        status: String,
        /// What was asked.
        method: String,
        /// What it last said on stderr, as a clause.
        stderr: String,
    },
    /// A line on its stdout is no JSON-RPC message.
    #[error("a line on its stdout is not a JSON-RPC message ({cause}): {excerpt:?}")]
    NotJson {
        /// What is wrong.
        cause: String,
        /// Its start.
        excerpt: String,
    },
    /// A line on its stdout is not UTF-8.
    #[error("a line on its stdout is not UTF-8: {excerpt:?}")]
    NotUtf8 {
        /// Its start.
        excerpt: String,
    },
    /// A message beyond any use.
    #[error("it sent a message of more than {limit} bytes")]
    MessageTooLarge {
        /// The bound.
        limit: usize,
    },
    /// It talks without answering.
    #[error("it sent {messages} messages without an answer to {method} among them")]
    Chatter {
        /// How many.
        messages: usize,
        /// What was asked.
        method: String,
    },
    /// It refused what every server must do.
    #[error("it refused {method}: {error}")]
    Refused {
        /// What was asked.
        method: String,
        /// Its error, as sent.
        error: String,
    },
    /// An answer lacks what the protocol asks for.
    #[error("its answer to {method} is wrong: {cause}")]
    BadAnswer {
        /// What was asked.
        method: String,
        /// What is wrong.
        cause: String,
    },
    /// The list never ends.
    #[error("tools/list has more than {pages} pages, or goes in a circle")]
    EndlessPages {
        /// Pages that were taken.
        pages: usize,
    },
    /// More tools than any model takes.
    #[error("it lists more than {limit} tools")]
    TooManyTools {
        /// The bound.
        limit: usize,
    },
    /// The list never settles.
    #[error("it announced a changed tool list {times} times and never came to rest")]
    Restless {
        /// How often.
        times: usize,
    },
    /// A provider would refuse the whole request because of this tool.
    #[error("its tool {tool:?} cannot be shown to a model: {cause}")]
    IllegalTool {
        /// Its own name.
        tool: String,
        /// What is wrong.
        cause: String,
    },
    /// It was never ready.
    #[error("it was not ready within {seconds} s: {probe} never gave {wanted:?}")]
    NotReady {
        /// The bound, in seconds.
        seconds: f64,
        /// The tool that was asked.
        probe: String,
        /// What was waited for.
        wanted: String,
    },
    /// One call of the model became several.
    #[error("one call of {tool} reached the server {times} times")]
    ForwardedSeveral {
        /// The tool that the model called, under its own name.
        tool: String,
        /// How often.
        times: usize,
    },
    /// The harness could not do its own part.
    #[error("the harness failed: {cause}")]
    Harness {
        /// The cause.
        cause: String,
    },
    /// It failed so often in a row that it is not tried again.
    #[error("given up after {times} faults in a row; the last: {last}")]
    GivenUp {
        /// How often.
        times: u32,
        /// The last fault.
        last: Box<Fault>,
    },
}

impl Fault {
    /// A short name, the same for all faults of a kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::CannotStart { .. } => "cannot-start",
            Self::PrepareFailed { .. } => "prepare-failed",
            Self::NoAnswer { .. } => "no-answer",
            Self::NotReading { .. } => "not-reading",
            Self::Ended { .. } => "ended",
            Self::NotJson { .. } => "not-json",
            Self::NotUtf8 { .. } => "not-utf8",
            Self::MessageTooLarge { .. } => "message-too-large",
            Self::Chatter { .. } => "chatter",
            Self::Refused { .. } => "refused",
            Self::BadAnswer { .. } => "bad-answer",
            Self::EndlessPages { .. } => "endless-pages",
            Self::TooManyTools { .. } => "too-many-tools",
            Self::Restless { .. } => "restless",
            Self::IllegalTool { .. } => "illegal-tool",
            Self::NotReady { .. } => "not-ready",
            Self::ForwardedSeveral { .. } => "forwarded-several",
            Self::Harness { .. } => "harness",
            Self::GivenUp { .. } => "given-up",
        }
    }

    /// Whether the harness failed and not the compressor: nothing of it is held against the arm.
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Harness { .. })
    }

    /// The answer to `method` did not come in time.
    pub(super) fn no_answer(method: &str, after: Duration, stderr: String) -> Self {
        Self::NoAnswer { method: method.to_owned(), seconds: after.as_secs_f64(), stderr }
    }
}

/// What is worth knowing of a compressor although it went on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oddity {
    /// A call of an upstream tool by its own name was answered as a success, and nothing reached the server.
    AnsweredItself,
    /// A call was answered as an error, and nothing reached the server.
    Refused,
    /// A call reached another upstream tool than the one that was named.
    OtherTool,
    /// A call reached the server with other arguments than the model gave.
    OtherArguments,
    /// A call reached the server after it was answered.
    LateCall,
    /// A fresh process lists other tools than the first one did.
    UnstableList,
    /// Upstream tools are shown, but not all of them, and nothing else leads to the rest.
    DroppedTools,
    /// A shown tool's description is not the upstream one's and speaks to the model about other tools or about itself.
    Instructs,
    /// A reply so long that it was cut.
    ReplyCut,
    /// Processes that it started outlived it.
    LeftChildren,
    /// Closing its stdin did not end it.
    IgnoredClose,
}

impl Oddity {
    /// A short name.
    pub fn kind(self) -> &'static str {
        match self {
            Self::AnsweredItself => "answered-itself",
            Self::Refused => "refused-call",
            Self::OtherTool => "other-tool",
            Self::OtherArguments => "other-arguments",
            Self::LateCall => "late-call",
            Self::UnstableList => "unstable-list",
            Self::DroppedTools => "dropped-tools",
            Self::Instructs => "instructs",
            Self::ReplyCut => "reply-cut",
            Self::LeftChildren => "left-children",
            Self::IgnoredClose => "ignored-close",
        }
    }
}

/// How often something was found, and the first case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How often.
    pub times: u64,
    /// The first case, in words.
    pub first: String,
}

/// Findings about one compressor, by kind, from any number of threads.
#[derive(Debug, Default)]
pub struct Findings(Mutex<BTreeMap<&'static str, Finding>>);

impl Findings {
    /// Notes a fault.
    pub(super) fn fault(&self, fault: &Fault) {
        self.note(fault.kind(), || fault.to_string());
    }

    /// Notes an oddity.
    pub(super) fn oddity(&self, oddity: Oddity, first: impl FnOnce() -> String) {
        self.note(oddity.kind(), first);
    }

    fn note(&self, kind: &'static str, first: impl FnOnce() -> String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(kind).or_insert_with(|| Finding { times: 0, first: first() }).times += 1;
    }

    /// All of them, by kind.
    pub fn all(&self) -> BTreeMap<&'static str, Finding> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
