//! Typed events of a live run: the interface between the runner and everything that listens (terminal, log, summary).
//!
//! Nothing here says whether an answer was right: no accuracy is shown before a run closes.

use std::{sync::Arc, time::Duration};

use bench_results::record::{DrawId, Usage};

use crate::{meter::Books, models::gate::GateState};

/// What happens in a live run.
#[derive(Debug)]
pub enum Event {
    /// Requests are about to leave.
    Started {
        /// Episodes planned.
        planned: u64,
        /// Episodes that an earlier part of the run has finished.
        done: u64,
    },
    /// A request was answered.
    Answered {
        /// The arm.
        arm: Arc<str>,
        /// From its first byte to the last byte of its answer.
        elapsed: Duration,
        /// Billed tokens, where stated.
        usage: Option<Usage>,
    },
    /// A request failed.
    Failed {
        /// Which draw it asked for.
        draw: DrawId,
        /// Why.
        why: String,
        /// The wait before it is asked again; none where it is given up for now.
        again: Option<Duration>,
    },
    /// An episode has ended, and is on record.
    Episode {
        /// The arm.
        arm: Arc<str>,
    },
    /// Episodes that were left missing are asked again.
    Reasking {
        /// How many.
        episodes: u64,
    },
    /// Episodes are recorded as missing.
    Missing {
        /// How many.
        episodes: u64,
    },
    /// The run is asked to stop; requests under way are awaited.
    Stopping,
    /// How things stand; comes at a steady pace.
    Tick(State),
    /// No request is under way any more.
    Finished(State),
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Money.
    pub books: Books,
    /// Requests.
    pub gate: GateState,
}

/// A listener; what it returns as an error stops the run.
pub trait Listener {
    /// Takes one event.
    fn on(&mut self, event: &Event) -> anyhow::Result<()>;
}
