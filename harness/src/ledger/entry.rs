//! One entry of the ledger.

use std::fmt;

use bench_protocol::digest::Digest;
use bench_results::record::Manifest;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::RunId;
use crate::run::prepare::RESULTS;

/// What happened to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// It is about to send its first request.
    Started,
    /// It is complete.
    Finished,
    /// It ended early and can be resumed.
    Stopped,
    /// It will not be resumed.
    Abandoned,
    /// It showed results on the lock's tasks without being confirmatory.
    Seen,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Started => "started",
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Abandoned => "abandoned",
            Self::Seen => "seen",
        })
    }
}

/// What a run can prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It can certify; one per lock or task list, model and family.
    Confirmatory,
    /// It can never certify.
    Exploratory,
}

/// What identifies a run and what it set out to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Digest that names the lock.
    pub lock: Digest,
    /// Digest of its task list: the same tasks under another lock are no fresh ones.
    pub tasks: Option<Digest>,
    /// Model asked for.
    pub model: String,
    /// Which family of tests: `levels`, `results`, `products`, …
    pub family: String,
    /// What it can prove.
    pub kind: Kind,
    /// Its arms, in order.
    pub arms: Vec<String>,
    /// Its budget in pico-dollars.
    pub budget: u64,
    /// Digest of the price table in force.
    pub prices: Digest,
}

impl Run {
    /// The run of a manifest; `looked_at` stands in the lock's place where it states none.
    ///
    /// # Errors
    /// A manifest that is no live run's.
    pub fn of(manifest: &Manifest, looked_at: &Digest, tasks: Option<&Digest>) -> Result<Self, String> {
        Ok(Self {
            id: RunId::parse(&manifest.id)?,
            lock: manifest.lock.as_ref().unwrap_or(looked_at).clone(),
            tasks: tasks.cloned(),
            model: manifest.model.asked.clone(),
            family: match manifest {
                manifest if manifest.is_pilot() => "pilot",
                manifest if manifest.suites.contains_key(RESULTS) => "results",
                _ => "levels",
            }
            .to_owned(),
            kind: if manifest.confirmatory { Kind::Confirmatory } else { Kind::Exploratory },
            arms: manifest.arms.clone(),
            budget: manifest.budget.unwrap_or_default(),
            prices: manifest.prices.clone().ok_or("the manifest states no prices")?,
        })
    }
}

/// Digests of a finished run's record: what is published with the ledger binds the responses themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordDigests {
    /// The log of attempts.
    pub attempts: Digest,
    /// The certificate.
    pub certificate: Digest,
}

/// One line of the ledger, as it is hashed: canonical JSON (RFC 8785).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Place in the chain, from 0.
    pub n: u64,
    /// Digest of the entry before; none for the first.
    pub prev: Option<Digest>,
    /// When, in UTC, `YYYY-MM-DDTHH:MM:SSZ`. Told by the caller; nothing rests on it.
    pub at: String,
    /// What happened.
    pub event: Event,
    /// To which run.
    pub run: RunId,
    /// The run's lock.
    pub lock: Digest,
    /// The run's model.
    pub model: String,
    /// The run's family.
    pub family: String,
    /// What the run can prove.
    pub kind: Kind,
    /// The run's arms.
    pub arms: Vec<String>,
    /// The run's budget. A string of pico-dollars, since canonical JSON has no integers beyond 2⁵³ (about 9,007 dollars).
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub budget: u64,
    /// The run's prices.
    pub prices: Digest,
    /// Digest of the run's task list; none in entries of early versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Digest>,
    /// What a finished run left behind; entries of early versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordDigests>,
}

impl Entry {
    /// An entry for something that happened to a run.
    pub fn new(n: u64, prev: Option<Digest>, at: &str, event: Event, run: &Run) -> Self {
        let Run { id, lock, tasks, model, family, kind, arms, budget, prices } = run.clone();
        Self {
            n,
            prev,
            at: at.to_owned(),
            event,
            run: id,
            lock,
            model,
            family,
            kind,
            arms,
            budget,
            prices,
            tasks,
            record: None,
        }
    }

    /// The bytes that are hashed, and written as a line.
    pub fn canonical(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json_canonicalizer::to_vec(self)
    }

    /// Digest of the entry, which the next one names.
    pub fn digest(&self) -> Result<Digest, serde_json::Error> {
        Ok(Digest::of(&self.canonical()?))
    }

    /// True where the run is under this lock or asks this task list.
    pub(super) fn looks_at(&self, lock: &Digest, tasks: Option<&Digest>) -> bool {
        self.lock == *lock || (tasks.is_some() && self.tasks.as_ref() == tasks)
    }

    /// True where both entries speak of one undertaking. The budget may have been raised, and entries of early versions
    /// lack the tasks.
    pub(super) fn same_run(&self, other: &Self) -> bool {
        let Self { run, lock, model, family, kind, arms, .. } = other;
        (&self.run, &self.lock, &self.model, &self.family, self.kind, &self.arms)
            == (run, lock, model, family, *kind, arms)
    }

    /// What this entry says otherwise of a run, budget included.
    pub fn differs(&self, run: &Run) -> Vec<&'static str> {
        [
            ("id", self.run != run.id),
            ("lock", self.lock != run.lock),
            ("task list", self.tasks.is_some() && self.tasks != run.tasks),
            ("model", self.model != run.model),
            ("family", self.family != run.family),
            ("kind", self.kind != run.kind),
            ("arms", self.arms != run.arms),
            ("budget", self.budget != run.budget),
            ("prices", self.prices != run.prices),
        ]
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's serialize_with passes a reference")]
fn as_text<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| D::Error::custom(format!("`{text}` is not a whole number of pico-dollars")))
}
