//! `bench tasks`: print tasks, check intents, and the clerical part of an audit.

use std::{fs, num::NonZeroU64, path::Path};

use bench_results::report::text::line as on_one_line;
use bench_tasks::{
    TasksError,
    audit::{self, Answer, AuditReport},
    check::{self, Severity},
    intent::Intents,
    proof::{self, MatcherTables, Proof, ToolProof},
    report::{self, Difficulty, IntentReport, ToolCoverage},
};
use serde::Serialize;

use super::{
    args::{AuditSheetArgs, SuiteArg, TasksAction, TasksArgs},
    failure::Failure,
    import,
    output::Output,
};
use crate::{
    exit,
    inputs::Inputs,
    plan::{self, SuiteSeeds},
    rereading::{self, Rereading},
    run::family::{AnyTask, TaskSource},
    separation::{self, Separation},
};

/// Runs the command.
pub(super) fn run(args: &TasksArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    match &args.action {
        None => print(args, inputs, output),
        Some(TasksAction::Check(args)) => run_check(args.matchers.as_deref(), inputs, output),
        Some(TasksAction::Report) => run_report(inputs, output),
        Some(TasksAction::Scaffold(args)) => import::run_scaffold(args, inputs, output),
        Some(TasksAction::Import(args)) => import::run(args, inputs, output),
        Some(TasksAction::AuditSheet(args)) => sheet(args, inputs, output),
        Some(TasksAction::AuditScore(args)) => score(&args.seed, &args.file, inputs, output),
    }
}

fn print(args: &TasksArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let seed = args.seed.as_deref().unwrap_or(&inputs.protocol.seeds.primary);
    let seeds = SuiteSeeds::derive(&inputs.protocol, seed)?;
    let n = args.n.map(NonZeroU64::get);
    let tasks = match args.suite {
        SuiteArg::Tools => TaskSource::tools(inputs, &seeds, n)?,
        SuiteArg::Results => TaskSource::results(inputs, &seeds, n.unwrap_or(inputs.protocol.suites.results.tasks))?,
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
    serde_json::to_writer(output.bytes(), value)?;
    output.bytes().write_all(b"\n")?;
    Ok(())
}

fn run_check(matchers: Option<&Path>, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let mut findings = check::check(&inputs.intents, &inputs.catalogs, &plan::check_options(&inputs.protocol));
    let proof = prove(matchers, inputs)?;
    findings.extend(proof.iter().flat_map(|proof| proof.findings.iter().cloned()));
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    if output.json {
        output.document(&findings)?;
    } else {
        for finding in &findings {
            writeln!(output.product(), "{}", on_one_line(&finding.to_string()))?;
        }
        writeln!(
            output.product(),
            "{} frames over {} tools: {errors} errors, {} warnings",
            inputs.intents.frames().len(),
            inputs.catalogs.tool_count(),
            findings.len() - errors
        )?;
        if let Some(proof) = &proof {
            let sum = |count: fn(&ToolProof) -> usize| proof.tools.values().map(count).sum::<usize>();
            writeln!(
                output.product(),
                "matcher tables: {} rows of accepted and {} of rejected calls, {} calls scored over {} frames",
                sum(|tool| tool.accepted),
                sum(|tool| tool.rejected),
                sum(|tool| tool.calls),
                sum(|tool| tool.frames)
            )?;
        }
    }
    Ok(if errors == 0 { exit::OK } else { exit::INPUT })
}

/// The proof by the tables of `folder`, or by the built-in ones where the intents are the built-in ones too.
fn prove(folder: Option<&Path>, inputs: &Inputs) -> Result<Option<Proof>, Failure> {
    let tables = match folder {
        Some(folder) => MatcherTables::load(folder)?,
        None if inputs.intents.digest() == Intents::embedded().digest() => MatcherTables::embedded(),
        None => return Ok(None),
    };
    if tables.is_empty() {
        return Ok(None);
    }
    // Intents with errors make no tasks; their errors are reported already.
    match proof::prove(&tables, &inputs.intents, &inputs.catalogs, [0; 32]) {
        Ok(proof) => Ok(Some(proof)),
        Err(TasksError::Intents { .. } | TasksError::Ambiguous { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
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
    /// A reader that never expands against one that does, on R's digests; none where the catalogs have no results to ask
    /// about.
    rereading: Option<Rereading>,
}

fn run_report(inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let report = TasksReport {
        intents: report::report(&inputs.intents, &inputs.catalogs),
        difficulty: report::difficulty(&inputs.intents, &inputs.catalogs),
        separation: separation::measure(inputs).map_err(|error| Failure::new(exit::INPUT, error))?,
        rereading: rereading::measure(inputs)?,
    };
    if output.json {
        output.document(&report)?;
    } else {
        print_report(&report.intents, output)?;
        print_difficulty(&report.difficulty, output)?;
        print_separation(&report.separation, output)?;
        if let Some(rereading) = &report.rereading {
            print_rereading(rereading, output)?;
        }
        writeln!(output.product(), "the whole report: --json")?;
    }
    Ok(exit::OK)
}

fn print_difficulty(difficulty: &Difficulty, output: &mut Output) -> Result<(), Failure> {
    let out = &mut output.product();
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
    let out = &mut output.product();
    let short =
        if separation.tasks < separation.planned { "; some tool has too few frames for the others" } else { "" };
    writeln!(
        out,
        "the `lexical` model on {} of {} planned tasks{short}; right tool in % of tasks:",
        separation.tasks, separation.planned
    )?;
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

fn print_rereading(rereading: &Rereading, output: &mut Output) -> Result<(), Failure> {
    let out = &mut output.product();
    writeln!(out, "a reader without a model on R's digests, right answers in % of questions:")?;
    writeln!(out, "  {:<14} {:>6} {:>9} {:>14} {:>8}", "", "asked", "digested", "never expands", "expands")?;
    let share = |count: u64, tasks: u64| 100.0 * count as f64 / tasks.max(1) as f64;
    let kinds = rereading.kinds.iter().map(|(kind, found)| (kind.as_str(), found));
    for (name, found) in kinds.chain([("all", &rereading.all)]) {
        writeln!(
            out,
            "  {name:<14} {:>6} {:>9} {:>14.1} {:>8.1}",
            found.tasks,
            found.digested,
            share(found.shown, found.tasks),
            share(found.expanded, found.tasks)
        )?;
    }
    let word = if rereading.separated { "separated" } else { "not separated: the suite cannot see a lossy digest" };
    writeln!(out, "expanding from not: {:.1} points (bound {}): {word}", rereading.points, rereading.bound)?;
    Ok(())
}

fn print_report(report: &IntentReport, output: &mut Output) -> Result<(), Failure> {
    let out = &mut output.product();
    writeln!(out, "{} scored frames, {} dev frames", report.scored_frames, report.dev_frames)?;
    for (stratum, count) in &report.strata {
        writeln!(out, "  {:<14} {count:>5}", stratum.name())?;
    }
    let tools: Vec<_> = report.tools.iter().filter(|row| row.tool != "abstain").collect();
    let span = |count: fn(&ToolCoverage) -> usize| {
        let counts = || tools.iter().map(|row| count(row));
        format!("{} to {}", counts().min().unwrap_or(0), counts().max().unwrap_or(0))
    };
    writeln!(
        out,
        "{} of {} tools have scored frames: {} each, by {} writers",
        tools.iter().filter(|row| row.scored > 0).count(),
        tools.len(),
        span(|row| row.scored),
        span(|row| row.writers)
    )?;
    let leaks: usize = report.name_leaks.values().sum();
    writeln!(
        out,
        "frames whose text says a word of the tool's name: {leaks}, none a paraphrase; that say the server's name: {}",
        report.server_names
    )?;
    writeln!(out, "nearest pairs within a tool (bound {}):", report.similarity_bound)?;
    for pair in report.nearest.iter().take(5) {
        writeln!(out, "  {:.3}  {}  {}", pair.similarity, pair.first, pair.second)?;
    }
    writeln!(out, "arguments that no scored frame gives: {}", join(&report.unused_arguments))?;
    let keywords: Vec<String> = report.keywords.iter().map(|(word, frames)| format!("{word} {frames}")).collect();
    writeln!(out, "schema keywords exercised, in frames: {}", join(&keywords))?;
    writeln!(out, "schema keywords that no scored frame exercises: {}", join(&report.unexercised))?;
    Ok(())
}

fn join(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn audit_seed(inputs: &Inputs, seed: &str) -> Result<[u8; 32], Failure> {
    Ok(SuiteSeeds::derive(&inputs.protocol, seed)?.tools)
}

fn sheet(args: &AuditSheetArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let items = audit::items(&inputs.intents, &inputs.catalogs, audit_seed(inputs, &args.seed)?)?;
    let unknown = |id: &&String| !items.iter().any(|(_, task)| *task.frame == ***id);
    if let Some(id) = args.frames.iter().find(unknown) {
        return Err(Failure::usage(format!(
            "--frames: there is no frame {id}; ids are server/tool/frame or abstain/frame"
        )));
    }
    for (item, task) in &items {
        if args.frames.is_empty() || args.frames.iter().any(|id| **id == *task.frame) {
            line(item, output)?;
        }
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
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
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
    let out = &mut output.product();
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
            on_one_line(&one.utterance),
            serde_json::Value::from(one.gold.clone()),
            one.answer
        )?;
    }
    Ok(())
}
