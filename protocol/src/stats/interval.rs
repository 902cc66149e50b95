//! A closed interval, printed as `[lower, upper]`.

use serde::{Deserialize, Serialize};

/// A two-sided interval. Its level is `1 − 2·alpha` of the one-sided level it was made with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Interval {
    /// Lower limit.
    pub lower: f64,
    /// Upper limit.
    pub upper: f64,
}

impl Interval {
    /// Whether `x` lies in it, ends included.
    pub fn contains(self, x: f64) -> bool {
        self.lower <= x && x <= self.upper
    }

    /// Upper minus lower limit.
    pub fn width(self) -> f64 {
        self.upper - self.lower
    }
}

impl From<[f64; 2]> for Interval {
    fn from([lower, upper]: [f64; 2]) -> Self {
        Self { lower, upper }
    }
}

impl From<Interval> for [f64; 2] {
    fn from(interval: Interval) -> Self {
        [interval.lower, interval.upper]
    }
}
