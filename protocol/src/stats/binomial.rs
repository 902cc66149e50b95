//! Binomial probabilities p that stay accurate to about 1e-14 and |ln p| units in the last place, relative, at any number
//! of tasks.
//!
//! `exp(ln n! − ln k! − …)` loses digits as n grows (5e-10 at n = 200,000, since ln n! is about 2·10⁶), and the usual
//! incomplete beta loses more. Single terms therefore come from the saddle-point form (Loader 2000, "Fast and accurate
//! computation of binomial probabilities"), runs of terms from the ratio of neighbours, tails from sums of positive terms.

use std::f64::consts::PI;

use super::number::{floor_count, index};

/// Terms below this fraction of the sum so far can't change it.
const NEGLIGIBLE: f64 = 1e-18;

/// Sums that begin with a term below this are made of terms `UP` times as large: [`NEGLIGIBLE`] of them would be subnormal, or
/// 0, of which all terms to the last task are more.
const SMALL: f64 = 1e-250;

/// 2⁶⁰⁰: a power of two changes no digit.
const UP: f64 = f64::from_bits((1_023 + 600) << 52);

/// `P(X = k)` for X ~ Bin(n, p), `0 ≤ p ≤ 1`.
pub fn pmf(k: u64, n: u64, p: f64) -> f64 {
    if k > n {
        return 0.0;
    }
    if p <= 0.0 {
        return f64::from(u8::from(k == 0));
    }
    if p >= 1.0 {
        return f64::from(u8::from(k == n));
    }
    let (hits, misses, trials) = (k as f64, (n - k) as f64, n as f64);
    if k == 0 {
        return (trials * (-p).ln_1p()).exp();
    }
    if k == n {
        return (trials * p.ln()).exp();
    }
    let correction = stirling_error(n) - stirling_error(k) - stirling_error(n - k);
    let deviance = deviance(hits, trials * p) + deviance(misses, trials * (1.0 - p));
    (correction - deviance).exp() * (trials / (2.0 * PI * hits * misses)).sqrt()
}

/// `P(X ≥ k)` for X ~ Bin(n, p).
pub fn at_least(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        1.0
    } else if k > n {
        0.0
    } else if k as f64 > n as f64 * p {
        upper_sum(k, n, p)
    } else {
        // Below the mean the other tail is the small one: X ≤ k−1 ⇔ n−X ≥ n−k+1.
        1.0 - upper_sum(n - k + 1, n, 1.0 - p)
    }
}

/// `P(X ≤ k)` for X ~ Bin(n, p).
pub fn at_most(k: u64, n: u64, p: f64) -> f64 {
    if k >= n { 1.0 } else { at_least(n - k, n, 1.0 - p) }
}

/// `P(X ≥ k)` by adding terms upwards from a `k ≥ 1` above the mean, where they fall.
fn upper_sum(k: u64, n: u64, p: f64) -> f64 {
    let mut term = pmf(k, n, p);
    if term == 0.0 || p >= 1.0 {
        return term;
    }
    let scale = if term < SMALL { UP } else { 1.0 };
    term *= scale;
    let odds = p / (1.0 - p);
    let mut sum = term;
    for j in k..n {
        term *= (n - j) as f64 / (j + 1) as f64 * odds;
        sum += term;
        if term < sum * NEGLIGIBLE {
            break;
        }
    }
    (sum / scale).min(1.0)
}

/// `ln k! − ln(√(2πk)·(k/e)^k)`.
fn stirling_error(k: u64) -> f64 {
    let x = k as f64;
    if k < 16 {
        let factorial: f64 = (2..=k).map(|i| i as f64).product();
        return factorial.ln() - (x + 0.5) * x.ln() + x - 0.5 * (2.0 * PI).ln();
    }
    let s = 1.0 / (x * x);
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - (1.0 / 1188.0 - 691.0 / 360_360.0 * s) * s) * s) * s) * s)
        / x
}

/// `x·ln(x/mean) + mean − x`, without cancellation where `x` is close to `mean`.
fn deviance(x: f64, mean: f64) -> f64 {
    if (x - mean).abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() + mean - x;
    }
    let v = (x - mean) / (x + mean);
    let mut sum = (x - mean) * v;
    let mut power = 2.0 * x * v;
    for j in 1_u32..1_000 {
        power *= v * v;
        let next = sum + power / f64::from(2 * j + 1);
        #[expect(clippy::float_cmp, reason = "the series has converged when a term changes nothing")]
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// A run of binomial probabilities around the mode, everything left out being negligible.
#[derive(Debug, Clone)]
pub struct Window {
    first: u64,
    weights: Vec<f64>,
}

impl Window {
    /// The probabilities of Bin(n, p) that are at least `cutoff` times the largest one, and not subnormal.
    pub fn new(n: u64, p: f64, cutoff: f64) -> Self {
        if p <= 0.0 || p >= 1.0 {
            return Self { first: if p <= 0.0 { 0 } else { n }, weights: vec![1.0] };
        }
        let mode = floor_count((n + 1) as f64 * p).min(n);
        let peak = pmf(mode, n, p);
        let floor = (peak * cutoff).max(f64::MIN_POSITIVE);
        let odds = p / (1.0 - p);

        let mut weights = Vec::new();
        let mut weight = peak;
        for k in (1..=mode).rev() {
            weight *= k as f64 / (n - k + 1) as f64 / odds;
            if weight < floor {
                break;
            }
            weights.push(weight);
        }
        let first = mode - weights.len() as u64;
        weights.reverse();
        weights.push(peak);
        weight = peak;
        for k in mode..n {
            weight *= (n - k) as f64 / (k + 1) as f64 * odds;
            if weight < floor {
                break;
            }
            weights.push(weight);
        }
        Self { first, weights }
    }

    /// The least value in the window.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The greatest value in the window.
    pub fn last(&self) -> u64 {
        self.first + self.weights.len() as u64 - 1
    }

    /// Values with their probabilities, in rising order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        (self.first..).zip(self.weights.iter().copied())
    }

    /// The probability of `k`, 0 outside the window.
    pub fn probability(&self, k: u64) -> f64 {
        k.checked_sub(self.first).and_then(|i| self.weights.get(index(i))).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use statrs::distribution::{Binomial, Discrete, DiscreteCDF};

    use super::{Window, at_least, at_most, pmf};

    /// Pascal's triangle in exact integers, as far as u128 goes.
    fn choose(n: u32, k: u32) -> f64 {
        (0..k).fold(1_u128, |c, i| c * u128::from(n - i) / u128::from(i + 1)) as f64
    }

    #[test]
    fn probabilities_agree_with_exact_binomial_coefficients() {
        for n in [1_u32, 2, 7, 30, 60] {
            for p in [1e-6, 0.02, 0.3, 0.5, 0.97] {
                // Beyond that the reference's own power of p is subnormal.
                for k in (0..=n).filter(|&k| f64::powf(p, f64::from(k)) > 1e-290) {
                    // powf is rounded once, powi once per multiplication.
                    let expected = choose(n, k) * f64::powf(p, f64::from(k)) * f64::powf(1.0 - p, f64::from(n - k));
                    let found = pmf(k.into(), n.into(), p);
                    // exp carries the rounding of its exponent, so the last digits go with ln p.
                    let relative = f64::EPSILON * (100.0 + 2.0 * expected.ln().abs());
                    assert!(
                        (found - expected).abs() <= relative * expected,
                        "n={n} k={k} p={p}: {found} against {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn probabilities_at_two_hundred_thousand_tasks_sum_to_one() {
        for p in [1e-5, 0.02, 0.05, 0.5, 0.999] {
            let window = Window::new(200_000, p, 0.0);
            let total: f64 = window.iter().map(|(_, w)| w).sum();
            assert!((total - 1.0).abs() < 1e-12, "p={p}: {total}");
            let (k, w) = window.iter().last().unwrap();
            assert!((pmf(k, 200_000, p) / w - 1.0).abs() < 1e-9, "the ends agree with single terms");
            assert!(k == window.last() && (window.probability(k) - w).abs() <= 0.0 && window.probability(k + 1) <= 0.0);
        }
    }

    #[test]
    fn a_tail_near_the_end_of_the_range_of_numbers_is_its_terms_and_takes_no_step_for_every_task() {
        let (k, n, p) = (2_250, u64::MAX / 2, 1e-16);
        let first = pmf(k, n, p);
        assert!(first > 0.0 && first < 1e-290, "{first:e}");
        // Of terms in a falling ratio, the first by one less the ratio, a little less.
        let ratio = (n - k) as f64 / (k + 1) as f64 * p;
        let found = at_least(k, n, p) / first;
        assert!(found > 1.0 + ratio / 2.0 && found < 1.0 / (1.0 - ratio), "{found}");
    }

    #[test]
    fn points_of_certainty_are_exact() {
        let certain = [
            pmf(0, 5, 0.0),
            pmf(5, 5, 1.0),
            at_least(0, 5, 0.0),
            at_least(5, 5, 1.0),
            at_most(5, 5, 1.0),
            at_most(0, 5, 0.0),
        ];
        assert!(certain.iter().all(|&p| p >= 1.0), "{certain:?}");
        let impossible = [
            pmf(1, 5, 0.0),
            pmf(4, 5, 1.0),
            pmf(6, 5, 0.5),
            at_least(1, 5, 0.0),
            at_least(6, 5, 1.0),
            at_most(4, 5, 1.0),
        ];
        assert!(impossible.iter().all(|&p| p == 0.0), "{impossible:?}");
    }

    proptest! {
        #[test]
        fn tails_agree_with_the_incomplete_beta_where_that_is_accurate(n in 1_u64..2_000, share in 0.0..1.0_f64, p in 0.001..0.999_f64) {
            let k = super::floor_count(share * n as f64);
            let reference = Binomial::new(p, n).unwrap();
            prop_assert!((at_most(k, n, p) - reference.cdf(k)).abs() < 1e-11);
            prop_assert!((at_least(k + 1, n, p) - reference.sf(k)).abs() < 1e-11);
            prop_assert!((pmf(k, n, p) - reference.pmf(k)).abs() < 1e-11);
            prop_assert!((at_most(k, n, p) + at_least(k + 1, n, p) - 1.0).abs() < 1e-13);
        }

        #[test]
        fn a_tail_is_the_sum_of_its_terms(n in 1_u64..400, k in 0_u64..400, p in 0.001..0.999_f64) {
            let expected: f64 = (k..=n).rev().map(|j| pmf(j, n, p)).sum();
            prop_assert!((at_least(k, n, p) - expected).abs() <= 1e-12);
        }
    }
}
