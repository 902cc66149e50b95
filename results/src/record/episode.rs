//! Episodes: one task under one arm, from the first request to the deciding call or the end.

use std::sync::Arc;

use bench_protocol::digest::Digest;
use bench_tasks::task::TaskId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Usage;

/// How a call came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// The tool stood on the initial surface.
    Direct,
    /// The tool or its schema was fetched before.
    Fetched,
    /// Through a meta tool that forwards.
    Invoked,
    /// Neither shown nor fetched: called by its name alone.
    Guessed,
}

/// How an episode ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// A valid upstream call decided it.
    Decided,
    /// The model answered in text (result suite: this is the answer turn).
    Talked,
    /// More than one distinct upstream call in one response.
    SeveralCalls,
    /// A second upstream call that breaks the original schema.
    InvalidCalls,
    /// Arguments that are no JSON object.
    Unparsable,
    /// The output limit cut the turn.
    Truncated,
    /// The model, or its classifier, refused.
    Refused,
    /// The context was full.
    ContextFull,
    /// The turn limit was reached.
    TurnLimit,
    /// The arm crashed, hung or sent garbage: wrong.
    ArmFault,
    /// Provider or harness failed: missing, never wrong.
    Missing,
}

/// One upstream call of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRecord {
    /// Catalog name.
    pub server: Arc<str>,
    /// Upstream tool name.
    pub tool: Arc<str>,
    /// Arguments as they reached the server.
    pub arguments: Map<String, Value>,
    /// How it came about.
    pub route: Route,
    /// Whether the arguments are valid under the tool's original schema.
    pub valid: bool,
}

/// The score of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent outcomes, each with a name of its own")]
pub struct Score {
    /// The right tool (result suite: the right answer). For abstain: no upstream call.
    pub selection: bool,
    /// The right tool with right arguments. Equals `selection` for abstain and in the result suite.
    pub arguments: bool,
    /// The first upstream call was right in tool and arguments.
    pub first_call_ok: bool,
    /// As `arguments`, but a deciding call to a listed read-only tool is forgiven (a sensitivity, never gating).
    pub look_first_ok: bool,
}

/// One line of `episodes.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeRecord {
    /// The task.
    pub task: TaskId,
    /// The arm.
    pub arm: Arc<str>,
    /// Turns taken: model requests that were answered.
    pub turns: u32,
    /// Upstream calls, in order.
    pub calls: Vec<CallRecord>,
    /// Calls to meta tools.
    pub meta_calls: u32,
    /// Calls that the arm refused (unknown or hidden names).
    pub rejected_calls: u32,
    /// How it ended.
    pub end: End,
    /// The answer of a result task, normalised; absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Digest of the surface of the first turn.
    pub surface: Digest,
    /// Tokens over all attempts.
    pub usage: Usage,
    /// Pico-dollars over all attempts, failed ones included.
    pub billed: u64,
    /// Right tool; this and the next three are absent until the close of a confirmatory run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<bool>,
    /// Right tool and arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<bool>,
    /// First upstream call right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_call_ok: Option<bool>,
    /// As `arguments`, look-first calls forgiven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_first_ok: Option<bool>,
}

impl EpisodeRecord {
    /// The score, where the episode has one.
    pub fn score(&self) -> Option<Score> {
        Some(Score {
            selection: self.selection?,
            arguments: self.arguments?,
            first_call_ok: self.first_call_ok?,
            look_first_ok: self.look_first_ok?,
        })
    }

    /// Sets or takes away the score.
    pub fn set_score(&mut self, score: Option<Score>) {
        self.selection = score.map(|s| s.selection);
        self.arguments = score.map(|s| s.arguments);
        self.first_call_ok = score.map(|s| s.first_call_ok);
        self.look_first_ok = score.map(|s| s.look_first_ok);
    }

    /// Model requests beyond the one that every arm needs.
    pub fn extra_trips(&self) -> u32 {
        self.turns.saturating_sub(1)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A decided episode in which everything is right or everything is wrong.
    pub(crate) fn episode(task: &str, arm: &str, right: bool) -> EpisodeRecord {
        EpisodeRecord {
            task: TaskId(task.to_owned()),
            arm: arm.into(),
            turns: 1,
            calls: Vec::new(),
            meta_calls: 0,
            rejected_calls: 0,
            end: End::Decided,
            answer: None,
            surface: Digest::of(arm.as_bytes()),
            usage: Usage { input: 100, output: 10, ..Usage::default() },
            billed: 0,
            selection: Some(right),
            arguments: Some(right),
            first_call_ok: Some(right),
            look_first_ok: Some(right),
        }
    }

    #[test]
    fn an_unscored_episode_has_no_score_fields_at_all() {
        let mut unscored = episode("t1", "raw", true);
        let score = unscored.score();
        unscored.set_score(None);
        let text = serde_json::to_string(&unscored).unwrap();
        assert!(!text.contains("selection") && !text.contains("first_call_ok"), "{text}");
        assert_eq!(unscored.score(), None);
        unscored.set_score(score);
        assert_eq!(unscored, episode("t1", "raw", true));
    }

    #[test]
    fn a_call_with_arguments_at_the_limit_of_nesting_reads_back() {
        let mut deep = episode("t1", "raw", true);
        let mut arguments = Map::new();
        // The object itself is the first of the 64 levels that the harness lets through.
        for _ in 1..64 {
            arguments = Map::from_iter([("a".to_owned(), Value::Object(arguments))]);
        }
        let (server, tool) = ("s".into(), "t".into());
        deep.calls.push(CallRecord { server, tool, arguments, route: Route::Direct, valid: false });
        let text = serde_json::to_string(&deep).unwrap();
        assert_eq!(serde_json::from_str::<EpisodeRecord>(&text).unwrap(), deep);
    }
}
