//! How many tasks, from which frames, in what order.

use serde::{Deserialize, Serialize};

use crate::{error::TasksError, intent::Frame};

/// Which frames a plan draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameSet {
    /// Those that are scored.
    Scored,
    /// Those reserved for pilots and warm-up.
    Dev,
}

impl FrameSet {
    pub(super) fn takes(self, frame: &Frame) -> bool {
        frame.dev == (self == Self::Dev)
    }
}

/// How many tasks to make, and from what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Tasks with a right call.
    pub tool_tasks: u64,
    /// Tasks without one, spread evenly among the others.
    pub abstain_tasks: u64,
    /// Frames taken of each tool, the first ones in file order.
    pub frames_per_tool: usize,
    /// Abstain frames taken.
    pub abstain_frames: usize,
    /// Scored or dev frames.
    pub frames: FrameSet,
    /// Take what frames there are where a tool has fewer, or none. Never in a confirmatory run.
    pub allow_incomplete: bool,
}

impl Plan {
    /// Whether task `index` is an abstain task, and its number among its kind. Abstain tasks are spread as evenly as
    /// whole numbers allow (Bresenham, 1965), so that every prefix has its share to within one.
    pub(super) fn spread(&self, index: u64) -> Option<(bool, u64)> {
        let total = u128::from(self.tool_tasks) + u128::from(self.abstain_tasks);
        if u128::from(index) >= total {
            return None;
        }
        let before = |index: u64| u128::from(index) * u128::from(self.abstain_tasks) / total;
        // A share of `index` is at most `index`.
        #[expect(clippy::cast_possible_truncation, reason = "at most a u64")]
        let abstain = before(index) as u64;
        let is_abstain = before(index + 1) > before(index);
        Some((is_abstain, if is_abstain { abstain } else { index - abstain }))
    }

    pub(super) fn require(&self, have: usize, need: usize, tool: impl FnOnce() -> String) -> Result<(), TasksError> {
        if have < need && !self.allow_incomplete {
            Err(TasksError::TooFewFrames { tool: tool(), have, need, dev: self.frames == FrameSet::Dev })
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(tool_tasks: u64, abstain_tasks: u64) -> Plan {
        Plan {
            tool_tasks,
            abstain_tasks,
            frames_per_tool: 1,
            abstain_frames: 1,
            frames: FrameSet::Scored,
            allow_incomplete: false,
        }
    }

    proptest! {
        #[test]
        fn the_spread_numbers_both_kinds_without_gaps_and_evenly(tool in 0u64..300, abstain in 0u64..300) {
            let plan = plan(tool, abstain);
            let mut next = [0, 0];
            for index in 0..tool + abstain {
                let (is_abstain, at) = plan.spread(index).unwrap();
                prop_assert_eq!(at, next[usize::from(is_abstain)]);
                next[usize::from(is_abstain)] += 1;
                let share = (index + 1) as f64 * abstain as f64 / (tool + abstain) as f64;
                prop_assert!((next[1] as f64 - share).abs() < 1.0);
            }
            prop_assert_eq!(next, [tool, abstain]);
            prop_assert!(plan.spread(tool + abstain).is_none());
        }
    }

    #[test]
    fn the_spread_does_not_overflow() {
        let plan = plan(u64::MAX - 10, 10);
        assert_eq!(plan.spread(u64::MAX - 1), Some((true, 9)));
    }
}
