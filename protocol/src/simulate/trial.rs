//! One simulated run under a scenario, judged.

use rand_chacha::{ChaCha8Rng, rand_core::RngCore as _};

use super::{
    Layout, Scenario, Truths,
    decision::Decision,
    nested::{Code, MISSING, Source, threshold},
    pairs::{Pairs, State, alone},
};
use crate::verdict::{Imputation, Status};

/// The sources of a scenario: which passes a run draws.
#[derive(Debug, Clone)]
pub(super) struct Passes {
    raw: Source,
    planted: Source,
    levels: Vec<Source>,
    /// Cumulative thresholds of the ideal states 0 and 1.
    states: [u64; 2],
    abstain: [u64; 2],
    damage: u64,
    missing: u64,
    pub(super) layout: Layout,
}

/// One level of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LevelOutcome {
    pub(super) status: Status,
    pub(super) tool_robust: bool,
    /// G1 to G3 on selection, on arguments: before guards, assay and order.
    pub(super) endpoints: (bool, bool),
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunOutcome {
    pub(super) levels: Vec<LevelOutcome>,
    pub(super) sensitive: bool,
}

/// What a run draws, kept between trials so that nothing is allocated in them.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) states: Vec<State>,
    pub(super) raw: Vec<Code>,
    pub(super) again: Vec<Code>,
    pub(super) planted: Vec<Code>,
    pub(super) levels: Vec<Vec<Code>>,
    /// Gains, losses and pairs without an outcome on abstain tasks, by level, in the worst case.
    pub(super) abstain: Vec<(u64, u64, u64)>,
    /// Losses of the control that must show damage, and its pairs without an outcome.
    pub(super) damage: (u64, u64),
    fresh: Vec<Code>,
}

impl Passes {
    pub(super) fn new(scenario: &Scenario, truths: &Truths, layout: &Layout, planted_loss: f64, share: f64) -> Self {
        let flip = scenario.flip_rate();
        let independent = (0.0, 0.0);
        let clustered = (scenario.rho_frame, scenario.rho_tool);
        let source = |rates, rho| Source::new(layout, rates, share, rho, scenario.missing);
        let wrong = 1.0 - scenario.accuracy;
        Self {
            raw: source((flip, flip), independent),
            // A rejected session loses both endpoints where raw would have been right.
            planted: Source::new(
                layout,
                (flip + planted_loss * scenario.accuracy, flip),
                1.0,
                independent,
                scenario.missing,
            ),
            levels: truths.0.iter().map(|&truth| source(scenario.level_rates(truth), clustered)).collect(),
            states: [threshold(wrong * share), threshold(wrong)],
            abstain: [threshold(scenario.abstain_discordance / 2.0), threshold(scenario.abstain_discordance)],
            damage: threshold(scenario.damage),
            missing: threshold(scenario.missing),
            layout: *layout,
        }
    }

    /// Draws a run: first what is ideal, then raw, its second pass, the controls, the levels.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng, drawn: &mut Drawn) {
        let layout = &self.layout;
        drawn.states.clear();
        for _ in 0..layout.n() {
            let word = rng.next_u64();
            drawn.states.push(u8::from(word >= self.states[0]) + u8::from(word >= self.states[1]));
        }
        self.raw.draw(layout, rng, &mut drawn.fresh, &mut drawn.raw);
        self.raw.draw(layout, rng, &mut drawn.fresh, &mut drawn.again);
        self.planted.draw(layout, rng, &mut drawn.fresh, &mut drawn.planted);
        drawn.damage = (0, 0);
        for _ in 0..layout.damage_tasks {
            let lost = rng.next_u64() < self.damage;
            let missing = self.lacks(rng);
            // Missing outcomes are read in the control's favour: no damage.
            drawn.damage.0 += u64::from(lost && !missing);
            drawn.damage.1 += u64::from(missing);
        }
        drawn.levels.resize_with(self.levels.len(), Vec::new);
        drawn.abstain.clear();
        for (source, codes) in self.levels.iter().zip(&mut drawn.levels) {
            source.draw(layout, rng, &mut drawn.fresh, codes);
            let mut pairs = (0, 0, 0);
            for _ in 0..layout.abstain_tasks {
                let word = rng.next_u64();
                if self.lacks(rng) {
                    pairs.1 += 1;
                    pairs.2 += 1;
                } else {
                    pairs.0 += u64::from(word < self.abstain[0]);
                    pairs.1 += u64::from((self.abstain[0]..self.abstain[1]).contains(&word));
                }
            }
            drawn.abstain.push(pairs);
        }
    }

    /// Levels of a run.
    pub(super) fn levels(&self) -> usize {
        self.levels.len()
    }

    /// A pair of which either side lacks its outcome.
    fn lacks(&self, rng: &mut ChaCha8Rng) -> bool {
        self.missing > 0 && (rng.next_u64() < self.missing) | (rng.next_u64() < self.missing)
    }
}

/// Counts of a run, kept between trials.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) drawn: Drawn,
    again: Pairs,
    best: Pairs,
    level: Pairs,
}

/// Judges a drawn run as [`crate::verdict::evaluate`] would.
pub(super) fn judge(decision: &Decision, layout: &Layout, scratch: &mut Scratch) -> RunOutcome {
    let Scratch { drawn, again, best, level } = scratch;
    let rule = decision.rule();
    let abstain_tasks = u64::from(layout.abstain_tasks);
    again.count(layout, &drawn.raw, &drawn.again, &drawn.states, Imputation::WorstCase);
    best.count(layout, &drawn.raw, &drawn.again, &drawn.states, Imputation::BestCase);
    // An excuse is one only where neither reading of missing outcomes is certified.
    let too_noisy = !decision.gates_on_both(again) && !decision.gates_on_both(best);
    let differ = [&*again, &*best].iter().any(|pairs| {
        [&pairs.selection, &pairs.arguments].iter().any(|endpoint| decision.differ(endpoint.gain, endpoint.loss))
    });
    let mut sensitive = !rule.too_many_missing(again.missing, layout.n());
    best.count(layout, &drawn.raw, &drawn.planted, &drawn.states, Imputation::BestCase);
    sensitive &= !decision.gates_on_both(best) && !rule.too_many_missing(best.missing, layout.n());
    sensitive &= decision.damage_on_first_calls(drawn.damage.0)
        && !rule.too_many_missing(drawn.damage.1, layout.damage_tasks.into());
    let right = right(drawn);
    sensitive &= decision.reaches_floor(right.0) && decision.reaches_floor(right.1);

    let mut stopped = false;
    let mut levels = Vec::with_capacity(drawn.levels.len());
    for (codes, &(gain, loss, lacking)) in drawn.levels.iter().zip(&drawn.abstain) {
        level.count(layout, &drawn.raw, codes, &drawn.states, Imputation::WorstCase);
        let endpoints = (decision.gates(&level.selection), decision.gates(&level.arguments));
        let shown = [&level.selection, &level.arguments].iter().any(|endpoint| decision.damage(endpoint))
            || decision.harm(&level.arguments)
            || decision.abstain(gain, loss);
        let mut status = if rule.too_many_missing(level.missing + lacking, layout.n() + abstain_tasks) {
            Status::NotEvaluated
        } else if shown {
            if too_noisy { Status::Inconclusive } else { Status::Failed }
        } else if endpoints.0 && endpoints.1 && !differ {
            Status::Certified
        } else {
            Status::Inconclusive
        };
        if stopped {
            status = Status::NotTested;
        }
        stopped |= status != Status::Certified;
        if !sensitive {
            status = Status::NoVerdict;
        }
        let tool_robust = status == Status::Certified
            && [(&level.selection, &again.selection), (&level.arguments, &again.arguments)]
                .iter()
                .all(|(own, noise)| decision.tool_clusters(own) && decision.losses_within_margin(own, noise));
        levels.push(LevelOutcome { status, tool_robust, endpoints });
    }
    RunOutcome { levels, sensitive }
}

/// Raw's right answers on selection and arguments; a missing outcome is none.
pub(super) fn right(drawn: &Drawn) -> (u64, u64) {
    let mut right = (0, 0);
    for (&code, &state) in drawn.raw.iter().zip(&drawn.states) {
        if code & MISSING == 0 {
            let state = alone(code, state);
            right.0 += u64::from(state >= 1);
            right.1 += u64::from(state == 2);
        }
    }
    right
}
