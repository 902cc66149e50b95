//! Why a catalog could not be captured.

use std::io;

use bench_tasks::TasksError;
use thiserror::Error;

use crate::stdio::process::StartError;

/// Why a catalog could not be captured; each message says what was done, what came of it, and what to try.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// There is no such program.
    #[error("{program}: command not found; install it, or give its path")]
    NotFound {
        /// The program.
        program: String,
    },
    /// The program could not be run.
    #[error("{program}: cannot be run: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// The time is over.
    #[error(
        "no answer to {method} within {seconds} s; is `{command}` an MCP server on stdio? a slow start needs a longer --timeout{stderr}"
    )]
    NoAnswer {
        /// What was asked.
        method: String,
        /// The bound, in seconds.
        seconds: f64,
        /// The command.
        command: String,
        /// What it last said on stderr, as a clause.
        stderr: String,
    },
    /// The server ended too early.
    #[error("`{command}` ended ({status}) before it answered {method}{stderr}")]
    Ended {
        /// The command.
        command: String,
        /// How it ended.
        status: String,
        /// What was asked.
        method: String,
        /// What it last said on stderr, as a clause.
        stderr: String,
    },
    /// Something on stdout is not a JSON-RPC message.
    #[error(
        "line {line} on the server's stdout is not a JSON-RPC message ({cause}): {excerpt:?}; a stdio server must print nothing else there"
    )]
    Invalid {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        cause: String,
        /// Its start.
        excerpt: String,
    },
    /// An answer lacks what the protocol asks for.
    #[error("the server's answer to {method} is no {method} result: {cause}")]
    Answer {
        /// What was asked.
        method: &'static str,
        /// What is wrong.
        cause: String,
    },
    /// The server answered with an error.
    #[error("the server refused {method}: {error}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// Its error, as sent.
        error: String,
    },
    /// More bytes than a catalog can have.
    #[error("the server sent more than {limit} bytes; that is no tool list")]
    TooLarge {
        /// The bound.
        limit: usize,
    },
    /// The pages go in a circle.
    #[error("page {page} of tools/list names the cursor {cursor:?} again; its pages never end")]
    RepeatedCursor {
        /// Number of the page, from 1.
        page: usize,
        /// The cursor.
        cursor: String,
    },
    /// Too many pages.
    #[error("tools/list has more than {limit} pages")]
    TooManyPages {
        /// The bound.
        limit: usize,
    },
    /// The list never settles.
    #[error("the server announced a changed tool list {times} times and never came to rest")]
    Restless {
        /// How often.
        times: usize,
    },
    /// The pipe to the server broke.
    #[error("cannot send {method} to the server: {source}")]
    Send {
        /// What was to be asked.
        method: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// The list is not one that a client could use.
    #[error(transparent)]
    Catalog(#[from] TasksError),
}

impl From<StartError> for CaptureError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::NotFound { program } => Self::NotFound { program },
            StartError::Spawn { program, source } => Self::Spawn { program, source },
        }
    }
}
