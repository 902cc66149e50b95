//! `bench diff`: two runs beside each other, pair by pair where they share tasks.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::verdict::Status;
use bench_results::{
    certificate::Certificate,
    record::{Manifest, Record, Tail},
};
use bench_tasks::task::TaskId;
use serde::Serialize;

use super::{args::DiffArgs, record::find};
use crate::{
    cli::{failure::Failure, output::Output},
    exit,
};

/// Tasks that are named, of those that one run alone got right.
const NAMED: usize = 5;

/// One arm in both runs, on arguments (answers, in the result suite).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ArmDiff {
    arm: Arc<str>,
    /// Verdicts; none where the arm has none.
    status: [Option<Status>; 2],
    /// Tasks that both ran and scored.
    tasks: u64,
    both: u64,
    only_first: u64,
    only_second: u64,
    neither: u64,
    /// Some tasks that only the first got right.
    lost: Vec<TaskId>,
    /// Some tasks that only the second got right.
    gained: Vec<TaskId>,
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
        print(&document, output)?;
    }
    Ok(exit::OK)
}

fn side(folder: &std::path::Path) -> Result<Side, Failure> {
    let record = Record::open(folder).map_err(|error| Failure::new(exit::INPUT, error))?;
    if !record.manifest().complete {
        let why = format!("run {} is not complete: no outcome is shown before its end", record.manifest().id);
        return Err(Failure::usage(why));
    }
    let certificate = record.certificate().ok().and_then(|bytes| Certificate::parse(&bytes).ok());
    Ok(Side { record, certificate })
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
    let mut seen: BTreeMap<(TaskId, Arc<str>), bool> = BTreeMap::new();
    for line in first.record.episodes(Tail::Report).map_err(input)? {
        let line = line.map_err(input)?;
        if let Some(score) = line.score() {
            seen.insert((line.task, line.arm), score.arguments);
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
            status: [status(first, &arm), status(second, &arm)],
            arm,
            tasks: 0,
            both: 0,
            only_first: 0,
            only_second: 0,
            neither: 0,
            lost: Vec::new(),
            gained: Vec::new(),
        });
        diff.tasks += 1;
        let (count, named) = match (before, score.arguments) {
            (true, true) => (&mut diff.both, None),
            (true, false) => (&mut diff.only_first, Some(&mut diff.lost)),
            (false, true) => (&mut diff.only_second, Some(&mut diff.gained)),
            (false, false) => (&mut diff.neither, None),
        };
        *count += 1;
        if let Some(named) = named.filter(|named| named.len() < NAMED) {
            named.push(task);
        }
    }
    // In the order of the second run's arms.
    Ok(second.record.manifest().arms.iter().filter_map(|arm| by_arm.remove(arm.as_str())).collect())
}

fn status(side: &Side, arm: &str) -> Option<Status> {
    side.certificate.as_ref()?.levels.iter().find(|level| &*level.arm == arm).map(|level| level.status)
}

fn print(document: &Document, output: &mut Output) -> Result<(), Failure> {
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
    writeln!(
        out,
        "\n{:<14} {:>7} {:>8} {:>11} {:>12} {:>8}  {:<14} {:<14}",
        "arm", "tasks", "both", "first only", "second only", "neither", "first", "second"
    )?;
    for arm in &document.arms {
        let word = |status: Option<Status>| status.map_or("-", Status::word);
        writeln!(
            out,
            "{:<14} {:>7} {:>8} {:>11} {:>12} {:>8}  {:<14} {:<14}",
            arm.arm,
            arm.tasks,
            arm.both,
            arm.only_first,
            arm.only_second,
            arm.neither,
            word(arm.status[0]),
            word(arm.status[1])
        )?;
    }
    for arm in document.arms.iter().filter(|arm| !arm.lost.is_empty() || !arm.gained.is_empty()) {
        let list = |tasks: &[TaskId]| tasks.iter().map(|task| task.0.as_str()).collect::<Vec<_>>().join(" ");
        writeln!(out, "{}: lost {}; gained {}", arm.arm, list(&arm.lost), list(&arm.gained))?;
    }
    writeln!(
        out,
        "two runs of one model differ by chance too: compare with raw-again before reading anything into it"
    )?;
    Ok(())
}
