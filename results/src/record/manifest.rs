//! The manifest: what ran, by which program, under which lock.

use std::collections::BTreeMap;

use bench_protocol::digest::Digest;
use serde::{Deserialize, Serialize};

use super::FormatVersion;

/// What answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// A scripted model: exercises the plumbing, never evidence.
    Plumbing,
    /// A language model.
    Live,
}

/// What the verdicts of a run weigh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// A language model answered, in the one confirmatory look: its words are verdicts.
    Certifies,
    /// A language model answered: its words say what a confirmatory run might find.
    Exploratory,
    /// A scripted model answered: its words say that the program works.
    Scripted,
}

impl Weight {
    /// The weight of a run of this kind.
    pub fn of(kind: RunKind, confirmatory: bool) -> Self {
        match (kind, confirmatory) {
            (RunKind::Plumbing, _) => Self::Scripted,
            (RunKind::Live, false) => Self::Exploratory,
            (RunKind::Live, true) => Self::Certifies,
        }
    }
}

/// Model ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelIds {
    /// `mock`, `anthropic`, `openai`.
    pub provider: String,
    /// The id asked for; for a mock its behaviour.
    pub asked: String,
    /// Ids that answered, in order of first appearance.
    pub returned: Vec<String>,
    /// Host of the endpoint; live runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// What was planned of one suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteRun {
    /// Tasks, abstain tasks included.
    pub tasks: u64,
    /// Text from which the seeds of this run are derived.
    pub seed: String,
    /// Whether the tasks are made from dev frames: a pilot, of which nothing is ever scored for a claim.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dev: bool,
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Version of the program.
    pub version: String,
    /// Commit it was built from, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether the checkout had changes, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Target triple.
    pub target: String,
    /// Compiler.
    pub rustc: String,
}

/// Something that was done otherwise than the protocol says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
}

/// The manifest of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Format of the record.
    pub schema: FormatVersion,
    /// Id of the run.
    pub id: String,
    /// What answered.
    pub kind: RunKind,
    /// Whether the run is a confirmatory one.
    pub confirmatory: bool,
    /// The lock it ran under; none where there is none or its inputs were overridden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<Digest>,
    /// The model.
    pub model: ModelIds,
    /// Arms, in protocol order.
    pub arms: Vec<String>,
    /// What was planned, by suite.
    pub suites: BTreeMap<String, SuiteRun>,
    /// Digest of the price table; live runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Digest>,
    /// The ceiling in pico-dollars; live runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// The program.
    pub build: Build,
    /// When it started, RFC 3339; live runs only, so that plumbing records are reproducible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// When it ended, RFC 3339; live runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
    /// Whether all planned episodes were run.
    pub complete: bool,
    /// What was done otherwise; may be empty, must be there.
    pub deviations: Vec<Deviation>,
}

impl Manifest {
    /// Whether the run is a pilot on dev frames.
    pub fn is_pilot(&self) -> bool {
        self.suites.values().any(|suite| suite.dev)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn manifest() -> Manifest {
        Manifest {
            schema: FormatVersion,
            id: "r7k2".to_owned(),
            kind: RunKind::Plumbing,
            confirmatory: false,
            lock: Some(Digest::of(b"lock")),
            model: ModelIds {
                provider: "mock".to_owned(),
                asked: "noisy".to_owned(),
                returned: vec!["mock-noisy".to_owned()],
                host: None,
            },
            arms: vec!["raw".to_owned(), "L0".to_owned()],
            suites: [("tools".to_owned(), SuiteRun { tasks: 12, seed: "s".to_owned(), dev: false })].into(),
            prices: None,
            budget: None,
            build: Build {
                version: "0.1.0".to_owned(),
                commit: None,
                dirty: None,
                target: "any".to_owned(),
                rustc: "any".to_owned(),
            },
            started: None,
            finished: None,
            complete: true,
            deviations: Vec::new(),
        }
    }

    #[test]
    fn manifest_bytes_are_stable() {
        insta::assert_json_snapshot!(manifest());
    }

    #[test]
    fn deviations_must_be_there_even_if_empty() {
        let mut value = serde_json::to_value(manifest()).unwrap();
        value.as_object_mut().unwrap().remove("deviations");
        assert!(serde_json::from_value::<Manifest>(value).unwrap_err().to_string().contains("deviations"));
    }
}
