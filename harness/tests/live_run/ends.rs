//! Where a run can be killed between two files: its record, its entry in the ledger, its close. Each place leaves a state of
//! the files that is put together here, and `bench resume` must lead from it to the one good end.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    common::{bench, stderr, stdout},
    server::{Fault, MockServer},
    support::{ARMS, assert_same_outcomes, live, only_run},
};

const TASKS: u64 = 12;

/// A run in a folder of its own, and its server.
struct Scene {
    folder: tempfile::TempDir,
    server: MockServer,
}

impl Scene {
    /// A run that is killed halfway.
    fn killed() -> Self {
        let scene = Self::new(Duration::from_millis(15));
        let mut child = scene.start();
        scene.wait_for_lines(16);
        child.kill().unwrap();
        child.wait().unwrap();
        // What had left may still be on its way through the server.
        thread::sleep(Duration::from_millis(60));
        scene
    }

    /// A run that is complete.
    fn complete() -> Self {
        let scene = Self::new(Duration::ZERO);
        stdout(live(scene.path(), &scene.server, TASKS).arg("--quiet"), 0);
        scene
    }

    fn new(pause: Duration) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), server: MockServer::start(&ARMS, TASKS, |_, _| None, pause) }
    }

    fn start(&self) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
        command.current_dir(self.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.args(["--live", "--mock-server", "--base-url", &self.server.url(), "--arms", "L0,L2"]);
        command.args(["--budget-usd", "20", "--concurrency", "2", "--tasks", &TASKS.to_string()]).spawn().unwrap()
    }

    fn wait_for_lines(&self, lines: usize) {
        let log = |run: &Path| fs::read_to_string(run.join("attempts.jsonl")).unwrap_or_default().lines().count();
        let found = || fs::read_dir(self.path().join("results/runs")).ok()?.flatten().map(|run| log(&run.path())).max();
        while found().unwrap_or(0) < lines {
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self) -> PathBuf {
        only_run(self.path())
    }

    fn ledger(&self) -> PathBuf {
        self.path().join("results/ledger.jsonl")
    }

    fn copy(&self) -> PathBuf {
        self.run().join("inputs/ledger.jsonl")
    }

    /// What the ledger says of its one run.
    fn events(&self) -> Vec<String> {
        let text = fs::read_to_string(self.ledger()).unwrap();
        let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        entries.map(|entry| entry["event"].as_str().unwrap().to_owned()).collect()
    }

    fn resume(&self) -> assert_cmd::Command {
        let mut command = bench(self.path());
        command.args(["resume", "r"]);
        command
    }

    /// What a command says that has to end with this code, on both streams.
    #[track_caller]
    fn said(&self, arguments: &[&str], code: i32) -> (String, String) {
        let output = bench(self.path()).args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {out}{err}");
        (out, err)
    }

    /// No command shows an outcome, and the run is said to be open before anything else.
    #[track_caller]
    fn check_open(&self) {
        let log = fs::read_to_string(self.run().join("attempts.jsonl")).unwrap();
        let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        let (id, task) = (self.id(), first["draw"]["task"].as_str().unwrap().to_owned());
        for arguments in [
            vec!["show", &id],
            vec!["show", &id, "--json"],
            vec!["show", &id, &task],
            vec!["show", &id, &task, "--json"],
            vec!["diff", &id, &id],
            vec!["rescore", &id],
        ] {
            let (out, err) = self.said(&arguments, 2);
            assert_eq!(out, "", "{arguments:?}");
            let why = format!("run {id} is not complete: no outcome is shown before its end");
            assert!(err.contains(&why), "{arguments:?}: {err}");
        }
        let failed = self.verify();
        assert!(failed.len() == 1 && failed[0].starts_with("FAIL  complete"), "{failed:?}");
        assert!(failed[0].contains(&format!("`bench resume {id}` goes on with it")), "{failed:?}");
    }

    fn id(&self) -> String {
        self.run().file_name().unwrap().to_string_lossy().into_owned()
    }

    /// The checks that fail of a run that is not complete.
    #[track_caller]
    fn verify(&self) -> Vec<String> {
        let (run, ledger) = (self.run().display().to_string(), self.ledger().display().to_string());
        let (out, _) = self.said(&["verify", &run, "--ledger", &ledger], 40);
        let failed = out.lines().map(str::trim_start).filter(|line| line.starts_with("FAIL"));
        failed.map(str::to_owned).collect()
    }

    /// Nothing was lost, and anybody can check it.
    #[track_caller]
    fn check(&self) {
        assert_same_outcomes(&self.run(), TASKS);
        let mut command = bench(self.path());
        let verified = stdout(command.arg("verify").arg(self.run()).arg("--ledger").arg(self.ledger()), 0);
        assert!(verified.contains("equal byte for byte") && verified.contains("one look"), "{verified}");
    }
}

#[test]
fn a_run_killed_around_its_first_entry_is_entered_once_and_verifies() {
    // Between its entry and the copy that the record keeps.
    let scene = Scene::killed();
    fs::remove_file(scene.copy()).unwrap();
    stdout(&mut scene.resume(), 0);
    assert_eq!(scene.events(), ["started", "finished"]);
    scene.check();
    // Between its record and its entry.
    let scene = Scene::killed();
    fs::remove_file(scene.copy()).unwrap();
    fs::remove_file(scene.ledger()).unwrap();
    stdout(&mut scene.resume(), 0);
    assert_eq!(scene.events(), ["started", "finished"]);
    scene.check();
}

#[test]
fn an_open_run_shows_no_outcome_and_is_told_from_a_forgery() {
    let scene = Scene::killed();
    scene.check_open();
    // What was being written when the process died is not there yet.
    let log = scene.run().join("attempts.jsonl");
    let good = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{good}{{\"n\":")).unwrap();
    scene.check_open();
    // What was taken out is missed.
    let without_first: String = good.lines().skip(1).map(|line| format!("{line}\n")).collect();
    fs::write(&log, without_first).unwrap();
    let failed = scene.verify();
    assert!(failed.len() == 2 && failed[1].starts_with("FAIL  books"), "{failed:?}");
    fs::write(&log, &good).unwrap();
    // So is an entry of the published ledger, but no copy that was not made yet.
    let ledger = fs::read(scene.ledger()).unwrap();
    fs::write(scene.ledger(), "").unwrap();
    let failed = scene.verify();
    assert!(failed.len() == 2 && failed[1].starts_with("FAIL  one look"), "{failed:?}");
    fs::write(scene.ledger(), ledger).unwrap();
    fs::remove_file(scene.copy()).unwrap();
    scene.check_open();
}

#[test]
fn the_listing_says_that_a_killed_run_is_open_and_how_to_go_on() {
    let scene = Scene::killed();
    let (list, id) = (|| scene.said(&["runs"], 0).0, scene.id());
    let listed = list();
    assert!(listed.lines().any(|line| line.starts_with(&format!("{id}  ")) && line.contains(" open ")), "{listed}");
    let last = listed.lines().last().unwrap();
    assert!(last.contains(&format!("`bench resume {id}`")), "{listed}");
    assert!(last.contains(&format!("`bench runs --abandon {id}`")), "{listed}");
    let elsewhere = scene.said(&["runs", "--out", "./results/runs"], 0).0;
    assert!(elsewhere.contains(&format!("`bench resume {id} --out ./results/runs`")), "{elsewhere}");
    stdout(&mut scene.resume(), 0);
    let listed = list();
    assert!(listed.contains("complete") && !listed.contains("resume"), "{listed}");
}

#[test]
fn a_run_whose_entry_was_taken_out_of_the_ledger_does_not_go_on() {
    let scene = Scene::killed();
    let ledger = fs::read(scene.ledger()).unwrap();
    fs::remove_file(scene.ledger()).unwrap();
    let before = scene.server.requests();
    let message = stderr(&mut scene.resume(), 30);
    assert!(message.contains("results/ledger.jsonl does not have run r"), "{message}");
    assert_eq!(scene.server.requests(), before);
    fs::write(scene.ledger(), ledger).unwrap();
    stdout(&mut scene.resume(), 0);
    scene.check();
}

#[test]
fn surfaces_that_a_power_cut_took_are_made_anew_before_the_run_is_closed() {
    let scene = Scene::killed();
    let kept: Vec<PathBuf> =
        fs::read_dir(scene.run().join("surfaces")).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(kept.len() > 1, "{kept:?}");
    for (number, file) in kept.iter().enumerate() {
        match number % 2 {
            0 => fs::write(file, "").unwrap(),
            _ => fs::remove_file(file).unwrap(),
        }
    }
    stdout(&mut scene.resume(), 0);
    scene.check();
}

#[test]
fn a_run_killed_in_its_close_is_closed_again_to_the_same_bytes() {
    let scene = Scene::complete();
    let (requests, run) = (scene.server.requests(), scene.run());
    let read = |name: &str| fs::read(run.join(name)).unwrap();
    let (episodes, certificate) = (read("episodes.jsonl"), read("certificate.json"));
    let mut manifest: Value = serde_json::from_slice(&read("manifest.json")).unwrap();
    let finished = manifest["finished"].take();
    manifest["complete"] = json!(false);
    manifest["model"]["returned"] = json!([]);
    manifest.as_object_mut().unwrap().shift_remove("finished");
    // With and without its certificate; the episodes have their scores already.
    for kept in [true, false] {
        fs::write(run.join("manifest.json"), serde_json::to_vec_pretty(&manifest).unwrap()).unwrap();
        cut_last_entry(&scene.ledger());
        if !kept {
            fs::remove_file(run.join("certificate.json")).unwrap();
        }
        scene.check_open();
        stdout(&mut scene.resume(), 0);
        assert_eq!(read("episodes.jsonl"), episodes);
        assert_eq!(without_time(&read("certificate.json")), without_time(&certificate));
        assert_eq!(scene.events(), ["started", "finished"]);
        scene.check();
    }
    assert_eq!(scene.server.requests(), requests, "nothing is asked for a close");
    assert!(finished.is_string());
}

#[test]
fn a_run_that_is_being_closed_is_held_until_its_last_entry_and_may_be_killed_before_it() {
    let scene = Scene::new(Duration::from_millis(15));
    let mut child = scene.start();
    scene.wait_for_lines(8);
    // Whoever holds the ledger holds back the last entry, and with it the end of the process.
    let ledger = fs::File::open(scene.ledger()).unwrap();
    ledger.lock().unwrap();
    let complete = || fs::read_to_string(scene.run().join("manifest.json")).unwrap().contains("\"complete\": true");
    while !complete() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended");
        thread::sleep(Duration::from_millis(5));
    }
    let message = stderr(&mut scene.resume(), 30);
    assert!(message.contains("another process is writing this run"), "{message}");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(ledger);
    assert_eq!(scene.events(), ["started"]);
    stdout(&mut scene.resume(), 0);
    assert_eq!(scene.events(), ["started", "finished"]);
    scene.check();
}

#[test]
fn an_interrupt_ends_a_close_too_and_the_run_is_closed_later() {
    let scene = Scene::new(Duration::from_millis(15));
    let mut child = scene.start();
    scene.wait_for_lines(8);
    // A surface that cannot be read to its end: the close waits for it.
    let run = scene.run();
    let surface = fs::read_dir(run.join("surfaces")).unwrap().next().unwrap().unwrap().path();
    let aside = scene.path().join("aside");
    fs::rename(&surface, &aside).unwrap();
    assert!(Command::new("mkfifo").arg(&surface).status().unwrap().success());
    let episodes = || fs::read_to_string(run.join("episodes.jsonl")).unwrap_or_default().lines().count() as u64;
    while episodes() < 3 * TASKS {
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(800));
    assert!(child.try_wait().unwrap().is_none(), "the close did not wait");
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let start = std::time::Instant::now();
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None if start.elapsed() > Duration::from_secs(20) => child.kill().unwrap(),
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    assert_eq!(code, Some(130));
    fs::remove_file(&surface).unwrap();
    fs::rename(&aside, &surface).unwrap();
    assert_eq!(scene.events(), ["started"]);
    stdout(&mut scene.resume(), 0);
    assert_eq!(scene.events(), ["started", "finished"]);
    scene.check();
}

#[test]
fn a_run_killed_after_its_close_gets_its_last_entry_and_only_that() {
    let scene = Scene::complete();
    let manifest = fs::read(scene.run().join("manifest.json")).unwrap();
    cut_last_entry(&scene.ledger());
    assert_eq!(scene.events(), ["started"]);
    let mut command = bench(scene.path());
    let unverified = stdout(command.arg("verify").arg(scene.run()).arg("--ledger").arg(scene.ledger()), 48);
    assert!(unverified.contains("the ledger says that its run is started"), "{unverified}");
    stdout(&mut scene.resume(), 0);
    assert_eq!(scene.events(), ["started", "finished"]);
    assert_eq!(fs::read(scene.run().join("manifest.json")).unwrap(), manifest);
    scene.check();
    let again = stderr(&mut scene.resume(), 2);
    assert!(again.contains("is complete"), "{again}");
    assert_eq!(scene.events(), ["started", "finished"]);
}

#[test]
fn only_a_run_that_stands_still_and_is_not_complete_can_be_abandoned() {
    let scene = Scene::new(Duration::from_millis(40));
    let mut child = scene.start();
    scene.wait_for_lines(4);
    let abandon = || {
        let mut command = bench(scene.path());
        command.args(["runs", "--abandon", "r"]);
        command
    };
    let message = stderr(&mut abandon(), 30);
    assert!(message.contains("another process is writing this run"), "{message}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(scene.events(), ["started"]);
    stdout(&mut abandon(), 0);
    assert_eq!(scene.events(), ["started", "abandoned"]);
    let message = stderr(&mut scene.resume(), 2);
    assert!(message.contains("was abandoned"), "{message}");
    let complete = Scene::complete();
    let message = stderr(bench(complete.path()).args(["runs", "--abandon", "r"]), 2);
    assert!(message.contains("is complete"), "{message}");
    assert_eq!(complete.events(), ["started", "finished"]);
}

#[test]
fn a_build_that_asks_something_else_is_refused_before_it_asks_and_another_is_noted() {
    let scene = Scene::killed();
    let log = scene.run().join("attempts.jsonl");
    let good = fs::read_to_string(&log).unwrap();
    let opened: Value = serde_json::from_str(good.lines().next().unwrap()).unwrap();
    for (what, digest) in [("request", &opened["request"]), ("surface", &opened["surface"])] {
        // Of an episode that is done as well as of one that is not: what was asked first is one that is done.
        let other = format!("sha256:{}", "7".repeat(64));
        let changed = match what {
            "request" => good.replacen(digest.as_str().unwrap(), &other, 1),
            _ => good.replace(digest.as_str().unwrap(), &other),
        };
        fs::write(&log, changed).unwrap();
        let before = scene.server.requests();
        let message = stderr(&mut scene.resume(), 20);
        assert!(
            message.contains(&format!("the {what} of task")) && message.contains("begun with version"),
            "{message}"
        );
        assert_eq!(scene.server.requests(), before);
        fs::write(&log, &good).unwrap();
    }
    let path = scene.run().join("manifest.json");
    let manifest = fs::read_to_string(&path).unwrap();
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(manifest.contains(&version), "{manifest}");
    fs::write(&path, manifest.replace(&version, "\"version\": \"0.0.7\"")).unwrap();
    stdout(&mut scene.resume(), 0);
    let manifest = fs::read_to_string(&path).unwrap();
    assert!(
        manifest.contains("the run went on with another build") && manifest.contains("version 0.0.7"),
        "{manifest}"
    );
    scene.check();
}

#[test]
fn the_record_names_the_lock_whose_tasks_it_shows_whatever_else_was_changed() {
    let scene = Scene::new(Duration::ZERO);
    let own = scene.path().join("own.toml");
    let protocol = include_str!("../../../protocol/protocol.toml");
    // Not the locked file, and yet the locked protocol.
    fs::write(&own, format!("{protocol}\n# own\n")).unwrap();
    stdout(live(scene.path(), &scene.server, TASKS).arg("--protocol").arg(&own).arg("--quiet"), 0);
    let read = |name: &str| serde_json::from_slice::<Value>(&fs::read(scene.run().join(name)).unwrap()).unwrap();
    assert_eq!(read("manifest.json").get("lock"), None, "the run is under no lock");
    let lock = &read("inputs/live.json")["looks_at"];
    assert!(lock.as_str().is_some_and(|lock| lock.starts_with("sha256:")), "{lock}");
    let entry: Value =
        serde_json::from_str(fs::read_to_string(scene.ledger()).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(entry["lock"], *lock, "the ledger files it under that lock");
}

/// Takes the last line out of the ledger.
#[test]
fn tokens_beyond_their_bound_are_accepted_by_somebody_and_stand_in_the_record() {
    static DONE: AtomicBool = AtomicBool::new(false);
    let once = |_: &_, _| (!DONE.swap(true, Ordering::SeqCst)).then_some(Fault::More);
    let server = MockServer::start(&ARMS, TASKS, once, Duration::ZERO);
    let scene = Scene { folder: tempfile::tempdir().unwrap(), server };
    let stopped = stderr(&mut live(scene.path(), &scene.server, TASKS), 22);
    assert!(stopped.contains("1500 output tokens, more than its request can hold"), "{stopped}");
    let before = scene.server.requests();
    let refused = stderr(&mut scene.resume(), 22);
    assert!(refused.contains("1500 output tokens") && refused.contains("--accept-overrun"), "{refused}");
    assert_eq!(scene.server.requests(), before);
    stdout(scene.resume().arg("--accept-overrun"), 0);
    let manifest = scene.run().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(text.contains("an overrun was accepted"), "{text}");
    stdout(bench(scene.path()).arg("verify").arg(scene.run()), 0);
    fs::write(&manifest, text.replace("1500 output tokens", "15 output tokens")).unwrap();
    let output = bench(scene.path()).arg("verify").arg(scene.run()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("the manifest does not accept it"), "{said}");
}

fn cut_last_entry(ledger: &Path) {
    let text = fs::read_to_string(ledger).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(ledger, lines[..lines.len() - 1].iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
}

/// A certificate without the time of its close.
fn without_time(bytes: &[u8]) -> Value {
    let mut certificate: Value = serde_json::from_slice(bytes).unwrap();
    certificate.as_object_mut().unwrap().shift_remove("finished");
    certificate
}
