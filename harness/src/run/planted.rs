//! The error rate of the rule through the whole program: full offline runs in which the scripted model loses exactly the
//! margin under one level, from generated tasks over surfaces, wire bytes, episodes and scores to the certificate's
//! statuses.
//!
//! A run is kept small by a margin of 0.05 and a few hundred tasks; the simulation of the rule alone ([`bench_protocol::simulate`])
//! has the locked sizes.

use std::{
    fmt,
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
    wire::Settings,
};

/// The level that loses.
const LEVEL: &str = "L0";
/// Margin of the small runs, and what the level truly loses.
pub const MARGIN: &str = "0.05";
const MARGIN_PPM: u32 = 50_000;

/// Sizes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Frames of each tool.
    pub frames_per_tool: u32,
    /// Tasks of each frame.
    pub tasks_per_frame: u32,
}

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
    /// Shared within frames, correlation 0.9: a frame is lost as a whole or not at all, nearly.
    WholeFrames,
    /// Shared within tools, correlation 0.1.
    Tools,
    /// As `Frames`, under a model that errs on its own.
    NoisyFrames,
}

impl Planted {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Independent, Self::Frames, Self::WholeFrames, Self::Tools, Self::NoisyFrames];

    /// Whose error rate the planted loss tests; none where nothing is lost.
    pub fn claim(self) -> Option<Claim> {
        match self {
            Self::None => None,
            Self::Independent | Self::Frames | Self::WholeFrames | Self::NoisyFrames => Some(Claim::Frames),
            Self::Tools => Some(Claim::Tools),
        }
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Independent => "independent",
            Self::Frames => "frames-0.5",
            Self::WholeFrames => "frames-0.9",
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
            Self::WholeFrames => LossPlan { per_frame: clustered(900_000), ..LossPlan::default() },
            Self::Tools => LossPlan { per_tool: clustered(100_000), ..LossPlan::default() },
        }
    }

    /// Design effect of the planted losses.
    fn deff(self, size: Size) -> f64 {
        let of = |tasks: u32, correlation: f64| 1.0 + (f64::from(tasks) - 1.0) * correlation;
        match self {
            Self::None | Self::Independent => 1.0,
            Self::Frames | Self::NoisyFrames => of(size.tasks_per_frame, 0.5),
            Self::WholeFrames => of(size.tasks_per_frame, 0.9),
            Self::Tools => of(size.frames_per_tool * size.tasks_per_frame, 0.1),
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
    /// Runs in which G1 and G2 pass on both endpoints: what a rule that takes tasks as independent would certify.
    pub as_independent: u64,
    /// Losses minus gains over all runs and tasks, to be held against the margin.
    pub mean_loss: f64,
    /// Standard error of that, if losses come as they were planted.
    pub mean_loss_se: f64,
}

impl PlantedRates {
    /// The count that the claim's error rate is about; none where nothing was lost.
    pub fn wrongly_certified(&self) -> Option<u64> {
        Some(match self.planted.claim()? {
            Claim::Frames => self.certified,
            Claim::Tools => self.tool_robust,
        })
    }

    /// The most runs that may be certified wrongly: α of them and three standard errors.
    pub fn bound(&self, alpha: f64) -> f64 {
        let runs = self.runs as f64;
        runs * alpha + 3.0 * (runs * alpha * (1.0 - alpha)).sqrt()
    }

    /// What speaks against the rule, or against the runs as a test of it; empty where nothing does.
    pub fn defects(&self, alpha: f64) -> Vec<Defect> {
        let mut all = Vec::new();
        if self.no_verdict > 0 {
            all.push(Defect::NoVerdict);
        }
        let planted = if self.planted == Planted::None { 0.0 } else { f64::from(MARGIN_PPM) / 1e6 };
        if (self.mean_loss - planted).abs() > 4.0 * self.mean_loss_se {
            all.push(Defect::NotAsPlanted);
        }
        match self.wrongly_certified() {
            Some(count) if count as f64 > self.bound(alpha) => all.push(Defect::TooOften),
            // Nothing is lost: a rule that certifies none of these proves nothing by certifying none of the others.
            None if self.certified * 10 < self.runs * 9 => all.push(Defect::TooSeldom),
            _ => {}
        }
        all
    }
}

/// What can speak against the rule, or against the runs as a test of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defect {
    /// More runs are certified wrongly than α and three standard errors.
    TooOften,
    /// Fewer than nine of ten harmless runs are certified.
    TooSeldom,
    /// A run has no verdict: a control did not behave.
    NoVerdict,
    /// The mean loss is more than four standard errors from what was planted.
    NotAsPlanted,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooOften => "above alpha + 3 SE",
            Self::TooSeldom => "harmless and certified in fewer than 9 of 10 runs",
            Self::NoVerdict => "runs without a verdict",
            Self::NotAsPlanted => "mean loss not as planted",
        })
    }
}

/// Runs the whole program `runs` times. Run r is seeded by `seed` and r alone, so the result does not depend on the number
/// of threads.
///
/// # Errors
/// The first error of a run.
pub fn planted(
    inputs: &Inputs,
    planted: Planted,
    size: Size,
    runs: u64,
    seed: &str,
    threads: NonZeroUsize,
) -> anyhow::Result<PlantedRates> {
    let inputs = small(inputs, size)?;
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
    let discordant: u64 = outcomes.iter().map(|outcome| outcome.discordant).sum();
    let all = (runs * tasks).max(1) as f64;
    let mean_loss = lost as f64 / all;
    let variance = (discordant as f64 / all - mean_loss * mean_loss).max(0.0) * planted.deff(size);
    Ok(PlantedRates {
        planted,
        runs,
        tasks,
        certified: count(|outcome| outcome.status == Status::Certified),
        tool_robust: count(|outcome| outcome.tool_robust),
        no_verdict: count(|outcome| outcome.status == Status::NoVerdict),
        as_independent: count(|outcome| outcome.as_independent),
        mean_loss,
        mean_loss_se: (variance / all).sqrt(),
    })
}

struct Outcome {
    status: Status,
    tool_robust: bool,
    as_independent: bool,
    tasks: u64,
    net_loss: i64,
    discordant: u64,
}

/// The protocol in small: one level and the controls, no abstain tasks, few resamples of what is only reported.
fn small(inputs: &Inputs, size: Size) -> anyhow::Result<Inputs> {
    let mut protocol = (*inputs.protocol).clone();
    let tools: usize = inputs.catalogs.catalogs.iter().map(|catalog| catalog.tools.len()).sum();
    protocol.test.margin = MARGIN.parse()?;
    protocol.test.cluster_bootstrap_resamples = 100;
    protocol.arms.levels.retain(|level| level == LEVEL);
    let suite = &mut protocol.suites.tools;
    (suite.frames_per_tool, suite.tasks_per_frame) = (size.frames_per_tool, size.tasks_per_frame);
    suite.tool_tasks = tools as u64 * u64::from(size.frames_per_tool) * u64::from(size.tasks_per_frame);
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
    let setting = Setting::scripted(inputs, &settings);
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
    let judged = conclusion.families.iter().find_map(|(_, verdict)| verdict.level(LEVEL));
    Ok(Outcome {
        status: level.status,
        tool_robust: level.tool_robust,
        as_independent: judged
            .is_some_and(|level| level.endpoints.iter().all(|seen| seen.gates.g1.pass && seen.gates.g2.pass)),
        tasks: strict.map_or(0, |seen| seen.n),
        net_loss: strict.map_or(0, |seen| seen.loss.cast_signed() - seen.gain.cast_signed()),
        discordant: strict.map_or(0, |seen| seen.loss + seen.gain),
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
