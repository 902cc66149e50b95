//! A family: one suite's tasks under its arms, and the schedule that interleaves them.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use bench_protocol::{
    digest::Digest,
    rng,
    spec::{EpisodeRule, Protocol},
    verdict::FamilyKind,
};
use bench_tasks::{
    TasksError,
    catalog::Catalogs,
    generate::{FrameSet, Generator, Plan},
    results_suite::{ResultGenerator, ResultTask},
    task::{Task, TaskId},
};

use crate::{
    arms::{Arm, ArmError, Scope},
    episode::{AnswerEpisode, CallEpisode, Episode},
    inputs::Inputs,
    plan::{self, SuiteSeeds},
};

/// Source of a family's tasks: any task by its index, made when asked for, so that memory stays flat.
pub enum TaskSource {
    /// Tool suite.
    Tools(Box<Generator>),
    /// Result suite.
    Results(Box<ResultGenerator>),
}

/// A task of either suite.
#[derive(Debug)]
pub enum AnyTask {
    /// Tool suite.
    Tool(Task),
    /// Result suite.
    Result(ResultTask),
}

impl AnyTask {
    /// Its identity.
    pub fn id(&self) -> &TaskId {
        match self {
            Self::Tool(task) => &task.id,
            Self::Result(task) => &task.id,
        }
    }

    /// What the user says.
    pub fn utterance(&self) -> &str {
        match self {
            Self::Tool(task) => &task.utterance,
            Self::Result(task) => &task.utterance,
        }
    }

    /// The frame, where the task counts in a difference between arms; abstain tasks have a guard of their own.
    pub fn counted_frame(&self) -> Option<&str> {
        match self {
            Self::Tool(task) => (!task.gold.is_empty()).then_some(&*task.frame),
            Self::Result(task) => Some(&task.frame),
        }
    }

    /// A fresh episode of this task under an arm.
    pub fn episode<'a>(
        &'a self,
        arm: &dyn Arm,
        catalogs: &'a Catalogs,
        rule: &'a EpisodeRule,
    ) -> Result<Episode<'a>, ArmError> {
        let id: Arc<str> = arm.info().id.0.as_str().into();
        let mut session = arm.open(match self {
            Self::Tool(_) => Scope::Catalogs,
            Self::Result(task) => Scope::Tool { server: &task.server, tool: &task.tool },
        })?;
        if arm.info().hears {
            session.hear(self.utterance());
        }
        Ok(match self {
            Self::Tool(task) => Episode::Call(CallEpisode::new(task, id, session, catalogs, rule)),
            Self::Result(task) => Episode::Answer(AnswerEpisode::new(task, id, session, rule)),
        })
    }
}

impl TaskSource {
    /// The tool suite's tasks: the protocol's number, or `n` in all.
    pub fn tools(inputs: &Inputs, seeds: &SuiteSeeds, n: Option<u64>) -> Result<Self, TasksError> {
        let mut plan = plan::tool_plan(&inputs.protocol, n);
        // Somebody's own intents may hold no request to abstain from; the share is then asked of the tools.
        if plan.allow_incomplete && inputs.intents.abstain().all(|frame| frame.dev) {
            plan.tool_tasks += std::mem::take(&mut plan.abstain_tasks);
        }
        Generator::new(&inputs.intents, &inputs.catalogs, seeds.tools, plan).map(Box::new).map(Self::Tools)
    }

    /// `n` tasks made from dev frames, which no scored task is ever made from.
    pub fn dev(inputs: &Inputs, seeds: &SuiteSeeds, n: u64) -> Result<Self, TasksError> {
        let plan = Plan {
            tool_tasks: n,
            abstain_tasks: 0,
            frames_per_tool: usize::MAX,
            abstain_frames: 0,
            frames: FrameSet::Dev,
            allow_incomplete: true,
        };
        Generator::new(&inputs.intents, &inputs.catalogs, seeds.tools, plan).map(Box::new).map(Self::Tools)
    }

    /// The result suite's first `n` tasks.
    pub fn results(inputs: &Inputs, seeds: &SuiteSeeds, n: u64) -> Result<Self, TasksError> {
        ResultGenerator::new(&inputs.catalogs, seeds.results, n).map(Box::new).map(Self::Results)
    }

    /// Digest of the task list, as JSON Lines.
    pub fn digest(&self) -> serde_json::Result<Digest> {
        match self {
            Self::Tools(generator) => Digest::of_json_lines(generator.iter()),
            Self::Results(generator) => Digest::of_json_lines((0..generator.len()).map(|index| generator.task(index))),
        }
    }

    /// Source tools of the result suite, in name order; empty for the tool suite.
    pub fn sources(&self) -> BTreeSet<(String, String)> {
        match self {
            Self::Tools(_) => BTreeSet::new(),
            Self::Results(generator) => (0..generator.len())
                .map(|index| generator.task(index))
                .map(|task| (task.server.to_string(), task.tool.to_string()))
                .collect(),
        }
    }

    /// Whether its tasks come from two frames at least: differences are judged by how frames differ.
    pub fn has_two_frames(&self) -> bool {
        let mut first: Option<String> = None;
        (0..self.len()).filter_map(|index| self.task(index)).any(|task| {
            task.counted_frame().is_some_and(|frame| first.get_or_insert_with(|| frame.to_owned()).as_str() != frame)
        })
    }

    /// Number of tasks.
    pub fn len(&self) -> u64 {
        match self {
            Self::Tools(generator) => generator.len(),
            Self::Results(generator) => generator.len(),
        }
    }

    /// True where there is no task.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The task of this index; `None` past the end.
    pub fn task(&self, index: u64) -> Option<AnyTask> {
        match self {
            Self::Tools(generator) => generator.task(index).map(AnyTask::Tool),
            Self::Results(generator) => (index < generator.len()).then(|| AnyTask::Result(generator.task(index))),
        }
    }
}

/// One suite's tasks under its arms.
pub struct Family {
    /// Which suite.
    pub kind: FamilyKind,
    /// The tasks.
    pub tasks: TaskSource,
    /// The arms, in protocol order.
    pub arms: Vec<Arc<dyn Arm>>,
    /// Seed of the schedule.
    pub schedule_seed: [u8; 32],
    /// Digest of the task list, once somebody has asked for it: to make it, every task is made.
    digest: OnceLock<Digest>,
}

impl Family {
    /// A family of these tasks and arms.
    pub fn new(kind: FamilyKind, tasks: TaskSource, arms: Vec<Arc<dyn Arm>>, schedule_seed: [u8; 32]) -> Self {
        Self { kind, tasks, arms, schedule_seed, digest: OnceLock::new() }
    }

    /// Digest of its task list: see [`TaskSource::digest`].
    ///
    /// # Errors
    /// A task that cannot be written as JSON.
    pub fn tasks_digest(&self) -> serde_json::Result<Digest> {
        if let Some(digest) = self.digest.get() {
            return Ok(digest.clone());
        }
        let digest = self.tasks.digest()?;
        Ok(self.digest.get_or_init(|| digest).clone())
    }

    /// Episodes in all.
    pub fn episodes(&self) -> u64 {
        self.tasks.len() * self.arms.len() as u64
    }

    /// The order of the arms within the task of this index: a seeded shuffle, so that drift hits all arms alike.
    pub fn order(&self, index: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.arms.len()).collect();
        rng::shuffle(&mut rng::stream(self.schedule_seed, index), &mut order);
        order
    }

    /// The system prompt of this suite.
    pub fn system<'p>(&self, protocol: &'p Protocol) -> &'p str {
        match self.kind {
            FamilyKind::Levels | FamilyKind::Products => &protocol.episode.system_prompt,
            FamilyKind::Results => &protocol.episode.results_prompt,
        }
    }
}
