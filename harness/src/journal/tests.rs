//! The journal within one process; what a kill leaves is tested from outside, in `tests/journal_kill.rs`.

use std::{
    fs,
    io::Write as _,
    sync::{Arc, Mutex},
};

use bench_results::record::Usage;
use bench_tasks::task::TaskId;
use serde_json::{json, value::RawValue};

use super::*;
use crate::meter::{Overrun, Refusal};

const LIMITS: Limits = Limits { budget: 1_000, per_attempt: None, attempts: None };

fn draw(task: u32, turn: u32) -> DrawId {
    DrawId { task: TaskId(format!("t{task}")), arm: "raw".into(), turn }
}

fn asked(task: u32, turn: u32, attempt: u32, reserve: u64) -> Asked {
    Asked { draw: draw(task, turn), attempt, reserve, request: Digest::of(b"request"), surface: Digest::of(b"surface") }
}

fn reply(n: u64) -> Settled {
    Settled {
        status: Some(200),
        usage: Some(Usage { input: n, ..Usage::default() }),
        error: None,
        response: Some(RawValue::from_string(format!(r#"{{"n": {n}}}"#)).unwrap()),
        ..unknown_outcome(n)
    }
}

fn episode(task: u32) -> EpisodeRecord {
    serde_json::from_value(json!({
        "task": format!("t{task}"), "arm": "raw", "turns": 1, "calls": [], "meta_calls": 0, "rejected_calls": 0,
        "end": "talked", "surface": Digest::of(b"surface"), "billed": 0,
        "usage": {"input": 0, "cache_write": 0, "cache_read": 0, "output": 0},
    }))
    .unwrap()
}

fn open(folder: &Path) -> (Journal, Recovered) {
    Journal::open(folder, LIMITS, Durability::Synced).unwrap()
}

#[tokio::test]
async fn a_reservation_is_in_the_file_once_it_is_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    for n in 0..5 {
        assert_eq!(journal.admit(asked(0, 1, 1, 10)).await.unwrap(), n);
        let text = fs::read_to_string(folder.path().join(ATTEMPTS)).unwrap();
        assert_eq!(text.lines().count() as u64, n + 1);
        assert!(text.ends_with('\n'));
    }
}

#[tokio::test]
async fn a_refused_attempt_leaves_no_trace_and_takes_no_number() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    let refused = journal.admit(asked(0, 1, 1, 1_001)).await.unwrap_err();
    assert!(matches!(refused, JournalError::Refused(Refusal::Budget { .. })));
    assert_eq!(journal.admit(asked(0, 1, 1, 1_000)).await.unwrap(), 0);
    journal.finish().unwrap();
    assert_eq!(fs::read_to_string(folder.path().join(ATTEMPTS)).unwrap().lines().count(), 1);
}

#[tokio::test]
async fn what_is_answered_and_what_is_done_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    for (task, turn) in [(0, 1), (0, 2), (1, 1), (2, 1)] {
        let n = journal.admit(asked(task, turn, 1, 100)).await.unwrap();
        match task {
            2 => journal.close(Settled { status: Some(429), ..unknown_outcome(n) }, Booking::Released).unwrap(),
            _ => journal.close(reply(n), Booking::Settled(40 + n)).unwrap(),
        };
    }
    journal.episode(&episode(1)).unwrap();
    let books = journal.finish().unwrap();
    assert_eq!((books.spent, books.reserved, books.released_attempts), (40 + 41 + 42, 0, 1));

    let (journal, recovered) = open(folder.path());
    assert_eq!(journal.books().unwrap(), books);
    assert!(recovered.interrupted.is_empty() && recovered.cuts.is_empty());
    assert_eq!(recovered.episodes.len(), 1);
    assert!(
        recovered.episodes.contains(&draw(1, 1).task, "raw") && !recovered.episodes.contains(&draw(0, 1).task, "raw")
    );
    assert_eq!(recovered.draws.keys().cloned().collect::<Vec<_>>(), [draw(0, 1), draw(0, 2), draw(2, 1)]);
    assert!(recovered.draws.values().all(|state| state.request == Digest::of(b"request")));
    let found = recovered.reply(&draw(0, 2)).unwrap().unwrap();
    assert_eq!((found.n, found.billed, found.response.unwrap().get()), (1, 41, r#"{"n": 1}"#));
    assert!(recovered.reply(&draw(2, 1)).unwrap().is_none());
    assert!(recovered.reply(&draw(1, 1)).unwrap().is_none());
    let mut numbers = Vec::new();
    recovered
        .attempts(|line| {
            numbers.extend(if let AttemptLine::Settled(settled) = line { Some(settled.n) } else { None });
            Ok::<_, JournalError>(())
        })
        .unwrap();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(journal.admit(asked(2, 1, 2, 1)).await.unwrap(), 4);
}

#[tokio::test]
async fn an_attempt_under_way_counts_as_fully_spent_after_every_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    let n = journal.admit(asked(0, 1, 1, 300)).await.unwrap();
    drop(journal);
    let (journal, recovered) = open(folder.path());
    assert_eq!(recovered.interrupted, [n]);
    assert_eq!(recovered.draws[&draw(0, 1)].tries, [Try { n, attempt: 1, billed: 300, usage: None }]);
    let books = journal.finish().unwrap();
    assert_eq!((books.spent, books.kept, books.kept_attempts, books.open), (300, 300, 1, 0));
    let (journal, recovered) = open(folder.path());
    assert!(recovered.interrupted.is_empty());
    assert_eq!(journal.books().unwrap(), books);
    let text = fs::read_to_string(folder.path().join(ATTEMPTS)).unwrap();
    assert!(text.lines().last().unwrap().contains(INTERRUPTED));
}

#[tokio::test]
async fn a_second_outcome_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    let n = journal.admit(asked(0, 1, 1, 100)).await.unwrap();
    assert_eq!(journal.close(reply(n), Booking::Settled(7)).unwrap(), Settlement::Booked);
    assert_eq!(journal.close(reply(n), Booking::Settled(9)).unwrap(), Settlement::Repeated);
    assert!(matches!(journal.close(reply(5), Booking::Kept), Err(JournalError::Unknown(_))));
    assert_eq!(journal.finish().unwrap().spent, 7);
    assert_eq!(fs::read_to_string(folder.path().join(ATTEMPTS)).unwrap().lines().count(), 2);
}

#[tokio::test]
async fn every_booking_reads_back_as_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    let statuses =
        [(200, Booking::Settled(7)), (200, Booking::Kept), (529, Booking::Suspect), (429, Booking::Released)];
    for (task, (status, booking)) in (0..).zip(statuses) {
        let n = journal.admit(asked(task, 1, 1, 100)).await.unwrap();
        journal.close(Settled { status: Some(status), ..reply(n) }, booking).unwrap();
    }
    let n = journal.admit(asked(9, 1, 1, 100)).await.unwrap();
    let unstated = journal.close(unknown_outcome(n), Booking::Settled(7)).unwrap_err();
    assert!(matches!(unstated, JournalError::Unstated { n: 4 }));
    journal.close(unknown_outcome(n), Booking::Kept).unwrap();
    let books = journal.finish().unwrap();
    assert_eq!((books.settled, books.kept, books.suspect, books.released_attempts), (7, 200, 100, 1));
    assert_eq!(open(folder.path()).0.books().unwrap(), books);
}

#[tokio::test]
async fn an_overrun_stops_the_run_and_still_does_after_it_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    let n = journal.admit(asked(0, 1, 1, 100)).await.unwrap();
    assert!(matches!(journal.close(reply(n), Booking::Settled(101)).unwrap(), Settlement::Overrun(_)));
    assert!(matches!(journal.admit(asked(1, 1, 1, 1)).await, Err(JournalError::Refused(Refusal::Overrun(_)))));
    drop(journal);
    let (journal, recovered) = open(folder.path());
    assert!(matches!(journal.admit(asked(1, 1, 1, 1)).await, Err(JournalError::Refused(Refusal::Overrun(_)))));
    let overrun = Overrun { n, reserved: 100, billed: 101 };
    assert_eq!(recovered.overruns, [overrun]);
    journal.accept_overruns().unwrap();
    let n = journal.admit(asked(1, 1, 1, 1)).await.unwrap();
    journal.close(reply(n), Booking::Settled(1)).unwrap();
    drop(journal);
    let (journal, recovered) = open(folder.path());
    assert_eq!(recovered.overruns, [overrun]);
    assert!(journal.admit(asked(2, 1, 1, 1)).await.is_ok(), "what left behind it says that it was accepted");
}

#[tokio::test]
async fn a_resumed_run_takes_a_higher_budget_and_refuses_one_that_is_spent() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    journal.admit(asked(0, 1, 1, 800)).await.unwrap();
    drop(journal);
    let limits = |budget| Limits { budget, ..LIMITS };
    assert!(matches!(Journal::open(folder.path(), limits(799), Durability::Synced), Err(JournalError::Budget(_))));
    let (journal, _) = Journal::open(folder.path(), limits(2_000), Durability::Synced).unwrap();
    assert!(journal.admit(asked(1, 1, 1, 1_200)).await.is_ok());
}

#[test]
fn a_second_process_is_kept_out() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    assert!(matches!(Journal::open(folder.path(), LIMITS, Durability::Synced), Err(JournalError::Locked { .. })));
    assert!(matches!(Hold::take(folder.path()), Err(JournalError::Locked { .. })));
    let hold = journal.hold();
    journal.finish().unwrap();
    assert!(matches!(Hold::take(folder.path()), Err(JournalError::Locked { .. })), "a hold outlives the journal");
    drop(hold);
    drop(Hold::take(folder.path()).unwrap());
    open(folder.path());
}

#[tokio::test]
async fn torn_last_lines_are_set_aside_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    let n = journal.admit(asked(0, 1, 1, 100)).await.unwrap();
    journal.close(reply(n), Booking::Settled(7)).unwrap();
    let before = journal.finish().unwrap();
    for (name, torn) in [(ATTEMPTS, r#"{"n":1,"draw":{"ta"#), (EPISODES, r#"{"task":"#)] {
        fs::OpenOptions::new().append(true).open(folder.path().join(name)).unwrap().write_all(torn.as_bytes()).unwrap();
    }
    let (journal, recovered) = open(folder.path());
    assert_eq!(recovered.cuts.len(), 2);
    assert_eq!(fs::read_to_string(&recovered.cuts[0].kept_in).unwrap(), r#"{"n":1,"draw":{"ta"#);
    assert_eq!(journal.books().unwrap(), before);
    assert_eq!(journal.admit(asked(1, 1, 1, 1)).await.unwrap(), 1);
}

#[tokio::test]
async fn a_damaged_journal_is_refused_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = open(folder.path());
    for task in 0..2 {
        let n = journal.admit(asked(task, 1, 1, 100)).await.unwrap();
        journal.close(reply(n), Booking::Settled(7)).unwrap();
    }
    journal.finish().unwrap();
    let path = folder.path().join(ATTEMPTS);
    let good = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    assert_eq!(lines.len(), 4);
    let second_answer = lines[2].replace("t1", "t0");
    let other_request = second_answer.replace(Digest::of(b"request").as_str(), Digest::of(b"other").as_str());
    for (damaged, expected) in [
        ([lines[0], lines[1], lines[3], lines[2]], "line 3: attempt 1 is closed twice, or was never opened"),
        ([lines[0], lines[1], lines[1], lines[3]], "line 3: attempt 0 is closed twice, or was never opened"),
        ([lines[0], lines[2], lines[0], lines[3]], "line 3: attempt 0 was to be admitted where 2 is next"),
        ([lines[2], lines[1], lines[0], lines[3]], "line 1: attempt 1 was to be admitted where 0 is next"),
        ([lines[0], "nonsense", lines[2], lines[3]], "line 2: expected"),
        ([lines[0], lines[1], &second_answer, lines[3]], "line 4: task t0 under raw, turn 1 is answered twice"),
        (
            [lines[0], lines[1], &other_request, lines[3]],
            "line 4: task t0 under raw, turn 1 is asked for with two requests",
        ),
    ] {
        fs::write(&path, damaged.join("\n") + "\n").unwrap();
        let error = Journal::open(folder.path(), LIMITS, Durability::Synced).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    fs::write(&path, good).unwrap();
    let line = serde_json::to_string(&episode(0)).unwrap();
    fs::write(folder.path().join(EPISODES), format!("{line}\n{line}\n")).unwrap();
    let error = Journal::open(folder.path(), LIMITS, Durability::Synced).unwrap_err().to_string();
    assert!(error.contains("episodes.jsonl: line 2: task t0 under raw is recorded twice"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_share_the_file_without_losing_or_mixing_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, _) = Journal::open(folder.path(), Limits { budget: u64::MAX, ..LIMITS }, Durability::Synced).unwrap();
    let journal = Arc::new(journal);
    let numbers = Arc::new(Mutex::new(Vec::new()));
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..32 {
        let (journal, numbers) = (Arc::clone(&journal), Arc::clone(&numbers));
        workers.spawn(async move {
            for turn in 1..=20 {
                let n = journal.admit(asked(worker, turn, 1, 100)).await.unwrap();
                journal.close(reply(n), Booking::Settled(u64::from(turn))).unwrap();
                numbers.lock().unwrap().push(n);
            }
            journal.episode(&episode(worker)).unwrap();
        });
    }
    workers.join_all().await;
    let mut numbers = numbers.lock().unwrap().clone();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..640).collect::<Vec<_>>());
    let books = Arc::into_inner(journal).unwrap().finish().unwrap();
    assert_eq!(books.spent, 32 * (1..=20).sum::<u64>());
    let (journal, recovered) = open_unlimited(folder.path());
    assert_eq!(journal.books().unwrap(), books);
    assert_eq!((recovered.episodes.len(), recovered.draws.len()), (32, 0));
}

fn open_unlimited(folder: &Path) -> (Journal, Recovered) {
    Journal::open(folder, Limits { budget: u64::MAX, ..LIMITS }, Durability::Synced).unwrap()
}

/// `/dev/full` takes no byte: what a full disk does.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn when_nothing_can_be_written_nothing_is_acknowledged_ever_again() {
    let full =
        |name: &str| Lane { file: fs::OpenOptions::new().write(true).open("/dev/full").unwrap(), path: name.into() };
    let writer = Writer::start(full(ATTEMPTS), full(EPISODES), Durability::Synced).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal { meter: Mutex::new(Meter::new(LIMITS)), writer, hold: Hold::take(folder.path()).unwrap() };
    for _ in 0..2 {
        let error = journal.admit(asked(0, 1, 1, 1)).await.unwrap_err();
        assert!(matches!(&error, JournalError::Broken(why) if why.contains("attempts.jsonl: writing: ")), "{error}");
    }
    assert!(journal.finish().is_err());
}
