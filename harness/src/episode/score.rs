//! Scoring an episode from its record line and its task alone: the arm is not looked at.

use bench_results::record::{CallRecord, End, EpisodeRecord, Score};
use bench_tasks::{
    catalog::Catalogs,
    score::{UpstreamCall, score},
    task::Task,
};

/// Scores an episode of the tool suite.
pub(super) fn call(task: &Task, catalogs: &Catalogs, look_first: &[String], record: &EpisodeRecord) -> Score {
    if task.gold.is_empty() {
        // Abstain: right when the episode ends in text without any upstream call.
        let right = record.calls.is_empty() && record.end == End::Talked;
        return Score { selection: right, arguments: right, first_call_ok: right, look_first_ok: right };
    }
    let judge = |call: &CallRecord| {
        let call = UpstreamCall {
            server: call.server.to_string(),
            tool: call.tool.to_string(),
            arguments: call.arguments.clone(),
        };
        score(task, catalogs, &[call])
    };
    let deciding = if record.end == End::Decided { record.calls.last() } else { None };
    let decided = deciding.map(judge).unwrap_or_default();
    let first = record.calls.first().map(judge).unwrap_or_default();
    let forgiven = deciding.is_some_and(|call| {
        look_first.iter().any(|name| {
            name.split_once('/').is_some_and(|(server, tool)| *call.server == *server && *call.tool == *tool)
        })
    });
    Score {
        selection: decided.selection,
        arguments: decided.arguments,
        first_call_ok: first.arguments && record.end != End::SeveralCalls,
        look_first_ok: decided.arguments || forgiven,
    }
}
