//! What can be wrong with locks.

use std::path::PathBuf;

use thiserror::Error;

use crate::digest::Digest;

/// Errors of locks and their chain.
#[derive(Debug, Error)]
pub enum LockError {
    /// A file or folder could not be read.
    #[error("{path}: {source}")]
    Read {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file is not a lock.
    #[error("{file}: not a lock: {source}")]
    Syntax {
        /// The file.
        file: String,
        /// The parser's message, with line and column.
        source: serde_json::Error,
    },
    /// A format of another version.
    #[error("{file}: lock format {found} is unknown, this binary reads {supported}; use the version that wrote it")]
    Schema {
        /// The file.
        file: String,
        /// The format found.
        found: u32,
        /// The format supported.
        supported: u32,
    },
    /// The stated id is not that of the content: the file was edited.
    #[error("{file}: states the id {stated}, but its content has {computed}; a lock is never edited, freeze a new one")]
    WrongId {
        /// The file.
        file: String,
        /// The id in the file.
        stated: Digest,
        /// The id of its content.
        computed: Digest,
    },
    /// The file's name is not its id.
    #[error("{file}: holds the lock {id}; its name must be that id's hex digits and `.json`")]
    WrongName {
        /// The file.
        file: String,
        /// The lock's id.
        id: Digest,
    },
    /// A parent is not there.
    #[error("{file}: its parent {parent} is missing; the whole chain must be there")]
    MissingParent {
        /// The file of the child.
        file: String,
        /// The parent's id.
        parent: Digest,
    },
    /// The chain forks.
    #[error("the chain of locks has {} leaves ({}); the current lock must be the only one", leaves.len(), leaves.join(", "))]
    SeveralLeaves {
        /// Their files.
        leaves: Vec<String>,
    },
    /// The canonical form could not be written.
    #[error("writing the canonical form of a lock: {0}")]
    Canonical(String),
}
