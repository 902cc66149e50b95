//! The error rate of the rule through the whole program: full offline runs in which the scripted model loses exactly the
//! margin under one level, from generated tasks over surfaces, wire bytes, episodes and scores to the certificate's
//! statuses.
//!
//! A run is kept small by a margin of 0.05 and a few hundred tasks; the simulation of the rule alone ([`bench_protocol::simulate`])
//! has the locked sizes.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    thread,
};

use bench_mock_model::{Behaviour, ClusterLoss, LossPlan, Noise};
use bench_protocol::{simulate::Claim, verdict::Status};
use bench_results::record::{FormatVersion, Manifest, ModelIds, RunKind};
use serde::Serialize;

use super::{
    events::{Event, Listener},
    mock::{Mock, rates},
    offline::{self, Setting},
    prepare::{Prepared, RunSpec},
};
use crate::{
    build,
    conclude::{Facts, Judge},
    inputs::Inputs,
    wire::{Settings, anthropic::Anthropic},
};

/// The level that loses.
const LEVEL: &str = "L0";
/// Margin of the small runs, and what the level truly loses.
const MARGIN: &str = "0.05";
const MARGIN_PPM: u32 = 50_000;
/// Tasks per frame.
const TASKS: u32 = 3;

/// How losses come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Planted {
    /// None: the rule must certify nearly always, else the sizes below prove nothing.
    None,
    /// Each task by itself.
    Independent,
    /// Shared within frames, correlation 0.5.
    Frames,
    /// Shared within tools, correlation 0.1.
    Tools,
    /// As `Frames`, under a model that errs on its own.
    NoisyFrames,
}

impl Planted {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::None, Self::Independent, Self::Frames, Self::Tools, Self::NoisyFrames];

    /// Whose error rate the planted loss tests; none where nothing is lost.
    pub fn claim(self) -> Option<Claim> {
        match self {
            Self::None => None,
            Self::Independent | Self::Frames | Self::NoisyFrames => Some(Claim::Frames),
            Self::Tools => Some(Claim::Tools),
        }
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Independent => "independent",
            Self::Frames => "frames-0.5",
            Self::Tools => "tools-0.1",
            Self::NoisyFrames => "noisy-frames-0.5",
        }
    }

    fn behaviour(self) -> Behaviour {
        if self == Self::NoisyFrames { Behaviour::Noisy } else { Behaviour::Oracle }
    }

    /// The plan; `right_ppm` is what the model gets right without it. A planted loss takes only what would have been
    /// right, so its rate is the margin over that.
    fn plan(self, right_ppm: u64) -> LossPlan {
        let ppm = u32::try_from((u64::from(MARGIN_PPM) * 1_000_000).div_ceil(right_ppm.max(1))).unwrap_or(MARGIN_PPM);
        let clustered = |correlation_ppm| ClusterLoss { ppm, correlation_ppm };
        match self {
            Self::None => LossPlan::default(),
            Self::Independent => LossPlan { iid_ppm: ppm, ..LossPlan::default() },
            Self::Frames | Self::NoisyFrames => LossPlan { per_frame: clustered(500_000), ..LossPlan::default() },
            Self::Tools => LossPlan { per_tool: clustered(100_000), ..LossPlan::default() },
        }
    }
}

/// What the runs of one kind came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlantedRates {
    /// How losses came.
    pub planted: Planted,
    /// Runs.
    pub runs: u64,
    /// Tasks of each.
    pub tasks: u64,
    /// Runs that certified the level.
    pub certified: u64,
    /// Runs that certified it as tool-robust.
    pub tool_robust: u64,
    /// Runs without a verdict.
    pub no_verdict: u64,
    /// Losses minus gains over all runs and tasks, to be held against the margin.
    pub mean_loss: f64,
}

impl PlantedRates {
    /// The count that the claim's error rate is about; none where nothing was lost.
    pub fn wrongly_certified(&self) -> Option<u64> {
        Some(match self.planted.claim()? {
            Claim::Frames => self.certified,
            Claim::Tools => self.tool_robust,
        })
    }

    /// Whether that count is at most α plus three of its standard errors; true where nothing was lost.
    pub fn within(&self, alpha: f64) -> bool {
        let runs = self.runs as f64;
        let most = runs * alpha + 3.0 * (runs * alpha * (1.0 - alpha)).sqrt();
        self.wrongly_certified().is_none_or(|count| count as f64 <= most)
    }
}

/// Runs the whole program `runs` times, with so many frames of three tasks for each tool. Run r is seeded by `seed` and r
/// alone, so the result does not depend on the number of threads.
///
/// # Errors
/// The first error of a run.
pub fn planted(
    inputs: &Inputs,
    planted: Planted,
    frames_per_tool: u32,
    runs: u64,
    seed: &str,
    threads: NonZeroUsize,
) -> anyhow::Result<PlantedRates> {
    let inputs = small(inputs, frames_per_tool)?;
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for worker in 0..threads.get() as u64 {
            let (inputs, outcomes) = (&inputs, &outcomes);
            scope.spawn(move || {
                for run in (worker..runs).step_by(threads.get()) {
                    let seed = format!("{seed}/planted/{}/{run}", planted.name());
                    let outcome = one(inputs, planted, &seed);
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let outcomes = outcomes.into_iter().collect::<anyhow::Result<Vec<Outcome>>>()?;
    let count = |held: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| held(outcome)).count() as u64;
    let tasks = outcomes.first().map_or(0, |outcome| outcome.tasks);
    let lost: i64 = outcomes.iter().map(|outcome| outcome.net_loss).sum();
    Ok(PlantedRates {
        planted,
        runs,
        tasks,
        certified: count(|outcome| outcome.status == Status::Certified),
        tool_robust: count(|outcome| outcome.tool_robust),
        no_verdict: count(|outcome| outcome.status == Status::NoVerdict),
        mean_loss: lost as f64 / (runs * tasks).max(1) as f64,
    })
}

struct Outcome {
    status: Status,
    tool_robust: bool,
    tasks: u64,
    net_loss: i64,
}

/// The protocol in small: one level and the controls, no abstain tasks, few resamples of what is only reported.
fn small(inputs: &Inputs, frames_per_tool: u32) -> anyhow::Result<Inputs> {
    let mut protocol = (*inputs.protocol).clone();
    let tools: usize = inputs.catalogs.catalogs.iter().map(|catalog| catalog.tools.len()).sum();
    protocol.test.margin = MARGIN.parse()?;
    protocol.test.cluster_bootstrap_resamples = 100;
    protocol.arms.levels.retain(|level| level == LEVEL);
    let suite = &mut protocol.suites.tools;
    (suite.frames_per_tool, suite.tasks_per_frame) = (frames_per_tool, TASKS);
    suite.tool_tasks = tools as u64 * u64::from(frames_per_tool * TASKS);
    (suite.abstain_frames, suite.abstain_tasks) = (0, 0);
    Ok(Inputs { protocol: Arc::new(protocol), ..inputs.clone() })
}

fn one(inputs: &Inputs, planted: Planted, seed: &str) -> anyhow::Result<Outcome> {
    let protocol = &inputs.protocol;
    let arms: Vec<String> = std::iter::once(LEVEL.to_owned()).chain(protocol.arms.controls.iter().cloned()).collect();
    let spec = RunSpec::of(inputs, seed, &arms, None)?;
    let prepared = Prepared::new(inputs, &spec)?;
    let rates = rates(&protocol.mock);
    let right_ppm = if planted.behaviour() == Behaviour::Oracle {
        1_000_000
    } else {
        let right = |wrong: u32| u64::from(1_000_000 - wrong.min(1_000_000));
        right(rates.wrong_tool_ppm) * right(rates.wrong_arguments_ppm) / 1_000_000
    };
    let mut noise = Noise::new(rates, prepared.seeds.mock);
    noise.losses.insert(LEVEL.to_owned(), planted.plan(right_ppm));
    let model = Mock::with_noise(planted.behaviour(), noise, &prepared);
    let settings = Settings::of(protocol);
    let setting = Setting { protocol, catalogs: &inputs.catalogs, wire: &Anthropic, settings: &settings };
    let mut judging = Judging(Judge::new(inputs, &prepared)?);
    for family in &prepared.families {
        let stop = AtomicBool::new(false);
        offline::run(family, setting, &model, NonZeroUsize::MIN, &stop, &mut judging)?;
    }
    let conclusion = judging.0.conclude(&manifest(planted, &spec), &Facts::default())?;
    let level = conclusion
        .certificate
        .levels
        .iter()
        .find(|level| &*level.arm == LEVEL)
        .ok_or_else(|| anyhow::anyhow!("the protocol has no level {LEVEL}"))?;
    let strict = level.endpoints.values().next_back();
    Ok(Outcome {
        status: level.status,
        tool_robust: level.tool_robust,
        tasks: strict.map_or(0, |seen| seen.n),
        net_loss: strict.map_or(0, |seen| seen.loss.cast_signed() - seen.gain.cast_signed()),
    })
}

fn manifest(planted: Planted, spec: &RunSpec) -> Manifest {
    Manifest {
        schema: FormatVersion,
        id: String::new(),
        kind: RunKind::Plumbing,
        confirmatory: false,
        lock: None,
        model: ModelIds {
            provider: "mock".to_owned(),
            asked: planted.behaviour().name().to_owned(),
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
        complete: true,
        deviations: Vec::new(),
    }
}

struct Judging<'a>(Judge<'a>);

impl Listener for Judging<'_> {
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        if let Event::Episode(trace) = event {
            self.0.push(&trace.record)?;
        }
        Ok(())
    }
}
