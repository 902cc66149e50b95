//! What a report needs beside the record: everything that the record's inputs say and its logs do not. The caller re-makes
//! it, since arms, tasks and wire formats are not this crate's.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{prices::Price, rng::Seed, spec::Protocol, verdict::FamilyKind};
use bench_tasks::task::TaskId;
use serde::Serialize;
use serde_json::value::RawValue;

/// One planned arm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedArm {
    /// Its name.
    pub arm: Arc<str>,
    /// The family it runs in.
    pub family: FamilyKind,
    /// Episodes that are planned of it.
    pub episodes: u64,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFacts {
    /// Identity.
    pub id: TaskId,
    /// The gold tool's catalog; none for abstain.
    pub server: Option<Arc<str>>,
    /// The gold tool; none for abstain.
    pub tool: Option<Arc<str>>,
    /// Its stratum, or the kind of a result task.
    pub stratum: Arc<str>,
}

/// One upstream tool: its definition as captured, and as each arm shows it at the start of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTexts {
    /// Catalog name.
    pub server: Arc<str>,
    /// Tool name.
    pub tool: Arc<str>,
    /// The definition as the reference shows it, in lines.
    pub original: String,
    /// By arm, in the order of the arms; none where the arm does not show it.
    pub shown: Vec<(Arc<str>, Option<String>)>,
}

/// A tool that an arm adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaTexts {
    /// The arm.
    pub arm: Arc<str>,
    /// The name that is shown.
    pub name: String,
    /// Its definition, in lines.
    pub text: String,
}

/// Size of what an arm shows of one server at the start of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerSize {
    /// Catalog name.
    pub server: String,
    /// Tools, meta tools included.
    pub tools: u64,
    /// Bytes.
    pub bytes: u64,
    /// o200k tokens.
    pub tokens: u64,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// It agrees.
    Pass,
    /// Nothing disagrees, but something that a sceptic wants is not there.
    Note,
    /// It does not agree.
    Fail,
}

/// One check of a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckLine {
    /// Its name.
    pub name: String,
    /// How it came out.
    pub outcome: CheckOutcome,
    /// What was compared, or what differs.
    pub evidence: String,
}

/// Prices of the cost tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pricing {
    /// The row.
    pub price: Price,
    /// Whether the run was billed by it; else it is the protocol's model, taken as an example.
    pub billed: bool,
}

/// Everything beside the record.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The protocol.
    pub protocol: Arc<Protocol>,
    /// Its text.
    pub protocol_text: Arc<str>,
    /// Arms of all families, in their order.
    pub planned: Vec<PlannedArm>,
    /// Tasks of all suites, in their order.
    pub tasks: Vec<TaskFacts>,
    /// Upstream tools, in catalog order.
    pub tools: Vec<ToolTexts>,
    /// Tools that arms add.
    pub meta: Vec<MetaTexts>,
    /// Sizes by arm, then server.
    pub sizes: BTreeMap<String, Vec<ServerSize>>,
    /// Prices; none where the table has no row.
    pub pricing: Option<Pricing>,
    /// Seed of the intervals that the certificate does not hold.
    pub seed: Seed,
    /// The verification; empty where none was made.
    pub checks: Vec<CheckLine>,
    /// What no verification can show.
    pub not_shown: String,
}

impl Sources {
    /// Whether a check was made and passed.
    pub(super) fn passes(&self, name: &str) -> bool {
        self.checks.iter().any(|check| check.name == name && check.outcome == CheckOutcome::Pass)
    }
}

/// A task in words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskText {
    /// What the user says.
    pub utterance: String,
    /// The right calls, or the right answer; empty where no call is right.
    pub gold: Vec<String>,
}

/// One step of an episode, as the model lived it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Step {
    /// The model spoke or called.
    Model {
        /// Its text; may be empty.
        text: String,
        /// Its calls: shown name and arguments as JSON.
        calls: Vec<CallText>,
    },
    /// It read an answer.
    Answer {
        /// The text.
        text: String,
        /// Whether it was told that the call failed.
        error: bool,
    },
}

/// A call in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallText {
    /// The name the model used.
    pub name: String,
    /// Arguments as JSON, or as sent where they are none.
    pub arguments: String,
}

/// Re-makes what the record keeps only in part.
pub trait Scenes {
    /// A task in words; none where there is no such task.
    fn task(&self, task: &TaskId) -> Option<TaskText>;
    /// What the model did and read in an episode, from its recorded responses, one per turn.
    fn steps(&self, task: &TaskId, arm: &str, responses: &[Box<RawValue>]) -> Vec<Step>;
}
