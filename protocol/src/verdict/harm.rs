//! The harm guard: is a single tool broken although the average is fine?
//!
//! Per tool, the exact one-sided McNemar test of "no more losses than gains", at α, by Holm over all tools. Missing
//! outcomes count as in the worst case.

use std::sync::Arc;

use super::{Imputation, Rule, input::Cluster};
use crate::stats::{StatsError, level::DEAD_BAND, mcnemar::harm_p, multiplicity::Graph};

/// One tool's test.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolHarm {
    /// `server/tool`.
    pub tool: Arc<str>,
    /// Its tasks.
    pub n: u64,
    /// Tasks that only the reference got right.
    pub loss: u64,
    /// Tasks that only the arm got right.
    pub gain: u64,
    /// Exact one-sided p.
    pub p: f64,
    /// The same, adjusted by Holm over all tools.
    pub adjusted: f64,
    /// Whether harm is shown.
    pub fired: bool,
}

/// The guard over all tools.
#[derive(Debug, Clone, PartialEq)]
pub struct HarmGuard {
    /// Every tool, in name order.
    pub tools: Vec<ToolHarm>,
    /// Losses, without a gain, in one tool that the guard needs to fire; none where there is no tool.
    pub smallest_harm: Option<u64>,
    /// Tools with fewer tasks than that: the guard could not have seen them broken.
    pub blind: u64,
}

impl HarmGuard {
    /// Names of the tools that are shown to be harmed.
    pub fn broken(&self) -> impl Iterator<Item = &Arc<str>> {
        self.tools.iter().filter(|tool| tool.fired).map(|tool| &tool.tool)
    }
}

/// A guard protects: within the dead band it fires.
pub(crate) fn fires(p: f64, alpha: f64) -> bool {
    p <= alpha + DEAD_BAND
}

/// The guard.
///
/// # Errors
/// None that counts can cause: p-values of counts lie in [0, 1].
pub fn harm_guard(rule: &Rule, tools: &[Cluster]) -> Result<HarmGuard, StatsError> {
    let alpha = rule.alpha().value();
    let tested: Vec<_> =
        tools.iter().filter_map(|tool| tool.cells.counts(Imputation::WorstCase).map(|counts| (tool, counts))).collect();
    let p: Vec<f64> = tested.iter().map(|(_, counts)| harm_p(counts.gain(), counts.loss()).min(1.0)).collect();
    let wrapped: Vec<Option<f64>> = p.iter().copied().map(Some).collect();
    let adjusted = Graph::holm(p.len()).adjusted(&wrapped)?;
    let smallest_harm = smallest_harm(alpha, p.len());
    let tools: Vec<ToolHarm> = tested
        .iter()
        .zip(p)
        .zip(adjusted)
        .map(|(((tool, counts), p), adjusted)| {
            let adjusted = adjusted.unwrap_or(1.0);
            ToolHarm {
                tool: Arc::clone(&tool.name),
                n: counts.n(),
                loss: counts.loss(),
                gain: counts.gain(),
                p,
                adjusted,
                fired: fires(adjusted, alpha),
            }
        })
        .collect();
    let blind = tools.iter().filter(|tool| smallest_harm.is_some_and(|harm| tool.n < harm)).count() as u64;
    Ok(HarmGuard { tools, smallest_harm, blind })
}

/// So many losses without a gain have a p below every level: 2^-1100 is 0 in floating point.
const MOST_LOSSES: u64 = 1_100;

/// Fewest losses without a gain whose p survives Holm's first step over `tests` tables.
pub(super) fn smallest_harm(alpha: f64, tests: usize) -> Option<u64> {
    if tests == 0 {
        return None;
    }
    (1..=MOST_LOSSES).find(|&loss| fires(harm_p(0, loss) * tests as f64, alpha))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::fixture::{cells, cluster, rule};

    fn guard(broken: Cluster) -> HarmGuard {
        let mut tools: Vec<Cluster> = (0..77).map(|i| cluster(&format!("s/t{i:02}"), cells(24, 0, 0, 0))).collect();
        tools.push(broken);
        harm_guard(&rule(), &tools).unwrap()
    }

    #[test]
    fn eleven_losses_and_no_gain_of_24_fire_among_78_tools_and_ten_do_not() {
        let fired = guard(cluster("s/x", cells(13, 11, 0, 0)));
        assert_eq!(fired.broken().map(AsRef::as_ref).collect::<Vec<&str>>(), ["s/x"]);
        assert_eq!(guard(cluster("s/x", cells(14, 10, 0, 0))).broken().count(), 0);
        assert_eq!(fired.smallest_harm, Some(11));
    }

    #[test]
    fn gains_in_the_same_tool_count_against_harm_and_gains_elsewhere_do_not() {
        assert_eq!(guard(cluster("s/x", cells(9, 11, 4, 0))).broken().count(), 0);
        let mut tools = vec![cluster("s/a", cells(4, 0, 20, 0)), cluster("s/b", cells(4, 20, 0, 0))];
        assert_eq!(harm_guard(&rule(), &tools).unwrap().broken().count(), 1);
        tools.swap(0, 1);
        assert_eq!(harm_guard(&rule(), &tools).unwrap().broken().count(), 1);
    }

    #[test]
    fn tools_with_too_few_tasks_are_counted_as_blind() {
        assert_eq!(guard(cluster("s/x", cells(10, 0, 0, 0))).blind, 1);
    }

    #[test]
    fn no_tool_means_no_guard_and_no_smallest_harm() {
        let guard = harm_guard(&rule(), &[]).unwrap();
        assert_eq!((guard.tools.len(), guard.smallest_harm, guard.blind), (0, None, 0));
    }
}
