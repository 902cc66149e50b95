//! The edge of a rejection region: for each number of discordant pairs the least gain that rejects.

use super::margin::Margin;
use super::number::index;
use super::score::statistic_at_lower;
use super::table::PairedCounts;

/// Statistics closer than this count as tied.
const TIE: f64 = 1e-12;

/// Least gains for a run of discordant totals `m`. A region must grow with gain at fixed `m`, as every gate's does.
#[derive(Debug, Clone)]
pub struct Boundary {
    n: u64,
    first: u64,
    least_gain: Vec<u64>,
}

impl Boundary {
    /// Traces the edge of a `region` for `m` in `from..=to`, `to ≤ n`.
    ///
    /// One more discordant pair moves the least gain by 0 or 1, so after the first `m` a step costs about two calls; a
    /// region that moved otherwise would still be traced correctly.
    pub fn trace(n: u64, from: u64, to: u64, region: impl Fn(PairedCounts) -> bool) -> Self {
        let rejects = |gain: u64, m: u64| region(PairedCounts::trusted(n, gain, m - gain));
        let (mut failing, mut least) = (0, from + 1);
        while failing < least {
            let middle = failing + (least - failing) / 2;
            if rejects(middle, from) {
                least = middle;
            } else {
                failing = middle + 1;
            }
        }
        let mut least_gain = Vec::with_capacity(index(to.saturating_sub(from)) + 1);
        least_gain.push(least);
        for m in from + 1..=to {
            while least <= m && !rejects(least, m) {
                least += 1;
            }
            while least > 0 && rejects(least - 1, m) {
                least -= 1;
            }
            least_gain.push(least);
        }
        Self { n, first: from, least_gain }
    }

    /// The edge of T(−δ) ≥ `threshold`, ties included.
    pub fn of_score(n: u64, margin: Margin, threshold: f64, from: u64, to: u64) -> Self {
        Self::trace(n, from, to, |counts| statistic_at_lower(counts, margin) >= threshold - TIE)
    }

    /// Number of tasks.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The least gain that rejects with `m` discordant pairs; none where even `m` gains don't, or outside the traced run.
    pub fn least_gain(&self, m: u64) -> Option<u64> {
        Some(self.raw(m)).filter(|&gain| gain <= m)
    }

    /// Whether the region holds a table with these gains and losses.
    pub fn rejects(&self, gain: u64, loss: u64) -> bool {
        self.least_gain(gain + loss).is_some_and(|least| gain >= least)
    }

    /// As [`Boundary::least_gain`], with `m + 1` for none.
    pub(crate) fn raw(&self, m: u64) -> u64 {
        m.checked_sub(self.first).and_then(|i| self.least_gain.get(index(i))).copied().unwrap_or(m + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Boundary;
    use crate::stats::score::statistic_at_lower;
    use crate::stats::{Margin, PairedCounts};

    #[test]
    fn the_traced_edge_is_the_edge_of_every_row() {
        let margin: Margin = "0.03".parse().unwrap();
        for n in [1, 40, 300] {
            for threshold in [-1.5, 0.0, 1.644_853_626_951_472_2, 4.0] {
                let boundary = Boundary::of_score(n, margin, threshold, 0, n);
                for m in 0..=n {
                    let by_scan = (0..=m).find(|&gain| {
                        statistic_at_lower(PairedCounts::new(n, gain, m - gain).unwrap(), margin) >= threshold - 1e-12
                    });
                    assert_eq!(boundary.least_gain(m), by_scan, "n={n} m={m} threshold={threshold}");
                }
            }
        }
    }

    #[test]
    fn nothing_rejects_outside_the_traced_run() {
        let boundary = Boundary::of_score(100, "0.05".parse().unwrap(), 1.0, 10, 20);
        assert!(boundary.rejects(10, 0) && !boundary.rejects(9, 0) && !boundary.rejects(21, 0));
        assert_eq!(boundary.n(), 100);
    }
}
