//! Two passes over a record: episodes, then attempts. Kept are a byte per task and arm, sums per tool and arm, and the
//! few episodes that are shown whole.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use bench_tasks::task::TaskId;
use serde_json::value::RawValue;

use super::{
    error::ReportError,
    source::{PlannedArm, Sources, TaskFacts},
    spend::{Ledger, Sums},
    tally::Tally,
};
use crate::record::{AttemptLine, DrawId, End, EpisodeRecord, Opened, Record, Settled, Tail};

/// What became of one task under one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Outcome {
    /// There is no episode.
    #[default]
    Unattempted,
    /// Provider or harness failed.
    Missing,
    /// An episode whose outcome nobody has looked at.
    Unscored,
    /// Wrong.
    Wrong,
    /// Right, on the stricter endpoint.
    Right,
}

impl Outcome {
    fn of(episode: &EpisodeRecord) -> Self {
        match (episode.end, episode.arguments) {
            (End::Missing, _) => Self::Missing,
            (_, None) => Self::Unscored,
            (_, Some(true)) => Self::Right,
            (_, Some(false)) => Self::Wrong,
        }
    }
}

/// What the passes leave.
pub(super) struct Gathered<'a> {
    pub(super) planned: &'a [PlannedArm],
    pub(super) tasks: &'a [TaskFacts],
    /// `server/tool`, in name order.
    pub(super) tools: Vec<Arc<str>>,
    /// By arm, then task.
    outcomes: Vec<Vec<Outcome>>,
    /// By arm, then tool; what asks for no tool stands last.
    pub(super) tallies: Vec<Vec<Tally>>,
    /// By arm: money and latency.
    pub(super) sums: Vec<Sums>,
    /// By arm: why outcomes are missing.
    pub(super) missing: Vec<BTreeMap<String, u64>>,
    /// By arm: episodes by their end.
    pub(super) ends: Vec<BTreeMap<End, u64>>,
    place_of_task: BTreeMap<&'a TaskId, usize>,
    place_of_arm: BTreeMap<&'a str, usize>,
    tool_of_task: Vec<usize>,
}

/// Episodes that are shown whole, and the responses that led to them.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) episodes: BTreeMap<(usize, usize), EpisodeRecord>,
    pub(super) responses: BTreeMap<(usize, usize), BTreeMap<u32, Box<RawValue>>>,
}

/// An attempt under way.
struct Open {
    arm: usize,
    task: usize,
    draw: DrawId,
}

impl<'a> Gathered<'a> {
    /// Reads the episodes of a record. Torn last lines are left out: a run may be under way.
    pub(super) fn of(record: &Record, sources: &'a Sources) -> Result<Self, ReportError> {
        let label = |task: &TaskFacts| Some(Arc::from(format!("{}/{}", task.server.as_ref()?, task.tool.as_ref()?)));
        let labels: Vec<Option<Arc<str>>> = sources.tasks.iter().map(label).collect();
        let tools: Vec<Arc<str>> =
            labels.iter().flatten().cloned().collect::<BTreeSet<Arc<str>>>().into_iter().collect();
        let place = |label: &Option<Arc<str>>| {
            label.as_ref().and_then(|label| tools.binary_search(label).ok()).unwrap_or(tools.len())
        };
        let arms = sources.planned.len();
        let mut all = Self {
            planned: &sources.planned,
            tasks: &sources.tasks,
            outcomes: vec![vec![Outcome::default(); sources.tasks.len()]; arms],
            tallies: vec![vec![Tally::default(); tools.len() + 1]; arms],
            sums: vec![Sums::new(tools.len() + 1); arms],
            missing: vec![BTreeMap::new(); arms],
            ends: vec![BTreeMap::new(); arms],
            place_of_task: sources.tasks.iter().enumerate().map(|(at, task)| (&task.id, at)).collect(),
            place_of_arm: sources.planned.iter().enumerate().map(|(at, one)| (&*one.arm, at)).collect(),
            tool_of_task: labels.iter().map(place).collect(),
            tools,
        };
        for episode in record.episodes(Tail::Cut)? {
            let episode = episode?;
            let (arm, task) = all.places(&episode.task, &episode.arm)?;
            all.outcomes[arm][task] = Outcome::of(&episode);
            let tool = all.tool_of_task[task];
            all.tallies[arm][tool].add(&episode);
            *all.ends[arm].entry(episode.end).or_default() += 1;
        }
        Ok(all)
    }

    /// Reads the attempts, and keeps what belongs to the chosen episodes, given as places of arm and task.
    pub(super) fn attempts(
        &mut self,
        record: &Record,
        sources: &Sources,
        chosen: &BTreeSet<(usize, usize)>,
    ) -> Result<Kept, ReportError> {
        let mut kept = Kept::default();
        for episode in record.episodes(Tail::Cut)? {
            let episode = episode?;
            let place = self.places(&episode.task, &episode.arm)?;
            if chosen.contains(&place) {
                kept.episodes.insert(place, episode);
            }
        }
        let mut ledger = Ledger::new(sources);
        let mut open: HashMap<u64, Open> = HashMap::new();
        let mut failures: HashMap<(usize, usize), String> = HashMap::new();
        for line in record.attempts(Tail::Cut)? {
            match line? {
                AttemptLine::Opened(opened) => {
                    let (arm, task) = self.places(&opened.draw.task, &opened.draw.arm)?;
                    let changed = ledger.opened((arm, task), &opened);
                    self.tallies[arm][self.tool_of_task[task]].list_changes += u64::from(changed);
                    let Opened { n, draw, .. } = opened;
                    open.insert(n, Open { arm, task, draw });
                }
                AttemptLine::Settled(settled) => {
                    let Some(attempt) = open.remove(&settled.n) else {
                        return Err(ReportError::StrayAttempt(settled.n));
                    };
                    self.settle(&mut ledger, &attempt, &settled)?;
                    let place = (attempt.arm, attempt.task);
                    if let Some(why) = failure(&settled) {
                        failures.insert(place, why);
                    }
                    if let Some(response) = settled.response.filter(|_| chosen.contains(&place)) {
                        kept.responses.entry(place).or_default().insert(attempt.draw.turn, response);
                    }
                }
            }
        }
        for arm in 0..self.planned.len() {
            for task in 0..self.tasks.len() {
                if self.outcomes[arm][task] == Outcome::Missing {
                    let why = failures.get(&(arm, task)).map_or("no attempt says why", String::as_str);
                    *self.missing[arm].entry(why.to_owned()).or_default() += 1;
                }
            }
        }
        Ok(kept)
    }

    fn settle(&mut self, ledger: &mut Ledger<'_>, attempt: &Open, settled: &Settled) -> Result<(), ReportError> {
        let tool = self.tool_of_task[attempt.task];
        let place = (attempt.arm, attempt.task);
        let cost = |source| ReportError::Cost { task: attempt.draw.task.clone(), source };
        self.sums[attempt.arm].add(tool, ledger.settled(place, settled).map_err(cost)?, settled);
        Ok(())
    }

    fn places(&self, task: &TaskId, arm: &str) -> Result<(usize, usize), ReportError> {
        let at = self.place_of_arm.get(arm).ok_or_else(|| ReportError::UnknownArm(arm.to_owned()))?;
        let task = self.place_of_task.get(task).ok_or_else(|| ReportError::UnknownTask(task.clone()))?;
        Ok((*at, *task))
    }

    /// The place of an arm.
    pub(super) fn arm(&self, id: &str) -> Option<usize> {
        self.place_of_arm.get(id).copied()
    }

    /// What became of a task under an arm.
    pub(super) fn outcome(&self, arm: usize, task: usize) -> Outcome {
        self.outcomes[arm][task]
    }

    /// The place of a task's tool; the number of tools where it asks for none.
    pub(super) fn tool(&self, task: usize) -> usize {
        self.tool_of_task[task]
    }

    /// Episodes that are there.
    pub(super) fn attempted(&self, arm: usize) -> u64 {
        self.count(arm, |outcome| outcome != Outcome::Unattempted)
    }

    /// Episodes of an arm with these outcomes.
    pub(super) fn count(&self, arm: usize, keep: impl Fn(Outcome) -> bool) -> u64 {
        self.outcomes[arm].iter().filter(|&&outcome| keep(outcome)).count() as u64
    }
}

/// Why an attempt has no response that counts, in few words: numbers that differ from attempt to attempt would make every
/// reason its own.
fn failure(settled: &Settled) -> Option<String> {
    let error = settled.error.as_deref();
    match settled.status {
        Some(status) if status != 200 => Some(format!("HTTP status {status}")),
        _ => error.map(|error| super::text::tame(error.lines().next().unwrap_or_default(), 80)),
    }
}
