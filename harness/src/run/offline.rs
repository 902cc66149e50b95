//! Offline runs: every episode against a model in this process, spread over threads, delivered in schedule order.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use anyhow::Context as _;
use bench_protocol::spec::Protocol;
use bench_results::record::DrawId;
use bench_tasks::catalog::Catalogs;
use serde_json::value::RawValue;

use super::{
    events::{Event, Listener},
    family::{AnyTask, Family},
    trace::{AttemptTrace, EpisodeTrace},
};
use crate::{
    arms::Arm,
    inputs::Inputs,
    models::SCRIPTED,
    wire::{Request, Settings, Wire},
};

/// A model that answers at once, from the bytes of the request.
pub trait InProcessModel: Sync {
    /// The response body.
    fn respond(&self, body: &[u8], draw: &DrawId) -> anyhow::Result<Vec<u8>>;
}

/// What every episode of a run shares.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The protocol.
    pub protocol: &'a Protocol,
    /// The catalogs.
    pub catalogs: &'a Catalogs,
    /// The wire format.
    pub wire: &'a dyn Wire,
    /// Fixed fields of a request.
    pub settings: &'a Settings,
}

impl<'a> Setting<'a> {
    /// Of a run against the scripted model.
    pub fn scripted(inputs: &'a Inputs, settings: &'a Settings) -> Self {
        Self { protocol: &inputs.protocol, catalogs: &inputs.catalogs, wire: SCRIPTED.wire(), settings }
    }
}

/// Tasks handed to a worker at a time.
const CHUNK: u64 = 16;

/// Chunks per thread in one round. Rounds bound what is in memory, whatever the number of tasks.
const CHUNKS_PER_THREAD: u64 = 4;

/// Runs a family's episodes and tells the listener of each, in schedule order whatever the number of threads.
/// Returns early, without error, once `stop` is set.
pub fn run(
    family: &Family,
    setting: Setting<'_>,
    model: &dyn InProcessModel,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    listener: &mut dyn Listener,
) -> anyhow::Result<()> {
    let chunks = family.tasks.len().div_ceil(CHUNK);
    let per_round = CHUNKS_PER_THREAD * threads.get() as u64;
    for first in (0..chunks).step_by(usize::try_from(per_round)?) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let last = (first + per_round).min(chunks);
        for traces in run_round(family, setting, model, threads, first..last) {
            for trace in traces? {
                listener.on(&Event::Episode(&trace))?;
            }
        }
    }
    Ok(())
}

/// Runs some chunks on all threads; the result is in chunk order.
fn run_round(
    family: &Family,
    setting: Setting<'_>,
    model: &dyn InProcessModel,
    threads: NonZeroUsize,
    chunks: Range<u64>,
) -> Vec<anyhow::Result<Vec<EpisodeTrace>>> {
    let next = AtomicU64::new(chunks.start);
    let done = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..threads.get() {
            scope.spawn(|| {
                loop {
                    let chunk = next.fetch_add(1, Ordering::Relaxed);
                    if chunk >= chunks.end {
                        break;
                    }
                    let traces = run_chunk(family, setting, model, chunk);
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(chunk, traces);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

fn run_chunk(
    family: &Family,
    setting: Setting<'_>,
    model: &dyn InProcessModel,
    chunk: u64,
) -> anyhow::Result<Vec<EpisodeTrace>> {
    let mut body = Vec::new();
    let mut traces = Vec::new();
    for index in chunk * CHUNK..((chunk + 1) * CHUNK).min(family.tasks.len()) {
        let Some(task) = family.tasks.task(index) else { break };
        for position in family.order(index) {
            let arm = family.arms[position].as_ref();
            let system = family.system(setting.protocol);
            traces.push(run_episode(&task, arm, system, setting, model, &mut body)?);
        }
    }
    Ok(traces)
}

/// Runs one episode to its end.
pub fn run_episode(
    task: &AnyTask,
    arm: &dyn Arm,
    system: &str,
    setting: Setting<'_>,
    model: &dyn InProcessModel,
    body: &mut Vec<u8>,
) -> anyhow::Result<EpisodeTrace> {
    let mut episode = task.episode(arm, setting.catalogs, &setting.protocol.episode)?;
    let mut attempts = Vec::new();
    while !episode.ended() {
        let surface = episode.surface().clone();
        let request = Request { settings: setting.settings, system, surface: &surface, entries: episode.entries() };
        setting.wire.encode(&request, body);
        let draw = DrawId { task: task.id().clone(), arm: arm.info().id.0.as_str().into(), turn: episode.turn() };
        let digest = setting.wire.request_digest(&request, body)?;
        let response = model.respond(body, &draw)?;
        let reply = setting
            .wire
            .decode(&response)
            .with_context(|| format!("task {} under {}, turn {}", draw.task, draw.arm, draw.turn))?;
        let response = String::from_utf8(response).context("a response that is not UTF-8")?;
        attempts.push(AttemptTrace {
            draw,
            request: digest,
            surface,
            usage: reply.usage,
            model: reply.model.clone(),
            response: RawValue::from_string(response)?,
        });
        episode.accept(reply);
    }
    Ok(EpisodeTrace { attempts, record: episode.finish() })
}
