//! How many tasks a given power needs: two closed forms and the exact answer.

use super::distribution::normal_quantile;
use super::error::StatsError;
use super::level::Alpha;
use super::margin::Margin;
use super::number::{ceil_count, floor_count};
use super::power::{Truth, check_power, exact_power};

/// Sample sizes for independent tasks; multiply by the planning design effect for clustered ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleSize {
    /// Wald's formula (Lachenbruch 1992, Stat Med 11:1521), unrounded. Far too small where ψ ≤ δ.
    pub wald: f64,
    /// Nam's formula (1997, Biometrics 53:1422), unrounded.
    pub nam: f64,
    /// The smallest n whose exact power, and that of every n up to `⌊1.04·nam⌋ + 40`, is at least the target. Power is
    /// a saw-tooth in n, so the first hit would be optimistic.
    pub exact: u64,
    /// Exact power at `exact`.
    pub power_at_exact: f64,
}

/// Largest number of tasks that a plan is computed for. Every size near the answer is tried exactly: at the limit that
/// takes seconds.
pub const MAX_PLANNED: u64 = 200_000;

/// Up to this number of tasks every size from the scan top down is tried; above, those that the saw-tooth can reach.
const SCANNED_WHOLE: u64 = 20_000;

/// The sample size for one claim.
///
/// # Errors
/// A power that is none, a true difference at or below −δ, which no number of tasks certifies, or one so near −δ that
/// more than [`MAX_PLANNED`] tasks were needed.
pub fn sample_size(truth: Truth, margin: Margin, alpha: Alpha, power: f64) -> Result<SampleSize, StatsError> {
    check_power(power)?;
    let distance = truth.difference() + margin.value();
    if distance <= 0.0 {
        return Err(StatsError::NoSampleSize { difference: truth.difference(), margin: margin.value() });
    }
    let (z_alpha, z_beta) = (alpha.z(), normal_quantile(power));
    let variance = truth.discordance() - truth.difference() * truth.difference();
    let wald = ((z_alpha + z_beta) / distance).powi(2) * variance;
    let nam = ((z_alpha * null_variance(truth, margin).sqrt() + z_beta * variance.sqrt()) / distance).powi(2);

    let top = scan_top(nam);
    if top > MAX_PLANNED {
        return Err(StatsError::PlanTooLarge { needed: ceil_count(nam), limit: MAX_PLANNED });
    }
    let holds = |n: u64| exact_power(n, truth, margin, alpha) >= power;
    let from = if top > SCANNED_WHOLE { near_crossing(top, truth, (z_alpha + z_beta).abs(), holds) } else { top };
    let mut exact = from + 1;
    while exact > 1 && holds(exact - 1) {
        exact -= 1;
    }
    // Where the closed form is too small even for its own scan top (tiny n), go on upwards to the first n that holds.
    while exact > top && exact < MAX_PLANNED && !holds(exact) {
        exact += 1;
    }
    Ok(SampleSize { wald, nam, exact, power_at_exact: exact_power(exact, truth, margin, alpha) })
}

fn scan_top(nam: f64) -> u64 {
    floor_count(1.04 * nam).saturating_add(40)
}

/// A size above which the saw-tooth of the power cannot fall below the target any more: a crossing found by halving, and
/// twice the tooth beyond it. A tooth is at most twice the largest probability of one net gain, about `0.4/√(nψ)` on the
/// even or odd lattice; by the normal curve it is climbed within `4n/(√(nψ)·(z_α + z_β))` tasks.
fn near_crossing(top: u64, truth: Truth, z: f64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut fails, mut passes) = (0, top);
    while passes - fails > 1 {
        let middle = fails + (passes - fails) / 2;
        if holds(middle) {
            passes = middle;
        } else {
            fails = middle;
        }
    }
    let n = passes as f64;
    let climb = 4.0 * n / ((n * truth.discordance()).max(1.0).sqrt() * z.max(0.1));
    passes.saturating_add(ceil_count(2.0 * climb)).min(top)
}

/// Nam's variance per task at the margin, with the constrained loss rate of the expected table.
fn null_variance(truth: Truth, margin: Margin) -> f64 {
    let d = -margin.value();
    let loss_rate = (truth.discordance() - truth.difference()) / 2.0;
    let b = -truth.discordance() + (2.0 - truth.difference()) * d;
    let c = -loss_rate * d * (1.0 - d);
    // b < 0: the larger root without cancellation.
    let root = ((b * b - 8.0 * c).max(0.0).sqrt() - b) / 4.0;
    2.0 * root + d * (1.0 - d)
}

/// The design effect to plan with: `1 + (m̄·(1 + cv²) − 1)·ρ`, for clusters of mean size m̄ whose sizes have coefficient
/// of variation `cv`, and intraclass correlation ρ.
pub fn planning_deff(mean_size: f64, size_cv: f64, correlation: f64) -> f64 {
    1.0 + (mean_size * (1.0 + size_cv * size_cv) - 1.0) * correlation
}

/// `n` tasks multiplied by a design effect, rounded up.
pub fn inflated(n: u64, deff: f64) -> u64 {
    // The product of an integer and a decimal may come out a rounding above an integer.
    ceil_count(n as f64 * deff - 1e-9)
}

#[cfg(test)]
mod tests {
    use super::{inflated, planning_deff, sample_size};
    use crate::stats::power::{Truth, exact_power};
    use crate::stats::{Alpha, Margin, StatsError};

    fn plan(discordance: f64, difference: f64, power: f64) -> Result<super::SampleSize, StatsError> {
        let truth = Truth::new(discordance, difference)?;
        sample_size(truth, "0.02".parse()?, Alpha::new(0.05)?, power)
    }

    #[test]
    fn the_protocols_plan_comes_out() {
        let size = plan(0.05, 0.0, 0.95).unwrap();
        assert_eq!(size.exact, 1_409);
        // Two tasks per frame, ρ = 0.3.
        let deff = planning_deff(2.0, 0.0, 0.3);
        assert!((deff - 1.3).abs() < 1e-15);
        assert_eq!(inflated(size.exact, deff), 1_832);
        assert_eq!(inflated(100, 1.5), 150);
    }

    #[test]
    fn every_size_from_the_answer_to_the_scan_top_has_the_power() {
        let size = plan(0.02, 0.0, 0.9).unwrap();
        let (truth, margin, alpha) =
            (Truth::new(0.02, 0.0).unwrap(), "0.02".parse::<Margin>().unwrap(), Alpha::new(0.05).unwrap());
        let power = |n| exact_power(n, truth, margin, alpha);
        assert!((size.exact..=super::scan_top(size.nam)).all(|n| power(n) >= 0.9) && power(size.exact - 1) < 0.9);
        assert!((size.power_at_exact - power(size.exact)).abs() <= 0.0);
    }

    #[test]
    fn a_large_plan_is_the_one_that_a_scan_of_every_size_finds() {
        let (truth, margin, alpha) =
            (Truth::new(0.1, 0.0).unwrap(), "0.004".parse::<Margin>().unwrap(), Alpha::new(0.05).unwrap());
        let size = sample_size(truth, margin, alpha, 0.8).unwrap();
        let top = super::scan_top(size.nam);
        assert!(top > super::SCANNED_WHOLE);
        let power = |n| exact_power(n, truth, margin, alpha);
        assert!((size.exact..=top).step_by(7).all(|n| power(n) >= 0.8) && power(size.exact - 1) < 0.8);
    }

    #[test]
    fn a_plan_beyond_the_limit_is_refused_with_what_it_would_take() {
        let truth = Truth::new(0.05, 0.0).unwrap();
        let refused = sample_size(truth, "0.0001".parse().unwrap(), Alpha::new(0.05).unwrap(), 0.95).unwrap_err();
        assert!(matches!(refused, StatsError::PlanTooLarge { needed: 50_000_000.., .. }), "{refused}");
    }

    #[test]
    fn perfect_agreement_needs_the_zero_discordance_floor() {
        // Without any discordant pair 133 tasks certify and 132 do not.
        let size = plan(0.0, 0.0, 0.5).unwrap();
        assert_eq!(size.exact, 133);
    }

    #[test]
    fn a_truth_in_the_null_hypothesis_has_no_sample_size() {
        assert!(matches!(plan(0.05, -0.02, 0.9), Err(StatsError::NoSampleSize { .. })));
        assert!(matches!(plan(0.05, 0.0, 0.0), Err(StatsError::Probability { .. })));
    }
}
