//! What a pass counts against raw.

use super::{
    Layout,
    nested::{Code, GAIN_ARGUMENTS, GAIN_BOTH, LOSS_ARGUMENTS, LOSS_BOTH, MISSING, SAME},
};
use crate::verdict::Imputation;

/// State of a task under a pass: 0 wrong tool, 1 right tool with wrong arguments, 2 right.
pub(super) type State = u8;

/// One endpoint of a pass against raw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct EndpointPairs {
    /// Tasks that only the arm got right.
    pub(super) gain: u64,
    /// Tasks that only raw got right.
    pub(super) loss: u64,
    /// Those among them whose both outcomes are there.
    pub(super) observed_loss: u64,
    /// Sum over frames of the squared net gain.
    pub(super) frame_squares: u64,
    /// Gains and losses by tool.
    pub(super) tools: Vec<(u32, u32)>,
}

/// Both endpoints of a pass against raw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Pairs {
    /// The right tool.
    pub(super) selection: EndpointPairs,
    /// The right tool with right arguments.
    pub(super) arguments: EndpointPairs,
    /// Pairs that lack an outcome.
    pub(super) missing: u64,
}

/// What both passes deviate from: whoever deviates tells.
fn ideal(raw: Code, arm: Code, drawn: State) -> State {
    let told = if raw & !MISSING == SAME { arm } else { raw };
    match told & !MISSING {
        LOSS_ARGUMENTS | LOSS_BOTH => 2,
        GAIN_ARGUMENTS => 1,
        GAIN_BOTH => 0,
        _ => drawn,
    }
}

/// A deviation that the ideal outcome leaves no room for is none: a wrong answer can't be lost.
fn apply(ideal: State, code: Code) -> State {
    match (code & !MISSING, ideal) {
        (LOSS_ARGUMENTS, 2) => 1,
        (LOSS_BOTH, 2) => 0,
        (GAIN_ARGUMENTS | GAIN_BOTH, _) => 2,
        _ => ideal,
    }
}

/// The state of raw alone.
pub(super) fn alone(code: Code, drawn: State) -> State {
    apply(ideal(code, SAME, drawn), code)
}

/// States of raw and arm; none stands for a missing outcome.
pub(super) fn states(raw: Code, arm: Code, drawn: State) -> (Option<State>, Option<State>) {
    let ideal = ideal(raw, arm, drawn);
    let state = |code: Code| (code & MISSING == 0).then(|| apply(ideal, code));
    (state(raw), state(arm))
}

/// States after imputation.
fn imputed(raw: Code, arm: Code, drawn: State, imputation: Imputation) -> (State, State) {
    let (stands_for_raw, stands_for_arm) = if imputation == Imputation::BestCase { (0, 2) } else { (2, 0) };
    let (raw, arm) = states(raw, arm, drawn);
    (raw.unwrap_or(stands_for_raw), arm.unwrap_or(stands_for_arm))
}

impl Pairs {
    /// Counts a pass against raw; `drawn` holds the ideal state of tasks on which neither deviates. Missing outcomes count
    /// in the worst or in the best case.
    pub(super) fn count(
        &mut self,
        layout: &Layout,
        raw: &[Code],
        arm: &[Code],
        drawn: &[State],
        imputation: Imputation,
    ) {
        self.selection.clear(layout);
        self.arguments.clear(layout);
        self.missing = 0;
        let per_frame = layout.tasks_per_frame as usize;
        let frames = raw.chunks(per_frame).zip(arm.chunks(per_frame)).zip(drawn.chunks(per_frame));
        for (place, ((raw, arm), drawn)) in frames.enumerate() {
            if raw.iter().chain(arm).all(|&code| code == SAME) {
                continue;
            }
            let tool = place / layout.frames_per_tool as usize;
            let (mut net_selection, mut net_arguments) = (0_i64, 0_i64);
            for ((&raw, &arm), &drawn) in raw.iter().zip(arm).zip(drawn) {
                if (raw | arm) == SAME {
                    continue;
                }
                let lacks = (raw | arm) & MISSING != 0;
                self.missing += u64::from(lacks);
                let (x, y) = imputed(raw, arm, drawn, imputation);
                net_selection += self.selection.pair(x >= 1, y >= 1, lacks, tool);
                net_arguments += self.arguments.pair(x == 2, y == 2, lacks, tool);
            }
            self.selection.frame_squares += (net_selection * net_selection).unsigned_abs();
            self.arguments.frame_squares += (net_arguments * net_arguments).unsigned_abs();
        }
    }
}

impl EndpointPairs {
    fn clear(&mut self, layout: &Layout) {
        (self.gain, self.loss, self.observed_loss, self.frame_squares) = (0, 0, 0, 0);
        self.tools.clear();
        self.tools.resize(layout.tools as usize, (0, 0));
    }

    /// Counts one pair, which may lack an outcome; its net gain.
    fn pair(&mut self, raw: bool, arm: bool, lacks: bool, tool: usize) -> i64 {
        match (raw, arm) {
            (true, false) => {
                self.loss += 1;
                self.observed_loss += u64::from(!lacks);
                self.tools[tool].1 += 1;
                -1
            }
            (false, true) => {
                self.gain += 1;
                self.tools[tool].0 += 1;
                1
            }
            _ => 0,
        }
    }

    /// Sum over tools of the squared net gain.
    pub(super) fn tool_squares(&self) -> u64 {
        self.tools
            .iter()
            .map(|&(gain, loss)| {
                let net = i64::from(gain) - i64::from(loss);
                (net * net).unsigned_abs()
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout =
        Layout { tools: 2, frames_per_tool: 2, tasks_per_frame: 2, abstain_tasks: 0, damage_tasks: 1 };

    fn counted(raw: [Code; 8], arm: [Code; 8], imputation: Imputation) -> Pairs {
        let mut pairs = Pairs::default();
        pairs.count(&LAYOUT, &raw, &arm, &[2; 8], imputation);
        pairs
    }

    #[test]
    fn a_loss_of_arguments_leaves_the_selection_alone() {
        let arm = [LOSS_ARGUMENTS, LOSS_BOTH, 0, 0, 0, GAIN_ARGUMENTS, 0, GAIN_BOTH];
        let pairs = counted([0; 8], arm, Imputation::WorstCase);
        assert_eq!((pairs.arguments.loss, pairs.arguments.gain), (2, 2));
        assert_eq!((pairs.selection.loss, pairs.selection.gain), (1, 1));
        assert_eq!(pairs.arguments.tools, [(0, 2), (2, 0)]);
        assert_eq!((pairs.arguments.frame_squares, pairs.arguments.tool_squares()), (4 + 1 + 1, 4 + 4));
    }

    #[test]
    fn what_both_passes_lose_or_gain_is_no_discordance() {
        let codes = [LOSS_ARGUMENTS, LOSS_BOTH, GAIN_ARGUMENTS, GAIN_BOTH, 0, 0, 0, 0];
        let pairs = counted(codes, codes, Imputation::WorstCase);
        assert_eq!((pairs.arguments.loss, pairs.arguments.gain, pairs.selection.loss), (0, 0, 0));
    }

    #[test]
    fn when_raw_flips_alone_the_level_gains_or_loses() {
        let raw = [LOSS_ARGUMENTS, GAIN_BOTH, 0, 0, 0, 0, 0, 0];
        let pairs = counted(raw, [0; 8], Imputation::WorstCase);
        assert_eq!((pairs.arguments.gain, pairs.arguments.loss), (1, 1));
        assert_eq!((pairs.selection.gain, pairs.selection.loss), (0, 1));
    }

    #[test]
    fn missing_outcomes_count_against_the_arm_in_the_worst_case_and_for_it_in_the_best() {
        let (raw, arm) = ([0, MISSING, 0, 0, 0, 0, 0, 0], [MISSING, LOSS_BOTH, 0, 0, 0, 0, 0, 0]);
        let worst = counted(raw, arm, Imputation::WorstCase);
        assert_eq!((worst.arguments.loss, worst.arguments.gain, worst.missing), (2, 0, 2));
        assert_eq!(worst.arguments.observed_loss, 0);
        let best = counted(raw, arm, Imputation::BestCase);
        assert_eq!((best.arguments.loss, best.arguments.gain), (0, 0));
    }
}
