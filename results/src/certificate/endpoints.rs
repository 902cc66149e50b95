//! One endpoint of one arm, as printed.

use bench_protocol::{
    stats::{
        Alpha, Interval,
        cluster_bootstrap::ClusterBootstrap,
        clusters::ClusterTest,
        gates::{ClusterGate, Gates},
        mcnemar::mcnemar,
    },
    verdict::{EndpointEvidence, sensitivity::Sensitivities},
};
use serde::{Deserialize, Serialize};

use super::number::{Fraction, decimal, p_value, significant};

/// An interval with what makes it readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntervalReport {
    /// How it is computed.
    pub method: String,
    /// Its two-sided level.
    pub level: String,
    /// Lower end.
    pub lower: String,
    /// Upper end.
    pub upper: String,
}

impl IntervalReport {
    /// An interval of level `1 − 2·alpha`.
    pub(super) fn new(method: &str, interval: Interval, alpha: f64) -> Self {
        let level = decimal(1.0 - 2.0 * alpha);
        Self {
            method: method.to_owned(),
            level: level.trim_end_matches('0').to_owned(),
            lower: decimal(interval.lower),
            upper: decimal(interval.upper),
        }
    }
}

/// A test deflated by clusters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterReport {
    /// Clusters.
    pub clusters: u64,
    /// Design effect as estimated.
    pub deff: String,
    /// The floor under it.
    pub floor: String,
    /// Deflated statistic.
    pub t: String,
    /// Its p.
    pub p: String,
    /// Whether the gate passes.
    pub pass: bool,
}

impl ClusterReport {
    fn of(gate: &ClusterGate) -> Self {
        let ClusterTest { clusters, deff, floor, t_deff, p, .. } = gate.test;
        Self {
            clusters,
            deff: significant(deff),
            floor: significant(floor),
            t: significant(t_deff),
            p: p_value(p),
            pass: gate.pass,
        }
    }
}

/// The gates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatesReport {
    /// Score statistic T(−δ).
    pub t: String,
    /// Its p.
    pub p_tango: String,
    /// Exact unconditional p.
    pub p_exact: String,
    /// G1 passes: the larger of the two, with the search allowance, is at most alpha.
    pub g1: bool,
    /// Exact bootstrap p.
    pub p_boot: String,
    /// G2 passes.
    pub g2: bool,
    /// G3: clusters are frames.
    pub g3: ClusterReport,
    /// S1: clusters are tools; where the family has a tool-robust label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub s1: Option<ClusterReport>,
}

impl GatesReport {
    /// Whether all of the gates that certify pass, as stated; S1 is a label beside them.
    pub fn pass(&self) -> bool {
        let Self { t: _, p_tango: _, p_exact: _, g1, p_boot: _, g2, g3, s1: _label } = self;
        *g1 && *g2 && g3.pass
    }

    pub(super) fn of(gates: &Gates) -> Self {
        Self {
            t: significant(gates.g1.t),
            p_tango: p_value(gates.g1.p_tango),
            p_exact: p_value(gates.g1.p_exact),
            g1: gates.g1.pass,
            p_boot: p_value(gates.g2.p),
            g2: gates.g2.pass,
            g3: ClusterReport::of(&gates.g3),
            s1: gates.s1.as_ref().map(ClusterReport::of),
        }
    }
}

/// The bootstrap over tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BootstrapReport {
    /// Resamples.
    pub resamples: u32,
    /// Resamples at or below −δ.
    pub at_or_below: u32,
    /// Percentile interval.
    pub interval: IntervalReport,
}

/// Missing outcomes and what they could change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissingReport {
    /// Pairs that lack an outcome.
    pub pairs: u64,
    /// Of those, the arm lacks it.
    pub arm: u64,
    /// The reference lacks it.
    pub reference: u64,
    /// What stands in for them in the primary analysis.
    pub primary: String,
    /// Other readings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sensitivities: Vec<SensitivityReport>,
    /// Missing outcomes of the arm that would have to be wrong to lose the gates; none where no number does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tipping_point: Option<u64>,
}

/// One other reading of missing outcomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitivityReport {
    /// Its name.
    pub name: String,
    /// Pairs left.
    pub n: u64,
    /// Losses.
    pub loss: u64,
    /// Gains.
    pub gain: u64,
    /// Whether G1 to G3 pass; none where they are undefined.
    pub pass: Option<bool>,
}

/// Everything about one endpoint of one arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointReport {
    /// Pairs.
    pub n: u64,
    /// Right under both.
    pub both: u64,
    /// Right under the reference alone.
    pub loss: u64,
    /// Right under the arm alone.
    pub gain: u64,
    /// Wrong under both.
    pub neither: u64,
    /// Right under the reference.
    pub reference_right: Fraction,
    /// Right under the arm.
    pub arm_right: Fraction,
    /// Arm minus reference.
    pub difference: Fraction,
    /// Share of pairs on which they differ.
    pub discordance: Fraction,
    /// The interval that decides, then the wider one.
    pub intervals: Vec<IntervalReport>,
    /// The gates.
    pub gates: GatesReport,
    /// p of "better by δ or more is excluded". Printed, never required.
    pub p_nonsuperiority: String,
    /// p of equivalence: the larger of both sides.
    pub p_tost: String,
    /// Whether equivalence is shown, beyond non-inferiority.
    pub equivalent: bool,
    /// The whole deciding interval lies below −δ.
    pub damage: bool,
    /// Exact McNemar p against "no harm", one-sided. Description: its null is no difference, not the margin.
    pub mcnemar_harm: String,
    /// Exact McNemar p, two-sided.
    pub mcnemar_two_sided: String,
    /// Bootstrap over tools; levels only. Reported, not gating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_bootstrap: Option<BootstrapReport>,
    /// Missing outcomes.
    pub missing: MissingReport,
}

impl EndpointReport {
    /// Prints an endpoint's evidence.
    pub(super) fn of(
        seen: &EndpointEvidence,
        alpha: Alpha,
        bootstrap: Option<&ClusterBootstrap>,
        sensitivities: Option<&Sensitivities>,
    ) -> Self {
        let table = seen.table;
        let n = table.n();
        let mcnemar = mcnemar(table.gain(), table.loss());
        Self {
            n,
            both: table.both(),
            loss: table.loss(),
            gain: table.gain(),
            neither: table.neither(),
            reference_right: Fraction::rate(table.raw_right(), n),
            arm_right: Fraction::rate(table.compressed_right(), n),
            difference: Fraction { num: table.counts().net(), den: n },
            discordance: Fraction::rate(table.counts().discordant(), n),
            intervals: vec![
                IntervalReport::new("score", seen.decision, alpha.value()),
                IntervalReport::new("score", seen.wide, alpha.value() / 2.0),
            ],
            gates: GatesReport::of(&seen.gates),
            p_nonsuperiority: p_value(seen.score.p_upper),
            p_tost: p_value(seen.score.p_tost),
            equivalent: seen.equivalent(alpha),
            damage: seen.damage,
            mcnemar_harm: p_value(mcnemar.one_sided_harm),
            mcnemar_two_sided: p_value(mcnemar.two_sided),
            cluster_bootstrap: bootstrap.map(|seen| BootstrapReport {
                resamples: seen.resamples,
                at_or_below: seen.at_or_below,
                interval: IntervalReport::new("cluster percentile", seen.percentile_ci, alpha.value()),
            }),
            missing: MissingReport {
                pairs: seen.cells.missing(),
                arm: seen.cells.arm_missing(),
                reference: seen.cells.reference_missing(),
                primary: seen.imputation.to_string(),
                sensitivities: sensitivities.map(sensitivity_reports).unwrap_or_default(),
                tipping_point: sensitivities.and_then(|all| all.tipping_point),
            },
        }
    }
}

fn sensitivity_reports(all: &Sensitivities) -> Vec<SensitivityReport> {
    all.readings
        .iter()
        .map(|reading| SensitivityReport {
            name: reading.imputation.to_string(),
            n: reading.table.map_or(0, bench_protocol::stats::PairedTable::n),
            loss: reading.table.map_or(0, bench_protocol::stats::PairedTable::loss),
            gain: reading.table.map_or(0, bench_protocol::stats::PairedTable::gain),
            pass: reading.pass,
        })
        .collect()
}
