//! One episode of a live run, from its past to its end.

use std::sync::Arc;

use bench_results::record::{DrawId, End, EpisodeRecord};

use super::{Shared, Stop, attempt::Drawn, past::Past, schedule::Place};
use crate::wire::Request;

/// How an episode came out.
pub(super) enum Ended {
    /// It has its line of the record, unscored.
    Done(Box<EpisodeRecord>),
    /// A draw was given up; it may be asked again at the end.
    Missing(Place, Past),
    /// The run stops.
    Stopped,
}

/// What is done where a draw has no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    /// It is asked for.
    Ask,
    /// The episode ends as missing.
    Missing,
}

/// Runs an episode. Replies that are on record are not asked for again.
pub(super) async fn run(shared: Arc<Shared>, place: Place, past: Past, open: Open) -> Ended {
    match episode(&shared, place, past, open).await {
        Ok(ended) => ended,
        Err(why) => {
            shared.brake.pull(Stop::Fault(why));
            Ended::Stopped
        }
    }
}

async fn episode(shared: &Shared, place: Place, mut past: Past, open: Open) -> Result<Ended, String> {
    let family = shared.family();
    let protocol = &shared.inputs.protocol;
    let task = family.tasks.task(place.task).ok_or_else(|| format!("there is no task {}", place.task))?;
    let arm = &family.arms[place.arm];
    let id: Arc<str> = arm.info().id.0.as_str().into();
    let mut episode = task
        .episode(arm.as_ref(), &shared.inputs.catalogs, &protocol.episode)
        .map_err(|error| format!("task {} under {id}: {error}", task.id()))?;
    let mut body = Vec::new();
    while !episode.ended() {
        let draw = DrawId { task: task.id().clone(), arm: Arc::clone(&id), turn: episode.turn() };
        let turn = past.turn(draw.turn);
        if let Some(response) = &turn.reply {
            let reply = shared.model.wire().decode(response.get().as_bytes());
            let reply = reply.map_err(|error| format!("a response on record does not read: {error}"))?;
            episode.book(turn.billed);
            episode.accept(reply);
            continue;
        }
        if open == Open::Missing {
            episode.book(turn.billed);
            episode.abort(End::Missing);
            break;
        }
        let surface = Arc::clone(episode.surface());
        let system = family.system(protocol);
        let request = Request { settings: &shared.settings, system, surface: &surface, entries: episode.entries() };
        shared.model.wire().encode(&request, &mut body);
        match shared.draw(&request, &body, &draw, turn).await {
            Drawn::Reply(reply) => {
                episode.book(turn.billed);
                episode.accept(*reply);
            }
            Drawn::Missing => return Ok(Ended::Missing(place, past)),
            Drawn::Stopped => return Ok(Ended::Stopped),
        }
    }
    let mut record = episode.finish();
    // Scoring happens at the close, from the responses on record.
    record.set_score(None);
    Ok(Ended::Done(Box::new(record)))
}
