//! `bench verify`: everything that can be recomputed from a record is recomputed, offline, from the record's own inputs.
//!
//! All checks that the ones before them leave possible are made, each named, each with its evidence. What is not in the
//! record is a note, what disagrees is a failure.

mod again;
mod certificate;
mod index;
mod ledger;
mod live;
mod replay;
mod report;
mod shown;
mod signature;
mod whole;
mod withheld;

use std::path::{Path, PathBuf};

use bench_protocol::lock::drift;
use bench_results::record::{Record, RecordError};

pub use again::{Rescored, rescore};
pub(crate) use index::Index;
pub(crate) use live::{Live, Stage, replay as replay_live, wire_of};
pub use report::{Check, Outcome, Report};
pub use shown::{Shown, shown};

use crate::{
    bundle::{self, layout},
    conclude::{Facts, Judge},
    exit,
    inputs::Inputs,
    locking,
    run::{
        live::{
            close, folder,
            terms::{self, Terms},
        },
        prepare::{Prepared, RunSpec},
    },
    sign::PublicKey,
};

/// What a verification is held against, beside the record itself.
#[derive(Debug, Clone, Default)]
pub struct Against {
    /// The ledger as it stands now; by default the excerpt that a bundle brings along.
    pub ledger: Option<PathBuf>,
    /// A key that must have signed the record.
    pub key: Option<PublicKey>,
}

/// Verifies the record in a folder.
pub fn verify(folder: &Path, against: &Against) -> Report {
    let mut report = Report::new(folder.display().to_string());
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
    report.add("manifest", exit::VERIFY_RECORD, complete(&reader));
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
    let published = against.ledger.clone().or_else(|| {
        let excerpt = folder.join(layout::LEDGER);
        excerpt.is_file().then_some(excerpt)
    });
    match contents.filter(|contents| !contents.withheld.is_empty()) {
        Some(contents) => withheld::verify(&mut report, &reader, &contents, published.as_deref()),
        None => verify_inputs(&mut report, &reader, published.as_deref()),
    }
    whole::standing(&mut report, reader.manifest());
    signature::check(&mut report, &reader, against.key.as_ref());
    report
}

fn verify_inputs(report: &mut Report, reader: &Record, published: Option<&Path>) {
    let manifest = reader.manifest();
    let inputs = match Inputs::of_record(&reader.inputs()) {
        Ok(inputs) => inputs,
        Err(error) => return report.add("inputs", exit::VERIFY_INPUTS, Err(error.to_string())),
    };
    report.add("inputs", exit::VERIFY_INPUTS, Ok(read_inputs(&inputs)));
    report.add("lock", exit::VERIFY_INPUTS, lock(reader, &inputs));
    let spec = RunSpec { arms: manifest.arms.clone(), suites: manifest.suites.clone() };
    let prepared = match Prepared::new(&inputs, &spec) {
        Ok(prepared) => prepared,
        Err(error) => return report.add("tasks", exit::VERIFY_TASKS, Err(format!("{error:#}"))),
    };
    report.add("tasks", exit::VERIFY_TASKS, whole::tasks(reader, &prepared));
    match folder::terms(reader.folder()) {
        Ok(None) => verify_plumbing(report, reader, &inputs, &prepared),
        Ok(Some(terms)) => verify_live(report, reader, &inputs, &prepared, &terms, published),
        Err(error) => report.add("terms", exit::VERIFY_INPUTS, Err(format!("{error:#}"))),
    }
}

/// A record in schedule order: a scripted model in process.
fn verify_plumbing(report: &mut Report, reader: &Record, inputs: &Inputs, prepared: &Prepared) {
    let mut judge = match Judge::new(inputs, prepared) {
        Ok(judge) => judge,
        Err(error) => return report.add("tasks", exit::VERIFY_TASKS, Err(format!("{error:#}"))),
    };
    let replayed = replay::replay(reader, inputs, prepared, &mut judge);
    let facts = Facts { attempts: replayed.attempts, ..Facts::default() };
    replayed_checks(report, replayed);
    concluded(report, reader, inputs, &judge, &facts);
}

/// A record in the order in which things happened: a model behind a socket.
fn verify_live(
    report: &mut Report,
    reader: &Record,
    inputs: &Inputs,
    prepared: &Prepared,
    terms: &Terms,
    published: Option<&Path>,
) {
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
        Err(error) => return report.add("tasks", exit::VERIFY_TASKS, Err(format!("{error:#}"))),
    };
    let held =
        terms_hold(reader, inputs, family, terms).and_then(|holds| Ok((close::money(reader.folder(), terms)?, holds)));
    let (money, holds) = match held {
        Ok(held) => held,
        Err(error) => return report.add("terms", exit::VERIFY_INPUTS, Err(format!("{error:#}"))),
    };
    report.add("terms", exit::VERIFY_INPUTS, holds);
    ledger::check(report, reader, published);
    let index = match Index::of(reader.folder()) {
        Ok(index) => index,
        Err(why) => return report.add("books", exit::VERIFY_BOOKS, Err(why)),
    };
    let stage = if reader.manifest().complete { Stage::Closed } else { Stage::Closing };
    let live = Live { reader, inputs, family, planned: &planned, terms, money: &money, index: &index, stage };
    replayed_checks(report, replay_live(&live, &mut judge, &mut |_| {}));
    concluded(report, reader, inputs, &judge, &close::facts(reader.manifest(), terms, &index));
}

fn replayed_checks(report: &mut Report, replayed: replay::Replayed) {
    report.add("schedule", exit::VERIFY_SCHEDULE, replayed.schedule);
    report.add("requests and surfaces", exit::VERIFY_SURFACES, replayed.surfaces);
    report.add("episodes", exit::VERIFY_EPISODES, replayed.episodes);
    report.add("books", exit::VERIFY_BOOKS, replayed.books);
}

fn concluded(report: &mut Report, reader: &Record, inputs: &Inputs, judge: &Judge<'_>, facts: &Facts) {
    let (found, computed) = certificate::recompute(reader, judge, facts);
    if let Some(computed) = &computed {
        report.add("missing", exit::VERIFY_SCHEDULE, whole::missing(reader, computed));
        whole::controls(report, reader.manifest(), inputs, computed);
    }
    report.add("certificate", certificate_code(&found), found.map_err(|(_, why)| why));
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

fn complete(reader: &Record) -> Result<String, String> {
    let manifest = reader.manifest();
    if manifest.complete {
        Ok(format!("{} run, {} arms, complete", kind(reader), manifest.arms.len()))
    } else {
        Err("the run is not complete: it has no certificate to verify".to_owned())
    }
}

fn kind(reader: &Record) -> &'static str {
    match reader.manifest().kind {
        bench_results::record::RunKind::Plumbing => "plumbing",
        bench_results::record::RunKind::Live => "live",
    }
}

/// The record's inputs must be what its lock says, digest by digest, tasks and surfaces re-made.
fn lock(reader: &Record, inputs: &Inputs) -> Result<String, String> {
    let Some(stated) = &reader.manifest().lock else {
        return Ok("the run states no lock: exploratory".to_owned());
    };
    let current = inputs.chain.current().ok_or("the record keeps no lock")?;
    if current.id() != stated {
        return Err(format!("the manifest states lock {stated}, the record's chain ends in {}", current.id()));
    }
    let computed = locking::compute(inputs).map_err(|error| format!("{error:#}"))?;
    let drifted = drift(current, &computed);
    if drifted.is_empty() {
        Ok(format!("{stated}: protocol, catalogs, intents, task lists, prompts and surfaces re-made and equal"))
    } else {
        Err(drifted.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }
}
