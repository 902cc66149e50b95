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
    close::{self, close},
    exit,
    inputs::Inputs,
    journal::{Durability, Journal, JournalError, Recovered},
    ledger::{self, Event, Ledger, LedgerError},
    meter::{Limits, Refusal},
    models::Model,
    run::{
        live::{self, Report, Setup, Stop, folder, money::Money, seen, terms::Terms},
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
    /// What stays without an outcome is recorded as missing however much it is.
    pub(super) accept_missing: bool,
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
    pub(super) fn run(self, journal: Journal, recovered: Recovered, output: &Output) -> Result<Outcome, Failure> {
        for cut in &recovered.cuts {
            output.talk(&format!("{}: a torn last line was moved to {}", cut.file.display(), cut.kept_in.display()));
        }
        if !recovered.interrupted.is_empty() {
            let count = recovered.interrupted.len();
            output.talk(&format!("{count} requests were under way when the run ended; they count as fully billed"));
        }
        let Self {
            inputs,
            prepared,
            terms,
            mut manifest,
            folder,
            money,
            model,
            runtime,
            ledger,
            concurrency,
            accept_missing,
            strict,
        } = self;
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
            accept_missing,
            folder: folder.clone(),
        };
        // Held until the end is in the ledger: a record that is being closed is no more to be resumed than a running one.
        let hold = journal.hold();
        let (ask, mut interrupts) = mpsc::unbounded_channel();
        runtime.spawn(async move { while tokio::signal::ctrl_c().await.is_ok() && ask.send(()).is_ok() {} });
        let mut progress = Progress::new(output, manifest.budget.unwrap_or_default());
        let report = runtime.block_on(live::run(setup, journal, &recovered, &mut progress, &mut interrupts));
        // The close reads the record anew, and what was recovered grows with it.
        drop(recovered);
        let summary = progress.summary();
        drop(progress);
        if !summary.is_empty() {
            output.talk(summary.trim_end());
        }
        let report = report.map_err(|error| Failure::new(exit::INPUT, error))?;
        let undertaking = ledger_run(&manifest, &terms, inputs)?;
        if let Some(stop) = report.stop {
            runtime.shutdown_background();
            append(&ledger, Event::Stopped, &undertaking).map_err(refused_by)?;
            return Ok(Outcome::Stopped(stopped(&stop, &manifest, &folder)));
        }
        told(&report, output);
        // Another run may have shown results while this one went on.
        seen::note(&mut manifest, &terms, &ledger.read().map_err(refused_by)?);
        // Before anything is scored: a close that is cut short may have shown its results.
        see(&ledger, &undertaking, &manifest, &terms)?;
        let (id, pilot) = (manifest.id.clone(), manifest.is_pilot());
        let closing = {
            let (inputs, folder, hold) = (inputs.clone(), folder.clone(), hold.clone());
            move || {
                let _held = hold;
                let mut manifest = manifest;
                close(&folder, &inputs, &prepared, &terms, &mut manifest, clock::now())
            }
        };
        let closed = runtime.block_on(async {
            tokio::select! {
                closed = tokio::task::spawn_blocking(closing) => Some(closed),
                Some(()) = interrupts.recv() => None,
            }
        });
        runtime.shutdown_background();
        let Some(closed) = closed else {
            Output::warn(&format!("interrupted while the run was being closed; `bench resume {id}` closes it"));
            return Ok(Outcome::Stopped(exit::INTERRUPTED));
        };
        let certificate = closed.context("closing the run broke off")?.context("closing the run")?;
        finish(&ledger, &folder, &undertaking)?;
        drop(hold);
        Ok(if pilot { Outcome::Pilot } else { Outcome::Complete(Box::new(certificate)) })
    }
}

/// Enters, once per run, that the tasks of a lock are no longer unseen: a live model has answered them, and the run is not
/// the confirmatory one.
pub(super) fn see(ledger: &Ledger, run: &ledger::Run, manifest: &Manifest, terms: &Terms) -> Result<(), Failure> {
    if manifest.confirmatory || terms.looks_at.is_none() || manifest.kind != RunKind::Live {
        return Ok(());
    }
    let chain = ledger.read().map_err(refused_by)?;
    if chain.entries().iter().any(|entry| entry.event == Event::Seen && entry.run == run.id) {
        return Ok(());
    }
    append(ledger, Event::Seen, run).map_err(refused_by)
}

fn told(report: &Report, output: &Output) {
    if report.missing > 0 {
        output.talk(&format!("{} episodes have no outcome; they count against every level", report.missing));
    }
}

/// Says why a run stopped and how to go on; the exit code.
fn stopped(stop: &Stop, manifest: &Manifest, folder: &Path) -> u8 {
    let more = match stop {
        Stop::Meter(Refusal::Budget { .. }) | Stop::Wasted { .. } => " --budget-usd N",
        Stop::Meter(Refusal::Overrun(_)) | Stop::Overrun(_) | Stop::Bound(_) => " --accept-overrun",
        _ => "",
    };
    Output::warn(&format!("stopped: {stop}"));
    Output::warn(&format!(
        "nothing is lost: the record is in {}; go on with `bench resume {}{more}`",
        folder.display(),
        manifest.id
    ));
    match stop {
        Stop::Interrupted => exit::INTERRUPTED,
        Stop::Meter(_) | Stop::Wasted { .. } => exit::NO_VERDICT,
        Stop::Provider { .. }
        | Stop::Surprise(_)
        | Stop::Bound(_)
        | Stop::Overrun(_)
        | Stop::Breaker { .. }
        | Stop::Missing { .. } => exit::PROVIDER,
        Stop::Journal(_) => exit::INPUT,
        Stop::Fault(_) => exit::BUG,
    }
}

/// A run as the ledger names it.
pub(super) fn ledger_run(manifest: &Manifest, terms: &Terms, inputs: &Inputs) -> Result<ledger::Run, Failure> {
    let protocol = inputs.protocol.digest()?;
    ledger::Run::of(manifest, terms.looked_at(&protocol), terms.tasks())
        .map_err(|why| Failure::new(exit::INPUT, anyhow::anyhow!(why)))
}

/// Says in the ledger that a run is complete, and what it left behind.
pub(super) fn finish(ledger: &Ledger, folder: &Path, run: &ledger::Run) -> Result<(), Failure> {
    let record = close::digests(folder).context("closing the run")?;
    ledger.finish(&clock::now(), run, &record).map(drop).map_err(refused_by)
}

/// Adds an entry to the ledger.
pub(super) fn append(ledger: &Ledger, event: Event, run: &ledger::Run) -> Result<(), LedgerError> {
    ledger.append(&clock::now(), event, run).map(|_| ())
}

/// The failure of a command that the ledger refused, or that could not write it.
pub(super) fn refused_by(error: LedgerError) -> Failure {
    let second = matches!(error, LedgerError::Refused(ledger::ChainError::SecondLook { .. }));
    Failure::new(if second { exit::SECOND_LOOK } else { exit::INPUT }, error)
}

/// The folder of a run.
pub(super) fn folder_of(out: &Path, id: &str) -> Result<PathBuf, Failure> {
    fs::create_dir_all(out)
        .with_context(|| out.display().to_string())
        .map_err(|error| Failure::new(exit::INPUT, error))?;
    Ok(out.join(id))
}

#[cfg(test)]
mod tests {
    use bench_protocol::digest::Digest;
    use serde_json::json;

    use super::*;

    fn manifest(kind: &str, confirmatory: bool) -> Manifest {
        serde_json::from_value(json!({
            "schema": 1, "id": "r00000000", "kind": kind, "confirmatory": confirmatory, "arms": ["raw"],
            "model": {"provider": "anthropic", "asked": "m", "returned": []}, "suites": {}, "complete": false,
            "prices": Digest::of(b"prices"), "deviations": [], "budget": 1,
            "build": {"version": "1", "target": "t", "rustc": "r"},
        }))
        .unwrap()
    }

    fn terms(looks_at: Option<&Digest>) -> Terms {
        serde_json::from_value(json!({
            "schema": 1, "wire": "anthropic", "base_url": "http://127.0.0.1:1", "order": "interleaved", "concurrency": 1,
            "timeout": 1, "looks_at": looks_at, "digests": {},
            "settings": crate::wire::Settings::of(&bench_protocol::spec::Protocol::built_in().unwrap()),
        }))
        .unwrap()
    }

    #[test]
    fn a_look_at_locked_tasks_is_entered_once_and_under_their_lock() {
        let inputs = Inputs::load(&crate::inputs::Overrides::default()).unwrap();
        let lock = Digest::of(b"lock");
        for (kind, confirmatory, looks_at, seen) in [
            ("live", false, Some(&lock), 1),
            ("live", false, None, 0),
            ("live", true, Some(&lock), 0),
            ("plumbing", false, Some(&lock), 0),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let ledger = Ledger::at(folder.path().join("ledger.jsonl"));
            let (manifest, terms) = (manifest(kind, confirmatory), terms(looks_at));
            let run = ledger_run(&manifest, &terms, &inputs).ok().unwrap();
            append(&ledger, Event::Started, &run).unwrap();
            for _ in 0..2 {
                see(&ledger, &run, &manifest, &terms).ok().unwrap();
            }
            let chain = ledger.read().unwrap();
            assert_eq!(chain.entries().len(), 1 + seen, "{kind} {confirmatory} {looks_at:?}");
            assert_eq!(chain.seen(&lock, None, "").is_some(), seen == 1);
            let mut other = Manifest { id: "r11111111".to_owned(), lock: Some(lock.clone()), ..manifest.clone() };
            let noted = [(); 2].map(|()| seen::note(&mut other, &terms, &chain));
            assert_eq!(
                (noted, other.deviations.len()),
                ([seen == 1, false], seen),
                "noted once, where there was a look"
            );
            let mut own = Manifest { lock: Some(lock.clone()), ..manifest };
            assert!(!seen::note(&mut own, &terms, &chain));
        }
    }
}
