//! The rule over simulated counts, with everything that does not depend on them computed beforehand.

use super::{
    Layout,
    pairs::{EndpointPairs, Pairs},
};
use crate::{
    stats::{
        GateRule, PairedCounts,
        distribution::student_sf,
        gates::Gate,
        level::DEAD_BAND,
        mcnemar::{harm_p, mcnemar},
        region::GateRegion,
        score::statistic_at_lower,
    },
    verdict::{Rule, evidence::shows_damage},
};

/// The rule for one layout.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    rule: Rule,
    layout: Layout,
    region: GateRegion,
    /// Least deflated statistic that passes, with frames and with tools as clusters.
    frame_critical: f64,
    tool_critical: f64,
    /// By gains of a tool: the fewest losses at which the harm guard fires.
    harm: Vec<u64>,
}

impl Decision {
    /// Takes about half a second at n = 1,900, nearly all of it for the region of G1.
    pub(super) fn new(rule: &Rule, layout: &Layout) -> Self {
        let gates = rule.gates;
        Self {
            rule: *rule,
            layout: *layout,
            region: GateRegion::new(layout.n(), gates.margin, gates.alpha),
            frame_critical: critical(&gates, layout.frames()),
            tool_critical: critical(&gates, layout.tools.into()),
            harm: harm_table(rule, layout),
        }
    }

    pub(super) fn rule(&self) -> &Rule {
        &self.rule
    }

    fn counts(&self, pairs: &EndpointPairs) -> PairedCounts {
        PairedCounts::trusted(self.layout.n(), pairs.gain, pairs.loss)
    }

    /// G1, G2 and G3.
    pub(super) fn gates(&self, pairs: &EndpointPairs) -> bool {
        Gate::ALL.into_iter().all(|gate| match gate {
            Gate::G1 => self.region.passes_g1(pairs.gain, pairs.loss),
            Gate::G2 => self.region.passes_g2(pairs.gain, pairs.loss),
            Gate::G3 => {
                let floor = self.rule.gates.frame_floor;
                self.deflated(pairs, pairs.frame_squares, self.layout.frames(), floor) >= self.frame_critical
            }
        })
    }

    /// G1 to G3 on both endpoints.
    pub(super) fn gates_on_both(&self, pairs: &Pairs) -> bool {
        self.gates(&pairs.arguments) && self.gates(&pairs.selection)
    }

    /// S1.
    pub(super) fn tool_clusters(&self, pairs: &EndpointPairs) -> bool {
        let floor = self.rule.gates.tool_floor;
        self.layout.tools > 1
            && self.deflated(pairs, pairs.tool_squares(), self.layout.tools.into(), floor) >= self.tool_critical
    }

    /// The score statistic over the root of the design effect, as [`crate::stats::clusters::cluster_test`] has it for
    /// `clusters` of equal size with this sum of squared net gains.
    fn deflated(&self, pairs: &EndpointPairs, squares: u64, clusters: u64, floor: f64) -> f64 {
        let counts = self.counts(pairs);
        let (n, net) = (i128::from(counts.n()), i128::from(counts.net()));
        let size = n / i128::from(clusters);
        let spread = n * i128::from(counts.discordant()) - net * net;
        // Σ (n·D − size·net)² over clusters of one size.
        let between = n * (n * i128::from(squares) - size * net * net);
        let (k, spread, between, n) = (clusters as f64, spread as f64, between as f64, n as f64);
        let deff = if spread == 0.0 { 1.0 } else { k / (k - 1.0) * between / (n * spread) };
        statistic_at_lower(counts, self.rule.margin()) / deff.max(floor).sqrt()
    }

    /// Damage is shown on an endpoint.
    pub(super) fn damage(&self, pairs: &EndpointPairs) -> bool {
        // A net gain never shows damage; the common case costs nothing.
        pairs.loss > pairs.gain && shows_damage(self.counts(pairs), self.rule.margin(), self.rule.alpha())
    }

    /// Damage is shown by the control that must show it.
    pub(super) fn damage_on_first_calls(&self, loss: u64) -> bool {
        let tasks = u64::from(self.layout.damage_tasks);
        shows_damage(PairedCounts::trusted(tasks, 0, loss), self.rule.margin(), self.rule.alpha())
    }

    /// The harm guard fires for at least one tool. Holm rejects something exactly where its first step does.
    pub(super) fn harm(&self, pairs: &EndpointPairs) -> bool {
        pairs
            .tools
            .iter()
            .any(|&(gain, loss)| self.harm.get(gain as usize).is_some_and(|&least| u64::from(loss) >= least))
    }

    /// The abstain guard fires.
    pub(super) fn abstain(&self, gain: u64, loss: u64) -> bool {
        loss > gain && harm_p(gain, loss) <= self.rule.alpha().value() + DEAD_BAND
    }

    /// The two passes differ on an endpoint, worst and best reading of missing outcomes alike.
    pub(super) fn differ(&self, gain: u64, loss: u64) -> bool {
        mcnemar(gain, loss).two_sided < self.rule.noise_alpha + DEAD_BAND
    }

    /// Gross losses beyond those that the second pass was seen to have stay within the margin.
    pub(super) fn losses_within_margin(&self, level: &EndpointPairs, again: &EndpointPairs) -> bool {
        let beyond = i128::from(level.loss) - i128::from(again.observed_loss);
        let margin = self.rule.margin();
        beyond * i128::from(margin.den()) <= i128::from(margin.num()) * i128::from(self.layout.n())
    }

    /// Raw reaches the floor.
    pub(super) fn reaches_floor(&self, right: u64) -> bool {
        let floor = self.rule.assay_floor;
        let wrong = self.layout.n() - right;
        u128::from(wrong) * u128::from(floor.den())
            <= u128::from(floor.den() - floor.num()) * u128::from(self.layout.n())
    }
}

/// The least t that certifies with clusters − 1 degrees of freedom, found by halving down to neighbouring floats.
fn critical(gates: &GateRule, clusters: u64) -> f64 {
    if clusters < 2 {
        return f64::INFINITY;
    }
    let passes = |t: f64| gates.alpha.certifies(student_sf(t, clusters - 1));
    let (mut outside, mut inside) = (0.0, 1.0);
    while !passes(inside) {
        outside = inside;
        inside *= 2.0;
    }
    loop {
        let middle = f64::midpoint(outside, inside);
        if middle <= outside || middle >= inside {
            return inside;
        }
        if passes(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
}

fn harm_table(rule: &Rule, layout: &Layout) -> Vec<u64> {
    let size = layout.tasks_per_tool();
    let (tests, alpha) = (f64::from(layout.tools), rule.alpha().value());
    let fires = |gain: u64, loss: u64| (harm_p(gain, loss) * tests).min(1.0) <= alpha + DEAD_BAND;
    (0..=size).map(|gain| (gain..=size).find(|&loss| fires(gain, loss)).unwrap_or(u64::MAX)).collect()
}
