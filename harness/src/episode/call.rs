//! Episodes of the tool suite: they end at the deciding call.

use std::sync::Arc;

use bench_protocol::spec::EpisodeRule;
use bench_results::record::{CallRecord, End, EpisodeRecord, Route};
use bench_tasks::{catalog::Catalogs, result::ToolResult, task::Task};
use serde_json::{Map, Value};

use super::{Common, answer::answer_of, score};
use crate::{
    arms::{ArmSession, CallOutcome, ToolCall},
    wire::{CallAnswer, Entry, Reply, ReplyCall},
};

/// What tools answer, where more is wanted than that they were called.
pub trait ResultSource: Sync {
    /// The result of a tool for what the user asked; `None` where a confirmation will do.
    fn result(&self, server: &str, tool: &str, request: &str) -> Option<ToolResult>;
}

/// One tool task under one arm.
pub struct CallEpisode<'a> {
    pub(super) common: Common,
    task: &'a Task,
    catalogs: &'a Catalogs,
    rule: &'a EpisodeRule,
    results: Option<&'a dyn ResultSource>,
    invalid_calls: u32,
}

/// An upstream call of the response at hand, not yet judged.
struct Upstream {
    position: usize,
    server: Arc<str>,
    tool: Arc<str>,
    arguments: Map<String, Value>,
    route: Route,
    /// What the arm itself answered, where it did.
    reply: Option<(String, bool)>,
}

impl Upstream {
    fn same_as(&self, other: &Self) -> bool {
        self.server == other.server && self.tool == other.tool && self.arguments == other.arguments
    }
}

impl<'a> CallEpisode<'a> {
    /// A fresh episode: the user's words stand alone in the conversation.
    pub fn new(
        task: &'a Task,
        arm: Arc<str>,
        session: Box<dyn ArmSession>,
        catalogs: &'a Catalogs,
        rule: &'a EpisodeRule,
    ) -> Self {
        Self::within(task, arm, session, Vec::new(), catalogs, rule)
    }

    /// An episode in a session that goes on: the user's words follow what was said before.
    pub fn within(
        task: &'a Task,
        arm: Arc<str>,
        session: Box<dyn ArmSession>,
        mut entries: Vec<Entry>,
        catalogs: &'a Catalogs,
        rule: &'a EpisodeRule,
    ) -> Self {
        entries.push(Entry::User(task.utterance.clone()));
        Self {
            common: Common::new(task.id.clone(), arm, session, entries, rule),
            task,
            catalogs,
            rule,
            results: None,
            invalid_calls: 0,
        }
    }

    /// Valid calls are answered from here.
    #[must_use]
    pub fn answered_from(mut self, results: &'a dyn ResultSource) -> Self {
        self.results = Some(results);
        self
    }

    pub(super) fn accept(&mut self, reply: &Reply) {
        self.common.receive(reply);
        if self.common.end.is_some() {
            return;
        }
        if reply.calls.is_empty() {
            self.common.end = Some(End::Talked);
            return;
        }
        let mut answers: Vec<Option<CallAnswer>> = vec![None; reply.calls.len()];
        let mut upstream = Vec::new();
        // Meta calls that only inform come first, in order; they don't decide.
        let (first, then): (Vec<_>, Vec<_>) =
            reply.calls.iter().enumerate().partition(|(_, call)| self.common.session.informs(&call.name));
        for (position, call) in first.into_iter().chain(then) {
            self.route_call(position, call, &mut answers, &mut upstream);
        }
        self.judge(upstream, &reply.calls, &mut answers);
        self.common.entries.push(Entry::Results(answers.into_iter().flatten().collect()));
        self.common.close_turn();
    }

    fn route_call(
        &mut self,
        position: usize,
        call: &ReplyCall,
        answers: &mut [Option<CallAnswer>],
        upstream: &mut Vec<Upstream>,
    ) {
        let Ok(arguments) = &call.arguments else { return };
        let outcome = self.common.session.call(&ToolCall { name: call.name.clone(), arguments: arguments.clone() });
        match outcome {
            CallOutcome::Meta { reply, is_error, .. } => {
                self.common.meta_calls += 1;
                answers[position] = Some(CallAnswer { id: call.id.clone(), text: vec![reply], is_error });
            }
            CallOutcome::Rejected { reply } => {
                self.common.rejected_calls += 1;
                answers[position] = Some(CallAnswer { id: call.id.clone(), text: vec![reply], is_error: true });
            }
            CallOutcome::Upstream { server, tool, arguments, route, .. } => {
                let reply = self.common.session.upstream_reply();
                upstream.push(Upstream { position, server, tool, arguments, route, reply });
            }
        }
    }

    /// All upstream calls of one response count, valid or not: more than one distinct is wrong. One valid call decides;
    /// the first invalid one is answered as a real server would, the next ends the episode.
    fn judge(&mut self, upstream: Vec<Upstream>, calls: &[ReplyCall], answers: &mut [Option<CallAnswer>]) {
        let several = upstream.iter().skip(1).any(|call| !call.same_as(&upstream[0]));
        let mut why_invalid = None;
        for call in upstream {
            let why = self.why_invalid(&call.server, &call.tool, &call.arguments);
            let id = calls[call.position].id.clone();
            answers[call.position] = Some(match (&call.reply, &why) {
                (Some((text, is_error)), _) => CallAnswer { id, text: vec![text.clone()], is_error: *is_error },
                (None, Some(why)) => CallAnswer { id, text: vec![why.clone()], is_error: true },
                (None, None) => self.answer(id, &call),
            });
            if why_invalid.is_none() {
                why_invalid = Some(why.clone());
            }
            self.common.calls.push(CallRecord {
                server: call.server,
                tool: call.tool,
                arguments: call.arguments,
                route: call.route,
                valid: why.is_none(),
            });
        }
        self.common.end = match why_invalid {
            None => None,
            Some(_) if several => Some(End::SeveralCalls),
            Some(None) => Some(End::Decided),
            Some(Some(_)) => {
                self.invalid_calls += 1;
                (self.invalid_calls > self.rule.invalid_calls_answered).then_some(End::InvalidCalls)
            }
        };
    }

    fn answer(&mut self, id: String, call: &Upstream) -> CallAnswer {
        let result = self.results.and_then(|results| results.result(&call.server, &call.tool, &self.task.utterance));
        match result {
            Some(result) => answer_of(id, &self.common.session.digest(&call.server, &call.tool, &result)),
            None => CallAnswer { id, text: vec!["ok".to_owned()], is_error: false },
        }
    }

    fn why_invalid(&self, server: &str, tool: &str, arguments: &Map<String, Value>) -> Option<String> {
        match self.catalogs.tool(server, tool) {
            Some(definition) => definition.validate(arguments).err(),
            None => Some(format!("unknown tool: {tool}")),
        }
    }

    pub(super) fn finish(self) -> EpisodeRecord {
        self.into_parts().0
    }

    /// The line of the record, scored, and what the session goes on with: the arm's session and the conversation.
    pub(super) fn into_parts(self) -> (EpisodeRecord, Box<dyn ArmSession>, Vec<Entry>) {
        let (mut record, session, entries) = self.common.into_parts();
        if record.end != End::Missing {
            let score = score::call(self.task, self.catalogs, &self.rule.look_first, &record);
            record.set_score(Some(score));
        }
        (record, session, entries)
    }
}
