//! The record of a run that is not complete. What its log holds so far is checked; what its close makes is not there yet,
//! and each check of that stands among the notes: it is missing, and nothing is wrong with it.

use bench_results::record::{ATTEMPTS, INPUTS, Manifest, Record, Tail};

use super::log::Log;
use crate::{
    checks::{CERTIFICATE, Found, Report},
    exit,
    run::live::folder::LEDGER,
};

/// What can only be checked once everything is on record.
const AHEAD: [(&str, u8); 6] = [
    ("schedule", exit::VERIFY_SCHEDULE),
    ("requests and surfaces", exit::VERIFY_SURFACES),
    ("episodes", exit::VERIFY_EPISODES),
    ("models", exit::VERIFY_EPISODES),
    ("missing", exit::VERIFY_SCHEDULE),
    (CERTIFICATE, exit::VERIFY_CERTIFICATE),
];

/// Why the record is not verified, first of all. A run in process has no ceiling, and cannot be resumed.
pub(super) fn why(manifest: &Manifest) -> String {
    let next = if manifest.budget.is_some() {
        format!("`bench resume {}` goes on with it unless it was abandoned", manifest.id)
    } else {
        "an offline run is simply run again".to_owned()
    };
    format!("no: the run is not over; {next}; what its close makes cannot be checked before it")
}

/// The checks that are left of a run behind a socket.
pub(super) fn check(report: &mut Report, reader: &Record) {
    report.add("books", exit::VERIFY_BOOKS, books(reader));
    report.add("episodes so far", exit::VERIFY_EPISODES, episodes(reader));
    ahead(report);
}

/// Notes the checks that are not made.
pub(super) fn ahead(report: &mut Report) {
    for (name, code) in AHEAD {
        report.note(name, code, "not made: it is one of a complete run");
    }
}

/// Whether the record keeps the ledger of its start. One that was killed before that gets its copy when it is resumed.
pub(super) fn keeps_ledger(reader: &Record) -> bool {
    reader.folder().join(INPUTS).join(LEDGER).exists()
}

/// The log up to where it ends: numbers without a gap, every outcome of an attempt that was opened, money below the ceiling.
fn books(reader: &Record) -> Found {
    if !reader.folder().join(ATTEMPTS).exists() {
        return Ok("nothing was asked yet".to_owned());
    }
    let books = Log::so_far(reader.folder())?;
    let bound = books.spent.saturating_add(books.reserved);
    match reader.manifest().budget {
        Some(budget) if bound <= budget => Ok(format!(
            "{} attempts numbered without a gap, {} of them without an outcome yet; {bound} of {budget} pico-dollars",
            books.attempts, books.open
        )),
        Some(budget) => Err(format!("{bound} pico-dollars are spent or reserved, the budget is {budget}")),
        None => Err("the manifest states no budget".to_owned()),
    }
}

/// Whether the lines that are there can be read. What they came to is not said.
fn episodes(reader: &Record) -> Found {
    let lines = reader.episodes(Tail::Cut).map_err(|error| error.to_string())?;
    let mut count = 0_u64;
    for line in lines {
        line.map_err(|error| error.to_string())?;
        count += 1;
    }
    Ok(format!("{count} on record; they are scored at the close"))
}
