//! What can go wrong with a protocol, its lock or its prices.

use thiserror::Error;

/// Errors of this crate.
#[derive(Debug, Error)]
pub enum ProtocolError {
    /// The file is not TOML of the expected shape.
    #[error("{file}: not a valid protocol: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// The parser's message, with line, column and caret.
        message: String,
    },
    /// A value is out of its range.
    #[error("{file}: key `{key}`: {why}")]
    Value {
        /// The file.
        file: String,
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The canonical form could not be written.
    #[error("writing the canonical form: {0}")]
    Canonical(String),
}
