//! The abstain guard: does the arm make the model call a tool where none is right?
//!
//! Abstain tasks are in no endpoint and not in n, so that silence does not pay. Right is an episode that ends in text
//! without any upstream call. Exact one-sided McNemar against the reference at α, missing outcomes as in the worst case.

use super::{
    Imputation, PairCells, Rule,
    harm::{fires, smallest_harm},
};
use crate::stats::{PairedTable, StatsError, mcnemar::harm_p};

/// The guard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AbstainGuard {
    /// The table after imputation.
    pub table: PairedTable,
    /// Exact one-sided p.
    pub p: f64,
    /// Whether harm is shown.
    pub fired: bool,
    /// Losses without a gain that the guard needs to fire.
    pub smallest_harm: u64,
}

/// The guard over abstain tasks.
///
/// # Errors
/// No abstain task.
pub fn abstain_guard(rule: &Rule, cells: &PairCells) -> Result<AbstainGuard, StatsError> {
    let table = cells.table(Imputation::WorstCase)?;
    let alpha = rule.alpha().value();
    let p = harm_p(table.gain(), table.loss());
    let smallest_harm = smallest_harm(alpha, 1).unwrap_or(u64::MAX);
    Ok(AbstainGuard { table, p, fired: fires(p, alpha), smallest_harm })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{
        Mark,
        fixture::{cells, rule},
    };

    #[test]
    fn five_losses_without_a_gain_fire_and_four_do_not() {
        let guard = abstain_guard(&rule(), &cells(60, 5, 0, 1)).unwrap();
        assert!(guard.fired);
        assert_eq!(guard.smallest_harm, 5);
        assert!(!abstain_guard(&rule(), &cells(61, 4, 0, 1)).unwrap().fired);
    }

    #[test]
    fn a_missing_abstain_episode_of_the_arm_counts_as_a_call() {
        let mut seen = cells(61, 4, 0, 0);
        seen.count(Mark::Right, Mark::Missing);
        assert!(abstain_guard(&rule(), &seen).unwrap().fired);
    }

    #[test]
    fn no_abstain_task_is_an_error() {
        assert_eq!(abstain_guard(&rule(), &PairCells::default()), Err(StatsError::NoTasks));
    }
}
