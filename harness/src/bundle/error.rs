//! What can go wrong with a bundle.

use std::path::PathBuf;

use thiserror::Error;

/// Errors of making and reading bundles.
#[derive(Debug, Error)]
pub enum BundleError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The archive could not be written.
    #[error("writing the bundle of {run}: {source}")]
    Out {
        /// The run.
        run: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A file that is no archive at all.
    #[error("{path}: no bundle, which is a gzip archive as `bench bundle` makes it; name one, or a record's folder")]
    NoArchive {
        /// The file.
        path: PathBuf,
    },
    /// The archive's own bytes are broken, cut or followed by others.
    #[error("{path}: {what}")]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The list of contents cannot be read.
    #[error("bundle.json: {0}")]
    Contents(serde_json::Error),
    /// The list of contents has another format.
    #[error("bundle of schema `{0}`; this binary reads `bench/bundle/1`")]
    Schema(String),
    /// A path that no record has.
    #[error("`{name}` is no path of a record: {why}")]
    Name {
        /// The path.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// An entry that is no plain file.
    #[error("`{name}` is no plain file but {kind}; a record holds plain files alone")]
    Kind {
        /// The path.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// Two entries of one name, or of names that some file systems take for one.
    #[error("`{name}` is there twice")]
    Twice {
        /// The path.
        name: String,
    },
    /// More than a bundle may hold.
    #[error("more than {limit} {what}: this is no bundle of a record")]
    TooMuch {
        /// The limit.
        limit: u64,
        /// Of what.
        what: &'static str,
    },
    /// A file that is said to be here and to be withheld.
    #[error("`{name}` is listed as a file of the bundle and as withheld from it")]
    Both {
        /// The path.
        name: String,
    },
    /// A file that no bundle withholds.
    #[error("`{name}` is withheld, and quotes no catalog; only what does may be")]
    Withheld {
        /// The path.
        name: String,
    },
    /// A file that is larger than any of its kind.
    #[error("`{name}` has {bytes} bytes; only the logs of attempts and episodes have more than {limit}")]
    Large {
        /// The path.
        name: String,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A file that the list of contents does not name.
    #[error("`{name}` is not in bundle.json")]
    Unlisted {
        /// The path.
        name: String,
    },
    /// A file that the list of contents names is not there.
    #[error("`{name}` is in bundle.json and not in the bundle")]
    Absent {
        /// The path.
        name: String,
    },
    /// A file's bytes are others than the list of contents says.
    #[error("`{name}` is not what bundle.json says")]
    Differs {
        /// The path.
        name: String,
    },
    /// A file changed while it was being packed.
    #[error("`{name}` changed while it was being packed; is the run still going?")]
    Changed {
        /// The path.
        name: String,
    },
}
