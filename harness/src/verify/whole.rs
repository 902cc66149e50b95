//! Checks on the run as a whole: tasks, controls, missing episodes, files that nobody asked for.

use std::{collections::BTreeMap, fs};

use bench_protocol::{digest::Digest, verdict::FamilyKind};
use bench_results::{
    certificate::Certificate,
    record::{Manifest, Record},
    table::{Planned, Showing},
};

use super::outcome::Missing;
use crate::checks::{Found, Report};
use crate::{
    bundle::layout,
    exit,
    inputs::Inputs,
    run::{
        live::folder,
        prepare::{Prepared, RESULTS, TOOLS},
    },
    told::told,
};

/// Tasks re-made from the seed against the digests that the certificate states.
pub(super) fn tasks(reader: &Record, prepared: &Prepared) -> Found {
    let stated = stated_tasks(reader);
    let mut texts = Vec::new();
    for family in &prepared.families {
        let name = if family.kind == FamilyKind::Results { RESULTS } else { TOOLS };
        let made = family.tasks_digest().map_err(|error| error.to_string())?;
        match stated.get(name) {
            Some(stated) if *stated != made => {
                return Err(format!("suite {name}: the certificate states {stated}, the seed makes {made}"));
            }
            Some(_) => texts.push(format!("{} of suite {name} re-made, digest equal", family.tasks.len())),
            None => {
                texts.push(format!("{} of suite {name} re-made, the certificate states no digest", family.tasks.len()));
            }
        }
    }
    Ok(texts.join("; "))
}

/// Task digests as a certificate states them. What is wrong with the certificate itself is said by its own check.
fn stated_tasks(reader: &Record) -> BTreeMap<String, Digest> {
    let parsed = reader.certificate().ok().and_then(|bytes| Certificate::parse(&bytes).ok());
    parsed.map(|all| all.tasks.into_iter().map(|(name, tasks)| (name, tasks.digest)).collect()).unwrap_or_default()
}

/// The protocol's controls must be there; what they showed stands in the evidence.
pub(super) fn controls(report: &mut Report, manifest: &Manifest, inputs: &Inputs, certificate: &Certificate) {
    let protocol = &inputs.protocol;
    let mut asked: Vec<&str> = Vec::new();
    if manifest.suites.contains_key(TOOLS) {
        asked.extend(protocol.arms.controls.iter().map(String::as_str));
    }
    if manifest.suites.contains_key(RESULTS) {
        asked.extend(protocol.arms.results_controls.iter().map(String::as_str));
    }
    let absent: Vec<&str> = asked.into_iter().filter(|id| !manifest.arms.iter().any(|arm| arm == id)).collect();
    if !absent.is_empty() {
        let why = format!("{} did not run, so that there can be no verdict", absent.join(", "));
        if manifest.confirmatory {
            return report.add("controls", exit::VERIFY_CERTIFICATE, Err(why));
        }
        return report.note("controls", exit::VERIFY_CERTIFICATE, why);
    }
    let planned = Planned::of(protocol);
    let names = |showing: Showing| {
        let controls = certificate.controls.iter().filter(|control| Showing::of(control, planned) == showing);
        controls.map(|control| control.arm.to_string()).collect::<Vec<_>>().join(", ")
    };
    let (bad, few) = (names(Showing::Misbehaved), names(Showing::TooFewTasks));
    let mut why = Vec::new();
    if !bad.is_empty() {
        why.push(format!("{bad} did not behave; the verdicts take that into account"));
    }
    if !few.is_empty() {
        why.push(format!("{few}: too few tasks to show anything"));
    }
    if why.is_empty() {
        report.add("controls", exit::VERIFY_CERTIFICATE, Ok(format!("{} behaved", names(Showing::Behaved))));
    } else {
        report.note("controls", exit::VERIFY_CERTIFICATE, why.join("; "));
    }
}

/// Every episode without an outcome must say why: its last attempt failed with a status or an error.
pub(super) fn missing(reader: &Record, certificate: &Certificate, missing: &Missing) -> Found {
    let terms = folder::terms(reader.folder()).map_err(|error| told(&error))?;
    // An arm whose surface the provider refused was not run; the terms and a deviation say so.
    let refused = terms.map(|terms| terms.refused).unwrap_or_default();
    let ran = certificate.arms.iter().filter(|arm| !refused.contains_key(&*arm.arm));
    let unattempted: u64 = ran.map(|arm| arm.flow.planned.saturating_sub(arm.flow.attempted)).sum();
    if unattempted > 0 {
        return Err(format!("{unattempted} planned episodes were never attempted"));
    }
    let lost: u64 = certificate.arms.iter().map(|arm| arm.flow.missing).sum();
    if lost == 0 {
        return Ok("no episode is missing".to_owned());
    }
    if let Some(name) = &missing.unexplained {
        return Err(format!("the episode of {name} is missing, and no attempt of it says why"));
    }
    let reasons: Vec<String> = missing.explained.iter().map(|(why, times)| format!("{times} {why}")).collect();
    Ok(format!("{lost} missing, each explained: {}", reasons.join(", ")))
}

/// What lies in the folder beside the record.
pub(super) fn strangers(report: &mut Report, reader: &Record) {
    let Ok(entries) = fs::read_dir(reader.folder()) else { return };
    let mut strange: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|name| !layout::is_top_level(name))
        .collect();
    strange.sort();
    if !strange.is_empty() {
        let why = format!("not part of a record, not looked at: {}", strange.join(", "));
        report.note("files", exit::VERIFY_RECORD, why);
    }
}

/// What weakens a run without being wrong: no lock, deviations, a build with changes.
pub(super) fn standing(report: &mut Report, manifest: &Manifest) {
    let mut weak = Vec::new();
    if manifest.lock.is_none() {
        weak.push("it states no lock, so that it is exploratory".to_owned());
    }
    if manifest.build.dirty == Some(true) {
        weak.push("the program was built from a checkout with changes".to_owned());
    }
    weak.extend(manifest.deviations.iter().map(|one| format!("deviation: {} ({})", one.what, one.why)));
    if weak.is_empty() {
        let commit = manifest.build.commit.as_deref().unwrap_or("unknown");
        let found = format!("under a lock, no deviation, version {} of commit {commit}", manifest.build.version);
        report.add("standing", exit::VERIFY_RECORD, Ok(found));
    } else {
        report.note("standing", exit::VERIFY_RECORD, weak.join("; "));
    }
}
