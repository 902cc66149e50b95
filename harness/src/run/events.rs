//! Typed events of a run: the interface between the runner and everything that listens (terminal, journal, meter).

use std::sync::Arc;

use super::trace::EpisodeTrace;

/// What happens in a run, in schedule order for an offline run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run is about to start.
    Started {
        /// Episodes to run.
        episodes: u64,
    },
    /// An episode has ended.
    Episode(&'a EpisodeTrace),
    /// All episodes have ended, or the run was interrupted.
    Finished {
        /// Why not all were run.
        interrupted: Option<Arc<str>>,
    },
}

/// A listener; what it returns as an error ends the run.
pub trait Listener {
    /// Takes one event.
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()>;
}
