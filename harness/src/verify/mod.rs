//! `bench verify`: everything that can be recomputed from a record is recomputed, offline, from the record's own inputs.
//!
//! All checks that the ones before them leave possible are made, each named, each with its evidence. What is not in the
//! record is a note, what disagrees is a failure.

mod again;
mod ahead;
mod certificate;
mod in_order;
mod kind;
mod ledger;
mod live;
mod log;
mod offline;
mod open;
mod outcome;
mod provenance;
mod remake;
mod rerun;
mod shown;
mod signature;
mod stated;
mod whole;
mod withheld;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use bench_protocol::{
    digest::Digest,
    lock::{Chain, drift},
    spec::Protocol,
};
use bench_results::record::{Manifest, Record, RecordError, RunKind};

pub use again::{Rescored, rescore};
pub(crate) use live::{Live, Stage, replay as replay_live};
pub(crate) use log::Log;
pub use shown::{Shown, shown};

use self::{
    ledger::{Entered, Published},
    outcome::{Missing, Replayed},
};

use crate::{
    bundle::{self, BundleError, layout},
    checks::{self, Found, Report},
    conclude::{Facts, Judge},
    exit,
    inputs::Inputs,
    locking,
    run::{
        live::{
            folder, money,
            terms::{self, Terms},
        },
        prepare::{Prepared, RunSpec},
    },
    sign::PublicKey,
    told::told,
};

/// What a verification is held against, beside the record itself.
#[derive(Debug, Clone, Default)]
pub struct Against {
    /// The ledger as it stands now, where it is published. What a bundle brings along is no such thing.
    pub ledger: Option<PathBuf>,
    /// A key that must have signed the record.
    pub key: Option<PublicKey>,
    /// The lock that the run must be under.
    pub lock: Option<Digest>,
}

/// Verifies the record in a folder.
pub fn verify(folder: &Path, against: &Against) -> Report {
    let mut report = Report::new(folder.display().to_string());
    // Before anything is opened: what is no plain file may never end.
    if let Err(error @ BundleError::Kind { .. }) = layout::of_plain_files(folder) {
        report.add("files", exit::VERIFY_RECORD, Err(error.to_string()));
        return report;
    }
    let reader = match Record::open(folder) {
        Ok(reader) => reader,
        Err(error) => {
            let code =
                if matches!(error, RecordError::Version { .. }) { exit::VERIFY_VERSION } else { exit::VERIFY_RECORD };
            report.add("manifest", code, Err(error.to_string()));
            return report;
        }
    };
    report.run.clone_from(&reader.manifest().id);
    report.add("manifest", exit::VERIFY_RECORD, Ok(outline(&reader)));
    let complete = reader.manifest().complete;
    if !complete {
        // Before anything else: what is not there yet is not to be taken for what was taken away.
        report.add("complete", exit::VERIFY_RECORD, Err(open::why(reader.manifest())));
    }
    let contents = match bundle::contents(folder) {
        Ok(contents) => contents,
        Err(error) => {
            report.add("bundle", exit::VERIFY_RECORD, Err(error.to_string()));
            return report;
        }
    };
    if let Some(contents) = &contents {
        report.add("bundle", exit::VERIFY_RECORD, bundle::check(folder, contents).map_err(|error| error.to_string()));
    }
    whole::strangers(&mut report, &reader);
    let enclosed = folder.join(layout::LEDGER);
    let published = match &against.ledger {
        Some(path) => Published::Given(path),
        None if enclosed.is_file() => Published::Enclosed(&enclosed),
        None => Published::Absent,
    };
    match contents.filter(|contents| !contents.withheld.is_empty()) {
        Some(_) if !complete => open::ahead(&mut report),
        Some(contents) => withheld::verify(&mut report, &reader, &contents, against, published),
        None => verify_inputs(&mut report, &reader, against, published),
    }
    whole::standing(&mut report, reader.manifest());
    signature::check(&mut report, &reader, against.key.as_ref());
    report
}

fn verify_inputs(report: &mut Report, reader: &Record, against: &Against, published: Published<'_>) {
    let manifest = reader.manifest();
    let inputs = match Inputs::of_record(&reader.inputs()) {
        Ok(inputs) => inputs,
        Err(error) => return report.add("inputs", exit::VERIFY_INPUTS, Err(error.to_string())),
    };
    report.add("inputs", exit::VERIFY_INPUTS, Ok(read_inputs(&inputs)));
    provenance::check(report, reader, &inputs);
    let terms = match folder::terms(reader.folder()) {
        Ok(terms) => terms,
        Err(error) => return report.add("terms", exit::VERIFY_INPUTS, Err(told(&error))),
    };
    report.add("kind", exit::VERIFY_INPUTS, kind::check(manifest, &inputs.protocol, terms.as_ref()));
    report.add("lock", exit::VERIFY_INPUTS, lock(reader, &inputs));
    whose_lock(report, manifest, &inputs.chain, against);
    let spec = RunSpec::of_manifest(manifest);
    let prepared = match Prepared::new(&inputs, &spec) {
        Ok(prepared) => prepared,
        Err(error) => return report.add("tasks", exit::VERIFY_TASKS, Err(told(&error))),
    };
    report.add("tasks", exit::VERIFY_TASKS, whole::tasks(reader, &prepared));
    match terms {
        None if !manifest.complete => open::ahead(report),
        None => verify_plumbing(report, reader, &inputs, &prepared),
        Some(terms) => {
            verify_live(report, reader, &inputs, &prepared, &terms);
            if !manifest.complete && !open::keeps_ledger(reader) {
                let why = "the run ended before its copy of the ledger was kept; resuming it keeps one";
                return report.note("ledger", exit::VERIFY_LEDGER, why);
            }
            // Last: a record that was changed shows first where.
            match inputs.protocol.digest() {
                Ok(protocol) => {
                    let entered = Entered {
                        reader,
                        protocol: terms.looked_at(&protocol),
                        tasks: terms.tasks(),
                        withheld: &BTreeMap::new(),
                    };
                    ledger::check(report, &entered, published);
                }
                Err(error) => report.add("ledger", exit::VERIFY_LEDGER, Err(error.to_string())),
            }
        }
    }
}

/// A record in schedule order: a scripted model in process.
fn verify_plumbing(report: &mut Report, reader: &Record, inputs: &Inputs, prepared: &Prepared) {
    let mut judge = match Judge::new(inputs, prepared) {
        Ok(judge) => judge,
        Err(error) => return report.add("tasks", exit::VERIFY_TASKS, Err(told(&error))),
    };
    let replayed = offline::replay(reader, inputs, prepared, &mut judge);
    let (facts, manifest) = (Facts { attempts: replayed.attempts, ..Facts::default() }, reader.manifest());
    let missing = replayed_checks(report, manifest, replayed);
    concluded(report, reader, inputs, &judge, (&facts, &missing));
}

/// A record in the order in which things happened: a model behind a socket.
fn verify_live(report: &mut Report, reader: &Record, inputs: &Inputs, prepared: &Prepared, terms: &Terms) {
    let family = match prepared.families.as_slice() {
        [family] => family,
        others => {
            let why = format!("a live run has one suite, the manifest names {}", others.len());
            return report.add("tasks", exit::VERIFY_TASKS, Err(why));
        }
    };
    let planned = terms.planned(inputs, family);
    let mut judge = match Judge::of_planned(inputs, prepared, &planned) {
        Ok(judge) => judge,
        Err(error) => return report.add("tasks", exit::VERIFY_TASKS, Err(told(&error))),
    };
    let held = terms_hold(reader, inputs, family, terms)
        .and_then(|holds| Ok((money::of_record(reader.folder(), terms)?, holds)));
    let (money, holds) = match held {
        Ok(held) => held,
        Err(error) => return report.add("terms", exit::VERIFY_INPUTS, Err(told(&error))),
    };
    report.add("terms", exit::VERIFY_INPUTS, holds);
    if !reader.manifest().complete {
        return open::check(report, reader);
    }
    let live = Live { reader, inputs, family, planned: &planned, terms, money: &money, stage: Stage::Closed };
    let (replayed, sums) = match replay_live(&live, &mut judge, &mut |_| {}) {
        Ok(both) => both,
        Err(why) => return report.add("books", exit::VERIFY_BOOKS, Err(why)),
    };
    let missing = replayed_checks(report, reader.manifest(), replayed);
    let facts = money::facts(reader.manifest(), terms, sums.books, &sums.digest);
    concluded(report, reader, inputs, &judge, (&facts, &missing));
}

/// The checks of a replay; hands back what it says of episodes without an outcome.
fn replayed_checks(report: &mut Report, manifest: &Manifest, replayed: Replayed) -> Missing {
    // Of a record that leads nowhere only a part has answered.
    let models = replayed.schedule.is_ok().then(|| models(manifest, &replayed.models));
    report.add("schedule", exit::VERIFY_SCHEDULE, replayed.schedule);
    report.add("requests and surfaces", exit::VERIFY_SURFACES, replayed.surfaces);
    report.add("episodes", exit::VERIFY_EPISODES, replayed.episodes);
    report.add("books", exit::VERIFY_BOOKS, replayed.books);
    if let Some(found) = models {
        report.add("models", exit::VERIFY_EPISODES, found);
    }
    replayed.missing
}

/// The models that answered, by their own responses.
fn models(manifest: &Manifest, answered: &BTreeSet<String>) -> Found {
    let list = |ids: &mut dyn Iterator<Item = &String>| ids.cloned().collect::<Vec<_>>().join(", ");
    if manifest.model.returned.iter().eq(answered) {
        let answered = list(&mut answered.iter());
        Ok(match manifest.kind {
            RunKind::Live => format!("asked `{}`, answered: {answered}", manifest.model.asked),
            RunKind::Plumbing => {
                format!("the scripted model `{}` answered, in the name of {answered}", manifest.model.asked)
            }
        })
    } else {
        let stated = list(&mut manifest.model.returned.iter());
        Err(format!("the manifest names {stated}, the responses name {}", list(&mut answered.iter())))
    }
}

fn concluded(
    report: &mut Report,
    reader: &Record,
    inputs: &Inputs,
    judge: &Judge<'_>,
    (facts, missing): (&Facts, &Missing),
) {
    let (found, computed) = certificate::recompute(reader, judge, facts);
    if let Some(computed) = &computed {
        report.add("missing", exit::VERIFY_SCHEDULE, whole::missing(reader, computed, missing));
        whole::controls(report, reader.manifest(), inputs, computed);
    }
    report.add(checks::CERTIFICATE, certificate_code(&found), found.map_err(|(_, why)| why));
}

fn certificate_code(found: &Result<String, (bool, String)>) -> u8 {
    if matches!(found, Err((true, _))) { exit::VERIFY_VERSION } else { exit::VERIFY_CERTIFICATE }
}

fn read_inputs(inputs: &Inputs) -> String {
    let locks = inputs.chain.history().count();
    format!(
        "protocol, {} catalogs, {} intent files, {locks} locks of one chain, each with its parent",
        inputs.catalogs.catalogs.len(),
        inputs.intents.files().len()
    )
}

/// What the run was started on, re-made and compared digest by digest.
fn terms_hold(
    reader: &Record,
    inputs: &Inputs,
    family: &crate::run::family::Family,
    terms: &Terms,
) -> anyhow::Result<Result<String, String>> {
    let manifest = reader.manifest();
    let prices = folder::prices(reader.folder())?.digest()?;
    if manifest.prices.as_ref() != Some(&prices) {
        return Ok(Err(format!("the prices kept are {prices}, the manifest states others")));
    }
    let now = terms::digests(inputs, family, &terms.settings, &prices)?;
    let drift = terms.drift(&now);
    Ok(if drift.is_empty() {
        Ok(format!("tasks, surfaces, request fields, prices: {} digests re-made and equal", now.len()))
    } else {
        Err(drift.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    })
}

fn outline(reader: &Record) -> String {
    let manifest = reader.manifest();
    let complete = if manifest.complete { ", complete" } else { "" };
    format!("{} run, {} arms{complete}", kind(reader), manifest.arms.len())
}

fn kind(reader: &Record) -> &'static str {
    match reader.manifest().kind {
        RunKind::Plumbing => "plumbing",
        RunKind::Live => "live",
    }
}

/// The record's inputs must be what its lock says, digest by digest, tasks and surfaces re-made.
fn lock(reader: &Record, inputs: &Inputs) -> Result<String, String> {
    let Some(stated) = &reader.manifest().lock else {
        return Ok("the run states no lock: exploratory".to_owned());
    };
    let text = lock_text(stated, &inputs.protocol);
    let current = inputs.chain.current().ok_or("the record keeps no lock")?;
    if current.id() != stated {
        return Err(format!("the manifest states lock {stated}, the record's chain ends in {}", current.id()));
    }
    let computed = locking::compute(inputs).map_err(|error| told(&error))?;
    let drifted = drift(current, &computed);
    if drifted.is_empty() {
        Ok(format!("{text}: protocol, catalogs, intents, task lists, prompts and surfaces re-made and equal"))
    } else {
        Err(drifted.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }
}

/// A lock with the numbers that its verdicts rest on: whoever froze another margin has another lock.
fn lock_text(id: &Digest, protocol: &Protocol) -> String {
    format!("{id}, margin {}, one-sided level {}", protocol.test.margin, protocol.test.alpha)
}

/// Whose lock it is: any record can bring along a chain of its own.
fn whose_lock(report: &mut Report, manifest: &Manifest, kept: &Chain, against: &Against) {
    const NAME: &str = "whose lock";
    let stated = manifest.lock.as_ref();
    if let Some(asked) = &against.lock {
        let found = match stated {
            Some(stated) if stated == asked => Ok(format!("{stated}, as asked for")),
            Some(stated) => Err(format!("the run is under {stated}, asked for was {asked}")),
            None => Err(format!("the run is under no lock, asked for was {asked}")),
        };
        return report.add(NAME, exit::VERIFY_INPUTS, found);
    }
    let Some(stated) = stated else { return };
    match Chain::built_in() {
        Ok(own) if own.get(stated).is_some() => {
            report.add(NAME, exit::VERIFY_INPUTS, Ok("one of those that this program was built with".to_owned()));
        }
        Ok(_) => {
            let locks = kept.history().count();
            let why = format!(
                "none of those that this program was built with, but of a chain of {locks} that the record brings along; require a lock with --lock"
            );
            report.note(NAME, exit::VERIFY_INPUTS, why);
        }
        Err(error) => report.add(NAME, exit::VERIFY_INPUTS, Err(error.to_string())),
    }
}
