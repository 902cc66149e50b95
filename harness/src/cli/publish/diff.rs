//! `bench diff`: two runs beside each other, pair by pair where they share tasks.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::verdict::Endpoint;
use bench_results::{
    certificate::Certificate,
    record::{Manifest, Record, Score, Tail},
    table::{
        Planned,
        grid::{self, number, word},
        verdict_word,
    },
};
use bench_tasks::task::TaskId;
use serde::Serialize;

use super::{
    args::{DiffArgs, elsewhere},
    record::{complete, find, protocol},
};
use crate::{
    cli::{failure::Failure, output::Output},
    exit, plan,
};

/// Tasks of one kind of change that are named for people; the document names all of them.
const NAMED: usize = 3;

/// One endpoint of an arm in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct EndpointDiff {
    endpoint: Endpoint,
    /// Tasks that both ran and scored, abstain tasks included.
    tasks: u64,
    both: u64,
    only_first: u64,
    only_second: u64,
    neither: u64,
    /// Tasks that only the first got right, in the order of the second's record.
    lost: Vec<TaskId>,
    /// Tasks that only the second got right.
    gained: Vec<TaskId>,
}

impl EndpointDiff {
    fn new(endpoint: Endpoint) -> Self {
        let (lost, gained) = (Vec::new(), Vec::new());
        Self { endpoint, tasks: 0, both: 0, only_first: 0, only_second: 0, neither: 0, lost, gained }
    }

    fn count(&mut self, task: &TaskId, before: Score, after: Score) {
        let right = |score: Score| if self.endpoint == Endpoint::Selection { score.selection } else { score.arguments };
        self.tasks += 1;
        match (right(before), right(after)) {
            (true, true) => self.both += 1,
            (false, false) => self.neither += 1,
            (true, false) => {
                self.only_first += 1;
                self.lost.push(task.clone());
            }
            (false, true) => {
                self.only_second += 1;
                self.gained.push(task.clone());
            }
        }
    }
}

/// One arm in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ArmDiff {
    arm: Arc<str>,
    /// What each run's own table says of it; none where the run has no such row.
    verdicts: [Option<String>; 2],
    endpoints: Vec<EndpointDiff>,
}

#[derive(Debug, Serialize)]
struct Document {
    runs: [String; 2],
    /// What differs in what they ran: `[what, first, second]`.
    differs: Vec<[String; 3]>,
    arms: Vec<ArmDiff>,
}

struct Side {
    record: Record,
    certificate: Option<Certificate>,
    planned: Planned,
    /// Arms of the result suite, which has an endpoint of its own.
    result_arms: Vec<String>,
}

impl Side {
    /// What the run's own table says of an arm.
    fn verdict(&self, arm: &str) -> Option<String> {
        verdict_word(self.certificate.as_ref()?, self.planned, arm)
    }
}

/// Runs the command.
pub(in crate::cli) fn run(args: &DiffArgs, output: &mut Output) -> Result<u8, Failure> {
    let (first, second) = (find(&args.first, &args.out)?, find(&args.second, &args.out)?);
    let sides = [side(first.folder())?, side(second.folder())?];
    let document = Document {
        runs: [sides[0].record.manifest().id.clone(), sides[1].record.manifest().id.clone()],
        differs: differs(&sides[0], &sides[1]),
        arms: arms(&sides[0], &sides[1])?,
    };
    if output.json {
        output.document(&document)?;
    } else {
        print(&document, args, output)?;
    }
    Ok(exit::OK)
}

fn side(folder: &std::path::Path) -> Result<Side, Failure> {
    let record = complete(folder)?;
    let certificate = record.certificate().ok().and_then(|bytes| Certificate::parse(&bytes).ok());
    let protocol = protocol(&record)?;
    let result_arms = plan::result_arms(&protocol).map(str::to_owned).collect();
    Ok(Side { record, certificate, planned: Planned::of(&protocol), result_arms })
}

fn differs(first: &Side, second: &Side) -> Vec<[String; 3]> {
    let mut all = Vec::new();
    let mut note = |what: &str, values: [String; 2]| {
        if values[0] != values[1] {
            let [first, second] = values;
            all.push([what.to_owned(), first, second]);
        }
    };
    let each = |of: &dyn Fn(&Manifest) -> String| [of(first.record.manifest()), of(second.record.manifest())];
    note("model", each(&|manifest| manifest.model.asked.clone()));
    note("lock", each(&|manifest| manifest.lock.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)));
    note("program", each(&|manifest| manifest.build.version.clone()));
    note("arms", each(&|manifest| manifest.arms.join(", ")));
    for suite in ["tools", "results"] {
        let text = |manifest: &Manifest| {
            manifest
                .suites
                .get(suite)
                .map_or_else(|| "not run".to_owned(), |s| format!("{} tasks, seed {}", s.tasks, s.seed))
        };
        note(&format!("suite {suite}"), each(&text));
    }
    if let (Some(one), Some(two)) = (&first.certificate, &second.certificate) {
        note("protocol", [one.protocol.to_string(), two.protocol.to_string()]);
        for (server, catalog) in &one.catalogs {
            let other = two.catalogs.get(server).map_or_else(|| "not there".to_owned(), |c| c.digest.to_string());
            note(&format!("catalog {server}"), [catalog.digest.to_string(), other]);
        }
        for (arm, subject) in &one.subjects {
            if let Some(other) = two.subjects.get(arm) {
                note(&format!("surface of {arm}"), [subject.surface.to_string(), other.surface.to_string()]);
            }
        }
    }
    all
}

fn arms(first: &Side, second: &Side) -> Result<Vec<ArmDiff>, Failure> {
    let input = |error| Failure::new(exit::INPUT, error);
    let mut seen: BTreeMap<(TaskId, Arc<str>), Score> = BTreeMap::new();
    for line in first.record.episodes(Tail::Report).map_err(input)? {
        let line = line.map_err(input)?;
        if let Some(score) = line.score() {
            seen.insert((line.task, line.arm), score);
        }
    }
    let mut by_arm: BTreeMap<Arc<str>, ArmDiff> = BTreeMap::new();
    for line in second.record.episodes(Tail::Report).map_err(input)? {
        let line = line.map_err(input)?;
        let Some(score) = line.score() else { continue };
        let key = (line.task, line.arm);
        let Some(&before) = seen.get(&key) else { continue };
        let (task, arm) = key;
        let diff = by_arm.entry(Arc::clone(&arm)).or_insert_with(|| ArmDiff {
            verdicts: [first.verdict(&arm), second.verdict(&arm)],
            endpoints: endpoints(second, &arm).iter().copied().map(EndpointDiff::new).collect(),
            arm,
        });
        diff.endpoints.iter_mut().for_each(|endpoint| endpoint.count(&task, before, score));
    }
    // In the order of the second run's arms.
    Ok(second.record.manifest().arms.iter().filter_map(|arm| by_arm.remove(arm.as_str())).collect())
}

fn endpoints(side: &Side, arm: &str) -> &'static [Endpoint] {
    let results = side.result_arms.iter().any(|one| one == arm);
    if results { &[Endpoint::Answer] } else { &[Endpoint::Selection, Endpoint::Arguments] }
}

fn print(document: &Document, args: &DiffArgs, output: &mut Output) -> Result<(), Failure> {
    let out = &mut output.product();
    let [first, second] = &document.runs;
    writeln!(out, "first {first}, second {second}")?;
    for [what, before, after] in &document.differs {
        writeln!(out, "  {what}: {before} -> {after}")?;
    }
    if document.arms.is_empty() {
        writeln!(out, "no arm ran a task in both")?;
        return Ok(());
    }
    let dash = |word: &Option<String>| word.clone().unwrap_or_else(|| "–".to_owned());
    let verdicts = document.arms.iter().map(|arm| {
        let [before, after] = &arm.verdicts;
        vec![arm.arm.to_string(), dash(before), dash(after)]
    });
    writeln!(out)?;
    output.table(&grid::render(&[word("arm"), word("first"), word("second")], &verdicts.collect::<Vec<_>>()))?;
    let each = || document.arms.iter().flat_map(|arm| arm.endpoints.iter().map(move |endpoint| (&arm.arm, endpoint)));
    let counts = each().map(|(arm, seen)| {
        let numbers = [seen.tasks, seen.both, seen.only_first, seen.only_second, seen.neither];
        let names = [arm.to_string(), seen.endpoint.name().to_owned()];
        names.into_iter().chain(numbers.map(|number| number.to_string())).collect::<Vec<String>>()
    });
    let heads = [
        word("arm"),
        word("endpoint"),
        number("tasks"),
        number("right in both"),
        number("first only"),
        number("second only"),
        number("neither"),
    ];
    let out = &mut output.product();
    writeln!(out)?;
    write!(out, "{}", grid::render(&heads, &counts.collect::<Vec<_>>()))?;
    let mut example = None;
    for (arm, seen) in each() {
        for (what, tasks) in [("lost", &seen.lost), ("gained", &seen.gained)] {
            if let Some(task) = tasks.first() {
                example.get_or_insert((task, arm));
                writeln!(out, "{}", changed(arm, seen.endpoint, what, tasks))?;
            }
        }
    }
    if let Some((task, arm)) = example {
        let folder = elsewhere(&args.out);
        writeln!(out, "what a model saw and did: bench show {} {task} --arm {arm}{folder}", args.second)?;
        writeln!(out, "every task that changed: --json")?;
    }
    writeln!(
        out,
        "two runs of one model differ by chance too: compare with raw-again before reading anything into it"
    )?;
    Ok(())
}

/// The tasks of one kind of change, the first few by name: `L1 arguments: lost 7: t1 t2 t3 …`.
fn changed(arm: &str, endpoint: Endpoint, what: &str, tasks: &[TaskId]) -> String {
    let mut line = format!("{arm} {endpoint}: {what} {}:", tasks.len());
    for task in tasks.iter().take(NAMED) {
        line = format!("{line} {task}");
    }
    if tasks.len() > NAMED {
        line.push_str(" …");
    }
    line
}
