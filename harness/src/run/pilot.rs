//! A pilot: raw twice, and levels beside it, on dev frames, which no scored task is ever made from. It estimates what a
//! protocol assumes, and nothing in it can be confirmed or tested.

use std::{collections::BTreeMap, num::NonZeroUsize, sync::atomic::AtomicBool};

use bench_protocol::{controls::RAW_AGAIN, stats::Alpha};
use bench_results::{
    analysis::{Accumulator, Pilot, Reporting},
    record::{Record, SuiteRun, Tail},
};

use super::{
    events::{Event, Listener},
    family::Family,
    live::{folder, schedule::Planned},
    offline::{self, InProcessModel, Setting},
    prepare::{Prepared, RunSpec, TOOLS},
};
use crate::{conclude, inputs::Inputs, wire::Settings};

/// What a pilot runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PilotSpec {
    /// Levels beside the two passes of raw.
    pub levels: Vec<String>,
    /// Tasks of each dev frame.
    pub per_frame: u32,
    /// Seed text.
    pub seed: String,
}

/// What a pilot runs, as a record says it: `per_frame` tasks of every dev frame.
///
/// # Errors
/// A level that the protocol does not have, or no dev frame.
pub fn spec(inputs: &Inputs, pilot: &PilotSpec) -> anyhow::Result<RunSpec> {
    let protocol = &inputs.protocol;
    if let Some(unknown) = pilot.levels.iter().find(|level| !protocol.arms.levels.contains(level)) {
        anyhow::bail!("`{unknown}` is no level of the protocol; it has {}", protocol.arms.levels.join(", "));
    }
    let frames = inputs
        .catalogs
        .tools()
        .flat_map(|(catalog, tool)| inputs.intents.of_tool(&catalog.server, &tool.name))
        .filter(|frame| frame.dev)
        .count();
    anyhow::ensure!(frames > 0, "the intents have no dev frame: a pilot on scored frames would spoil them");
    let again = protocol.arms.controls.iter().filter(|control| *control == RAW_AGAIN);
    let levels = protocol.arms.levels.iter().filter(|level| pilot.levels.contains(level));
    let suite = SuiteRun {
        tasks: frames as u64 * u64::from(pilot.per_frame),
        seed: format!("{}/{}", protocol.seeds.primary, pilot.seed),
        dev: true,
    };
    Ok(RunSpec {
        arms: std::iter::once(&protocol.arms.reference).chain(levels).chain(again).cloned().collect(),
        suites: BTreeMap::from([(TOOLS.to_owned(), suite)]),
    })
}

/// Runs a pilot against a scripted model and estimates.
///
/// # Errors
/// Of the model, or of the analysis.
pub fn run(
    inputs: &Inputs,
    prepared: &Prepared,
    model: &dyn InProcessModel,
    threads: NonZeroUsize,
) -> anyhow::Result<Pilot> {
    let protocol = &inputs.protocol;
    let family = family(prepared)?;
    let mut counting = Counting(conclude::accumulator(inputs, prepared, family, &Planned::default())?);
    let settings = Settings::of(protocol);
    let setting = Setting::scripted(inputs, &settings);
    offline::run(family, setting, model, threads, &AtomicBool::new(false), &mut counting)?;
    estimate(inputs, prepared, &counting.0)
}

/// Estimates from the record of a live pilot that is complete.
///
/// # Errors
/// A record that is none of a live pilot, or that does not fit its own inputs.
pub fn of_record(record: &Record) -> anyhow::Result<(Inputs, Pilot)> {
    let folder = record.folder();
    let manifest = record.manifest();
    anyhow::ensure!(manifest.is_pilot() && manifest.complete, "{}: not a complete pilot", folder.display());
    let inputs = Inputs::of_record(&record.inputs())?;
    let spec = RunSpec::of_manifest(manifest);
    let prepared = Prepared::new(&inputs, &spec)?;
    let family = family(&prepared)?;
    let terms = folder::terms(folder)?.ok_or_else(|| anyhow::anyhow!("{}: not a live run", folder.display()))?;
    let mut counted = conclude::accumulator(&inputs, &prepared, family, &terms.planned(&inputs, family))?;
    for episode in record.episodes(Tail::Report)? {
        counted.push(&episode?)?;
    }
    let pilot = estimate(&inputs, &prepared, &counted)?;
    Ok((inputs, pilot))
}

fn family(prepared: &Prepared) -> anyhow::Result<&Family> {
    prepared.families.first().ok_or_else(|| anyhow::anyhow!("a pilot without a family"))
}

fn estimate(inputs: &Inputs, prepared: &Prepared, counted: &Accumulator) -> anyhow::Result<Pilot> {
    let protocol = &inputs.protocol;
    let alpha = Alpha::new(protocol.test.alpha.value())?;
    // Nothing that is resampled is printed.
    let reporting = Reporting { alpha, resamples: 1, seed: prepared.seeds.bootstrap };
    let analysis = counted.finish(protocol.test.margin, &reporting)?;
    Pilot::of(&analysis, alpha).ok_or_else(|| anyhow::anyhow!("the pilot has no pair to estimate from"))
}

struct Counting(Accumulator);

impl Listener for Counting {
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        if let Event::Episode(trace) = event {
            self.0.push(&trace.record)?;
        }
        Ok(())
    }
}
