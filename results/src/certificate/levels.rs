//! Levels and controls, as printed.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{
    stats::Alpha,
    verdict::{
        Cluster, Endpoint, FamilyKind, FamilyVerdict, Imputation, LevelVerdict, PairCells, Reason, Status,
        abstain::AbstainGuard, harm::HarmGuard, robust::EndpointRobustness,
    },
};
use serde::{Deserialize, Serialize};

use super::{
    endpoints::{EndpointReport, IntervalReport},
    noise::FlipReport,
    number::{Fraction, p_value},
};
use crate::analysis::{Analysis, ArmAnalysis};

/// A reason with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReasonReport {
    /// The reason as data.
    pub reason: Reason,
    /// The reason in words.
    pub text: String,
}

impl ReasonReport {
    pub(super) fn all(reasons: &[Reason]) -> Vec<Self> {
        reasons.iter().map(|reason| Self { reason: reason.clone(), text: reason.to_string() }).collect()
    }
}

/// Losses and gains of one group of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupReport {
    /// The group.
    pub name: Arc<str>,
    /// Pairs, missing outcomes in the worst case.
    pub n: u64,
    /// Losses.
    pub loss: u64,
    /// Gains.
    pub gain: u64,
}

impl GroupReport {
    fn of(name: &Arc<str>, cells: &PairCells) -> Option<Self> {
        let counts = cells.counts(Imputation::WorstCase)?;
        Some(Self { name: Arc::clone(name), n: counts.n(), loss: counts.loss(), gain: counts.gain() })
    }

    fn all(clusters: &[Cluster]) -> Vec<Self> {
        clusters.iter().filter_map(|cluster| Self::of(&cluster.name, &cluster.cells)).collect()
    }
}

/// One tool in the harm guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolReport {
    /// `server/tool`.
    pub tool: Arc<str>,
    /// Tasks.
    pub n: u64,
    /// Losses.
    pub loss: u64,
    /// Gains.
    pub gain: u64,
    /// Exact one-sided p.
    pub p: String,
    /// Adjusted by Holm over all tools.
    pub p_adjusted: String,
    /// Whether harm is shown.
    pub fired: bool,
}

/// The harm guard, and losses by tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarmReport {
    /// Whether any tool is shown to be harmed.
    pub fired: bool,
    /// Losses without a gain in one tool that the guard needs to fire.
    pub smallest_harm: Option<u64>,
    /// Tools with fewer tasks than that, which it could not have seen broken.
    pub blind_tools: u64,
    /// Tools with a loss or a gain; the others have neither.
    pub tools: Vec<ToolReport>,
}

impl HarmReport {
    fn of(guard: &HarmGuard) -> Self {
        Self {
            fired: guard.broken().next().is_some(),
            smallest_harm: guard.smallest_harm,
            blind_tools: guard.blind,
            tools: guard
                .tools
                .iter()
                .filter(|tool| tool.loss + tool.gain > 0)
                .map(|tool| ToolReport {
                    tool: Arc::clone(&tool.tool),
                    n: tool.n,
                    loss: tool.loss,
                    gain: tool.gain,
                    p: p_value(tool.p),
                    p_adjusted: p_value(tool.adjusted),
                    fired: tool.fired,
                })
                .collect(),
        }
    }
}

/// The abstain guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AbstainReport {
    /// Abstain tasks.
    pub n: u64,
    /// Losses.
    pub loss: u64,
    /// Gains.
    pub gain: u64,
    /// Exact one-sided p.
    pub p: String,
    /// Whether harm is shown.
    pub fired: bool,
    /// Losses without a gain that the guard needs to fire.
    pub smallest_harm: u64,
}

impl AbstainReport {
    fn of(guard: &AbstainGuard) -> Self {
        Self {
            n: guard.table.n(),
            loss: guard.table.loss(),
            gain: guard.table.gain(),
            p: p_value(guard.p),
            fired: guard.fired,
            smallest_harm: guard.smallest_harm,
        }
    }
}

/// The conditions of the tool-robust label on one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RobustReport {
    /// S1 passes.
    pub tool_clusters: bool,
    /// The gates pass on the affected tasks, or none is affected.
    pub affected: bool,
    /// Affected tasks.
    pub affected_tasks: u64,
    /// Losses, net of the second pass', stay within the margin.
    pub losses_within_margin: bool,
    /// Losses of the arm.
    pub loss: u64,
    /// Losses of the second pass.
    pub noise_loss: u64,
}

impl RobustReport {
    fn of(seen: &EndpointRobustness) -> Self {
        Self {
            tool_clusters: seen.tool_clusters,
            affected: seen.affected.holds(),
            affected_tasks: seen.affected.tasks(),
            losses_within_margin: seen.losses_within_margin,
            loss: seen.losses.0,
            noise_loss: seen.losses.1,
        }
    }
}

/// A level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelReport {
    /// The family it belongs to.
    pub family: FamilyKind,
    /// The level.
    pub arm: Arc<str>,
    /// The verdict.
    pub status: Status,
    /// The label on top.
    pub tool_robust: bool,
    /// Why.
    pub reasons: Vec<ReasonReport>,
    /// The largest p over gates and endpoints; none where not evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<String>,
    /// The same, adjusted for the family; none where not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<String>,
    /// By endpoint. Descriptive where the level was not tested.
    pub endpoints: BTreeMap<Endpoint, EndpointReport>,
    /// The harm guard; families with tools only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harm: Option<HarmReport>,
    /// The abstain guard; where there are abstain tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstain: Option<AbstainReport>,
    /// Conditions of the label, by endpoint; families with tools only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub robustness: BTreeMap<Endpoint, RobustReport>,
    /// Losses and gains by server, on the stricter endpoint. Too few servers for a test.
    pub servers: Vec<GroupReport>,
    /// Losses and gains by stratum, on the stricter endpoint.
    pub strata: Vec<GroupReport>,
    /// Losses and gains on pinned and on other tools; where the arm pins any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<GroupReport>,
}

impl LevelReport {
    pub(super) fn of(family: FamilyKind, verdict: &LevelVerdict, counted: Option<&ArmAnalysis>, alpha: Alpha) -> Self {
        let endpoints = verdict.endpoints.iter().map(|seen| {
            let bootstrap = counted.and_then(|arm| arm.cluster_bootstrap.get(&seen.endpoint));
            let report = EndpointReport::of(seen, alpha, bootstrap, verdict.sensitivities.get(&seen.endpoint));
            (seen.endpoint, report)
        });
        let split = counted.and_then(|arm| arm.pinned);
        let pinned = split.map(|split| {
            let groups = [(Arc::from("pinned"), split.pinned), (Arc::from("others"), split.others)];
            groups.iter().filter_map(|(name, cells)| GroupReport::of(name, cells)).collect()
        });
        Self {
            family,
            arm: Arc::clone(&verdict.arm),
            status: verdict.status,
            tool_robust: verdict.tool_robust,
            reasons: ReasonReport::all(&verdict.reasons),
            p: verdict.p.map(p_value),
            p_adjusted: verdict.p_adjusted.map(p_value),
            endpoints: endpoints.collect(),
            harm: verdict.harm.as_ref().map(HarmReport::of),
            abstain: verdict.abstain.as_ref().map(AbstainReport::of),
            robustness: verdict.robustness.iter().map(|(&at, seen)| (at, RobustReport::of(seen))).collect(),
            servers: counted.map(|arm| GroupReport::all(&arm.servers)).unwrap_or_default(),
            strata: counted.map(|arm| GroupReport::all(&arm.strata)).unwrap_or_default(),
            pinned: pinned.unwrap_or_default(),
        }
    }
}

/// What a control must show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// The noise floor: certified, and no different from the first pass.
    Agrees,
    /// Not certified.
    NotCertified,
    /// Damage on first calls.
    Damage,
}

/// A control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlReport {
    /// The family it belongs to.
    pub family: FamilyKind,
    /// The control.
    pub arm: Arc<str>,
    /// What it must show.
    pub demand: Demand,
    /// Whether it does.
    pub behaved: bool,
    /// Whether the gates would certify it; none where that is not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certified: Option<bool>,
    /// By endpoint; for a control that must show damage, see `damage`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub endpoints: BTreeMap<Endpoint, EndpointReport>,
    /// Exact two-sided p of "the passes are the same", by endpoint; the noise floor only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub p_differ: BTreeMap<Endpoint, String>,
    /// Flips by stratum on the stricter endpoint; the noise floor only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flips_by_stratum: Vec<FlipReport>,
    /// Flips by tool on the stricter endpoint, tools without one left out; the noise floor only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flips_by_tool: Vec<FlipReport>,
    /// The first-call endpoint of a control that must show damage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<DamageReport>,
}

/// First calls of a control that must show damage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DamageReport {
    /// Pairs.
    pub n: u64,
    /// Losses.
    pub loss: u64,
    /// Gains.
    pub gain: u64,
    /// Arm minus reference.
    pub difference: Fraction,
    /// The interval that decides.
    pub interval: IntervalReport,
}

impl ControlReport {
    pub(super) fn all(analysis: &Analysis, verdict: &FamilyVerdict, alpha: Alpha) -> Vec<Self> {
        let family = verdict.kind;
        let empty = |arm: &Arc<str>, demand, behaved| Self {
            family,
            arm: Arc::clone(arm),
            demand,
            behaved,
            certified: None,
            endpoints: BTreeMap::new(),
            p_differ: BTreeMap::new(),
            flips_by_stratum: Vec::new(),
            flips_by_tool: Vec::new(),
            damage: None,
        };
        let reports = |endpoints: &[bench_protocol::verdict::EndpointEvidence]| {
            endpoints.iter().map(|seen| (seen.endpoint, EndpointReport::of(seen, alpha, None, None))).collect()
        };
        let counted = |arm: &Arc<str>| analysis.arms.iter().find(|seen| seen.arm == *arm);
        let noise = verdict.noise.iter().map(|noise| Self {
            certified: Some(noise.certified),
            endpoints: reports(&noise.endpoints),
            flips_by_stratum: counted(&noise.arm).map(FlipReport::by_stratum).unwrap_or_default(),
            flips_by_tool: counted(&noise.arm).map(|arm| FlipReport::by_tool(family, arm)).unwrap_or_default(),
            p_differ: noise.p_differ.iter().map(|&(at, p)| (at, p_value(p))).collect(),
            ..empty(&noise.arm, Demand::Agrees, noise.certified && noise.differ.is_empty())
        });
        let harmful = verdict.assay.harmful.iter().map(|control| Self {
            certified: Some(control.certified),
            endpoints: reports(&control.endpoints),
            ..empty(&control.arm, Demand::NotCertified, !control.certified)
        });
        let damaged = verdict.assay.damaged.iter().map(|control| {
            let counts = control.table.counts();
            Self {
                damage: Some(DamageReport {
                    n: counts.n(),
                    loss: counts.loss(),
                    gain: counts.gain(),
                    difference: Fraction { num: counts.net(), den: counts.n() },
                    interval: IntervalReport::new("score", control.decision, alpha.value()),
                }),
                ..empty(&control.arm, Demand::Damage, control.damage)
            }
        });
        noise.chain(harmful).chain(damaged).collect()
    }
}
