//! Tasks that come in groups: the score statistic deflated by a design effect.
//!
//! Two fillings of one frame are near-duplicates, and tools differ in how much a compressor hurts them, so tasks are not
//! independent. The cluster-robust variance CR1 (as in Durkalski et al. 2003, Stat Med 22:279; Miller 2024,
//! arXiv 2411.00640) over the independent one is the design effect; dividing the score statistic by its root keeps the
//! score test's null variance, which does not collapse when no pair is discordant. With few clusters (servers) no such
//! test is reliable.

use serde::{Deserialize, Serialize};

use super::distribution::student_sf;
use super::error::StatsError;
use super::margin::Margin;
use super::score::statistic_at_lower;
use super::table::PairedCounts;

/// Variances of Δ̂ with and without regard to clusters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClusterVariance {
    /// Number of clusters K.
    pub clusters: u64,
    /// Variance of Δ̂ if tasks were independent.
    pub independent: f64,
    /// Cluster-robust variance CR1, with the factor K/(K−1).
    pub cluster_robust: f64,
    /// Design effect, the ratio of the two; 1 where all differences are equal.
    pub deff: f64,
}

/// The deflated score test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClusterTest {
    /// Number of clusters K.
    pub clusters: u64,
    /// Design effect as estimated.
    pub deff: f64,
    /// The floor under it.
    pub floor: f64,
    /// Design effect as used: the larger of the two.
    pub deff_used: f64,
    /// Score statistic T(−δ) of independent tasks.
    pub t_tango: f64,
    /// `t_tango / sqrt(deff_used)`.
    pub t_deff: f64,
    /// Upper Student tail of it with K − 1 degrees of freedom.
    pub p: f64,
}

/// Adds clusters up.
///
/// # Errors
/// No cluster at all, or more tasks than a table may hold.
pub fn pooled(clusters: &[PairedCounts]) -> Result<PairedCounts, StatsError> {
    let sum =
        |part: fn(PairedCounts) -> u64| clusters.iter().map(|&cluster| part(cluster)).fold(0, u64::saturating_add);
    PairedCounts::new(sum(PairedCounts::n), sum(PairedCounts::gain), sum(PairedCounts::loss))
}

/// Variances and design effect. The sums of squares are exact integers.
///
/// # Errors
/// Fewer than two clusters.
pub fn cluster_variance(clusters: &[PairedCounts]) -> Result<ClusterVariance, StatsError> {
    if clusters.len() < 2 {
        return Err(StatsError::TooFewClusters { found: clusters.len() });
    }
    let total = pooled(clusters)?;
    let (n, net) = (i128::from(total.n()), i128::from(total.net()));
    // n·Σd² − (Σd)² and Σ_g (n·D_g − n_g·D)²: the two variances times n³ and n⁴.
    let spread = n * i128::from(total.discordant()) - net * net;
    let between: i128 = clusters
        .iter()
        .map(|cluster| n * i128::from(cluster.net()) - i128::from(cluster.n()) * net)
        .map(|residual| residual * residual)
        .sum();
    let k = clusters.len() as f64;
    let (spread, between, n) = (spread as f64, between as f64, n as f64);
    let independent = spread / (n * n * n);
    let cluster_robust = k / (k - 1.0) * between / (n * n * n * n);
    let deff = if spread == 0.0 { 1.0 } else { k / (k - 1.0) * between / (n * spread) };
    Ok(ClusterVariance { clusters: clusters.len() as u64, independent, cluster_robust, deff })
}

/// The deflated score test of H0: Δ ≤ −δ with a floor under the design effect (1 for frames, 1.5 for tools).
///
/// # Errors
/// Fewer than two clusters, or a floor below 1.
pub fn cluster_test(clusters: &[PairedCounts], margin: Margin, floor: f64) -> Result<ClusterTest, StatsError> {
    if floor.is_nan() || floor < 1.0 || floor.is_infinite() {
        return Err(StatsError::DeffFloor { found: floor });
    }
    let variance = cluster_variance(clusters)?;
    let t_tango = statistic_at_lower(pooled(clusters)?, margin);
    let deff_used = variance.deff.max(floor);
    let t_deff = t_tango / deff_used.sqrt();
    Ok(ClusterTest {
        clusters: variance.clusters,
        deff: variance.deff,
        floor,
        deff_used,
        t_tango,
        t_deff,
        p: student_sf(t_deff, variance.clusters - 1),
    })
}

#[cfg(test)]
mod tests {
    use super::{cluster_test, cluster_variance};
    use crate::stats::distribution::student_sf;
    use crate::stats::{Margin, PairedCounts, StatsError};

    fn counts(n: u64, gain: u64, loss: u64) -> PairedCounts {
        PairedCounts::new(n, gain, loss).unwrap()
    }

    fn margin() -> Margin {
        "0.02".parse().unwrap()
    }

    #[test]
    fn one_task_per_cluster_has_design_effect_n_over_n_minus_one() {
        let clusters: Vec<_> = (0..50).map(|i| counts(1, u64::from(i < 3), u64::from((3..8).contains(&i)))).collect();
        let variance = cluster_variance(&clusters).unwrap();
        assert!((variance.deff - 50.0 / 49.0).abs() < 1e-14);
    }

    #[test]
    fn one_broken_tool_inflates_the_design_effect_to_its_size() {
        // 20 of 1,000 lost: spread evenly, or all in one tool of 20 tasks.
        let spread: Vec<_> = (0..50).map(|i| counts(20, 0, u64::from(i < 20))).collect();
        let broken: Vec<_> = (0..50).map(|i| counts(20, 0, if i == 0 { 20 } else { 0 })).collect();
        assert!(cluster_variance(&spread).unwrap().deff < 1.0);
        let deff = cluster_variance(&broken).unwrap().deff;
        assert!((deff - 20.0 * 50.0 / 49.0).abs() < 1e-12, "{deff}");
    }

    #[test]
    fn zero_discordance_uses_the_floor_as_effective_size() {
        let clusters = vec![counts(25, 0, 0); 40];
        let test = cluster_test(&clusters, margin(), 1.5).unwrap();
        let expected = (1_000.0 * 0.02 / 0.98 / 1.5_f64).sqrt();
        assert!((test.t_deff - expected).abs() < 1e-12 && (test.p - student_sf(expected, 39)).abs() < 1e-15);
        assert!(test.p > 0.0);
    }

    #[test]
    fn a_single_cluster_or_a_floor_below_one_is_refused() {
        let one = [counts(10, 0, 0)];
        assert_eq!(cluster_variance(&one), Err(StatsError::TooFewClusters { found: 1 }));
        for floor in [0.9, f64::NAN, f64::INFINITY] {
            assert!(cluster_test(&[one[0]; 2], margin(), floor).is_err());
        }
    }

    #[test]
    fn sums_of_squares_do_not_overflow_at_the_largest_table() {
        let half = counts(500_000, 0, 500_000);
        let other = counts(500_000, 500_000, 0);
        let variance = cluster_variance(&[half, other]).unwrap();
        assert!((variance.cluster_robust - 1.0).abs() < 1e-12 && (variance.deff - 1e6).abs() < 1e-3, "{variance:?}");
    }
}
