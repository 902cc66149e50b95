//! `bench verify`: everything that can be recomputed from a record is recomputed, offline, from the record's own inputs.

mod index;
mod live;
mod replay;

use std::path::Path;

use bench_protocol::lock::drift;
use bench_results::{
    certificate::CertificateError,
    record::{INPUTS, Manifest, Record, RecordError},
};
use serde::Serialize;

pub(crate) use index::Index;
pub(crate) use live::{Live, Stage, replay as replay_live, wire_of};

use crate::{
    conclude::{Facts, Judge},
    exit,
    inputs::Inputs,
    ledger::{Event, Ledger},
    locking,
    run::{
        live::{
            close,
            folder::{self, LEDGER},
            terms::{self, Terms},
        },
        prepare::{Prepared, RunSpec},
    },
};

/// One named check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Whether it passed.
    pub pass: bool,
    /// What was compared, or what differs.
    pub evidence: String,
    /// Exit code of its kind of failure.
    #[serde(skip)]
    pub code: u8,
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The run.
    pub run: String,
    /// All checks that could be made, in order.
    pub checks: Vec<Check>,
    /// What no verification of a record can show.
    pub not_shown: &'static str,
}

/// The limit of every verification.
const NOT_SHOWN: &str =
    "that the model really sent these responses: a record proves what follows from them, not where they came from";

impl Report {
    /// Exit code: of the first check that failed.
    pub fn code(&self) -> u8 {
        self.checks.iter().find(|check| !check.pass).map_or(exit::OK, |check| check.code)
    }

    fn add(&mut self, name: &'static str, code: u8, outcome: Result<String, String>) -> bool {
        let (pass, evidence) = match outcome {
            Ok(evidence) => (true, evidence),
            Err(evidence) => (false, evidence),
        };
        self.checks.push(Check { name, pass, evidence, code });
        pass
    }

    fn replayed(&mut self, replayed: replay::Replayed) {
        self.add("schedule", exit::VERIFY_SCHEDULE, replayed.schedule);
        self.add("requests and surfaces", exit::VERIFY_SURFACES, replayed.surfaces);
        self.add("episodes", exit::VERIFY_EPISODES, replayed.episodes);
        self.add("books", exit::VERIFY_BOOKS, replayed.books);
    }

    fn certificate(&mut self, reader: &Record, judge: &Judge<'_>, facts: &Facts) {
        let outcome = certificate(reader, judge, facts);
        let code = if matches!(outcome, Err((true, _))) { exit::VERIFY_VERSION } else { exit::VERIFY_CERTIFICATE };
        self.add("certificate", code, outcome.map_err(|(_, why)| why));
    }
}

/// Verifies the record in a folder. Every check that the ones before it leave possible is made.
pub fn verify(folder: &Path) -> Report {
    let mut report = Report { run: folder.display().to_string(), checks: Vec::new(), not_shown: NOT_SHOWN };
    let reader = match Record::open(folder) {
        Ok(reader) => reader,
        Err(error) => {
            let code =
                if matches!(error, RecordError::Version { .. }) { exit::VERIFY_VERSION } else { exit::VERIFY_RECORD };
            report.add("manifest", code, Err(error.to_string()));
            return report;
        }
    };
    let manifest = reader.manifest();
    report.run.clone_from(&manifest.id);
    report.add("manifest", exit::VERIFY_RECORD, complete(&reader));
    let inputs = match Inputs::of_record(&reader.inputs()) {
        Ok(inputs) => inputs,
        Err(error) => {
            report.add("inputs", exit::VERIFY_INPUTS, Err(error.to_string()));
            return report;
        }
    };
    report.add("lock", exit::VERIFY_INPUTS, lock(&reader, &inputs));
    let spec = RunSpec { arms: manifest.arms.clone(), suites: manifest.suites.clone() };
    let prepared = match Prepared::new(&inputs, &spec) {
        Ok(prepared) => prepared,
        Err(error) => {
            report.add("tasks", exit::VERIFY_TASKS, Err(format!("{error:#}")));
            return report;
        }
    };
    match folder::terms(folder) {
        Ok(None) => verify_plumbing(&mut report, &reader, &inputs, &prepared),
        Ok(Some(terms)) => verify_live(&mut report, &reader, &inputs, &prepared, &terms),
        Err(error) => {
            report.add("terms", exit::VERIFY_INPUTS, Err(format!("{error:#}")));
        }
    }
    report
}

/// A record in schedule order: a scripted model in process.
fn verify_plumbing(report: &mut Report, reader: &Record, inputs: &Inputs, prepared: &Prepared) {
    let mut judge = match Judge::new(inputs, prepared) {
        Ok(judge) => judge,
        Err(error) => {
            report.add("tasks", exit::VERIFY_TASKS, Err(format!("{error:#}")));
            return;
        }
    };
    let replayed = replay::replay(reader, inputs, prepared, &mut judge);
    let facts = Facts { attempts: replayed.attempts, ..Facts::default() };
    report.replayed(replayed);
    report.certificate(reader, &judge, &facts);
}

/// A record in the order in which things happened: a model behind a socket.
fn verify_live(report: &mut Report, reader: &Record, inputs: &Inputs, prepared: &Prepared, terms: &Terms) {
    let family = match prepared.families.as_slice() {
        [family] => family,
        others => {
            let why = format!("a live run has one suite, the manifest names {}", others.len());
            report.add("tasks", exit::VERIFY_TASKS, Err(why));
            return;
        }
    };
    let planned = terms.planned(inputs, family);
    let built = Judge::of_planned(inputs, prepared, &planned).and_then(|judge| {
        Ok((judge, close::money(reader.folder(), terms)?, terms_hold(reader, inputs, family, terms)?))
    });
    let (mut judge, money, terms_hold) = match built {
        Ok(built) => built,
        Err(error) => {
            report.add("tasks", exit::VERIFY_TASKS, Err(format!("{error:#}")));
            return;
        }
    };
    report.add("terms", exit::VERIFY_INPUTS, terms_hold);
    report.add("ledger", exit::VERIFY_LEDGER, ledger(reader));
    let index = match Index::of(reader.folder()) {
        Ok(index) => index,
        Err(why) => {
            report.add("books", exit::VERIFY_BOOKS, Err(why));
            return;
        }
    };
    let stage = if reader.manifest().complete { Stage::Closed } else { Stage::Closing };
    let live = Live { reader, inputs, family, planned: &planned, terms, money: &money, index: &index, stage };
    report.replayed(replay_live(&live, &mut judge, &mut |_| {}));
    report.certificate(reader, &judge, &close::facts(reader.manifest(), terms, &index));
}

/// What the run was started on, re-made and compared digest by digest.
fn terms_hold(
    reader: &Record,
    inputs: &Inputs,
    family: &crate::run::family::Family,
    terms: &Terms,
) -> anyhow::Result<Result<String, String>> {
    let manifest = reader.manifest();
    let prices = folder::prices(reader.folder())?.digest()?;
    if manifest.prices.as_ref() != Some(&prices) {
        return Ok(Err(format!("the prices kept are {prices}, the manifest states others")));
    }
    let now = terms::digests(inputs, family, &terms.settings, &prices)?;
    let drift = terms.drift(&now);
    Ok(if drift.is_empty() {
        Ok(format!("tasks, surfaces, request fields, prices: {} digests re-made and equal", now.len()))
    } else {
        Err(drift.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    })
}

/// The ledger as it was when the run started must hold together and name the run.
fn ledger(reader: &Record) -> Result<String, String> {
    let chain = Ledger::at(reader.folder().join(INPUTS).join(LEDGER)).read().map_err(|error| error.to_string())?;
    let manifest: &Manifest = reader.manifest();
    let entry = chain
        .entries()
        .iter()
        .find(|entry| entry.event == Event::Started && entry.run.as_str() == manifest.id)
        .ok_or_else(|| format!("run {} is not in the ledger kept with it", manifest.id))?;
    if entry.model != manifest.model.asked
        || entry.arms != manifest.arms
        || Some(&entry.prices) != manifest.prices.as_ref()
    {
        return Err(format!("the ledger started run {} with another model, other arms or other prices", manifest.id));
    }
    if manifest.confirmatory && manifest.lock.as_ref() != Some(&entry.lock) {
        return Err(format!("the ledger started run {} under another lock", manifest.id));
    }
    Ok(format!("entry {} started the run; the chain up to it holds", entry.n))
}

fn complete(reader: &Record) -> Result<String, String> {
    let manifest = reader.manifest();
    if manifest.complete {
        Ok(format!("{} run, {} arms, complete", kind(reader), manifest.arms.len()))
    } else {
        Err("the run is not complete: it has no certificate to verify".to_owned())
    }
}

fn kind(reader: &Record) -> &'static str {
    match reader.manifest().kind {
        bench_results::record::RunKind::Plumbing => "plumbing",
        bench_results::record::RunKind::Live => "live",
    }
}

/// The record's inputs must be what its lock says, digest by digest, tasks and surfaces re-made.
fn lock(reader: &Record, inputs: &Inputs) -> Result<String, String> {
    let Some(stated) = &reader.manifest().lock else {
        return Ok("the run states no lock: exploratory".to_owned());
    };
    let current = inputs.chain.current().ok_or("the record keeps no lock")?;
    if current.id() != stated {
        return Err(format!("the manifest states lock {stated}, the record's chain ends in {}", current.id()));
    }
    let computed = locking::compute(inputs).map_err(|error| format!("{error:#}"))?;
    let drifted = drift(current, &computed);
    if drifted.is_empty() {
        Ok(format!("{stated}: protocol, catalogs, intents, task lists, prompts and surfaces re-made and equal"))
    } else {
        Err(drifted.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }
}

/// The error says whether another version of this program is needed.
fn certificate(reader: &Record, judge: &Judge<'_>, facts: &Facts) -> Result<String, (bool, String)> {
    let recorded = reader.certificate().map_err(|error| (false, error.to_string()))?;
    if let Err(error @ CertificateError::Method { .. }) = bench_results::certificate::Certificate::parse(&recorded) {
        return Err((true, error.to_string()));
    }
    let conclusion = judge.conclude(reader.manifest(), facts).map_err(|error| (false, format!("{error:#}")))?;
    let computed = conclusion.certificate.bytes().map_err(|error| (false, error.to_string()))?;
    if computed == recorded {
        Ok(format!("{} bytes recomputed, equal byte for byte", recorded.len()))
    } else {
        Err((false, difference(&recorded, &computed)))
    }
}

/// Names the first place where two canonical documents differ.
fn difference(recorded: &[u8], computed: &[u8]) -> String {
    let values = serde_json::from_slice::<serde_json::Value>(recorded)
        .ok()
        .zip(serde_json::from_slice::<serde_json::Value>(computed).ok());
    let Some((recorded, computed)) = values else {
        return "the recorded certificate is no JSON document".to_owned();
    };
    first_difference("", &recorded, &computed)
        .unwrap_or_else(|| "the values agree, but the recorded bytes are not canonical".to_owned())
}

fn first_difference(path: &str, recorded: &serde_json::Value, computed: &serde_json::Value) -> Option<String> {
    use serde_json::Value::{Array, Object};
    match (recorded, computed) {
        (Object(left), Object(right)) => {
            let keys: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            keys.into_iter().find_map(|key| {
                let null = serde_json::Value::Null;
                let at = |map: &serde_json::Map<_, _>| map.get(key).cloned().unwrap_or(null.clone());
                first_difference(&format!("{path}/{key}"), &at(left), &at(right))
            })
        }
        (Array(left), Array(right)) if left.len() == right.len() => left
            .iter()
            .zip(right)
            .enumerate()
            .find_map(|(place, (left, right))| first_difference(&format!("{path}/{place}"), left, right)),
        (left, right) if left == right => None,
        (left, right) => Some(format!("at {path}: recorded {}, recomputed {}", short(left), short(right))),
    }
}

fn short(value: &serde_json::Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 80 { format!("{}…", text.chars().take(80).collect::<String>()) } else { text }
}
