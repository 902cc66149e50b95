//! What a live record has beside a plumbing one: prices, money, a ledger. Each kind of tampering is caught and named.

use std::{fs, path::Path, time::Duration};

use crate::{
    common::{bench, schema::fits_exactly, stdout},
    server::MockServer,
    support::{ARMS, live, only_run},
};

/// Changes a file, verifies against the published ledger, and puts the file back.
#[track_caller]
fn tampered(folder: &Path, run: &Path, file: &Path, change: &dyn Fn(String) -> String, code: i32, check: &str) {
    let before = fs::read_to_string(file).unwrap();
    let after = change(before.clone());
    assert_ne!(before, after, "the change must change something");
    fs::write(file, after).unwrap();
    let ledger = folder.join("results/ledger.jsonl");
    let out = stdout(bench(folder).arg("verify").arg(run).arg("--ledger").arg(ledger), code);
    let named = out.lines().any(|line| line.contains("FAIL") && line.contains(check));
    assert!(named, "{}: {check} is not named in\n{out}", file.display());
    fs::write(file, before).unwrap();
}

#[test]
fn prices_money_and_ledger_cannot_be_edited_unseen() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, 20, |_, _| None, Duration::ZERO);
    stdout(live(folder.path(), &server, 20).arg("--quiet"), 0);
    let run = only_run(folder.path());
    let ledger = folder.path().join("results/ledger.jsonl");
    let out = stdout(bench(folder.path()).arg("verify").arg(&run).arg("--ledger").arg(&ledger), 0);
    assert!(out.contains("one look") && out.contains("finished; under the same lock: no other run"), "{out}");
    // What only a live run has stands in its report too: bills, latency, dates.
    let view = stdout(bench(folder.path()).arg("report").arg(&run).args(["--json", "--ledger"]).arg(&ledger), 0);
    fits_exactly("report", &serde_json::from_str(&view).unwrap());
    let check = |file: &Path, change: &dyn Fn(String) -> String, code: i32, name: &str| {
        tampered(folder.path(), &run, file, change, code, name);
    };
    // A price, in the table kept.
    let prices = run.join("inputs/prices.toml");
    check(&prices, &|text| text.replacen("as_of = \"20", "as_of = \"19", 1), 41, "terms");
    // What an attempt was billed: its episode no longer comes to what it states, and it is more than was reserved.
    let attempts = run.join("attempts.jsonl");
    check(&attempts, &|text| text.replacen("\"billed\":", "\"billed\":9", 1), 44, "books");
    // An attempt that was made and is taken out, opening and outcome.
    let without_first = |text: String| text.lines().skip(2).map(|line| format!("{line}\n")).collect();
    check(&attempts, &without_first, 46, "books");
    // The ledger: re-ordered, cut, edited, forgotten.
    let reversed = |text: String| text.lines().rev().map(|line| format!("{line}\n")).collect();
    check(&ledger, &reversed, 48, "one look");
    let cut = |text: String| text.lines().take(text.lines().count() - 1).map(|line| format!("{line}\n")).collect();
    check(&ledger, &cut, 48, "one look");
    check(&ledger, &|text| text.replacen("\"budget\":\"", "\"budget\":\"9", 1), 48, "one look");
    check(&run.join("inputs/ledger.jsonl"), &|_| String::new(), 48, "ledger");
    check(&run.join("inputs/ledger.jsonl"), &|text| text.replacen("\"raw\",", "", 1), 48, "ledger");
    // A bundle takes the ledger along, and is verified with it.
    stdout(bench(folder.path()).arg("bundle").arg(&run).args(["-o", "b.tar.gz", "--quiet"]), 0);
    let out = stdout(bench(folder.path()).args(["verify", "b.tar.gz"]), 0);
    assert!(out.contains("note  one look") && out.contains("binds nobody"), "{out}");
}

#[cfg(unix)]
#[test]
fn a_record_is_made_of_plain_files() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, 20, |_, _| None, Duration::ZERO);
    stdout(live(folder.path(), &server, 20).arg("--quiet"), 0);
    let run = only_run(folder.path());
    let elsewhere = folder.path().join("elsewhere");
    for name in ["manifest.json", "attempts.jsonl", "inputs/live.json", "inputs/catalogs", "surfaces"] {
        let path = run.join(name);
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        let out = stdout(bench(folder.path()).arg("verify").arg(&run), 40);
        let named = out.lines().any(|line| line.contains("FAIL  files") && line.contains(name));
        assert!(named, "{name} is not named in\n{out}");
        fs::remove_file(&path).unwrap();
        fs::rename(&elsewhere, &path).unwrap();
    }
    // A pipe would be waited for.
    fs::rename(run.join("episodes.jsonl"), &elsewhere).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(run.join("episodes.jsonl")).status().unwrap().success());
    stdout(bench(folder.path()).arg("verify").arg(&run), 40);
    fs::remove_file(run.join("episodes.jsonl")).unwrap();
    fs::rename(&elsewhere, run.join("episodes.jsonl")).unwrap();
    stdout(bench(folder.path()).arg("verify").arg(&run), 0);
}
