//! The sessions suite: one session of an arm and one conversation over many requests of one user.
//!
//! Every request is judged as in the tool suite. What is new is what stays: unlocked tools, promoted tools, what an arm
//! has learnt, the conversation that grows, and the provider's cache that holds as long as nothing before it changes.

pub mod cache;
pub mod results;
pub mod sums;

use std::sync::Arc;

use anyhow::Context as _;
use bench_results::record::{DrawId, EpisodeRecord};
use bench_tasks::sessions::{Session, Sessions};

use self::{
    cache::{Cache, Classes},
    results::CannedResults,
    sums::ArmSums,
};
use super::offline::{InProcessModel, Setting};
use crate::{
    arms::{Arm, Scope},
    episode::{CallEpisode, Episode},
    wire::{Entry, Request},
};

/// What all sessions of a run share.
pub struct SessionSetting<'a> {
    /// As in other offline runs.
    pub setting: Setting<'a>,
    /// What tools answer.
    pub results: &'a CannedResults,
    /// Tokens below which a prompt is not cached by the provider.
    pub cache_minimum: u64,
}

/// One request of a session under an arm.
#[derive(Debug)]
pub struct StepTrace {
    /// Its outcome, scored.
    pub record: EpisodeRecord,
    /// Token classes of its requests together.
    pub classes: Classes,
    /// Requests to the model whose tool list was not that of the request before.
    pub breaks: u32,
    /// Tokens of the tool list at the start.
    pub list_tokens: u64,
}

/// Runs some sessions under an arm and sums them up by position.
///
/// # Errors
/// Where the model or the arm fails.
pub fn run(
    arm: &dyn Arm,
    sessions: &Sessions<'_>,
    count: u64,
    shared: &SessionSetting<'_>,
    model: &dyn InProcessModel,
) -> anyhow::Result<ArmSums> {
    let mut sums = ArmSums::new(arm.info());
    for index in 0..count {
        for (position, step) in run_session(arm, &sessions.session(index), shared, model)?.iter().enumerate() {
            sums.add(position, step);
        }
    }
    Ok(sums)
}

/// Runs one session.
///
/// # Errors
/// Where the model or the arm fails.
pub fn run_session(
    arm: &dyn Arm,
    session: &Session,
    shared: &SessionSetting<'_>,
    model: &dyn InProcessModel,
) -> anyhow::Result<Vec<StepTrace>> {
    let setting = shared.setting;
    let id: Arc<str> = arm.info().id.0.as_str().into();
    let system = &setting.protocol.episode.system_prompt;
    let rule = &setting.protocol.episode;
    let mut opened = arm.open(Scope::Catalogs)?;
    let mut said: Vec<Entry> = Vec::new();
    let mut cache = Cache::new(system, shared.cache_minimum);
    let mut body = Vec::new();
    let mut traces = Vec::with_capacity(session.steps.len());
    for step in &session.steps {
        if arm.info().hears {
            opened.hear(&step.task.utterance);
        }
        let call = CallEpisode::within(&step.task, Arc::clone(&id), opened, said, setting.catalogs, rule);
        let mut episode = Episode::Call(call.answered_from(shared.results));
        let list_tokens = cache::tokens_of(episode.surface());
        let (mut classes, mut breaks) = (Classes::default(), 0);
        while !episode.ended() {
            let surface = episode.surface().clone();
            let request = Request { settings: setting.settings, system, surface: &surface, entries: episode.entries() };
            setting.wire.encode(&request, &mut body);
            let draw = DrawId { task: step.task.id.clone(), arm: Arc::clone(&id), turn: episode.turn() };
            let response = model.respond(&body, &draw)?;
            let reply = setting
                .wire
                .decode(&response)
                .with_context(|| format!("task {} under {id}, turn {}", draw.task, draw.turn))?;
            let (of_request, broke) = cache.request(&surface, episode.entries(), reply.content.get());
            classes.add(of_request);
            breaks += u32::from(broke);
            episode.accept(reply);
        }
        let (record, session, entries) = episode.into_parts();
        (opened, said) = (session, entries);
        traces.push(StepTrace { record, classes, breaks, list_tokens });
    }
    Ok(traces)
}

#[cfg(test)]
mod tests;
