//! `bench bundle`: one record as one archive.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use bench_results::record::{Durability, Record, whole::stream_whole};

use super::args::BundleArgs;
use crate::{
    bundle::{BundleError, Contents, Options, layout, pack},
    cli::{failure::Failure, output::Output, report::page},
    exit,
    told::told,
};

/// Runs the command.
pub(in crate::cli) fn run(args: &BundleArgs, output: &mut Output) -> Result<u8, Failure> {
    let found = args.record.find()?;
    let record = Record::open(found.folder()).map_err(|error| Failure::new(exit::INPUT, error))?;
    let id = record.manifest().id.clone();
    let mut extra = BTreeMap::new();
    // Only a run that stands in a ledger keeps a copy of it.
    if record.inputs().join(layout::LEDGER).is_file() && args.ledger.is_file() {
        extra.insert(layout::LEDGER.to_owned(), fs::read(&args.ledger)?);
    }
    if !args.redact {
        // For readers without the program. What cannot be read cannot be shown, and is bundled all the same.
        match page(&record) {
            Ok(bytes) => drop(extra.insert(layout::PAGE.to_owned(), bytes)),
            Err(failure) => output.talk(&format!("without a report: {}", told(&failure.error))),
        }
    }
    let options = Options { redact: args.redact, time: source_date()? };
    let target = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{id}.tar.gz")));
    let contents = if target == Path::new("-") {
        let contents = pack(record.folder(), &id, &extra, options, output.bytes()).map_err(piped)?;
        output.flush()?;
        contents
    } else {
        let contents = to_file(&target, |out| pack(record.folder(), &id, &extra, options, out))?;
        if output.json {
            output.document(&contents)?;
        } else {
            writeln!(output.product(), "{}", target.display())?;
        }
        contents
    };
    if !record.manifest().complete {
        output.talk("the run is not complete: its bundle does not verify");
    }
    said(&contents, output);
    Ok(exit::OK)
}

/// A reader of stdout that has read enough is no failure.
fn piped(error: BundleError) -> Failure {
    match error {
        BundleError::Out { source, .. } => source.into(),
        error => Failure::new(exit::INPUT, error),
    }
}

fn said(contents: &Contents, output: &Output) {
    output.talk(&format!("{} files; check it with `bench verify`", contents.files.len()));
    if !contents.withheld.is_empty() {
        output.talk(&format!("withheld: {} files, named with their digests in bundle.json", contents.withheld.len()));
    }
    for consequence in &contents.consequences {
        output.talk(&format!("  {consequence}"));
    }
}

/// A bundle is whole or not there.
fn to_file(
    target: &Path,
    pack: impl FnOnce(&mut dyn Write) -> Result<Contents, BundleError>,
) -> Result<Contents, Failure> {
    stream_whole(target, Durability::Synced, |out| pack(out).map_err(Filling::Pack)).map_err(|failure| match failure {
        Filling::Pack(error) => Failure::new(exit::INPUT, error),
        Filling::Place(source) => Failure::new(exit::USAGE, BundleError::Io { path: target.to_owned(), source }),
    })
}

/// Why there is no archive: the record, or the place it was to take.
enum Filling {
    Pack(BundleError),
    Place(io::Error),
}

impl From<io::Error> for Filling {
    fn from(error: io::Error) -> Self {
        Self::Place(error)
    }
}

/// `SOURCE_DATE_EPOCH` (reproducible-builds.org), else zero.
fn source_date() -> Result<u32, Failure> {
    match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text
            .parse()
            .map_err(|_| Failure::usage(format!("SOURCE_DATE_EPOCH is `{text}`, not a number of seconds below 2^32"))),
        Err(_) => Ok(0),
    }
}
