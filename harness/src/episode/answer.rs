//! Episodes of the result suite: a question about one result, ended by the first turn without a tool call.

use std::sync::Arc;

use bench_protocol::spec::EpisodeRule;
use bench_results::record::{End, EpisodeRecord, Score};
use bench_tasks::{
    result::{Content, ToolResult},
    results_suite::{ResultTask, answer},
};

use super::Common;
use crate::{
    arms::{ArmSession, CallOutcome, ToolCall},
    wire::{CallAnswer, Entry, Reply},
};

/// Id of the call that the task puts before the model's first turn.
const SOURCE_CALL: &str = "call_source";

/// One result task under one arm.
pub struct AnswerEpisode<'a> {
    pub(super) common: Common,
    task: &'a ResultTask,
    shown: ToolResult,
    answer: Option<String>,
}

impl<'a> AnswerEpisode<'a> {
    /// A fresh episode: the question, the call and its result, digested by the arm, stand in the conversation.
    pub fn new(task: &'a ResultTask, arm: Arc<str>, mut session: Box<dyn ArmSession>, rule: &EpisodeRule) -> Self {
        let shown = session.digest(&task.server, &task.tool, &task.result);
        // The source tool stands first on the surface of every arm of this suite.
        let name = session.surface().tools().first().map_or_else(String::new, |tool| tool.name().to_owned());
        let entries = vec![
            Entry::User(task.utterance.clone()),
            Entry::Call { id: SOURCE_CALL.to_owned(), name, arguments: task.arguments.clone() },
            Entry::Results(vec![answer_of(SOURCE_CALL.to_owned(), &shown)]),
        ];
        Self { common: Common::new(task.id.clone(), arm, session, entries, rule), task, shown, answer: None }
    }

    pub(super) fn accept(&mut self, reply: Reply) {
        self.common.receive(&reply);
        if self.common.end.is_some() {
            return;
        }
        if reply.calls.is_empty() {
            self.answer = answer::extract(&reply.text).map(answer::normalise);
            self.common.end = Some(End::Talked);
            return;
        }
        let mut answers = Vec::with_capacity(reply.calls.len());
        for call in reply.calls {
            let Ok(arguments) = call.arguments else { continue };
            let outcome = self.common.session.call(&ToolCall { name: call.name, arguments });
            answers.push(match outcome {
                CallOutcome::Meta { reply, is_error, .. } => {
                    self.common.meta_calls += 1;
                    CallAnswer { id: call.id, text: vec![reply], is_error }
                }
                CallOutcome::Rejected { reply } => {
                    self.common.rejected_calls += 1;
                    CallAnswer { id: call.id, text: vec![reply], is_error: true }
                }
                // A repeated source call gets the same result and costs a turn.
                CallOutcome::Upstream { .. } => answer_of(call.id, &self.shown),
            });
        }
        self.common.entries.push(Entry::Results(answers));
        self.common.close_turn();
    }

    pub(super) fn finish(self) -> EpisodeRecord {
        self.into_parts().0
    }

    /// The line of the record, scored, and what a session goes on with.
    pub(super) fn into_parts(self) -> (EpisodeRecord, Box<dyn ArmSession>, Vec<Entry>) {
        let right = self.answer.as_deref().is_some_and(|given| given == answer::normalise(&self.task.gold.answer));
        let (mut record, session, entries) = self.common.into_parts();
        record.answer = self.answer;
        if record.end != End::Missing {
            let right = right && record.end == End::Talked;
            record.set_score(Some(Score {
                selection: right,
                arguments: right,
                first_call_ok: right,
                look_first_ok: right,
            }));
        }
        (record, session, entries)
    }
}

/// A result as the model reads it.
pub(super) fn answer_of(id: String, result: &ToolResult) -> CallAnswer {
    let text = result
        .content
        .iter()
        .map(|block| match block {
            Content::Text(text) => text.clone(),
            Content::Other(block) => serde_json::Value::Object(block.clone()).to_string(),
        })
        .collect();
    CallAnswer { id, text, is_error: result.is_error }
}
