//! `bench resume`: goes on with a run exactly where it ended.

use std::{fs, path::Path, sync::Arc};

use anyhow::Context as _;
use bench_results::{
    certificate::Certificate,
    record::{Build, Deviation, INPUTS, Manifest, Record, RunKind},
};

use super::{
    args::ResumeArgs,
    come_to, runtime,
    session::{LEDGER, Outcome, Session, append, finish, ledger_run, refused_by, see},
    undertaking::{endpoint, key},
};
use crate::{
    build,
    cli::{ci::Ended, failure::Failure, output::Output},
    exit,
    inputs::Inputs,
    journal::{Hold, Journal, Recovered},
    ledger::{Event, Ledger, ResolveError, RunId},
    meter::{Overrun, Refusal},
    models::{BaseUrl, connect, identity},
    run::{
        live::{
            folder, money,
            overrun::{self, Beyond},
            remake::{self, RemakeError, Resumed},
            seen,
            terms::{self, Terms},
        },
        prepare::{Prepared, RunSpec},
    },
};

/// Resumes a run.
pub(in crate::cli) fn run(args: &ResumeArgs, output: &mut Output) -> Result<u8, Failure> {
    let files = args.ci.open()?;
    files.close("bench resume", ended(args, output))
}

fn ended(args: &ResumeArgs, output: &mut Output) -> Result<Ended, Failure> {
    let malformed = |error: anyhow::Error| Failure::new(exit::INPUT, error);
    let id = find(&args.run, &args.out)?;
    let folder = args.out.join(id.as_str());
    let record = Record::open(&folder).map_err(|error| Failure::new(exit::INPUT, error))?;
    let mut manifest = record.manifest().clone();
    let terms = folder::terms(&folder)
        .and_then(|terms| terms.with_context(|| format!("{}: the terms of the run are missing", folder.display())))
        .map_err(malformed)?;
    let require = args.require.as_deref();
    if let Some(arm) = require.filter(|arm| !manifest.arms.iter().any(|known| known == arm)) {
        return Err(Failure::usage(format!("--require {arm}: that arm is not part of run {id}")));
    }
    let inputs = Inputs::of_record(&record.inputs())?;
    let ledger = Ledger::at(LEDGER);
    if manifest.complete {
        let outcome = seal(&folder, &terms, &inputs, &ledger, output)?;
        return come_to(outcome, require, &inputs, &folder, output);
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
    let money = money::of_record(&folder, &terms).map_err(malformed)?;
    let base = BaseUrl::parse(&terms.base_url).map_err(|error| Failure::new(exit::INPUT, error))?;
    let provider = terms.wire;
    let variable = variable(args, &terms, &base)?;
    let (key, _) = key(variable, args.api_key_file.as_deref(), provider, &base)?;
    if let Some(budget) = args.budget_usd.filter(|budget| Some(*budget) != manifest.budget) {
        let before = manifest.budget.replace(budget).unwrap_or_default();
        let why = format!("from {before} to {budget} pico-dollars");
        manifest.deviations.push(Deviation { what: "the budget was changed".to_owned(), why });
    }
    let runtime = runtime()?;
    let target = endpoint(provider, base.clone(), key, &inputs, &terms.settings, terms.timeout, terms.mock_server);
    let model = {
        let _inside = runtime.enter();
        connect(target).map_err(|error| Failure::new(exit::USAGE, error))?
    };
    let mut session = Session {
        inputs: &inputs,
        prepared: Arc::new(prepared),
        concurrency: args.concurrency.map_or(terms.concurrency, std::num::NonZeroU32::get),
        terms,
        accept_missing: args.accept_missing,
        manifest,
        folder: folder.clone(),
        strict: identity::is_strict(money.price(), &base),
        money,
        model,
        runtime,
        ledger,
    };
    // The journal's lock comes first: another process may be running this very run, or may have just closed it.
    let (journal, recovered) = session.open()?;
    let locked = Record::open(&folder).map_err(|error| Failure::new(exit::INPUT, error))?;
    if locked.manifest() != record.manifest() {
        return Err(malformed(anyhow::anyhow!("run {id} went on elsewhere a moment ago; try again")));
    }
    let beyond = remade(&session, &recovered)?;
    accept(&mut session, args, &journal, &Billed { overruns: &recovered.overruns, beyond: &beyond })?;
    enter(&session)?;
    let chain = session.ledger.read().map_err(refused_by)?;
    seen::note(&mut session.manifest, &session.terms, &chain);
    folder::write_manifest(&folder, &session.manifest)?;
    output.talk(&format!("run {id}: {} episodes are on record", recovered.episodes.len()));
    let outcome = session.run(journal, recovered, output)?;
    come_to(outcome, require, &inputs, &folder, output)
}

/// The variable that the key is in. A record says where its requests go and which variable was sent there, and anybody can
/// write a record: it is believed for this machine, and for a provider's own address and usual variable.
fn variable<'a>(args: &'a ResumeArgs, terms: &'a Terms, base: &BaseUrl) -> Result<Option<&'a str>, Failure> {
    let named = args.api_key_env.as_deref();
    let recorded = terms.key_variable.as_deref().filter(|_| named.is_none() && args.api_key_file.is_none());
    let Some(recorded) = recorded else { return Ok(named) };
    let usual = terms.wire.is_official(base) && recorded == terms.wire.key_variable();
    if usual || base.is_loopback() {
        return Ok(Some(recorded));
    }
    Err(Failure::usage(format!(
        "the run sends the variable {recorded} to {}; if that is what you want, say so with --api-key-env {recorded}",
        base.as_str()
    )))
}

/// Refuses to go on where this program would have asked something else than what is on record.
fn remade(session: &Session<'_>, recovered: &Recovered) -> Result<Vec<Beyond>, Failure> {
    let family = &session.prepared.families[0];
    let wire = session.terms.wire.wire();
    let resumed = Resumed { inputs: session.inputs, family, terms: &session.terms, wire, recovered };
    let error = match remake::check(resumed) {
        Ok(beyond) => return Ok(beyond),
        Err(error) => error,
    };
    let code = match error {
        RemakeError::Differs { .. } | RemakeError::Response { .. } => exit::LOCK_DRIFT,
        RemakeError::Arm(_) => exit::BUG,
        RemakeError::Journal(_) => exit::INPUT,
    };
    let (began, now) = (words(&session.manifest.build), words(&build::info()));
    Err(Failure::new(
        code,
        anyhow::anyhow!(
            "run {} cannot go on as it began: {error}; it was begun with {began}, and this is {now}: resume it with the build that \
             began it",
            session.manifest.id
        ),
    ))
}

/// What was billed more than it could be.
struct Billed<'a> {
    overruns: &'a [Overrun],
    beyond: &'a [Beyond],
}

impl Billed<'_> {
    /// The deviations that accept it, with the words for it.
    fn accepted(&self) -> impl Iterator<Item = (Deviation, String)> {
        let overruns = self.overruns.iter().map(|&one| (overrun::accepted(one), Refusal::Overrun(one).to_string()));
        overruns.chain(self.beyond.iter().map(|one| (one.accepted(), one.to_string())))
    }
}

/// Records what is done otherwise from here on: another build, overruns and missing episodes that are accepted.
fn accept(session: &mut Session<'_>, args: &ResumeArgs, journal: &Journal, billed: &Billed<'_>) -> Result<(), Failure> {
    let deviations = &mut session.manifest.deviations;
    let mut note = |deviation: Deviation| {
        if !deviations.contains(&deviation) {
            deviations.push(deviation);
        }
    };
    let (began, now) = (&session.manifest.build, &build::info());
    if (&began.version, &began.commit, began.dirty) != (&now.version, &now.commit, now.dirty) {
        let why = format!(
            "begun with {}, gone on with {}, which makes every request on record byte for byte",
            words(began),
            words(now)
        );
        note(Deviation { what: "the run went on with another build".to_owned(), why });
    }
    if args.accept_missing {
        let why = "what asking again brings no outcome for is recorded as missing, however much it is";
        note(Deviation { what: "missing episodes were accepted".to_owned(), why: why.to_owned() });
    }
    if args.accept_overrun {
        billed.accepted().for_each(|(deviation, _)| note(deviation));
    }
    if let Some((_, what)) = billed.accepted().find(|(deviation, _)| !deviations.contains(deviation)) {
        return Err(Failure::new(
            exit::PROVIDER,
            anyhow::anyhow!(
                "{what}; compare the provider's usage page, then go on with `bench resume {} --accept-overrun`, a recorded \
                 deviation",
                session.manifest.id
            ),
        ));
    }
    journal.accept_overruns().map_err(|error| Failure::new(exit::INPUT, error))
}

/// Makes ledger and record agree on the start of the run, wherever between the two it was killed.
fn enter(session: &Session<'_>) -> Result<(), Failure> {
    let Session { manifest, folder, ledger, .. } = session;
    let (known, kept) = (last_event(ledger, manifest)?, folder.join(INPUTS).join(folder::LEDGER).is_file());
    match (known, kept) {
        (Some(Event::Abandoned), _) => Err(Failure::usage(format!(
            "run {} was abandoned; start another with `bench --live --exploratory`",
            manifest.id
        ))),
        (Some(_), true) => Ok(()),
        // It ended between its entry and the copy that the record keeps.
        (Some(_), false) => Ok(folder::keep_ledger(folder, Path::new(LEDGER))?),
        // It ended between its record and its entry: its look is taken now, or refused.
        (None, false) => {
            let run = ledger_run(manifest, &session.terms, session.inputs)?;
            append(ledger, Event::Started, &run).map_err(refused_by)?;
            Ok(folder::keep_ledger(folder, Path::new(LEDGER))?)
        }
        (None, true) => Err(not_entered(manifest)),
    }
}

/// Enters what is missing of the end of a complete run: it was killed between its close and its last entry.
fn seal(folder: &Path, terms: &Terms, inputs: &Inputs, ledger: &Ledger, output: &Output) -> Result<Outcome, Failure> {
    // Whoever is just closing it enters the end too.
    let _hold = Hold::take(folder).map_err(|error| Failure::new(exit::INPUT, error))?;
    let record = Record::open(folder).map_err(|error| Failure::new(exit::INPUT, error))?;
    let manifest = record.manifest();
    let id = &manifest.id;
    match last_event(ledger, manifest)? {
        None => return Err(not_entered(manifest)),
        Some(Event::Finished) => {
            return Err(Failure::usage(format!("run {id} is complete; `bench verify {id}` checks it")));
        }
        Some(_) => {}
    }
    let run = ledger_run(manifest, terms, inputs)?;
    see(ledger, &run, manifest, terms)?;
    finish(ledger, folder, &run)?;
    output.talk(&format!("run {id} was complete; now the ledger says so too"));
    if manifest.is_pilot() {
        return Ok(Outcome::Pilot);
    }
    let bytes = record.certificate().map_err(|error| Failure::new(exit::INPUT, error))?;
    let certificate = Certificate::parse(&bytes).map_err(|error| Failure::new(exit::INPUT, error))?;
    Ok(Outcome::Complete(Box::new(certificate)))
}

/// What the ledger last says of a run.
fn last_event(ledger: &Ledger, manifest: &Manifest) -> Result<Option<Event>, Failure> {
    let chain = ledger.read().map_err(refused_by)?;
    Ok(chain.runs().find(|(entry, _)| entry.run.as_str() == manifest.id).map(|(_, last)| last))
}

fn not_entered(manifest: &Manifest) -> Failure {
    Failure::new(
        exit::INPUT,
        anyhow::anyhow!(
            "{LEDGER} does not have run {}, whose record says that it was entered; restore the ledger from its published copy, \
             or resume in the folder that the run was started in",
            manifest.id
        ),
    )
}

/// A build in words: version, commit, and whether its checkout had changes.
fn words(build: &Build) -> String {
    let commit = build.commit.as_deref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
    let dirty = if build.dirty == Some(true) { " with changes" } else { "" };
    format!("version {}{commit}{dirty}", build.version)
}

/// The run that a text names, among the live runs in a folder.
pub(super) fn find(text: &str, out: &Path) -> Result<RunId, Failure> {
    let runs = live_runs(out)?;
    RunId::resolve(text, &runs).cloned().map_err(|error: ResolveError| {
        // Offline records are folders beside them.
        if !text.is_empty() && Record::open(&out.join(text)).is_ok() {
            return Failure::usage(format!("run {text} is an offline one; it is simply run again"));
        }
        Failure::new(exit::USAGE, error)
    })
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
