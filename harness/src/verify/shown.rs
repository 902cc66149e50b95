//! One episode as it went: what the model saw and did, re-made from its recorded responses.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::Context as _;
use bench_results::record::{AttemptLine, DrawId, End, EpisodeRecord, Record, Settled, Tail};

use crate::{
    inputs::Inputs,
    journal::is_reply,
    run::{
        family::{AnyTask, Family},
        live::folder,
    },
    surface::Surface,
    wire::Entry,
};

/// An episode, re-made.
pub struct Shown {
    /// The arm.
    pub arm: Arc<str>,
    /// What it showed at each turn, in order.
    pub surfaces: Vec<Arc<Surface>>,
    /// The conversation, up to the end.
    pub entries: Vec<Entry>,
    /// The episode's line, scored.
    pub record: EpisodeRecord,
}

/// Re-makes the episodes of one task under some arms of its family.
///
/// # Errors
/// A log that cannot be read, or a turn without a response.
pub fn shown(
    reader: &Record,
    inputs: &Inputs,
    family: &Family,
    task: &AnyTask,
    only: Option<&str>,
) -> anyhow::Result<Vec<Shown>> {
    let wire = folder::wire(reader.folder())?;
    let replies = replies(reader, task)?;
    let mut all = Vec::new();
    for arm in &family.arms {
        let id = arm.info().id.0.as_str();
        if only.is_some_and(|only| only != id) {
            continue;
        }
        let mut episode = task.episode(arm.as_ref(), &inputs.catalogs, &inputs.protocol.episode)?;
        let mut surfaces = Vec::new();
        // A subset of tasks may be all that an arm ran.
        if !replies.keys().any(|draw| &*draw.arm == id) {
            continue;
        }
        while !episode.ended() {
            surfaces.push(Arc::clone(episode.surface()));
            let draw = DrawId { task: task.id().clone(), arm: id.into(), turn: episode.turn() };
            match replies.get(&draw).and_then(|settled| settled.response.as_ref()) {
                Some(response) => {
                    let reply = wire.decode(response.get().as_bytes());
                    episode.accept(reply.with_context(|| format!("{id}, turn {}", draw.turn))?);
                }
                None => episode.abort(End::Missing),
            }
        }
        let entries = episode.entries().to_vec();
        all.push(Shown { arm: id.into(), surfaces, entries, record: episode.finish() });
    }
    Ok(all)
}

/// The replies to a task's draws, by draw.
fn replies(reader: &Record, task: &AnyTask) -> anyhow::Result<BTreeMap<DrawId, Settled>> {
    let (mut open, mut replies) = (BTreeMap::new(), BTreeMap::new());
    for line in reader.attempts(Tail::Cut)? {
        match line? {
            AttemptLine::Opened(opened) => {
                if opened.draw.task == *task.id() {
                    open.insert(opened.n, opened.draw);
                }
            }
            AttemptLine::Settled(settled) => {
                if let Some(draw) = open.remove(&settled.n)
                    && is_reply(&settled)
                {
                    replies.entry(draw).or_insert(settled);
                }
            }
        }
    }
    Ok(replies)
}
