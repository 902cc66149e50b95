//! Before a resumed run asks anything: every request on record is made again, from the responses on record, and must be the one
//! that was asked. A program that makes other requests would mix two experiments, and the close would refuse the record
//! when all of it is paid for.

use std::sync::Arc;

use bench_results::record::DrawId;

use super::{schedule::Planned, terms::Terms};
use crate::{
    arms::ArmError,
    inputs::Inputs,
    journal::{JournalError, Recovered},
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
    /// Which arms run which tasks.
    pub planned: &'a Planned,
    /// The terms.
    pub terms: &'a Terms,
    /// Wire format.
    pub wire: &'a dyn Wire,
    /// What the journal holds.
    pub recovered: &'a Recovered,
}

/// Makes all requests on record again, those of finished episodes too; how many draws there are.
///
/// # Errors
/// The first one, in the order of the schedule, that is not what was asked.
pub fn check(run: Resumed<'_>) -> Result<u64, RemakeError> {
    let Resumed { inputs, family, planned, terms, wire, recovered } = run;
    let protocol = &inputs.protocol;
    let system = family.system(protocol);
    let (mut draws, mut body) = (0, Vec::new());
    for place in planned.schedule(family, terms.order) {
        let Some(task) = family.tasks.task(place.task) else { continue };
        let arm = &family.arms[place.arm];
        let id: Arc<str> = arm.info().id.0.as_str().into();
        let draw = |turn| DrawId { task: task.id().clone(), arm: Arc::clone(&id), turn };
        if !recovered.draws.contains_key(&draw(1)) {
            continue;
        }
        let mut episode = task.episode(arm.as_ref(), &inputs.catalogs, &protocol.episode)?;
        while !episode.ended() {
            let draw = draw(episode.turn());
            let Some(state) = recovered.draws.get(&draw) else { break };
            draws += 1;
            let surface = Arc::clone(episode.surface());
            let request = Request { settings: &terms.settings, system, surface: &surface, entries: episode.entries() };
            wire.encode(&request, &mut body);
            if state.surface != *surface.digest() {
                return Err(RemakeError::Differs { what: "surface", draw: Box::new(draw) });
            }
            if wire.request_digest(&request, &body).as_ref() != Ok(&state.request) {
                return Err(RemakeError::Differs { what: "request", draw: Box::new(draw) });
            }
            let Some(response) = recovered.reply(&draw)?.and_then(|settled| settled.response) else { break };
            let reply = wire.decode(response.get().as_bytes());
            episode.accept(reply.map_err(|why| RemakeError::Response { draw: Box::new(draw), why })?);
        }
    }
    Ok(draws)
}
