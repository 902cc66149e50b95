//! Right or wrong: what a task asked for against the upstream calls that were made.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    catalog::Catalogs,
    matcher::{matches, numbers_equal},
    task::Task,
};

/// A call that reached an upstream server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UpstreamCall {
    /// Catalog name.
    pub server: String,
    /// Upstream tool name.
    pub tool: String,
    /// Arguments as sent.
    pub arguments: Map<String, Value>,
}

/// The two endpoints of one episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Score {
    /// The right tool was called.
    pub selection: bool,
    /// The right tool was called with the right arguments.
    pub arguments: bool,
    /// Which alternative of the gold matched in full; 0 is the intent's own.
    pub matched: Option<usize>,
}

/// Scores the upstream calls that count: all those of the deciding response, valid or not. More than one distinct call
/// is wrong; the same call twice is one.
///
/// An abstain task is right, on both endpoints, exactly if there is no call. Whether the episode ended in text is the
/// caller's to know.
pub fn score(task: &Task, catalogs: &Catalogs, calls: &[UpstreamCall]) -> Score {
    if task.gold.is_empty() {
        return Score { selection: calls.is_empty(), arguments: calls.is_empty(), matched: None };
    }
    let Some((call, others)) = calls.split_first() else {
        return Score::default();
    };
    if others.iter().any(|other| !same_call(call, other)) {
        return Score::default();
    }
    let of_tool = |gold: &&crate::task::GoldCall| *gold.server == *call.server && *gold.tool == *call.tool;
    let no_schema = Value::Bool(true);
    let schema = catalogs.tool(&call.server, &call.tool).map_or(&no_schema, |tool| &tool.input_schema);
    let matched = task
        .gold
        .iter()
        .position(|gold| of_tool(&gold) && matches(&gold.arguments, &call.arguments, &gold.matchers, schema));
    Score { selection: task.gold.iter().any(|gold| of_tool(&gold)), arguments: matched.is_some(), matched }
}

fn same_call(a: &UpstreamCall, b: &UpstreamCall) -> bool {
    a.server == b.server && a.tool == b.tool && same_members(&a.arguments, &b.arguments)
}

fn same_members(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same_value(value, other)))
}

/// The same JSON value, numbers by value, members in any order.
fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers_equal(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Value::Object(a), Value::Object(b)) => same_members(a, b),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests;
