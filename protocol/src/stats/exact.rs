//! The exact unconditional guard: the largest probability, over every discordance the null hypothesis allows, of a score
//! at least as large as the one seen (Hsueh, Liu & Chen 2001, Biometrics 57:478). Its level is guaranteed, where the
//! score test alone certifies too easily between n = 133 and 148 without any discordant pair.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::binomial::Window;
use super::boundary::Boundary;
use super::conditional::tail_probability;
use super::margin::Margin;
use super::score::statistic_at_lower;
use super::table::PairedCounts;

/// Discordant totals less likely than this, relative to the most likely one, are left out: at least ±11 sd.
const CUTOFF: f64 = 1e-30;

/// Uniform grid over the nuisance parameter, both ends included.
const UNIFORM_POINTS: u32 = 401;

/// Halvings of the distance to its lower end, where the probability turns fastest; two grid points each.
const HALVINGS: u32 = 24;

/// Local maxima of the grid that are refined.
const REFINED: usize = 3;

/// What the gate adds to the exact p for the finite search over the nuisance parameter.
pub const SEARCH_ALLOWANCE: f64 = 1e-6;

/// A maximum over the nuisance parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Supremum {
    /// The largest probability found.
    pub p: f64,
    /// The loss rate P(raw right, compressed wrong) at which it is attained; the gain rate is δ less.
    pub loss_rate: f64,
}

/// P(rejection) when the true difference is exactly −δ and the loss rate is `δ ≤ loss_rate ≤ (1+δ)/2`.
pub fn rejection_at_margin(boundary: &Boundary, margin: Margin, loss_rate: f64) -> f64 {
    let gain_rate = (loss_rate - margin.value()).max(0.0);
    let discordance = (loss_rate + gain_rate).min(1.0);
    let window = Window::new(boundary.n(), discordance, CUTOFF);
    tail_probability(&window, gain_rate / discordance, |m| boundary.raw(m)).min(1.0)
}

/// The supremum over the nuisance parameter of the probability of a region that was traced for all `m`, at a discordance
/// of at most `discordance` (1 for all of H0). It is attained at Δ = −δ; the search is a grid, then golden sections in its
/// best brackets.
pub fn supremum(boundary: &Boundary, margin: Margin, discordance: f64) -> Supremum {
    let least = margin.value();
    let range = (discordance.clamp(least, 1.0) - least) / 2.0;
    let mut grid: Vec<f64> =
        (0..UNIFORM_POINTS).map(|i| least + range * f64::from(i) / f64::from(UNIFORM_POINTS - 1)).collect();
    let near = (9..9 + HALVINGS).map(|i| range * 0.5_f64.powi(i.cast_signed()));
    grid.extend(near.flat_map(|step| [least + step, least + 1.5 * step]));
    grid.sort_by(f64::total_cmp);

    let p: Vec<f64> = grid.iter().map(|&q| rejection_at_margin(boundary, margin, q)).collect();
    let mut peaks: Vec<usize> = (0..grid.len())
        .filter(|&i| (i == 0 || p[i] >= p[i - 1]) && (i + 1 == grid.len() || p[i] >= p[i + 1]))
        .collect();
    peaks.sort_by(|&a, &b| p[b].total_cmp(&p[a]).then(a.cmp(&b)));
    peaks
        .iter()
        .take(REFINED)
        .map(|&i| {
            let bracket = (grid[i.saturating_sub(1)], grid[(i + 1).min(grid.len() - 1)]);
            let refined = golden_section(bracket, |q| rejection_at_margin(boundary, margin, q));
            if refined.p > p[i] { refined } else { Supremum { p: p[i], loss_rate: grid[i] } }
        })
        .reduce(|best, next| if next.p > best.p { next } else { best })
        .unwrap_or(Supremum { p: 1.0, loss_rate: least })
}

/// The largest value seen by a golden-section search.
fn golden_section((mut low, mut high): (f64, f64), f: impl Fn(f64) -> f64) -> Supremum {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let mut left = high - ratio * (high - low);
    let mut right = low + ratio * (high - low);
    let (mut at_left, mut at_right) = (f(left), f(right));
    // The bracket shrinks below 1e-8 of its width, where a smooth maximum is flat to 1e-16.
    for _ in 0..40 {
        if at_left >= at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = high - ratio * (high - low);
            at_left = f(left);
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = low + ratio * (high - low);
            at_right = f(right);
        }
    }
    if at_left >= at_right {
        Supremum { p: at_left, loss_rate: left }
    } else {
        Supremum { p: at_right, loss_rate: right }
    }
}

/// The exact p-value of H0: Δ ≤ −δ, ordering tables by the score statistic.
pub fn exact_test(counts: PairedCounts, margin: Margin) -> Supremum {
    exact_tail(counts.n(), margin, statistic_at_lower(counts, margin), 1.0)
}

/// The supremum of P(T(−δ) ≥ `threshold`) with `n` tasks, at a discordance of at most `discordance`.
pub(crate) fn exact_tail(n: u64, margin: Margin, threshold: f64, discordance: f64) -> Supremum {
    supremum(&Boundary::of_score(n, margin, threshold, 0, n), margin, discordance)
}

/// Exact p-values already computed, by tasks, gains, losses and margin. Shared between threads.
#[derive(Debug, Default)]
pub struct ExactCache {
    known: Mutex<BTreeMap<(PairedCounts, Margin), f64>>,
}

impl ExactCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// The exact p of [`exact_test`]. Two threads that miss at once both compute the same value.
    pub fn p(&self, counts: PairedCounts, margin: Margin) -> f64 {
        let key = (counts, margin);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        known.unwrap_or_else(|| {
            let p = exact_test(counts, margin).p;
            self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, p);
            p
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{ExactCache, exact_test};
    use crate::stats::{Margin, PairedCounts};

    #[test]
    fn without_discordant_pairs_the_exact_p_exceeds_the_chance_of_silence() {
        // At the lower end of the nuisance range all discordance is loss: P(no loss) = (1−δ)^n.
        let margin: Margin = "0.02".parse().unwrap();
        for n in [1, 50, 149, 1_000] {
            let p = exact_test(PairedCounts::new(n, 0, 0).unwrap(), margin).p;
            let silence = 0.98_f64.powf(n as f64);
            assert!(p >= silence * (1.0 - 1e-12), "n={n}: {p} below {silence}");
        }
    }

    #[test]
    fn a_cached_value_is_the_computed_one_for_each_margin_and_table() {
        let cache = ExactCache::new();
        for margin in ["0.02", "0.05"].map(|text| text.parse::<Margin>().unwrap()) {
            for (gain, loss) in [(0, 5), (5, 0), (0, 5)] {
                let counts = PairedCounts::new(200, gain, loss).unwrap();
                assert!((cache.p(counts, margin) - exact_test(counts, margin).p).abs() <= 0.0);
            }
        }
        assert_eq!(cache.known.lock().unwrap().len(), 4);
    }
}
