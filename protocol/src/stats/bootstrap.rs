//! The paired bootstrap, exact: no resamples, no generator, no Monte-Carlo error.
//!
//! Drawing n tasks with replacement makes the four cells multinomial, so the distribution of Δ* = (G* − L*)/n can be
//! summed. A verdict that depended on a bootstrap seed would be avoidable, hence this.

use serde::{Deserialize, Serialize};

use super::binomial::Window;
use super::conditional::tail_probability;
use super::distribution::{normal_cdf, normal_quantile};
use super::interval::Interval;
use super::level::Alpha;
use super::margin::Margin;
use super::number::half_up;
use super::quantile::QUANTILE_SLACK;
use super::table::PairedCounts;

/// What the exact bootstrap says about one table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// P*(Δ* ≤ −δ), gate G2.
    pub p_lower: f64,
    /// Percentile interval of level `1 − 2·alpha`, type-1 quantiles.
    pub percentile_ci: Interval,
    /// Bias correction of the `BCa` interval; undefined where all differences are equal.
    pub bca_z0: Option<f64>,
    /// Acceleration of the `BCa` interval.
    pub bca_a: Option<f64>,
    /// `BCa` interval (Efron 1987, JASA 82:171). Reported, not gating.
    pub bca_ci: Option<Interval>,
}

impl Bootstrap {
    /// Everything at once.
    pub fn new(counts: PairedCounts, margin: Margin, alpha: Alpha) -> Self {
        let resampled = ResampledNet::new(counts);
        let bca = resampled.bca(alpha);
        Self {
            p_lower: resampled.at_most(margin.lattice_floor(counts.n())),
            percentile_ci: resampled.interval(alpha.value(), 1.0 - alpha.value()),
            bca_z0: bca.map(|bca| bca.z0),
            bca_a: bca.map(|bca| bca.a),
            bca_ci: bca.map(|bca| bca.interval),
        }
    }
}

/// P*(Δ* ≤ −δ) alone, gate G2.
pub fn bootstrap_p(counts: PairedCounts, margin: Margin) -> f64 {
    ResampledNet::new(counts).at_most(margin.lattice_floor(counts.n()))
}

/// The distribution of S* = G* − L*.
struct ResampledNet {
    counts: PairedCounts,
    discordant: Window,
    loss_share: f64,
}

#[derive(Clone, Copy)]
struct Bca {
    z0: f64,
    a: f64,
    interval: Interval,
}

impl ResampledNet {
    fn new(counts: PairedCounts) -> Self {
        let discordant = counts.discordant();
        Self {
            counts,
            // Untruncated: a p of 1e-30 keeps its digits.
            discordant: Window::new(counts.n(), counts.discordance(), 0.0),
            loss_share: if discordant == 0 { 0.0 } else { counts.loss() as f64 / discordant as f64 },
        }
    }

    /// P*(S* ≤ net): given m discordant draws, S* = m − 2L* ≤ net is L* ≥ (m − net)/2.
    fn at_most(&self, net: i64) -> f64 {
        let need = |m: u64| half_up(m.cast_signed() - net);
        tail_probability(&self.discordant, self.loss_share, need).min(1.0)
    }

    /// The least net with P*(S* ≤ net) ≥ level − 1e-13.
    fn quantile(&self, level: f64) -> i64 {
        let n = self.counts.n().cast_signed();
        let (mut below, mut reached) = (-n - 1, n);
        while reached - below > 1 {
            let middle = below + (reached - below) / 2;
            if self.at_most(middle) >= level - QUANTILE_SLACK {
                reached = middle;
            } else {
                below = middle;
            }
        }
        reached
    }

    fn interval(&self, lower: f64, upper: f64) -> Interval {
        let n = self.counts.n() as f64;
        Interval { lower: self.quantile(lower) as f64 / n, upper: self.quantile(upper) as f64 / n }
    }

    /// `None` where all differences are equal: no pair discordant, or all of them one way.
    fn bca(&self, alpha: Alpha) -> Option<Bca> {
        let [n, gain, loss] = [self.counts.n(), self.counts.gain(), self.counts.loss()];
        if gain + loss == 0 || gain == n || loss == n {
            return None;
        }
        let net = self.counts.net();
        // Half of the point mass at the estimate: S* lives on a lattice, where that mass is not negligible.
        let (below, up_to) = (self.at_most(net - 1), self.at_most(net));
        let z0 = normal_quantile(f64::midpoint(below, up_to));
        let a = acceleration(self.counts);
        let level = |z: f64| {
            let shifted = z0 + z;
            let stretch = 1.0 - a * shifted;
            if stretch > 0.0 { normal_cdf(z0 + shifted / stretch) } else { f64::from(u8::from(shifted > 0.0)) }
        };
        let z = alpha.z();
        Some(Bca { z0, a, interval: self.interval(level(-z), level(z)) })
    }
}

/// `Σ(d−d̄)³ / (6·(Σ(d−d̄)²)^{3/2})` from the three values a difference can take.
fn acceleration(counts: PairedCounts) -> f64 {
    let mean = counts.delta_hat();
    let equal = counts.n() - counts.discordant();
    let cells = [(counts.gain(), 1.0 - mean), (counts.loss(), -1.0 - mean), (equal, -mean)];
    let moment = |power| cells.iter().map(|&(count, d)| count as f64 * f64::powi(d, power)).sum::<f64>();
    let squares = moment(2);
    moment(3) / (6.0 * squares * squares.sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Bootstrap, ResampledNet, acceleration, bootstrap_p};
    use crate::stats::binomial::{at_most, pmf};
    use crate::stats::number::floor_count;
    use crate::stats::{Alpha, PairedCounts};

    /// The other route: condition on the losses drawn instead of the discordant pairs.
    fn at_most_by_losses(counts: PairedCounts, net: i64) -> f64 {
        let n = counts.n();
        let loss_rate = counts.loss() as f64 / n as f64;
        let gain_rate =
            if counts.loss() == n { 0.0 } else { (counts.gain() as f64 / (n - counts.loss()) as f64).min(1.0) };
        (0..=n)
            .filter_map(|losses| {
                let gains = u64::try_from(net + losses.cast_signed()).ok()?;
                Some(pmf(losses, n, loss_rate) * at_most(gains, n - losses, gain_rate))
            })
            .sum()
    }

    #[test]
    fn a_table_without_discordant_pairs_is_a_point_mass() {
        let counts = PairedCounts::new(5, 0, 0).unwrap();
        let bootstrap = Bootstrap::new(counts, "0.02".parse().unwrap(), Alpha::new(0.05).unwrap());
        assert!(bootstrap.p_lower == 0.0 && bootstrap.percentile_ci.width() == 0.0 && bootstrap.bca_ci.is_none());
    }

    #[test]
    fn the_acceleration_is_that_of_an_explicit_jackknife() {
        let counts = PairedCounts::new(40, 5, 2).unwrap();
        let data: Vec<f64> = (0..40)
            .map(|i| match i {
                0..5 => 1.0,
                5..7 => -1.0,
                _ => 0.0,
            })
            .collect();
        let total: f64 = data.iter().sum();
        let left_out: Vec<f64> = data.iter().map(|d| (total - d) / 39.0).collect();
        let mean = left_out.iter().sum::<f64>() / 40.0;
        let moment = |power| left_out.iter().map(|v| (mean - v).powi(power)).sum::<f64>();
        assert!((acceleration(counts) - moment(3) / (6.0 * moment(2).powf(1.5))).abs() < 1e-14);
    }

    #[test]
    fn two_hundred_thousand_tasks_are_no_obstacle() {
        let counts = PairedCounts::new(200_000, 4_000, 7_900).unwrap();
        let p = bootstrap_p(counts, "0.02".parse().unwrap());
        assert!((p - at_most_by_losses_window(counts, -4_000)).abs() < 1e-11, "{p}");
        assert!(p > 0.01 && p < 0.5);
    }

    /// As [`at_most_by_losses`], with only the likely numbers of losses.
    fn at_most_by_losses_window(counts: PairedCounts, net: i64) -> f64 {
        let n = counts.n();
        let gain_rate = counts.gain() as f64 / (n - counts.loss()) as f64;
        crate::stats::binomial::Window::new(n, counts.loss() as f64 / n as f64, 1e-25)
            .iter()
            .filter_map(|(losses, weight)| {
                let gains = u64::try_from(net + losses.cast_signed()).ok()?;
                Some(weight * at_most(gains, n - losses, gain_rate))
            })
            .sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn conditioning_on_losses_gives_the_same_distribution(n in 1_u64..150, a in 0.0..=1.0_f64, b in 0.0..=1.0_f64, at in 0.0..=1.0_f64) {
            let gain = floor_count(a * n as f64);
            let loss = floor_count(b * (n - gain) as f64);
            let counts = PairedCounts::new(n, gain, loss).unwrap();
            let net = floor_count(at * 2.0 * n as f64).cast_signed() - n.cast_signed();
            let (found, expected) = (ResampledNet::new(counts).at_most(net), at_most_by_losses(counts, net));
            prop_assert!((found - expected).abs() < 1e-12, "{found} against {expected}");
        }

        #[test]
        fn a_quantile_is_the_first_point_that_reaches_its_level(n in 1_u64..60, gain in 0_u64..20, loss in 0_u64..20, level in 0.0..=1.0_f64) {
            prop_assume!(gain + loss <= n);
            let net = ResampledNet::new(PairedCounts::new(n, gain, loss).unwrap());
            let q = net.quantile(level);
            prop_assert!(net.at_most(q) >= level - 1e-13);
            prop_assert!(q == -n.cast_signed() || net.at_most(q - 1) < level - 1e-13);
        }
    }
}
