//! `bench --live`: from checked arguments to a certificate. Everything that can refuse a run does so before anything is
//! asked; the ledger has the run before its first paid request leaves.

pub(super) mod args;
mod clock;
mod locked;
mod plan;
mod progress;
mod quantiles;
mod resume;
mod runs;
mod session;
mod undertaking;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use args::LiveArgs;
use bench_protocol::{digest::Digest, lock::Drift};
use bench_results::{
    record::{Deviation, FormatVersion, Manifest, ModelIds, RunKind},
    table::Planned,
};
use session::{LEDGER, Outcome, Session, append, folder_of, ledger_run, refused_by};
use tokio::runtime::Runtime;
use undertaking::{Asked, Part, Undertaking, endpoint, key};

pub(super) use plan::run as plan;
pub(super) use resume::run as resume;
pub(super) use runs::run as runs;

use super::{
    args::{GlobalArgs, RunArgs},
    check,
    ci::{self, Ended, Held},
    failure::Failure,
    output::Output,
};
use crate::{
    arms::Scope,
    build, exit,
    inputs::Inputs,
    ledger::{Chain, ChainError, Event, Ledger, LedgerError, RunId},
    locking,
    models::{Count, Key, Lifecycle, Model, ModelError, connect, identity},
    run::{
        live::{
            folder, seen,
            terms::{self, SCHEMA, Terms},
        },
        prepare::RunSpec,
    },
    wire::{Entry, Request},
};

/// Starts a live run.
pub(super) fn run(
    run: &RunArgs,
    live: &LiveArgs,
    global: &GlobalArgs,
    inputs: &Inputs,
    output: &mut Output,
) -> Result<u8, Failure> {
    let files = run.ci.open()?;
    files.close("bench --live", ended(run, live, global, inputs, output))
}

fn ended(
    run: &RunArgs,
    live: &LiveArgs,
    global: &GlobalArgs,
    inputs: &Inputs,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let asked = Asked::Part(Part { arms: &run.arms, tasks: run.tasks });
    let undertaking = Undertaking::new(asked, live, global, inputs)?;
    if let Some(arm) = run.require.as_ref().filter(|arm| !undertaking.spec.arms.contains(arm)) {
        return Err(Failure::usage(format!("--require {arm}: that arm is not part of this run")));
    }
    let (outcome, folder) = start(undertaking, live, global, inputs, &run.out, output)?;
    come_to(outcome, run.require.as_deref(), inputs, &folder, output)
}

/// Prints what a run, or a part of one, came to, and gives its verdicts.
fn come_to(
    outcome: Outcome,
    require: Option<&str>,
    inputs: &Inputs,
    folder: &Path,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cases = match &outcome {
        Outcome::Complete(certificate) => {
            let held = Held { required: require, levels: false, controls: certificate.confirmatory };
            ci::of_run(certificate, Planned::of(&inputs.protocol), held)
        }
        Outcome::Pilot => Vec::new(),
        Outcome::Stopped(code) => {
            let why = format!("stopped before its end; `bench resume {id}` goes on");
            return Ok(Ended::early(*code, id, why));
        }
    };
    let code = conclude(outcome, require, inputs, folder, output)?;
    Ok(Ended { code, suite: id, cases })
}

/// Starts a live pilot: as any exploratory run, on tasks of dev frames.
pub(super) fn pilot(
    spec: RunSpec,
    live: &LiveArgs,
    global: &GlobalArgs,
    inputs: &Inputs,
    out: &Path,
    output: &mut Output,
) -> Result<u8, Failure> {
    let undertaking = Undertaking::new(Asked::Pilot(spec), live, global, inputs)?;
    let (outcome, folder) = start(undertaking, live, global, inputs, out, output)?;
    conclude(outcome, None, inputs, &folder, output)
}

/// Starts an undertaking and runs it, to its end or its stop; the outcome, and the folder of its record.
fn start(
    undertaking: Undertaking,
    live: &LiveArgs,
    global: &GlobalArgs,
    inputs: &Inputs,
    out: &Path,
    output: &mut Output,
) -> Result<(Outcome, PathBuf), Failure> {
    let budget = live.budget_usd.ok_or_else(|| {
        Failure::usage("a live run needs a ceiling: give --budget-usd N (0 will do for a model that is free)")
    })?;
    let Start { lock, chain, key, variable } = may_start(&undertaking, live, global, inputs, budget, output)?;
    let ledger = Ledger::at(LEDGER);
    if !undertaking.confirmatory() {
        output.talk(&format!("exploratory, it can never certify: {}", undertaking.exploratory.join("; ")));
    }
    if undertaking.capability.assumed {
        output.talk(&format!(
            "`{}` is in no table: only fields that every server knows are sent",
            undertaking.settings.model
        ));
    }
    let runtime = runtime()?;
    let timeout = u64::from(live.timeout.get());
    let base = undertaking.base.clone();
    let target = endpoint(undertaking.provider, base, key, inputs, &undertaking.settings, timeout, live.mock_server);
    let model = {
        // The client's connections belong to the runtime.
        let _inside = runtime.enter();
        connect(target).map_err(|error| Failure::new(exit::USAGE, error))?
    };
    let refused = preflight(&runtime, model.as_ref(), &undertaking, inputs, output)?;
    let id = fresh_id(&chain, out)?;
    let folder = folder_of(out, id.as_str())?;
    let family = &undertaking.prepared.families[0];
    let prices = undertaking.prices.digest().map_err(|error| Failure::new(exit::BUG, error))?;
    let digests = terms::digests(inputs, family, &undertaking.settings, &prices)?;
    let looks_at = match &lock {
        Some(lock) => Some(lock.clone()),
        None => locked::looked_at(&family.tasks)?,
    };
    let terms = Terms {
        schema: SCHEMA,
        wire: undertaking.provider,
        base_url: undertaking.base.as_str().to_owned(),
        key_variable: variable,
        mock_server: live.mock_server,
        looks_at,
        order: undertaking.order,
        concurrency: live.concurrency.get(),
        timeout,
        settings: undertaking.settings.clone(),
        refused,
        digests,
    };
    let manifest = manifest(&undertaking, &terms, &chain, lock, &id, budget, prices);
    folder::create(&folder, inputs, &undertaking.prices, &terms, &manifest)?;
    let entry = ledger_run(&manifest, &terms, inputs)?;
    if let Err(error) = append(&ledger, Event::Started, &entry) {
        // Another run was quicker: nothing was asked, so nothing is kept. Where the ledger could not be written, the entry
        // may stand in it all the same, and the record stays so that the run can be resumed.
        if matches!(error, LedgerError::Refused(_)) {
            fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
        }
        return Err(refused_by(error));
    }
    folder::keep_ledger(&folder, Path::new(LEDGER))?;
    output.talk(&format!(
        "run {id}: {} under {} arms, record in {}",
        terms.settings.model,
        manifest.arms.len(),
        folder.display()
    ));
    let session = Session {
        inputs,
        money: undertaking.money(),
        strict: identity::is_strict(&undertaking.price, &undertaking.base),
        prepared: undertaking.prepared,
        concurrency: terms.concurrency,
        terms,
        accept_missing: false,
        manifest,
        folder: folder.clone(),
        model,
        runtime,
        ledger,
    };
    let (journal, recovered) = session.open()?;
    Ok((session.run(journal, recovered, output)?, folder))
}

/// What a run that may start rests on.
struct Start {
    lock: Option<Digest>,
    chain: Chain,
    key: Option<Key>,
    variable: Option<String>,
}

/// Everything that refuses a run without asking anybody: a drifted lock, a second look, no key, a ceiling that is too low.
fn may_start(
    undertaking: &Undertaking,
    live: &LiveArgs,
    global: &GlobalArgs,
    inputs: &Inputs,
    budget: u64,
    output: &Output,
) -> Result<Start, Failure> {
    if live.mock_server && !undertaking.base.is_loopback() {
        return Err(Failure::usage(format!(
            "--mock-server: {} is not this machine, and what answers there may be a real model; leave the flag out",
            undertaking.base.as_str()
        )));
    }
    if budget == 0 && !undertaking.price.is_free() {
        return Err(Failure::usage(format!(
            "--budget-usd 0 will do for a model that is free, and `{}` is priced; `bench plan` says what a run costs",
            undertaking.settings.model
        )));
    }
    let lock = lock(undertaking, global, inputs, output)?;
    let chain = Ledger::at(LEDGER).read().map_err(|error| Failure::new(exit::INPUT, error))?;
    first_look(undertaking, lock.as_ref(), &chain)?;
    let (key, variable) =
        key(live.api_key_env.as_deref(), live.api_key_file.as_deref(), undertaking.provider, &undertaking.base)?;
    plan::must_fit(undertaking, inputs, budget)?;
    Ok(Start { lock, chain, key, variable })
}

/// Prints what a part of a run came to.
fn conclude(
    outcome: Outcome,
    require: Option<&str>,
    inputs: &Inputs,
    folder: &Path,
    output: &mut Output,
) -> Result<u8, Failure> {
    match outcome {
        Outcome::Stopped(code) => Ok(code),
        Outcome::Pilot => super::pilot::of_record(folder, output),
        Outcome::Complete(certificate) => {
            check::report(&certificate, &inputs.protocol, folder, output)?;
            if let Some(arm) = require {
                return Ok(check::required(arm, &certificate));
            }
            let silent = certificate.confirmatory && !certificate.controls_behaved();
            Ok(if silent { exit::NO_VERDICT } else { exit::OK })
        }
    }
}

/// The lock that the run is under. A confirmatory run under a drifted one is refused; an exploratory run goes on without.
fn lock(
    undertaking: &Undertaking,
    global: &GlobalArgs,
    inputs: &Inputs,
    output: &Output,
) -> Result<Option<Digest>, Failure> {
    // No lock fixes what is made from dev frames.
    let free = global.overrides().any() || undertaking.is_pilot();
    let Some(lock) = inputs.chain.current().filter(|_| !free) else { return Ok(None) };
    let drift = locking::drift_of(inputs, &locking::compute(inputs)?).unwrap_or_default();
    if drift.is_empty() {
        return Ok(Some(lock.id().clone()));
    }
    let listed = drift.iter().map(Drift::to_string).collect::<Vec<_>>().join("; ");
    if undertaking.confirmatory() {
        return Err(Failure::new(
            exit::LOCK_DRIFT,
            anyhow::anyhow!("the inputs drifted from the lock ({listed}); freeze a new one, or run with --exploratory"),
        ));
    }
    output.talk(&format!("the inputs drifted from the lock ({listed}); the run is under no lock"));
    Ok(None)
}

/// Refuses a second confirmatory look before anything is asked. The ledger refuses it once more when the run is entered.
fn first_look(undertaking: &Undertaking, lock: Option<&Digest>, chain: &Chain) -> Result<(), Failure> {
    let Some(lock) = lock.filter(|_| undertaking.confirmatory()) else { return Ok(()) };
    let tasks = undertaking.prepared.families[0].tasks_digest()?;
    match chain.second_look(lock, Some(&tasks), &undertaking.settings.model, undertaking.family()) {
        Some(earlier) => {
            let error = ChainError::SecondLook { earlier: earlier.run.clone(), at: earlier.at.clone() };
            Err(Failure::new(exit::SECOND_LOOK, LedgerError::Refused(error)))
        }
        None => Ok(()),
    }
}

fn runtime() -> Result<Runtime, Failure> {
    let built = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    built.context("starting the runtime").map_err(|error| Failure::new(exit::RUNTIME, error))
}

/// Asks, for free, whether the model is served and which surfaces it refuses.
fn preflight(
    runtime: &Runtime,
    model: &dyn Model,
    undertaking: &Undertaking,
    inputs: &Inputs,
    output: &Output,
) -> Result<BTreeMap<String, String>, Failure> {
    let failed = |error: ModelError| Failure::new(exit::PROVIDER, error);
    let probe = runtime.block_on(model.probe()).map_err(failed)?;
    if probe.lifecycle == Lifecycle::Deprecated {
        output.talk(&format!("the provider has announced the end of `{}`", probe.id));
    }
    let family = &undertaking.prepared.families[0];
    let Some(task) = family.tasks.task(0) else { return Ok(BTreeMap::new()) };
    let entries = [Entry::User(task.utterance().to_owned())];
    let mut refused = BTreeMap::new();
    for arm in &family.arms {
        let scope = match &task {
            crate::run::family::AnyTask::Tool(_) => Scope::Catalogs,
            crate::run::family::AnyTask::Result(task) => Scope::Tool { server: &task.server, tool: &task.tool },
        };
        let session = arm.open(scope)?;
        let request = Request {
            settings: &undertaking.settings,
            system: family.system(&inputs.protocol),
            surface: session.surface(),
            entries: &entries,
        };
        match runtime.block_on(model.count_tokens(&request)).map_err(failed)? {
            Count::Tokens(_) => {}
            // No such endpoint: the first paid request of the arm will tell.
            Count::Unavailable => break,
            Count::Refused { status, message } => {
                let id = &arm.info().id.0;
                output.talk(&format!(
                    "the provider refuses the surface of `{id}` ({status}: {message}); it is not evaluated"
                ));
                refused.insert(id.clone(), format!("status {status}: {message}"));
            }
        }
    }
    let reference = &family.arms[0].info().id.0;
    match refused.get(reference) {
        Some(why) => Err(Failure::new(
            exit::PROVIDER,
            anyhow::anyhow!(
                "the provider refuses the surface of the reference `{reference}` ({why}); nothing can be compared"
            ),
        )),
        None => Ok(refused),
    }
}

/// An id that neither the ledger nor the folder of records has.
fn fresh_id(chain: &Chain, out: &Path) -> Result<RunId, Failure> {
    let known: std::collections::BTreeSet<&str> = chain.runs().map(|(entry, _)| entry.run.as_str()).collect();
    loop {
        let bits = getrandom::u64().context("asking the system for random bits")?;
        let taken = |id: &RunId| known.contains(id.as_str()) || out.join(id.as_str()).exists();
        if let Some(id) = RunId::from_bits(bits, taken) {
            return Ok(id);
        }
    }
}

fn manifest(
    undertaking: &Undertaking,
    terms: &Terms,
    chain: &Chain,
    lock: Option<Digest>,
    id: &RunId,
    budget: u64,
    prices: Digest,
) -> Manifest {
    let confirmatory = undertaking.confirmatory();
    let mut deviations: Vec<Deviation> = undertaking
        .exploratory
        .iter()
        .map(|why| Deviation { what: "exploratory".to_owned(), why: why.clone() })
        .collect();
    deviations.extend(terms.not_run());
    let mut manifest = Manifest {
        schema: FormatVersion,
        id: id.to_string(),
        // A scripted model behind a socket is a scripted model.
        kind: if terms.mock_server { RunKind::Plumbing } else { RunKind::Live },
        confirmatory,
        lock,
        model: ModelIds {
            provider: terms.wire.id().to_owned(),
            asked: terms.settings.model.clone(),
            returned: Vec::new(),
            host: undertaking.base.host().map(str::to_owned),
        },
        arms: undertaking.spec.arms.clone(),
        suites: undertaking.spec.suites.clone(),
        prices: Some(prices),
        budget: Some(budget),
        build: build::info(),
        started: Some(clock::now()),
        finished: None,
        complete: false,
        deviations,
    };
    seen::note(&mut manifest, terms, chain);
    manifest
}
