//! One pass over episodes, in any order.

use std::{collections::BTreeMap, sync::Arc};

use super::{AnalysisError, CostTotals, Effort, FamilySpec, TaskTable, outcome::Outcome};
use crate::record::EpisodeRecord;

/// Takes episodes in and keeps a byte per task and arm.
#[derive(Debug, Clone)]
pub struct Accumulator {
    pub(super) spec: FamilySpec,
    pub(super) tasks: TaskTable,
    pub(super) baselines: Vec<Option<usize>>,
    places: BTreeMap<Arc<str>, usize>,
    /// By arm, then by task.
    pub(super) outcomes: Vec<Vec<Outcome>>,
    /// By arm.
    pub(super) effort: Vec<Effort>,
    /// By arm, then by tool; abstain tasks are a cluster of their own, the last.
    pub(super) cost: Vec<Vec<CostTotals>>,
}

impl Accumulator {
    /// Starts with nothing.
    ///
    /// # Errors
    /// Arms that don't fit together.
    pub fn new(spec: FamilySpec, tasks: TaskTable) -> Result<Self, AnalysisError> {
        let baselines = spec.baselines()?;
        let arms = spec.arms.len();
        let clusters = tasks.tools.names.len() + 1;
        Ok(Self {
            places: spec.arms.iter().enumerate().map(|(place, arm)| (Arc::clone(&arm.id), place)).collect(),
            outcomes: vec![vec![Outcome::default(); tasks.len()]; arms],
            effort: vec![Effort::default(); arms],
            cost: vec![vec![CostTotals::default(); clusters]; arms],
            spec,
            tasks,
            baselines,
        })
    }

    /// Whether this family holds an arm of that name.
    pub fn takes(&self, arm: &str) -> bool {
        self.places.contains_key(arm)
    }

    /// Takes one episode in.
    ///
    /// # Errors
    /// An unknown task or arm, an episode that was not planned, is there twice, or is not scored.
    pub fn push(&mut self, episode: &EpisodeRecord) -> Result<(), AnalysisError> {
        let (task, arm) = (|| episode.task.clone(), || Arc::clone(&episode.arm));
        let Some(&place) = self.places.get(&episode.arm) else {
            return Err(AnalysisError::UnknownArm { task: task(), arm: arm() });
        };
        let Some(at) = self.tasks.place(&episode.task) else {
            return Err(AnalysisError::UnknownTask { task: task(), arm: arm() });
        };
        if !self.planned(place, at) {
            return Err(AnalysisError::Unplanned { task: task(), arm: arm() });
        }
        let Some(outcome) = Outcome::of(episode) else {
            return Err(AnalysisError::Unscored { task: task(), arm: arm() });
        };
        let slot = &mut self.outcomes[place][at];
        if slot.attempted() {
            return Err(AnalysisError::Twice { task: task(), arm: arm() });
        }
        *slot = outcome;
        self.effort[place].add(episode);
        let cluster = self.tasks.tools.of(at).unwrap_or(self.tasks.tools.names.len());
        self.cost[place][cluster].add(episode);
        Ok(())
    }

    /// Whether an arm was planned to run a task.
    pub(super) fn planned(&self, arm: usize, task: usize) -> bool {
        self.spec.arms[arm].subset.as_ref().is_none_or(|subset| subset.contains(&self.tasks.index[task]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        analysis::fixture::{accumulator, spec, table},
        record::episode::tests::episode,
    };

    #[test]
    fn what_does_not_belong_is_an_error_that_names_task_and_arm() {
        let mut all = accumulator(10);
        all.push(&episode("t0000000000000001", "raw", true)).unwrap();
        let push = |all: &mut Accumulator, task: &str, arm: &str| all.push(&episode(task, arm, true)).unwrap_err();
        assert!(matches!(push(&mut all, "t0000000000000001", "raw"), AnalysisError::Twice { .. }));
        assert!(matches!(push(&mut all, "t00000000000000ff", "raw"), AnalysisError::UnknownTask { .. }));
        assert!(matches!(push(&mut all, "t0000000000000001", "L9"), AnalysisError::UnknownArm { .. }));
        let mut unscored = episode("t0000000000000002", "raw", true);
        unscored.set_score(None);
        let message = all.push(&unscored).unwrap_err().to_string();
        assert!(message.contains("t0000000000000002") && message.contains("`raw`"), "{message}");
    }

    #[test]
    fn an_arm_on_a_subset_takes_no_other_task() {
        let mut spec = spec();
        let arm = spec.arms.iter_mut().find(|arm| &*arm.id == "names-only").unwrap();
        arm.subset = Some([1].into());
        let mut all = Accumulator::new(spec, table(10)).unwrap();
        all.push(&episode("t0000000000000001", "names-only", true)).unwrap();
        let outcome = all.push(&episode("t0000000000000002", "names-only", true));
        assert!(matches!(outcome, Err(AnalysisError::Unplanned { .. })));
    }
}
