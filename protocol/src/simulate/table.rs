//! The rows that a lock, a certificate and a reader are given.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::{Claim, Layout, Scenario, SimulateError, Simulator, Spread, Truths, run::Options};
use crate::{
    spec::Protocol,
    stats::{Alpha, Margin, power::sup_size},
};

/// Where the truth lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum At {
    /// The level's true difference is −δ; the levels before it are harmless. The rate is the rule's size.
    Margin,
    /// All levels are harmless. The rate is power.
    Null,
}

/// One rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The scenario.
    pub scenario: String,
    /// Whose error rate.
    pub claim: Claim,
    /// Where the truth lies.
    pub at: At,
    /// The level.
    pub level: String,
    /// Discordance that was simulated.
    pub discordance: f64,
    /// Chance of being certified (`tools`: certified and tool-robust).
    pub rate: f64,
    /// Its Monte-Carlo standard error.
    pub se: f64,
    /// At the margin: whether the rate is at most α + 3 SE, the SE of a rate of α.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<bool>,
    /// Why it can't be, where that is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
}

/// What a run will say if all levels have one true difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outlook {
    /// The scenario.
    pub scenario: String,
    /// True difference of every level.
    pub difference: f64,
    /// Correlation within tools.
    pub rho_tool: f64,
    /// Gates on selection alone, on arguments alone, on both, for the first level.
    pub endpoints: [Spread; 3],
    /// By level: certified.
    pub certified: Vec<Spread>,
    /// By level: certified and tool-robust.
    pub tool_robust: Vec<Spread>,
    /// The last level is certified, and all before it.
    pub chain: Spread,
    /// By level: chosen by the default rule, a replication run included.
    pub default: Vec<Spread>,
    /// The default rule leaves the fallback, unearned.
    pub default_none: Spread,
    /// No verdict on anything.
    pub no_verdict: Spread,
}

/// The whole table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulationTable {
    /// Digest of the protocol.
    pub protocol: String,
    /// Sizes.
    pub layout: Layout,
    /// Margin.
    pub margin: Margin,
    /// One-sided level.
    pub alpha: f64,
    /// Seed text.
    pub seed: String,
    /// Trials per rate.
    pub replicates: u64,
    /// Size of the score test at n over all discordances up to a half, exact.
    pub sup_size: f64,
    /// Assumptions, by scenario.
    pub scenarios: Vec<Scenario>,
    /// Size and power.
    pub rows: Vec<Row>,
}

impl SimulationTable {
    /// Simulates scenarios under a protocol.
    ///
    /// # Errors
    /// A scenario that contradicts itself.
    pub fn new(
        protocol: &Protocol,
        simulator: &Simulator,
        scenarios: Vec<Scenario>,
        seed: &str,
        replicates: u64,
        threads: NonZeroUsize,
    ) -> Result<Self, SimulateError> {
        let (margin, alpha) = (protocol.test.margin, Alpha::new(protocol.test.alpha.value())?);
        let levels = &protocol.arms.levels;
        let mut rows = Vec::new();
        for scenario in &scenarios {
            let options = Options { replicates, threads, replicated: false, selection_share: None };
            let truths = Truths(vec![0.0; levels.len()]);
            let rates = simulator.rates(scenario, &truths, &format!("{}/null", scenario.name), &options)?;
            for (place, level) in levels.iter().enumerate() {
                let counts = [(Claim::Frames, rates.certified[place]), (Claim::Tools, rates.tool_robust[place])];
                for (claim, count) in counts {
                    let Spread { rate, se } = rates.spread(count);
                    rows.push(Row {
                        scenario: scenario.name.clone(),
                        claim,
                        at: At::Null,
                        level: level.clone(),
                        discordance: scenario.discordance_at(0.0),
                        rate,
                        se,
                        within: None,
                        caveat: None,
                    });
                }
            }
            rows.extend(Self::sizes(simulator, scenario, levels, margin, alpha, &options)?);
        }
        Ok(Self {
            protocol: protocol.digest()?.as_str().to_owned(),
            layout: *simulator.layout(),
            margin,
            alpha: alpha.value(),
            seed: seed.to_owned(),
            replicates,
            sup_size: sup_size(simulator.layout().n(), margin, alpha, 0.5).p,
            scenarios,
            rows,
        })
    }

    /// The size of every level: its own truth at the margin, the levels before it harmless.
    fn sizes(
        simulator: &Simulator,
        scenario: &Scenario,
        levels: &[String],
        margin: Margin,
        alpha: Alpha,
        options: &Options,
    ) -> Result<Vec<Row>, SimulateError> {
        let mut rows = Vec::new();
        let allowed = alpha.value() + 3.0 * (alpha.value() * (1.0 - alpha.value()) / options.replicates as f64).sqrt();
        for (place, level) in levels.iter().enumerate() {
            let mut truths = vec![0.0; place];
            truths.push(-margin.value());
            let label = format!("{}/margin/{level}", scenario.name);
            // The selection endpoint must not come to the aid of the arguments.
            let options = Options { selection_share: Some(0.0), ..*options };
            let rates = simulator.rates(scenario, &Truths(truths), &label, &options)?;
            let counts = [(Claim::Frames, rates.certified[place]), (Claim::Tools, rates.tool_robust[place])];
            for (claim, count) in counts {
                let Spread { rate, se } = rates.spread(count);
                rows.push(Row {
                    scenario: scenario.name.clone(),
                    claim,
                    at: At::Margin,
                    level: level.clone(),
                    discordance: scenario.discordance_at(-margin.value()),
                    rate,
                    se,
                    within: Some(rate <= allowed),
                    caveat: scenario.caveat(claim, margin.value()).map(str::to_owned),
                });
            }
        }
        Ok(rows)
    }

    /// Rows at the margin that are not within α + 3 SE although nothing was known to forbid it.
    pub fn unexpected(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.within == Some(false) && row.caveat.is_none())
    }
}

/// The outlook of one scenario at one true difference of all `levels`.
///
/// # Errors
/// A scenario that contradicts itself.
pub fn outlook(
    simulator: &Simulator,
    scenario: &Scenario,
    levels: usize,
    difference: f64,
    replicates: u64,
    threads: NonZeroUsize,
) -> Result<Outlook, SimulateError> {
    let options = Options { replicates, threads, replicated: true, selection_share: None };
    let label = format!("{}/outlook/{difference}", scenario.name);
    let rates = simulator.rates(scenario, &Truths(vec![difference; levels]), &label, &options)?;
    let spreads = |counts: &[u64]| counts.iter().map(|&count| rates.spread(count)).collect::<Vec<_>>();
    let chosen: u64 = rates.default.iter().sum();
    let last = rates.certified.last().copied().unwrap_or(0);
    Ok(Outlook {
        scenario: scenario.name.clone(),
        difference,
        rho_tool: scenario.rho_tool,
        endpoints: rates.endpoints.first().copied().unwrap_or_default().map(|count| rates.spread(count)),
        certified: spreads(&rates.certified),
        tool_robust: spreads(&rates.tool_robust),
        chain: rates.spread(last),
        default: spreads(&rates.default),
        default_none: rates.spread(rates.replicates - chosen),
        no_verdict: rates.spread(rates.no_verdict),
    })
}
