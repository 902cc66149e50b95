//! Sums over all paired tables of one size, one discordant total at a time.
//!
//! Given `m` discordant pairs the gains are binomial, so the probability of a region with a [`Boundary`] is
//! `Σ_m BinPmf(m; n, ψ)·P(Bin(m, share) ≥ need(m))`. Exact guard, power, size and bootstrap are all this sum.
//!
//! [`Boundary`]: super::boundary::Boundary

use super::binomial::{Window, at_least, pmf};

/// Terms this small are left to the exact anchor instead of the recurrence, which can't climb out of underflow.
const TINY: f64 = 1e-280;

/// The tail is summed anew once subtractions have shrunk it by this factor, so that it keeps about 12 digits.
const SHRUNK: f64 = 1e-3;

/// `P(Bin(m, share) ≥ need)`, carried from one `m` to the next at the price of a division.
struct Carried {
    m: u64,
    need: u64,
    share: f64,
    tail: f64,
    /// `P(Bin(m, share) = need)`.
    edge: f64,
    /// The largest tail since the last anchor.
    largest: f64,
}

impl Carried {
    fn anchor(m: u64, need: u64, share: f64) -> Self {
        let tail = at_least(need, m, share);
        Self { m, need, share, tail, edge: pmf(need, m, share), largest: tail }
    }

    /// One more discordant pair, with a need that normally stays or rises by one.
    fn advance(&mut self, need: u64) {
        let m = self.m + 1;
        let miss = 1.0 - self.share;
        let inside = self.need >= 1 && self.need <= self.m && self.edge > TINY;
        if need == 0 || need > m {
            let tail = if need == 0 { 1.0 } else { 0.0 };
            *self = Self { m, need, share: self.share, tail, edge: 0.0, largest: tail };
            return;
        } else if inside && need == self.need {
            // Bin(m+1) ≥ need: either it held before, or there was one too few and the new pair is a gain.
            let factor = self.edge * miss / (m - need) as f64;
            self.tail += factor * need as f64;
            self.edge = factor * m as f64;
        } else if inside && need == self.need + 1 {
            // Bin(m+1) ≥ need+1: it held before, less those just at the edge whose new pair is a loss.
            self.tail -= self.edge * miss;
            self.edge *= m as f64 / need as f64 * self.share;
        } else {
            *self = Self::anchor(m, need, self.share);
            return;
        }
        self.m = m;
        self.need = need;
        self.largest = self.largest.max(self.tail);
        if self.tail < self.largest * SHRUNK {
            *self = Self::anchor(m, need, self.share);
        }
    }
}

/// `Σ_m P(M = m)·P(Bin(m, share) ≥ need(m))` over the window of M, where `share` is the gains' share of discordant pairs
/// in [0, 1], and `need(m) > m` means never.
pub(crate) fn tail_probability(window: &Window, share: f64, need: impl Fn(u64) -> u64) -> f64 {
    let first = window.first();
    let mut carried = Carried::anchor(first, need(first), share);
    let mut sum = 0.0;
    for (m, weight) in window.iter() {
        if m > first {
            carried.advance(need(m));
        }
        sum += weight * carried.tail;
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Window, at_least, tail_probability};
    use crate::stats::number::ceil_count;

    proptest! {
        /// The recurrence against a fresh tail at every m, for needs that stay, rise, jump and vanish.
        #[test]
        fn carried_tails_equal_fresh_ones(
            n in 1_u64..400,
            discordance in 0.0..=1.0_f64,
            share in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64],
            slope in 0.0..1.2_f64,
            start in -30.0..30.0_f64,
            jump in 0_u64..3,
        ) {
            let need = |m: u64| {
                let line = start + slope * m as f64;
                if line <= 0.0 { 0 } else { (ceil_count(line) + if m.is_multiple_of(17) { jump } else { 0 }).min(m + 1) }
            };
            let window = Window::new(n, discordance, 0.0);
            let expected: f64 = window.iter().map(|(m, w)| w * at_least(need(m), m, share)).sum();
            let found = tail_probability(&window, share, need);
            prop_assert!((found - expected).abs() <= 1e-9 * expected + 1e-300, "{found:e} against {expected:e}");
        }
    }
}
