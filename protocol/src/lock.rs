//! The lock: digests of everything that could change a result, chained to the locks before it.
//!
//! A lock's id is the SHA-256 of its canonical bytes (RFC 8785) without the id. The locks of a project form a chain; the
//! current one is its only leaf. This module takes digests as inputs, it computes none of what they stand for.

mod chain;
mod drift;
mod error;
mod operating;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use chain::Chain;
pub use drift::{Drift, drift};
pub use error::LockError;
pub use operating::{OperatingCharacteristics, OperatingPoint, SizePoint};

use crate::{digest::Digest, spec::Seeds};

/// The format that this binary reads and writes.
pub const SCHEMA: u32 = 1;

/// Digests of everything that could change a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockDigests {
    /// The canonical protocol.
    pub protocol: Digest,
    /// Raw bytes of each catalog, by server.
    pub catalogs: BTreeMap<String, Digest>,
    /// All intent files.
    pub intents: Digest,
    /// The generated task lists of the primary seed, by suite (`tools`, `results`).
    pub tasks: BTreeMap<String, Digest>,
    /// The generated task lists of the replication seed, by suite; empty in locks of early versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replication_tasks: BTreeMap<String, Digest>,
    /// The prompts of both suites.
    pub prompts: Digest,
    /// Every built-in arm's initial surface, by arm.
    pub surfaces: BTreeMap<String, Digest>,
    /// External arms that are tested as a family of products, by arm; their pinned package and configuration.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub products: BTreeMap<String, Digest>,
}

/// What a lock says, without its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockBody {
    /// Format of the file.
    pub schema: u32,
    /// The lock before this one; none for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Digest>,
    /// Why it was frozen.
    pub reason: String,
    /// Whether outcomes under an earlier lock had been seen.
    pub data_seen: bool,
    /// The seed texts, which must not be used again once outcomes were seen; none in locks of early versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<Seeds>,
    /// What it fixes.
    pub digests: LockDigests,
    /// Power and size of the rule, where computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operating_characteristics: Option<OperatingCharacteristics>,
}

/// A lock with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    id: Digest,
    body: LockBody,
}

/// The file: the id beside the body, since `flatten` would cost the error messages their places.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFile {
    id: Digest,
    lock: LockBody,
}

/// Tells the format before anything else is read.
#[derive(Deserialize)]
struct SchemaProbe {
    lock: SchemaField,
}

#[derive(Deserialize)]
struct SchemaField {
    schema: u32,
}

impl LockDigests {
    /// All task lists: of both seeds and suites.
    pub fn task_lists(&self) -> impl Iterator<Item = &Digest> {
        self.tasks.values().chain(self.replication_tasks.values())
    }
}

impl Lock {
    /// Freezes a body: computes its id.
    ///
    /// # Errors
    /// The canonical form could not be written.
    pub fn new(body: LockBody) -> Result<Self, LockError> {
        let canonical = canonical(&body)?;
        Ok(Self { id: Digest::of(&canonical), body })
    }

    /// Its id.
    pub fn id(&self) -> &Digest {
        &self.id
    }

    /// What it says.
    pub fn body(&self) -> &LockBody {
        &self.body
    }

    /// What it fixes.
    pub fn digests(&self) -> &LockDigests {
        &self.body.digests
    }

    /// Name of its file: the id's hex digits.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.id.hex())
    }

    /// Canonical bytes of its file.
    ///
    /// # Errors
    /// The canonical form could not be written.
    pub fn bytes(&self) -> Result<Vec<u8>, LockError> {
        canonical(&LockFile { id: self.id.clone(), lock: self.body.clone() })
    }

    /// Reads a file and checks that its id is that of its content; `file` stands in messages.
    ///
    /// # Errors
    /// Not a lock, an unknown format, or an id that is not the content's.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, LockError> {
        let syntax = |source| LockError::Syntax { file: file.to_owned(), source };
        let probe: SchemaProbe = serde_json::from_slice(bytes).map_err(syntax)?;
        if probe.lock.schema != SCHEMA {
            return Err(LockError::Schema { file: file.to_owned(), found: probe.lock.schema, supported: SCHEMA });
        }
        let read: LockFile = serde_json::from_slice(bytes).map_err(syntax)?;
        let lock = Self::new(read.lock)?;
        if lock.id != read.id {
            return Err(LockError::WrongId { file: file.to_owned(), stated: read.id, computed: lock.id });
        }
        Ok(lock)
    }
}

fn canonical<T: Serialize>(value: &T) -> Result<Vec<u8>, LockError> {
    serde_json_canonicalizer::to_vec(value).map_err(|source| LockError::Canonical(source.to_string()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn digests() -> LockDigests {
        let one = |name: &str| BTreeMap::from([(name.to_owned(), Digest::of(name.as_bytes()))]);
        LockDigests {
            protocol: Digest::of(b"protocol"),
            catalogs: one("git"),
            intents: Digest::of(b"intents"),
            tasks: one("tools"),
            replication_tasks: BTreeMap::new(),
            prompts: Digest::of(b"prompts"),
            surfaces: one("raw"),
            products: BTreeMap::new(),
        }
    }

    pub(crate) fn lock(reason: &str, parent: Option<&Lock>) -> Lock {
        Lock::new(LockBody {
            schema: SCHEMA,
            parent: parent.map(|lock| lock.id().clone()),
            reason: reason.to_owned(),
            data_seen: false,
            seeds: None,
            digests: digests(),
            operating_characteristics: None,
        })
        .unwrap()
    }

    #[test]
    fn a_lock_file_reads_back_as_itself() {
        let lock = lock("first", None);
        let back = Lock::parse("a.json", &lock.bytes().unwrap()).unwrap();
        assert_eq!(back, lock);
        assert_eq!(back.bytes().unwrap(), lock.bytes().unwrap());
    }

    #[test]
    fn the_id_covers_every_field_of_the_body() {
        let base = lock("first", None);
        assert_ne!(lock("second", None).id(), base.id());
        assert_ne!(lock("first", Some(&base)).id(), base.id());
        let mut body = base.body().clone();
        body.data_seen = true;
        assert_ne!(Lock::new(body).unwrap().id(), base.id());
        let mut body = base.body().clone();
        body.digests.surfaces.insert("L0".to_owned(), Digest::of(b"L0"));
        assert_ne!(Lock::new(body).unwrap().id(), base.id());
    }

    #[test]
    fn an_edited_lock_is_refused_with_both_ids() {
        let lock = lock("first", None);
        let text = String::from_utf8(lock.bytes().unwrap()).unwrap().replace("\"first\"", "\"First\"");
        let message = Lock::parse("a.json", text.as_bytes()).unwrap_err().to_string();
        assert!(message.starts_with("a.json: ") && message.contains(lock.id().as_str()), "{message}");
    }

    #[test]
    fn an_unknown_format_is_named_before_anything_else_is_read() {
        let text = r#"{"id":"sha256:00","lock":{"schema":2,"novelty":true}}"#;
        assert!(matches!(Lock::parse("a", text.as_bytes()), Err(LockError::Schema { found: 2, .. })));
    }

    #[test]
    fn an_unknown_field_is_an_error() {
        let text = String::from_utf8(lock("first", None).bytes().unwrap()).unwrap().replace("\"reason\"", "\"raeson\"");
        let message = Lock::parse("a.json", text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains("raeson"), "{message}");
    }
}
