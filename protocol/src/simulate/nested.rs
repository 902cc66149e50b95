//! Correlated outcomes by urns: the nested Dirichlet model without a single special function.
//!
//! The chances of loss, gain and nothing in a frame are Dirichlet around those of its tool, and those of a tool Dirichlet
//! around the overall ones. Integrating the chances out leaves Pólya's urn (Blackwell & `MacQueen` 1973, Ann Stat 1:353):
//! the next task of a frame repeats a uniformly chosen earlier one with probability `iρ/(1 − ρ + iρ)`, else it is drawn
//! for the tool, where the same holds among the tool's own draws. Two tasks of one frame (given the tool), and two draws
//! of one tool, then have correlation ρ. Only integers are compared.

use rand_chacha::{ChaCha8Rng, rand_core::RngCore as _};

use super::Layout;
use crate::rng::index;

/// A task's deviation from the ideal outcome under one pass.
pub(super) type Code = u8;
/// As the ideal.
pub(super) const SAME: Code = 0;
/// The right tool, wrong arguments.
pub(super) const LOSS_ARGUMENTS: Code = 1;
/// The wrong tool.
pub(super) const LOSS_BOTH: Code = 2;
/// Right, where the ideal has wrong arguments.
pub(super) const GAIN_ARGUMENTS: Code = 3;
/// Right, where the ideal has the wrong tool.
pub(super) const GAIN_BOTH: Code = 4;
/// Flag: no outcome.
pub(super) const MISSING: Code = 8;

/// The share `p` of all 2⁶⁴ words: `word < threshold(p)` has probability p. Only `+ − × ÷` made p, so the threshold is
/// the same on every machine.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate, and p is a share"
)]
pub(super) fn threshold(p: f64) -> u64 {
    (p * 18_446_744_073_709_551_616.0) as u64
}

/// How one pass of an arm is drawn.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// Cumulative thresholds of the codes 1 to 4.
    codes: [u64; 4],
    /// By number of earlier tasks of the frame: the chance of repeating one of them.
    in_frame: Vec<u64>,
    /// By number of earlier draws of the tool.
    in_tool: Vec<u64>,
    missing: u64,
}

impl Source {
    /// A pass that loses and gains at these rates, a share of them in the tool.
    pub(super) fn new(
        layout: &Layout,
        (loss, gain): (f64, f64),
        selection_share: f64,
        (rho_frame, rho_tool): (f64, f64),
        missing: f64,
    ) -> Self {
        let repeats = |rho: f64, size: u64| {
            let chance = |i: u64| i as f64 * rho / (1.0 - rho + i as f64 * rho);
            if rho > 0.0 {
                (0..size).map(|i| threshold(if i == 0 { 0.0 } else { chance(i) })).collect()
            } else {
                Vec::new()
            }
        };
        let mut sum = 0.0;
        let codes = [
            loss * (1.0 - selection_share),
            loss * selection_share,
            gain * (1.0 - selection_share),
            gain * selection_share,
        ]
        .map(|share| {
            sum += share;
            threshold(sum)
        });
        Self {
            codes,
            in_frame: repeats(rho_frame, layout.tasks_per_frame.into()),
            in_tool: repeats(rho_tool, layout.tasks_per_tool()),
            missing: threshold(missing),
        }
    }

    /// Draws a pass over all tasks, in the order tool, frame, task.
    pub(super) fn draw(&self, layout: &Layout, rng: &mut ChaCha8Rng, fresh: &mut Vec<Code>, out: &mut Vec<Code>) {
        out.clear();
        for _ in 0..layout.tools {
            fresh.clear();
            for _ in 0..layout.frames_per_tool {
                let start = out.len();
                for _ in 0..layout.tasks_per_frame {
                    let code = if let Some(code) = repeated(&self.in_frame, &out[start..], rng) {
                        code
                    } else {
                        let code = repeated(&self.in_tool, fresh, rng).unwrap_or_else(|| self.code(rng.next_u64()));
                        fresh.push(code);
                        code
                    };
                    out.push(code);
                }
            }
        }
        if self.missing > 0 {
            for code in out {
                *code |= if rng.next_u64() < self.missing { MISSING } else { 0 };
            }
        }
    }

    fn code(&self, word: u64) -> Code {
        // Most words are beyond the last threshold.
        if word >= self.codes[3] {
            return SAME;
        }
        let place = self.codes.iter().filter(|&&threshold| word >= threshold).count();
        [LOSS_ARGUMENTS, LOSS_BOTH, GAIN_ARGUMENTS, GAIN_BOTH][place]
    }
}

/// One of the earlier draws, with the chance that their number has.
fn repeated(chances: &[u64], earlier: &[Code], rng: &mut ChaCha8Rng) -> Option<Code> {
    let chance = chances.get(earlier.len()).copied().unwrap_or(0);
    if chance == 0 || rng.next_u64() >= chance {
        return None;
    }
    let place = usize::try_from(index(rng, earlier.len() as u64)).unwrap_or(0);
    earlier.get(place).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    const LAYOUT: Layout =
        Layout { tools: 40, frames_per_tool: 5, tasks_per_frame: 3, abstain_tasks: 0, damage_tasks: 10 };

    fn draws(rho: (f64, f64), trials: u64) -> Vec<Vec<Code>> {
        let source = Source::new(&LAYOUT, (0.06, 0.04), 0.25, rho, 0.0);
        let mut fresh = Vec::new();
        (0..trials)
            .map(|trial| {
                let mut out = Vec::new();
                source.draw(&LAYOUT, &mut stream([5; 32], trial), &mut fresh, &mut out);
                out
            })
            .collect()
    }

    /// Correlation of losses among pairs of tasks this far apart, whose first task has this place in its frame or tool.
    fn correlation(draws: &[Vec<Code>], first: usize, second: usize, group: usize) -> f64 {
        let lost = |code: Code| f64::from(u8::from(matches!(code, LOSS_ARGUMENTS | LOSS_BOTH)));
        let (mut both, mut one, mut pairs) = (0.0, 0.0, 0.0);
        for chunk in draws.iter().flat_map(|draw| draw.chunks(group)) {
            both += lost(chunk[first]) * lost(chunk[second]);
            one += lost(chunk[first]) + lost(chunk[second]);
            pairs += 1.0;
        }
        let mean = one / (2.0 * pairs);
        (both / pairs - mean * mean) / (mean * (1.0 - mean))
    }

    #[test]
    fn marginal_rates_do_not_depend_on_correlation() {
        for rho in [(0.0, 0.0), (0.5, 0.0), (0.3, 0.1)] {
            let all = draws(rho, 1_500);
            let total = (all.len() * all[0].len()) as f64;
            let share = |code: Code| all.iter().flatten().filter(|&&c| c == code).count() as f64 / total;
            // 900,000 correlated tasks: four standard errors at the largest design effect are below 0.0022.
            let expected = [(LOSS_ARGUMENTS, 0.045), (LOSS_BOTH, 0.015), (GAIN_ARGUMENTS, 0.03), (GAIN_BOTH, 0.01)];
            for (code, rate) in expected {
                assert!((share(code) - rate).abs() < 0.0022, "{rho:?} code {code}: {}", share(code));
            }
        }
    }

    #[test]
    fn tasks_of_a_frame_and_of_a_tool_have_the_asked_correlation() {
        let all = draws((0.5, 0.1), 3_000);
        let (frame, tool, none) = (3, 15, usize::try_from(LAYOUT.tasks_per_tool()).unwrap());
        // Within a frame: ρ_tool + (1 − ρ_tool)·ρ_frame.
        for places in [(0, 1), (0, 2), (1, 2)] {
            let seen = correlation(&all, places.0, places.1, frame);
            assert!((seen - 0.55).abs() < 0.02, "{places:?}: {seen}");
        }
        let across = correlation(&all, 0, 14, tool);
        assert!((across - 0.1).abs() < 0.02, "{across}");
        let between = correlation(&all, 0, none, 2 * none);
        assert!(between.abs() < 0.02, "{between}");
    }

    #[test]
    fn a_correlation_of_one_makes_frames_stand_or_fall_together() {
        for draw in draws((1.0, 0.0), 20) {
            assert!(draw.chunks(3).all(|frame| frame.iter().all(|&code| code == frame[0])));
        }
    }

    #[test]
    fn a_threshold_covers_its_share_of_words() {
        assert_eq!(threshold(0.5), 1 << 63);
        assert_eq!((threshold(0.0), threshold(1.0)), (0, u64::MAX));
    }
}
