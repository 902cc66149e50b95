//! Flow, rates, effort and cost of every arm, as printed.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{
    stats::Alpha,
    verdict::{Endpoint, FamilyKind},
};
use serde::{Deserialize, Serialize};

use super::{
    endpoints::IntervalReport,
    number::{Fraction, decimal},
    subjects::TokenSource,
};
use crate::{
    analysis::{ArmAnalysis, Rate, RatioEstimate, Role},
    record::{End, Route, Usage},
};

/// Flow of an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowReport {
    /// Planned episodes.
    pub planned: u64,
    /// Attempted.
    pub attempted: u64,
    /// Scored.
    pub scored: u64,
    /// Without an outcome: provider or harness failed.
    pub missing: u64,
}

/// A ratio of totals, arm over reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatioReport {
    /// Total under the arm.
    pub arm: u64,
    /// Total under the reference.
    pub reference: u64,
    /// Interval of the ratio over tools; none where the reference's total is 0 or there are too few tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<IntervalReport>,
    /// The ratio, to 1e-6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<String>,
}

impl RatioReport {
    fn of(seen: &RatioEstimate, alpha: Alpha) -> Self {
        let estimate = seen.ratio.ok();
        Self {
            arm: seen.arm,
            reference: seen.reference,
            interval: estimate.map(|seen| IntervalReport::new("cluster percentile", seen.interval, alpha.value())),
            ratio: estimate.map(|seen| decimal(seen.point)),
        }
    }
}

/// Cost over that of the baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostReport {
    /// Input tokens of every class.
    pub prompt: RatioReport,
    /// Output tokens.
    pub output: RatioReport,
    /// Pico-dollars; absent where nothing was billed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billed: Option<RatioReport>,
}

/// Tokens and money of an arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageReport {
    /// Where the token numbers come from.
    pub source: TokenSource,
    /// Token classes.
    pub tokens: Usage,
    /// Pico-dollars booked; absent for a mock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billed: Option<u64>,
}

/// An arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArmReport {
    /// The family it ran in.
    pub family: FamilyKind,
    /// The arm.
    pub arm: Arc<str>,
    /// What it is there for.
    pub role: Role,
    /// What it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Arc<str>>,
    /// Its flow.
    pub flow: FlowReport,
    /// Right answers over tasks in n, by endpoint; a missing outcome is no right answer.
    pub rates: BTreeMap<Endpoint, Fraction>,
    /// Right answers over abstain tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstain: Option<Fraction>,
    /// Answered model requests.
    pub turns: u64,
    /// Answered model requests beyond one per episode.
    pub extra_trips: u64,
    /// Upstream calls.
    pub upstream_calls: u64,
    /// Upstream calls that break the original schema.
    pub invalid_calls: u64,
    /// Calls to meta tools.
    pub meta_calls: u64,
    /// Episodes with at least one of those.
    pub episodes_with_meta: u64,
    /// Calls that the arm refused.
    pub rejected_calls: u64,
    /// Deciding calls by route.
    pub routes: BTreeMap<Route, u64>,
    /// Episodes by their end.
    pub ends: BTreeMap<End, u64>,
    /// Tokens and money.
    pub usage: UsageReport,
    /// Cost over that of the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostReport>,
}

impl ArmReport {
    pub(super) fn of(family: FamilyKind, arm: &ArmAnalysis, source: TokenSource, alpha: Alpha) -> Self {
        let fraction = |rate: Rate| Fraction::rate(rate.right, rate.tasks);
        let effort = &arm.effort;
        let cost = arm.cost.as_ref().map(|cost| CostReport {
            prompt: RatioReport::of(&cost.prompt, alpha),
            output: RatioReport::of(&cost.output, alpha),
            billed: (cost.billed.reference > 0).then(|| RatioReport::of(&cost.billed, alpha)),
        });
        Self {
            family,
            arm: Arc::clone(&arm.arm),
            role: arm.role,
            baseline: arm.baseline.clone(),
            flow: FlowReport {
                planned: arm.flow.planned,
                attempted: arm.flow.attempted,
                scored: arm.flow.scored,
                missing: arm.flow.missing,
            },
            rates: arm.rates.iter().map(|(&at, &rate)| (at, fraction(rate))).collect(),
            abstain: arm.abstain_rate.map(fraction),
            turns: effort.turns,
            extra_trips: effort.extra_trips,
            upstream_calls: effort.upstream_calls,
            invalid_calls: effort.invalid_calls,
            meta_calls: effort.meta_calls,
            episodes_with_meta: effort.episodes_with_meta,
            rejected_calls: effort.rejected_calls,
            routes: effort.routes.clone(),
            ends: effort.ends.clone(),
            usage: UsageReport {
                source,
                tokens: effort.usage,
                billed: (source == TokenSource::Provider).then_some(effort.billed),
            },
            cost,
        }
    }
}
