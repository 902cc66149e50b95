//! Plain `bench`: the offline check, from the catalogs to a certificate.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    thread,
};

use anyhow::Context as _;
use bench_mock_model::Behaviour;
use bench_protocol::{digest::Digest, spec::Protocol, verdict::Status};
use bench_results::{
    certificate::Certificate,
    record::{Deviation, FormatVersion, Manifest, ModelIds, RunKind, Weight},
    table::{self, Planned},
};

use super::{
    args::{GlobalArgs, RunArgs},
    ci::{self, Case, Ended, Held},
    failure::Failure,
    interrupt,
    output::Output,
    progress::Progress,
};
use crate::{
    build,
    conclude::{Facts, Judge},
    exit,
    inputs::Inputs,
    journal::{Hold, JournalError},
    locking,
    run::{
        events::{Event, Listener},
        mock::Mock,
        offline::{self, Setting},
        prepare::{Prepared, RunSpec},
        recorder::Recorder,
    },
    wire::Settings,
};

/// Runs the check.
pub(super) fn run(args: &RunArgs, global: &GlobalArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let files = args.ci.open()?;
    files.close("bench", ended(args, global, inputs, output))
}

fn ended(args: &RunArgs, global: &GlobalArgs, inputs: &Inputs, output: &mut Output) -> Result<Ended, Failure> {
    let spec = RunSpec::of(inputs, &inputs.protocol.seeds.primary, &args.arms, args.tasks)
        .map_err(|error| Failure::new(exit::USAGE, error))?;
    if let Some(arm) = args.require.as_ref().filter(|arm| !spec.arms.contains(arm)) {
        return Err(Failure::usage(format!("--require {arm}: that arm is not part of this run")));
    }
    let prepared = Prepared::new(inputs, &spec).map_err(|error| Failure::new(exit::INPUT, error))?;
    prepared.require_two_frames().map_err(|error| Failure::new(exit::USAGE, error))?;
    // Other inputs are not the lock's: there is nothing to hold against it, and they need not fill its plan.
    let lock = if global.overrides().any() { None } else { current_lock(inputs, output)? };
    let whole = spec == RunSpec::of(inputs, &inputs.protocol.seeds.primary, &[], None)?;
    let mut manifest = Manifest {
        schema: FormatVersion,
        id: String::new(),
        kind: RunKind::Plumbing,
        confirmatory: false,
        lock,
        model: ModelIds {
            provider: "mock".to_owned(),
            asked: args.mock.name().to_owned(),
            returned: Vec::new(),
            host: None,
        },
        arms: spec.arms.clone(),
        suites: spec.suites.clone(),
        prices: None,
        budget: None,
        build: build::info(),
        started: None,
        finished: None,
        complete: false,
        deviations: deviations(whole),
    };
    manifest.id = plumbing_id(&manifest, inputs)?;
    let folder = args.out.join(&manifest.id);
    let outcome = execute(args, inputs, &prepared, &mut manifest, &folder, output)?;
    let Some(certificate) = outcome else {
        let why = format!("interrupted: the episodes so far are in {}", folder.display());
        output.talk(&why);
        return Ok(Ended::early(exit::INTERRUPTED, manifest.id, why));
    };
    report(&certificate, &inputs.protocol, &folder, output)?;
    // A chosen part says nothing about the plumbing, so only the whole run is held to the arm contract.
    let held = Held { required: args.require.as_deref(), levels: whole && is_harmless(args.mock), controls: whole };
    let mut cases = ci::of_run(&certificate, Planned::of(&inputs.protocol), held);
    let mut kept = true;
    if whole {
        let breaches = contract(inputs, &spec, output)?;
        kept = breaches.is_empty();
        let text = if kept { "every arm keeps it".to_owned() } else { breaches.join("; ") };
        cases.push(Case::required("arm contract", kept, text));
    }
    let code = if kept { code(args, &certificate, whole) } else { exit::PLUMBING };
    Ok(Ended { code, suite: manifest.id, cases })
}

/// Holds every arm of the run to the arm contract; the breaches.
fn contract(inputs: &Inputs, spec: &RunSpec, output: &Output) -> Result<Vec<String>, Failure> {
    let ids: Vec<&str> = spec.arms.iter().map(String::as_str).collect();
    let breaches: Vec<String> = super::arms::breaches(inputs, &ids, output)?.iter().map(ToString::to_string).collect();
    for breach in &breaches {
        output.talk(&format!("contract: {breach}"));
    }
    Ok(breaches)
}

/// The current lock, where the inputs have not drifted from it. A drifted lock is worth a warning offline.
fn current_lock(inputs: &Inputs, output: &Output) -> Result<Option<Digest>, Failure> {
    let Some(lock) = inputs.chain.current() else { return Ok(None) };
    let drift = locking::drift_of(inputs, &locking::compute(inputs)?).unwrap_or_default();
    if drift.is_empty() {
        return Ok(Some(lock.id().clone()));
    }
    for one in drift {
        output.talk(&format!("warning: {one}"));
    }
    output.talk("warning: the inputs drifted from the lock; this run certifies nothing under it");
    Ok(None)
}

fn deviations(whole: bool) -> Vec<Deviation> {
    if whole {
        return Vec::new();
    }
    vec![Deviation {
        what: "part of the protocol's run".to_owned(),
        why: "arms or tasks were chosen by hand".to_owned(),
    }]
}

/// A plumbing run is reproducible, so its id is its content: a second run of the same thing replaces the first.
fn plumbing_id(manifest: &Manifest, inputs: &Inputs) -> Result<String, Failure> {
    let model = serde_json::to_vec(&(&manifest.model, &manifest.arms, &manifest.suites, &manifest.lock))?;
    let mut parts = vec![inputs.protocol.digest()?, inputs.intents_digest(), Digest::of(&model)];
    parts.extend(inputs.catalog_digests().into_values());
    let digest = Digest::of_parts(parts.iter().map(|part| part.as_str().as_bytes()));
    Ok(format!("p{}", &digest.hex()[..9]))
}

/// Tells several listeners of every event.
struct All<'a>(Vec<&'a mut dyn Listener>);

impl Listener for All<'_> {
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        self.0.iter_mut().try_for_each(|listener| listener.on(event))
    }
}

/// The judge listens like everybody else.
struct Judging<'a, 'b>(&'a mut Judge<'b>);

impl Listener for Judging<'_, '_> {
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        if let Event::Episode(trace) = event {
            self.0.push(&trace.record)?;
        }
        Ok(())
    }
}

/// Runs, records and judges. `None` where it was interrupted: the record is readable up to there.
fn execute(
    args: &RunArgs,
    inputs: &Inputs,
    prepared: &Prepared,
    manifest: &mut Manifest,
    folder: &Path,
    output: &Output,
) -> Result<Option<Certificate>, Failure> {
    let record = |error| Failure::new(exit::INPUT, error);
    clear(folder)?;
    let mut recorder = Recorder::create(folder).map_err(record)?;
    for (name, bytes) in inputs.files()? {
        recorder.writer().input(&name, &bytes).map_err(record)?;
    }
    recorder.writer().manifest(manifest).map_err(record)?;
    let stop = interrupt::ends().asks();
    let mut judge = Judge::new(inputs, prepared)?;
    let mut progress = Progress::new(output.progress());
    let model = Mock::new(args.mock, &inputs.protocol.mock, prepared);
    let settings = Settings::of(&inputs.protocol);
    let setting = Setting::scripted(inputs, &settings);
    let threads = args.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let mut models = Models::default();
    {
        let mut judging = Judging(&mut judge);
        let mut all = All(vec![&mut progress, &mut recorder, &mut judging, &mut models]);
        all.on(&Event::Started { episodes: prepared.episodes() })?;
        for family in &prepared.families {
            offline::run(family, setting, &model, threads, &stop, &mut all)?;
        }
        let interrupted = stop.load(Ordering::Relaxed).then(|| "Ctrl-C".into());
        all.on(&Event::Finished { interrupted })?;
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    manifest.model.returned = models.0.into_iter().collect();
    manifest.complete = true;
    let (attempts, _) = recorder.counts();
    let certificate = judge.conclude(manifest, &Facts { attempts, ..Facts::default() })?.certificate;
    let bytes = certificate.bytes().context("writing the certificate")?;
    recorder.writer().certificate(&bytes).map_err(record)?;
    recorder.writer().manifest(manifest).map_err(record)?;
    Ok(Some(certificate))
}

/// Model ids that answered.
#[derive(Default)]
struct Models(std::collections::BTreeSet<String>);

impl Listener for Models {
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        if let Event::Episode(trace) = event {
            for attempt in &trace.attempts {
                if !self.0.contains(&attempt.model) {
                    self.0.insert(attempt.model.clone());
                }
            }
        }
        Ok(())
    }
}

/// Takes an earlier run of the same thing away; refuses a folder that is something else.
fn clear(folder: &Path) -> Result<(), Failure> {
    if !folder.exists() {
        return Ok(());
    }
    if !folder.join("manifest.json").is_file() {
        return Err(Failure::usage(format!(
            "{} exists and is no record; name another folder with --out",
            folder.display()
        )));
    }
    // A run that is under way holds its log, and nothing is taken from under it.
    let held = Hold::take(folder);
    if let Err(error @ JournalError::Locked { .. }) = held {
        return Err(Failure::new(exit::INPUT, error));
    }
    fs::remove_dir_all(folder).with_context(|| format!("removing the earlier run in {}", folder.display()))?;
    Ok(())
}

/// Prints a certificate of a run under `protocol`: table and sentences, or the document.
pub(super) fn report(
    certificate: &Certificate,
    protocol: &Protocol,
    folder: &Path,
    output: &mut Output,
) -> Result<(), Failure> {
    let path: PathBuf = folder.join("certificate.json");
    if output.json {
        let bytes = certificate.bytes().context("writing the certificate")?;
        output.bytes().write_all(&bytes)?;
        output.bytes().write_all(b"\n")?;
        return Ok(());
    }
    let planned = Planned::of(protocol);
    output.table(&table::table(certificate, planned))?;
    writeln!(output.product())?;
    for sentence in table::sentences(certificate, planned) {
        writeln!(output.product(), "{sentence}")?;
    }
    output.talk(&format!("certificate: {}", path.display()));
    Ok(())
}

/// The exit code of a required arm's verdict. An exploratory run has none to give.
pub(super) fn required(arm: &str, certificate: &Certificate) -> u8 {
    if certificate.weight() == Weight::Exploratory {
        return exit::NO_VERDICT;
    }
    exit::of_status(certificate.levels.iter().find(|level| *level.arm == *arm).map(|level| level.status))
}

/// The exit code: of `--require`, or of the check that the harness itself behaved.
fn code(args: &RunArgs, certificate: &Certificate, whole: bool) -> u8 {
    if let Some(arm) = &args.require {
        return required(arm, certificate);
    }
    // A chosen part, or a behaviour that is meant to fail, says nothing about the plumbing.
    if !whole {
        return exit::OK;
    }
    let levels = certificate.levels.iter().all(|level| level.status == Status::Certified);
    if certificate.controls_behaved() && (levels || !is_harmless(args.mock)) { exit::OK } else { exit::PLUMBING }
}

/// Whether every level must certify under this behaviour; others are meant to fail.
fn is_harmless(mock: Behaviour) -> bool {
    matches!(mock, Behaviour::Noisy | Behaviour::Oracle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::tests::certificate;

    #[test]
    fn a_required_arm_of_an_exploratory_run_has_no_verdict_whatever_its_word() {
        let mut one = certificate();
        let arm = one.levels[0].arm.clone();
        let codes = [
            (Status::Certified, exit::OK),
            (Status::Failed, exit::FAILED),
            (Status::Inconclusive, exit::INCONCLUSIVE),
            (Status::NotTested, exit::NO_VERDICT),
        ];
        for (status, code) in codes {
            one.levels[0].status = status;
            one.confirmatory = true;
            assert_eq!(required(&arm, &one), code, "{status:?}");
            one.confirmatory = false;
            assert_eq!(required(&arm, &one), exit::NO_VERDICT, "{status:?}");
        }
    }
}
