//! `bench tasks import` and `bench tasks scaffold`: catalogs and intents from what others wrote.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use bench_results::report::text::line;
use bench_tasks::{
    Catalog, TasksError,
    check::{self, CheckOptions, Finding, FindingKind, Severity},
    import::{self, Form, Imported, RowNote, Source, Summary},
    intent::Intents,
    scaffold,
};

use super::{
    args::{ImportArgs, ImportFiles, ImportSource, ScaffoldArgs},
    failure::Failure,
    output::Output,
};
use crate::{exit, inputs::Inputs, plan};

/// Notes of one kind that are printed; all of them are in `import.json`.
const PRINTED: usize = 20;

/// Writes the scaffold of a catalog.
pub(super) fn run_scaffold(args: &ScaffoldArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let bytes = read(&args.catalog)?;
    let name = args.catalog.file_stem().unwrap_or_default().to_string_lossy();
    let catalog = Catalog::parse(&name, &args.catalog.display().to_string(), bytes.into())?;
    let text = scaffold::scaffold(&catalog, &plan::check_options(&inputs.protocol));
    let Some(path) = &args.out else {
        output.bytes().write_all(text.as_bytes())?;
        return Ok(exit::OK);
    };
    if path.exists() {
        return Err(Failure::usage(format!("{} exists; the scaffold does not overwrite it", path.display())));
    }
    write(path, text.as_bytes())?;
    output.talk(&format!("{}: stubs for {} tools of {}", path.display(), catalog.tools.len(), catalog.server));
    Ok(exit::OK)
}

/// Imports; exit code 30 where a row was malformed, with everything else written.
pub(super) fn run(args: &ImportArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let (files, form) = match &args.source {
        ImportSource::Bfcl(files) => (files, None),
        ImportSource::Csv(files) => (files, Some(Form::Csv)),
        ImportSource::Jsonl(files) => (files, Some(Form::JsonLines)),
    };
    let folders = ["catalogs", "intents"].map(|name| files.out.join(name));
    if let Some(taken) = folders.iter().find(|folder| folder.exists()) {
        return Err(Failure::usage(format!("{} exists; name a fresh folder with --out", taken.display())));
    }
    let sources = sources(files)?;
    let imported = match form {
        None => import::bfcl(&sources)?,
        Some(form) => import::plain(form, &sources, &inputs.catalogs, "import"),
    };
    if imported.summary.rows == 0 {
        let names = sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ");
        let what = "no rows, so there is nothing to import; docs/own-servers.md shows the forms";
        return Err(Failure::new(exit::INPUT, anyhow::anyhow!("{names}: {what}")));
    }
    store(&imported, &files.out, inputs, form.is_some())?;
    let findings = findings(&imported);
    let tasks = runnable(&imported, inputs);
    if output.json {
        output.document(&imported.summary)?;
    } else {
        print(&imported.summary, output)?;
        for finding in &findings {
            writeln!(output.product(), "to mend: {}", line(&finding.to_string()))?;
        }
        print_next(&files.out, &imported, tasks, inputs, output)?;
    }
    Ok(if imported.summary.malformed.is_empty() { exit::OK } else { exit::INPUT })
}

fn sources(files: &ImportFiles) -> Result<Vec<Source>, Failure> {
    files.files.iter().map(|path| Ok(Source { name: path.display().to_string(), bytes: read(path)? })).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    Ok(fs::read(path).map_err(|source| TasksError::Read { path: path.to_owned(), source })?)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, bytes))
        .map_err(|source| Failure::new(exit::INPUT, anyhow::anyhow!("cannot write {}: {source}", path.display())))
}

/// Writes catalogs, intents and the summary. Catalogs that were there before keep their provenance.
fn store(imported: &Imported, out: &Path, inputs: &Inputs, own_catalogs: bool) -> Result<(), Failure> {
    for catalog in &imported.catalogs.catalogs {
        write(&out.join("catalogs").join(format!("{}.json", catalog.server)), &catalog.bytes)?;
    }
    if own_catalogs && let Some(index) = inputs.files()?.get("catalogs/index.json") {
        write(&out.join("catalogs/index.json"), index)?;
    }
    for file in &imported.intents {
        write(&out.join("intents").join(&*file.name), file.text.as_bytes())?;
    }
    let mut summary = serde_json::to_vec_pretty(&imported.summary)?;
    summary.push(b'\n');
    write(&out.join("import.json"), &summary)
}

/// Errors of `bench tasks check` in the imported set, missing frames aside.
fn findings(imported: &Imported) -> Vec<Finding> {
    let intents = Intents::from_files(imported.intents.clone());
    let mut findings = check::check(&intents, &imported.catalogs, &CheckOptions::default());
    findings.retain(|finding| finding.severity == Severity::Error && finding.kind != FindingKind::MissingFrames);
    findings
}

/// The most tasks that ask every imported request at most once: `--tasks` splits them by the protocol's share.
fn runnable(imported: &Imported, inputs: &Inputs) -> u64 {
    let intents = Intents::from_files(imported.intents.clone());
    let per_tool = inputs.protocol.suites.tools.frames_per_tool as usize;
    let tools: usize =
        imported.catalogs.tools().map(|(c, t)| intents.of_tool(&c.server, &t.name).count().min(per_tool)).sum();
    let abstain = intents.abstain().count().min(inputs.protocol.suites.tools.abstain_frames as usize);
    let (tools, abstain) = (tools as u64, abstain as u64);
    let fits = |n: &u64| {
        let plan = plan::tool_plan(&inputs.protocol, Some(*n));
        let none_to_abstain = abstain == 0;
        if none_to_abstain { *n <= tools } else { plan.tool_tasks <= tools && plan.abstain_tasks <= abstain }
    };
    (0..=tools + abstain).rev().find(fits).unwrap_or(0)
}

fn print(summary: &Summary, output: &mut Output) -> Result<(), Failure> {
    let out = &mut output.product();
    writeln!(
        out,
        "{} rows: {} requests with a right call, {} without one, {} answers, {} left out",
        summary.rows, summary.tool_frames, summary.abstain_frames, summary.answer_rows, summary.left_out
    )?;
    writeln!(out, "{} tools in {} catalogs", summary.tools, summary.servers)?;
    for (title, notes) in [
        ("malformed", &summary.malformed),
        ("not imported: the tool suite has no form for it", &summary.unsupported),
        ("accepted values dropped, since they break the tool's own schema", &summary.dropped_values),
        ("to read: a tool of another row fits the words better", &summary.rivals),
    ] {
        list(title, notes, out)?;
    }
    Ok(())
}

fn list(title: &str, notes: &[RowNote], out: &mut dyn std::io::Write) -> Result<(), Failure> {
    if notes.is_empty() {
        return Ok(());
    }
    writeln!(out, "{title} ({}):", notes.len())?;
    for note in notes.iter().take(PRINTED) {
        writeln!(out, "  {note}")?;
    }
    if notes.len() > PRINTED {
        writeln!(out, "  … and {} more, in import.json", notes.len() - PRINTED)?;
    }
    Ok(())
}

fn print_next(
    folder: &Path,
    imported: &Imported,
    tasks: u64,
    inputs: &Inputs,
    output: &mut Output,
) -> Result<(), Failure> {
    let per_tool = inputs.protocol.suites.tools.frames_per_tool as usize;
    let intents = Intents::from_files(imported.intents.clone());
    let over: usize = intents
        .tools()
        .map(|(server, tool): (&Arc<str>, &Arc<str>)| intents.of_tool(server, tool).count().saturating_sub(per_tool))
        .sum();
    if over > 0 {
        writeln!(
            output.product(),
            "{over} requests are beyond the protocol's {per_tool} frames per tool; a --protocol with a larger frames_per_tool asks them too"
        )?;
    }
    if tasks == 0 {
        writeln!(output.product(), "nothing to run: no row became a request")?;
        return Ok(());
    }
    let shown = |name: &str| -> PathBuf { folder.join(name) };
    writeln!(
        output.product(),
        "run it: bench --catalogs {} --intents {} --tasks {tasks}",
        shown("catalogs").display(),
        shown("intents").display()
    )?;
    Ok(())
}
