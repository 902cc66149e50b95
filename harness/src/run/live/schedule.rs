//! What a live run asks, and in which order.

use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::{controls::NAMES_ONLY, rng, spec::Protocol};
use serde::{Deserialize, Serialize};

use crate::run::family::{AnyTask, Family};

/// The order of episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// All arms of a task, in an order shuffled per task, then the next task: drift hits all arms alike.
    #[default]
    Interleaved,
    /// All tasks of an arm, then the next arm: prefixes are reused, and drift is confounded with the arm. Exploratory only.
    Blocked,
}

impl Order {
    /// In words, as certificates state it.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Interleaved => "arms interleaved within each task, in an order shuffled per task",
            Self::Blocked => "arms in blocks, one after another",
        }
    }
}

/// One episode of a family, by its places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Index of the task.
    pub task: u64,
    /// Place of the arm.
    pub arm: usize,
}

/// Which arms run which tasks. By default every arm runs all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Planned {
    /// By arm: the tasks it runs, where these are not all.
    pub subsets: BTreeMap<String, BTreeSet<u64>>,
    /// By arm: why the provider refuses its surface. It runs nothing.
    pub refused: BTreeMap<String, String>,
}

impl Planned {
    /// The plan of a live run of a family.
    pub fn of(protocol: &Protocol, family: &Family, refused: BTreeMap<String, String>) -> Self {
        let mut subsets = BTreeMap::new();
        // The control that runs on a part of the tasks when it costs money.
        if family.arms.iter().any(|arm| arm.info().id.0 == NAMES_ONLY) {
            let most = protocol.arms.names_only_live_tasks;
            let subset = subset(family, most);
            if subset.len() < usize::try_from(family.tasks.len()).unwrap_or(usize::MAX) {
                subsets.insert(NAMES_ONLY.to_owned(), subset);
            }
        }
        Self { subsets, refused }
    }

    /// True where an arm runs a task.
    pub fn runs(&self, arm: &str, task: u64) -> bool {
        !self.refused.contains_key(arm) && self.subsets.get(arm).is_none_or(|subset| subset.contains(&task))
    }

    /// The episodes of a family in their order.
    pub fn schedule<'a>(&'a self, family: &'a Family, order: Order) -> Box<dyn Iterator<Item = Place> + Send + 'a> {
        let tasks = family.tasks.len();
        let runs = move |place: &Place| self.runs(&family.arms[place.arm].info().id.0, place.task);
        match order {
            Order::Interleaved => Box::new(
                (0..tasks)
                    .flat_map(move |task| family.order(task).into_iter().map(move |arm| Place { task, arm }))
                    .filter(runs),
            ),
            Order::Blocked => Box::new(
                (0..family.arms.len())
                    .flat_map(move |arm| (0..tasks).map(move |task| Place { task, arm }))
                    .filter(runs),
            ),
        }
    }

    /// Episodes in all.
    pub fn episodes(&self, family: &Family) -> u64 {
        family.arms.iter().map(|arm| self.episodes_of(family, &arm.info().id.0)).sum()
    }

    /// Episodes of an arm.
    pub fn episodes_of(&self, family: &Family, arm: &str) -> u64 {
        match self.subsets.get(arm) {
            _ if self.refused.contains_key(arm) => 0,
            Some(subset) => subset.len() as u64,
            None => family.tasks.len(),
        }
    }
}

/// A seeded choice of at most `most` tasks that ask for a tool.
fn subset(family: &Family, most: u64) -> BTreeSet<u64> {
    let asks = |index: &u64| match family.tasks.task(*index) {
        Some(AnyTask::Tool(task)) => !task.gold.is_empty(),
        Some(AnyTask::Result(_)) => true,
        None => false,
    };
    let mut tasks: Vec<u64> = (0..family.tasks.len()).filter(asks).collect();
    rng::shuffle(&mut rng::stream(family.schedule_seed, rng::stream_id("names-only/live")), &mut tasks);
    tasks.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    tasks.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use bench_protocol::spec::Protocol;

    use super::*;
    use crate::{
        inputs::{Inputs, Overrides},
        run::prepare::{Prepared, RunSpec},
    };

    fn prepared(arms: &[&str], tasks: u64) -> (Inputs, Prepared) {
        let inputs = Inputs::load(&Overrides::default()).unwrap();
        let arms: Vec<String> = arms.iter().map(|&arm| arm.to_owned()).collect();
        let spec = RunSpec::of(&inputs, "seed", &arms, Some(tasks)).unwrap();
        let prepared = Prepared::new(&inputs, &spec).unwrap();
        (inputs, prepared)
    }

    #[test]
    fn both_orders_hold_the_same_episodes_once() {
        let (_, prepared) = prepared(&["L0", "L2"], 30);
        let family = &prepared.families[0];
        let planned = Planned::default();
        let key = |place: Place| (place.task, place.arm);
        let mut interleaved: Vec<_> = planned.schedule(family, Order::Interleaved).map(key).collect();
        let blocked: Vec<_> = planned.schedule(family, Order::Blocked).map(|place| (place.arm, place.task)).collect();
        assert!(blocked.is_sorted() && blocked.len() == 90);
        assert!(interleaved.is_sorted_by_key(|&(task, _)| task) && !interleaved.is_sorted());
        interleaved.sort_unstable();
        interleaved.dedup();
        assert_eq!(interleaved.len() as u64, planned.episodes(family));
    }

    #[test]
    fn names_only_runs_a_seeded_part_without_abstain_tasks() {
        let (inputs, prepared) = prepared(&["names-only"], 1_470);
        let family = &prepared.families[0];
        let planned = Planned::of(&inputs.protocol, family, BTreeMap::new());
        let subset = &planned.subsets[NAMES_ONLY];
        assert_eq!(subset.len() as u64, Protocol::built_in().unwrap().arms.names_only_live_tasks);
        assert!(
            subset.iter().all(|&index| {
                matches!(family.tasks.task(index), Some(AnyTask::Tool(task)) if !task.gold.is_empty())
            })
        );
        assert_eq!(planned.episodes(family), 1_470 + subset.len() as u64);
        assert_eq!(planned, Planned::of(&inputs.protocol, family, BTreeMap::new()));
    }

    #[test]
    fn an_arm_that_the_provider_refuses_runs_nothing() {
        let (inputs, prepared) = prepared(&["L0"], 20);
        let family = &prepared.families[0];
        let planned = Planned::of(&inputs.protocol, family, [("L0".to_owned(), "no anyOf".to_owned())].into());
        assert_eq!(planned.episodes(family), 20);
        assert!(planned.schedule(family, Order::Interleaved).all(|place| place.arm == 0));
    }
}
