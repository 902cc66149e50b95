//! A pilot: raw twice, and levels beside it, on dev frames, which no scored task is ever made from. It estimates what a
//! protocol assumes, and nothing in it can be confirmed or tested.

use std::{num::NonZeroUsize, sync::atomic::AtomicBool};

use bench_protocol::{stats::Alpha, verdict::FamilyKind};
use bench_results::analysis::{Accumulator, Pilot, Reporting};
use bench_tasks::generate::{FrameSet, Generator, Plan};

use super::{
    events::{Event, Listener},
    family::{Family, TaskSource},
    live::schedule::Planned,
    offline::{self, InProcessModel, Setting},
    prepare::Prepared,
};
use crate::{
    arms::registry::Registry,
    conclude,
    inputs::Inputs,
    plan::{self, SuiteSeeds},
    wire::{Settings, anthropic::Anthropic},
};

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

/// The family of a pilot, ready to run; a model is made for it, since a scripted one needs its answer key.
///
/// # Errors
/// A level that the protocol does not have, or no dev frame.
pub fn prepare(inputs: &Inputs, spec: &PilotSpec) -> anyhow::Result<Prepared> {
    let protocol = &inputs.protocol;
    if let Some(unknown) = spec.levels.iter().find(|level| !protocol.arms.levels.contains(level)) {
        anyhow::bail!("`{unknown}` is no level of the protocol; it has {}", protocol.arms.levels.join(", "));
    }
    let seeds = SuiteSeeds::derive(protocol, &format!("{}/{}", protocol.seeds.primary, spec.seed))?;
    let context = plan::arm_context(inputs, &seeds);
    let registry = Registry::new(&context)?;
    let again = protocol.arms.controls.iter().filter(|control| *control == "raw-again");
    let levels = protocol.arms.levels.iter().filter(|level| spec.levels.contains(level));
    let arms = std::iter::once(&protocol.arms.reference).chain(levels).chain(again);
    let arms = arms.map(|id| Ok(registry.build(id)?)).collect::<anyhow::Result<Vec<_>>>()?;
    let frames = inputs
        .catalogs
        .tools()
        .flat_map(|(catalog, tool)| inputs.intents.of_tool(&catalog.server, &tool.name))
        .filter(|frame| frame.dev)
        .count();
    anyhow::ensure!(frames > 0, "the intents have no dev frame: a pilot on scored frames would spoil them");
    let plan = Plan {
        tool_tasks: frames as u64 * u64::from(spec.per_frame),
        abstain_tasks: 0,
        frames_per_tool: usize::MAX,
        abstain_frames: 0,
        frames: FrameSet::Dev,
        allow_incomplete: true,
    };
    let generator = Generator::new(&inputs.intents, &inputs.catalogs, seeds.tools, plan)?;
    let family = Family {
        kind: FamilyKind::Levels,
        tasks: TaskSource::Tools(Box::new(generator)),
        arms,
        schedule_seed: seeds.schedule,
    };
    Ok(Prepared { families: vec![family], registry, seeds, context })
}

/// Runs a pilot against a model and estimates.
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
    let family = prepared.families.first().ok_or_else(|| anyhow::anyhow!("a pilot without a family"))?;
    let mut counting = Counting(conclude::accumulator(inputs, prepared, family, &Planned::default())?);
    let settings = Settings::of(protocol);
    let setting = Setting { protocol, catalogs: &inputs.catalogs, wire: &Anthropic, settings: &settings };
    offline::run(family, setting, model, threads, &AtomicBool::new(false), &mut counting)?;
    let alpha = Alpha::new(protocol.test.alpha.value())?;
    // Nothing that is resampled is printed.
    let reporting = Reporting { alpha, resamples: 1, seed: prepared.seeds.bootstrap };
    let analysis = counting.0.finish(protocol.test.margin, &reporting)?;
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
