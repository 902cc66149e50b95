//! Reports: a record and its certificate as a typed view, and the view in four formats.
//!
//! ```text
//! record ─► gather (two passes) ─┐
//! certificate ───────────────────┼─► Report ─► html · markdown · json
//! sources (re-made inputs) ──────┘             csv (straight from the record, row by row)
//! ```
//!
//! Pure but for reading the record: no clock, no network, no environment, so that the same record gives the same bytes
//! everywhere. Text of strangers is bounded and tamed where it enters the view ([`text`]) and escaped by each format.
//! An open run has no outcomes: the view then holds flow and standing alone.

mod checklist;
mod compared;
mod context;
mod cost;
pub mod csv;
mod definitions;
mod effects;
mod error;
#[cfg(test)]
pub(crate) mod fixture;
mod flow;
mod gather;
mod happened;
mod heat;
pub mod html;
pub mod markdown;
mod origins;
mod pairs;
mod plot;
mod source;
mod spend;
mod standing;
mod tally;
pub mod text;

use bench_protocol::digest::Digest;
use serde::Serialize;

pub use self::{
    checklist::Item,
    context::ContextRow,
    cost::{Cost, CostRow, Money},
    definitions::{Added, Definitions, Shown, ToolDiff},
    effects::{ControlRow, EffectRow, GateRow, Tone, VerdictRow},
    error::ReportError,
    flow::FlowRow,
    happened::{ArmRow, ServerRow, ShownAs, ToolRow},
    heat::{HeatCell, HeatMap, HeatRow},
    origins::{Origin, OriginRow},
    pairs::{ArmPairs, PairView, SideView},
    source::{
        CallText, CheckLine, CheckOutcome, MetaTexts, PlannedArm, Pricing, Scenes, ServerSize, Sources, Step,
        TaskFacts, TaskText, ToolTexts,
    },
    standing::{RunView, Standing, Trust},
    tally::Tally,
};
use self::{gather::Gathered, pairs::Choices, text::tame};
use crate::{certificate::Certificate, record::Record, table::Planned};

/// Format of the view as JSON.
pub const SCHEMA: &str = "bench/report/1";

/// A run, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Format of this document.
    pub schema: &'static str,
    /// The run.
    pub run: RunView,
    /// The flow of every arm.
    pub flow: Vec<FlowRow>,
    /// What came out; none while the run is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<Outcomes>,
    /// What the run stands on.
    pub standing: Standing,
    /// Where the numbers come from.
    pub origins: Vec<OriginRow>,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcomes {
    /// Margin δ, absolute.
    pub margin: String,
    /// The verdicts.
    pub verdicts: Vec<VerdictRow>,
    /// Sentences about the whole run.
    pub remarks: Vec<String>,
    /// Limits of the claim, the gravest first.
    pub limits: Vec<String>,
    /// Effects of levels and controls.
    pub effects: Vec<EffectRow>,
    /// Controls.
    pub controls: Vec<ControlRow>,
    /// Losses and gains by server and tool.
    pub heat: Vec<HeatMap>,
    /// Discordant pairs.
    pub pairs: Vec<ArmPairs>,
    /// Definitions.
    pub definitions: Definitions,
    /// What happened.
    pub happened: Vec<ArmRow>,
    /// Cost; none without prices.
    pub cost: Option<Cost>,
    /// Context tokens.
    pub context: Vec<ContextRow>,
    /// The checklist.
    pub checklist: Vec<Item>,
}

impl Report {
    /// Reads a record and builds its view.
    ///
    /// # Errors
    /// The record can't be read, or names tasks or arms that its inputs do not make.
    pub fn of(record: &Record, sources: &Sources, scenes: &dyn Scenes) -> Result<Self, ReportError> {
        let manifest = record.manifest();
        let mut seen = Gathered::of(record, sources)?;
        let bytes = if manifest.complete { Some(record.certificate()?) } else { None };
        let certificate = bytes.as_deref().map(Certificate::parse).transpose()?;
        let outcomes = match &certificate {
            None => {
                seen.attempts(record, sources, &std::collections::BTreeSet::new())?;
                None
            }
            Some(certificate) => Some(outcomes(record, certificate, sources, scenes, &mut seen)?),
        };
        Ok(Self {
            schema: SCHEMA,
            run: standing::run(manifest, bytes.as_deref().map(|bytes| Digest::of(bytes).to_string())),
            flow: flow::flow(&seen, certificate.is_some()),
            outcomes,
            standing: standing::standing(manifest, certificate.as_ref(), sources),
            origins: origins::origins(certificate.as_ref(), sources),
        })
    }

    /// The view as JSON, indented, with a line end.
    ///
    /// # Errors
    /// The document could not be written.
    pub fn json(&self) -> Result<String, ReportError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

fn outcomes(
    record: &Record,
    certificate: &Certificate,
    sources: &Sources,
    scenes: &dyn Scenes,
    seen: &mut Gathered<'_>,
) -> Result<Outcomes, ReportError> {
    let compared = compared::compared(certificate, seen);
    let choices = Choices::of(seen, &compared);
    let kept = seen.attempts(record, sources, &choices.episodes(&compared))?;
    let planned = Planned::of(&sources.protocol);
    let (mut verdicts, mut remarks) = effects::verdicts(certificate, planned);
    if Trust::of(&sources.checks) == Trust::Refuted {
        verdicts = verdicts.into_iter().map(VerdictRow::refuted).collect();
        remarks.clear();
    }
    let alpha = certificate.rule.alpha.parse().unwrap_or(f64::NAN);
    Ok(Outcomes {
        margin: certificate.rule.margin.clone(),
        verdicts,
        remarks,
        limits: certificate.limits.iter().take(40).map(|limit| tame(limit, 600)).collect(),
        effects: effects::effects(certificate),
        controls: effects::controls(certificate, planned),
        heat: heat::maps(seen, &compared),
        pairs: choices.views(seen, &compared, &kept, scenes),
        definitions: definitions::definitions(sources),
        happened: happened::happened(seen, sources),
        cost: cost::cost(seen, &compared, sources, alpha),
        context: context::context(certificate, sources),
        checklist: checklist::checklist(record.manifest(), certificate, sources),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_by_tool_are_those_of_the_certificate() {
        let run = fixture::run(600, true);
        let report = run.report();
        let outcomes = report.outcomes.unwrap();
        let map = &outcomes.heat[0];
        for level in run.certificate.unwrap().levels {
            let column = map.arms.iter().position(|arm| *arm == *level.arm).unwrap();
            for tool in level.harm.unwrap().tools {
                let cell = map.tools.iter().find(|row| row.name == *tool.tool).unwrap().cells[column];
                assert_eq!((cell.n, cell.loss, cell.gain), (tool.n, tool.loss, tool.gain), "{}", tool.tool);
            }
            for server in level.servers {
                let cell = map.servers.iter().find(|row| row.name == *server.name).unwrap().cells[column];
                assert_eq!((cell.n, cell.loss, cell.gain), (server.n, server.loss, server.gain), "{}", server.name);
            }
        }
    }

    #[test]
    fn flow_and_tokens_are_those_of_the_certificate() {
        let run = fixture::run(300, true);
        let report = run.report();
        let outcomes = report.outcomes.unwrap();
        for arm in &run.certificate.unwrap().arms {
            let flow = report.flow.iter().find(|row| row.arm == *arm.arm).unwrap();
            assert_eq!(
                (flow.planned, flow.run, flow.missing, flow.scored),
                (arm.flow.planned, arm.flow.attempted, arm.flow.missing, arm.flow.scored)
            );
            let cost = outcomes.cost.as_ref().unwrap().arms.iter().find(|row| row.arm == *arm.arm).unwrap();
            assert_eq!(cost.tokens.prompt(), arm.usage.tokens.prompt());
            assert_eq!(cost.tokens.output, arm.usage.tokens.output);
        }
    }

    #[test]
    fn a_warm_session_is_never_dearer_than_a_cold_one() {
        let outcomes = fixture::run(100, true).report().outcomes.unwrap();
        for row in outcomes.cost.unwrap().arms {
            let dollars = |money: &Money| money.total.trim_start_matches('$').parse::<f64>().unwrap();
            assert!(dollars(&row.warm) < dollars(&row.uncached) && dollars(&row.warm) < dollars(&row.cold), "{row:?}");
        }
    }

    #[test]
    fn the_view_of_an_open_run_has_no_outcome_anywhere() {
        let json = fixture::run(100, false).report().json().unwrap();
        for word in ["\"outcomes\"", "\"loss\"", "decided", "\"verdict"] {
            assert!(!json.contains(word), "{word}");
        }
    }

    #[test]
    fn a_record_of_other_tasks_is_refused_by_name() {
        let mut run = fixture::run(60, true);
        run.sources.tasks.truncate(10);
        let error = Report::of(&run.record, &run.sources, &run.scenes).unwrap_err().to_string();
        assert!(error.contains("t000000000000000a") && error.contains("bench verify"), "{error}");
    }
}
