//! The ledger: the copy that the record keeps from its start, and the published one where it is at hand.

use std::{collections::BTreeMap, path::Path};

use bench_protocol::digest::Digest;
use bench_results::record::{ATTEMPTS, CERTIFICATE, INPUTS, Manifest, Record};

use crate::checks::{Found, Report};
use crate::{
    bundle::{self, FileEntry},
    exit,
    ledger::{Chain, Event, Ledger, RecordDigests, Run},
    run::live::{folder::LEDGER, seen},
};

/// A ledger beside the one that the record keeps.
#[derive(Debug, Clone, Copy)]
pub(super) enum Published<'a> {
    /// As it stands now, from where it is published.
    Given(&'a Path),
    /// The bundle's own copy: whoever made the bundle made it too.
    Enclosed(&'a Path),
    /// None is here.
    Absent,
}

/// What the ledger is held against.
pub(super) struct Entered<'a> {
    pub(super) reader: &'a Record,
    /// What the entries name where the record states no lock.
    pub(super) protocol: &'a Digest,
    /// Digest of the task list that the run was started on.
    pub(super) tasks: Option<&'a Digest>,
    /// Files that a bundle withholds.
    pub(super) withheld: &'a BTreeMap<String, FileEntry>,
}

const NAME: &str = "one look";

/// Makes the checks.
pub(super) fn check(report: &mut Report, entered: &Entered<'_>, published: Published<'_>) {
    let reader = entered.reader;
    let path = reader.folder().join(INPUTS).join(LEDGER);
    let found = Ledger::at(path).read_copy().map_err(|error| error.to_string());
    let run = Run::of(reader.manifest(), entered.protocol, entered.tasks);
    let (kept, run) = match found.and_then(|kept| Ok((kept, run?))) {
        Ok(both) => both,
        Err(why) => return report.add("ledger", exit::VERIFY_LEDGER, Err(why)),
    };
    report.add("ledger", exit::VERIFY_LEDGER, started(reader.manifest(), &run, &kept));
    let look = |path: &Path| {
        let now = Ledger::at(path).read().map_err(|error| error.to_string())?;
        entered.one_look(&run, &kept, &now)
    };
    match published {
        Published::Given(path) => match look(path) {
            Ok(Look { text, bound: true }) => report.add(NAME, exit::VERIFY_LEDGER, Ok(text)),
            Ok(Look { text, bound: false }) => report.note(NAME, exit::VERIFY_LEDGER, text),
            Err(why) => report.add(NAME, exit::VERIFY_LEDGER, Err(why)),
        },
        Published::Enclosed(path) => match look(path) {
            Ok(Look { text, .. }) => report.note(
                NAME,
                exit::VERIFY_LEDGER,
                format!("by the bundle's own copy of the ledger, which binds nobody: {text}; give the published one with --ledger"),
            ),
            Err(why) => report.add(NAME, exit::VERIFY_LEDGER, Err(why)),
        },
        Published::Absent => report.note(
            NAME,
            exit::VERIFY_LEDGER,
            "only the ledger as it was at the start is here; give the published one with --ledger",
        ),
    }
}

/// The ledger as it was when the run started must hold together and have started this run as the manifest tells it.
fn started(manifest: &Manifest, run: &Run, chain: &Chain) -> Found {
    let entry = chain
        .entries()
        .iter()
        .find(|entry| entry.event == Event::Started && entry.run == run.id)
        .ok_or_else(|| format!("run {} is not in the ledger kept with it", run.id))?;
    let differs = entry.differs(run);
    // A budget that is raised on the way is a deviation.
    let raised = manifest.deviations.iter().any(|one| one.what == "the budget was changed");
    let differs: Vec<&str> = differs.into_iter().filter(|name| *name != "budget" || !raised).collect();
    if differs.is_empty() {
        Ok(format!("entry {} started the run; the chain up to it holds", entry.n))
    } else {
        Err(format!("the ledger started run {} with another {}", run.id, differs.join(", ")))
    }
}

/// What a ledger of today says.
struct Look {
    text: String,
    /// Whether it names the record by digest, so that nothing in it can be exchanged.
    bound: bool,
}

impl Entered<'_> {
    /// The ledger of today must go on from the one kept, say how the run ended and with what, and know no second look.
    /// That a chain holds no second confirmatory run of one lock, model and family is a rule of its reading.
    fn one_look(&self, run: &Run, kept: &Chain, now: &Chain) -> Result<Look, String> {
        if !now.entries().starts_with(kept.entries()) {
            let why = "the published ledger does not begin with the one kept: entries were changed or taken out";
            return Err(why.to_owned());
        }
        let last = now.last(run.id.as_str()).ok_or_else(|| format!("run {} is not in the published ledger", run.id))?;
        let differs = last.differs(run);
        if !differs.is_empty() {
            return Err(format!("the published ledger knows run {} with another {}", run.id, differs.join(", ")));
        }
        let complete = self.reader.manifest().complete;
        if complete && last.event != Event::Finished {
            return Err(format!("the record is complete, the ledger says that its run is {}", last.event));
        }
        let manifest = self.reader.manifest();
        if let Some(seen) = now.seen_in_time(run).filter(|_| manifest.confirmatory && !seen::stated(manifest)) {
            return Err(format!(
                "run {} showed results on the same tasks, {}, before this one finished, and the record does not say so",
                seen.run, seen.at
            ));
        }
        let digests = match &last.record {
            Some(stated) => {
                self.same(stated)?;
                "with this log of attempts and this certificate, by digest"
            }
            None if complete => "its entry carries no digest of the record",
            None => "it has not ended",
        };
        let others: Vec<String> = now
            .runs()
            .filter(|(entry, _)| entry.lock == run.lock && entry.run != run.id)
            .map(|(entry, last)| format!("{} on {} {last}", entry.run, entry.model))
            .collect();
        let others = if others.is_empty() { "no other run".to_owned() } else { others.join(", ") };
        let text = format!("{}; under the same lock: {others}; {digests}", last.event);
        Ok(Look { text, bound: last.record.is_some() })
    }

    fn same(&self, stated: &RecordDigests) -> Result<(), String> {
        for (name, stated) in [(ATTEMPTS, &stated.attempts), (CERTIFICATE, &stated.certificate)] {
            let found = match self.withheld.get(name) {
                Some(entry) => entry.digest.clone(),
                None => bundle::entry(&self.reader.folder().join(name)).map_err(|error| error.to_string())?.digest,
            };
            if found != *stated {
                return Err(format!("the run finished with another {name}: the ledger has {stated}, here is {found}"));
            }
        }
        Ok(())
    }
}
