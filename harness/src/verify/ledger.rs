//! The ledger: the copy that the record keeps from its start, and the published one where it is at hand.

use std::path::Path;

use bench_results::record::{INPUTS, Manifest, Record};

use super::report::{Found, Report};
use crate::{
    exit,
    ledger::{Chain, Event, Ledger},
    run::live::folder::LEDGER,
};

/// Makes the checks. `published` is a ledger as it stands now.
pub(super) fn check(report: &mut Report, reader: &Record, published: Option<&Path>) {
    let kept = match Ledger::at(reader.folder().join(INPUTS).join(LEDGER)).read() {
        Ok(kept) => kept,
        Err(error) => return report.add("ledger", exit::VERIFY_LEDGER, Err(error.to_string())),
    };
    report.add("ledger", exit::VERIFY_LEDGER, started(reader.manifest(), &kept));
    let manifest = reader.manifest();
    match published {
        Some(path) => {
            let found = Ledger::at(path).read().map_err(|error| error.to_string());
            report.add("one look", exit::VERIFY_LEDGER, found.and_then(|now| one_look(manifest, &kept, &now)));
        }
        None if manifest.confirmatory => report.note(
            "one look",
            exit::VERIFY_LEDGER,
            "only the ledger as it was at the start is here; give the published one with --ledger",
        ),
        None => {}
    }
}

/// The ledger as it was when the run started must hold together and name the run.
fn started(manifest: &Manifest, chain: &Chain) -> Found {
    let entry = chain
        .entries()
        .iter()
        .find(|entry| entry.event == Event::Started && entry.run.as_str() == manifest.id)
        .ok_or_else(|| format!("run {} is not in the ledger kept with it", manifest.id))?;
    if entry.model != manifest.model.asked
        || entry.arms != manifest.arms
        || Some(&entry.prices) != manifest.prices.as_ref()
    {
        return Err(format!("the ledger started run {} with another model, other arms or other prices", manifest.id));
    }
    if manifest.confirmatory && manifest.lock.as_ref() != Some(&entry.lock) {
        return Err(format!("the ledger started run {} under another lock", manifest.id));
    }
    Ok(format!("entry {} started the run; the chain up to it holds", entry.n))
}

/// The ledger of today must go on from the one kept, say how the run ended, and know no second look. That a chain holds
/// no second confirmatory run of one lock, model and family is a rule of its reading.
fn one_look(manifest: &Manifest, kept: &Chain, now: &Chain) -> Found {
    if !now.entries().starts_with(kept.entries()) {
        return Err(
            "the published ledger does not begin with the one kept: entries were changed or taken out".to_owned()
        );
    }
    let (start, last) = now
        .runs()
        .find(|(entry, _)| entry.run.as_str() == manifest.id)
        .ok_or_else(|| format!("run {} is not in the published ledger", manifest.id))?;
    if manifest.complete && last != Event::Finished {
        return Err(format!("the record is complete, the ledger says that its run is {last}"));
    }
    let others: Vec<String> = now
        .runs()
        .filter(|(entry, _)| entry.lock == start.lock && entry.run != start.run)
        .map(|(entry, last)| format!("{} on {} {last}", entry.run, entry.model))
        .collect();
    let others = if others.is_empty() { "no other run".to_owned() } else { others.join(", ") };
    Ok(format!("{last}; under the same lock: {others}"))
}
