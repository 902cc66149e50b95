//! What the model did on its own, as printed.

use std::sync::Arc;

use bench_protocol::verdict::{Cluster, FamilyKind};
use serde::{Deserialize, Serialize};

use super::number::{p_value, significant};
use crate::analysis::{ArmAnalysis, Drift, flip_rates, strictest};

/// Flips of one group of tasks between two passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlipReport {
    /// The stratum, or the tool.
    pub name: Arc<str>,
    /// Pairs with both outcomes.
    pub n: u64,
    /// Pairs whose passes differ.
    pub flips: u64,
}

impl FlipReport {
    fn all(groups: &[Cluster]) -> Vec<Self> {
        flip_rates(groups).into_iter().map(|seen| Self { name: seen.name, n: seen.n, flips: seen.flips }).collect()
    }

    /// By stratum, on the stricter endpoint.
    pub(super) fn by_stratum(arm: &ArmAnalysis) -> Vec<Self> {
        Self::all(&arm.strata)
    }

    /// By tool, on the stricter endpoint; tools without a flip are left out.
    pub(super) fn by_tool(family: FamilyKind, arm: &ArmAnalysis) -> Vec<Self> {
        let tools = arm.pairs.get(&strictest(family)).map(|pairs| Self::all(&pairs.tools));
        tools.unwrap_or_default().into_iter().filter(|tool| tool.flips > 0).collect()
    }
}

/// Trend of the reference's accuracy over the run. Described, never gating.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriftReport {
    /// Frames that can show one.
    pub frames: u64,
    /// Standardised trend within frames, positive where the reference got better.
    pub z: String,
    /// Two-sided p of "no drift".
    pub p: String,
}

impl DriftReport {
    pub(super) fn of(seen: &Drift) -> Self {
        Self { frames: seen.frames, z: significant(seen.z), p: p_value(seen.p) }
    }
}
