//! What can go wrong with a journal.

use std::{io, path::PathBuf};

use thiserror::Error;

use crate::meter::{BudgetTooSmall, Refusal, UnknownAttempt};

/// Errors of a journal.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The meter refused the attempt; nothing was written.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The file system failed.
    #[error("{path}: {doing}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// Writing failed earlier; nothing is accepted any more, for nothing could be kept.
    #[error("{0}; the run stops here and can be resumed once the cause is gone")]
    Broken(String),
    /// Somebody else is writing.
    #[error("{path}: another process is writing this run; wait for it, or stop it, and try again")]
    Locked {
        /// The locked file.
        path: PathBuf,
    },
    /// A line cannot be what this program wrote.
    #[error("{path}: line {line}: {why}; the record was changed or damaged, restore it from a copy")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// The resumed run's budget is already used up.
    #[error(transparent)]
    Budget(#[from] BudgetTooSmall),
    /// A bug of ours: an outcome for an attempt that never left.
    #[error(transparent)]
    Unknown(#[from] UnknownAttempt),
    /// A bug of ours: an outcome booked by usage that it does not state.
    #[error("attempt {n} was to be settled by its usage, and its outcome states none")]
    Unstated {
        /// The attempt.
        n: u64,
    },
    /// A bug of ours: a line that cannot be serialised.
    #[error("serialising a line of the journal: {0}")]
    Serialise(#[from] serde_json::Error),
}

impl JournalError {
    /// Names the file and what was being done to it.
    pub(crate) fn io(path: impl Into<PathBuf>, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, doing, source }
    }
}
