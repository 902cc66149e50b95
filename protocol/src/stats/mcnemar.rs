//! The exact and mid-p tests of Δ = 0 named after `McNemar` (Fagerland, Lydersen & Laake 2013, BMC Med Res Methodol 13:91).
//!
//! Its null hypothesis is no difference, not a margin: a large p never means non-inferior. The one-sided exact p is what
//! the harm and abstain guards use.

use serde::{Deserialize, Serialize};

use super::binomial::{at_most, pmf};

/// The four p-values. All are 1 where no pair is discordant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mcnemar {
    /// Exact, two-sided.
    pub two_sided: f64,
    /// Exact, against "the arm loses more than it gains": small when losses prevail.
    pub one_sided_harm: f64,
    /// Mid-p, two-sided.
    pub midp_two: f64,
    /// Mid-p, one-sided as above.
    pub midp_harm: f64,
}

/// The tests on gains and losses. Given their sum, gains are Bin(sum, ½) under Δ = 0.
pub fn mcnemar(gain: u64, loss: u64) -> Mcnemar {
    let discordant = gain + loss;
    if discordant == 0 {
        return Mcnemar { two_sided: 1.0, one_sided_harm: 1.0, midp_two: 1.0, midp_harm: 1.0 };
    }
    let smaller = gain.min(loss);
    let twice = 2.0 * at_most(smaller, discordant, 0.5);
    let here = pmf(smaller, discordant, 0.5);
    let one_sided_harm = harm_p(gain, loss);
    Mcnemar {
        two_sided: twice.min(1.0),
        one_sided_harm,
        midp_two: if gain == loss { 1.0 - here / 2.0 } else { twice - here },
        midp_harm: one_sided_harm - pmf(gain, discordant, 0.5) / 2.0,
    }
}

/// The exact one-sided harm p alone: P(at most `gain` gains among the discordant pairs), 1 where there are none.
pub fn harm_p(gain: u64, loss: u64) -> f64 {
    at_most(gain, gain + loss, 0.5)
}

#[cfg(test)]
mod tests {
    use super::{harm_p, mcnemar};

    #[test]
    fn harm_is_small_for_losses_and_large_for_gains() {
        assert!((harm_p(0, 11) - 0.5_f64.powi(11)).abs() < 1e-16);
        assert!((harm_p(11, 0) - 1.0).abs() < 1e-15);
        assert!((harm_p(0, 0) - 1.0).abs() < 1e-15);
        let even = mcnemar(5, 5);
        assert!((even.two_sided - 1.0).abs() < 1e-15 && (even.midp_two - (1.0 - 252.0 / 2_048.0)).abs() < 1e-14);
    }

    #[test]
    fn both_sides_of_a_swap_share_the_two_sided_p() {
        let (left, right) = (mcnemar(3, 17), mcnemar(17, 3));
        assert!((left.two_sided - right.two_sided).abs() < 1e-15 && (left.midp_two - right.midp_two).abs() < 1e-15);
        assert!(left.one_sided_harm < 0.01 && right.one_sided_harm > 0.99);
    }
}
