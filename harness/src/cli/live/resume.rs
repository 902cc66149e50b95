//! `bench resume`: goes on with a run exactly where it ended.

use std::{fs, path::Path, sync::Arc};

use anyhow::Context as _;
use bench_results::record::{Deviation, Record, RunKind};

use super::{
    args::ResumeArgs,
    conclude, provider, runtime,
    session::{LEDGER, Session, append, enter_finished, ledger_run},
    undertaking::{endpoint, key},
};
use crate::{
    cli::{failure::Failure, output::Output},
    exit,
    inputs::Inputs,
    ledger::{Event, Ledger, ResolveError, RunId},
    models::{BaseUrl, connect, identity},
    run::{
        live::{close, folder, terms},
        prepare::{Prepared, RunSpec},
    },
};

/// Resumes a run.
pub(in crate::cli) fn run(args: &ResumeArgs, output: &mut Output) -> Result<u8, Failure> {
    let malformed = |error: anyhow::Error| Failure::new(exit::INPUT, error);
    let id = find(&args.run, &args.out)?;
    let folder = args.out.join(id.as_str());
    let record = Record::open(&folder).map_err(|error| Failure::new(exit::INPUT, error))?;
    let mut manifest = record.manifest().clone();
    let Some(terms) = folder::terms(&folder).map_err(malformed)? else {
        return Err(Failure::usage(format!("run {id} is an offline one; it is simply run again")));
    };
    let inputs = Inputs::of_record(&record.inputs())?;
    let ledger = Ledger::at(LEDGER);
    let chain = ledger.read().map_err(|error| Failure::new(exit::INPUT, error))?;
    let known = chain.last(id.as_str()).map(|entry| entry.event);
    if manifest.complete {
        if matches!(known, Some(Event::Started | Event::Stopped)) {
            // It ended between its certificate and its last entry.
            enter_finished(&ledger, &folder, &manifest, &terms, &inputs)?;
            output.talk(&format!("run {id} was complete; the ledger has it as finished now"));
            return Ok(exit::OK);
        }
        return Err(Failure::usage(format!("run {id} is complete; `bench verify {id}` checks it")));
    }
    let spec = RunSpec { arms: manifest.arms.clone(), suites: manifest.suites.clone() };
    let prepared = Prepared::new(&inputs, &spec).map_err(malformed)?;
    let prices = folder::prices(&folder).map_err(malformed)?.digest().map_err(|error| malformed(error.into()))?;
    let now = terms::digests(&inputs, &prepared.families[0], &terms.settings, &prices)?;
    let drift = terms.drift(&now);
    if !drift.is_empty() || manifest.prices.as_ref() != Some(&prices) {
        let listed = drift.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        return Err(Failure::new(
            exit::LOCK_DRIFT,
            anyhow::anyhow!(
                "run {id} cannot go on as it began: {listed}; use the version of this program that started it, and its record as it was"
            ),
        ));
    }
    if known == Some(Event::Abandoned) {
        return Err(Failure::usage(format!("run {id} was abandoned; start another with `bench --live --exploratory`")));
    }
    let money = close::money(&folder, &terms).map_err(malformed)?;
    let base = BaseUrl::parse(&terms.base_url).map_err(|error| Failure::new(exit::INPUT, error))?;
    let provider = provider(&terms);
    let (key, _) = key(terms.key_variable.as_deref(), args.api_key_file.as_deref(), provider, &base)?;
    if let Some(budget) = args.budget_usd.filter(|budget| Some(*budget) != manifest.budget) {
        let before = manifest.budget.replace(budget).unwrap_or_default();
        let why = format!("from {before} to {budget} pico-dollars; no outcome had been seen");
        manifest.deviations.push(Deviation { what: "the budget was changed".to_owned(), why });
    }
    let entry = ledger_run(&manifest, &terms, &inputs)?;
    let runtime = runtime()?;
    let target = endpoint(provider, base.clone(), key, &inputs, &terms.settings, terms.timeout, terms.mock_server);
    let model = {
        let _inside = runtime.enter();
        connect(target).map_err(|error| Failure::new(exit::USAGE, error))?
    };
    let session = Session {
        inputs: &inputs,
        prepared: Arc::new(prepared),
        concurrency: args.concurrency.map_or(terms.concurrency, std::num::NonZeroU32::get),
        terms,
        manifest: manifest.clone(),
        folder: folder.clone(),
        strict: identity::is_strict(money.price(), &base),
        money,
        model,
        runtime,
        ledger: ledger.clone(),
    };
    // The journal's lock comes first: another process may be running this very run.
    let (journal, recovered) = session.open()?;
    if known.is_none() {
        // The run ended between its record and its entry; its look is taken now, or refused.
        append(&ledger, Event::Started, &entry)?;
        folder::keep_ledger(&folder, Path::new(LEDGER))?;
    }
    folder::write_manifest(&folder, &manifest)?;
    output.talk(&format!("run {id}: {} episodes are on record", recovered.episodes.len()));
    let outcome = session.run(journal, &recovered, output)?;
    conclude(outcome, None, &folder, output)
}

/// The run that a text names, among the live runs in a folder.
pub(super) fn find(text: &str, out: &Path) -> Result<RunId, Failure> {
    let runs = live_runs(out)?;
    RunId::resolve(text, &runs).cloned().map_err(|error: ResolveError| Failure::new(exit::USAGE, error))
}

/// Ids of the live runs in a folder, in order.
pub(super) fn live_runs(out: &Path) -> Result<Vec<RunId>, Failure> {
    let entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::new(exit::INPUT, anyhow::anyhow!("{}: {error}", out.display()))),
    };
    let mut runs = Vec::new();
    for entry in entries {
        let name = entry.with_context(|| out.display().to_string())?.file_name();
        runs.extend(RunId::parse(&name.to_string_lossy()));
    }
    runs.sort();
    Ok(runs)
}

/// True for a manifest of a live run, or of one against the mock server.
pub(super) fn kind_word(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Live => "live",
        RunKind::Plumbing => "plumbing",
    }
}
