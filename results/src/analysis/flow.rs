//! The flow of an arm: planned, attempted, scored, missing.

/// Counts of episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flow {
    /// Planned.
    pub planned: u64,
    /// Attempted: there is an episode.
    pub attempted: u64,
    /// Scored, wrong or right.
    pub scored: u64,
    /// Without an outcome, because provider or harness failed.
    pub missing: u64,
}

impl Flow {
    /// Planned and never attempted.
    pub fn unattempted(&self) -> u64 {
        self.planned - self.attempted
    }
}
