//! Runs that are killed, interrupted and stopped by their ceiling, again and again, and what their records say in the end.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use bench_protocol::rng::{self, stream_id};
use bench_results::record::{AttemptLine, DrawId, Record, Tail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    common::{bench, stderr, stdout},
    server::{Fault, MockServer},
    support::{ARMS, assert_same_outcomes, only_run},
};

const TASKS: u64 = 30;

/// The command of a run, as a process that can be killed.
fn start(folder: &Path, server: &MockServer, concurrency: u32) -> Command {
    let mut command = command(folder);
    command.args(["--live", "--mock-server", "--base-url", &server.url(), "--arms", "L0,L2", "--budget-usd", "60"]);
    command.args(["--tasks", &TASKS.to_string(), "--concurrency", &concurrency.to_string()]);
    command
}

fn resume(folder: &Path) -> Command {
    let id = only_run(folder).file_name().unwrap().to_string_lossy().into_owned();
    let mut command = command(folder);
    // A beginning of the id is enough.
    command.args(["resume", &id[..6]]);
    command
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    let said = fs::File::options().create(true).append(true).open(folder.join("said")).unwrap();
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
    command
}

/// Lines of attempts so far.
fn lines(folder: &Path) -> usize {
    let runs = fs::read_dir(folder.join("results/runs")).into_iter().flatten().flatten();
    runs.map(|run| fs::read(run.path().join("attempts.jsonl")).unwrap_or_default())
        .map(|bytes| bytes.split_inclusive(|&byte| byte == b'\n').count())
        .sum()
}

/// Waits until the log has grown by so many lines; false where the process ended before.
fn grown(child: &mut Child, folder: &Path, by: usize) -> bool {
    let goal = lines(folder) + by;
    while lines(folder) < goal {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        thread::sleep(Duration::from_millis(2));
    }
    true
}

/// What the log says: attempts per draw, and what is booked in all.
fn log(run: &Path) -> (BTreeMap<DrawId, u32>, u64) {
    let (mut tries, mut booked) = (BTreeMap::new(), 0);
    for line in Record::open(run).unwrap().attempts(Tail::Report).unwrap() {
        match line.unwrap() {
            AttemptLine::Opened(opened) => *tries.entry(opened.draw).or_default() += 1,
            AttemptLine::Settled(settled) => booked += settled.billed,
        }
    }
    (tries, booked)
}

/// Reservations of the attempts that have no outcome.
fn open_attempts(run: &Path) -> BTreeMap<u64, u64> {
    let mut open = BTreeMap::new();
    for line in Record::open(run).unwrap().attempts(Tail::Report).unwrap() {
        match line.unwrap() {
            AttemptLine::Opened(opened) => open.insert(opened.n, opened.reserve),
            AttemptLine::Settled(settled) => open.remove(&settled.n),
        };
    }
    open
}

/// What the attempts that have an outcome were billed.
fn outcomes(run: &Path) -> BTreeMap<u64, u64> {
    let lines = Record::open(run).unwrap().attempts(Tail::Report).unwrap().filter_map(|line| match line {
        Ok(AttemptLine::Settled(settled)) => Some((settled.n, settled.billed)),
        Ok(AttemptLine::Opened(_)) | Err(_) => None,
    });
    lines.collect()
}

fn faults(draw: &DrawId, times: u32) -> Option<Fault> {
    match (stream_id(&format!("{}/{}/{}", draw.task, draw.arm, draw.turn)) % 12, times) {
        (0, 1) => Some(Fault::Status(429)),
        (1, 1) => Some(Fault::Cut),
        _ => None,
    }
}

/// A complete run of which nothing was lost and nothing paid for that is not on record.
#[track_caller]
fn check_complete(folder: &Path, server: &MockServer) {
    let run = only_run(folder);
    assert_same_outcomes(&run, TASKS);
    let (tries, booked) = log(&run);
    for (draw, asked) in server.asked() {
        assert!(asked <= tries[&draw], "{draw:?} was asked {asked} times, {} are on record", tries[&draw]);
    }
    assert!(server.billed() <= booked, "the server billed {}, the books say {booked}", server.billed());
    let verified = stdout(bench(folder).arg("verify").arg(&run), 0);
    assert!(verified.contains("equal byte for byte"), "{verified}");
    let runs: Value = serde_json::from_str(&stdout(bench(folder).args(["runs", "--json"]), 0)).unwrap();
    assert_eq!((&runs[0]["state"], &runs[0]["spent"]), (&"complete".into(), &booked.into()));
}

#[test]
fn after_kills_and_resumes_nothing_is_lost_and_nothing_is_asked_without_a_record() {
    for concurrency in [1, 8, 64] {
        let folder = tempfile::tempdir().unwrap();
        let server = MockServer::start(&ARMS, TASKS, faults, Duration::from_millis(4));
        let mut rng = rng::stream([5; 32], concurrency.into());
        let mut child = start(folder.path(), &server, concurrency).spawn().unwrap();
        let mut kills = 0;
        while kills < 3 {
            let by = usize::try_from(rng::index(&mut rng, 60)).unwrap() + 2;
            let alive = grown(&mut child, folder.path(), by);
            thread::sleep(Duration::from_micros(rng::index(&mut rng, 4_000)));
            if !alive || child.try_wait().unwrap().is_some() {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            kills += 1;
            child = resume(folder.path()).spawn().unwrap();
        }
        assert!(kills >= 2, "only {kills} kills hit the run");
        let status = child.wait().unwrap();
        assert!(status.success(), "{}", fs::read_to_string(folder.path().join("said")).unwrap());
        check_complete(folder.path(), &server);
    }
}

#[test]
fn one_interrupt_saves_and_a_resumed_run_is_the_undisturbed_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, TASKS, |_, _| None, Duration::from_millis(20));
    let mut child = start(folder.path(), &server, 4).spawn().unwrap();
    assert!(grown(&mut child, folder.path(), 20));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let runs = stdout(bench(folder.path()).arg("runs"), 0);
    assert!(runs.contains("stopped"), "{runs}");
    // Nobody learns an outcome before the close.
    let episodes = fs::read_to_string(only_run(folder.path()).join("episodes.jsonl")).unwrap();
    assert!(!episodes.is_empty() && !episodes.contains("\"selection\""), "{episodes}");
    assert!(resume(folder.path()).args(["--junit", "junit.xml"]).status().unwrap().success());
    let junit = fs::read_to_string(folder.path().join("junit.xml")).unwrap();
    assert!(junit.contains("<testcase name=\"L2\" classname=\"bench resume\""), "{junit}");
    // Requests under way were awaited: nothing is kept for an unknown outcome.
    assert!(server.asked().values().all(|&times| times == 1));
    check_complete(folder.path(), &server);
    let again = stderr(bench(folder.path()).args(["resume", "r"]), 2);
    assert!(again.contains("is complete"), "{again}");
}

#[test]
fn a_second_interrupt_stops_at_once_and_keeps_what_may_have_been_billed() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, TASKS, |_, _| None, Duration::from_millis(1_500));
    let mut child = start(folder.path(), &server, 4).spawn().unwrap();
    assert!(grown(&mut child, folder.path(), 2));
    for _ in 0..2 {
        interrupt(&child);
        thread::sleep(Duration::from_millis(150));
    }
    let start = std::time::Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(start.elapsed() < Duration::from_secs(1), "it waited");
    let run = only_run(folder.path());
    let open = open_attempts(&run);
    assert!(!open.is_empty(), "nothing was under way");
    let reserved: u64 = open.values().sum();
    let runs: Value = serde_json::from_str(&stdout(bench(folder.path()).args(["runs", "--json"]), 0)).unwrap();
    assert_eq!(runs[0]["spent"], reserved, "what may have been billed is not free");
    let mut child = resume(folder.path()).args(["--concurrency", "64"]).spawn().unwrap();
    assert!(grown(&mut child, folder.path(), open.len()));
    child.kill().unwrap();
    child.wait().unwrap();
    let settled = outcomes(&run);
    assert!(open.iter().all(|(n, reserve)| settled[n] == *reserve), "each keeps its reservation: {open:?} {settled:?}");
}

#[test]
fn a_run_that_its_ceiling_stopped_goes_on_with_a_higher_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, TASKS, |_, _| None, Duration::ZERO);
    let mut first = bench(folder.path());
    first.args(["--live", "--mock-server", "--base-url", &server.url(), "--arms", "L0,L2", "--tasks", "30"]);
    let message = stderr(first.args(["--budget-usd", "0.2", "--concurrency", "8"]), 12);
    assert!(message.contains("budget reached") && message.contains("--budget-usd"), "{message}");
    assert!(server.requests() > 0 && server.billed() <= 200_000_000_000);
    let lower = stderr(bench(folder.path()).args(["resume", "r", "--budget-usd", "0.0001"]), 2);
    assert!(lower.contains("already spent"), "{lower}");
    stdout(bench(folder.path()).args(["resume", "r", "--budget-usd", "60"]), 0);
    assert!(server.asked().values().all(|&times| times == 1));
    check_complete(folder.path(), &server);
    let manifest = fs::read_to_string(only_run(folder.path()).join("manifest.json")).unwrap();
    assert!(manifest.contains("the budget was changed"), "{manifest}");
}

#[test]
fn a_run_whose_record_was_changed_does_not_go_on_and_says_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, TASKS, |_, _| None, Duration::from_millis(20));
    let mut child = start(folder.path(), &server, 2).spawn().unwrap();
    assert!(grown(&mut child, folder.path(), 8));
    child.kill().unwrap();
    child.wait().unwrap();
    // What had left may still be on its way through the server.
    thread::sleep(Duration::from_millis(100));
    let path = only_run(folder.path()).join("inputs/protocol.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("margin = \"0.02\"", "margin = \"0.03\"", 1)).unwrap();
    let before = server.requests();
    let message = stderr(bench(folder.path()).args(["resume", "r"]), 20);
    assert!(message.contains("protocol: started on"), "{message}");
    assert_eq!(server.requests(), before);
    fs::write(&path, text).unwrap();
    stdout(bench(folder.path()).args(["resume", "r"]), 0);
    check_complete(folder.path(), &server);
}

fn interrupt(child: &Child) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
}

#[test]
fn a_ceiling_that_failures_alone_have_reached_names_the_last_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, TASKS, |_, _| Some(Fault::Cut), Duration::ZERO);
    let mut first = bench(folder.path());
    first.args(["--live", "--mock-server", "--base-url", &server.url(), "--arms", "L0,L2", "--tasks", "30"]);
    let message = stderr(first.args(["--budget-usd", "0.15", "--concurrency", "1"]), 12);
    assert!(message.contains("budget reached") && message.contains("the last one failed so: "), "{message}");
    assert!(server.requests() > 0);
}
