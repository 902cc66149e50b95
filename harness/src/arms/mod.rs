//! Arms: the ways to present the catalogs to a model. Nothing here is async, and nothing sees an utterance or a gold.

mod block;
mod columnar;
pub mod contract;
mod controls;
pub mod definitions;
mod digest;
pub mod embed;
mod fallback;
#[cfg(test)]
pub(crate) mod fixtures;
mod keep;
mod lazy;
mod level;
mod lossless;
mod materials;
pub mod names;
pub mod peers;
mod raw;
pub mod registry;
mod schema_tool;
mod sentences;
mod similar;
mod space;
mod summary;
mod tidy;

pub use materials::Materials;

use std::{collections::BTreeMap, fmt, sync::Arc};

use bench_results::record::{End, Route};
use bench_tasks::{catalog::Catalogs, result::ToolResult};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::surface::Surface;

/// Name of an arm, such as `raw` or `L2`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArmId(pub String);

impl fmt::Display for ArmId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a session of an arm serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// All catalogs: the tool suite.
    Catalogs,
    /// One upstream tool alone: the result suite, where the question is about one result of it.
    Tool {
        /// Catalog name.
        server: &'a str,
        /// Upstream tool name.
        tool: &'a str,
    },
}

/// A call of the model, under the name it was shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The name the model used.
    pub name: String,
    /// The arguments it sent.
    pub arguments: Map<String, Value>,
}

/// What an arm makes of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallOutcome {
    /// A meta tool answered.
    Meta {
        /// What the model reads.
        reply: String,
        /// The reply reports an error.
        is_error: bool,
        /// The surface is another one now.
        surface_changed: bool,
    },
    /// The call goes to an upstream tool, under its own name and with these arguments.
    Upstream {
        /// Catalog name.
        server: Arc<str>,
        /// Upstream tool name.
        tool: Arc<str>,
        /// Arguments as forwarded.
        arguments: Map<String, Value>,
        /// How it came about.
        route: Route,
        /// The surface is another one now.
        surface_changed: bool,
    },
    /// The arm refuses the call; the model reads why, as an error.
    Rejected {
        /// What the model reads.
        reply: String,
    },
}

/// What kind of surface an arm shows; `bench arms` prints it. The scripted model does not see it: it reads what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Affordance {
    /// Upstream tools are called as shown.
    Direct,
    /// An index of tools, schemas on request, then a direct call.
    IndexSchemaDirect,
    /// An index of tools, schemas on request, then a call through a meta tool.
    IndexSchemaInvoke,
    /// A search, then a direct call.
    SearchDirect,
    /// A search, then a call through a meta tool.
    SearchInvoke,
    /// A search for names, then schemas, then a call through a meta tool.
    SearchSchemaInvoke,
    /// Servers, then their tools, then schemas, then a call through a meta tool.
    Hierarchical,
    /// Results are digested; the definitions are those of raw.
    Digest,
}

/// Clauses of the arm contract that an arm breaks by design; each is printed with the arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waiver {
    /// Some upstream tools cannot be reached.
    Unreachable,
    /// Upstream order is not kept.
    Order,
    /// Shown tools may disappear again.
    Removes,
    /// May be larger than L0.
    LargerThanL0,
    /// Rejects calls on purpose.
    Rejects,
}

/// What an arm says of itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmInfo {
    /// Its name.
    pub id: ArmId,
    /// One line for people.
    pub summary: &'static str,
    /// Where its definition comes from.
    pub source: &'static str,
    /// The kind of surface.
    pub affordance: Affordance,
    /// Model requests that a careful model needs before the first upstream call, beyond one.
    pub extra_trips: u32,
    /// Contract clauses it breaks by design.
    pub waivers: &'static [Waiver],
    /// What its published description leaves open and is resolved here: where there is any, the numbers are ours.
    pub gaps: &'static [&'static str],
    /// What its author would object to.
    pub objection: Option<&'static str>,
    /// What its author would object to where a task is one call: there it is only shown.
    pub single_call: Option<&'static str>,
    /// Whether it takes a place in a ranking, or is only shown.
    pub ranked: bool,
    /// The embedding model that it is run with, where it needs one.
    pub embedding: Option<Embedding>,
    /// Whether it sits inside the agent and is told what the user says. Every other arm sees calls alone.
    pub hears: bool,
}

/// An embedding model, as an arm's published description has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Embedding {
    /// This one.
    Model(&'static str),
    /// One that it does not name.
    Unnamed,
}

impl Embedding {
    /// Whether a model that calls itself so is the one: names are given with more or less around them, such as an owner.
    fn is(self, model: &str) -> bool {
        let letters =
            |text: &str| -> String { text.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect() };
        match self {
            Self::Model(name) => letters(model).contains(&letters(name)),
            Self::Unnamed => true,
        }
    }
}

/// What the tasks of a suite ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tasks {
    /// One call each, in a session of its own.
    Single,
    /// Many requests in one session.
    Sessions,
}

/// Where the levels come from.
const LEVELS_SOURCE: &str = "public description of distil's MCP compressor (distil-llm 1.58.0)";

impl ArmInfo {
    /// Info of an arm that shows upstream tools to be called as they stand.
    fn direct(id: &str, summary: &'static str, waivers: &'static [Waiver]) -> Self {
        Self {
            id: ArmId(id.to_owned()),
            summary,
            source: "built in",
            affordance: Affordance::Direct,
            extra_trips: 0,
            waivers,
            gaps: &[],
            objection: None,
            single_call: None,
            ranked: true,
            embedding: None,
            hears: false,
        }
    }

    /// Whether it takes a place in a ranking over such tasks.
    pub fn ranks(&self, tasks: Tasks) -> bool {
        self.ranked && (tasks == Tasks::Sessions || self.single_call.is_none())
    }

    /// What its author would object to over such tasks.
    pub fn objections(&self, tasks: Tasks) -> Vec<&'static str> {
        let single = self.single_call.filter(|_| tasks == Tasks::Single);
        self.objection.into_iter().chain(single).collect()
    }

    /// The same as it stands beside others when it is run with this embedding model: an arm whose description names
    /// another one is only shown.
    #[must_use]
    fn with_model(self, model: &str) -> Self {
        match self.embedding {
            Some(embedding) if embedding.is(model) => Self { ranked: true, ..self },
            Some(_) => Self { ranked: false, objection: Some("run with another embedding model than its own"), ..self },
            None => self,
        }
    }
}

/// One way to present the catalogs. Built once per run; sessions are cheap.
pub trait Arm: Send + Sync {
    /// What the arm says of itself.
    fn info(&self) -> &ArmInfo;
    /// A fresh session: nothing of an earlier one is left.
    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError>;
    /// Servers that this arm shows at a lower level than its name says, and why.
    fn fallbacks(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
    /// How its search ranks tools, where it has one.
    fn ranker(&self) -> Option<&dyn peers::Ranker> {
        None
    }
}

/// One session of an arm: state for one task.
pub trait ArmSession: Send {
    /// What the model is shown now.
    fn surface(&self) -> &Arc<Surface>;
    /// True for meta tools that only inform (schemas, search, expand) and never forward: they come first in a turn.
    fn informs(&self, name: &str) -> bool;
    /// The user has said this. Only arms that [hear](ArmInfo::hears) are told.
    fn hear(&mut self, text: &str) {
        let _ = text;
    }
    /// The model has answered and its calls follow: what was shown for that one request is not shown in the next.
    fn begin_turn(&mut self) {}
    /// Takes one call of the model.
    fn call(&mut self, call: &ToolCall) -> CallOutcome;
    /// What the model reads of the last upstream call, and whether it is an error, where the arm itself has the answer;
    /// elsewhere the harness answers as the upstream server would.
    fn upstream_reply(&mut self) -> Option<(String, bool)> {
        None
    }
    /// Why the session cannot go on, once it cannot; the episode ends with it. Built-in arms never fail.
    fn fault(&self) -> Option<&SessionFault> {
        None
    }
    /// What the model is shown of an upstream result: R digests it, the others pass it on.
    fn digest(&mut self, server: &str, tool: &str, result: &ToolResult) -> ToolResult {
        let _ = (server, tool);
        result.clone()
    }
}

/// Why a session cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionFault {
    /// The arm failed: the episode is wrong.
    Arm(String),
    /// The harness failed: the episode is missing, and nothing is held against the arm.
    Harness(String),
}

impl SessionFault {
    /// How the episode ends.
    pub fn end(&self) -> End {
        match self {
            Self::Arm(_) => End::ArmFault,
            Self::Harness(_) => End::Missing,
        }
    }
}

/// Use counts per server and tool from the warm-up trace, for history-driven arms.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Server, then tool, then number of calls.
    pub uses: BTreeMap<String, BTreeMap<String, u32>>,
}

/// What arms are built from.
#[derive(Debug, Clone)]
pub struct ArmContext {
    /// The catalogs of the run.
    pub catalogs: Arc<Catalogs>,
    /// The warm-up trace.
    pub warm_up: WarmUp,
    /// Pinned tools per server at most, and uses that a pinned tool has at least.
    pub pins: (u32, u32),
    /// Seed of arms that draw (planted-loss).
    pub seed: [u8; 32],
    /// Sessions in which planted-loss rejects upstream calls, in parts per million.
    pub planted_loss_ppm: u32,
}

/// What can go wrong with an arm.
#[derive(Debug, Error)]
pub enum ArmError {
    /// No arm has this name.
    #[error("no arm is called `{id}`; `bench arms` lists them")]
    Unknown {
        /// The name.
        id: String,
    },
    /// The scope names a tool that the catalogs do not hold, or the arm does not serve this scope.
    #[error("arm `{id}`: {why}")]
    Scope {
        /// The arm.
        id: String,
        /// Why not.
        why: String,
    },
    /// An arm that measures nearness by vectors was asked for without an embedder.
    #[error("this arm needs an embedder; name one with --embedder CMD")]
    NoEmbedder,
    /// The embedder failed.
    #[error(transparent)]
    Embedder(#[from] crate::helper::HelperError),
    /// A definition could not be written as JSON.
    #[error("definition of `{tool}`: {source}")]
    Definition {
        /// The tool, under the name it is shown.
        tool: String,
        /// The cause.
        source: serde_json::Error,
    },
}
