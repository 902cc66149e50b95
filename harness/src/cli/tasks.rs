//! `bench tasks`: print tasks, check intents, and the clerical part of an audit.

use std::{fs, path::Path};

use bench_tasks::{
    TasksError,
    audit::{self, Answer, AuditReport},
    check::{self, CheckOptions, Severity},
    report::{self, Difficulty, IntentReport},
};
use serde::Serialize;

use super::{
    args::{SuiteArg, TasksAction, TasksArgs},
    failure::Failure,
    import,
    output::Output,
};
use crate::{
    exit,
    inputs::Inputs,
    plan::SuiteSeeds,
    run::family::{AnyTask, TaskSource},
    separation::{self, Separation},
};

/// Runs the command.
pub(super) fn run(args: &TasksArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    match &args.action {
        None => print(args, inputs, output),
        Some(TasksAction::Check) => run_check(inputs, output),
        Some(TasksAction::Report) => run_report(inputs, output),
        Some(TasksAction::Scaffold(args)) => import::run_scaffold(args, output),
        Some(TasksAction::Import(args)) => import::run(args, inputs, output),
        Some(TasksAction::AuditSheet(args)) => sheet(&args.seed, inputs, output),
        Some(TasksAction::AuditScore(args)) => score(&args.seed, &args.file, inputs, output),
    }
}

fn print(args: &TasksArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let seed = args.seed.as_deref().unwrap_or(&inputs.protocol.seeds.primary);
    let seeds = SuiteSeeds::derive(&inputs.protocol, seed)?;
    let tasks = match args.suite {
        SuiteArg::Tools => TaskSource::tools(inputs, &seeds, args.n)?,
        SuiteArg::Results => {
            TaskSource::results(inputs, &seeds, args.n.unwrap_or(inputs.protocol.suites.results.tasks))?
        }
    };
    for task in (0..tasks.len()).filter_map(|index| tasks.task(index)) {
        match task {
            AnyTask::Tool(task) => line(&task, output)?,
            AnyTask::Result(task) => line(&task, output)?,
        }
    }
    Ok(exit::OK)
}

fn line(value: &impl Serialize, output: &mut Output) -> Result<(), Failure> {
    serde_json::to_writer(output.product(), value)?;
    output.product().write_all(b"\n")?;
    Ok(())
}

fn run_check(inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let tools = &inputs.protocol.suites.tools;
    let options = CheckOptions { scored_frames: tools.frames_per_tool as usize, ..CheckOptions::default() };
    let findings = check::check(&inputs.intents, &inputs.catalogs, &options);
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    if output.json {
        output.document(&findings)?;
    } else {
        for finding in &findings {
            writeln!(output.product(), "{finding}")?;
        }
        writeln!(
            output.product(),
            "{} frames over {} tools: {errors} errors, {} warnings",
            inputs.intents.frames().len(),
            inputs.catalogs.tool_count(),
            findings.len() - errors
        )?;
    }
    Ok(if errors == 0 { exit::OK } else { exit::INPUT })
}

/// Everything that `bench tasks report` measures.
#[derive(Serialize)]
struct TasksReport {
    /// Coverage.
    intents: IntentReport,
    /// How hard the frames are for BM25 over names and descriptions.
    difficulty: Difficulty,
    /// The `lexical` model under raw and under names-only.
    separation: Separation,
}

fn run_report(inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let report = TasksReport {
        intents: report::report(&inputs.intents, &inputs.catalogs),
        difficulty: report::difficulty(&inputs.intents, &inputs.catalogs),
        separation: separation::measure(inputs).map_err(|error| Failure::new(exit::INPUT, error))?,
    };
    if output.json {
        output.document(&report)?;
    } else {
        print_report(&report.intents, output)?;
        print_difficulty(&report.difficulty, output)?;
        print_separation(&report.separation, output)?;
        writeln!(output.product(), "the whole report: --json")?;
    }
    Ok(exit::OK)
}

fn print_difficulty(difficulty: &Difficulty, output: &mut Output) -> Result<(), Failure> {
    let out = output.product();
    writeln!(out, "right tool by word overlap (BM25 over names and descriptions), in % of frames:")?;
    writeln!(out, "  {:<14} {:>6} {:>7} {:>7}", "", "frames", "first", "top 5")?;
    let strata = difficulty.strata.iter().map(|(stratum, ranks)| (stratum.name(), ranks));
    for (name, ranks) in strata.chain([("all", &difficulty.all)]) {
        let (first, five) = (100.0 * ranks.first_share(), 100.0 * ranks.first_five_share());
        writeln!(out, "  {name:<14} {:>6} {first:>7.1} {five:>7.1}", ranks.frames)?;
    }
    Ok(())
}

fn print_separation(separation: &Separation, output: &mut Output) -> Result<(), Failure> {
    let out = output.product();
    writeln!(out, "the `lexical` model, right tool in % of tasks:")?;
    writeln!(out, "  {:<14} {:>6} {:>7} {:>11} {:>7}", "", "tasks", "raw", "names-only", "points")?;
    let share = |count: u64, tasks: u64| 100.0 * count as f64 / tasks.max(1) as f64;
    let strata = separation.strata.iter().map(|(stratum, pair)| (stratum.name(), pair));
    for (name, pair) in strata.chain([("all tools", &separation.all)]) {
        writeln!(
            out,
            "  {name:<14} {:>6} {:>7.1} {:>11.1} {:>7.1}",
            pair.raw.tasks,
            share(pair.raw.selection, pair.raw.tasks),
            share(pair.names_only.selection, pair.names_only.tasks),
            pair.selection_points()
        )?;
    }
    let word = if separation.separated { "separated" } else { "not separated: the suite cannot see damage" };
    writeln!(
        out,
        "names-only from raw: {:.1} points of right tool, {:.1} of right arguments, {:.1} of right first call (bound {} of right tool): {word}",
        separation.points,
        separation.all.arguments_points(),
        separation.all.first_call_points(),
        separation.bound
    )?;
    writeln!(out, "most frequent wrong picks under raw (asked, picked, episodes):")?;
    for picked in separation.confusions.iter().take(10) {
        writeln!(out, "  {:<44} {:<44} {:>4}", picked.asked, picked.picked, picked.episodes)?;
    }
    Ok(())
}

fn print_report(report: &IntentReport, output: &mut Output) -> Result<(), Failure> {
    let out = output.product();
    writeln!(out, "{} scored frames, {} dev frames", report.scored_frames, report.dev_frames)?;
    for (stratum, count) in &report.strata {
        writeln!(out, "  {:<14} {count:>5}", stratum.name())?;
    }
    writeln!(out, "nearest pairs within a tool (bound {}):", report.similarity_bound)?;
    for pair in report.nearest.iter().take(5) {
        writeln!(out, "  {:.3}  {}  {}", pair.similarity, pair.first, pair.second)?;
    }
    writeln!(out, "arguments that no scored frame gives: {}", join(&report.unused_arguments))?;
    writeln!(out, "schema keywords that no scored frame exercises: {}", join(&report.unexercised))?;
    Ok(())
}

fn join(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn audit_seed(inputs: &Inputs, seed: &str) -> Result<[u8; 32], Failure> {
    Ok(SuiteSeeds::derive(&inputs.protocol, seed)?.tools)
}

fn sheet(seed: &str, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    for (item, _) in audit::items(&inputs.intents, &inputs.catalogs, audit_seed(inputs, seed)?)? {
        line(&item, output)?;
    }
    Ok(exit::OK)
}

fn score(seed: &str, file: &Path, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let items = audit::items(&inputs.intents, &inputs.catalogs, audit_seed(inputs, seed)?)?;
    let report = audit::judge(&items, &inputs.catalogs, &answers(file)?)?;
    if output.json {
        output.document(&report)?;
    } else {
        print_audit(&report, output)?;
    }
    Ok(exit::OK)
}

fn answers(file: &Path) -> Result<Vec<Answer>, Failure> {
    let text = fs::read_to_string(file).map_err(|source| TasksError::Read { path: file.to_owned(), source })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                Failure::new(exit::INPUT, anyhow::anyhow!("{}:{}: {error}", file.display(), number + 1))
            })
        })
        .collect()
}

fn print_audit(report: &AuditReport, output: &mut Output) -> Result<(), Failure> {
    let out = output.product();
    let all = report.all;
    writeln!(out, "read {}, unread {}: same tool {}, same call {}", all.read, report.unread.len(), all.tool, all.call)?;
    if let Some(kappa) = report.kappa {
        writeln!(out, "Cohen's kappa on the choice of tool {kappa:.4}")?;
    }
    for (stratum, agreement) in &report.by_stratum {
        writeln!(
            out,
            "  {:<14} read {:>4}  tool {:>4}  call {:>4}",
            stratum.name(),
            agreement.read,
            agreement.tool,
            agreement.call
        )?;
    }
    for one in &report.disagreements {
        writeln!(
            out,
            "{} {}\n  {}\n  gold   {}\n  answer {}",
            one.item,
            one.frame,
            one.utterance,
            serde_json::Value::from(one.gold.clone()),
            one.answer
        )?;
    }
    Ok(())
}
