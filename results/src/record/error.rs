//! What can go wrong with a record on disk.

use std::path::PathBuf;

use bench_protocol::digest::Digest;
use thiserror::Error;

/// Errors of reading and writing records.
#[derive(Debug, Error)]
pub enum RecordError {
    /// A file or folder could not be read, made or written.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// There already is a record.
    #[error("{path}: there already is a record; choose another folder, or resume it")]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// A format of another version.
    #[error("{path}: record format {found} is unknown, this binary reads {supported}; use the version that wrote it")]
    Version {
        /// The file.
        path: PathBuf,
        /// The format found.
        found: u64,
        /// The format supported.
        supported: u32,
    },
    /// A whole file is not what it should be.
    #[error("{path}: {source}")]
    Json {
        /// The file.
        path: PathBuf,
        /// The parser's message, with line and column.
        source: serde_json::Error,
    },
    /// A line is not what it should be.
    #[error("{path}, line {line}: {source}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The parser's message; its line is that of the text, which is one line.
        source: serde_json::Error,
    },
    /// A line is longer than any that is written.
    #[error("{path}, line {line}: longer than {limit} bytes, so this is no record")]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A line is not UTF-8.
    #[error("{path}, line {line}: not UTF-8")]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// The last line lacks its end.
    #[error("{path}, line {line}: torn, the line has no end; resume the run, which cuts it")]
    Torn {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
    /// A line is no longer where it was.
    #[error("{path}: it changed while it was read; read the record once nobody writes it any more")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A surface's bytes are not what its name says.
    #[error("{path}: holds {found}, not what its name says")]
    Surface {
        /// The file.
        path: PathBuf,
        /// The digest of its bytes.
        found: Digest,
    },
    /// A path that leads out of the record.
    #[error("`{name}` is no plain path inside a record")]
    Escapes {
        /// The path asked for.
        name: String,
    },
    /// A line could not be written as JSON.
    #[error("{path}: writing a line: {source}")]
    Encode {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
}
