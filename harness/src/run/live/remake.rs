//! Before a resumed run asks anything: every request on record is made again, from the responses on record, and must be the one
//! that was asked. A program that makes other requests would mix two experiments, and the close would refuse the record
//! when all of it is paid for.

use std::{collections::BTreeMap, sync::Arc};

use bench_results::record::{AttemptLine, DrawId, Opened, Settled, Usage};
use bench_tasks::task::TaskId;

use super::{money::bound, overrun::Beyond, terms::Terms};
use crate::{
    arms::ArmError,
    inputs::Inputs,
    journal::{EpisodeKey, JournalError, Recovered, is_reply},
    run::family::Family,
    wire::{DecodeError, Request, Wire},
};

/// Why the requests on record cannot be made again.
#[derive(Debug, thiserror::Error)]
pub enum RemakeError {
    /// One of them would be another today.
    #[error("the {what} of task {}, turn {} under {} is no longer made as it was asked", .draw.task, .draw.turn, .draw.arm)]
    Differs {
        /// What differs: the request, or the surface that it shows.
        what: &'static str,
        /// Which draw.
        draw: Box<DrawId>,
    },
    /// A response no longer reads.
    #[error("the response to task {}, turn {} under {} no longer reads: {why}", .draw.task, .draw.turn, .draw.arm)]
    Response {
        /// Which draw.
        draw: Box<DrawId>,
        /// Why not.
        why: DecodeError,
    },
    /// An arm does not open.
    #[error(transparent)]
    Arm(#[from] ArmError),
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// What a run is resumed with.
#[derive(Clone, Copy)]
pub struct Resumed<'a> {
    /// The inputs.
    pub inputs: &'a Inputs,
    /// The family that is run.
    pub family: &'a Family,
    /// The terms.
    pub terms: &'a Terms,
    /// Wire format.
    pub wire: &'a dyn Wire,
    /// What the journal holds.
    pub recovered: &'a Recovered,
}

/// Makes all requests on record again, those of finished episodes too; which attempts were billed more tokens than their
/// requests can hold. The log is read in its own
/// order and an episode is re-made once its last reply was read, so that only those under way are held.
///
/// # Errors
/// The first one, in the order of the log, that is not what was asked.
pub fn check(run: Resumed<'_>) -> Result<Vec<Beyond>, RemakeError> {
    let mut check = Check {
        run,
        tasks: (0..run.family.tasks.len())
            .filter_map(|at| Some((run.family.tasks.task(at)?.id().clone(), at)))
            .collect(),
        opened: BTreeMap::new(),
        under_way: BTreeMap::new(),
        beyond: Vec::new(),
        body: Vec::new(),
    };
    run.recovered.attempts(|line| match line {
        AttemptLine::Opened(opened) => {
            check.opened(opened);
            Ok(())
        }
        AttemptLine::Settled(settled) => check.settled(settled),
    })?;
    while let Some((key, turns)) = check.under_way.pop_first() {
        check.remake(&key, &turns)?;
    }
    Ok(check.beyond)
}

/// One turn of an episode on record.
struct Turn {
    /// One of its tries; the journal's reader has seen that all ask for the same.
    opened: Opened,
    /// Numbers of its tries that were billed by usage.
    billed: Vec<(u64, Usage)>,
    reply: Option<Settled>,
}

struct Check<'a> {
    run: Resumed<'a>,
    tasks: BTreeMap<TaskId, u64>,
    /// Which draw an attempt without an outcome is for.
    opened: BTreeMap<u64, (EpisodeKey, u32)>,
    under_way: BTreeMap<EpisodeKey, BTreeMap<u32, Turn>>,
    beyond: Vec<Beyond>,
    body: Vec<u8>,
}

impl Check<'_> {
    fn opened(&mut self, opened: Opened) {
        let DrawId { task, arm, turn } = &opened.draw;
        let key = EpisodeKey { task: task.clone(), arm: Arc::clone(arm) };
        self.opened.insert(opened.n, (key.clone(), *turn));
        self.under_way.entry(key).or_default().entry(*turn).or_insert(Turn { opened, billed: Vec::new(), reply: None });
    }

    fn settled(&mut self, settled: Settled) -> Result<(), RemakeError> {
        let Some((key, turn)) = self.opened.remove(&settled.n) else { return Ok(()) };
        let Some(known) = self.under_way.get_mut(&key).and_then(|turns| turns.get_mut(&turn)) else { return Ok(()) };
        known.billed.extend(settled.usage.map(|usage| (settled.n, usage)));
        if !is_reply(&settled) {
            return Ok(());
        }
        known.reply = Some(settled);
        if self.run.recovered.episodes.ends_with(&known.opened.draw)
            && let Some(turns) = self.under_way.remove(&key)
        {
            self.remake(&key, &turns)?;
        }
        Ok(())
    }

    /// Makes the requests of one episode again. What is on record beyond them is for the close to refuse.
    fn remake(&mut self, key: &EpisodeKey, turns: &BTreeMap<u32, Turn>) -> Result<(), RemakeError> {
        let Resumed { inputs, family, terms, wire, .. } = self.run;
        let Some(task) = self.tasks.get(&key.task).and_then(|&at| family.tasks.task(at)) else { return Ok(()) };
        let Some(arm) = family.arms.iter().find(|arm| arm.info().id.0 == *key.arm) else { return Ok(()) };
        let protocol = &inputs.protocol;
        let system = family.system(protocol);
        let mut episode = task.episode(arm.as_ref(), &inputs.catalogs, &protocol.episode)?;
        while !episode.ended() {
            let Some(Turn { opened, billed, reply }) = turns.get(&episode.turn()) else { break };
            let draw = || Box::new(opened.draw.clone());
            let surface = Arc::clone(episode.surface());
            let request = Request { settings: &terms.settings, system, surface: &surface, entries: episode.entries() };
            wire.encode(&request, &mut self.body);
            if opened.surface != *surface.digest() {
                return Err(RemakeError::Differs { what: "surface", draw: draw() });
            }
            if wire.request_digest(&request, &self.body).as_ref() != Ok(&opened.request) {
                return Err(RemakeError::Differs { what: "request", draw: draw() });
            }
            let most = bound(&request, &self.body);
            self.beyond.extend(billed.iter().filter_map(|(n, usage)| Beyond::of(*n, usage, most)));
            let Some(response) = reply.as_ref().and_then(|settled| settled.response.as_ref()) else { break };
            let reply = wire.decode(response.get().as_bytes());
            episode.accept(reply.map_err(|why| RemakeError::Response { draw: draw(), why })?);
        }
        Ok(())
    }
}
