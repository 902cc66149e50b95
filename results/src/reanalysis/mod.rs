//! Reading somebody else's published counts by our gates: what they can and cannot support.
//!
//! Outcomes of single tasks are rarely published. What is: how many tasks each arm got right, sometimes losses and gains,
//! and how many templates the tasks were made from. Every split and every clustering that fits these is looked at through
//! its extremes; what passes in all of them is supported, what passes in some is not shown.

mod input;
mod markdown;

use std::sync::Arc;

use bench_protocol::{
    stats::{
        Alpha, ExactCache, Margin, PairedCounts, StatsError,
        bootstrap::bootstrap_p,
        clusters::cluster_test,
        gates::g1_p,
        score::{score_interval, score_test},
        worst_case::worst_case_p,
    },
    verdict::Endpoint,
};
use serde::{Deserialize, Serialize};

pub use input::{Count, CountsError, Mark, PublishedCounts, PublishedTable, Templates};
pub use markdown::markdown;

use crate::certificate::number::{decimal, p_value, significant};

/// Format of the document.
pub const SCHEMA: &str = "bench/reanalysis/1";

/// The clustered reading of a split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clustered {
    /// `spread`: dealt one by one over all templates; `lumped`: in as few whole templates as hold them.
    pub arrangement: String,
    /// Templates.
    pub clusters: u64,
    /// Design effect.
    pub deff: String,
    /// Student p of the deflated score test (G3).
    pub p: String,
    /// Whether G3 passes.
    pub pass: bool,
}

/// One split that fits what was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// `published`, `fewest`: as few discordant pairs as the margins allow, or `worst`: the largest score p.
    pub split: String,
    /// Losses.
    pub loss: u64,
    /// Gains.
    pub gain: u64,
    /// Arm minus reference.
    pub difference: String,
    /// Score interval of level 1 − 2·alpha.
    pub interval: [String; 2],
    /// G1: the larger of score p and exact p.
    pub p_g1: String,
    /// G2: exact bootstrap p.
    pub p_g2: String,
    /// Both pass: what follows if tasks are independent.
    pub independent: bool,
    /// The clustered readings; none where the number of templates is not known.
    pub clustered: Vec<Clustered>,
}

/// What a table supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Support {
    /// In every reading.
    Always,
    /// Independent tasks: in every reading; whole templates: not in every one.
    IndependentOnly,
    /// Independent tasks: in every reading; how tasks hang together is not published.
    ClustersUnknown,
    /// Not even for independent tasks in every split.
    NotShown,
}

impl Support {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Always => "shown, also if outcomes come in whole templates",
            Self::IndependentOnly => "shown if tasks are independent; not if outcomes come in whole templates",
            Self::ClustersUnknown => "shown if tasks are independent; how they hang together is not published",
            Self::NotShown => "not shown by what is published",
        }
    }
}

/// One table, read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableReading {
    /// The arm.
    pub arm: Arc<str>,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Tasks.
    pub n: u64,
    /// The readings.
    pub readings: Vec<Reading>,
    /// What follows for "not worse by the margin or more".
    pub support: Support,
}

/// The document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reanalysis {
    /// [`SCHEMA`].
    pub schema: String,
    /// Whose counts.
    pub title: String,
    /// Margin δ.
    pub margin: String,
    /// One-sided alpha.
    pub alpha: String,
    /// The tables, in their order.
    pub tables: Vec<TableReading>,
}

/// Reads published counts by the gates.
///
/// # Errors
/// Counts that are no tables, or contradict each other.
pub fn reanalyse(counts: &PublishedCounts) -> Result<Reanalysis, CountsError> {
    let (margin, alpha) = counts.rule()?;
    let exact = ExactCache::new();
    let tables = counts
        .tables
        .iter()
        .map(|table| {
            table.check()?;
            let templates = counts.templates(table)?;
            let rule = Rule { margin, alpha, exact: &exact, templates };
            rule.table(table).map_err(|source| CountsError::Stats { arm: Arc::clone(&table.arm), source })
        })
        .collect::<Result<_, _>>()?;
    Ok(Reanalysis {
        schema: SCHEMA.to_owned(),
        title: counts.title.clone(),
        margin: margin.to_string(),
        alpha: counts.alpha.clone(),
        tables,
    })
}

struct Rule<'a> {
    margin: Margin,
    alpha: Alpha,
    exact: &'a ExactCache,
    templates: Option<u64>,
}

impl Rule<'_> {
    fn table(&self, table: &PublishedTable) -> Result<TableReading, StatsError> {
        let (n, raw, arm) = (table.n.value, table.raw_right.value, table.arm_right.value);
        let readings = if let (Some(loss), Some(gain)) = (&table.loss, &table.gain) {
            vec![self.reading("published", PairedCounts::new(n, gain.value, loss.value)?)?]
        } else {
            let worst = worst_case_p(raw, arm, n, self.margin)?;
            let (loss, gain) = (raw.saturating_sub(arm), arm.saturating_sub(raw));
            vec![
                self.reading("fewest", PairedCounts::new(n, gain, loss)?)?,
                self.reading("worst", PairedCounts::new(n, worst.gain, worst.loss)?)?,
            ]
        };
        let independent = readings.iter().all(|reading| reading.independent);
        let clustered = readings.iter().flat_map(|reading| &reading.clustered).all(|reading| reading.pass);
        let support = match (independent, self.templates, clustered) {
            (false, ..) => Support::NotShown,
            (true, None, _) => Support::ClustersUnknown,
            (true, Some(_), true) => Support::Always,
            (true, Some(_), false) => Support::IndependentOnly,
        };
        Ok(TableReading { arm: Arc::clone(&table.arm), endpoint: table.endpoint, n, readings, support })
    }

    fn reading(&self, split: &str, counts: PairedCounts) -> Result<Reading, StatsError> {
        let p_g1 = g1_p(score_test(counts, self.margin).p_lower, self.exact.p(counts, self.margin));
        let p_g2 = bootstrap_p(counts, self.margin);
        let interval = score_interval(counts, self.alpha);
        let clustered = match self.templates {
            None => Vec::new(),
            Some(templates) => [("spread", spread(counts, templates)), ("lumped", lumped(counts, templates))]
                .into_iter()
                .map(|(name, clusters)| self.clustered(name, &clusters?))
                .collect::<Result<_, _>>()?,
        };
        Ok(Reading {
            split: split.to_owned(),
            loss: counts.loss(),
            gain: counts.gain(),
            difference: decimal(counts.delta_hat()),
            interval: [decimal(interval.lower), decimal(interval.upper)],
            p_g1: p_value(p_g1),
            p_g2: p_value(p_g2),
            independent: self.alpha.certifies(p_g1) && self.alpha.certifies(p_g2),
            clustered,
        })
    }

    fn clustered(&self, arrangement: &str, clusters: &[PairedCounts]) -> Result<Clustered, StatsError> {
        let test = cluster_test(clusters, self.margin, 1.0)?;
        Ok(Clustered {
            arrangement: arrangement.to_owned(),
            clusters: test.clusters,
            deff: significant(test.deff),
            p: p_value(test.p),
            pass: self.alpha.certifies(test.p),
        })
    }
}

/// Templates of as equal a size as there can be.
fn sizes(n: u64, templates: u64) -> Vec<u64> {
    (0..templates).map(|at| n / templates + u64::from(at < n % templates)).collect()
}

/// Losses from the front, gains from the back, one per template and round.
fn spread(counts: PairedCounts, templates: u64) -> Result<Vec<PairedCounts>, StatsError> {
    arranged(counts, templates, 1)
}

/// Losses fill the first templates, gains the last ones.
fn lumped(counts: PairedCounts, templates: u64) -> Result<Vec<PairedCounts>, StatsError> {
    arranged(counts, templates, u64::MAX)
}

/// Losses from the front, gains from the back, at most so many to a template in each round.
fn arranged(counts: PairedCounts, templates: u64, at_once: u64) -> Result<Vec<PairedCounts>, StatsError> {
    let sizes = sizes(counts.n(), templates);
    let mut room = sizes.clone();
    let loss = dealt(counts.loss(), at_once, &mut room);
    room.reverse();
    let mut gain = dealt(counts.gain(), at_once, &mut room);
    gain.reverse();
    sizes.iter().zip(&gain).zip(&loss).map(|((&size, &gain), &loss)| PairedCounts::new(size, gain, loss)).collect()
}

/// Deals tasks out to templates with room for them. There is room for all: a table's cells are no more than its tasks.
fn dealt(total: u64, at_once: u64, room: &mut [u64]) -> Vec<u64> {
    let mut dealt = vec![0; room.len()];
    let mut left = total;
    while left > 0 && room.iter().any(|&room| room > 0) {
        for (dealt, room) in dealt.iter_mut().zip(room.iter_mut()) {
            let share = left.min(at_once).min(*room);
            *dealt += share;
            *room -= share;
            left -= share;
        }
    }
    dealt
}

#[cfg(test)]
mod tests;
