//! What is assumed about a model and its levels, and the grid that a protocol is judged by.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::SimulateError;
use crate::spec::Protocol;

/// Assumptions of one simulation. Rates are shares of tasks, from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name in tables.
    pub name: String,
    /// ψ of a level against raw, on arguments.
    pub discordance: f64,
    /// ψ of raw against itself: each pass' own, independent flips. At most ψ.
    pub noise: f64,
    /// Correlation of a level's outcomes within a frame, given its tool.
    pub rho_frame: f64,
    /// Correlation of a level's outcomes within a tool.
    pub rho_tool: f64,
    /// Share of a level's losses and gains that are in the tool, not in the arguments alone. At the margin it is taken
    /// as 0, so that the selection endpoint never comes to the aid of the arguments: the largest size.
    pub selection_share: f64,
    /// Share of episodes that lack an outcome.
    pub missing: f64,
    /// P(raw right) on arguments.
    pub accuracy: f64,
    /// Discordance on abstain tasks, losses and gains alike.
    pub abstain_discordance: f64,
    /// Share of tasks that `names-only` loses on the first call.
    pub damage: f64,
}

/// What a size is the size of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// `certified`: for other requests to these tools (frames are the sample).
    Frames,
    /// `certified`, tool-robust: for other tools like these (tools are the sample).
    Tools,
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Frames => "frames",
            Self::Tools => "tools",
        })
    }
}

/// The true differences of the levels, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Truths(pub Vec<f64>);

impl Scenario {
    /// A quiet default that the grid's scenarios differ from.
    pub fn named(name: &str, discordance: f64, rho_frame: f64, rho_tool: f64) -> Self {
        Self {
            name: name.to_owned(),
            discordance,
            noise: 0.0,
            rho_frame,
            rho_tool,
            selection_share: 0.5,
            missing: 0.0,
            accuracy: 0.93,
            abstain_discordance: 0.02,
            damage: 0.3,
        }
    }

    fn noisy(mut self, noise: f64) -> Self {
        self.noise = noise;
        self
    }

    fn missing(mut self, missing: f64) -> Self {
        self.missing = missing;
        self
    }

    /// What a plan is judged by: a quiet model and the planned one, without and with tool effects. `margin` is δ,
    /// `planned` and `rho_frame` are planning assumptions.
    pub fn outlooks(margin: f64, planned: f64, rho_frame: f64, rho_tool: f64) -> Vec<Self> {
        let mut all = Vec::new();
        for (name, discordance, noise) in [("quiet", margin, margin / 2.0), ("planned", planned, planned * 0.4)] {
            all.push(Self::named(name, discordance, rho_frame, 0.0).noisy(noise));
            if rho_tool > 0.0 {
                all.push(
                    Self::named(&format!("{name}-tools-{rho_tool}"), discordance, rho_frame, rho_tool).noisy(noise),
                );
            }
        }
        all
    }

    /// The outlooks of a protocol's own assumptions, tools correlated by 0.05.
    pub fn outlooks_of(protocol: &Protocol) -> Vec<Self> {
        let power = &protocol.power;
        Self::outlooks(protocol.test.margin.value(), power.discordance.value(), power.rho_frame.value(), 0.05)
    }

    /// The grid of a protocol: the corner where every discordant pair is a loss, frames that hang together, tools that
    /// differ, a noisy model, missing outcomes; the outlooks among it.
    pub fn grid_of(protocol: &Protocol) -> Vec<Self> {
        let (margin, planned) = (protocol.test.margin.value(), protocol.power.discordance.value());
        let rho_frame = protocol.power.rho_frame.value();
        let mut all = vec![
            Self::named("corner", margin, 0.0, 0.0),
            Self::named("corner-frames-0.5", margin, 0.5, 0.0),
            Self::named("corner-tools-0.05", margin, rho_frame, 0.05),
            Self::named("corner-tools-0.1", margin, rho_frame, 0.10),
        ];
        all.extend(Self::outlooks_of(protocol));
        all.extend([
            Self::named("independent", planned, 0.0, 0.0),
            Self::named("frames-0.5", planned, 0.5, 0.0),
            Self::named("frames-0.8", planned, 0.8, 0.0),
            Self::named("tools-0.02", planned, rho_frame, 0.02),
            Self::named("tools-0.05", planned, rho_frame, 0.05),
            Self::named("tools-0.1", planned, rho_frame, 0.10),
            Self::named("noisy", 2.0 * planned, rho_frame, 0.0).noisy(planned),
            Self::named("noisy-tools-0.05", 2.0 * planned, rho_frame, 0.05).noisy(planned),
            Self::named("missing", planned, rho_frame, 0.0).noisy(planned * 0.4).missing(0.001),
        ]);
        all
    }

    /// The rate at which a pass of raw loses, and that at which it gains: `r` with `4r − 6r² = noise`.
    pub(super) fn flip_rate(&self) -> f64 {
        (4.0 - (16.0 - 24.0 * self.noise).max(0.0).sqrt()) / 12.0
    }

    /// The discordance that a true difference is simulated at: the scenario's, or the least that noise and difference
    /// allow, where that is larger.
    pub fn discordance_at(&self, difference: f64) -> f64 {
        let r = self.flip_rate();
        self.discordance.max(difference.abs() * (1.0 - 3.0 * r) / (1.0 - r) + 2.0 * r)
    }

    /// Rates at which a level loses and gains by its own doing, such that its pairs with a flipping raw have the wanted
    /// discordance and difference. A level and raw deviate from the same ideal outcome, so that both losing, or both
    /// gaining, is no discordance: `P(loss) = (1−2r)·l + r·(1−g)`, `P(gain) = (1−2r)·g + r·(1−l)`.
    pub(super) fn level_rates(&self, difference: f64) -> (f64, f64) {
        let r = self.flip_rate();
        let both = (self.discordance_at(difference) - 2.0 * r) / (1.0 - 3.0 * r);
        let net = difference / (1.0 - r);
        (((both - net) / 2.0).max(0.0), f64::midpoint(both, net).max(0.0))
    }

    /// # Errors
    /// [`SimulateError::Scenario`] names the first value out of range.
    pub(super) fn check(&self, difference: f64) -> Result<(), SimulateError> {
        let refuse = |what: String| Err(SimulateError::Scenario { scenario: self.name.clone(), what });
        let shares = [
            ("discordance", self.discordance),
            ("noise", self.noise),
            ("rho_frame", self.rho_frame),
            ("rho_tool", self.rho_tool),
            ("selection_share", self.selection_share),
            ("missing", self.missing),
            ("accuracy", self.accuracy),
            ("abstain_discordance", self.abstain_discordance),
            ("damage", self.damage),
        ];
        if let Some((name, found)) = shares.into_iter().find(|(_, value)| !(0.0..=1.0).contains(value)) {
            return refuse(format!("{name} is {found}; it is a share from 0 to 1"));
        }
        if self.noise > 0.3 {
            return refuse(format!("noise is {}; passes of raw that differ on more than 0.3 are no assay", self.noise));
        }
        if self.discordance_at(difference) > 0.5 || self.discordance_at(difference).is_nan() {
            return refuse(format!(
                "difference {difference} needs discordance {}; at most 0.5 is simulated",
                self.discordance_at(difference)
            ));
        }
        Ok(())
    }

    /// Why the size of a claim can't be at most alpha here, where that is known beforehand.
    pub fn caveat(&self, claim: Claim, margin: f64) -> Option<&'static str> {
        match claim {
            Claim::Frames if self.rho_tool > 0.0 => Some(
                "tools are drawn anew here, and this claim is about these tools: frames as clusters don't see what tools share",
            ),
            Claim::Tools if self.rho_tool > 0.0 && self.discordance <= 1.25 * margin => {
                Some("nearly all discordance is loss and sits in few tools: a handful of clusters decides")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_reproduce_discordance_and_difference() {
        for noise in [0.0, 0.01, 0.02] {
            let scenario = Scenario::named("s", 0.05, 0.0, 0.0).noisy(noise);
            let r = scenario.flip_rate();
            assert!((4.0 * r - 6.0 * r * r - noise).abs() < 1e-15);
            for difference in [0.0, -0.004, -0.02, 0.01] {
                let (loss, gain) = scenario.level_rates(difference);
                let p_loss = (1.0 - 2.0 * r) * loss + r * (1.0 - gain);
                let p_gain = (1.0 - 2.0 * r) * gain + r * (1.0 - loss);
                assert!((p_loss + p_gain - 0.05).abs() < 1e-15, "{noise} {difference}");
                assert!((p_gain - p_loss - difference).abs() < 1e-15, "{noise} {difference}");
            }
        }
    }

    #[test]
    fn a_quiet_level_at_the_margin_gets_the_least_discordance_that_its_noise_allows() {
        let quiet = Scenario::named("quiet", 0.02, 0.0, 0.0).noisy(0.01);
        let (_, gain) = quiet.level_rates(-0.02);
        assert!(gain.abs() < 1e-15 && quiet.discordance_at(-0.02) > 0.02);
        assert!((quiet.discordance_at(0.0) - 0.02).abs() < 1e-15);
    }

    #[test]
    fn every_scenario_of_the_grid_has_a_name_of_its_own_and_can_be_simulated_at_the_margin() {
        let grid = Scenario::grid_of(&Protocol::built_in().unwrap());
        let names: std::collections::BTreeSet<&str> = grid.iter().map(|scenario| scenario.name.as_str()).collect();
        assert_eq!(names.len(), grid.len());
        for scenario in &grid {
            scenario.check(-0.02).unwrap();
        }
    }

    #[test]
    fn a_share_out_of_range_is_named() {
        let mut scenario = Scenario::named("mine", 0.05, 1.5, 0.0);
        assert!(scenario.check(0.0).unwrap_err().to_string().contains("rho_frame"));
        scenario.rho_frame = f64::NAN;
        assert!(scenario.check(0.0).is_err());
    }
}
