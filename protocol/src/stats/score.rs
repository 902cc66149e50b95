//! The score test of a difference of paired proportions (Tango 1998, Stat Med 17:891; Nam 1997, Biometrics 53:1422).
//!
//! The variance is taken at the maximum-likelihood estimate under the hypothesised difference, so it does not collapse
//! when no pair is discordant. Only gains, losses and the number of tasks enter.

use serde::{Deserialize, Serialize};

use super::distribution::{normal_cdf, normal_sf};
use super::interval::Interval;
use super::level::Alpha;
use super::margin::Margin;
use super::table::PairedCounts;

/// Both one-sided score tests at one margin δ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScoreTest {
    /// T(−δ), large when the arm is clearly not worse by δ.
    #[serde(rename = "T_lower")]
    pub t_lower: f64,
    /// p of H0: Δ ≤ −δ. Rejecting it certifies non-inferiority.
    pub p_lower: f64,
    /// T(+δ), very negative when the arm is clearly not better by δ.
    #[serde(rename = "T_upper")]
    pub t_upper: f64,
    /// p of H0: Δ ≥ +δ. Printed, never gating.
    pub p_upper: f64,
    /// The larger of the two (Schuirmann 1987): equivalence needs both.
    pub p_tost: f64,
}

/// The maximum-likelihood estimate of the loss rate when the difference is `d`, `−1 ≤ d ≤ 1`; the gain rate is `d` more.
pub fn constrained_loss_rate(counts: PairedCounts, d: f64) -> f64 {
    let (gain, loss) = (counts.gain() as f64, counts.loss() as f64);
    let twice_n = 2.0 * counts.n() as f64;
    let b = -(gain + loss) + (twice_n - gain + loss) * d;
    let c = -loss * d * (1.0 - d);
    let root_of_discriminant = (b * b - 4.0 * twice_n * c).max(0.0).sqrt();
    // Both forms are the larger root of 2n·q² + b·q + c; each is free of cancellation for its sign of b.
    let root =
        if b <= 0.0 { (root_of_discriminant - b) / (2.0 * twice_n) } else { -2.0 * c / (b + root_of_discriminant) };
    root.max(-d).max(0.0).min((1.0 - d) / 2.0)
}

/// `numerator / sqrt(Var(G − L))` with the variance under difference `d`.
fn standardise(counts: PairedCounts, d: f64, numerator: f64) -> f64 {
    let loss_rate = constrained_loss_rate(counts, d);
    let variance = (counts.n() as f64 * (2.0 * loss_rate + d * (1.0 - d))).max(0.0);
    if variance > 0.0 {
        numerator / variance.sqrt()
    } else if numerator == 0.0 {
        0.0
    } else {
        f64::INFINITY.copysign(numerator)
    }
}

/// T(d) for a difference `−1 ≤ d ≤ 1`. Strictly falling in `d`; 0/0 counts as 0.
pub fn statistic(counts: PairedCounts, d: f64) -> f64 {
    standardise(counts, d, counts.net() as f64 - counts.n() as f64 * d)
}

/// T(−δ), its sign exact at the margin.
pub fn statistic_at_lower(counts: PairedCounts, margin: Margin) -> f64 {
    standardise(counts, -margin.value(), margin.excess(counts.net(), counts.n()))
}

/// T(+δ), its sign exact at the margin.
pub fn statistic_at_upper(counts: PairedCounts, margin: Margin) -> f64 {
    standardise(counts, margin.value(), -margin.excess(-counts.net(), counts.n()))
}

/// The p-value of H0: Δ ≤ −δ.
pub fn p_lower(counts: PairedCounts, margin: Margin) -> f64 {
    normal_sf(statistic_at_lower(counts, margin))
}

/// Both one-sided tests at the margin. A closed form: the decision needs no iteration.
pub fn score_test(counts: PairedCounts, margin: Margin) -> ScoreTest {
    let t_lower = statistic_at_lower(counts, margin);
    let t_upper = statistic_at_upper(counts, margin);
    let (p_lower, p_upper) = (normal_sf(t_lower), normal_cdf(t_upper));
    ScoreTest { t_lower, p_lower, t_upper, p_upper, p_tost: p_lower.max(p_upper) }
}

/// The score interval of level `1 − 2·alpha`: all `d` with `|T(d)| ≤ z`.
pub fn score_interval(counts: PairedCounts, alpha: Alpha) -> Interval {
    let z = alpha.z();
    let estimate = counts.delta_hat();
    let lower = if counts.loss() == counts.n() { -1.0 } else { crossing(counts, z, -1.0, estimate) };
    let upper = if counts.gain() == counts.n() { 1.0 } else { crossing(counts, -z, estimate, 1.0) };
    Interval { lower, upper }
}

/// Where the falling T crosses `target` between `above` (T too large) and `below`. Plain bisection to the last bit: near
/// the ends T is steep and its roots nearly double, where faster methods lose digits.
fn crossing(counts: PairedCounts, target: f64, mut above: f64, mut below: f64) -> f64 {
    for _ in 0..200 {
        let middle = above + (below - above) / 2.0;
        if middle <= above || middle >= below {
            break;
        }
        if statistic(counts, middle) > target {
            above = middle;
        } else {
            below = middle;
        }
    }
    above + (below - above) / 2.0
}

#[cfg(test)]
mod tests {
    use super::{PairedCounts, p_lower, score_interval, score_test, statistic};
    use crate::stats::{Alpha, Margin};

    fn counts(n: u64, gain: u64, loss: u64) -> PairedCounts {
        PairedCounts::new(n, gain, loss).unwrap()
    }

    fn margin() -> Margin {
        "0.02".parse().unwrap()
    }

    #[test]
    fn without_discordant_pairs_test_and_interval_have_their_closed_form() {
        let alpha = Alpha::new(0.05).unwrap();
        for n in [1, 5, 132, 1_000, 200_000] {
            let z2 = alpha.z() * alpha.z();
            let expected = z2 / (n as f64 + z2);
            let interval = score_interval(counts(n, 0, 0), alpha);
            assert!((interval.upper - expected).abs() < 1e-14 && (interval.lower + expected).abs() < 1e-14, "{n}");
            let t = score_test(counts(n, 0, 0), margin()).t_lower;
            assert!((t - (n as f64 * 0.02 / 0.98).sqrt()).abs() < 1e-12 * t, "{n}");
        }
    }

    #[test]
    fn five_losses_are_worse_than_none_and_five_gains_better() {
        let p = |gain, loss| p_lower(counts(1_000, gain, loss), margin());
        assert!(p(0, 5) > p(0, 0) && p(0, 5) > p(5, 0) && p(0, 5) > 100.0 * p(5, 0));
        // One point above: twice the margin lost.
        assert!(p(0, 40) > 0.99 && p(40, 0) < 1e-9);
    }

    #[test]
    fn a_result_exactly_at_the_margin_has_statistic_zero() {
        let seven: Margin = "0.07".parse().unwrap();
        let at_margin = score_test(counts(100, 0, 7), seven);
        assert!(at_margin.t_lower == 0.0 && (at_margin.p_lower - 0.5).abs() < 1e-15);
        let mirrored = score_test(counts(100, 7, 0), seven);
        assert!(mirrored.t_upper == 0.0);
    }

    #[test]
    fn corners_where_all_tasks_agree_in_sign_are_finite_or_closed() {
        let alpha = Alpha::new(0.05).unwrap();
        assert!((score_interval(counts(10, 0, 10), alpha).lower + 1.0).abs() < 1e-15);
        assert!((score_interval(counts(10, 10, 0), alpha).upper - 1.0).abs() < 1e-15);
        assert!(statistic(counts(10, 10, 0), -1.0).is_infinite());
        assert!(statistic(counts(10, 0, 10), -1.0) == 0.0, "0/0 counts as 0");
        // One task, lost: q = 0.51, variance 1.02 − 0.02·1.02, by hand.
        let expected = -0.98 / (1.02 - 0.02 * 1.02_f64).sqrt();
        assert!((score_test(counts(1, 0, 1), margin()).t_lower - expected).abs() < 1e-14);
    }
}
