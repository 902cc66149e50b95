//! The result suite: questions about one tool result, which a digest may have lost the answer to.
//!
//! Its items are built from tools whose results R digests: those of git and github that declare no output schema, are
//! not named like a reader of files, and are not said to return file contents. The text results of `everything` are
//! shorter than any digest acts on, or repeat their own arguments, so none of its tools can carry a question.
//!
//! Every item has its own frame, `results/<kind>/<format>/<voice>`, up to [`ResultGenerator::frames`] items: a recipe
//! (kind and format) draws records and a question, and a voice puts the question.

pub mod answer;
pub(crate) mod draw;
mod generate;
mod kind;
#[cfg(test)]
mod losable;
mod pools;
mod reader;
mod recipes;
mod shapes;
#[cfg(test)]
mod tests;
mod wording;
mod world;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::{generate::ResultGenerator, kind::Kind};
use crate::{
    result::ToolResult,
    task::{Suite, TaskId},
};

/// A task of the result suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultTask {
    /// Identity.
    pub id: TaskId,
    /// Always the result suite.
    pub suite: Suite,
    /// Catalog of the source tool.
    pub server: Arc<str>,
    /// The source tool.
    pub tool: Arc<str>,
    /// The frame's full id: question wording × format × kind.
    pub frame: Arc<str>,
    /// The kind, in the place that a tool task has its stratum.
    #[serde(rename = "stratum")]
    pub kind: Arc<str>,
    /// The user's question.
    pub utterance: String,
    /// Arguments of the call that was made.
    pub arguments: Map<String, Value>,
    /// What the tool returned, undigested.
    pub result: ToolResult,
    /// The right answer.
    pub gold: ResultGold,
}

/// What counts as right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultGold {
    /// The answer, compared after [`answer::normalise`].
    pub answer: String,
}
