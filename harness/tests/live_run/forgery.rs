//! A run against the mock server that is dressed up as a live one, or whose answers were chosen.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    common::{bench, stdout},
    forge::{claim, copy, edit, line, reconclude},
    server::MockServer,
    support::{ARMS, live, only_run},
};

/// An honest run, and copies of it.
struct Honest {
    scratch: tempfile::TempDir,
    record: PathBuf,
}

impl Honest {
    fn run() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let server = MockServer::start(&ARMS, 20, |_, _| None, Duration::ZERO);
        stdout(live(scratch.path(), &server, 20).arg("--quiet"), 0);
        let record = only_run(scratch.path());
        Self { scratch, record }
    }

    fn copy(&self, name: &str) -> PathBuf {
        let to = self.scratch.path().join(name);
        copy(&self.record, &to);
        to
    }

    #[track_caller]
    fn verify(&self, record: &Path, code: i32) -> String {
        let ledger = self.scratch.path().join("results/ledger.jsonl");
        stdout(bench(self.scratch.path()).arg("verify").arg(record).arg("--ledger").arg(ledger), code)
    }
}

/// Changes the first outcome in the log of attempts.
fn first_outcome(record: &Path, change: impl FnOnce(&mut Value)) {
    let path = record.join("attempts.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut change = Some(change);
    let lines = text.lines().map(|line| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        match change.take() {
            Some(change) if value.get("draw").is_none() => {
                change(&mut value);
                format!("{value}\n")
            }
            other => {
                change = other;
                format!("{line}\n")
            }
        }
    });
    fs::write(&path, lines.collect::<String>()).unwrap();
}

#[test]
fn a_mock_server_does_not_become_a_provider_by_saying_so() {
    let honest = Honest::run();
    let out = honest.verify(&honest.record, 0);
    assert!(line(&out, "pass", "kind").contains("plumbing, exploratory"), "{out}");
    assert!(line(&out, "pass", "one look").contains("by digest"), "{out}");
    let forged = honest.copy("kind");
    claim(&forged, |m| m["kind"] = "live".into());
    line(&honest.verify(&forged, 41), "FAIL", "kind");
    // The terms say so too, and the address is the provider's own: arms and tasks are still a part.
    let forged = honest.copy("terms");
    edit(&forged.join("inputs/live.json"), |terms| {
        terms.as_object_mut().unwrap().remove("mock_server");
        terms["base_url"] = "https://api.anthropic.com/v1".into();
    });
    claim(&forged, |m| {
        m["kind"] = "live".into();
        m["confirmatory"] = true.into();
        m["deviations"] = json!([]);
        m["model"]["host"] = "api.anthropic.com".into();
    });
    let out = honest.verify(&forged, 41);
    let why = line(&out, "FAIL", "kind");
    assert!(why.contains("--arms") && why.contains("--tasks"), "{why}");
    // The ledger had started an exploratory run.
    assert!(line(&out, "FAIL", "ledger").contains("another kind"), "{out}");
    assert!(line(&out, "FAIL", "one look").contains("kind"), "{out}");
    // Exploratory, then, and nobody is told why.
    let forged = honest.copy("silent");
    claim(&forged, |m| m["deviations"] = json!([]));
    assert!(line(&honest.verify(&forged, 41), "FAIL", "kind").contains("no deviation says why"));
    for (name, field, value) in [
        ("asked", "asked", json!("claude-opus-5")),
        ("provider", "provider", json!("openai")),
        ("host", "host", json!("x")),
    ] {
        let forged = honest.copy(name);
        claim(&forged, |m| m["model"][field] = value);
        assert!(line(&honest.verify(&forged, 41), "FAIL", "kind").contains(field));
    }
}

#[test]
fn an_answer_cannot_be_set_aside_or_given_to_another_model() {
    let honest = Honest::run();
    let forged = honest.copy("error");
    first_outcome(&forged, |line| line["error"] = "connection reset".into());
    let out = honest.verify(&forged, 45);
    line(&out, "FAIL", "schedule");
    let forged = honest.copy("status");
    first_outcome(&forged, |line| line["status"] = 500.into());
    line(&honest.verify(&forged, 45), "FAIL", "schedule");
    let forged = honest.copy("model");
    first_outcome(&forged, |line| line["model"] = "claude-opus-5".into());
    edit(&forged.join("manifest.json"), |m| {
        m["model"]["returned"].as_array_mut().unwrap().push("claude-opus-5".into());
    });
    let out = honest.verify(&forged, 44);
    line(&out, "FAIL", "episodes");
    let forged = honest.copy("returned");
    claim(&forged, |m| m["model"]["returned"] = json!(["claude-opus-5"]));
    line(&honest.verify(&forged, 44), "FAIL", "models");
}

#[test]
fn a_record_that_was_exchanged_after_its_run_finished_is_not_the_one_in_the_published_ledger() {
    let honest = Honest::run();
    let forged = honest.copy("exchanged");
    // Of no consequence for anything that is recomputed.
    first_outcome(&forged, |line| line["request_id"] = "req_another".into());
    reconclude(&forged);
    let alone = stdout(bench(honest.scratch.path()).arg("verify").arg(&forged), 0);
    assert!(line(&alone, "note", "one look").contains("--ledger"), "{alone}");
    let out = honest.verify(&forged, 48);
    assert!(line(&out, "FAIL", "one look").contains("another attempts.jsonl"), "{out}");
    // A ledger that comes along with the record is its maker's, and shows nothing.
    fs::copy(honest.scratch.path().join("results/ledger.jsonl"), honest.record.join("ledger.jsonl")).unwrap();
    let out = stdout(bench(honest.scratch.path()).arg("verify").arg(&honest.record), 0);
    assert!(line(&out, "note", "one look").contains("binds nobody"), "{out}");
}

#[test]
fn a_run_that_ended_between_its_certificate_and_its_last_entry_is_entered_by_resume() {
    let honest = Honest::run();
    let ledger = honest.scratch.path().join("results/ledger.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    let cut: String = text.lines().take(text.lines().count() - 1).map(|line| format!("{line}\n")).collect();
    fs::write(&ledger, cut).unwrap();
    assert!(line(&honest.verify(&honest.record, 48), "FAIL", "one look").contains("started"));
    let id = honest.record.file_name().unwrap();
    stdout(bench(honest.scratch.path()).arg("resume").arg(id), 0);
    line(&honest.verify(&honest.record, 0), "pass", "one look");
}

#[test]
fn the_copy_of_the_ledger_may_have_no_torn_end() {
    let honest = Honest::run();
    let torn = honest.copy("torn");
    let path = torn.join("inputs/ledger.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend([0; 100]);
    fs::write(&path, bytes).unwrap();
    assert!(line(&honest.verify(&torn, 48), "FAIL", "ledger").contains("torn"));
}
