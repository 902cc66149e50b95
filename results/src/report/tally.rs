//! What happened in an arm's episodes about one tool.

use serde::Serialize;

use crate::record::{EpisodeRecord, Route};

/// Sums over episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Episodes.
    pub episodes: u64,
    /// Deciding calls of a tool that stood on the initial surface.
    pub direct: u64,
    /// Deciding calls of a tool that was fetched before.
    pub fetched: u64,
    /// Deciding calls through a meta tool that forwards.
    pub invoked: u64,
    /// Deciding calls by name alone.
    pub guessed: u64,
    /// Episodes without a deciding call.
    pub undecided: u64,
    /// Calls to meta tools.
    pub meta_calls: u64,
    /// Episodes with at least one of those; for R, episodes that expanded.
    pub episodes_with_meta: u64,
    /// Calls that the arm refused.
    pub rejected_calls: u64,
    /// Upstream calls that break the original schema.
    pub invalid_calls: u64,
    /// Requests that showed another surface than the one before in their session.
    pub list_changes: u64,
    /// Answered model requests.
    pub turns: u64,
}

impl Tally {
    pub(super) fn add(&mut self, episode: &EpisodeRecord) {
        self.episodes += 1;
        match episode.calls.iter().find(|call| call.valid).map(|call| call.route) {
            Some(Route::Direct) => self.direct += 1,
            Some(Route::Fetched) => self.fetched += 1,
            Some(Route::Invoked) => self.invoked += 1,
            Some(Route::Guessed) => self.guessed += 1,
            None => self.undecided += 1,
        }
        self.meta_calls += u64::from(episode.meta_calls);
        self.episodes_with_meta += u64::from(episode.meta_calls > 0);
        self.rejected_calls += u64::from(episode.rejected_calls);
        self.invalid_calls += episode.calls.iter().filter(|call| !call.valid).count() as u64;
        self.turns += u64::from(episode.turns);
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let pairs = [
            (&mut self.episodes, other.episodes),
            (&mut self.direct, other.direct),
            (&mut self.fetched, other.fetched),
            (&mut self.invoked, other.invoked),
            (&mut self.guessed, other.guessed),
            (&mut self.undecided, other.undecided),
            (&mut self.meta_calls, other.meta_calls),
            (&mut self.episodes_with_meta, other.episodes_with_meta),
            (&mut self.rejected_calls, other.rejected_calls),
            (&mut self.invalid_calls, other.invalid_calls),
            (&mut self.list_changes, other.list_changes),
            (&mut self.turns, other.turns),
        ];
        for (own, more) in pairs {
            *own += more;
        }
    }
}
