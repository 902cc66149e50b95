//! Episodes as state machines without I/O: a driver asks the model and hands the reply back.
//!
//! The same code runs an episode offline, live, and again in `bench verify` from recorded replies.

mod answer;
mod call;
mod score;

use std::sync::Arc;

use bench_protocol::spec::EpisodeRule;
use bench_results::record::{CallRecord, End, EpisodeRecord, Usage};
use bench_tasks::task::TaskId;

pub use answer::AnswerEpisode;
pub use call::{CallEpisode, ResultSource};

use crate::{
    arms::{ArmSession, SessionFault},
    surface::Surface,
    wire::{Entry, Reply, Stop},
};

/// An episode of either suite.
pub enum Episode<'a> {
    /// Tool suite.
    Call(CallEpisode<'a>),
    /// Result suite.
    Answer(AnswerEpisode<'a>),
}

impl Episode<'_> {
    fn common(&self) -> &Common {
        match self {
            Self::Call(episode) => &episode.common,
            Self::Answer(episode) => &episode.common,
        }
    }

    fn common_mut(&mut self) -> &mut Common {
        match self {
            Self::Call(episode) => &mut episode.common,
            Self::Answer(episode) => &mut episode.common,
        }
    }

    /// The conversation so far.
    pub fn entries(&self) -> &[Entry] {
        &self.common().entries
    }

    /// What the arm shows now.
    pub fn surface(&self) -> &Arc<Surface> {
        self.common().session.surface()
    }

    /// The turn that is due, from 1.
    pub fn turn(&self) -> u32 {
        self.common().turns + 1
    }

    /// True once the episode has ended.
    pub fn ended(&self) -> bool {
        self.common().end.is_some()
    }

    /// Takes the model's reply to the turn that was due.
    pub fn accept(&mut self, reply: Reply) {
        match self {
            Self::Call(episode) => episode.accept(&reply),
            Self::Answer(episode) => episode.accept(reply),
        }
    }

    /// Ends the episode from outside: provider or harness failed, or the arm did.
    pub fn abort(&mut self, end: End) {
        self.common_mut().end = Some(end);
    }

    /// Adds what attempts without a reply cost.
    pub fn book(&mut self, billed: u64) {
        self.common_mut().billed += billed;
    }

    /// The episode's line of the record, scored, and what a session goes on with: the arm's session and the
    /// conversation.
    pub fn into_parts(self) -> (EpisodeRecord, Box<dyn ArmSession>, Vec<Entry>) {
        match self {
            Self::Call(episode) => episode.into_parts(),
            Self::Answer(episode) => episode.into_parts(),
        }
    }

    /// The episode's line of the record, scored.
    pub fn finish(self) -> EpisodeRecord {
        match self {
            Self::Call(episode) => episode.finish(),
            Self::Answer(episode) => episode.finish(),
        }
    }
}

/// What both kinds of episode keep.
struct Common {
    task: TaskId,
    arm: Arc<str>,
    session: Box<dyn ArmSession>,
    initial: Arc<Surface>,
    entries: Vec<Entry>,
    turns: u32,
    max_turns: u32,
    calls: Vec<CallRecord>,
    meta_calls: u32,
    rejected_calls: u32,
    usage: Usage,
    billed: u64,
    end: Option<End>,
}

impl Common {
    fn new(task: TaskId, arm: Arc<str>, session: Box<dyn ArmSession>, entries: Vec<Entry>, rule: &EpisodeRule) -> Self {
        // An arm that did not come up has no surface worth asking a model about.
        let end = session.fault().map(SessionFault::end);
        Self {
            task,
            arm,
            initial: Arc::clone(session.surface()),
            session,
            entries,
            turns: 0,
            max_turns: rule.max_turns,
            calls: Vec::new(),
            meta_calls: 0,
            rejected_calls: 0,
            usage: Usage::default(),
            billed: 0,
            end,
        }
    }

    /// Counts the turn and ends the episode where the reply itself ends it: refused, cut, context full, unparsable.
    fn receive(&mut self, reply: &Reply) {
        self.turns += 1;
        self.session.begin_turn();
        self.usage.add(reply.usage.unwrap_or_default());
        self.entries.push(Entry::Assistant(reply.content.clone()));
        self.end = match reply.stop {
            Stop::Refused => Some(End::Refused),
            Stop::Truncated => Some(End::Truncated),
            Stop::ContextFull => Some(End::ContextFull),
            Stop::End | Stop::Calls | Stop::Other => {
                reply.calls.iter().any(|call| call.arguments.is_err()).then_some(End::Unparsable)
            }
        };
    }

    /// Ends the episode where the session failed or no turn is left.
    fn close_turn(&mut self) {
        if let Some(fault) = self.session.fault() {
            self.end = Some(fault.end());
        }
        if self.end.is_none() && self.turns >= self.max_turns {
            self.end = Some(End::TurnLimit);
        }
    }

    fn into_parts(self) -> (EpisodeRecord, Box<dyn ArmSession>, Vec<Entry>) {
        let record = EpisodeRecord {
            task: self.task,
            arm: self.arm,
            turns: self.turns,
            calls: self.calls,
            meta_calls: self.meta_calls,
            rejected_calls: self.rejected_calls,
            end: self.end.unwrap_or(End::Missing),
            answer: None,
            surface: self.initial.digest().clone(),
            usage: self.usage,
            billed: self.billed,
            selection: None,
            arguments: None,
            first_call_ok: None,
            look_first_ok: None,
        };
        (record, self.session, self.entries)
    }
}
