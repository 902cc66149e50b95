//! Auditing a report that published its margins only: the worst p over every table compatible with them.

use serde::{Deserialize, Serialize};

use super::error::StatsError;
use super::margin::Margin;
use super::score::p_lower;
use super::table::{MAX_TASKS, PairedCounts};

/// The least favourable table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WorstCase {
    /// Largest score p of H0: Δ ≤ −δ over all tables with these margins.
    pub p_lower: f64,
    /// Losses of the table that attains it.
    pub loss: u64,
    /// Its gains.
    pub gain: u64,
}

/// Maximises the score p over the losses, from `max(0, raw − arm)` to `min(raw, n − arm)`.
///
/// # Errors
/// No task, too many, or more right answers than tasks.
pub fn worst_case_p(raw_right: u64, arm_right: u64, n: u64, margin: Margin) -> Result<WorstCase, StatsError> {
    if n == 0 {
        return Err(StatsError::NoTasks);
    }
    if n > MAX_TASKS {
        return Err(StatsError::TooManyTasks { found: n.into(), limit: MAX_TASKS });
    }
    if let Some(right) = [raw_right, arm_right].into_iter().find(|&right| right > n) {
        return Err(StatsError::TooManyRight { n, right });
    }
    let least = raw_right.saturating_sub(arm_right);
    let most = raw_right.min(n - arm_right);
    let at = |loss: u64| {
        let gain = arm_right + loss - raw_right;
        WorstCase { p_lower: p_lower(PairedCounts::trusted(n, gain, loss), margin), loss, gain }
    };
    let worst = (least..=most).map(at).reduce(|worst, next| if next.p_lower > worst.p_lower { next } else { worst });
    // The range holds at least `least`: raw − arm ≤ raw, and raw ≤ n.
    worst.ok_or(StatsError::NoTasks)
}

#[cfg(test)]
mod tests {
    use super::worst_case_p;
    use crate::stats::score::p_lower;
    use crate::stats::{Margin, PairedTable, StatsError};

    fn margin() -> Margin {
        "0.02".parse().unwrap()
    }

    #[test]
    fn the_published_reference_margins_bound_their_p_as_stated() {
        // Right answers under raw and under the arm, from published percentages, and the bounds computed for them elsewhere.
        let cases =
            [(944, 952, 1_000, 0.0036), (912, 921, 1_000, 0.0129), (944, 954, 1_000, 0.0018), (628, 627, 630, 0.0012)];
        for (raw, arm, n, expected) in cases {
            let worst = worst_case_p(raw, arm, n, margin()).unwrap();
            assert!((worst.p_lower - expected).abs() < 5e-5, "{raw}/{arm}: {worst:?}");
        }
        assert!((worst_case_p(912, 954, 1_000, margin()).unwrap().p_lower - 9e-8).abs() < 1e-8);
        assert!(worst_case_p(944, 998, 1_000, margin()).unwrap().p_lower <= 5e-10);
    }

    #[test]
    fn no_table_with_the_margins_is_worse() {
        let (n, raw, arm) = (60, 50, 47);
        let worst = worst_case_p(raw, arm, n, margin()).unwrap();
        let mut seen = 0;
        for both in 0..=n {
            let cells = [raw.checked_sub(both), arm.checked_sub(both), (n + both).checked_sub(raw + arm)];
            let [Some(loss), Some(gain), Some(neither)] = cells else { continue };
            let table = PairedTable::new(both, loss, gain, neither).unwrap();
            assert!(p_lower(table.counts(), margin()) <= worst.p_lower);
            seen += 1;
        }
        assert_eq!(seen, 11);
    }

    #[test]
    fn impossible_margins_are_refused() {
        assert_eq!(worst_case_p(5, 11, 10, margin()), Err(StatsError::TooManyRight { n: 10, right: 11 }));
        assert_eq!(worst_case_p(0, 0, 0, margin()), Err(StatsError::NoTasks));
        assert!(worst_case_p(10, 10, 10, margin()).is_ok() && worst_case_p(0, 10, 10, margin()).is_ok());
    }
}
