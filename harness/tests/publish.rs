//! Publishing a record: verified, bundled, signed, read and compared by somebody who has nothing but the files.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
};

use bench_harness::bundle::{Limits, unpack};
use common::{bench, stderr, stdout};
use serde_json::Value;

/// A folder with one small run in it.
struct Run {
    scratch: tempfile::TempDir,
    record: PathBuf,
    id: String,
}

impl Run {
    fn of(args: &[&str]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        stdout(bench(scratch.path()).args(args).arg("--quiet"), 0);
        let runs = fs::read_dir(scratch.path().join("results/runs")).unwrap();
        let record = runs.map(|entry| entry.unwrap().path()).next().unwrap();
        let id = record.file_name().unwrap().to_string_lossy().into_owned();
        Self { scratch, record, id }
    }

    fn small() -> Self {
        Self::of(&["--tasks", "40", "--arms", "L0,L2"])
    }

    fn folder(&self) -> &Path {
        self.scratch.path()
    }

    fn run(&self, args: &[&str], code: i32) -> String {
        stdout(bench(self.folder()).args(args), code)
    }

    fn refused(&self, args: &[&str], code: i32) -> String {
        stderr(bench(self.folder()).args(args), code)
    }

    /// Changes a file, verifies, and puts it back.
    fn tampered(&self, file: &str, change: impl Fn(String) -> String, args: &[&str], code: i32) -> String {
        let path = self.record.join(file);
        let before = fs::read_to_string(&path).unwrap();
        let after = change(before.clone());
        assert_ne!(before, after, "the change of {file} must change something");
        fs::write(&path, after).unwrap();
        let out = self.run(&[&["verify", &self.id], args].concat(), code);
        fs::write(&path, before).unwrap();
        out
    }
}

#[track_caller]
fn names(out: &str, word: &str, check: &str, text: &str) {
    let found = out.lines().any(|line| {
        let mut words = line.trim_start().splitn(2, "  ");
        words.next() == Some(word) && words.next().is_some_and(|rest| rest.starts_with(check) && rest.contains(text))
    });
    assert!(found, "no `{word}  {check} … {text}` in:\n{out}");
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_run_is_verified_by_the_beginning_of_its_id_and_strict_takes_notes_for_failures() {
    let run = Run::small();
    let out = run.run(&["verify", &run.id[..4]], 0);
    names(&out, "pass", "tasks", "digest equal");
    names(&out, "pass", "missing", "no episode is missing");
    names(&out, "note", "controls", "raw-again");
    names(&out, "note", "standing", "part of the protocol's run");
    names(&out, "note", "signature", "not signed");
    let strict = run.run(&["verify", &run.id, "--strict", "--json"], 47);
    let report = json(&strict);
    assert_eq!(report["run"], run.id.as_str());
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.iter().all(|check| check["outcome"] != "fail"), "{strict}");
    assert!(report["not_shown"][0].as_str().unwrap().contains("where they came from"));
    let absent = run.refused(&["verify", &run.id, "--ledger", "nowhere.jsonl"], 30);
    assert!(absent.contains("nowhere.jsonl: no such file"), "{absent}");
    let missing = run.refused(&["verify", "zzz"], 2);
    assert!(missing.contains("no folder, no bundle and no run"), "{missing}");
}

#[test]
fn a_task_that_was_changed_is_named_with_and_without_a_lock() {
    let run = Run::small();
    let swap = |text: String| text.replace(" the ", " thy ");
    let file = "inputs/intents/github-w2.toml";
    let out = run.tampered(file, swap, &[], 41);
    names(&out, "FAIL", "lock", "intents");
    let manifest = fs::read_to_string(run.record.join("manifest.json")).unwrap();
    let mut unlocked: Value = json(&manifest);
    unlocked.as_object_mut().unwrap().remove("lock");
    fs::write(run.record.join("manifest.json"), unlocked.to_string()).unwrap();
    // Forty tasks don't ask of every file.
    for entry in fs::read_dir(run.record.join("inputs/intents")).unwrap() {
        let path = entry.unwrap().path();
        fs::write(&path, swap(fs::read_to_string(&path).unwrap())).unwrap();
    }
    names(&run.run(&["verify", &run.id], 42), "FAIL", "tasks", "the seed makes");
}

#[test]
fn where_a_catalog_comes_from_is_bound_by_the_certificate_or_said_not_to_be() {
    let run = Run::small();
    names(&run.run(&["verify", &run.id], 0), "pass", "provenance", "8 catalogs");
    let index = "inputs/catalogs/index.json";
    let own: Value = json(&fs::read_to_string(run.record.join(index)).unwrap());
    let git = own["servers"].as_array().unwrap().iter().position(|entry| entry["server"] == "git").unwrap();
    for (field, value) in [("captured", "2020-01-01"), ("version", "0.0.1"), ("integrity", "sha512-AAAA")] {
        let change = |text: String| {
            let mut index = json(&text);
            index["servers"][git][field] = value.into();
            serde_json::to_string_pretty(&index).unwrap()
        };
        names(&run.tampered(index, change, &[], 41), "FAIL", "provenance", "of the origin of git");
    }
    let dropped = |_: String| "{\"servers\": []}".to_owned();
    names(&run.tampered(index, dropped, &[], 41), "FAIL", "provenance", "everything, fetch, filesystem");
    // A certificate from before the binding claims nothing, which is a note that `--strict` fails. One that binds a part
    // was never written.
    let unbind = |keep: usize| {
        move |text: String| {
            let mut certificate = json(&text);
            for catalog in certificate["catalogs"].as_object_mut().unwrap().values_mut().skip(keep) {
                catalog.as_object_mut().unwrap().remove("provenance").unwrap();
            }
            certificate.to_string()
        }
    };
    let older = run.tampered("certificate.json", unbind(0), &[], 0);
    names(&older, "note", "provenance", "not bound");
    names(&older, "pass", "certificate", "equal byte for byte");
    run.tampered("certificate.json", unbind(0), &["--strict"], 41);
    names(&run.tampered("certificate.json", unbind(1), &[], 41), "FAIL", "certificate", "/provenance");
}

#[test]
fn a_bundle_is_the_same_bytes_each_time_verifies_as_it_is_and_shows_any_change() {
    let run = Run::small();
    let name = run.run(&["bundle", &run.id], 0);
    assert_eq!(name.trim(), format!("{}.tar.gz", run.id));
    let first = fs::read(run.folder().join(name.trim())).unwrap();
    run.run(&["bundle", &run.id, "-o", "again.tar.gz"], 0);
    assert!(first == fs::read(run.folder().join("again.tar.gz")).unwrap());
    let piped = bench(run.folder()).args(["bundle", &run.id, "-o", "-", "--quiet"]).output().unwrap();
    assert!(first == piped.stdout);
    let dated = bench(run.folder())
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .args(["bundle", &run.id, "-o", "-", "--quiet"])
        .output()
        .unwrap();
    assert!(first != dated.stdout && first.len().abs_diff(dated.stdout.len()) < 2_000);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("theirs.tar.gz"), &first).unwrap();
    let out = stdout(bench(elsewhere.path()).args(["verify", "theirs.tar.gz"]), 0);
    names(&out, "pass", "bundle", "each with its digest");
    names(&out, "pass", "certificate", "equal byte for byte");
    fs::write(elsewhere.path().join("cut.tar.gz"), &first[..first.len() - 9]).unwrap();
    let why = stderr(bench(elsewhere.path()).args(["verify", "cut.tar.gz"]), 40);
    assert!(why.contains("cut.tar.gz"), "{why}");
}

#[test]
fn a_reader_that_has_read_enough_of_a_bundle_is_no_failure() {
    let run = Run::small();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_bench"))
        .current_dir(run.folder())
        .args(["bundle", &run.id, "-o", "-", "--quiet"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
}

#[test]
fn a_redacted_bundle_says_what_it_withholds_and_what_follows() {
    let run = Run::small();
    let out = bench(run.folder()).args(["bundle", &run.id, "--redact", "-o", "r.tar.gz"]).output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert!(said.contains("withheld") && said.contains("cannot be recomputed"), "{said}");
    let out = run.run(&["verify", "r.tar.gz"], 0);
    names(&out, "pass", "lock", "the chain holds");
    names(&out, "pass", "certificate adds up", "tables");
    names(&out, "note", "episodes", "withheld");
    names(&out, "pass", "certificate states", "manifest, protocol and lock");
    assert!(out.contains("not recomputed: catalogs are withheld"), "{out}");
    run.run(&["verify", "r.tar.gz", "--strict"], 42);
}

#[test]
fn a_signature_is_checked_against_a_key_and_signing_again_does_not_hide_a_change() {
    let run = Run::small();
    for name in ["a", "b"] {
        run.run(&["key", "new", "-o", &format!("{name}.key"), "--quiet"], 0);
    }
    let again = run.refused(&["key", "new", "-o", "a.key"], 2);
    assert!(again.contains("never overwritten"), "{again}");
    run.run(&["verify", &run.id, "--key", "a.key.pub"], 48);
    let keyless = run.refused(&["sign", &run.id], 2);
    assert!(keyless.contains("`bench key new` makes one"), "{keyless}");
    run.run(&["sign", &run.id, "--key", "a.key"], 0);
    let out = run.run(&["verify", &run.id, "--key", "a.key.pub"], 0);
    names(&out, "pass", "signature", "self-attested");
    let out = run.run(&["verify", &run.id, "--key", "b.key.pub"], 48);
    names(&out, "FAIL", "signature", "not signed by key");
    // Another one signs too, as a verifier; both signatures hold, each for its key.
    run.run(&["sign", &run.id, "--key", "b.key", "--assurance", "re-verified"], 0);
    names(&run.run(&["verify", &run.id, "--key", "b.key.pub"], 0), "pass", "signature", "re-verified");
    names(&run.run(&["verify", &run.id, "--key", "a.key.pub"], 0), "pass", "signature", "self-attested");
    let flip = |text: String| text.replacen("\"arguments\":true,\"first", "\"arguments\":false,\"first", 1);
    let out = run.tampered("episodes.jsonl", flip, &["--key", "a.key.pub"], 44);
    names(&out, "FAIL", "signature", "episodes.jsonl was signed as");
    // Whoever changes the record and signs it with a key of their own is not who was trusted.
    let whole = fs::read(run.record.join("attestation.json")).unwrap();
    fs::remove_file(run.record.join("attestation.json")).unwrap();
    run.run(&["sign", &run.id, "--key", "b.key"], 0);
    names(&run.run(&["verify", &run.id, "--key", "a.key.pub"], 48), "FAIL", "signature", "not signed by key");
    fs::write(run.record.join("attestation.json"), &whole).unwrap();
    // A signature travels with the bundle.
    run.run(&["bundle", &run.id, "-o", "signed.tar.gz"], 0);
    names(&run.run(&["verify", "signed.tar.gz", "--key", "a.key.pub"], 0), "pass", "signature", "self-attested");
    // What does not verify is not signed.
    let path = run.record.join("episodes.jsonl");
    fs::write(&path, flip(fs::read_to_string(&path).unwrap())).unwrap();
    let refused = run.refused(&["sign", &run.id, "--key", "a.key"], 44);
    assert!(refused.contains("nothing is signed: episodes fails"), "{refused}");
}

#[test]
fn a_bundle_is_countersigned_where_it_was_unpacked_and_bundled_again() {
    let run = Run::small();
    for name in ["maker", "checker"] {
        run.run(&["key", "new", "-o", &format!("{name}.key"), "--quiet"], 0);
    }
    run.run(&["sign", &run.id, "--key", "maker.key"], 0);
    run.run(&["bundle", &run.id, "-o", "signed.tar.gz"], 0);
    let theirs = run.folder().join("theirs");
    fs::create_dir(&theirs).unwrap();
    unpack(&run.folder().join("signed.tar.gz"), &theirs, &Limits::default()).unwrap();
    run.run(&["sign", "theirs", "--key", "checker.key", "--assurance", "re-verified"], 0);
    names(&run.run(&["verify", "theirs", "--key", "checker.key.pub"], 0), "pass", "bundle", "each with its digest");
    run.run(&["bundle", "theirs", "-o", "countersigned.tar.gz"], 0);
    for (name, word) in [("maker", "self-attested"), ("checker", "re-verified")] {
        let out = run.run(&["verify", "countersigned.tar.gz", "--key", &format!("{name}.key.pub")], 0);
        names(&out, "pass", "signature", word);
    }
}

#[test]
fn continuous_integration_gets_a_report_and_a_summary() {
    let run = Run::small();
    fs::write(run.folder().join("summary.md"), "earlier step\n").unwrap();
    run.run(&["verify", &run.id, "--junit", "checks.xml", "--summary", "summary.md"], 0);
    let junit = fs::read_to_string(run.folder().join("checks.xml")).unwrap();
    assert!(junit.contains("failures=\"0\"") && junit.contains("name=\"certificate\""), "{junit}");
    let summary = fs::read_to_string(run.folder().join("summary.md")).unwrap();
    assert!(summary.starts_with("earlier step\n### bench verify"), "{summary}");
    assert!(summary.contains("| pass | certificate |"), "{summary}");
    let refused = run.refused(&["verify", &run.id, "--junit", "no/such/folder.xml"], 2);
    assert!(refused.contains("no/such/folder.xml"), "{refused}");
}

#[test]
fn one_task_is_shown_as_each_arm_saw_it() {
    let run = Run::small();
    let episode = fs::read_to_string(run.record.join("episodes.jsonl")).unwrap();
    let episode =
        json(episode.lines().find(|line| line.contains("\"arm\":\"L2\"") && line.contains("fetched")).unwrap());
    let task = episode["task"].as_str().unwrap();
    let out = run.run(&["show", &run.id, &task[..10]], 0);
    for text in ["user: ", "gold: ", "raw: decided", "L2: decided", "turn 2 shows", "get_tool_schema"] {
        assert!(out.contains(text), "{text} is not in:\n{out}");
    }
    let shown = json(&run.run(&["show", &run.id, task, "--arm", "L2", "--json", "--surface"], 0));
    assert_eq!(shown["arms"].as_array().unwrap().len(), 1);
    assert_eq!(shown["arms"][0]["episode"], episode, "what is shown is what is on record");
    assert!(shown["arms"][0]["first_surface"].is_object() || shown["arms"][0]["first_surface"].is_array());
    run.refused(&["show", &run.id, task, "--arm", "L9"], 2);
    // All letters but the last of a real id, and one that no id holds.
    let wrong = format!("{}z", &task[..task.len() - 1]);
    let refused = run.refused(&["show", &run.id, &wrong], 2);
    assert!(refused.contains(&format!("the nearest ids are `{task}`")), "{refused}");
    assert!(refused.contains(&format!("`bench show {}` lists", run.id)), "{refused}");
}

#[test]
fn without_a_task_the_pairs_are_listed_on_which_an_arm_differs_from_its_reference() {
    let run = Run::of(&["--tasks", "100", "--arms", "L0,planted-loss"]);
    let pairs = json(&run.run(&["show", &run.id, "--json"], 0))["pairs"].as_array().unwrap().clone();
    let episodes = fs::read_to_string(run.record.join("episodes.jsonl")).unwrap();
    let right = |task: &Value, arm: &Value| {
        let line = episodes.lines().map(json).find(|line| line["task"] == *task && line["arm"] == *arm).unwrap();
        (line["selection"].as_bool().unwrap(), line["arguments"].as_bool().unwrap())
    };
    let change = |before: bool, after: bool| match (before, after) {
        (true, false) => "lost".into(),
        (false, true) => "gained".into(),
        _ => Value::Null,
    };
    assert!(pairs.iter().any(|pair| pair["arm"] == "planted-loss" && pair["selection"] == "lost"), "{pairs:?}");
    for pair in &pairs {
        assert_eq!(pair["against"], "raw");
        let (before, after) = (right(&pair["task"], &pair["against"]), right(&pair["task"], &pair["arm"]));
        assert_eq!(pair["selection"], change(before.0, after.0), "{pair}");
        assert_eq!(pair["arguments"], change(before.1, after.1), "{pair}");
        assert_ne!(before, after);
    }
    let out = run.run(&["show", &run.id, "--arm", "planted-loss"], 0);
    let task = pairs.iter().find(|pair| pair["arm"] == "planted-loss").unwrap()["task"].as_str().unwrap();
    assert!(out.contains(&format!("bench show {} {task} --arm planted-loss", run.id)), "{out}");
    let listed = out.lines().filter(|line| line.starts_with("planted-loss")).count();
    assert_eq!(listed, pairs.iter().filter(|pair| pair["arm"] == "planted-loss").count(), "{out}");
    run.refused(&["show", &run.id, "--arm", "L9"], 2);
    run.refused(&["show", &run.id, "--surface"], 2);
}

#[test]
fn two_runs_are_compared_pair_by_pair() {
    let run = Run::small();
    stdout(bench(run.folder()).args(["--tasks", "40", "--arms", "L0,L2", "--mock", "oracle", "--quiet"]), 0);
    let runs: Vec<PathBuf> =
        fs::read_dir(run.folder().join("results/runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let other = runs.iter().find(|path| **path != run.record).unwrap().to_string_lossy().into_owned();
    let diff = json(&run.run(&["diff", &run.id, &other, "--json"], 0));
    assert_eq!(diff["differs"][0][0], "model");
    let arms = diff["arms"].as_array().unwrap();
    assert_eq!(arms.iter().map(|arm| arm["arm"].as_str().unwrap()).collect::<Vec<_>>(), ["raw", "L0", "L2"]);
    for arm in arms {
        let endpoints = arm["endpoints"].as_array().unwrap();
        assert_eq!(endpoints.iter().map(|one| &one["endpoint"]).collect::<Vec<_>>(), ["selection", "arguments"]);
        for endpoint in endpoints {
            let count = |name: &str| endpoint[name].as_u64().unwrap();
            let named = |name: &str| endpoint[name].as_array().unwrap().len() as u64;
            assert_eq!(count("both") + count("only_first") + count("only_second") + count("neither"), count("tasks"));
            assert_eq!((count("only_first"), count("neither")), (0, 0), "an oracle loses nothing");
            assert_eq!((named("lost"), named("gained")), (count("only_first"), count("only_second")));
        }
    }
    let same = run.run(&["diff", &run.id, &run.id], 0);
    assert!(!same.contains("->") && !same.contains("lost"), "{same}");
}

#[test]
fn two_runs_are_compared_in_the_words_of_their_own_tables_and_what_changed_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let table = |behaviour: &str| {
        let args = [
            "--tasks",
            "300",
            "--arms",
            "L0,raw-again,planted-loss,names-only",
            "--mock",
            behaviour,
            "--quiet",
            "--out",
            behaviour,
        ];
        let out = stdout(bench(scratch.path()).args(args), 0);
        let folder = fs::read_dir(scratch.path().join(behaviour)).unwrap().next().unwrap().unwrap().path();
        (out, folder.to_string_lossy().into_owned())
    };
    let ((oracle, first), (noisy, second)) = (table("oracle"), table("noisy"));
    assert!(oracle.lines().any(|line| line.starts_with("L0 ") && line.ends_with("would certify (mock)")), "{oracle}");
    let diff = stdout(bench(scratch.path()).args(["diff", &first, &second]), 0);
    let json = json(&stdout(bench(scratch.path()).args(["diff", &first, &second, "--json"]), 0));
    for arm in json["arms"].as_array().unwrap() {
        let name = arm["arm"].as_str().unwrap();
        for (table, verdict) in [(&oracle, &arm["verdicts"][0]), (&noisy, &arm["verdicts"][1])] {
            let row = table.lines().find(|line| line.split(' ').next() == Some(name)).unwrap();
            assert!(row.ends_with(verdict.as_str().unwrap()), "{row}: {verdict}");
        }
        for endpoint in arm["endpoints"].as_array().unwrap() {
            let lost = endpoint["lost"].as_array().unwrap();
            let Some(task) = lost.first() else { continue };
            let line = format!(
                "{name} {}: lost {}: {}",
                endpoint["endpoint"].as_str().unwrap(),
                lost.len(),
                task.as_str().unwrap()
            );
            assert!(diff.contains(&line), "{line} is not in:\n{diff}");
        }
    }
    assert!(diff.contains("would certify (mock)") && !diff.contains(" certified"), "{diff}");
    let hint = diff.lines().find_map(|line| line.strip_prefix("what a model saw and did: bench ")).unwrap();
    let shown = stdout(bench(scratch.path()).args(hint.split(' ')), 0);
    assert!(shown.contains("selection "), "the printed command runs: {shown}");
}

#[test]
fn a_record_is_judged_again_under_another_margin_and_says_that_it_is_post_hoc() {
    let run = Run::small();
    let protocol = fs::read_to_string(run.record.join("inputs/protocol.toml")).unwrap();
    fs::write(run.folder().join("wide.toml"), protocol.replacen("margin = \"0.02\"", "margin = \"0.3\"", 1)).unwrap();
    let before = fs::read(run.record.join("certificate.json")).unwrap();
    let out = run.run(&["rescore", &run.id, "--protocol", "wide.toml"], 0);
    assert!(out.starts_with("POST HOC"), "{out}");
    let document = json(&run.run(&["rescore", &run.id, "--protocol", "wide.toml", "--json"], 0));
    assert_eq!(document["post_hoc"], true);
    assert_eq!(document["certificate"]["rule"]["margin"], "0.3");
    assert_eq!(document["certificate"]["confirmatory"], false);
    let deviations = document["certificate"]["deviations"].as_array().unwrap();
    assert!(deviations.iter().any(|one| one["what"] == "post hoc"));
    assert_eq!(document["changed_episodes"], "none", "the scorer is the same");
    assert!(before == fs::read(run.record.join("certificate.json")).unwrap(), "the record stays as it is");
}

#[test]
fn a_scripted_run_earns_no_default_and_the_ledger_is_listed() {
    let run = Run::small();
    let out = run.run(&["verdict", &run.id], 0);
    assert!(out.contains("a product may turn on: L0 (the fallback)"), "{out}");
    assert!(out.contains("runs that the ledger started: 0"), "{out}");
    let document = json(&run.run(&["verdict", &run.id, "--json"], 0));
    assert_eq!(document["answer"]["runs"][0]["role"], "primary");
    let refused = run.refused(&["verdict", &run.id, &run.id], 2);
    assert!(refused.contains("both the primary"), "{refused}");
}

#[test]
fn completions_and_man_page_come_from_the_binary_in_any_folder() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let out = stdout(bench(folder.path()).args(["completions", shell]), 0);
        assert!(out.contains("verdict"), "{shell}");
    }
    let man = stdout(bench(folder.path()).arg("man"), 0);
    assert!(man.contains(".TH bench 1") && man.matches(".TH ").count() > 10, "{}", &man[..2000]);
}
