//! Paired cost: what an arm's episodes took in all, over what the reference's took, with an interval over tools.

use bench_protocol::{
    rng::{stream, stream_id},
    stats::{
        Undefined,
        continuous::{Estimate, PairedTotals, continuous_bootstrap},
    },
};

use super::Reporting;
use crate::record::EpisodeRecord;

/// Sums of one cluster under one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CostTotals {
    /// Episodes.
    pub episodes: u64,
    /// Input tokens of every class.
    pub prompt: u64,
    /// Output tokens.
    pub output: u64,
    /// Pico-dollars.
    pub billed: u64,
}

impl CostTotals {
    pub(super) fn add(&mut self, episode: &EpisodeRecord) {
        self.episodes += 1;
        self.prompt += episode.usage.prompt();
        self.output += episode.usage.output;
        self.billed += episode.billed;
    }
}

/// A ratio of totals, arm over reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioEstimate {
    /// Total under the arm.
    pub arm: u64,
    /// Total under the reference.
    pub reference: u64,
    /// Ratio and percentile interval of level `1 − 2·alpha`, or why there is none.
    pub ratio: Result<Estimate, Undefined>,
}

/// The ratios of one arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedCost {
    /// Input tokens.
    pub prompt: RatioEstimate,
    /// Output tokens.
    pub output: RatioEstimate,
    /// Pico-dollars.
    pub billed: RatioEstimate,
}

/// The paired cost of an arm; none where the two arms did not run the same number of episodes in every cluster, since
/// totals over different tasks compare nothing.
pub(super) fn paired_cost(
    arm: &str,
    reference: &[CostTotals],
    totals: &[CostTotals],
    reporting: &Reporting,
) -> Option<PairedCost> {
    if reference.iter().zip(totals).any(|(a, b)| a.episodes != b.episodes) {
        return None;
    }
    let ratio = |purpose: &str, part: fn(&CostTotals) -> u64| {
        let clusters: Vec<PairedTotals> = reference
            .iter()
            .zip(totals)
            .filter(|(a, _)| a.episodes > 0)
            .map(|(a, b)| PairedTotals { n: a.episodes, raw: part(a) as f64, compressed: part(b) as f64 })
            .collect();
        let (of_arm, of_reference) = (totals.iter().map(part).sum(), reference.iter().map(part).sum());
        // Nothing was billed to a mock: there is nothing to resample.
        let ratio = if of_reference == 0 {
            Err(Undefined::ZeroTotal)
        } else {
            let mut rng = stream(reporting.seed, stream_id(&format!("{arm}/{purpose}/cost")));
            continuous_bootstrap(&clusters, reporting.alpha, reporting.resamples, &mut rng).ratio
        };
        RatioEstimate { arm: of_arm, reference: of_reference, ratio }
    };
    Some(PairedCost {
        prompt: ratio("prompt", |totals| totals.prompt),
        output: ratio("output", |totals| totals.output),
        billed: ratio("billed", |totals| totals.billed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::reporting;

    fn totals(prompt: u64) -> CostTotals {
        CostTotals { episodes: 10, prompt, output: 5, billed: 0 }
    }

    #[test]
    fn a_ratio_is_that_of_totals_and_lies_in_its_interval() {
        let reference: Vec<_> = (1..=20).map(|i| totals(100 * i)).collect();
        let arm: Vec<_> = (1..=20).map(|i| totals(40 * i + 3 * (i % 5))).collect();
        let cost = paired_cost("L2", &reference, &arm, &reporting()).unwrap();
        let estimate = cost.prompt.ratio.unwrap();
        assert!((estimate.point - cost.prompt.arm as f64 / cost.prompt.reference as f64).abs() < 1e-12);
        assert!(estimate.interval.lower <= estimate.point && estimate.point <= estimate.interval.upper);
        assert_eq!(cost.billed.ratio, Err(Undefined::ZeroTotal));
    }

    #[test]
    fn arms_over_different_tasks_are_not_compared() {
        let mut fewer = vec![totals(1); 3];
        fewer[1].episodes = 9;
        assert_eq!(paired_cost("L2", &[totals(1); 3], &fewer, &reporting()), None);
    }
}
