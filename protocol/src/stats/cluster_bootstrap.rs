//! The cluster bootstrap: clusters drawn with replacement, the ratio of summed differences to summed tasks (Field & Welsh
//! 2007, JRSSB 69:369). Integers throughout, so that its count is the same on every machine. Reported, not gating: it
//! inherits the liberal corner of every percentile method.

use std::cmp::Ordering;

use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::clusters::pooled;
use super::error::StatsError;
use super::interval::Interval;
use super::level::Alpha;
use super::margin::Margin;
use super::number::index as place;
use super::quantile::type1_index;
use super::table::PairedCounts;
use crate::rng;

/// A Monte-Carlo cluster bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClusterBootstrap {
    /// Number of resamples B.
    pub resamples: u32,
    /// Resamples with Δ* ≤ −δ, compared in integers.
    pub at_or_below: u32,
    /// `(at_or_below + 1) / (B + 1)` (Davison & Hinkley 1997).
    pub p_lower: f64,
    /// Percentile interval of level `1 − 2·alpha`, type-1 quantiles.
    pub percentile_ci: Interval,
}

/// One resample: Σ differences over Σ tasks.
#[derive(Clone, Copy)]
struct Drawn {
    net: i64,
    n: u64,
}

impl Drawn {
    fn compare(&self, other: &Self) -> Ordering {
        let cross = |a: &Self, b: &Self| i128::from(a.net) * i128::from(b.n);
        cross(self, other).cmp(&cross(other, self))
    }

    fn value(self) -> f64 {
        self.net as f64 / self.n as f64
    }
}

/// Draws K indices per resample, in order, one generator call each.
///
/// # Errors
/// Fewer than two clusters, more tasks than a table may hold, or no resamples.
pub fn cluster_bootstrap(
    clusters: &[PairedCounts],
    margin: Margin,
    alpha: Alpha,
    resamples: u32,
    rng: &mut ChaCha8Rng,
) -> Result<ClusterBootstrap, StatsError> {
    if clusters.len() < 2 {
        return Err(StatsError::TooFewClusters { found: clusters.len() });
    }
    if resamples == 0 {
        return Err(StatsError::NoResamples);
    }
    pooled(clusters)?;
    let k = clusters.len() as u64;
    let sums: Vec<Drawn> = clusters.iter().map(|cluster| Drawn { net: cluster.net(), n: cluster.n() }).collect();
    let mut at_or_below = 0;
    let mut drawn = Vec::with_capacity(place(resamples.into()));
    for _ in 0..resamples {
        let mut total = Drawn { net: 0, n: 0 };
        for _ in 0..k {
            let cluster = sums[place(rng::index(rng, k))];
            total.net += cluster.net;
            total.n += cluster.n;
        }
        at_or_below += u32::from(margin.is_reached_by(total.net, total.n));
        drawn.push(total);
    }
    let mut quantile = |level| {
        let i = type1_index(drawn.len(), level);
        drawn.select_nth_unstable_by(i, Drawn::compare).1.value()
    };
    let percentile_ci = Interval { lower: quantile(alpha.value()), upper: quantile(1.0 - alpha.value()) };
    Ok(ClusterBootstrap {
        resamples,
        at_or_below,
        p_lower: (f64::from(at_or_below) + 1.0) / (f64::from(resamples) + 1.0),
        percentile_ci,
    })
}

#[cfg(test)]
mod tests {
    use super::cluster_bootstrap;
    use crate::rng::stream;
    use crate::stats::{Alpha, PairedCounts};

    #[test]
    fn the_bootstrap_of_equal_clusters_is_a_point() {
        let clusters = vec![PairedCounts::new(10, 1, 0).unwrap(); 5];
        let alpha = Alpha::new(0.05).unwrap();
        let found = cluster_bootstrap(&clusters, "0.02".parse().unwrap(), alpha, 100, &mut stream([0; 32], 0)).unwrap();
        assert_eq!(found.at_or_below, 0);
        assert!((found.percentile_ci.lower - 0.1).abs() < 1e-15 && (found.percentile_ci.upper - 0.1).abs() < 1e-15);
        assert!((found.p_lower - 1.0 / 101.0).abs() < 1e-15, "never zero");
    }

    #[test]
    fn no_clusters_or_no_resamples_is_an_error() {
        let clusters = [PairedCounts::new(10, 1, 0).unwrap(); 2];
        let (alpha, margin) = (Alpha::new(0.05).unwrap(), "0.02".parse().unwrap());
        assert!(cluster_bootstrap(&clusters[..1], margin, alpha, 10, &mut stream([0; 32], 0)).is_err());
        assert!(cluster_bootstrap(&clusters, margin, alpha, 0, &mut stream([0; 32], 0)).is_err());
    }
}
