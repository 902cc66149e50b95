//! Intervals for the accuracy of one arm: exact (Clopper & Pearson 1934) and Wilson (1927).

use serde::{Deserialize, Serialize};

use super::binomial::{at_least, at_most};
use super::interval::Interval;
use super::level::Alpha;
use super::table::PairedTable;

/// Both intervals of one arm's accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SingleArm {
    /// Exact interval: each tail at most alpha.
    pub clopper_pearson: Interval,
    /// Score interval.
    pub wilson: Interval,
}

/// Both arms of a table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SingleArms {
    /// The uncompressed arm.
    pub raw: SingleArm,
    /// The compressed arm.
    pub compressed: SingleArm,
}

impl SingleArms {
    /// The intervals of level `1 − 2·alpha`.
    pub fn new(table: PairedTable, alpha: Alpha) -> Self {
        let arm = |right| SingleArm {
            clopper_pearson: clopper_pearson(right, table.n(), alpha),
            wilson: wilson(right, table.n(), alpha),
        };
        Self { raw: arm(table.raw_right()), compressed: arm(table.compressed_right()) }
    }
}

/// The Clopper–Pearson interval of level `1 − 2·alpha` for `k` of `n ≥ 1`.
///
/// Found on the binomial tails themselves: beta quantiles of the usual libraries lose accuracy for large shapes.
pub fn clopper_pearson(k: u64, n: u64, alpha: Alpha) -> Interval {
    let tail = alpha.value();
    let lower = if k == 0 { 0.0 } else { crossing(|p| at_least(k, n, p) < tail) };
    let upper = if k >= n { 1.0 } else { crossing(|p| at_most(k, n, p) > tail) };
    Interval { lower, upper }
}

/// The end of the initial stretch of [0, 1] on which `holds` is true.
fn crossing(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut inside, mut outside) = (0.0_f64, 1.0_f64);
    // 60 halvings reach 1e-18; smaller rates than that don't exist with 10⁶ tasks.
    for _ in 0..60 {
        let middle = inside + (outside - inside) / 2.0;
        if holds(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside + (outside - inside) / 2.0
}

/// The Wilson interval of level `1 − 2·alpha` for `k` of `n ≥ 1`.
pub fn wilson(k: u64, n: u64, alpha: Alpha) -> Interval {
    let (hits, misses, trials) = (k as f64, n.saturating_sub(k) as f64, n as f64);
    let z = alpha.z();
    let z2 = z * z;
    let centre = hits + z2 / 2.0;
    let half = z * (hits * misses / trials + z2 / 4.0).sqrt();
    let total = trials + z2;
    Interval {
        lower: if k == 0 { 0.0 } else { (centre - half) / total },
        upper: if k >= n { 1.0 } else { (centre + half) / total },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{Beta, ContinuousCDF};

    use super::{clopper_pearson, wilson};
    use crate::stats::Alpha;
    use crate::stats::number::floor_count;

    #[test]
    fn all_and_none_have_their_closed_forms() {
        let alpha = Alpha::new(0.05).unwrap();
        for n in [1_u64, 20, 1_000, 200_000] {
            // P(no miss) = p^n = alpha.
            let expected = 0.05_f64.powf(1.0 / n as f64);
            let all = clopper_pearson(n, n, alpha);
            assert!((all.lower - expected).abs() < 1e-12 && (all.upper - 1.0).abs() < 1e-15, "{n}");
            let none = clopper_pearson(0, n, alpha);
            assert!((none.upper - (1.0 - expected)).abs() < 1e-12 && none.lower.abs() < 1e-15, "{n}");
            assert!(wilson(n, n, alpha).upper <= 1.0 && wilson(0, n, alpha).lower >= 0.0);
        }
    }

    proptest! {
        #[test]
        fn the_exact_interval_agrees_with_beta_quantiles_at_moderate_sizes(n in 1_u64..2_000, share in 0.0..1.0_f64) {
            let k = floor_count(share * (n + 1) as f64).min(n);
            let (hits, misses) = (k as f64, (n - k) as f64);
            let interval = clopper_pearson(k, n, Alpha::new(0.025).unwrap());
            if k > 0 {
                let lower = Beta::new(hits, misses + 1.0).unwrap().inverse_cdf(0.025);
                prop_assert!((interval.lower - lower).abs() < 1e-9, "{} {lower}", interval.lower);
            }
            if k < n {
                let upper = Beta::new(hits + 1.0, misses).unwrap().inverse_cdf(0.975);
                prop_assert!((interval.upper - upper).abs() < 1e-9, "{} {upper}", interval.upper);
            }
            prop_assert!(interval.contains(hits / n as f64) && wilson(k, n, Alpha::new(0.025).unwrap()).contains(hits / n as f64));
        }
    }
}
