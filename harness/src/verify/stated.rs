//! What a certificate takes from manifest, protocol and lock, held against them where the rest cannot be recomputed.

use std::collections::BTreeMap;

use bench_protocol::{
    digest::Digest,
    lock::{Chain, Lock},
    spec::Protocol,
    verdict::Rule,
};
use bench_results::{
    certificate::{Certificate, rule_report},
    record::{ATTEMPTS, Record, RunKind},
};
use serde::Serialize;

use super::certificate::first_difference;
use crate::checks::Found;
use crate::{
    bundle::Contents,
    conclude::{locks_of, model_of},
    plan,
    run::live::terms::Terms,
};

/// What is left of a record whose catalogs are withheld.
pub(super) struct Kept<'a> {
    pub(super) reader: &'a Record,
    pub(super) protocol: &'a Protocol,
    pub(super) chain: &'a Chain,
    /// Live only.
    pub(super) terms: Option<&'a Terms>,
    pub(super) contents: &'a Contents,
}

/// Differences between a certificate and what is kept.
#[derive(Default)]
struct Stated {
    compared: usize,
    differs: Vec<String>,
}

impl Stated {
    /// Compares one field by what it says in JSON.
    fn same(&mut self, name: &str, certificate: &impl Serialize, kept: &impl Serialize) {
        self.compared += 1;
        let value = |error: serde_json::Error| serde_json::Value::String(error.to_string());
        let (left, right) =
            (serde_json::to_value(certificate).unwrap_or_else(value), serde_json::to_value(kept).unwrap_or_else(value));
        self.differs.extend(first_difference(&format!("/{name}"), &left, &right));
    }
}

/// Compares every field of the certificate that is not counted from the episodes.
pub(super) fn check(kept: &Kept<'_>, certificate: &Certificate) -> Found {
    let Kept { reader, protocol, chain, terms, contents } = *kept;
    let manifest = reader.manifest();
    let lock = manifest.lock.as_ref().and_then(|id| chain.get(id));
    let mut all = Stated::default();
    all.same("kind", &certificate.kind, &manifest.kind);
    all.same("confirmatory", &certificate.confirmatory, &manifest.confirmatory);
    all.same("protocol", &certificate.protocol, &protocol.digest().map_err(|error| error.to_string())?);
    all.same("locks", &certificate.locks, &locks_of(manifest, chain));
    let settings = terms.map(|terms| &terms.settings);
    all.same("model", &certificate.model, &model_of(manifest, protocol, settings));
    let rule = Rule::of(protocol).map_err(|error| error.to_string())?;
    all.same("rule", &certificate.rule, &rule_report(&rule));
    all.same("deviations", &certificate.deviations, &manifest.deviations);
    all.same("underpowered", &certificate.underpowered, &protocol.power.underpowered);
    all.same("power", &certificate.power, &lock.and_then(|lock| lock.body().operating_characteristics.clone()));
    let order = terms.map(|terms| terms.order).unwrap_or_default();
    all.same("schedule/rule", &certificate.schedule.rule, &order.rule());
    all.same("spend/cap", &certificate.spend.map(|spend| spend.cap), &manifest.budget);
    let log = contents.withheld.get(ATTEMPTS).or_else(|| contents.files.get(ATTEMPTS));
    let log = log.filter(|_| manifest.kind == RunKind::Live).map(|entry| &entry.digest);
    all.same("record/digest", &certificate.record.digest.as_ref(), &log);
    let mut arms: Vec<&String> = manifest.arms.iter().collect();
    arms.sort();
    all.same("subjects", &certificate.subjects.keys().collect::<Vec<_>>(), &arms);
    let suites: BTreeMap<&String, (u64, &String)> =
        manifest.suites.iter().map(|(name, suite)| (name, (suite.tasks, &suite.seed))).collect();
    let tasks: BTreeMap<&String, (u64, &String)> =
        certificate.tasks.iter().map(|(name, tasks)| (name, (tasks.n, &tasks.seed))).collect();
    all.same("tasks", &tasks, &suites);
    let seed = manifest.suites.values().next().map(|suite| &suite.seed);
    all.same("schedule/seed", &Some(&certificate.schedule.seed), &seed);
    catalogs(&mut all, certificate, contents);
    if let Some(lock) = lock {
        locked(&mut all, certificate, lock, protocol);
    }
    match all.differs.as_slice() {
        [] => Ok(format!("{} of its fields are those of manifest, protocol and lock", all.compared)),
        [first, ..] => Err(format!("{} fields differ from manifest, protocol or lock: {first}", all.differs.len())),
    }
}

/// Catalogs by the digests under which they are withheld.
fn catalogs(all: &mut Stated, certificate: &Certificate, contents: &Contents) {
    let stated: BTreeMap<String, &Digest> = certificate
        .catalogs
        .iter()
        .map(|(server, one)| (format!("inputs/catalogs/{server}.json"), &one.digest))
        .collect();
    let listed: BTreeMap<String, &Digest> = contents
        .withheld
        .iter()
        .chain(&contents.files)
        .filter(|(name, _)| stated.contains_key(*name))
        .map(|(name, entry)| (name.clone(), &entry.digest))
        .collect();
    all.same("catalogs", &stated, &listed);
}

/// Digests that the lock froze.
fn locked(all: &mut Stated, certificate: &Certificate, lock: &Lock, protocol: &Protocol) {
    let frozen = lock.digests();
    let catalogs: BTreeMap<&String, &Digest> =
        certificate.catalogs.iter().map(|(server, one)| (server, &one.digest)).collect();
    all.same("catalogs", &catalogs, &frozen.catalogs);
    for (arm, subject) in &certificate.subjects {
        all.same(&format!("subjects/{arm}/surface"), &Some(&subject.surface), &frozen.surfaces.get(arm));
    }
    for (suite, tasks) in &certificate.tasks {
        // Digests of the primary seed's whole lists are all that a lock holds.
        if tasks.seed == protocol.seeds.primary && Some(tasks.n) == plan::tasks(protocol, suite) {
            all.same(&format!("tasks/{suite}/digest"), &Some(&tasks.digest), &frozen.tasks.get(suite));
        }
    }
}
