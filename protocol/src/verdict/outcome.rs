//! Paired outcomes with missing ones among them, and what stands in for a missing outcome.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::stats::{PairedCounts, PairedTable, StatsError};

/// The outcome of one task under one arm on one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Right.
    Right,
    /// Wrong, whoever of model and arm is to blame.
    Wrong,
    /// No outcome: provider or harness failed.
    Missing,
}

/// What stands in for missing outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Imputation {
    /// Arm missing = wrong, reference missing = right. The primary analysis; the least favourable for a claim of no loss.
    WorstCase,
    /// Arm missing = right, reference missing = wrong. The least favourable for a control that must show damage.
    BestCase,
    /// Missing = wrong on both sides. Pulls the difference towards zero, hence a sensitivity only.
    BothWrong,
    /// Pairs that lack an outcome are left out.
    CompletePairs,
}

impl Imputation {
    /// What a missing outcome of the reference, then of the arm, counts as; none where the pair is left out.
    fn stand_ins(self) -> Option<(Mark, Mark)> {
        match self {
            Self::WorstCase => Some((Mark::Right, Mark::Wrong)),
            Self::BestCase => Some((Mark::Wrong, Mark::Right)),
            Self::BothWrong => Some((Mark::Wrong, Mark::Wrong)),
            Self::CompletePairs => None,
        }
    }
}

impl fmt::Display for Imputation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WorstCase => "worst-case",
            Self::BestCase => "best-case",
            Self::BothWrong => "both-wrong",
            Self::CompletePairs => "complete-pairs",
        })
    }
}

const MARKS: [Mark; 3] = [Mark::Right, Mark::Wrong, Mark::Missing];

/// Counts of pairs by outcome under the reference (rows) and the arm (columns): right, wrong, missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct PairCells([[u64; 3]; 3]);

impl PairCells {
    /// Counts one pair.
    pub fn count(&mut self, reference: Mark, arm: Mark) {
        self.count_many(reference, arm, 1);
    }

    /// Counts several equal pairs.
    pub fn count_many(&mut self, reference: Mark, arm: Mark, pairs: u64) {
        self.0[reference as usize][arm as usize] += pairs;
    }

    /// Pairs with these outcomes.
    pub fn of(&self, reference: Mark, arm: Mark) -> u64 {
        self.0[reference as usize][arm as usize]
    }

    /// Adds another group of pairs.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *mine += theirs;
        }
    }

    /// All pairs.
    pub fn n(&self) -> u64 {
        self.0.iter().flatten().sum()
    }

    /// Pairs in which the reference has no outcome.
    pub fn reference_missing(&self) -> u64 {
        MARKS.into_iter().map(|arm| self.of(Mark::Missing, arm)).sum()
    }

    /// Pairs in which the arm has no outcome.
    pub fn arm_missing(&self) -> u64 {
        MARKS.into_iter().map(|reference| self.of(reference, Mark::Missing)).sum()
    }

    /// Pairs that lack an outcome on at least one side.
    pub fn missing(&self) -> u64 {
        self.reference_missing() + self.arm_missing() - self.of(Mark::Missing, Mark::Missing)
    }

    /// The cells both right, loss, gain, both wrong under an imputation.
    fn filled(&self, imputation: Imputation) -> [u64; 4] {
        let mut cells = [0; 4];
        for reference in MARKS {
            for arm in MARKS {
                let (mut left, mut right) = (reference, arm);
                if left == Mark::Missing || right == Mark::Missing {
                    let Some((for_reference, for_arm)) = imputation.stand_ins() else { continue };
                    left = if left == Mark::Missing { for_reference } else { left };
                    right = if right == Mark::Missing { for_arm } else { right };
                }
                let cell = 2 * usize::from(left != Mark::Right) + usize::from(right != Mark::Right);
                cells[cell] += self.of(reference, arm);
            }
        }
        cells
    }

    /// The 2×2 table under an imputation.
    ///
    /// # Errors
    /// No pair is left, or there are more than a table may hold.
    pub fn table(&self, imputation: Imputation) -> Result<PairedTable, StatsError> {
        let [both, loss, gain, neither] = self.filled(imputation);
        PairedTable::new(both, loss, gain, neither)
    }

    /// The discordant counts under an imputation; none where no pair is left.
    pub fn counts(&self, imputation: Imputation) -> Option<PairedCounts> {
        self.table(imputation).ok().map(PairedTable::counts)
    }

    /// Moves up to `pairs` of the arm's missing outcomes to an outcome; returns how many could not be moved.
    #[must_use]
    pub(crate) fn resolve_arm(&mut self, to: Mark, pairs: u64) -> u64 {
        let mut left = pairs;
        for row in &mut self.0 {
            let moved = left.min(row[Mark::Missing as usize]);
            row[Mark::Missing as usize] -= moved;
            row[to as usize] += moved;
            left -= moved;
        }
        left
    }
}

impl FromIterator<(Mark, Mark)> for PairCells {
    fn from_iter<I: IntoIterator<Item = (Mark, Mark)>>(pairs: I) -> Self {
        let mut cells = Self::default();
        for (reference, arm) in pairs {
            cells.count(reference, arm);
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(reference: Mark, arm: Mark, imputation: Imputation) -> [u64; 4] {
        PairCells::from_iter([(reference, arm)]).filled(imputation)
    }

    #[test]
    fn complete_pairs_fall_into_the_four_cells_whatever_the_imputation() {
        for imputation in
            [Imputation::WorstCase, Imputation::BestCase, Imputation::BothWrong, Imputation::CompletePairs]
        {
            assert_eq!(one(Mark::Right, Mark::Right, imputation), [1, 0, 0, 0]);
            assert_eq!(one(Mark::Right, Mark::Wrong, imputation), [0, 1, 0, 0]);
            assert_eq!(one(Mark::Wrong, Mark::Right, imputation), [0, 0, 1, 0]);
            assert_eq!(one(Mark::Wrong, Mark::Wrong, imputation), [0, 0, 0, 1]);
        }
    }

    #[test]
    fn in_the_worst_case_a_missing_arm_is_wrong_and_a_missing_reference_right() {
        assert_eq!(one(Mark::Right, Mark::Missing, Imputation::WorstCase), [0, 1, 0, 0]);
        assert_eq!(one(Mark::Missing, Mark::Wrong, Imputation::WorstCase), [0, 1, 0, 0]);
        assert_eq!(one(Mark::Missing, Mark::Missing, Imputation::WorstCase), [0, 1, 0, 0]);
        assert_eq!(one(Mark::Wrong, Mark::Missing, Imputation::WorstCase), [0, 0, 0, 1]);
        assert_eq!(one(Mark::Missing, Mark::Right, Imputation::WorstCase), [1, 0, 0, 0]);
    }

    #[test]
    fn the_best_case_is_the_worst_case_with_the_arms_exchanged() {
        for reference in MARKS {
            for arm in MARKS {
                let [both, loss, gain, neither] = one(reference, arm, Imputation::WorstCase);
                assert_eq!(one(arm, reference, Imputation::BestCase), [both, gain, loss, neither]);
            }
        }
    }

    #[test]
    fn complete_pairs_leave_out_what_is_missing() {
        let cells = PairCells::from_iter([
            (Mark::Right, Mark::Missing),
            (Mark::Missing, Mark::Right),
            (Mark::Right, Mark::Right),
        ]);
        assert_eq!(cells.filled(Imputation::CompletePairs), [1, 0, 0, 0]);
        assert_eq!((cells.n(), cells.missing(), cells.arm_missing(), cells.reference_missing()), (3, 2, 1, 1));
    }

    #[test]
    fn a_pair_missing_on_both_sides_is_counted_once() {
        let cells = PairCells::from_iter([(Mark::Missing, Mark::Missing)]);
        assert_eq!(cells.missing(), 1);
        assert!(cells.counts(Imputation::CompletePairs).is_none());
    }

    #[test]
    fn resolving_more_than_is_missing_says_how_many_are_left() {
        let mut cells = PairCells::from_iter([(Mark::Right, Mark::Missing), (Mark::Wrong, Mark::Missing)]);
        assert_eq!(cells.resolve_arm(Mark::Right, 3), 1);
        assert_eq!(
            (cells.arm_missing(), cells.of(Mark::Right, Mark::Right), cells.of(Mark::Wrong, Mark::Right)),
            (0, 1, 1)
        );
    }
}
