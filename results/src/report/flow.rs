//! The flow of episodes: planned, run, missing by reason, scored.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    gather::{Gathered, Outcome},
    text::{tame, word},
};

/// Reasons that are named per arm; the rest is one number.
const REASONS: usize = 8;

/// The flow of one arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlowRow {
    /// The family it runs in.
    pub family: String,
    /// The arm.
    pub arm: String,
    /// Episodes that are planned.
    pub planned: u64,
    /// Episodes that are on record.
    pub run: u64,
    /// Of those, without an outcome.
    pub missing: u64,
    /// Why, most frequent first.
    pub missing_by_reason: Vec<(String, u64)>,
    /// Scored, wrong or right; 0 until the run is closed.
    pub scored: u64,
    /// How its episodes ended; empty until the run is closed.
    pub ends: BTreeMap<String, u64>,
}

/// The flow of every arm. An open run says nothing of how episodes ended.
pub(super) fn flow(seen: &Gathered<'_>, closed: bool) -> Vec<FlowRow> {
    let row = |(at, planned): (usize, &super::source::PlannedArm)| {
        let run = seen.attempted(at);
        let missing = seen.count(at, |outcome| outcome == Outcome::Missing);
        let ends = seen.ends[at].iter().map(|(end, &count)| (word(end), count)).collect();
        FlowRow {
            family: word(&planned.family),
            arm: tame(&planned.arm, 64),
            planned: planned.episodes,
            run,
            missing,
            missing_by_reason: reasons(&seen.missing[at]),
            scored: if closed { run - missing } else { 0 },
            ends: if closed { ends } else { BTreeMap::new() },
        }
    };
    seen.planned.iter().enumerate().map(row).collect()
}

fn reasons(all: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let mut sorted: Vec<(String, u64)> = all.iter().map(|(why, &count)| (why.clone(), count)).collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    if sorted.len() > REASONS {
        let rest: u64 = sorted[REASONS..].iter().map(|(_, count)| count).sum();
        sorted.truncate(REASONS);
        sorted.push(("other reasons".to_owned(), rest));
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_reasons_are_named_and_the_others_are_one_number() {
        let all: BTreeMap<String, u64> = (0..20).map(|i| (format!("why {i:02}"), 100 - i)).collect();
        let named = reasons(&all);
        assert_eq!(named.len(), REASONS + 1);
        assert_eq!(named[0], ("why 00".to_owned(), 100));
        assert_eq!(named.iter().map(|(_, count)| count).sum::<u64>(), all.values().sum::<u64>());
    }
}
