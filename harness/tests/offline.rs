//! The offline check, end to end: real catalogs, real wire bytes, a record, a certificate, its verification.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{fs, path::Path};

use common::{bench, stderr, stdout};

/// The only run below `out`.
#[track_caller]
fn only_run(out: &Path) -> std::path::PathBuf {
    let runs: Vec<_> = std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}

/// The whole protocol once; what the other tests of this file need is copied from it.
fn whole_run(folder: &Path, threads: &str) -> (std::path::PathBuf, String) {
    let out = folder.join("runs");
    let table = stdout(bench(folder).args(["--quiet", "--threads", threads, "--out"]).arg(&out), 0);
    (only_run(&out), table)
}

#[test]
fn the_whole_check_passes_is_reproducible_and_verifies() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, table) = whole_run(one.path(), "1");
    let (second, _) = whole_run(two.path(), "3");
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/published/offline/table.txt");
    assert_eq!(table, fs::read_to_string(published).unwrap(), "run `just publish-offline`");
    assert_eq!(first.file_name(), second.file_name(), "a plumbing run's id is its content");
    for file in ["certificate.json", "attempts.jsonl", "episodes.jsonl", "manifest.json"] {
        assert!(
            fs::read(first.join(file)).unwrap() == fs::read(second.join(file)).unwrap(),
            "{file} depends on threads"
        );
    }
    let certificate: serde_json::Value =
        serde_json::from_slice(&fs::read(first.join("certificate.json")).unwrap()).unwrap();
    assert_eq!(certificate["kind"], "plumbing");
    for level in certificate["levels"].as_array().unwrap() {
        assert_eq!(level["status"], "certified", "{}", level["arm"]);
    }
    for control in certificate["controls"].as_array().unwrap() {
        assert_eq!(control["behaved"], true, "{control}");
    }
    let verified = stdout(bench(one.path()).arg("verify").arg(&first), 0);
    assert!(verified.contains("equal byte for byte"), "{verified}");
    tampering_is_caught_and_named(&first);
}

/// Each kind of tampering, on the record of the run above; every file is put back afterwards.
fn tampering_is_caught_and_named(record: &Path) {
    let edit = |file: &str, change: &dyn Fn(String) -> String, code: i32, names: &str| {
        let path = record.join(file);
        let before = fs::read_to_string(&path).unwrap();
        let after = change(before.clone());
        assert_ne!(before, after, "the change of {file} must change something");
        fs::write(&path, after).unwrap();
        let out = stdout(bench(record).arg("verify").arg(record), code);
        assert!(out.lines().any(|line| line.contains("FAIL") && line.contains(names)), "{file}: {out}");
        fs::write(&path, before).unwrap();
    };
    let flip = |text: String| text.replacen("\"arguments\":true,\"first", "\"arguments\":false,\"first", 1);
    edit("episodes.jsonl", &flip, 44, "episodes");
    let drop_first = |text: String| text.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap();
    edit("episodes.jsonl", &drop_first, 45, "schedule");
    let twice = |text: String| format!("{}\n{text}", text.lines().next().unwrap());
    edit("episodes.jsonl", &twice, 45, "schedule");
    let cut = |text: String| text[..text.len() - 40].to_owned();
    edit("episodes.jsonl", &cut, 45, "schedule");
    let arms = |text: String| text.replacen("\"arm\":\"L0\"", "\"arm\":\"L1\"", 1);
    edit("episodes.jsonl", &arms, 45, "schedule");
    let usage = |text: String| text.replacen("\"usage\":{\"input\":", "\"usage\":{\"input\":9", 1);
    edit("attempts.jsonl", &usage, 46, "books");
    let certified = |text: String| text.replacen("\"loss\":", "\"loss\":1", 1);
    edit("certificate.json", &certified, 47, "certificate");
    let task = |text: String| text.replacen("alpha = \"0.05\"", "alpha = \"0.06\"", 1);
    edit("inputs/protocol.toml", &task, 41, "lock");
    let method = |text: String| text.replacen("\"method\":1", "\"method\":2", 1);
    edit("certificate.json", &method, 49, "certificate");
}

#[test]
fn a_part_of_the_run_says_so_and_never_fails_the_plumbing() {
    let folder = tempfile::tempdir().unwrap();
    let out = stdout(bench(folder.path()).args(["--tasks", "60", "--arms", "L0", "--json"]), 0);
    let certificate: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(certificate["deviations"][0]["what"], "part of the protocol's run");
    assert_eq!(certificate["families"].as_object().unwrap().len(), 1);
}

#[test]
fn require_turns_a_verdict_into_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    stdout(bench(folder.path()).args(["--mock", "degraded", "--quiet", "--require", "L0"]), 10);
    // Without its controls a level gets no verdict.
    stdout(bench(folder.path()).args(["--tasks", "60", "--arms", "L0", "--quiet", "--require", "L0"]), 12);
    let refused = stderr(bench(folder.path()).args(["--arms", "L0", "--require", "L1"]), 2);
    assert!(refused.contains("--require L1"), "{refused}");
}

#[test]
fn a_folder_that_is_no_record_is_never_removed() {
    let folder = tempfile::tempdir().unwrap();
    stdout(bench(folder.path()).args(["--tasks", "20", "--arms", "L0", "--quiet"]), 0);
    let run = only_run(&folder.path().join("results/runs"));
    fs::remove_file(run.join("manifest.json")).unwrap();
    let refused = stderr(bench(folder.path()).args(["--tasks", "20", "--arms", "L0"]), 2);
    assert!(refused.contains("--out"), "{refused}");
    assert!(run.join("attempts.jsonl").exists());
}

#[test]
fn a_run_that_another_process_is_writing_is_not_taken_from_under_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        let mut command = bench(folder.path());
        command.args(["--tasks", "40", "--arms", "L0", "--quiet"]);
        command
    };
    stdout(&mut run(), 0);
    let record = only_run(&folder.path().join("results/runs"));
    let log = record.join("attempts.jsonl");
    let before = fs::read(&log).unwrap();
    let held = fs::File::open(&log).unwrap();
    held.try_lock().unwrap();
    let refused = stderr(&mut run(), 30);
    assert!(refused.contains("another process is writing this run"), "{refused}");
    assert!(fs::read(&log).unwrap() == before && record.join("certificate.json").is_file(), "it is as it was");
    drop(held);
    stdout(&mut run(), 0);
}
