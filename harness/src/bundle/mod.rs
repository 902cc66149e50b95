//! A bundle: one record as one compressed archive, the same bytes wherever it is made.
//!
//! ```text
//! <id>.tar.gz:  <id>/bundle.json  <id>/attempts.jsonl  …  <id>/surfaces/<sha256 hex>.json
//! ```
//!
//! `bundle.json` comes first and lists every file with its digest, so that an archive can be checked while it is read.
//! Names are in order; times are those of `SOURCE_DATE_EPOCH` or zero; owners are nobody.

mod error;
pub mod layout;
mod read;
mod write;

use std::{collections::BTreeMap, fs, path::Path};

use bench_protocol::digest::Digest;
use bench_results::attestation::ATTESTATION;
use serde::{Deserialize, Serialize};

pub use error::BundleError;
pub use read::{Limits, unpack};
pub(crate) use write::entry;
pub use write::{Options, pack};

/// Name of the list of contents.
pub const CONTENTS: &str = "bundle.json";
/// Format of the list of contents.
pub const SCHEMA: &str = "bench/bundle/1";

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Digest of its bytes.
    pub digest: Digest,
    /// Number of bytes.
    pub bytes: u64,
}

/// The list of contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// [`SCHEMA`].
    pub schema: String,
    /// Id of the run; the archive's one top folder is called so.
    pub run: String,
    /// Every file but this one, by path inside the record.
    pub files: BTreeMap<String, FileEntry>,
    /// Files that the record has and this bundle withholds; may be empty, must be there.
    pub withheld: BTreeMap<String, FileEntry>,
    /// What can no longer be verified for that; may be empty, must be there.
    pub consequences: Vec<String>,
}

impl Contents {
    fn parse(bytes: &[u8]) -> Result<Self, BundleError> {
        let parsed: Self = serde_json::from_slice(bytes).map_err(BundleError::Contents)?;
        if parsed.schema != SCHEMA {
            return Err(BundleError::Schema(parsed.schema));
        }
        layout::plain(&parsed.run)?;
        for name in parsed.files.keys().chain(parsed.withheld.keys()) {
            layout::of_record(name)?;
        }
        for name in parsed.withheld.keys() {
            if parsed.files.contains_key(name) {
                return Err(BundleError::Both { name: name.clone() });
            }
            if !layout::quotes_catalogs(name) {
                return Err(BundleError::Withheld { name: name.clone() });
            }
        }
        Ok(parsed)
    }
}

/// The list of contents that lies in a folder; none where the folder is no unpacked bundle.
///
/// # Errors
/// A list that cannot be read.
pub fn contents(folder: &Path) -> Result<Option<Contents>, BundleError> {
    let path = folder.join(CONTENTS);
    match fs::read(&path) {
        Ok(bytes) => Contents::parse(&bytes).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(BundleError::Io { path, source }),
    }
}

/// Holds the files of a folder against its list of contents.
///
/// # Errors
/// A file that is missing, differs or is not listed.
pub fn check(folder: &Path, contents: &Contents) -> Result<String, BundleError> {
    // Somebody may have signed what they unpacked; a signature is checked by itself.
    let own = |name: &&String| *name != ATTESTATION;
    let here = layout::files(folder)?;
    let here: Vec<&String> = here.iter().filter(own).collect();
    if let Some(extra) = here.iter().find(|name| !contents.files.contains_key(**name)) {
        return Err(BundleError::Unlisted { name: (*extra).clone() });
    }
    for (name, listed) in contents.files.iter().filter(|(name, _)| own(name)) {
        let found = entry(&folder.join(name))?;
        if found != *listed {
            return Err(BundleError::Differs { name: name.clone() });
        }
    }
    let all = contents.files.len();
    Ok(match contents.withheld.len() {
        0 => format!("{all} files, each with its digest"),
        withheld => format!("{all} files, each with its digest; {withheld} are withheld"),
    })
}
