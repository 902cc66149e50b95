//! What is known of an episode that is not done: tries, costs and replies of its turns. It comes from a journal that is
//! resumed, or from an episode of this run that was left missing.

use std::sync::Arc;

use bench_results::record::DrawId;
use bench_tasks::task::TaskId;
use serde_json::value::RawValue;

use crate::journal::{JournalError, Recovered};

/// The turns of an episode that were asked for.
#[derive(Debug, Default)]
pub(super) struct Past {
    turns: Vec<PastTurn>,
}

/// One of them.
#[derive(Debug, Default)]
pub(super) struct PastTurn {
    /// Tries so far.
    pub(super) tries: u32,
    /// Pico-dollars booked for all of them.
    pub(super) billed: u64,
    /// The response, which is final.
    pub(super) reply: Option<Box<RawValue>>,
}

impl Past {
    /// What a journal knows of an episode.
    pub(super) fn recovered(journal: &Recovered, task: &TaskId, arm: &Arc<str>) -> Result<Self, JournalError> {
        let mut past = Self::default();
        for turn in 1.. {
            let draw = DrawId { task: task.clone(), arm: Arc::clone(arm), turn };
            let Some(state) = journal.draws.get(&draw) else { break };
            past.turns.push(PastTurn {
                tries: state.tries.iter().map(|one| one.attempt).max().unwrap_or(0),
                billed: state.tries.iter().map(|one| one.billed).sum(),
                reply: journal.reply(&draw)?.and_then(|settled| settled.response),
            });
        }
        Ok(past)
    }

    /// The turn of this number, from 1.
    pub(super) fn turn(&mut self, turn: u32) -> &mut PastTurn {
        let place = usize::try_from(turn.saturating_sub(1)).unwrap_or(usize::MAX);
        if self.turns.len() <= place {
            self.turns.resize_with(place + 1, PastTurn::default);
        }
        &mut self.turns[place]
    }
}
