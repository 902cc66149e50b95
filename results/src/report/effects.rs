//! Verdicts, effects and controls, as the certificate has them.

use serde::Serialize;

use super::text::{tame, word};
use crate::{
    certificate::{Certificate, ControlReport, EndpointReport, IntervalReport, LevelReport, number::Fraction},
    table::{Planned, Showing, caution, control_word, sentences, status_word},
};

/// How a verdict is to be taken at a glance. Never the only carrier: the word says it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// Certified, or a control that did what it must.
    Good,
    /// Failed, or a control that did not.
    Bad,
    /// Anything else.
    Open,
}

/// The verdict on one level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictRow {
    /// Its family.
    pub family: String,
    /// The level.
    pub arm: String,
    /// The verdict word; one that certifies nothing says so.
    pub word: String,
    /// How it is to be taken.
    pub tone: Tone,
    /// Whether the claim extends to other tools.
    pub tool_robust: bool,
    /// The verdict in a sentence, with its scope.
    pub sentence: String,
    /// Largest p over gates and endpoints.
    pub p: Option<String>,
    /// The same, adjusted for the family.
    pub p_adjusted: Option<String>,
    /// Gates by endpoint.
    pub gates: Vec<GateRow>,
    /// The harm guard in words.
    pub harm: Option<String>,
    /// The abstain guard in words.
    pub abstain: Option<String>,
}

impl VerdictRow {
    /// The row of a record that does not verify: whatever its certificate says, nothing follows from it.
    pub(super) fn refuted(self) -> Self {
        Self {
            word: "does not verify".to_owned(),
            tone: Tone::Bad,
            tool_robust: false,
            sentence: "The record does not lead to its certificate, so that there is no verdict.".to_owned(),
            p: None,
            p_adjusted: None,
            gates: Vec::new(),
            harm: None,
            abstain: None,
            ..self
        }
    }
}

/// The gates of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateRow {
    /// The endpoint.
    pub endpoint: String,
    /// Name, p and whether it passes.
    pub gates: Vec<(String, String, bool)>,
}

/// One effect: an arm against its reference on one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EffectRow {
    /// Its family.
    pub family: String,
    /// The arm.
    pub arm: String,
    /// What it is compared with.
    pub against: String,
    /// Whether it is a control.
    pub control: bool,
    /// The endpoint.
    pub endpoint: String,
    /// Pairs.
    pub n: u64,
    /// Right under the reference alone.
    pub loss: u64,
    /// Right under the arm alone.
    pub gain: u64,
    /// Arm minus reference.
    pub difference: Fraction,
    /// The interval that decides.
    pub interval: IntervalReport,
    /// The wider one, where there is one.
    pub wide: Option<IntervalReport>,
    /// Other readings of missing outcomes: name, pairs, loss, gain, whether the gates pass.
    pub readings: Vec<(String, u64, u64, u64, Option<bool>)>,
}

/// One control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ControlRow {
    /// Its family.
    pub family: String,
    /// The control.
    pub arm: String,
    /// What it must show, in words.
    pub demand: String,
    /// What it showed.
    pub word: String,
    /// How that is to be taken.
    pub tone: Tone,
    /// Two-sided p of "both passes are the same", by endpoint; the noise floor only.
    pub p_differ: Vec<(String, String)>,
}

/// The levels' verdicts, and what holds for the whole run.
pub(super) fn verdicts(certificate: &Certificate, planned: Planned) -> (Vec<VerdictRow>, Vec<String>) {
    use bench_protocol::verdict::Status;
    let mut said = sentences(certificate, planned);
    // The sentences of the levels come first, in their order.
    let mut rest = said.split_off(certificate.levels.len().min(said.len()));
    // The banner says it.
    let caution = caution(certificate.weight());
    rest.retain(|sentence| Some(sentence.as_str()) != caution);
    let row = |(level, sentence): (&LevelReport, String)| {
        VerdictRow {
        family: word(&level.family),
        arm: tame(&level.arm, 64),
        word: status_word(level.status, certificate.weight()),
        tone: match level.status {
            Status::Certified => Tone::Good,
            Status::Failed => Tone::Bad,
            Status::Inconclusive | Status::NotTested | Status::NotEvaluated | Status::NoVerdict => Tone::Open,
        },
        tool_robust: level.tool_robust,
        sentence: tame(&sentence, 2_000),
        p: level.p.clone(),
        p_adjusted: level.p_adjusted.clone(),
        gates: level.endpoints.iter().map(|(at, seen)| gates(at.name(), seen)).collect(),
        harm: level.harm.as_ref().map(|harm| {
            let fired: Vec<&str> = harm.tools.iter().filter(|tool| tool.fired).map(|tool| &*tool.tool).collect();
            let sight = harm.smallest_harm.map_or_else(
                || "no number of losses in one tool could have fired it".to_owned(),
                |least| format!("{least} losses without a gain in one tool would have fired it"),
            );
            let blind = match harm.blind_tools {
                0 => String::new(),
                tools => format!("; {tools} tools have too few tasks for that"),
            };
            let state = if fired.is_empty() { "silent".to_owned() } else { format!("fired on {}", fired.join(", ")) };
            tame(&format!("{state}: {sight}{blind}"), 1_000)
        }),
        abstain: level.abstain.as_ref().map(|seen| {
            let state = if seen.fired { "fired" } else { "silent" };
            format!(
                "{state}: {} losses and {} gains of {} requests that no tool serves, p = {}; {} losses would have fired it",
                seen.loss, seen.gain, seen.n, seen.p, seen.smallest_harm
            )
        }),
    }
    };
    (certificate.levels.iter().zip(said).map(row).collect(), rest)
}

fn gates(endpoint: &str, seen: &EndpointReport) -> GateRow {
    let all = &seen.gates;
    let mut gates = vec![
        ("G1 score".to_owned(), all.p_tango.clone(), all.g1),
        ("G1 exact".to_owned(), all.p_exact.clone(), all.g1),
        ("G2 bootstrap".to_owned(), all.p_boot.clone(), all.g2),
        (format!("G3 frames, deff {}", all.g3.deff), all.g3.p.clone(), all.g3.pass),
    ];
    gates.extend(all.s1.as_ref().map(|s1| (format!("S1 tools, deff {}", s1.deff), s1.p.clone(), s1.pass)));
    GateRow { endpoint: endpoint.to_owned(), gates }
}

/// Effects of levels, then of controls, in the order of the certificate.
pub(super) fn effects(certificate: &Certificate) -> Vec<EffectRow> {
    let against = |family, arm: &str| {
        let report = certificate.arms.iter().find(|one| one.family == family && &*one.arm == arm);
        report.and_then(|one| one.baseline.as_deref()).map(|arm| tame(arm, 64)).unwrap_or_default()
    };
    let mut rows = Vec::new();
    for level in &certificate.levels {
        for (endpoint, seen) in &level.endpoints {
            let against = against(level.family, &level.arm);
            rows.extend(effect(word(&level.family), &level.arm, against, false, endpoint.name(), seen));
        }
    }
    for control in &certificate.controls {
        let against = against(control.family, &control.arm);
        for (endpoint, seen) in &control.endpoints {
            let family = word(&control.family);
            rows.extend(effect(family, &control.arm, against.clone(), true, endpoint.name(), seen));
        }
        rows.extend(control.damage.as_ref().map(|damage| EffectRow {
            family: word(&control.family),
            arm: tame(&control.arm, 64),
            against,
            control: true,
            endpoint: "first-call".to_owned(),
            n: damage.n,
            loss: damage.loss,
            gain: damage.gain,
            difference: damage.difference,
            interval: damage.interval.clone(),
            wide: None,
            readings: Vec::new(),
        }));
    }
    rows
}

fn effect(
    family: String,
    arm: &str,
    against: String,
    control: bool,
    endpoint: &str,
    seen: &EndpointReport,
) -> Option<EffectRow> {
    let reading = |one: &crate::certificate::SensitivityReport| (one.name.clone(), one.n, one.loss, one.gain, one.pass);
    Some(EffectRow {
        family,
        arm: tame(arm, 64),
        against,
        control,
        endpoint: endpoint.to_owned(),
        n: seen.n,
        loss: seen.loss,
        gain: seen.gain,
        difference: seen.difference,
        interval: seen.intervals.first()?.clone(),
        wide: seen.intervals.get(1).cloned(),
        readings: seen.missing.sensitivities.iter().map(reading).collect(),
    })
}

/// The controls.
pub(super) fn controls(certificate: &Certificate, planned: Planned) -> Vec<ControlRow> {
    use crate::certificate::Demand;
    let row = |control: &ControlReport| ControlRow {
        family: word(&control.family),
        arm: tame(&control.arm, 64),
        demand: match control.demand {
            Demand::Agrees => "must agree with the first pass: the noise floor",
            Demand::NotCertified => "must not be certified",
            Demand::Damage => "must show damage on first calls",
        }
        .to_owned(),
        word: control_word(control, planned).to_owned(),
        tone: match Showing::of(control, planned) {
            Showing::Behaved => Tone::Good,
            Showing::Misbehaved => Tone::Bad,
            Showing::TooFewTasks => Tone::Open,
        },
        p_differ: control.p_differ.iter().map(|(at, p)| (at.name().to_owned(), p.clone())).collect(),
    };
    certificate.controls.iter().map(row).collect()
}
