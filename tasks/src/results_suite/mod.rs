//! The result suite: questions about one tool result, which a digest may have lost the answer to.

pub mod answer;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
