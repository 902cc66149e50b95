//! What a certificate is about, as the caller says it: catalogs, arms, model, tasks, schedule. No clock, no path, no run
//! id, no build.

use std::collections::BTreeMap;

use bench_protocol::{
    digest::Digest,
    lock::{Chain, Lock, OperatingCharacteristics},
};
use serde::{Deserialize, Serialize};

use crate::record::{Deviation, RunKind};

/// One lock of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockSubject {
    /// Its id.
    pub id: Digest,
    /// Why it was frozen.
    pub reason: String,
    /// Whether outcomes under an earlier lock had been seen.
    pub data_seen: bool,
}

impl LockSubject {
    /// A lock and those before it, the newest first.
    pub fn history(chain: &Chain) -> Vec<Self> {
        chain.history().map(Self::of).collect()
    }

    fn of(lock: &Lock) -> Self {
        let body = lock.body();
        Self { id: lock.id().clone(), reason: body.reason.clone(), data_seen: body.data_seen }
    }
}

/// A catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogSubject {
    /// Digest of its raw bytes.
    pub digest: Digest,
    /// Package it was captured from, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The package's version, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its licence, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Digest of what is known of its origin (RFC 8785): package, registry, integrity, command, day of capture. Records
    /// that are older than this binding have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Digest>,
}

/// An arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmSubject {
    /// `bench` for built-in arms, else the package.
    pub origin: String,
    /// One line about it.
    pub summary: String,
    /// Version of an external package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Licence of an external package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Digest of its initial surface.
    pub surface: Digest,
    /// Servers that it shows at a lower level than its name says, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fallbacks: BTreeMap<String, String>,
    /// Contract clauses that it breaks by design.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<String>,
}

/// The model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSubject {
    /// `mock`, `anthropic`, `openai`.
    pub provider: String,
    /// The id asked for; for a mock its behaviour.
    pub asked: String,
    /// Ids that answered.
    pub returned: Vec<String>,
    /// Host of the endpoint; live only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Version of the interface; live only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Fields that were sent beside the prompt, such as the temperature.
    pub sampling: BTreeMap<String, String>,
    /// First and last day, `YYYY-MM-DD`; live only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<[String; 2]>,
    /// Digest of the price table; live only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Digest>,
}

/// The tasks of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSubject {
    /// Version of the generator.
    pub generator: u32,
    /// Text from which the seed is derived.
    pub seed: String,
    /// How.
    pub derivation: String,
    /// Tasks, abstain tasks included.
    pub n: u64,
    /// Digest of the task list.
    pub digest: Digest,
}

/// How episodes were ordered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSubject {
    /// The rule in words.
    pub rule: String,
    /// Text from which the seed is derived.
    pub seed: String,
}

/// Where a number of tokens comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TokenSource {
    /// The provider's own count.
    Provider,
    /// A public byte-pair encoding.
    Bpe,
    /// A stand-in.
    Estimate,
}

/// Size of an arm's initial surface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurfaceSize {
    /// Tools shown.
    pub tools: u64,
    /// Bytes of the model-facing list.
    pub bytes: u64,
    /// Tokens of it.
    pub tokens: u64,
    /// Where that number comes from.
    pub source: TokenSource,
    /// The encoding or the model that counted.
    pub counted_by: String,
}

/// Spend of a live run, in pico-dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spend {
    /// The ceiling.
    pub cap: u64,
    /// Settled by the provider's own usage.
    pub spent: u64,
    /// Reserved for attempts whose outcome is unknown.
    pub unsettled: u64,
}

/// What the record holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordSubject {
    /// Attempts.
    pub attempts: u64,
    /// Episodes.
    pub episodes: u64,
    /// Digest of the log of attempts as recorded; live only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// Everything that the certificate takes from the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subjects {
    /// What answered.
    pub kind: RunKind,
    /// Whether the run is a confirmatory one.
    pub confirmatory: bool,
    /// Digest of the canonical protocol.
    pub protocol: Digest,
    /// The lock and those before it, the newest first; empty where the inputs are not locked.
    pub locks: Vec<LockSubject>,
    /// By server.
    pub catalogs: BTreeMap<String, CatalogSubject>,
    /// By arm.
    pub arms: BTreeMap<String, ArmSubject>,
    /// The model.
    pub model: ModelSubject,
    /// By suite.
    pub tasks: BTreeMap<String, TaskSubject>,
    /// The schedule.
    pub schedule: ScheduleSubject,
    /// By arm.
    pub sizes: BTreeMap<String, SurfaceSize>,
    /// Live only.
    pub spend: Option<Spend>,
    /// Where the episodes' own token numbers come from.
    pub usage_source: TokenSource,
    /// Counts of the record.
    pub record: RecordSubject,
    /// Power and size of the rule, as locked.
    pub power: Option<OperatingCharacteristics>,
    /// Whether the protocol says of itself that its sizes don't reach the planned power.
    pub underpowered: bool,
    /// May be empty.
    pub deviations: Vec<Deviation>,
}
