//! Gates G1 and G2 as one precomputed region, for simulation: a trial costs a comparison instead of two tests.

use super::bootstrap::bootstrap_p;
use super::boundary::Boundary;
use super::distribution::normal_quantile;
use super::exact::{SEARCH_ALLOWANCE, exact_tail};
use super::level::Alpha;
use super::margin::Margin;
use super::score::{p_lower, statistic_at_lower};
use super::table::PairedCounts;

/// All tables of `n` tasks that pass G1, and those that pass G2.
#[derive(Debug, Clone)]
pub struct GateRegion {
    g1: Boundary,
    g2: Boundary,
}

impl GateRegion {
    /// Traces both gates for every discordant total; `n ≥ 1`. Takes under half a second at n = 1,900.
    pub fn new(n: u64, margin: Margin, alpha: Alpha) -> Self {
        let threshold = exact_threshold(n, margin, alpha);
        let g1 = Boundary::trace(n, 0, n, |counts| {
            alpha.certifies(p_lower(counts, margin)) && statistic_at_lower(counts, margin) >= threshold
        });
        let g2 = Boundary::trace(n, 0, n, |counts| alpha.certifies(bootstrap_p(counts, margin)));
        Self { g1, g2 }
    }

    /// Whether a table with these gains and losses passes G1.
    pub fn passes_g1(&self, gain: u64, loss: u64) -> bool {
        self.g1.rejects(gain, loss)
    }

    /// Whether it passes G2.
    pub fn passes_g2(&self, gain: u64, loss: u64) -> bool {
        self.g2.rejects(gain, loss)
    }

    /// The edge of G1.
    pub fn g1(&self) -> &Boundary {
        &self.g1
    }

    /// The edge of G2.
    pub fn g2(&self) -> &Boundary {
        &self.g2
    }
}

/// The least score at which the exact p passes, found by halving since the exact p falls with the score; infinite where
/// it never does.
fn exact_threshold(n: u64, margin: Margin, alpha: Alpha) -> f64 {
    let passes = |t: f64| alpha.certifies(exact_tail(n, margin, t, 1.0).p + SEARCH_ALLOWANCE);
    // A little below z, so that a score that just certifies is never cut off by rounding.
    let mut outside = normal_quantile(1.0 - alpha.value()) - 1e-6;
    if passes(outside) {
        return outside;
    }
    let largest = statistic_at_lower(PairedCounts::trusted(n, n, 0), margin);
    let mut inside = outside + 0.5;
    while !passes(inside) {
        if inside > largest {
            return f64::INFINITY;
        }
        outside = inside;
        inside += 0.5;
    }
    while inside - outside > 1e-11 {
        let middle = f64::midpoint(inside, outside);
        if passes(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::GateRegion;
    use crate::stats::bootstrap::bootstrap_p;
    use crate::stats::exact::exact_test;
    use crate::stats::gates::g1_p;
    use crate::stats::score::p_lower;
    use crate::stats::{Alpha, Margin, PairedCounts};

    #[test]
    fn the_region_holds_exactly_the_tables_whose_gates_pass() {
        let margin: Margin = "0.05".parse().unwrap();
        for (n, alpha) in [(50, 0.05), (64, 0.05), (90, 0.025)] {
            let alpha = Alpha::new(alpha).unwrap();
            let region = GateRegion::new(n, margin, alpha);
            for m in 0..=n.min(30) {
                // Around the edges, where a mistake would show.
                let edge = region.g1().least_gain(m).unwrap_or(m);
                for gain in edge.saturating_sub(2)..=(edge + 2).min(m) {
                    let counts = PairedCounts::new(n, gain, m - gain).unwrap();
                    let p = g1_p(p_lower(counts, margin), exact_test(counts, margin).p);
                    assert_eq!(region.passes_g1(gain, m - gain), alpha.certifies(p), "n={n} m={m} gain={gain} p={p}");
                }
                for gain in 0..=m {
                    let p = bootstrap_p(PairedCounts::new(n, gain, m - gain).unwrap(), margin);
                    assert_eq!(region.passes_g2(gain, m - gain), alpha.certifies(p), "n={n} m={m} gain={gain} p={p}");
                }
            }
        }
    }

    #[test]
    fn too_few_tasks_leave_only_tables_with_gains() {
        let region = GateRegion::new(20, "0.02".parse().unwrap(), Alpha::new(0.05).unwrap());
        assert!(
            !region.passes_g1(0, 0) && region.passes_g2(0, 0),
            "the bootstrap alone would certify silence at any n"
        );
    }
}
