//! A scripted run that is dressed up as something better, by somebody who makes the certificate again after each lie.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;
#[path = "common/forge.rs"]
mod forge;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use bench_harness::bundle::{Contents, FileEntry, SCHEMA, layout};
use bench_protocol::digest::Digest;
use common::{bench, stderr, stdout};
use forge::{claim, copy, edit, line, reconclude};
use serde_json::json;

/// A change of a JSON document.
type Lie = fn(&mut serde_json::Value);

/// A run of 40 tasks under two levels, made once.
struct Honest {
    scratch: tempfile::TempDir,
    record: PathBuf,
}

impl Honest {
    fn run() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        stdout(bench(scratch.path()).args(["--tasks", "40", "--arms", "L0,L2", "--quiet"]), 0);
        let mut runs = fs::read_dir(scratch.path().join("results/runs")).unwrap();
        let record = runs.next().unwrap().unwrap().path();
        Self { scratch, record }
    }

    /// A copy that may be spoilt.
    fn copy(&self, name: &str) -> PathBuf {
        let to = self.scratch.path().join(name);
        copy(&self.record, &to);
        to
    }
}

#[track_caller]
fn verify(record: &Path, code: i32) -> String {
    stdout(bench(record).arg("verify").arg(record), code)
}

#[test]
fn a_forger_who_changes_nothing_is_not_accused() {
    let honest = Honest::run();
    let copy = honest.copy("same");
    reconclude(&copy);
    assert_eq!(
        fs::read(copy.join("certificate.json")).unwrap(),
        fs::read(honest.record.join("certificate.json")).unwrap()
    );
    let out = verify(&copy, 0);
    line(&out, "pass", "kind");
    line(&out, "pass", "models");
    assert!(out.contains("\nverified: "), "{out}");
}

#[test]
fn a_scripted_run_cannot_call_itself_anything_else() {
    let honest = Honest::run();
    let lies: [(&str, Lie, &str); 8] = [
        ("live", |m| m["kind"] = "live".into(), "kind"),
        ("confirmatory", |m| m["confirmatory"] = true.into(), "kind"),
        ("provider", |m| m["model"]["provider"] = "anthropic".into(), "kind"),
        ("asked", |m| m["model"]["asked"] = "claude-haiku-4-5-20251001".into(), "kind"),
        ("host", |m| m["model"]["host"] = "api.anthropic.com".into(), "kind"),
        ("returned", |m| m["model"]["returned"] = json!(["claude-opus-5"]), "models"),
        ("part", |m| m["deviations"] = json!([]), "kind"),
        ("days", |m| m["started"] = "2026-11-29T12:00:00Z".into(), "kind"),
    ];
    for (name, lie, check) in lies {
        let forged = honest.copy(name);
        claim(&forged, lie);
        let out = verify(&forged, if check == "kind" { 41 } else { 44 });
        line(&out, "FAIL", check);
        line(&out, "pass", "certificate");
    }
    // All at once, and without the lock that would be missed.
    let forged = honest.copy("all");
    claim(&forged, |m| {
        m["kind"] = "live".into();
        m["confirmatory"] = true.into();
        m["deviations"] = json!([]);
        m["model"] = json!({"provider": "anthropic", "asked": "claude-haiku-4-5-20251001", "returned": ["claude-haiku-4-5-20251001"], "host": "api.anthropic.com"});
        m.as_object_mut().unwrap().remove("lock");
    });
    let out = verify(&forged, 41);
    assert!(line(&out, "FAIL", "kind").contains("states no lock"), "{out}");
    let refused = stderr(bench(honest.scratch.path()).arg("verdict").arg(&forged), 41);
    assert!(refused.contains("kind"), "{refused}");
    let page = stdout(bench(honest.scratch.path()).arg("report").arg(&forged).arg("--html"), 41);
    assert!(page.contains("This record does not verify"), "the page of a forgery says so");
    assert!(!page.contains("is certified"), "and shows no verdict of it");
}

#[test]
fn another_seed_or_another_number_of_tasks_is_another_run() {
    let honest = Honest::run();
    for (name, field, value) in [("seed", "seed", json!("a lucky one")), ("n", "tasks", json!(41))] {
        let forged = honest.copy(name);
        edit(&forged.join("manifest.json"), |m| m["suites"]["tools"][field] = value);
        let out = stdout(bench(&forged).arg("verify").arg(&forged), if field == "seed" { 41 } else { 42 });
        line(&out, "FAIL", if field == "seed" { "kind" } else { "tasks" });
    }
}

/// A list of contents over what lies in a folder, with these names withheld.
fn list(record: &Path, withhold: &[&str]) -> Contents {
    let entry = |name: &String| {
        let bytes = fs::read(record.join(name)).unwrap();
        FileEntry { digest: Digest::of(&bytes), bytes: bytes.len() as u64 }
    };
    let all = layout::files(record).unwrap();
    let (withheld, files): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|name| withhold.iter().any(|start| name.starts_with(start)));
    let of =
        |names: Vec<String>| names.into_iter().map(|name| (name.clone(), entry(&name))).collect::<BTreeMap<_, _>>();
    Contents {
        schema: SCHEMA.to_owned(),
        run: record.file_name().unwrap().to_string_lossy().into_owned(),
        files: of(files),
        withheld: of(withheld),
        consequences: vec!["as the forger likes".to_owned()],
    }
}

fn withhold(record: &Path, names: &[&str]) {
    let contents = list(record, names);
    for name in contents.withheld.keys() {
        fs::remove_file(record.join(name)).unwrap();
    }
    fs::write(record.join("bundle.json"), serde_json::to_vec(&contents).unwrap()).unwrap();
}

#[test]
fn withholding_is_for_what_quotes_catalogs_and_for_nothing_else() {
    let honest = Honest::run();
    for (name, file) in [("protocol", "inputs/protocol.toml"), ("certificate", "certificate.json")] {
        let forged = honest.copy(name);
        withhold(&forged, &[file]);
        let out = verify(&forged, 40);
        assert!(line(&out, "FAIL", "bundle").contains("only what does may be"), "{out}");
    }
    let both = honest.copy("both");
    let mut contents = list(&both, &[]);
    let (name, entry) = contents.files.iter().find(|(name, _)| name.starts_with("surfaces/")).unwrap();
    contents.withheld.insert(name.clone(), entry.clone());
    fs::write(both.join("bundle.json"), serde_json::to_vec(&contents).unwrap()).unwrap();
    assert!(line(&verify(&both, 40), "FAIL", "bundle").contains("and as withheld"));
}

#[test]
fn one_withheld_file_does_not_turn_a_record_into_a_verified_one() {
    let honest = Honest::run();
    // A genuine certificate: nothing is wrong, and nothing was recomputed.
    let plain = honest.copy("plain");
    withhold(&plain, &["attempts.jsonl"]);
    let out = verify(&plain, 0);
    line(&out, "pass", "certificate states");
    assert!(out.contains("not recomputed: catalogs are withheld") && !out.contains("\nverified"), "{out}");
    let folder = honest.scratch.path();
    let refused = stderr(bench(folder).arg("verdict").arg(&plain), 47);
    assert!(refused.contains("cannot be recomputed"), "{refused}");
    stdout(bench(folder).args(["key", "new", "-o", "k.key", "--quiet"]), 0);
    let sign = |level: &str, code: i32| {
        let mut command = bench(folder);
        command.arg("sign").arg(&plain).args(["--key", "k.key", "--assurance", level]);
        stderr(&mut command, code)
    };
    assert!(sign("re-verified", 47).contains("nothing is signed"));
    sign("self-attested", 0);
    // A forged one, whose own numbers add up.
    let lies: [(&str, Lie); 6] = [
        ("kind", |c| c["kind"] = "live".into()),
        ("model", |c| c["model"]["asked"] = "claude-haiku-4-5-20251001".into()),
        ("alpha", |c| c["rule"]["alpha"] = "0.5000000".into()),
        ("tasks", |c| c["tasks"]["tools"]["n"] = 1470.into()),
        ("deviations", |c| c["deviations"] = json!([])),
        ("surface", |c| c["subjects"]["L0"]["surface"] = c["subjects"]["L2"]["surface"].clone()),
    ];
    for (name, lie) in lies {
        let forged = honest.copy(name);
        let path = forged.join("certificate.json");
        let mut certificate: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        lie(&mut certificate);
        let parsed: bench_results::certificate::Certificate = serde_json::from_value(certificate).unwrap();
        fs::write(&path, parsed.bytes().unwrap()).unwrap();
        withhold(&forged, &["attempts.jsonl"]);
        let out = verify(&forged, 47);
        line(&out, "FAIL", "certificate states");
        line(&out, "pass", "certificate adds up");
    }
}

#[test]
fn a_lock_of_somebody_elses_is_noted_and_can_be_required() {
    let honest = Honest::run();
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(honest.record.join("manifest.json")).unwrap()).unwrap();
    let folder = honest.scratch.path();
    let asked =
        |id: &str, code: i32| stdout(bench(folder).arg("verify").arg(&honest.record).args(["--lock", id]), code);
    let other = Digest::of(b"another lock").to_string();
    assert!(line(&asked(&other, 41), "FAIL", "whose lock").contains(&other));
    if let Some(own) = manifest["lock"].as_str() {
        line(&asked(own, 0), "pass", "whose lock");
        let out = verify(&honest.record, 0);
        line(&out, "pass", "whose lock");
        assert!(line(&out, "pass", "lock").contains("margin 0.02, one-sided level 0.05"), "{out}");
    }
}

#[test]
fn several_records_are_verified_in_one_go_each_by_name() {
    let honest = Honest::run();
    let forged = honest.copy("forged");
    claim(&forged, |m| m["model"]["returned"] = json!(["claude-opus-5"]));
    let mut command = bench(honest.scratch.path());
    let out = stdout(command.arg("verify").arg(&honest.record).arg(&forged).arg("nowhere"), 44);
    assert_eq!(out.matches("\nrecord ").count() + usize::from(out.starts_with("record ")), 3, "{out}");
    assert!(out.contains("verified: ") && out.contains("not verified: "), "{out}");
    line(&out, "FAIL", "models");
    line(&out, "FAIL", "record");
}
