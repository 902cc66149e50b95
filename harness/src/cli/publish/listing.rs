//! `bench show RUN`: the tasks on which an arm and its reference differ, so that there is something to ask about.

use std::{collections::BTreeMap, sync::Arc};

use bench_results::{
    certificate::Certificate,
    record::{Record, Score, Tail},
    table::grid::{self, Head, word},
};
use bench_tasks::task::TaskId;
use serde::Serialize;
use serde_json::json;

use super::args::{ShowArgs, elsewhere};
use crate::{
    cli::{failure::Failure, output::Output},
    exit,
    run::{
        family::{AnyTask, Family},
        prepare::Prepared,
    },
};

/// Ids that are offered for one that no task has.
const NEAREST: usize = 3;

/// What an arm did on a task that its reference did otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Change {
    /// Right under the reference alone.
    Lost,
    /// Right under the arm alone.
    Gained,
}

impl Change {
    fn of(reference: bool, arm: bool) -> Option<Self> {
        match (reference, arm) {
            (true, false) => Some(Self::Lost),
            (false, true) => Some(Self::Gained),
            _ => None,
        }
    }

    fn word(change: Option<Self>) -> String {
        let word = match change {
            Some(Self::Lost) => "lost",
            Some(Self::Gained) => "gained",
            None => "–",
        };
        word.to_owned()
    }
}

/// A task on which an arm and its reference differ.
#[derive(Debug, Serialize)]
struct Pair {
    arm: Arc<str>,
    against: Arc<str>,
    task: TaskId,
    /// The right tool; in the result suite the right answer.
    selection: Option<Change>,
    /// The right tool with right arguments; equals the other in the result suite.
    arguments: Option<Change>,
    /// `server/tool` that is asked for; none where no tool serves the request.
    tool: Option<String>,
    /// Stratum, or kind of question.
    stratum: String,
}

/// Lists the pairs of a record.
pub(super) fn run(args: &ShowArgs, record: &Record, prepared: &Prepared, output: &mut Output) -> Result<u8, Failure> {
    let scores = scores(record)?;
    let certificate = record.certificate().ok().and_then(|bytes| Certificate::parse(&bytes).ok());
    let against = |family: &Family, arm: &str| -> Option<Arc<str>> {
        let stated = certificate.as_ref().and_then(|all| all.arms.iter().find(|one| *one.arm == *arm));
        match stated {
            Some(stated) => stated.baseline.clone(),
            // Of a run without a certificate: the first arm of a suite is its reference.
            None => family.arms.first().map(|first| first.info().id.0.as_str()).filter(|id| *id != arm).map(Arc::from),
        }
    };
    let ids = || prepared.families.iter().flat_map(|family| family.arms.iter().map(|arm| arm.info().id.0.as_str()));
    if let Some(unknown) = args.arm.as_deref().filter(|arm| ids().all(|id| id != *arm)) {
        let known: Vec<&str> = ids().collect();
        return Err(Failure::usage(format!("arm `{unknown}` did not run; there are {}", known.join(", "))));
    }
    let score = |task: &TaskId, arm: &str| scores.get(task).and_then(|by_arm| by_arm.get(arm)).copied();
    let mut families = Vec::new();
    for family in &prepared.families {
        let tasks: Vec<AnyTask> = (0..family.tasks.len()).filter_map(|index| family.tasks.task(index)).collect();
        let mut pairs = Vec::new();
        for id in family.arms.iter().map(|arm| arm.info().id.0.as_str()) {
            let wanted = args.arm.as_deref().is_none_or(|arm| arm == id);
            let Some(against) = against(family, id).filter(|_| wanted) else { continue };
            let arm = Arc::<str>::from(id);
            for task in &tasks {
                let Some((before, after)) = score(task.id(), &against).zip(score(task.id(), &arm)) else { continue };
                pairs.extend(pair(&arm, &against, task, before, after));
            }
        }
        families.push((family.kind.has_tools(), pairs));
    }
    if output.json {
        let pairs: Vec<&Pair> = families.iter().flat_map(|(_, pairs)| pairs).collect();
        output.document(&json!({ "run": record.manifest().id, "pairs": pairs }))?;
        return Ok(exit::OK);
    }
    print(args, &families, output)?;
    Ok(exit::OK)
}

/// Scores by task, then arm.
fn scores(record: &Record) -> Result<BTreeMap<TaskId, BTreeMap<Arc<str>, Score>>, Failure> {
    let input = |error| Failure::new(exit::INPUT, error);
    let mut all: BTreeMap<TaskId, BTreeMap<Arc<str>, Score>> = BTreeMap::new();
    for line in record.episodes(Tail::Report).map_err(input)? {
        let line = line.map_err(input)?;
        if let Some(score) = line.score() {
            all.entry(line.task).or_default().insert(line.arm, score);
        }
    }
    Ok(all)
}

fn pair(arm: &Arc<str>, against: &Arc<str>, task: &AnyTask, before: Score, after: Score) -> Option<Pair> {
    let selection = Change::of(before.selection, after.selection);
    let arguments = Change::of(before.arguments, after.arguments);
    selection.or(arguments)?;
    let (tool, stratum) = match task {
        AnyTask::Tool(task) => {
            let place = task.server.as_ref().zip(task.tool.as_ref());
            (place.map(|(server, tool)| format!("{server}/{tool}")), task.stratum.name().to_owned())
        }
        AnyTask::Result(task) => (Some(format!("{}/{}", task.server, task.tool)), task.kind.to_string()),
    };
    let (arm, against, task) = (Arc::clone(arm), Arc::clone(against), task.id().clone());
    Some(Pair { arm, against, task, selection, arguments, tool, stratum })
}

fn print(args: &ShowArgs, families: &[(bool, Vec<Pair>)], output: &mut Output) -> Result<(), Failure> {
    let out = &mut output.product();
    for (has_tools, pairs) in families.iter().filter(|(_, pairs)| !pairs.is_empty()) {
        let outcome: &[Head] = if *has_tools { &[word("selection"), word("arguments")] } else { &[word("answer")] };
        let heads =
            [&[word("arm"), word("against"), word("task")], outcome, &[word("asks for"), word("stratum")]].concat();
        let rows: Vec<Vec<String>> = pairs.iter().map(|pair| row(pair, *has_tools)).collect();
        writeln!(out, "{}", grid::render(&heads, &rows))?;
    }
    match families.iter().flat_map(|(_, pairs)| pairs).next() {
        None => writeln!(out, "no arm differs from its reference on any task")?,
        Some(pair) => writeln!(
            out,
            "what a model saw and did: bench show {} {} --arm {}{}",
            args.record.run,
            pair.task,
            pair.arm,
            elsewhere(&args.record.out)
        )?,
    }
    Ok(())
}

fn row(pair: &Pair, has_tools: bool) -> Vec<String> {
    let mut cells = vec![pair.arm.to_string(), pair.against.to_string(), pair.task.to_string()];
    cells.push(Change::word(pair.selection));
    if has_tools {
        cells.push(Change::word(pair.arguments));
    }
    cells.push(pair.tool.clone().unwrap_or_else(|| "no tool".to_owned()));
    cells.push(pair.stratum.clone());
    cells
}

/// Ids of tasks that have the longest beginning in common with a text, the nearest first, each in backticks.
pub(super) fn nearest(prepared: &Prepared, text: &str) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for family in &prepared.families {
        ids.extend(
            (0..family.tasks.len()).filter_map(|index| family.tasks.task(index)).map(|task| task.id().0.clone()),
        );
    }
    let common = |id: &String| id.bytes().zip(text.bytes()).take_while(|(one, other)| one == other).count();
    // Stable, so that of equally near ones the first of the run come first.
    ids.sort_by_key(|id| std::cmp::Reverse(common(id)));
    ids.into_iter().take(NEAREST).map(|id| format!("`{id}`")).collect()
}
