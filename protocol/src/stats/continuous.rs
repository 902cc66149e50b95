//! Continuous paired endpoints (cost, tokens, round trips): ratio of totals and mean difference, with intervals from a
//! bootstrap over clusters. Secondary: estimates without verdict words.

use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::error::Undefined;
use super::interval::Interval;
use super::level::Alpha;
use super::number::index as place;
use super::quantile::type1_index;
use crate::rng;

/// Totals of one cluster (a tool), in the endpoint's own unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedTotals {
    /// Pairs in the cluster.
    pub n: u64,
    /// Sum under raw.
    pub raw: f64,
    /// Sum under the compressed arm.
    pub compressed: f64,
}

impl PairedTotals {
    fn plus(self, other: Self) -> Self {
        Self { n: self.n + other.n, raw: self.raw + other.raw, compressed: self.compressed + other.compressed }
    }

    /// Σ compressed / Σ raw: what is billed. None unless the raw total is positive.
    pub fn ratio(self) -> Option<f64> {
        (self.raw > 0.0).then(|| self.compressed / self.raw)
    }

    /// Mean of compressed − raw per pair. None without pairs.
    pub fn mean_difference(self) -> Option<f64> {
        (self.n > 0).then(|| (self.compressed - self.raw) / self.n as f64)
    }
}

/// A point estimate with its percentile interval of level `1 − 2·alpha`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate from the data themselves.
    pub point: f64,
    /// Type-1 percentile interval.
    pub interval: Interval,
}

/// Both summaries of one endpoint, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContinuousBootstrap {
    /// Ratio of totals.
    pub ratio: Result<Estimate, Undefined>,
    /// Mean difference per pair.
    pub mean_difference: Result<Estimate, Undefined>,
}

/// Resamples clusters with replacement: K indices per resample, in order, one generator call each; sums in draw order.
pub fn continuous_bootstrap(
    clusters: &[PairedTotals],
    alpha: Alpha,
    resamples: u32,
    rng: &mut ChaCha8Rng,
) -> ContinuousBootstrap {
    let nothing = PairedTotals { n: 0, raw: 0.0, compressed: 0.0 };
    let sum = |totals: &mut dyn Iterator<Item = PairedTotals>| totals.fold(nothing, PairedTotals::plus);
    let all = sum(&mut clusters.iter().copied());
    let unusable = if clusters.len() < 2 || all.n < 2 {
        Some(Undefined::TooFew)
    } else if resamples == 0 {
        Some(Undefined::NoResamples)
    } else if !(all.raw.is_finite() && all.compressed.is_finite()) {
        Some(Undefined::NotFinite)
    } else {
        None
    };
    if let Some(reason) = unusable {
        return ContinuousBootstrap { ratio: Err(reason), mean_difference: Err(reason) };
    }
    let k = clusters.len() as u64;
    let drawn: Vec<PairedTotals> =
        (0..resamples).map(|_| sum(&mut (0..k).map(|_| clusters[place(rng::index(rng, k))]))).collect();
    ContinuousBootstrap {
        ratio: estimate(all, &drawn, alpha, PairedTotals::ratio),
        mean_difference: estimate(all, &drawn, alpha, PairedTotals::mean_difference),
    }
}

fn estimate(
    all: PairedTotals,
    drawn: &[PairedTotals],
    alpha: Alpha,
    statistic: fn(PairedTotals) -> Option<f64>,
) -> Result<Estimate, Undefined> {
    let point = statistic(all).ok_or(Undefined::ZeroTotal)?;
    let values: Option<Vec<f64>> = drawn.iter().map(|&totals| statistic(totals)).collect();
    let interval = percentile_interval(values.ok_or(Undefined::ZeroTotal)?, alpha).ok_or(Undefined::NoResamples)?;
    Ok(Estimate { point, interval })
}

/// The type-1 percentile interval of resampled values; none without any.
pub fn percentile_interval(mut values: Vec<f64>, alpha: Alpha) -> Option<Interval> {
    if values.is_empty() {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let at = |level| values[type1_index(values.len(), level)];
    Some(Interval { lower: at(alpha.value()), upper: at(1.0 - alpha.value()) })
}

#[cfg(test)]
mod tests {
    use super::{PairedTotals, continuous_bootstrap};
    use crate::rng::stream;
    use crate::stats::{Alpha, Undefined};

    fn totals(n: u64, raw: f64, compressed: f64) -> PairedTotals {
        PairedTotals { n, raw, compressed }
    }

    fn run(clusters: &[PairedTotals], resamples: u32) -> super::ContinuousBootstrap {
        continuous_bootstrap(clusters, Alpha::new(0.05).unwrap(), resamples, &mut stream([5; 32], 1))
    }

    #[test]
    fn a_constant_saving_has_a_ratio_without_width_and_a_difference_with_one() {
        let clusters: Vec<_> = (1..=20).map(|i| totals(4, f64::from(i) * 8.0, f64::from(i) * 4.0)).collect();
        let found = run(&clusters, 2_000);
        let ratio = found.ratio.unwrap();
        assert!((ratio.point - 0.5).abs() < 1e-15 && ratio.interval.width().abs() < 1e-15);
        let difference = found.mean_difference.unwrap();
        assert!(
            (difference.point + 10.5).abs() < 1e-12
                && difference.interval.contains(-10.5)
                && difference.interval.width() > 1.0
        );
    }

    #[test]
    fn an_undefined_summary_names_its_reason() {
        assert_eq!(run(&[totals(5, 1.0, 1.0)], 10).ratio, Err(Undefined::TooFew));
        assert_eq!(run(&[totals(5, 1.0, 1.0); 2], 0).ratio, Err(Undefined::NoResamples));
        assert_eq!(run(&[totals(5, f64::NAN, 1.0); 2], 10).mean_difference, Err(Undefined::NotFinite));
        // A zero-inflated endpoint: the ratio is undefined where a resample has no raw total, the difference is not.
        let sparse = [totals(5, 0.0, 1.0), totals(5, 2.0, 1.0)];
        let found = run(&sparse, 50);
        assert_eq!(found.ratio, Err(Undefined::ZeroTotal));
        assert!(found.mean_difference.is_ok());
    }
}
