//! The certificate: one canonical JSON document per run, recomputable by anybody from the record.
//!
//! No clock, no path, no run id, no build stands in it, so its bytes are the same wherever they are recomputed. An absent
//! field makes no claim. Numbers: see [`number`].

mod arms;
mod endpoints;
mod levels;
mod limits;
mod noise;
pub mod number;
mod subjects;

#[cfg(test)]
pub(crate) mod fixture;

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{
    digest::Digest,
    lock::OperatingCharacteristics,
    sequence::Order,
    verdict::{Endpoint, FamilyKind, FamilyVerdict, Rule},
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use arms::{ArmReport, CostReport, FlowReport, RatioReport, UsageReport};
pub use endpoints::{
    BootstrapReport, ClusterReport, EndpointReport, GatesReport, IntervalReport, MissingReport, SensitivityReport,
};
pub use levels::{
    AbstainReport, ControlReport, DamageReport, Demand, GroupReport, HarmReport, LevelReport, ReasonReport,
    RobustReport, ToolReport,
};
pub use noise::{DriftReport, FlipReport};
pub use subjects::{
    ArmSubject, CatalogSubject, LockSubject, ModelSubject, RecordSubject, ScheduleSubject, Spend, Subjects,
    SurfaceSize, TaskSubject, TokenSource,
};

use self::number::{Fraction, significant};
use crate::{
    analysis::Analysis,
    record::{Deviation, RunKind, Weight},
};

/// Format of the document.
pub const SCHEMA: &str = "bench/certificate/1";
/// What it takes to recompute it. A change of any rule, statistic or printing is a new number.
pub const METHOD: u32 = 1;

/// What can go wrong with a certificate.
#[derive(Debug, Error)]
pub enum CertificateError {
    /// The canonical form could not be written.
    #[error("writing the certificate: {0}")]
    Canonical(String),
    /// Bytes that are no certificate.
    #[error("not a certificate: {0}")]
    Syntax(#[from] serde_json::Error),
    /// Another method or format.
    #[error("certificate of schema `{schema}`, method {method}; this binary reads `{SCHEMA}`, method {METHOD}")]
    Method {
        /// The schema found.
        schema: String,
        /// The method found.
        method: u32,
    },
}

/// The numbers of the rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleReport {
    /// Margin δ, absolute.
    pub margin: String,
    /// One-sided level of every gate.
    pub alpha: String,
    /// Floor under the design effect of frames (G3).
    pub deff_floor_frames: String,
    /// Floor under the design effect of tools (S1).
    pub deff_floor_tools: String,
    /// Two-sided level at which two passes differ.
    pub noise_alpha: String,
    /// Least accuracy of the reference.
    pub assay_floor: String,
    /// Largest share of pairs without an outcome.
    pub missing_limit: String,
    /// The gates in words.
    pub gates: String,
}

/// A family's own facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FamilyReport {
    /// Its reference.
    pub reference: Arc<str>,
    /// How its claims share one error rate.
    pub order: Order,
    /// The order of testing.
    pub sequence: Vec<Arc<str>>,
    /// Endpoints that must all hold.
    pub endpoints: Vec<Endpoint>,
    /// Tasks in n.
    pub tasks: u64,
    /// Abstain tasks, on top.
    pub abstain_tasks: u64,
    /// Frames of the tasks in n.
    pub frames: u64,
    /// Their tools.
    pub tools: u64,
    /// The reference's rates against the floor.
    pub floors: BTreeMap<Endpoint, FloorReport>,
    /// Trend of the reference over the run; none where its frames cannot show one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<DriftReport>,
    /// Whether there is a verdict at all.
    pub assay_sensitive: bool,
    /// Why not.
    pub reasons: Vec<ReasonReport>,
}

/// The reference on one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FloorReport {
    /// Right answers.
    pub right: Fraction,
    /// Whether the floor is reached.
    pub reached: bool,
}

/// The certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Format.
    pub schema: String,
    /// Canonical form of these bytes.
    pub canonicalization: String,
    /// What it takes to recompute them.
    pub method: u32,
    /// What answered.
    pub kind: RunKind,
    /// Whether the run was a confirmatory one.
    pub confirmatory: bool,
    /// Digest of the canonical protocol.
    pub protocol: Digest,
    /// The lock and those before it, the newest first.
    pub locks: Vec<LockSubject>,
    /// By server.
    pub catalogs: BTreeMap<String, CatalogSubject>,
    /// By arm.
    pub subjects: BTreeMap<String, ArmSubject>,
    /// The model.
    pub model: ModelSubject,
    /// By suite.
    pub tasks: BTreeMap<String, TaskSubject>,
    /// The schedule.
    pub schedule: ScheduleSubject,
    /// The numbers of the rule.
    pub rule: RuleReport,
    /// By family.
    pub families: BTreeMap<FamilyKind, FamilyReport>,
    /// Verdicts, families in order, levels in the order of testing.
    pub levels: Vec<LevelReport>,
    /// Controls.
    pub controls: Vec<ControlReport>,
    /// Flow, rates, effort and cost of every arm.
    pub arms: Vec<ArmReport>,
    /// Size of each arm's initial surface.
    pub sizes: BTreeMap<String, SurfaceSize>,
    /// Spend; live only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spend: Option<Spend>,
    /// Power and size of the rule, as locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<OperatingCharacteristics>,
    /// Whether the protocol says of itself that its sizes don't reach the planned power.
    pub underpowered: bool,
    /// Counts of the record.
    pub record: RecordSubject,
    /// May be empty, must be there.
    pub deviations: Vec<Deviation>,
    /// Limits of the claim in plain words.
    pub limits: Vec<String>,
}

impl Certificate {
    /// Puts a certificate together from what was counted and judged.
    pub fn new(subjects: &Subjects, rule: &Rule, families: &[(&Analysis, &FamilyVerdict)]) -> Self {
        let alpha = rule.alpha();
        let margin = rule.margin().to_string();
        let mut certificate = Self {
            schema: SCHEMA.to_owned(),
            canonicalization: "RFC 8785".to_owned(),
            method: METHOD,
            kind: subjects.kind,
            confirmatory: subjects.confirmatory,
            protocol: subjects.protocol.clone(),
            locks: subjects.locks.clone(),
            catalogs: subjects.catalogs.clone(),
            subjects: subjects.arms.clone(),
            model: subjects.model.clone(),
            tasks: subjects.tasks.clone(),
            schedule: subjects.schedule.clone(),
            rule: rule_report(rule),
            families: BTreeMap::new(),
            levels: Vec::new(),
            controls: Vec::new(),
            arms: Vec::new(),
            sizes: subjects.sizes.clone(),
            spend: subjects.spend,
            power: subjects.power.clone(),
            underpowered: subjects.underpowered,
            record: subjects.record.clone(),
            deviations: subjects.deviations.clone(),
            limits: limits::limits(subjects, &margin),
        };
        for (analysis, verdict) in families {
            certificate.families.insert(verdict.kind, family_report(analysis, verdict));
            certificate.levels.extend(verdict.levels.iter().map(|level| {
                let counted = analysis.arms.iter().find(|arm| arm.arm == level.arm);
                LevelReport::of(verdict.kind, level, counted, alpha)
            }));
            certificate.controls.extend(ControlReport::all(analysis, verdict, alpha));
            let arms = analysis.arms.iter().map(|arm| ArmReport::of(verdict.kind, arm, subjects.usage_source, alpha));
            certificate.arms.extend(arms);
        }
        certificate
    }

    /// Canonical bytes (RFC 8785).
    ///
    /// # Errors
    /// The canonical form could not be written.
    pub fn bytes(&self) -> Result<Vec<u8>, CertificateError> {
        serde_json_canonicalizer::to_vec(self).map_err(|source| CertificateError::Canonical(source.to_string()))
    }

    /// Reads a certificate of this format and method.
    ///
    /// # Errors
    /// Another format or method, told before anything else is read, or not a certificate.
    pub fn parse(bytes: &[u8]) -> Result<Self, CertificateError> {
        #[derive(Deserialize)]
        struct Probe {
            schema: String,
            method: u32,
        }
        let Probe { schema, method } = serde_json::from_slice(bytes)?;
        if schema != SCHEMA || method != METHOD {
            return Err(CertificateError::Method { schema, method });
        }
        Ok(serde_json::from_slice(bytes)?)
    }

    /// Whether a verdict of this run can certify: a language model answered, and the run was the one confirmatory look.
    pub fn can_certify(&self) -> bool {
        self.weight() == Weight::Certifies
    }

    /// What its verdicts weigh.
    pub fn weight(&self) -> Weight {
        Weight::of(self.kind, self.confirmatory)
    }

    /// Whether every control did what it must.
    pub fn controls_behaved(&self) -> bool {
        self.controls.iter().all(|control| control.behaved)
            && self.families.values().all(|family| family.assay_sensitive)
    }
}

/// The numbers of a rule, as certificates state them.
pub fn rule_report(rule: &Rule) -> RuleReport {
    RuleReport {
        margin: rule.margin().to_string(),
        alpha: significant(rule.alpha().value()),
        deff_floor_frames: significant(rule.gates.frame_floor),
        deff_floor_tools: significant(rule.gates.tool_floor),
        noise_alpha: significant(rule.noise_alpha),
        assay_floor: rule.assay_floor.to_string(),
        missing_limit: rule.missing_limit.to_string(),
        gates: "G1: max(score p, exact unconditional p + 1e-6); G2: exact multinomial bootstrap p; G3: score p deflated by \
                the design effect of frames, Student t with K - 1 degrees of freedom; each at most alpha, on every endpoint"
            .to_owned(),
    }
}

fn family_report(analysis: &Analysis, verdict: &FamilyVerdict) -> FamilyReport {
    FamilyReport {
        reference: Arc::clone(&analysis.input.reference.arm),
        order: verdict.order,
        sequence: verdict.levels.iter().map(|level| Arc::clone(&level.arm)).collect(),
        endpoints: verdict.kind.endpoints().to_vec(),
        tasks: analysis.tasks.scored,
        abstain_tasks: analysis.tasks.abstain,
        frames: analysis.tasks.frames,
        tools: analysis.tasks.tools,
        floors: verdict
            .assay
            .floors
            .iter()
            .map(|floor| {
                let report = FloorReport { right: Fraction::rate(floor.right, floor.tasks), reached: floor.reached };
                (floor.endpoint, report)
            })
            .collect(),
        drift: analysis.arms.iter().find_map(|arm| arm.drift.as_ref()).map(DriftReport::of),
        assay_sensitive: verdict.assay.sensitive(),
        reasons: ReasonReport::all(&verdict.assay.reasons),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::fixture::certificate;

    #[test]
    fn the_bytes_of_a_known_run_are_these() {
        let bytes = certificate().bytes().unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        insta::assert_snapshot!("digest", Digest::of(&bytes).to_string());
        // The whole document, indented, so that a change of bytes can be read.
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        insta::assert_json_snapshot!("document", value);
    }

    #[test]
    fn bytes_are_canonical_and_read_back_to_the_same() {
        let certificate = certificate();
        let bytes = certificate.bytes().unwrap();
        let back = Certificate::parse(&bytes).unwrap();
        assert_eq!(back, certificate);
        assert_eq!(back.bytes().unwrap(), bytes);
    }

    #[test]
    fn no_float_stands_in_a_certificate() {
        fn check(value: &serde_json::Value, path: &str) {
            match value {
                serde_json::Value::Number(number) => assert!(!number.is_f64(), "{path} is a float: {number}"),
                serde_json::Value::Array(all) => all.iter().for_each(|value| check(value, path)),
                serde_json::Value::Object(all) => {
                    all.iter().for_each(|(key, value)| check(value, &format!("{path}.{key}")));
                }
                _ => (),
            }
        }
        check(&serde_json::to_value(certificate()).unwrap(), "");
    }

    #[test]
    fn another_method_is_told_before_anything_else_is_read() {
        let outcome = Certificate::parse(br#"{"schema":"bench/certificate/1","method":2,"novelty":[]}"#);
        assert!(matches!(outcome, Err(CertificateError::Method { method: 2, .. })), "{outcome:?}");
    }
}
