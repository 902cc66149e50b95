//! Everything that decides a result, as bytes: what a lock digests, a record keeps, and `verify` starts from.

use std::{
    collections::BTreeMap,
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
        Ok(Self {
            protocol_text: text.into(),
            protocol: Arc::new(protocol),
            catalogs: Arc::new(catalogs),
            intents: Arc::new(intents),
            chain: Arc::new(chain),
        })
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

    /// Digest over all intent files: names and bytes, in name order, each ended by a zero byte.
    pub fn intents_digest(&self) -> Digest {
        let files = self.intents.files();
        Digest::of_parts(files.iter().flat_map(|file| [file.name.as_bytes(), b"\0", file.text.as_bytes(), b"\0"]))
    }
}

fn read(path: &Path) -> Result<String, InputsError> {
    fs::read_to_string(path).map_err(|source| InputsError::Read { path: path.to_owned(), source })
}
