//! Can the suite see damage? The `lexical` model, which reads nothing but words, under `raw` and under `names-only`.
//!
//! Both arms are really run: wire bytes are built, parsed and scored as in every offline run. A suite on which removing
//! all descriptions costs such a model less than [`BOUND_POINTS`] could not see a compressor that removes them.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{Arc, atomic::AtomicBool},
    thread,
};

use bench_mock_model::Behaviour;
use bench_protocol::controls::NAMES_ONLY;
use bench_results::record::EpisodeRecord;
use bench_tasks::{TasksError, task::Stratum};
use serde::Serialize;

use crate::{
    inputs::Inputs,
    plan,
    run::{
        events::{Event, Listener},
        family::AnyTask,
        mock::Mock,
        offline::{self, Setting},
        prepare::{Prepared, RunSpec},
    },
    wire::Settings,
};

/// Points by which names-only must lie below raw on `selection`.
pub const BOUND_POINTS: f64 = 20.0;

/// How many episodes were right on each endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Right {
    /// Episodes.
    pub tasks: u64,
    /// Right tool.
    pub selection: u64,
    /// Right tool and arguments.
    pub arguments: u64,
    /// First upstream call right.
    pub first_call_ok: u64,
}

impl Right {
    fn add(&mut self, episode: &EpisodeRecord) {
        self.tasks += 1;
        self.selection += u64::from(episode.selection == Some(true));
        self.arguments += u64::from(episode.arguments == Some(true));
        self.first_call_ok += u64::from(episode.first_call_ok == Some(true));
    }

    fn points(self, count: u64) -> f64 {
        100.0 * count as f64 / self.tasks.max(1) as f64
    }
}

/// One slice of the tasks under both arms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Pair {
    /// Under raw.
    pub raw: Right,
    /// Under names-only.
    pub names_only: Right,
}

impl Pair {
    /// Percentage points of `selection` that raw is ahead.
    pub fn selection_points(&self) -> f64 {
        self.raw.points(self.raw.selection) - self.names_only.points(self.names_only.selection)
    }

    /// Percentage points of `arguments` that raw is ahead.
    pub fn arguments_points(&self) -> f64 {
        self.raw.points(self.raw.arguments) - self.names_only.points(self.names_only.arguments)
    }

    /// Percentage points of `first_call_ok` that raw is ahead.
    pub fn first_call_points(&self) -> f64 {
        self.raw.points(self.raw.first_call_ok) - self.names_only.points(self.names_only.first_call_ok)
    }
}

/// The separation of names-only from raw.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Separation {
    /// Tasks that were asked under each arm.
    pub tasks: u64,
    /// Tasks of the protocol's plan; more than were asked where the intents do not fill it.
    pub planned: u64,
    /// All tasks with a right call.
    pub all: Pair,
    /// By stratum; abstain tasks are here only, since `lexical` always calls something.
    pub strata: BTreeMap<Stratum, Pair>,
    /// Points of `selection` that raw is ahead.
    pub points: f64,
    /// Points that are asked for.
    pub bound: f64,
    /// Whether there are enough.
    pub separated: bool,
    /// Tools that `lexical` picked under raw in place of another: `(asked, picked, episodes)`, most frequent first.
    pub confusions: Vec<Picked>,
}

/// A wrong pick under raw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Picked {
    /// The task's tool, `server/tool`.
    pub asked: String,
    /// The tool of its last upstream call; `none` where it made none.
    pub picked: String,
    /// Episodes.
    pub episodes: u64,
}

/// Runs the tool suite under both arms with the `lexical` model: the protocol's tasks, or as many as there are frames
/// where a tool has too few of them for the protocol's plan.
pub fn measure(inputs: &Inputs) -> anyhow::Result<Separation> {
    let spec = |tasks| RunSpec::of(inputs, &inputs.protocol.seeds.primary, &[NAMES_ONLY.to_owned()], tasks);
    let prepared = match Prepared::new(inputs, &spec(None)?) {
        Ok(prepared) => prepared,
        Err(error) if matches!(error.downcast_ref(), Some(TasksError::TooFewFrames { .. })) => {
            Prepared::new(inputs, &spec(Some(frames(inputs)))?)?
        }
        Err(error) => return Err(error),
    };
    let model = Mock::new(Behaviour::Lexical, &inputs.protocol.mock, &prepared);
    let settings = Settings::of(&inputs.protocol);
    let setting = Setting::scripted(inputs, &settings);
    let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let mut counts = Counts::default();
    for family in &prepared.families {
        counts.tasks = (0..family.tasks.len())
            .filter_map(|index| family.tasks.task(index))
            .filter_map(|task| match task {
                AnyTask::Tool(task) => {
                    let asked = task.server.as_ref().zip(task.tool.as_ref()).map(|(s, t)| format!("{s}/{t}"));
                    Some((task.id.0.clone(), (task.stratum, asked)))
                }
                AnyTask::Result(_) => None,
            })
            .collect();
        offline::run(family, setting, &model, threads, &AtomicBool::new(false), &mut counts)?;
    }
    let suite = &inputs.protocol.suites.tools;
    let asked = prepared.families.iter().map(|family| family.tasks.len()).sum();
    Ok(counts.conclude(&inputs.protocol.arms.reference, asked, suite.tool_tasks + suite.abstain_tasks))
}

/// Scored frames that a plan for few tasks would take.
fn frames(inputs: &Inputs) -> u64 {
    let per_tool = plan::tool_plan(&inputs.protocol, Some(1)).frames_per_tool;
    let of_tool = |server: &str, tool: &str| {
        inputs.intents.of_tool(server, tool).filter(|frame| !frame.dev).count().min(per_tool) as u64
    };
    inputs.catalogs.tools().map(|(catalog, tool)| of_tool(&catalog.server, &tool.name)).sum::<u64>().max(1)
}

/// What an episode is counted under.
type Meta = (Stratum, Option<String>);

#[derive(Default)]
struct Counts {
    tasks: BTreeMap<String, Meta>,
    right: BTreeMap<(Stratum, Arc<str>), Right>,
    picks: BTreeMap<(Arc<str>, String, String), u64>,
}

impl Listener for Counts {
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        let Event::Episode(trace) = event else { return Ok(()) };
        let episode = &trace.record;
        let Some((stratum, asked)) = self.tasks.get(&episode.task.0) else { return Ok(()) };
        self.right.entry((*stratum, Arc::clone(&episode.arm))).or_default().add(episode);
        if let (Some(asked), Some(false)) = (asked, episode.selection) {
            let picked =
                episode.calls.last().map_or_else(|| "none".to_owned(), |call| format!("{}/{}", call.server, call.tool));
            *self.picks.entry((Arc::clone(&episode.arm), asked.clone(), picked)).or_default() += 1;
        }
        Ok(())
    }
}

impl Counts {
    fn conclude(self, reference: &str, tasks: u64, planned: u64) -> Separation {
        let mut strata: BTreeMap<Stratum, Pair> = BTreeMap::new();
        for ((stratum, arm), right) in self.right {
            let pair = strata.entry(stratum).or_default();
            match &*arm {
                NAMES_ONLY => pair.names_only = right,
                arm if arm == reference => pair.raw = right,
                _ => {}
            }
        }
        let mut all = Pair::default();
        for pair in strata.iter().filter(|(stratum, _)| **stratum != Stratum::Abstain).map(|(_, pair)| pair) {
            for (sum, part) in [(&mut all.raw, pair.raw), (&mut all.names_only, pair.names_only)] {
                sum.tasks += part.tasks;
                sum.selection += part.selection;
                sum.arguments += part.arguments;
                sum.first_call_ok += part.first_call_ok;
            }
        }
        let mut confusions: Vec<Picked> = self
            .picks
            .into_iter()
            .filter(|((arm, _, _), _)| **arm == *reference)
            .map(|((_, asked, picked), episodes)| Picked { asked, picked, episodes })
            .collect();
        // Stable, so equally frequent ones stay in name order.
        confusions.sort_by_key(|picked| std::cmp::Reverse(picked.episodes));
        let points = all.selection_points();
        Separation {
            tasks,
            planned,
            all,
            strata,
            points,
            bound: BOUND_POINTS,
            separated: points >= BOUND_POINTS,
            confusions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Overrides;

    #[test]
    fn a_suite_with_too_few_frames_says_how_many_of_the_planned_tasks_were_asked() {
        let folder = tempfile::tempdir().unwrap();
        let frame = |id: &str, path: &str| {
            format!(
                "[[intent.frame]]\nid = \"{id}\"\nstratum = \"plain\"\nvoice = \"terse\"\ntext = \"status of {path}\"\n\
                 gold = {{ repo_path = \"{path}\" }}\n"
            )
        };
        let text = format!(
            "server = \"git\"\nwriter = \"me\"\n[[intent]]\ntool = \"git_status\"\n{}{}",
            frame("x", "/srv/app"),
            frame("y", "/srv/other")
        );
        std::fs::write(folder.path().join("git-me.toml"), text).unwrap();
        let own = Overrides { intents: Some(folder.path().to_owned()), ..Overrides::default() };
        let inputs = Inputs::load(&own).unwrap();
        let suite = &inputs.protocol.suites.tools;
        let seen = measure(&inputs).unwrap();
        assert_eq!((seen.tasks, seen.planned), (2, suite.tool_tasks + suite.abstain_tasks));
        assert_eq!(seen.all.raw.tasks, 2);
    }
}
