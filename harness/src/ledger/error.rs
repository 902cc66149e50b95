//! What can go wrong with the ledger.

use std::path::PathBuf;

use thiserror::Error;

use super::{Event, RunId};
use crate::journal::JournalError;

/// Why an entry does not fit behind the ones before it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ChainError {
    /// The number is not the next.
    #[error("entry {found} stands where {expected} belongs: an entry is missing or out of place")]
    Number {
        /// The number.
        found: u64,
        /// The number that belongs there.
        expected: u64,
    },
    /// The digest of the entry before is another.
    #[error("entry {n} does not name the digest of the entry before: one of the two was changed")]
    Broken {
        /// The entry.
        n: u64,
    },
    /// The time is not of the one form.
    #[error("`{at}` is not a time such as 2026-11-29T12:00:00Z")]
    Time {
        /// The text.
        at: String,
    },
    /// A run is started under an id that has been used.
    #[error("run {run} is already in the ledger")]
    Reused {
        /// The run.
        run: RunId,
    },
    /// A run that was never started.
    #[error("run {run} is {event} but was never started")]
    NotStarted {
        /// The run.
        run: RunId,
        /// What happened to it.
        event: Event,
    },
    /// Something happens to a run that has ended for good.
    #[error("run {run} is {event} after it was {before}")]
    Ended {
        /// The run.
        run: RunId,
        /// What happened to it.
        event: Event,
        /// How it had ended.
        before: Event,
    },
    /// An entry says something else of its run than the one that started it.
    #[error("run {run} was started with another lock, model, family, kind or list of arms")]
    Differs {
        /// The run.
        run: RunId,
    },
    /// Digests of a record at an entry of a run that has none yet.
    #[error("entry {n} says that run {run} is {event} and carries digests of its record; only a finished run has one")]
    Early {
        /// The entry.
        n: u64,
        /// The run.
        run: RunId,
        /// What happened to it.
        event: Event,
    },
    /// The one look has been taken.
    #[error(
        "a confirmatory run of this model and family under this lock or on its tasks is in the ledger already: {earlier}, started {at}; \
         resume it with `bench resume {earlier}`, or run with `--exploratory`"
    )]
    SecondLook {
        /// The earlier run.
        earlier: RunId,
        /// When it started.
        at: String,
    },
    /// A bug of ours: an entry that cannot be serialised.
    #[error("serialising an entry: {0}")]
    Serialise(String),
}

/// Errors of the ledger file.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// A line does not belong where it stands.
    #[error("{path}: line {line}: {why}; restore the ledger from its published copy")]
    Line {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// The new entry is refused; nothing was written.
    #[error(transparent)]
    Refused(#[from] ChainError),
    /// The file system failed, or another process holds the file.
    #[error(transparent)]
    File(#[from] JournalError),
}
