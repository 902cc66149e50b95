//! What the run stands on: its identity, protocol, amendments, deviations, checks.

use bench_protocol::verdict::Endpoint;
use serde::Serialize;

use super::{
    source::{CheckLine, CheckOutcome, Sources},
    text::{tame, word},
};
use crate::{
    certificate::Certificate,
    record::{Deviation, Manifest, RunKind, Weight},
};

/// Characters of a protocol's text.
const PROTOCOL: usize = 30_000;

/// The run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunView {
    /// Its id.
    pub id: String,
    /// `plumbing` or `live`.
    pub kind: String,
    /// Whether a scripted model answered.
    pub mock: bool,
    /// Whether it is a confirmatory one.
    pub confirmatory: bool,
    /// What its verdicts weigh.
    pub weight: Weight,
    /// Whether it is closed; an open run has no outcomes.
    pub complete: bool,
    /// Provider, model asked for, models that answered, host.
    pub model: Vec<(String, String)>,
    /// Version, commit, target and compiler of the program that ran it.
    pub build: Vec<(String, String)>,
    /// Start and end; live runs only.
    pub times: Vec<(String, String)>,
    /// Digest of the certificate's bytes.
    pub certificate: Option<String>,
}

/// Whether the report rests on a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Nothing that was recomputed disagrees.
    Verified,
    /// Nothing was recomputed.
    Unverified,
    /// The record does not verify: its certificate is worth nothing.
    Refuted,
}

impl Trust {
    /// What these checks come to.
    pub(super) fn of(checks: &[CheckLine]) -> Self {
        if checks.is_empty() {
            Self::Unverified
        } else if checks.iter().any(|check| check.outcome == CheckOutcome::Fail) {
            Self::Refuted
        } else {
            Self::Verified
        }
    }
}

/// Protocol, amendments, deviations, checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Digest of the canonical protocol.
    pub protocol: Option<String>,
    /// Choices that decide, by name.
    pub choices: Vec<(String, String)>,
    /// The protocol's text.
    pub protocol_text: String,
    /// The lock and those before it, the newest first: id, reason, whether outcomes had been seen.
    pub amendments: Vec<(String, String, bool)>,
    /// What was done otherwise.
    pub deviations: Vec<Deviation>,
    /// What that verification came to.
    pub trust: Trust,
    /// The verification that was made for this report.
    pub checks: Vec<CheckLine>,
    /// What no verification can show.
    pub not_shown: String,
}

/// The run as its manifest has it.
pub(super) fn run(manifest: &Manifest, certificate: Option<String>) -> RunView {
    let pair = |name: &str, value: &str| (name.to_owned(), tame(value, 200));
    let model = &manifest.model;
    let build = &manifest.build;
    RunView {
        id: tame(&manifest.id, 64),
        kind: word(&manifest.kind),
        mock: manifest.kind == RunKind::Plumbing,
        confirmatory: manifest.confirmatory,
        weight: Weight::of(manifest.kind, manifest.confirmatory),
        complete: manifest.complete,
        model: [
            Some(pair("provider", &model.provider)),
            Some(pair("asked for", &model.asked)),
            Some(pair("answered", &model.returned.join(", "))),
            model.host.as_ref().map(|host| pair("host", host)),
        ]
        .into_iter()
        .flatten()
        .collect(),
        build: [
            Some(pair("version", &build.version)),
            build.commit.as_ref().map(|commit| pair("commit", commit)),
            build.dirty.map(|dirty| pair("checkout", if dirty { "with changes" } else { "clean" })),
            Some(pair("target", &build.target)),
            Some(pair("compiler", &build.rustc)),
        ]
        .into_iter()
        .flatten()
        .collect(),
        times: [("started", &manifest.started), ("finished", &manifest.finished)]
            .into_iter()
            .filter_map(|(name, time)| Some(pair(name, time.as_ref()?)))
            .collect(),
        certificate,
    }
}

/// What it stands on.
pub(super) fn standing(manifest: &Manifest, certificate: Option<&Certificate>, sources: &Sources) -> Standing {
    let locks = certificate.map(|certificate| certificate.locks.as_slice()).unwrap_or_default();
    let check = |line: &CheckLine| CheckLine {
        name: tame(&line.name, 64),
        outcome: line.outcome,
        evidence: tame(&line.evidence, 600),
    };
    let deviation = |one: &Deviation| Deviation { what: tame(&one.what, 200), why: tame(&one.why, 600) };
    Standing {
        protocol: certificate.map(|certificate| certificate.protocol.to_string()),
        choices: choices(sources),
        protocol_text: tame(&sources.protocol_text, PROTOCOL),
        amendments: locks.iter().map(|lock| (lock.id.to_string(), tame(&lock.reason, 600), lock.data_seen)).collect(),
        deviations: manifest.deviations.iter().take(100).map(deviation).collect(),
        trust: Trust::of(&sources.checks),
        checks: sources.checks.iter().take(100).map(check).collect(),
        not_shown: sources.not_shown.clone(),
    }
}

fn choices(sources: &Sources) -> Vec<(String, String)> {
    let protocol = &sources.protocol;
    let (tools, results) = (&protocol.suites.tools, &protocol.suites.results);
    let breakpoints: Vec<String> = protocol.cache.breakpoints.iter().map(word).collect();
    let named = |ids: &[String]| ids.join(", ");
    let tested = |all: &[Endpoint]| all.iter().map(|endpoint| endpoint.name()).collect::<Vec<_>>().join(", ");
    [
        ("margin", protocol.test.margin.to_string()),
        ("one-sided level", protocol.test.alpha.to_string()),
        ("endpoints of the tool suite", format!("{}, both must hold", tested(&protocol.endpoints.tools))),
        ("endpoint of the result suite", tested(&protocol.endpoints.results)),
        (
            "tool tasks",
            format!(
                "{} = tools × {} frames × {} tasks, and {} that no tool serves",
                tools.tool_tasks, tools.frames_per_tool, tools.tasks_per_frame, tools.abstain_tasks
            ),
        ),
        ("result tasks", results.tasks.to_string()),
        (
            "reference and levels, in the order of testing",
            format!("{}; {}", protocol.arms.reference, named(&protocol.arms.levels)),
        ),
        ("controls", format!("{}; {}", named(&protocol.arms.controls), named(&protocol.arms.results_controls))),
        ("seed of the primary run", protocol.seeds.primary.clone()),
        ("turns of an episode", format!("at most {}", protocol.episode.max_turns)),
        ("model", format!("{}, temperature {}", protocol.model.id, protocol.model.temperature)),
        ("prompt cache", format!("breakpoints: {}, kept {}", breakpoints.join(", "), word(&protocol.cache.ttl))),
        ("missing outcomes", protocol.missing.rule.name().to_owned()),
        ("planned power per endpoint", protocol.power.target_per_endpoint.to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), tame(&value, 400)))
    .to_vec()
}
