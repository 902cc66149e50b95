//! Figures of merit of a ranking.
//!
//! A request is answered by the first right tool on its shortlist; of several right tools one is enough, so gains are
//! binary and the ideal ranking has one of them first.

use serde::Serialize;

/// Sums over requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    requests: u64,
    first: u64,
    first_five: u64,
    found: u64,
    reciprocal: f64,
    discounted: f64,
}

/// Figures over requests, each from 0 to 1; 0 without requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Metrics {
    /// Requests.
    pub requests: u64,
    /// Share with a right tool first (R@1).
    pub r1: f64,
    /// Share with a right tool among the first five (R@5).
    pub r5: f64,
    /// Share with a right tool anywhere on the shortlist.
    pub found: f64,
    /// Mean reciprocal rank of the first right tool (Voorhees 1999); 0 where it is not on the shortlist.
    pub mrr: f64,
    /// Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002), 1/log2(rank + 1) of the first right tool.
    pub ndcg: f64,
}

impl Sums {
    /// One request, by the place of its first right tool from 0; `None` where the shortlist has none.
    pub fn add(&mut self, place: Option<usize>) {
        self.requests += 1;
        let Some(place) = place else { return };
        self.found += 1;
        self.first += u64::from(place == 0);
        self.first_five += u64::from(place < 5);
        let rank = place as f64 + 1.0;
        self.reciprocal += 1.0 / rank;
        self.discounted += 1.0 / (rank + 1.0).log2();
    }

    /// The figures.
    pub fn metrics(self) -> Metrics {
        let share = |sum: f64| sum / self.requests.max(1) as f64;
        Metrics {
            requests: self.requests,
            r1: share(self.first as f64),
            r5: share(self.first_five as f64),
            found: share(self.found as f64),
            mrr: share(self.reciprocal),
            ndcg: share(self.discounted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_four_requests() {
        let mut sums = Sums::default();
        for place in [Some(0), Some(2), Some(6), None] {
            sums.add(place);
        }
        let metrics = sums.metrics();
        assert!((metrics.r1 - 0.25).abs() < 1e-12 && (metrics.r5 - 0.5).abs() < 1e-12);
        assert!((metrics.found - 0.75).abs() < 1e-12);
        assert!((metrics.mrr - (1.0 + 1.0 / 3.0 + 1.0 / 7.0) / 4.0).abs() < 1e-12);
        assert!((metrics.ndcg - (1.0 + 0.5 + 1.0 / 3.0) / 4.0).abs() < 1e-12);
    }

    #[test]
    fn without_requests_all_is_zero() {
        assert!(Sums::default().metrics().mrr.abs() < f64::EPSILON);
    }
}
