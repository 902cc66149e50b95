//! Which mistake the model makes in an episode. Drawn per episode, so that a retry does not heal it.

use super::Scene;
use crate::{behaviour::Behaviour, noise::LossTarget};

/// Arms that `degraded` spares: the references and raw seen again.
const REFERENCES: [&str; 3] = ["raw", "raw-again", "results-raw"];

impl Scene<'_> {
    /// The mistake in the choice of a call, where one is made.
    pub(super) fn call_mistake(&self) -> Option<LossTarget> {
        let rates = self.dice.noise.rates;
        if self.errs("wrong-tool", rates.wrong_tool_ppm) || self.degraded() {
            return Some(LossTarget::Selection);
        }
        if self.errs("wrong-arguments", rates.wrong_arguments_ppm) {
            return Some(LossTarget::Arguments);
        }
        self.dice.planted()
    }

    /// Whether a tool is called although none fits.
    pub(super) fn calls_anyway(&self) -> bool {
        self.errs("abstain-call", self.dice.noise.rates.abstain_call_ppm)
    }

    /// Whether a result is misread.
    pub(super) fn misreads(&self) -> bool {
        self.errs("misread", self.dice.noise.rates.misread_result_ppm)
            || self.degraded()
            || self.dice.planted().is_some()
    }

    /// Whether a digest is answered from as it is.
    pub(super) fn skips_expand(&self) -> bool {
        match self.behaviour {
            Behaviour::NeverFetches | Behaviour::AlwaysInvokes => true,
            behaviour => {
                behaviour.errs() && self.dice.in_episode("skips-expand", self.dice.noise.rates.skips_expand_ppm)
            }
        }
    }

    fn errs(&self, purpose: &str, ppm: u32) -> bool {
        match self.behaviour {
            Behaviour::Noisy | Behaviour::Degraded => self.dice.shared_by_task(purpose, ppm),
            Behaviour::Clustered => self.dice.shared_by_frame(purpose, ppm),
            _ => false,
        }
    }

    fn degraded(&self) -> bool {
        self.behaviour == Behaviour::Degraded
            && !REFERENCES.contains(&self.dice.draw.arm)
            && self.dice.in_episode("degraded", self.dice.noise.degraded_ppm)
    }
}
