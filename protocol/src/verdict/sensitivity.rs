//! Does the outcome of an endpoint hang on how missing outcomes are read? Printed beside the primary, never gating.

use super::{EndpointInput, Imputation, Mark, PairCells, Rule, evidence::gates, input::Cluster};
use crate::stats::{ExactCache, PairedTable};

/// An endpoint under another reading of missing outcomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensitivity {
    /// The reading.
    pub imputation: Imputation,
    /// Its table; none where no pair is left.
    pub table: Option<PairedTable>,
    /// Whether G1 to G3 pass; none where they are undefined.
    pub pass: Option<bool>,
}

/// All sensitivities of an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivities {
    /// Complete pairs, then both wrong.
    pub readings: Vec<Sensitivity>,
    /// Missing outcomes of the arm.
    pub arm_missing: u64,
    /// How many of those would have to be wrong for the gates not to pass, the others being right and the reference's
    /// missing outcomes right; taken in frame order. None where no number does; 0 where they do not pass at best.
    pub tipping_point: Option<u64>,
}

/// The sensitivities of one endpoint.
pub fn sensitivities(rule: &Rule, input: &EndpointInput, exact: &ExactCache) -> Sensitivities {
    let readings = [Imputation::CompletePairs, Imputation::BothWrong]
        .into_iter()
        .map(|imputation| Sensitivity {
            imputation,
            table: input.total().table(imputation).ok(),
            pass: gates(rule, &input.frames, None, imputation, exact).ok().map(|gates| gates.pass()),
        })
        .collect();
    let arm_missing = input.total().arm_missing();
    let tipping_point = (0..=arm_missing).find(|&wrong| !passes_with(rule, &input.frames, wrong, exact));
    Sensitivities { readings, arm_missing, tipping_point }
}

/// Whether the gates pass if this many of the arm's missing outcomes are wrong and the others right.
fn passes_with(rule: &Rule, frames: &[Cluster], wrong: u64, exact: &ExactCache) -> bool {
    let mut left = wrong;
    let resolved: Vec<Cluster> = frames
        .iter()
        .map(|frame| {
            let mut cells: PairCells = frame.cells;
            left = cells.resolve_arm(Mark::Wrong, left);
            let _none_is_short = cells.resolve_arm(Mark::Right, cells.arm_missing());
            Cluster { name: frame.name.clone(), cells }
        })
        .collect();
    gates(rule, &resolved, None, Imputation::WorstCase, exact).is_ok_and(|gates| gates.pass())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::fixture::{cells, endpoint, rule};

    fn seen(missing: u64, loss: u64) -> Sensitivities {
        let mut table = cells(1_000 - missing - loss, loss, 0, 0);
        table.count_many(Mark::Right, Mark::Missing, missing);
        sensitivities(&rule(), &endpoint(1_000, 1_000, table), &ExactCache::new())
    }

    #[test]
    fn the_tipping_point_is_the_first_number_of_wrong_ones_that_loses_the_verdict() {
        // At n = 1,000 twelve losses pass and thirteen do not (statistics, decision table).
        assert_eq!(seen(8, 10).tipping_point, Some(3));
        assert_eq!(seen(2, 10).tipping_point, None);
        assert_eq!(seen(8, 13).tipping_point, Some(0));
    }

    #[test]
    fn without_missing_outcomes_every_reading_is_the_same_table() {
        let all = seen(0, 5);
        assert_eq!(all.readings[0].table, all.readings[1].table);
        assert_eq!((all.readings[0].pass, all.tipping_point), (Some(true), None));
    }

    #[test]
    fn complete_pairs_can_pass_where_the_worst_case_does_not() {
        let all = seen(10, 8);
        assert_eq!(all.readings[0].pass, Some(true));
        assert_eq!(all.tipping_point, Some(5));
    }
}
