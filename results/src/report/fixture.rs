//! A small made-up run on disk, for tests.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{
    digest::Digest,
    prices::PriceTable,
    spec::Protocol,
    stats::ExactCache,
    verdict::{FamilyKind, Rule, evaluate},
};
use bench_tasks::task::TaskId;
use serde_json::value::RawValue;

use super::{
    CallText, CheckLine, CheckOutcome, MetaTexts, PlannedArm, Pricing, Report, Scenes, Sources, Step, TaskFacts,
    TaskText, ToolTexts,
};
use crate::{
    analysis::fixture::{ARMS, accumulator, episodes, margin, meta, reporting},
    certificate::{Certificate, fixture::subjects},
    record::{DrawId, Manifest, Opened, Record, RecordWriter, Settled, Usage, manifest::tests::manifest},
};

/// A run with everything that its report needs.
pub(crate) struct Run {
    _folder: tempfile::TempDir,
    pub(crate) record: Record,
    pub(crate) sources: Sources,
    pub(crate) scenes: Spoken,
    /// The certificate of a closed run.
    pub(crate) certificate: Option<Certificate>,
}

impl Run {
    pub(crate) fn report(&self) -> Report {
        Report::of(&self.record, &self.sources, &self.scenes).unwrap()
    }

    /// Puts hostile text wherever a stranger can put text.
    pub(crate) fn make_hostile(&mut self) {
        let hostile =
            format!("<script>alert(1)</script> \u{202E}\" onmouseover=\"alert(2) {}", "<img src=x>".repeat(100_000));
        self.scenes.said.clone_from(&hostile);
        for tool in &mut self.sources.tools {
            tool.shown.push(("L9".into(), Some(hostile.clone())));
        }
        self.sources.meta.push(MetaTexts { arm: "L0".into(), name: hostile.clone(), text: hostile.clone() });
        self.sources.checks.push(CheckLine {
            name: hostile.clone(),
            outcome: CheckOutcome::Note,
            evidence: hostile.clone(),
        });
        self.sources.protocol_text = hostile.into();
    }
}

/// Everybody says the same.
pub(crate) struct Spoken {
    pub(crate) said: String,
}

impl Scenes for Spoken {
    fn task(&self, task: &TaskId) -> Option<TaskText> {
        Some(TaskText { utterance: format!("{} {task}", self.said), gold: vec![self.said.clone()] })
    }

    fn steps(&self, _: &TaskId, arm: &str, responses: &[Box<RawValue>]) -> Vec<Step> {
        let call = CallText { name: self.said.clone(), arguments: self.said.clone() };
        let model =
            |text: &str| Step::Model { text: format!("{arm}: {text} {}", self.said), calls: vec![call.clone()] };
        let mut steps: Vec<Step> = responses.iter().map(|response| model(response.get())).collect();
        steps.push(Step::Answer { text: self.said.clone(), error: true });
        steps
    }
}

/// What stands beside the record of a run of no task.
pub(crate) fn sources() -> Sources {
    let protocol = Protocol::built_in().unwrap();
    let price = PriceTable::built_in().unwrap().row(&protocol.model.id).unwrap().clone();
    Sources {
        protocol: Arc::new(protocol),
        protocol_text: "schema = 1\n".into(),
        planned: Vec::new(),
        tasks: Vec::new(),
        tools: vec![ToolTexts {
            server: "s0".into(),
            tool: "tool0".into(),
            original: "name: s0__tool0\ndescription:\n  long\n".to_owned(),
            shown: vec![
                ("L0".into(), Some("name: s0__tool0\ndescription:\n  short\n".to_owned())),
                ("L1".into(), None),
                ("raw-again".into(), Some("name: s0__tool0\ndescription:\n  long\n".to_owned())),
            ],
        }],
        meta: vec![MetaTexts { arm: "L1".into(), name: "s0__get_tool_schema".to_owned(), text: "an index".to_owned() }],
        sizes: BTreeMap::new(),
        pricing: Some(Pricing { price, billed: false }),
        seed: [3; 32],
        checks: vec![CheckLine {
            name: "manifest".to_owned(),
            outcome: CheckOutcome::Pass,
            evidence: "complete".to_owned(),
        }],
        not_shown: "where the responses came from".to_owned(),
    }
}

fn facts(n: u64) -> Vec<TaskFacts> {
    (0..n)
        .map(|i| {
            let meta = meta(i, ARMS.len());
            TaskFacts { id: meta.id, server: meta.server, tool: meta.tool, stratum: meta.stratum }
        })
        .collect()
}

/// A run of `n` tasks under six arms, closed or open.
pub(crate) fn run(n: u64, closed: bool) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = RecordWriter::create(folder.path()).unwrap();
    let mut counted = accumulator(n);
    for (episode, number) in episodes(n).iter().zip(0..) {
        counted.push(episode).unwrap();
        let draw = DrawId { task: episode.task.clone(), arm: Arc::clone(&episode.arm), turn: 1 };
        let surface = Digest::of(episode.arm.as_bytes());
        writer
            .open_attempt(&Opened { n: number, draw, attempt: 1, reserve: 0, request: surface.clone(), surface })
            .unwrap();
        writer
            .settle(&Settled {
                n: number,
                status: None,
                request_id: None,
                model: Some("mock-noisy".to_owned()),
                usage: Some(Usage {
                    input: 100,
                    cache_read: episode.usage.input - 100,
                    output: 10,
                    ..Usage::default()
                }),
                billed: 0,
                ms: None,
                error: None,
                response: Some(RawValue::from_string("{\"said\":\"hello\"}".to_owned()).unwrap()),
            })
            .unwrap();
        let mut line = episode.clone();
        if !closed {
            line.set_score(None);
        }
        writer.episode(&line).unwrap();
    }
    let certificate = closed.then(|| {
        let analysis = counted.finish(margin(), &reporting()).unwrap();
        let rule = Rule::of(&Protocol::built_in().unwrap()).unwrap();
        let verdict = evaluate(&rule, &analysis.input, &ExactCache::new()).unwrap();
        let certificate = Certificate::new(&subjects(), &rule, &[(&analysis, &verdict)]);
        writer.certificate(&certificate.bytes().unwrap()).unwrap();
        certificate
    });
    writer.manifest(&Manifest { complete: closed, ..manifest() }).unwrap();
    writer.flush().unwrap();
    let mut sources = sources();
    sources.planned =
        ARMS.iter().map(|arm| PlannedArm { arm: (*arm).into(), family: FamilyKind::Levels, episodes: n }).collect();
    sources.tasks = facts(n);
    let record = Record::open(folder.path()).unwrap();
    Run { _folder: folder, record, sources, scenes: Spoken { said: "please".to_owned() }, certificate }
}
