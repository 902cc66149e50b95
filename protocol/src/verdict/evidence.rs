//! One endpoint of one arm: table, gates, intervals, and whether damage is shown.

use std::sync::Arc;

use super::{Endpoint, EndpointInput, Imputation, PairCells, Rule, VerdictError, input::Cluster};
use crate::stats::{
    Alpha, ExactCache, Gates, Interval, Margin, PairedCounts, PairedTable, StatsError,
    distribution::normal_cdf,
    score::{ScoreTest, score_interval, score_test},
};

/// What one endpoint says.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointEvidence {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// What stood in for missing outcomes.
    pub imputation: Imputation,
    /// The pairs, missing ones among them.
    pub cells: PairCells,
    /// The table after imputation.
    pub table: PairedTable,
    /// G1 to G3, and S1 where the family has tools.
    pub gates: Gates,
    /// Score tests at both ends of the margin.
    pub score: ScoreTest,
    /// Score interval of level `1 − 2·alpha`: the one that decides.
    pub decision: Interval,
    /// Score interval of level `1 − alpha`: always printed beside it.
    pub wide: Interval,
    /// The upper limit of the deciding interval lies below −δ.
    pub damage: bool,
}

impl EndpointEvidence {
    /// Both one-sided hypotheses are rejected: neither worse nor better by δ.
    pub fn equivalent(&self, alpha: Alpha) -> bool {
        alpha.certifies(self.score.p_tost)
    }
}

/// The discordant counts of clusters under an imputation; clusters of which no pair is left are dropped.
pub(crate) fn counts(clusters: &[Cluster], imputation: Imputation) -> Vec<PairedCounts> {
    clusters.iter().filter_map(|cluster| cluster.cells.counts(imputation)).collect()
}

/// Whether damage is shown: H0 Δ ≥ −δ is rejected at alpha by the score test, that is, the upper limit of the interval
/// of level `1 − 2·alpha` lies below −δ. A p in the dead band shows nothing.
pub fn shows_damage(counts: PairedCounts, margin: Margin, alpha: Alpha) -> bool {
    alpha.certifies(normal_cdf(score_test(counts, margin).t_lower))
}

/// Evaluates everything about one endpoint.
///
/// # Errors
/// [`VerdictError::Counts`] where the statistics refuse the counts (no pair, fewer than two clusters).
pub fn weigh(
    rule: &Rule,
    arm: &Arc<str>,
    endpoint: Endpoint,
    input: &EndpointInput,
    imputation: Imputation,
    with_tools: bool,
    exact: &ExactCache,
) -> Result<EndpointEvidence, VerdictError> {
    let refuse = |source| VerdictError::Counts { arm: Arc::clone(arm), endpoint, source };
    let cells = input.total();
    let tools = super::input::sum(&input.tools);
    if with_tools && tools != cells {
        return Err(VerdictError::Partition { arm: Arc::clone(arm), endpoint, frames: cells.n(), tools: tools.n() });
    }
    let table = cells.table(imputation).map_err(refuse)?;
    let gates = gates(rule, &input.frames, with_tools.then_some(&input.tools), imputation, exact).map_err(refuse)?;
    let paired = table.counts();
    let half = Alpha::new(rule.alpha().value() / 2.0).map_err(refuse)?;
    Ok(EndpointEvidence {
        endpoint,
        imputation,
        cells,
        table,
        gates,
        score: score_test(paired, rule.margin()),
        decision: score_interval(paired, rule.alpha()),
        wide: score_interval(paired, half),
        damage: shows_damage(paired, rule.margin(), rule.alpha()),
    })
}

/// The gates over some frames, and over tools where given.
pub(crate) fn gates(
    rule: &Rule,
    frames: &[Cluster],
    tools: Option<&Vec<Cluster>>,
    imputation: Imputation,
    exact: &ExactCache,
) -> Result<Gates, StatsError> {
    let table = super::input::sum(frames).table(imputation)?;
    let tools = tools.map(|tools| counts(tools, imputation));
    Gates::evaluate(rule.gates, table, &counts(frames, imputation), tools.as_deref(), exact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::fixture::{cells, endpoint, rule};

    #[test]
    fn damage_is_shown_exactly_where_the_upper_limit_lies_below_the_margin() {
        let rule = rule();
        let mut seen = [0, 0];
        for loss in 0..120 {
            let counts = PairedCounts::new(1_000, 10, loss).unwrap();
            let below = score_interval(counts, rule.alpha()).upper < -rule.margin().value();
            assert_eq!(shows_damage(counts, rule.margin(), rule.alpha()), below, "{loss} losses");
            seen[usize::from(below)] += 1;
        }
        assert!(seen[0] > 20 && seen[1] > 20, "both sides were visited: {seen:?}");
    }

    #[test]
    fn tools_that_hold_other_pairs_than_frames_are_an_error() {
        let mut input = endpoint(40, 2, cells(1, 1, 0, 0));
        input.tools.pop();
        let outcome =
            weigh(&rule(), &"L1".into(), Endpoint::Selection, &input, Imputation::WorstCase, true, &ExactCache::new());
        assert!(matches!(outcome, Err(VerdictError::Partition { .. })), "{outcome:?}");
    }

    #[test]
    fn the_wide_interval_contains_the_deciding_one() {
        let input = endpoint(200, 5, cells(4, 1, 0, 0));
        let seen =
            weigh(&rule(), &"L1".into(), Endpoint::Selection, &input, Imputation::WorstCase, true, &ExactCache::new())
                .unwrap();
        assert!(seen.wide.lower < seen.decision.lower && seen.wide.upper > seen.decision.upper);
    }
}
