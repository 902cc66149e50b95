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
    /// Levels, in the order of testing.
    pub levels: Vec<String>,
    /// Assumptions, by scenario.
    pub scenarios: Vec<Scenario>,
    /// Size and power.
    pub rows: Vec<Row>,
    /// What a run will say, by scenario and true difference.
    pub outlooks: Vec<Outlook>,
}

/// True differences that outlooks are given for: no loss at all, and a small one.
pub const OUTLOOK_DIFFERENCES: [f64; 2] = [0.0, -0.004];

/// The table of the built-in protocol, as committed.
const BUILT_IN: &str = include_str!("../../simulations/table.json");

impl SimulationTable {
    /// The table compiled into the binary. It belongs to the built-in protocol as long as their digests agree.
    ///
    /// # Errors
    /// [`SimulateError::Table`].
    pub fn built_in() -> Result<Self, SimulateError> {
        Self::parse("table.json", BUILT_IN.as_bytes())
    }

    /// Reads what `bench simulate --json` printed; `file` stands in messages.
    ///
    /// # Errors
    /// [`SimulateError::Table`].
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, SimulateError> {
        serde_json::from_slice(bytes).map_err(|source| SimulateError::Table { file: file.to_owned(), source })
    }

    /// Simulates scenarios under a protocol. Those among them that are outlooks of the protocol get their outlook.
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
        let mut asked = Scenario::outlooks_of(protocol);
        asked.retain(|outlook| scenarios.contains(outlook));
        Ok(Self {
            protocol: protocol.digest()?.as_str().to_owned(),
            layout: *simulator.layout(),
            margin,
            alpha: alpha.value(),
            seed: seed.to_owned(),
            replicates,
            sup_size: sup_size(simulator.layout().n(), margin, alpha, 0.5).p,
            levels: levels.clone(),
            rows,
            outlooks: outlooks(simulator, &asked, levels.len(), replicates, threads)?,
            scenarios,
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

/// The outlooks of some scenarios for so many `levels`, at each of [`OUTLOOK_DIFFERENCES`].
///
/// # Errors
/// A scenario that contradicts itself.
pub fn outlooks(
    simulator: &Simulator,
    scenarios: &[Scenario],
    levels: usize,
    replicates: u64,
    threads: NonZeroUsize,
) -> Result<Vec<Outlook>, SimulateError> {
    let all = scenarios.iter().flat_map(|scenario| OUTLOOK_DIFFERENCES.map(|difference| (scenario, difference)));
    all.map(|(scenario, difference)| outlook(simulator, scenario, levels, difference, replicates, threads)).collect()
}

/// The outlook of one scenario at one true difference of all `levels`.
///
/// # Errors
/// A scenario that contradicts itself.
fn outlook(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_table_is_that_of_the_built_in_protocol_and_has_no_unexplained_excess() {
        let (protocol, table) = (Protocol::built_in().unwrap(), SimulationTable::built_in().unwrap());
        assert_eq!(table.protocol, protocol.digest().unwrap().as_str(), "write it anew: `just simulate`");
        assert_eq!(table.layout, Layout::of(&protocol).unwrap());
        assert_eq!(table.scenarios, Scenario::grid_of(&protocol));
        assert_eq!(table.unexpected().count(), 0, "{:?}", table.unexpected().collect::<Vec<_>>());
        // Four levels and two claims, without loss and at the margin; every outlook twice.
        assert_eq!(table.rows.len(), table.scenarios.len() * 4 * 2 * 2);
        assert_eq!(table.outlooks.len(), 2 * Scenario::outlooks_of(&protocol).len());
        let sup_size = sup_size(table.layout.n(), table.margin, Alpha::new(table.alpha).unwrap(), 0.5).p;
        assert!((table.sup_size - sup_size).abs() < 1e-9);
    }

    #[test]
    fn a_part_of_the_committed_table_is_reproduced_to_the_last_trial() {
        let (protocol, table) = (Protocol::built_in().unwrap(), SimulationTable::built_in().unwrap());
        let simulator = Simulator::new(&protocol, table.layout, &table.seed).unwrap();
        let scenario = table.scenarios.iter().find(|scenario| scenario.name == "corner").unwrap();
        let threads = NonZeroUsize::new(2).unwrap();
        let options = Options { replicates: table.replicates, threads, replicated: false, selection_share: Some(0.0) };
        let rates = simulator.rates(scenario, &Truths(vec![-0.02]), "corner/margin/L0", &options).unwrap();
        let committed = table.rows.iter().find(|row| row.scenario == "corner" && row.at == At::Margin).unwrap();
        assert_eq!((committed.level.as_str(), committed.claim), ("L0", Claim::Frames));
        assert!((committed.rate - rates.spread(rates.certified[0]).rate).abs() < 1e-15);
    }
}
