//! What an arm's episodes took: turns, calls, routes, tokens.

use std::collections::BTreeMap;

use crate::record::{End, EpisodeRecord, Route, Usage};

/// Sums over an arm's episodes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effort {
    /// Episodes, missing ones included.
    pub episodes: u64,
    /// Answered model requests.
    pub turns: u64,
    /// Answered model requests beyond one per episode.
    pub extra_trips: u64,
    /// Upstream calls.
    pub upstream_calls: u64,
    /// Upstream calls that break the original schema.
    pub invalid_calls: u64,
    /// Calls to meta tools.
    pub meta_calls: u64,
    /// Episodes with at least one of those; for R, episodes that expanded.
    pub episodes_with_meta: u64,
    /// Calls that the arm refused.
    pub rejected_calls: u64,
    /// Deciding calls by route; episodes without one are in none.
    pub routes: BTreeMap<Route, u64>,
    /// Episodes by their end.
    pub ends: BTreeMap<End, u64>,
    /// Tokens.
    pub usage: Usage,
    /// Pico-dollars booked.
    pub billed: u64,
}

impl Effort {
    /// Counts an episode.
    pub(super) fn add(&mut self, episode: &EpisodeRecord) {
        self.episodes += 1;
        self.turns += u64::from(episode.turns);
        self.extra_trips += u64::from(episode.extra_trips());
        self.upstream_calls += episode.calls.len() as u64;
        self.invalid_calls += episode.calls.iter().filter(|call| !call.valid).count() as u64;
        self.meta_calls += u64::from(episode.meta_calls);
        self.episodes_with_meta += u64::from(episode.meta_calls > 0);
        self.rejected_calls += u64::from(episode.rejected_calls);
        if let Some(deciding) = episode.calls.iter().find(|call| call.valid) {
            *self.routes.entry(deciding.route).or_default() += 1;
        }
        *self.ends.entry(episode.end).or_default() += 1;
        self.usage.add(episode.usage);
        self.billed += episode.billed;
    }
}
