//! What a task is: an utterance, the calls that are right, and where it came from.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::matcher::Matchers;

/// Identity of a task: `t` and 16 hex digits, a hash of its frame and slot indices.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub String);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A set of catalogs plus tasks over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// Single-call tasks over all tools, abstain tasks included.
    Tools,
    /// Questions over one tool result (the family of R).
    Results,
}

/// What makes a task hard, fixed by its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stratum {
    /// Direct wording.
    Plain,
    /// Shares no word with the tool's name.
    Paraphrase,
    /// A sibling tool is close; one fact in the utterance decides.
    Confusable,
    /// Fills arrays of objects.
    Nested,
    /// An optional argument matters.
    Optional,
    /// No call is right.
    Abstain,
}

impl Stratum {
    /// Its name, as written in intents and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Paraphrase => "paraphrase",
            Self::Confusable => "confusable",
            Self::Nested => "nested",
            Self::Optional => "optional",
            Self::Abstain => "abstain",
        }
    }
}

/// One right call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GoldCall {
    /// Catalog name.
    pub server: Arc<str>,
    /// Upstream tool name.
    pub tool: Arc<str>,
    /// Arguments as a careful engineer would send them.
    pub arguments: Map<String, Value>,
    /// How each argument is compared, by argument path.
    #[serde(rename = "match")]
    pub matchers: Arc<Matchers>,
}

/// A task of the tool suite, made from a seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Identity.
    pub id: TaskId,
    /// The suite it belongs to.
    pub suite: Suite,
    /// The catalog of the intent's tool; `None` for abstain.
    pub server: Option<Arc<str>>,
    /// The intent's own tool; it alone sets cluster and harm guard. `None` for abstain.
    pub tool: Option<Arc<str>>,
    /// The frame's full id, `server/tool/frame` or `abstain/frame`.
    pub frame: Arc<str>,
    /// The frame's stratum.
    pub stratum: Stratum,
    /// What the user says.
    pub utterance: String,
    /// Right calls, the intent's own first; empty for abstain.
    pub gold: Vec<GoldCall>,
}
