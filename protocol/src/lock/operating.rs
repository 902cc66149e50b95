//! What a lock says of its own power and size: the rows of a simulation that a verdict must be read with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::simulate::{
    Claim, Outlook, SimulationTable,
    table::{At, Row},
};

/// Chances of the rule if every level has one true difference, in parts per million.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatingPoint {
    /// What is assumed beside the difference, by name: see the committed simulation.
    pub scenario: String,
    /// The assumed true difference Δ of every level, a decimal text such as `-0.004`.
    pub difference: String,
    /// Of certifying each level in the fixed sequence, by level.
    pub certify_ppm: BTreeMap<String, u64>,
    /// Of certifying the whole sequence.
    pub chain_ppm: u64,
    /// Of the default rule naming the most aggressive level.
    pub default_rule_ppm: u64,
    /// Of no verdict.
    pub no_verdict_ppm: u64,
}

/// How often the first level is certified although it truly loses the margin, in parts per million.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizePoint {
    /// What is assumed, by name.
    pub scenario: String,
    /// Whose error rate.
    pub claim: Claim,
    /// The rate.
    pub rate_ppm: u64,
    /// Its Monte-Carlo standard error.
    pub se_ppm: u64,
    /// Whether it is at most alpha plus three standard errors.
    pub within: bool,
    /// Why it can't be, where that is known beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
}

/// The power of a lock: what its sizes can and cannot show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperatingCharacteristics {
    /// How they were computed.
    pub method: String,
    /// Trials per rate.
    pub replicates: u64,
    /// Largest size of G1's score test over the nuisance parameter at the locked n, δ and α, in parts per million.
    pub sup_size_ppm: u64,
    /// Power.
    pub points: Vec<OperatingPoint>,
    /// Size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizePoint>,
}

impl OperatingCharacteristics {
    /// The rows of a simulation that a lock keeps: every outlook, and the size of the first level in every scenario. The
    /// first level's is the largest, since later ones are reached through those before.
    pub fn of(table: &SimulationTable) -> Self {
        let first = table.levels.first();
        let sizes = table.rows.iter().filter(|row| row.at == At::Margin && Some(&row.level) == first);
        Self {
            method: "simulated".to_owned(),
            replicates: table.replicates,
            sup_size_ppm: ppm(table.sup_size),
            points: table.outlooks.iter().map(|seen| point(&table.levels, seen)).collect(),
            sizes: sizes.map(size).collect(),
        }
    }
}

fn point(levels: &[String], seen: &Outlook) -> OperatingPoint {
    let certify = levels.iter().cloned().zip(seen.certified.iter().map(|spread| ppm(spread.rate)));
    OperatingPoint {
        scenario: seen.scenario.clone(),
        difference: seen.difference.to_string(),
        certify_ppm: certify.collect(),
        chain_ppm: ppm(seen.chain.rate),
        default_rule_ppm: seen.default.last().map_or(0, |spread| ppm(spread.rate)),
        no_verdict_ppm: ppm(seen.no_verdict.rate),
    }
}

fn size(row: &Row) -> SizePoint {
    SizePoint {
        scenario: row.scenario.clone(),
        claim: row.claim,
        rate_ppm: ppm(row.rate),
        se_ppm: ppm(row.se),
        within: row.within.unwrap_or(true),
        caveat: row.caveat.clone(),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of one, in parts per million")]
fn ppm(share: f64) -> u64 {
    (share * 1e6).round() as u64
}
