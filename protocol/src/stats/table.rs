//! Paired 2×2 tables: what happened to the same tasks under raw and under a compressed arm.

use serde::{Deserialize, Serialize};

use super::error::StatsError;

/// Most tasks a table may hold. Exact sums over all tables of one size grow faster than it: at the limit one takes about a
/// second, at ten times as many minutes. All integer arithmetic of this module is exact in `i128` well beyond.
pub const MAX_TASKS: u64 = 1_000_000;

/// The discordant part of a table, or of a cluster of it: tasks, gains, losses. Nothing else enters the score test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawCounts")]
pub struct PairedCounts {
    n: u64,
    gain: u64,
    loss: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCounts {
    n: u64,
    gain: u64,
    loss: u64,
}

impl TryFrom<RawCounts> for PairedCounts {
    type Error = StatsError;

    fn try_from(raw: RawCounts) -> Result<Self, StatsError> {
        Self::new(raw.n, raw.gain, raw.loss)
    }
}

impl PairedCounts {
    /// Checks that the counts fit together.
    ///
    /// # Errors
    /// No task, more than [`MAX_TASKS`], or more discordant pairs than tasks.
    pub fn new(n: u64, gain: u64, loss: u64) -> Result<Self, StatsError> {
        if n == 0 {
            return Err(StatsError::NoTasks);
        }
        if n > MAX_TASKS {
            return Err(StatsError::TooManyTasks { found: n.into(), limit: MAX_TASKS });
        }
        if gain.checked_add(loss).is_none_or(|discordant| discordant > n) {
            return Err(StatsError::TooManyDiscordant { n, loss, gain });
        }
        Ok(Self { n, gain, loss })
    }

    /// For counts that are valid by construction: `n ≥ 1` and `gain + loss ≤ n`.
    pub(crate) fn trusted(n: u64, gain: u64, loss: u64) -> Self {
        debug_assert!(n > 0 && gain + loss <= n);
        Self { n, gain, loss }
    }

    /// Number of tasks.
    pub fn n(self) -> u64 {
        self.n
    }

    /// Tasks that only the compressed arm got right.
    pub fn gain(self) -> u64 {
        self.gain
    }

    /// Tasks that only raw got right.
    pub fn loss(self) -> u64 {
        self.loss
    }

    /// Gains minus losses.
    pub fn net(self) -> i64 {
        self.gain.cast_signed() - self.loss.cast_signed()
    }

    /// Gains plus losses.
    pub fn discordant(self) -> u64 {
        self.gain + self.loss
    }

    /// Δ̂, the difference in accuracy, compressed minus raw.
    pub fn delta_hat(self) -> f64 {
        self.net() as f64 / self.n as f64
    }

    /// ψ̂, the share of tasks on which the arms differ.
    pub fn discordance(self) -> f64 {
        self.discordant() as f64 / self.n as f64
    }

    /// The same with the arms exchanged.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { n: self.n, gain: self.loss, loss: self.gain }
    }
}

/// A paired 2×2 table.
///
/// | | compressed right | compressed wrong |
/// |---|---|---|
/// | raw right | `both` | `loss` |
/// | raw wrong | `gain` | `neither` |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawTable")]
pub struct PairedTable {
    both: u64,
    loss: u64,
    gain: u64,
    neither: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    both: u64,
    loss: u64,
    gain: u64,
    neither: u64,
}

impl TryFrom<RawTable> for PairedTable {
    type Error = StatsError;

    fn try_from(raw: RawTable) -> Result<Self, StatsError> {
        Self::new(raw.both, raw.loss, raw.gain, raw.neither)
    }
}

impl PairedTable {
    /// A table from its four cells.
    ///
    /// # Errors
    /// No task at all, or more than [`MAX_TASKS`].
    pub fn new(both: u64, loss: u64, gain: u64, neither: u64) -> Result<Self, StatsError> {
        let n: u128 = [both, loss, gain, neither].into_iter().map(u128::from).sum();
        if n == 0 {
            return Err(StatsError::NoTasks);
        }
        if n > MAX_TASKS.into() {
            return Err(StatsError::TooManyTasks { found: n, limit: MAX_TASKS });
        }
        Ok(Self { both, loss, gain, neither })
    }

    /// Tasks right under both arms.
    pub fn both(self) -> u64 {
        self.both
    }

    /// Tasks that only raw got right.
    pub fn loss(self) -> u64 {
        self.loss
    }

    /// Tasks that only the compressed arm got right.
    pub fn gain(self) -> u64 {
        self.gain
    }

    /// Tasks wrong under both arms.
    pub fn neither(self) -> u64 {
        self.neither
    }

    /// Number of tasks.
    pub fn n(self) -> u64 {
        self.both + self.loss + self.gain + self.neither
    }

    /// Right answers under raw.
    pub fn raw_right(self) -> u64 {
        self.both + self.loss
    }

    /// Right answers under the compressed arm.
    pub fn compressed_right(self) -> u64 {
        self.both + self.gain
    }

    /// Tasks, gains and losses alone.
    pub fn counts(self) -> PairedCounts {
        PairedCounts { n: self.n(), gain: self.gain, loss: self.loss }
    }

    /// Δ̂, the difference in accuracy, compressed minus raw.
    pub fn delta_hat(self) -> f64 {
        self.counts().delta_hat()
    }

    /// ψ̂, the share of tasks on which the arms differ.
    pub fn discordance(self) -> f64 {
        self.counts().discordance()
    }

    /// The same with the arms exchanged.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { loss: self.gain, gain: self.loss, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_TASKS, PairedCounts, PairedTable};

    #[test]
    fn outcomes_are_counted_as_losses_when_only_raw_is_right() {
        let table = PairedTable::new(2, 2, 1, 1).unwrap();
        assert_eq!((table.raw_right(), table.compressed_right(), table.counts().net()), (4, 3, -1));
        assert!((table.delta_hat() + 1.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn impossible_counts_are_refused_when_built_and_when_read() {
        assert!(PairedTable::new(0, 0, 0, 0).is_err());
        assert!(PairedTable::new(u64::MAX, 1, 0, 0).is_err());
        assert!(PairedTable::new(MAX_TASKS, 1, 0, 0).is_err());
        assert!(PairedCounts::new(3, 2, 2).is_err());
        assert!(PairedCounts::new(3, u64::MAX, 2).is_err());
        assert!(PairedCounts::new(0, 0, 0).is_err());
        assert!(serde_json::from_str::<PairedTable>(r#"{"both":0,"loss":0,"gain":0,"neither":0}"#).is_err());
        assert!(serde_json::from_str::<PairedTable>(r#"{"both":1,"loss":0,"gain":0,"neither":0,"n":1}"#).is_err());
        assert!(serde_json::from_str::<PairedCounts>(r#"{"n":1,"gain":1,"loss":1}"#).is_err());
    }

    #[test]
    fn a_table_is_written_with_its_four_words() {
        let json = serde_json::to_string(&PairedTable::new(937, 7, 15, 41).unwrap()).unwrap();
        assert_eq!(json, r#"{"both":937,"loss":7,"gain":15,"neither":41}"#);
    }
}
