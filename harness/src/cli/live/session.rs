//! One part of a live run, from its open journal to the close or the stop: what starting and resuming share.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use bench_results::{
    certificate::Certificate,
    record::{Manifest, RunKind},
};
use tokio::{runtime::Runtime, sync::mpsc};

use super::{clock, progress::Progress};
use crate::{
    cli::{failure::Failure, output::Output},
    exit,
    inputs::Inputs,
    journal::{Durability, Journal, JournalError, Recovered},
    ledger::{self, Event, Ledger, LedgerError},
    meter::{Limits, Refusal},
    models::Model,
    run::{
        live::{
            self, Report, Setup, Stop,
            close::{self, close},
            folder,
            money::Money,
            terms::Terms,
        },
        prepare::Prepared,
    },
};

/// Where all live runs are listed, seen from the folder that `bench` runs in: another `--out` does not make another ledger.
pub(in crate::cli) const LEDGER: &str = "results/ledger.jsonl";

/// Everything that a part of a run needs.
pub(super) struct Session<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) prepared: Arc<Prepared>,
    pub(super) terms: Terms,
    pub(super) manifest: Manifest,
    pub(super) folder: PathBuf,
    pub(super) money: Money,
    pub(super) model: Box<dyn Model>,
    pub(super) runtime: Runtime,
    pub(super) ledger: Ledger,
    pub(super) concurrency: u32,
    /// Reply, tier and region must be those that prices rest on.
    pub(super) strict: bool,
}

/// How a part of a run came out.
pub(super) enum Outcome {
    /// It is complete and judged.
    Complete(Box<Certificate>),
    /// It is a pilot and complete: there is nothing to judge.
    Pilot,
    /// It stopped, with this exit code; the reason was told.
    Stopped(u8),
}

impl Session<'_> {
    /// Opens the journal.
    pub(super) fn open(&self) -> Result<(Journal, Recovered), Failure> {
        let planned = self.terms.planned(self.inputs, &self.prepared.families[0]);
        let episodes = planned.episodes(&self.prepared.families[0]);
        let protocol = &self.inputs.protocol;
        // What catches a price of zero that is none: more attempts than the rules could ever ask for.
        let attempts = episodes
            .saturating_mul(protocol.episode.max_turns.into())
            .saturating_mul(protocol.missing.tries_not_billed.into());
        let limits =
            Limits { budget: self.manifest.budget.unwrap_or_default(), per_attempt: None, attempts: Some(attempts) };
        // Only money needs a disk that has it before the request leaves.
        let durability = if self.money.price().is_free() { Durability::Buffered } else { Durability::Synced };
        let opened = Journal::open(&self.folder, limits, durability).map_err(|error| {
            let code = if matches!(error, JournalError::Budget(_)) { exit::USAGE } else { exit::INPUT };
            Failure::new(code, error)
        })?;
        // The journal's lock says that nobody else is writing here.
        folder::sweep(&self.folder).map_err(|error| Failure::new(exit::INPUT, error))?;
        Ok(opened)
    }

    /// Runs what is not on record, and closes the run where everything is.
    pub(super) fn run(self, journal: Journal, recovered: &Recovered, output: &Output) -> Result<Outcome, Failure> {
        for cut in &recovered.cuts {
            output.talk(&format!("{}: a torn last line was moved to {}", cut.file.display(), cut.kept_in.display()));
        }
        if !recovered.interrupted.is_empty() {
            let count = recovered.interrupted.len();
            output.talk(&format!("{count} requests were under way when the run ended; they count as fully billed"));
        }
        let Self { inputs, prepared, terms, mut manifest, folder, money, model, runtime, ledger, concurrency, strict } =
            self;
        let setup = Setup {
            inputs: inputs.clone(),
            prepared: Arc::clone(&prepared),
            planned: terms.planned(inputs, &prepared.families[0]),
            order: terms.order,
            model,
            settings: terms.settings.clone(),
            money,
            concurrency,
            strict,
            folder: folder.clone(),
        };
        let mut progress = Progress::new(output, manifest.budget.unwrap_or_default());
        let report = runtime.block_on(async {
            let (ask, mut interrupts) = mpsc::unbounded_channel();
            tokio::spawn(async move { while tokio::signal::ctrl_c().await.is_ok() && ask.send(()).is_ok() {} });
            live::run(setup, journal, recovered, &mut progress, &mut interrupts).await
        });
        runtime.shutdown_background();
        let summary = progress.summary();
        drop(progress);
        if !summary.is_empty() {
            output.talk(summary.trim_end());
        }
        let report = report.map_err(|error| Failure::new(exit::INPUT, error))?;
        if let Some(stop) = report.stop {
            append(&ledger, Event::Stopped, &ledger_run(&manifest, &terms, inputs)?)?;
            return Ok(Outcome::Stopped(stopped(&stop, &manifest, &folder)));
        }
        told(&report, output);
        let certificate =
            close(&folder, inputs, &prepared, &terms, &mut manifest, clock::now()).context("closing the run")?;
        enter_finished(&ledger, &folder, &manifest, &terms, inputs)?;
        Ok(if manifest.is_pilot() { Outcome::Pilot } else { Outcome::Complete(Box::new(certificate)) })
    }
}

fn told(report: &Report, output: &Output) {
    if report.missing > 0 {
        output.talk(&format!("{} episodes have no outcome; they count against every level", report.missing));
    }
}

/// Says why a run stopped and how to go on; the exit code.
fn stopped(stop: &Stop, manifest: &Manifest, folder: &Path) -> u8 {
    let more = matches!(stop, Stop::Meter(Refusal::Budget { .. })).then_some(" --budget-usd N").unwrap_or_default();
    Output::warn(&format!("stopped: {stop}"));
    Output::warn(&format!(
        "nothing is lost: the record is in {}; go on with `bench resume {}{more}`",
        folder.display(),
        manifest.id
    ));
    match stop {
        Stop::Interrupted => exit::INTERRUPTED,
        Stop::Meter(_) => exit::NO_VERDICT,
        Stop::Provider(_) | Stop::Surprise(_) | Stop::Bound { .. } | Stop::Overrun(_) | Stop::Breaker { .. } => {
            exit::PROVIDER
        }
        Stop::Journal(_) => exit::INPUT,
        Stop::Fault(_) => exit::BUG,
    }
}

/// A run as the ledger names it.
pub(super) fn ledger_run(manifest: &Manifest, terms: &Terms, inputs: &Inputs) -> Result<ledger::Run, Failure> {
    let protocol = inputs.protocol.digest()?;
    ledger::Run::of(manifest, &protocol, terms.tasks()).map_err(|why| Failure::new(exit::INPUT, anyhow::anyhow!(why)))
}

/// Says in the ledger that a run is complete, and what it left behind.
pub(super) fn enter_finished(
    ledger: &Ledger,
    folder: &Path,
    manifest: &Manifest,
    terms: &Terms,
    inputs: &Inputs,
) -> Result<(), Failure> {
    let run = ledger_run(manifest, terms, inputs)?;
    // Before anybody reads it: from here on the lock's tasks have been looked at.
    if !manifest.confirmatory && manifest.lock.is_some() && manifest.kind == RunKind::Live {
        append(ledger, Event::Seen, &run)?;
    }
    let record = close::digests(folder).context("closing the run")?;
    ledger.finish(&clock::now(), &run, &record).map(drop).map_err(|error| Failure::new(exit::INPUT, error))
}

/// Adds an entry to the ledger.
pub(super) fn append(ledger: &Ledger, event: Event, run: &ledger::Run) -> Result<(), Failure> {
    ledger.append(&clock::now(), event, run).map(|_| ()).map_err(|error| {
        let second = matches!(error, LedgerError::Refused(ledger::ChainError::SecondLook { .. }));
        Failure::new(if second { exit::SECOND_LOOK } else { exit::INPUT }, error)
    })
}

/// The folder of a run.
pub(super) fn folder_of(out: &Path, id: &str) -> Result<PathBuf, Failure> {
    fs::create_dir_all(out)
        .with_context(|| out.display().to_string())
        .map_err(|error| Failure::new(exit::INPUT, error))?;
    Ok(out.join(id))
}
