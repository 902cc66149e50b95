//! Cost: tokens by class, dollars three ways and as billed, latency.

use bench_protocol::{
    prices::Price,
    rng::{stream, stream_id},
    stats::{
        Alpha,
        continuous::{PairedTotals, continuous_bootstrap},
    },
};
use serde::Serialize;

use super::{
    compared::Compared,
    gather::Gathered,
    source::Sources,
    spend::ThreeWays,
    text::{dollars, tame, word},
};
use crate::{certificate::number::decimal, record::Usage};

/// Resamples of an interval at most: a report is no gate.
const RESAMPLES: u32 = 2_000;

/// Cost of one arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostRow {
    /// Its family.
    pub family: String,
    /// The arm.
    pub arm: String,
    /// What it is compared with; none for a reference.
    pub against: Option<String>,
    /// Episodes on record.
    pub episodes: u64,
    /// Attempts on record.
    pub attempts: u64,
    /// Tokens as used, by class.
    pub tokens: Usage,
    /// Dollars of each class at the row's base rates, as used: input, cache write, cache read, output.
    pub classes: Vec<(String, String)>,
    /// All prompts as plain input.
    pub uncached: Money,
    /// Each session writes what it caches once.
    pub cold: Money,
    /// Each session finds it written.
    pub warm: Money,
    /// What was booked; none where nothing is billed.
    pub billed: Option<String>,
    /// Milliseconds of an attempt: median, and the 95th percentile; live runs only.
    pub latency: Option<(u64, u64)>,
}

/// A sum in dollars, and how it compares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Money {
    /// Dollars of the whole run.
    pub total: String,
    /// Dollars of an episode.
    pub per_episode: String,
    /// Ratio to the reference's total: point, lower, upper. None without a reference, or where the two arms did not run
    /// the same tasks.
    pub ratio: Option<[String; 3]>,
}

/// The cost of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Exact id of the model whose prices are used.
    pub priced_as: String,
    /// Where the prices were read, and when.
    pub source: String,
    /// Whether the run was billed by them; else they are an example.
    pub billed: bool,
    /// Level of the intervals, two-sided.
    pub level: String,
    /// Arms in their order.
    pub arms: Vec<CostRow>,
}

/// Builds the tables; none without prices.
pub(super) fn cost(seen: &Gathered<'_>, compared: &[Compared], sources: &Sources, alpha: f64) -> Option<Cost> {
    let pricing = sources.pricing.as_ref()?;
    let price = &pricing.price;
    let alpha = Alpha::new(alpha).ok()?;
    let arms = seen
        .planned
        .iter()
        .enumerate()
        .map(|(at, planned)| {
            let sums = &seen.sums[at];
            let episodes = seen.attempted(at);
            let against = compared.iter().find(|one| one.arm == at);
            let total = sums.total();
            let money = |name: &str, part: fn(&ThreeWays) -> u128| Money {
                total: dollars(part(&total)),
                per_episode: dollars(part(&total) / u128::from(episodes.max(1))),
                ratio: against.and_then(|one| ratio(seen, sources, one, alpha, name, part)),
            };
            CostRow {
                family: word(&planned.family),
                arm: tame(&planned.arm, 64),
                against: against.map(|one| one.against.clone()),
                episodes,
                attempts: sums.attempts,
                tokens: sums.usage,
                classes: classes(sums.usage, price),
                uncached: money("uncached", |way| way.uncached),
                cold: money("cold", |way| way.cold),
                warm: money("warm", |way| way.warm),
                billed: pricing.billed.then(|| dollars(sums.billed)),
                latency: latency(&sums.ms),
            }
        })
        .collect();
    Some(Cost {
        priced_as: price.model.clone(),
        source: format!("{}, as of {}", price.source, price.as_of),
        billed: pricing.billed,
        level: format!("{:.0} %", 100.0 * (1.0 - 2.0 * alpha.value())),
        arms,
    })
}

fn classes(usage: Usage, price: &Price) -> Vec<(String, String)> {
    let rates = price.base();
    let money = |tokens: u64, rate: bench_protocol::prices::Rate| u128::from(tokens) * u128::from(rate.pico_dollars());
    let written = money(usage.cache_write, rates.cache_write_5m) + money(usage.cache_write_1h, rates.cache_write_1h);
    [
        ("input", money(usage.input, rates.input)),
        ("cache write", written),
        ("cache read", money(usage.cache_read, rates.cache_read)),
        ("output", money(usage.output, rates.output)),
    ]
    .map(|(name, pico)| (name.to_owned(), dollars(pico)))
    .to_vec()
}

/// Ratio of totals with a percentile interval over tools, as the certificate does it for tokens.
fn ratio(
    seen: &Gathered<'_>,
    sources: &Sources,
    one: &Compared,
    alpha: Alpha,
    way: &str,
    part: fn(&ThreeWays) -> u128,
) -> Option<[String; 3]> {
    let episodes = |arm: usize, tool: usize| seen.tallies[arm][tool].episodes;
    let tools = 0..=seen.tools.len();
    if tools.clone().any(|tool| episodes(one.arm, tool) != episodes(one.reference, tool)) {
        return None;
    }
    let totals = |arm: usize, tool: usize| part(&seen.sums[arm].by_tool[tool]) as f64;
    let clusters: Vec<PairedTotals> = tools
        .filter(|&tool| episodes(one.arm, tool) > 0)
        .map(|tool| PairedTotals {
            n: episodes(one.arm, tool),
            raw: totals(one.reference, tool),
            compressed: totals(one.arm, tool),
        })
        .collect();
    let resamples = sources.protocol.test.cluster_bootstrap_resamples.min(RESAMPLES);
    let mut rng = stream(sources.seed, stream_id(&format!("{}/{}/{way}/report", one.family, one.name)));
    let estimate = continuous_bootstrap(&clusters, alpha, resamples, &mut rng).ratio.ok()?;
    Some([estimate.point, estimate.interval.lower, estimate.interval.upper].map(decimal))
}

fn latency(ms: &[u64]) -> Option<(u64, u64)> {
    let mut sorted = ms.to_vec();
    sorted.sort_unstable();
    let at = |per_cent: usize| sorted.get((sorted.len() * per_cent).div_ceil(100).saturating_sub(1)).copied();
    Some((at(50)?, at(95)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_observed_values() {
        assert_eq!(latency(&[]), None);
        assert_eq!(latency(&[7]), Some((7, 7)));
        assert_eq!(latency(&(1..=100).rev().collect::<Vec<_>>()), Some((50, 95)));
    }
}
