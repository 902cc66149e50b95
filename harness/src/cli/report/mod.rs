//! `bench report`: a record for readers, in four formats.

pub(super) mod args;
mod scenes;
mod source;

use std::{fs, io, path::Path};

use bench_results::{
    record::{Durability, Record, whole::write_whole},
    report::{CheckLine, CheckOutcome, Report, ReportError, csv, html, markdown},
};

use self::{
    args::{ReportArgs, Table},
    scenes::Stage,
};
use super::{failure::Failure, output::Output, publish::record::find, verify::ledger_is_there};
use crate::{
    checks::{Check, Outcome},
    exit,
    inputs::Inputs,
    run::prepare::{Prepared, RunSpec},
    verify::{Against, verify},
};

/// The formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Rows of the record alone.
    Csv(Table),
    /// The whole view.
    Page(Page),
}

/// How the whole view is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    Html,
    Markdown,
    Json,
}

impl Format {
    fn of(args: &ReportArgs, json: bool) -> Result<Self, Failure> {
        match (args.html, args.markdown, args.csv, json) {
            (true, _, _, false) => Ok(Self::Page(Page::Html)),
            (_, true, _, false) => Ok(Self::Page(Page::Markdown)),
            (_, _, Some(table), false) => Ok(Self::Csv(table)),
            (false, false, None, true) => Ok(Self::Page(Page::Json)),
            (false, false, None, false) => {
                Err(Failure::usage("choose a format: --html, --markdown, --csv, --csv=attempts or --json"))
            }
            _ => Err(Failure::usage("--json is a format of its own here: choose one")),
        }
    }
}

/// Runs the command. A record that does not verify gets its report all the same, which says so, and the check's code.
pub(super) fn run(args: &ReportArgs, output: &mut Output) -> Result<u8, Failure> {
    let format = Format::of(args, output.json)?;
    let found = find(&args.run, &args.out)?;
    let file = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = file {
        writable(path)?;
    }
    let record = Record::open(found.folder()).map_err(|error| Failure::new(exit::INPUT, error))?;
    ledger_is_there(args.ledger.as_deref())?;
    let against = (!args.unverified).then(|| Against { ledger: args.ledger.clone(), ..Against::default() });
    let Rendered { bytes, code } = render(format, &record, against.as_ref())?;
    match file {
        Some(path) => {
            write_whole(path, &bytes, Durability::None).map_err(|error| Failure::new(exit::INPUT, error))?;
            output.talk(&format!("report: {}, {} bytes", path.display(), bytes.len()));
        }
        None => output.bytes().write_all(&bytes)?,
    }
    Ok(code)
}

/// The page of a record, as a bundle takes it along.
pub(super) fn page(record: &Record) -> Result<Vec<u8>, Failure> {
    Ok(render(Format::Page(Page::Html), record, Some(&Against::default()))?.bytes)
}

/// A report, and what its verification came to.
struct Rendered {
    bytes: Vec<u8>,
    /// Exit code: of the first check that failed.
    code: u8,
}

/// A target that cannot be written fails before the work, not after it.
fn writable(path: &Path) -> Result<(), Failure> {
    let at = |error: io::Error| Failure::new(exit::INPUT, anyhow::anyhow!("{}: {error}", path.display()));
    if path.is_dir() {
        return Err(Failure::usage(format!("{} is a folder; name a file", path.display())));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let meta = fs::metadata(parent).map_err(at)?;
    if !meta.is_dir() {
        return Err(Failure::usage(format!("{} is no folder", parent.display())));
    }
    tempfile::tempfile_in(parent).map(drop).map_err(at)
}

fn render(format: Format, record: &Record, against: Option<&Against>) -> Result<Rendered, Failure> {
    match format {
        Format::Csv(table) => Ok(Rendered { bytes: rows(table, record)?, code: exit::OK }),
        Format::Page(page) => whole(page, record, against),
    }
}

fn rows(table: Table, record: &Record) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    match table {
        // They need none of the inputs.
        Table::Attempts => csv::attempts(record, &mut bytes).map_err(failed)?,
        Table::Episodes => {
            let (inputs, prepared) = prepare(record)?;
            let sources = source::sources(record, &inputs, &prepared).map_err(input)?;
            csv::episodes(record, &sources, &mut bytes).map_err(failed)?;
        }
    }
    Ok(bytes)
}

fn whole(page: Page, record: &Record, against: Option<&Against>) -> Result<Rendered, Failure> {
    let (inputs, prepared) = prepare(record)?;
    let mut sources = source::sources(record, &inputs, &prepared).map_err(input)?;
    let mut code = exit::OK;
    // An open run is not verified: a verification re-scores it, and nobody looks before it is closed.
    if let Some(against) = against.filter(|_| record.manifest().complete) {
        let verified = verify(record.folder(), against);
        sources.checks = verified.checks.iter().map(line).collect();
        sources.not_shown = verified.not_shown.join("; ");
        code = verified.code(false);
    }
    let stage = Stage::new(record, &inputs, &prepared).map_err(input)?;
    let report = Report::of(record, &sources, &stage).map_err(failed)?;
    let text = match page {
        Page::Html => html::render(&report).map_err(failed)?,
        Page::Markdown => markdown::render(&report),
        Page::Json => report.json().map_err(failed)?,
    };
    Ok(Rendered { bytes: text.into_bytes(), code })
}

/// What the record was made from.
fn prepare(record: &Record) -> Result<(Inputs, Prepared), Failure> {
    let inputs = Inputs::of_record(&record.inputs())?;
    let prepared = Prepared::new(&inputs, &RunSpec::of_manifest(record.manifest())).map_err(input)?;
    Ok((inputs, prepared))
}

fn failed(error: ReportError) -> Failure {
    Failure::new(exit::INPUT, error)
}

fn input(error: anyhow::Error) -> Failure {
    Failure::new(exit::INPUT, error)
}

fn line(check: &Check) -> CheckLine {
    CheckLine {
        name: check.name.to_owned(),
        outcome: match check.outcome {
            Outcome::Pass => CheckOutcome::Pass,
            Outcome::Note => CheckOutcome::Note,
            Outcome::Fail => CheckOutcome::Fail,
        },
        evidence: check.evidence.clone(),
    }
}
