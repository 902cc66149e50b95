//! Everything that decides a result, as bytes: what a lock digests, a record keeps, and `verify` starts from.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use bench_protocol::{
    ProtocolError,
    digest::Digest,
    lock::{Chain, LockError},
    spec::Protocol,
};
use bench_tasks::{TasksError, catalog::Catalogs, intent::Intents};
use thiserror::Error;

/// Where inputs come from when they are not the ones compiled in; any override makes a run exploratory.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// Folder of catalogs.
    pub catalogs: Option<PathBuf>,
    /// Folder of intents.
    pub intents: Option<PathBuf>,
    /// Protocol file.
    pub protocol: Option<PathBuf>,
    /// Folder of locks.
    pub locks: Option<PathBuf>,
}

impl Overrides {
    /// True where anything is overridden.
    pub fn any(&self) -> bool {
        self.catalogs.is_some() || self.intents.is_some() || self.protocol.is_some()
    }
}

/// The inputs of a run.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// Text of the protocol file.
    pub protocol_text: Arc<str>,
    /// The protocol.
    pub protocol: Arc<Protocol>,
    /// The catalogs.
    pub catalogs: Arc<Catalogs>,
    /// The intents.
    pub intents: Arc<Intents>,
    /// The locks.
    pub chain: Arc<Chain>,
}

/// What can go wrong with inputs.
#[derive(Debug, Error)]
pub enum InputsError {
    /// A file could not be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The protocol is malformed.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The locks are malformed.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The provenance of the catalogs could not be written.
    #[error("writing the catalogs' provenance: {0}")]
    Provenance(#[from] serde_json::Error),
    /// The protocol names other servers or strata than the tasks are made from.
    #[error("the protocol's `{key}` names {named}, and the {of} hold {held}; name these, in this order")]
    Suite {
        /// The key.
        key: &'static str,
        /// What it names.
        named: String,
        /// What is held against it: catalogs or intents.
        of: &'static str,
        /// What they hold.
        held: String,
    },
    /// Catalogs or intents are malformed.
    #[error(transparent)]
    Tasks(#[from] TasksError),
}

impl Inputs {
    /// The inputs compiled in, with overrides read from disk.
    pub fn load(overrides: &Overrides) -> Result<Self, InputsError> {
        let (text, name) = match &overrides.protocol {
            Some(path) => (read(path)?, path.display().to_string()),
            None => (bench_protocol::spec::BUILT_IN.to_owned(), "protocol.toml".to_owned()),
        };
        let protocol = Protocol::parse(&text, &name)?;
        let catalogs = match &overrides.catalogs {
            Some(folder) => Catalogs::load(folder)?,
            None => Catalogs::vendored()?,
        };
        let intents = match &overrides.intents {
            Some(folder) => Intents::load(folder)?,
            None => Intents::embedded(),
        };
        let chain = match &overrides.locks {
            Some(folder) => Chain::of_folder(folder)?,
            None => Chain::built_in()?,
        };
        let inputs = Self {
            protocol_text: text.into(),
            protocol: Arc::new(protocol),
            catalogs: Arc::new(catalogs),
            intents: Arc::new(intents),
            chain: Arc::new(chain),
        };
        // Somebody's own catalogs or intents stand in for those that the protocol names.
        if overrides.catalogs.is_none() {
            inputs.require_own_servers()?;
        }
        if overrides.intents.is_none() && overrides.catalogs.is_none() {
            inputs.require_own_strata()?;
        }
        Ok(inputs)
    }

    /// Refuses catalogs and intents that are not those which the protocol names, as a lock must.
    ///
    /// # Errors
    /// [`InputsError::Suite`].
    pub fn require_own_suite(&self) -> Result<(), InputsError> {
        self.require_own_servers()?;
        self.require_own_strata()
    }

    fn require_own_servers(&self) -> Result<(), InputsError> {
        let held: Vec<String> = self.catalogs.catalogs.iter().map(|catalog| catalog.server.to_string()).collect();
        same("suites.tools.servers", &self.protocol.suites.tools.servers, "catalogs", &held)
    }

    fn require_own_strata(&self) -> Result<(), InputsError> {
        let scored = self.intents.frames().iter().filter(|frame| !frame.dev).map(|frame| frame.stratum);
        let held: Vec<String> =
            scored.collect::<BTreeSet<_>>().into_iter().map(|stratum| stratum.name().to_owned()).collect();
        same("suites.tools.strata", &self.protocol.suites.tools.strata, "intents", &held)
    }

    /// The inputs that a record keeps under `inputs/`.
    pub fn of_record(folder: &Path) -> Result<Self, InputsError> {
        Self::load(&Overrides {
            catalogs: Some(folder.join("catalogs")),
            intents: Some(folder.join("intents")),
            protocol: Some(folder.join("protocol.toml")),
            locks: Some(folder.join("locks")),
        })
    }

    /// The files that a record keeps, by path below `inputs/`.
    pub fn files(&self) -> Result<BTreeMap<String, Arc<[u8]>>, InputsError> {
        let mut files = BTreeMap::new();
        files.insert("protocol.toml".to_owned(), Arc::from(self.protocol_text.as_bytes()));
        for catalog in &self.catalogs.catalogs {
            files.insert(format!("catalogs/{}.json", catalog.server), Arc::clone(&catalog.bytes));
        }
        let known: Vec<_> = self.catalogs.catalogs.iter().filter_map(|catalog| catalog.provenance.as_ref()).collect();
        if !known.is_empty() {
            let index = serde_json::to_vec_pretty(&serde_json::json!({ "servers": known }))?;
            files.insert("catalogs/index.json".to_owned(), index.into());
        }
        for file in self.intents.files() {
            files.insert(format!("intents/{}", file.name), Arc::from(file.text.as_bytes()));
        }
        for lock in self.chain.history() {
            files.insert(format!("locks/{}", lock.file_name()), lock.bytes()?.into());
        }
        Ok(files)
    }

    /// Digest of every catalog's raw bytes, by server.
    pub fn catalog_digests(&self) -> BTreeMap<String, Digest> {
        self.catalogs.catalogs.iter().map(|catalog| (catalog.server.to_string(), Digest::of(&catalog.bytes))).collect()
    }

    /// Digest of what is known of every catalog's origin, by server; none of a catalog of which nothing is known.
    ///
    /// # Errors
    /// Its canonical form could not be written.
    pub fn provenance_digests(&self) -> Result<BTreeMap<String, Digest>, InputsError> {
        let mut digests = BTreeMap::new();
        for catalog in &self.catalogs.catalogs {
            if let Some(known) = &catalog.provenance {
                let digest = Digest::of(&serde_json_canonicalizer::to_vec(known)?);
                digests.insert(catalog.server.to_string(), digest);
            }
        }
        Ok(digests)
    }

    /// Digest over all intent files: names and bytes, in name order, each ended by a zero byte.
    pub fn intents_digest(&self) -> Digest {
        let files = self.intents.files();
        Digest::of_parts(files.iter().flat_map(|file| [file.name.as_bytes(), b"\0", file.text.as_bytes(), b"\0"]))
    }
}

fn same(key: &'static str, named: &[String], of: &'static str, held: &[String]) -> Result<(), InputsError> {
    if named == held {
        return Ok(());
    }
    Err(InputsError::Suite { key, named: named.join(", "), of, held: held.join(", ") })
}

fn read(path: &Path) -> Result<String, InputsError> {
    fs::read_to_string(path).map_err(|source| InputsError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protocol_that_names_other_servers_or_strata_than_there_are_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.toml");
        for (from, to, key) in
            [("\"time\"]", "\"time\", \"zoo\"]", "suites.tools.servers"), ("\"optional\", ", "", "suites.tools.strata")]
        {
            assert!(bench_protocol::spec::BUILT_IN.contains(from));
            fs::write(&path, bench_protocol::spec::BUILT_IN.replacen(from, to, 1)).unwrap();
            let message = Inputs::load(&Overrides { protocol: Some(path.clone()), ..Overrides::default() })
                .unwrap_err()
                .to_string();
            assert!(message.contains(key) && message.contains("name these"), "{message}");
        }
    }
}
