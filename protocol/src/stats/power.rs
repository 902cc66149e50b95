//! Exact power and size of the score test: what a verdict is worth before it is paid for.

use super::binomial::Window;
use super::boundary::Boundary;
use super::conditional::tail_probability;
use super::error::StatsError;
use super::exact::{Supremum, exact_tail};
use super::level::Alpha;
use super::margin::Margin;
use super::number::floor_count;

/// Discordant totals less likely than this, relative to the most likely one, are left out.
const CUTOFF: f64 = 1e-25;

/// An assumed truth: discordance ψ and true difference Δ, `|Δ| ≤ ψ ≤ 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    discordance: f64,
    difference: f64,
}

impl Truth {
    /// Checks that the two are compatible.
    ///
    /// # Errors
    /// [`StatsError::Truth`].
    pub fn new(discordance: f64, difference: f64) -> Result<Self, StatsError> {
        if difference.abs() <= discordance && discordance <= 1.0 {
            Ok(Self { discordance, difference })
        } else {
            Err(StatsError::Truth { discordance, difference })
        }
    }

    /// ψ, the probability that the arms differ on a task.
    pub fn discordance(self) -> f64 {
        self.discordance
    }

    /// Δ, compressed minus raw.
    pub fn difference(self) -> f64 {
        self.difference
    }

    /// The gains' share of discordant pairs, 0 where there are none.
    fn gain_share(self) -> f64 {
        if self.discordance > 0.0 { (0.5 * (1.0 + self.difference / self.discordance)).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// P(T(−δ) ≥ threshold) with `n ≥ 1` tasks.
fn reach(n: u64, truth: Truth, margin: Margin, threshold: f64) -> f64 {
    let window = Window::new(n, truth.discordance, CUTOFF);
    let boundary = Boundary::of_score(n, margin, threshold, window.first(), window.last());
    tail_probability(&window, truth.gain_share(), |m| boundary.raw(m)).min(1.0)
}

/// The probability that the score test rejects H0: Δ ≤ −δ with `n ≥ 1` independent tasks.
pub fn exact_power(n: u64, truth: Truth, margin: Margin, alpha: Alpha) -> f64 {
    reach(n, truth, margin, alpha.z())
}

/// The probability of showing damage: that the upper limit of the `1 − 2·alpha` score interval lies below −δ.
pub fn damage_power(n: u64, truth: Truth, margin: Margin, alpha: Alpha) -> f64 {
    1.0 - reach(n, truth, margin, -alpha.z())
}

/// The score test's true size: its largest rejection probability at Δ = −δ over discordances of at most `discordance` (1
/// for every one; the excess over alpha near 1 is of no practical interest).
pub fn sup_size(n: u64, margin: Margin, alpha: Alpha, discordance: f64) -> Supremum {
    exact_tail(n, margin, alpha.z(), discordance)
}

/// The largest net loss L − G that the score test still passes with `m ≤ n` discordant pairs; negative where a net gain
/// is needed, none where nothing passes.
pub fn largest_passing_net_loss(n: u64, m: u64, margin: Margin, alpha: Alpha) -> Option<i64> {
    let gain = Boundary::of_score(n, margin, alpha.z(), m, m).least_gain(m)?;
    Some(m.cast_signed() - 2 * gain.cast_signed())
}

/// Steps of a search over rates.
const RATE_STEP: f64 = 0.001;

/// The first rate, going up from `from` in steps of 0.001, at which `holds` stops, refined to 1e-7; 1 where it never
/// does, none where it fails at the start. Power is a saw-tooth, so the first failure is the honest one.
fn last_holding(from: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    if !holds(from) {
        return None;
    }
    let steps = floor_count((1.0 - from) / RATE_STEP);
    let mut inside = from;
    for step in 1..=steps + 1 {
        let next = (from + RATE_STEP * step as f64).min(1.0);
        if holds(next) {
            inside = next;
            continue;
        }
        let mut outside = next;
        while outside - inside > 1e-7 {
            let middle = f64::midpoint(inside, outside);
            if holds(middle) {
                inside = middle;
            } else {
                outside = middle;
            }
        }
        break;
    }
    Some(inside)
}

/// The largest discordance up to which every truth with difference `difference` is certified with at least `power`; none
/// where even the smallest possible discordance is not.
///
/// # Errors
/// A difference or power that is not one.
pub fn largest_discordance(
    n: u64,
    difference: f64,
    margin: Margin,
    alpha: Alpha,
    power: f64,
) -> Result<Option<f64>, StatsError> {
    check_power(power)?;
    let least = Truth::new(difference.abs(), difference)?.discordance;
    Ok(last_holding(least, |discordance| exact_power(n, Truth { discordance, difference }, margin, alpha) >= power))
}

/// The largest true loss −Δ up to which the arm is still certified with at least `power`, at discordance
/// `max(discordance, loss)`; none where even Δ = 0 is not.
///
/// # Errors
/// A discordance or power that is not one.
pub fn largest_tolerated_loss(
    n: u64,
    discordance: f64,
    margin: Margin,
    alpha: Alpha,
    power: f64,
) -> Result<Option<f64>, StatsError> {
    check_power(power)?;
    Truth::new(discordance, 0.0)?;
    Ok(last_holding(0.0, |loss| exact_power(n, losing(discordance, loss), margin, alpha) >= power))
}

/// The smallest true loss −Δ above which the run shows damage (verdict *failed*) with at least `power`, at discordance
/// `max(discordance, loss)`; none where no loss is large enough for `n`.
///
/// # Errors
/// A discordance or power that is not one.
pub fn minimum_detectable_loss(
    n: u64,
    discordance: f64,
    margin: Margin,
    alpha: Alpha,
    power: f64,
) -> Result<Option<f64>, StatsError> {
    check_power(power)?;
    Truth::new(discordance, 0.0)?;
    let missed = |loss: f64| damage_power(n, losing(discordance, loss), margin, alpha) < power;
    // Below the margin damage is shown with less than alpha.
    Ok(last_holding(margin.value(), missed).filter(|&loss| loss < 1.0))
}

fn losing(discordance: f64, loss: f64) -> Truth {
    Truth { discordance: discordance.max(loss), difference: -loss }
}

pub(crate) fn check_power(power: f64) -> Result<(), StatsError> {
    if power > 0.0 && power < 1.0 { Ok(()) } else { Err(StatsError::Probability { name: "power", found: power }) }
}

#[cfg(test)]
mod tests {
    use super::{
        Truth, damage_power, exact_power, largest_discordance, largest_tolerated_loss, minimum_detectable_loss,
    };
    use crate::stats::binomial::pmf;
    use crate::stats::score::statistic_at_lower;
    use crate::stats::{Alpha, Margin, PairedCounts, StatsError};

    fn alpha() -> Alpha {
        Alpha::new(0.05).unwrap()
    }

    fn margin() -> Margin {
        "0.02".parse().unwrap()
    }

    fn truth(discordance: f64, difference: f64) -> Truth {
        Truth::new(discordance, difference).unwrap()
    }

    /// The full trinomial sum over the rejection region, table by table.
    fn by_trinomial(n: u64, truth: Truth, rejects: impl Fn(f64) -> bool) -> f64 {
        let (gain_rate, loss_rate) =
            (0.5 * (truth.discordance + truth.difference), 0.5 * (truth.discordance - truth.difference));
        let given_loss = if loss_rate < 1.0 { (gain_rate / (1.0 - loss_rate)).min(1.0) } else { 0.0 };
        let tables = (0..=n).flat_map(|loss| (0..=n - loss).map(move |gain| (gain, loss)));
        tables
            .filter(|&(gain, loss)| rejects(statistic_at_lower(PairedCounts::new(n, gain, loss).unwrap(), margin())))
            .map(|(gain, loss)| pmf(loss, n, loss_rate) * pmf(gain, n - loss, given_loss))
            .sum()
    }

    #[test]
    fn power_equals_the_full_trinomial_sum() {
        for n in [1, 30, 133, 200] {
            for truth in [truth(0.05, 0.0), truth(0.02, -0.02), truth(0.3, 0.1), truth(0.0, 0.0), truth(1.0, 0.4)] {
                let z = alpha().z();
                let expected = by_trinomial(n, truth, |t| t >= z - 1e-12);
                assert!((exact_power(n, truth, margin(), alpha()) - expected).abs() < 1e-12, "n={n} {truth:?}");
                let damage = by_trinomial(n, truth, |t| t < -z - 1e-12);
                assert!((damage_power(n, truth, margin(), alpha()) - damage).abs() < 1e-12, "n={n} {truth:?}");
            }
        }
    }

    #[test]
    fn searched_rates_are_where_the_power_crosses() {
        let largest = largest_discordance(1_000, 0.0, margin(), alpha(), 0.9).unwrap().unwrap();
        let power = |discordance| exact_power(1_000, truth(discordance, 0.0), margin(), alpha());
        assert!(power(largest) >= 0.9 && power(largest + 1e-6) < 0.9);

        let tolerated = largest_tolerated_loss(1_872, 0.05, margin(), alpha(), 0.5).unwrap().unwrap();
        assert!(tolerated > 0.005 && tolerated < 0.02, "{tolerated}");
        let detectable = minimum_detectable_loss(1_872, 0.05, margin(), alpha(), 0.9).unwrap().unwrap();
        let damage = |loss: f64| damage_power(1_872, truth(loss.max(0.05), -loss), margin(), alpha());
        assert!(
            detectable > 0.02 && damage(detectable + 1e-6) >= 0.9 && damage(detectable - 1e-4) < 0.9,
            "{detectable}"
        );
    }

    #[test]
    fn a_planning_question_without_an_answer_gets_none_or_an_error() {
        assert_eq!(largest_discordance(50, 0.0, margin(), alpha(), 0.9), Ok(None));
        assert_eq!(minimum_detectable_loss(1, 0.05, margin(), alpha(), 0.9), Ok(None));
        assert!(matches!(
            largest_tolerated_loss(10, 0.05, margin(), alpha(), 1.0),
            Err(StatsError::Probability { .. })
        ));
        for (discordance, difference) in [(0.01, 0.02), (1.1, 0.0), (f64::NAN, 0.0), (0.1, f64::NAN)] {
            assert!(Truth::new(discordance, difference).is_err());
        }
    }
}
