//! How long calls and starts take: the one thing here that is never the same twice.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;

/// Durations kept of each kind; a longer run is described by its first ones.
const KEPT: usize = 100_000;

/// Durations, from any number of threads.
#[derive(Debug, Default)]
pub(super) struct Timings {
    calls: Mutex<Vec<Duration>>,
    starts: Mutex<Vec<Duration>>,
}

/// Quantiles of some durations, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Quantiles {
    /// How many.
    pub n: usize,
    /// Half are no longer.
    pub p50_ms: f64,
    /// 99 of 100 are no longer.
    pub p99_ms: f64,
}

/// How long things took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Timing {
    /// From a call to its answer, through the compressor and the replay server behind it.
    pub call: Quantiles,
    /// From the start of a process to its tool list.
    pub start: Quantiles,
}

impl Timings {
    pub(super) fn call(&self, took: Duration) {
        keep(&self.calls, took);
    }

    pub(super) fn start(&self, took: Duration) {
        keep(&self.starts, took);
    }

    pub(super) fn summary(&self) -> Timing {
        Timing { call: quantiles(&self.calls), start: quantiles(&self.starts) }
    }
}

fn keep(all: &Mutex<Vec<Duration>>, one: Duration) {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    if all.len() < KEPT {
        all.push(one);
    }
}

fn quantiles(all: &Mutex<Vec<Duration>>) -> Quantiles {
    let mut sorted = all.lock().unwrap_or_else(PoisonError::into_inner).clone();
    sorted.sort_unstable();
    // The smallest value that at least this share does not exceed.
    let at = |percent: usize| {
        let rank = (sorted.len() * percent).div_ceil(100).max(1) - 1;
        sorted.get(rank).map_or(0.0, |took| took.as_secs_f64() * 1e3)
    };
    Quantiles { n: sorted.len(), p50_ms: at(50), p99_ms: at(99) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let timings = Timings::default();
        (1..=200).for_each(|n| timings.call(Duration::from_millis(n)));
        let Timing { call, start } = timings.summary();
        assert_eq!((call.n, call.p50_ms, call.p99_ms), (200, 100.0, 198.0));
        assert_eq!(start, Quantiles::default());
    }
}
