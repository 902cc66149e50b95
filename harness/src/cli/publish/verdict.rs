//! `bench verdict`: the default rule over runs that verify, and every run that the ledger knows.

use bench_results::{certificate::Certificate, record::Record};
use serde::Serialize;

use super::{
    args::VerdictArgs,
    record::{self, find},
};
use crate::{
    cli::{failure::Failure, output::Output},
    exit,
    ledger::{Chain, Entry, Event, Kind, Ledger, LedgerError},
    verdict::{Answer, Role, VerdictError, Verified, answer},
    verify::{Against, verify},
};

impl From<VerdictError> for Failure {
    fn from(error: VerdictError) -> Self {
        Self::new(exit::USAGE, error)
    }
}

/// A run that the ledger started.
#[derive(Debug, Serialize)]
struct Started {
    run: String,
    model: String,
    family: String,
    kind: Kind,
    last: Event,
    /// Whether it is among the runs given.
    given: bool,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    answer: &'a Answer,
    ledger: &'a [Started],
}

/// Runs the command.
pub(in crate::cli) fn run(args: &VerdictArgs, output: &mut Output) -> Result<u8, Failure> {
    let chain = Ledger::at(&args.ledger).read().map_err(|error: LedgerError| Failure::new(exit::INPUT, error))?;
    // A ledger that is not there is an empty one, in which no run can earn anything.
    let ledger = args.ledger.is_file().then(|| args.ledger.clone());
    let mut runs = Vec::new();
    let mut protocol = None;
    for text in &args.runs {
        let found = find(text, &args.out)?;
        let report = verify(found.folder(), &Against { ledger: ledger.clone(), ..Against::default() });
        if let Some(failed) = report.failures(false).next() {
            let error = anyhow::anyhow!("run {} does not verify: {}: {}", report.run, failed.name, failed.evidence);
            return Err(Failure::new(failed.code, error));
        }
        if !report.recomputed() {
            let why = "its certificate cannot be recomputed from what it withholds; a verdict needs the whole record";
            return Err(Failure::new(exit::VERIFY_CERTIFICATE, anyhow::anyhow!("run {}: {why}", report.run)));
        }
        let input = |error| Failure::new(exit::INPUT, error);
        let record = Record::open(found.folder()).map_err(input)?;
        let bytes = record.certificate().map_err(input)?;
        let certificate = Certificate::parse(&bytes).map_err(|error| Failure::new(exit::INPUT, error))?;
        if protocol.is_none() {
            protocol = Some(record::protocol(&record)?);
        }
        let run = record.manifest().id.clone();
        // With the digests of its record, to which the verification has held it.
        let finished = |entry: &Entry| entry.event == Event::Finished && entry.record.is_some();
        let entered = chain.last(&run).is_some_and(|entry| entry.kind == Kind::Confirmatory && finished(entry));
        runs.push(Verified { run, certificate, entered });
    }
    let Some(protocol) = protocol else { return Err(Failure::usage("no run is given")) };
    let answer = answer(&protocol, &runs)?;
    let ledger = started(&chain, &runs);
    if output.json {
        output.document(&Document { answer: &answer, ledger: &ledger })?;
    } else {
        print(&answer, &ledger, output)?;
    }
    Ok(exit::OK)
}

/// Every run that was ever started, abandoned ones included, in the order of the ledger.
fn started(chain: &Chain, runs: &[Verified]) -> Vec<Started> {
    let mut all: Vec<(u64, Started)> = chain
        .runs()
        .map(|(entry, last)| {
            let run = entry.run.to_string();
            let given = runs.iter().any(|one| one.run == run);
            let (model, family) = (entry.model.clone(), entry.family.clone());
            (entry.n, Started { run, model, family, kind: entry.kind, last, given })
        })
        .collect();
    all.sort_by_key(|(n, _)| *n);
    all.into_iter().map(|(_, started)| started).collect()
}

fn print(answer: &Answer, ledger: &[Started], output: &mut Output) -> Result<(), Failure> {
    let out = &mut output.product();
    for run in &answer.runs {
        let role = if run.role == Role::Primary { "primary" } else { "replication" };
        writeln!(out, "{role:<12} {} on {}", run.run, run.model)?;
    }
    let list = |arms: &[std::sync::Arc<str>]| {
        if arms.is_empty() { "no result digests".to_owned() } else { arms.join(", ") }
    };
    let earned = if answer.earned { "earned" } else { "the fallback" };
    writeln!(out, "a product may turn on: {} ({earned}); {}", answer.level, list(&answer.results))?;
    for why in &answer.because {
        writeln!(out, "  {why}")?;
    }
    if (&answer.would_be, &answer.results_would_be) != (&answer.level, &answer.results) {
        let results = list(&answer.results_would_be);
        writeln!(out, "if every run given could certify, it would be: {}; {results}", answer.would_be)?;
    }
    writeln!(out, "runs that the ledger started: {}", ledger.len())?;
    for one in ledger {
        let kind = if one.kind == Kind::Confirmatory { "confirmatory" } else { "exploratory" };
        let given = if one.given { "given" } else { "not given" };
        writeln!(
            out,
            "  {:<11} {kind:<12} {:<10} {:<28} {:<10} {given}",
            one.run,
            one.last.to_string(),
            one.model,
            one.family
        )?;
    }
    Ok(())
}
