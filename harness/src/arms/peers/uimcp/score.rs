//! Priority of a tool: `2·tier + recency + context`, and what is left of it when a part is taken away.

use std::collections::BTreeMap;

use super::super::ranking::among;

/// Turns after which recency has fallen to 1/e.
const TAU: f64 = 8.0;
/// Tier of tools that are neither always there nor archived.
const SUMMONED: f64 = 0.5;
/// Weight of the tier.
const TIER_WEIGHT: f64 = 2.0;
/// Priority from which a tool is injected without being asked for.
const THRESHOLD: f64 = 1.20;

/// What of the priority is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ablation {
    /// All of it.
    Whole,
    /// Without recency.
    NoRecency,
    /// The tier alone.
    TierOnly,
    /// Nearness alone, without a threshold: always the first K.
    PureTopK,
}

impl Ablation {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Whole, Self::NoRecency, Self::TierOnly, Self::PureTopK];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::NoRecency => "no recency",
            Self::TierOnly => "tier only",
            Self::PureTopK => "pure top-K",
        }
    }
}

/// What scoring looks at beside the text: the turn, and when each tool was used last.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    turn: u32,
    last_use: BTreeMap<usize, u32>,
}

impl Scores {
    /// The next turn.
    pub fn advance(&mut self) {
        self.turn += 1;
    }

    /// A tool was used in this turn.
    pub fn used(&mut self, at: usize) {
        self.last_use.insert(at, self.turn);
    }

    /// exp(−turns since the last use / τ); 0 where a tool was never used.
    pub fn recency(&self, at: usize) -> f64 {
        self.last_use.get(&at).map_or(0.0, |&last| (-f64::from(self.turn - last) / TAU).exp())
    }

    /// The summoned tools to inject, given every tool's context: those above the threshold, the first `k` by priority.
    pub fn inject(
        &self,
        context: &[f64],
        summoned: impl Iterator<Item = usize>,
        k: usize,
        ablation: Ablation,
    ) -> Vec<usize> {
        let (recency, near) = match ablation {
            Ablation::Whole => (1.0, 1.0),
            Ablation::NoRecency | Ablation::PureTopK => (0.0, 1.0),
            Ablation::TierOnly => (0.0, 0.0),
        };
        let priority: Vec<f64> = context
            .iter()
            .enumerate()
            .map(|(at, context)| TIER_WEIGHT * SUMMONED + recency * self.recency(at) + near * context)
            .collect();
        // The tier alone is the same for all: nothing would be above the threshold.
        let threshold = if matches!(ablation, Ablation::Whole | Ablation::NoRecency) { THRESHOLD } else { 0.0 };
        among(&priority, summoned.filter(|&at| priority[at] >= threshold), k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "the published table, digit by digit")]
    fn recency_falls_as_printed() {
        let mut scores = Scores::default();
        scores.used(0);
        let after = |turns: u32| {
            let mut later = scores.clone();
            (0..turns).for_each(|_| later.advance());
            (later.recency(0) * 100.0).round() / 100.0
        };
        assert_eq!([after(0), after(1), after(16)], [1.0, 0.88, 0.14]);
        assert!(scores.recency(1).abs() < f64::EPSILON);
    }

    #[test]
    fn the_threshold_holds_back_what_is_far_and_unused() {
        let mut scores = Scores::default();
        scores.used(2);
        scores.advance();
        let context = [0.25, 0.15, 0.0, 0.9];
        let inject = |ablation| scores.inject(&context, 0..3, 2, ablation);
        assert_eq!(inject(Ablation::Whole), [2, 0]);
        assert_eq!(inject(Ablation::NoRecency), [0]);
        assert_eq!(inject(Ablation::TierOnly), [0, 1]);
        assert_eq!(inject(Ablation::PureTopK), [0, 1]);
    }
}
