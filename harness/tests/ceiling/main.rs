//! The ceiling: whatever a provider does, and however often a run is killed, what it bills stays within the budget, the
//! books agree with its own, and nothing is lost.
//!
//! Seeded fault scripts, over both wire formats in turn, each at one of the concurrencies 1, 8 and 64. `BENCH_CEILING_SCRIPTS` names another number
//! of scripts, each then at all three (`just ceiling`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod books;
mod run;
mod scripts;
mod server;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use bench_protocol::rng;

use crate::{
    books::Books,
    run::{Api, Run},
    server::MockServer,
};

/// Scripts unless the environment says otherwise: what a continuous integration can wait for.
const SCRIPTS: u64 = 6;

/// Tool tasks of a run with a script, each under three arms.
const TASKS: u64 = 8;

/// Thinking time of the server: long enough that kills find requests in flight.
const DELAY: Duration = Duration::from_millis(3);

/// Concurrencies of the runs.
const CONCURRENCIES: [u32; 3] = [1, 8, 64];

/// Starts a run may take, kills and stops together: far more than any script causes.
const STARTS: u32 = 400;

/// Kills of a run.
const KILLS: u32 = 4;

/// Plays a script without kills, and with more money than it needs.
fn undisturbed(script: &str, api: Api) -> Run {
    let server = MockServer::start(script, api, TASKS, DELAY);
    let mut run = Run::new(&server, 16, 1_000_000);
    for _ in 0..STARTS {
        if run.finish() == Some(0) {
            return run;
        }
    }
    panic!("the undisturbed run does not end: {}", run.said());
}

/// What a disturbed run went through.
struct Disturbed {
    run: Run,
    kills: u32,
    /// How often its budget stopped it.
    raises: u32,
}

/// Plays a run against a server with kills at random places, each after less than `patience` requests, and a budget in
/// thousandths of a dollar that grows only where it stops the run.
fn disturbed(server: &MockServer, seed: u64, concurrency: u32, patience: u64, budget: u64) -> Disturbed {
    let mut rng = rng::stream([9; 32], seed);
    let mut played = Disturbed { run: Run::new(server, concurrency, budget), kills: 0, raises: 0 };
    for _ in 0..STARTS {
        let patience = (played.kills < KILLS).then(|| rng::index(&mut rng, patience));
        let code = played.run.for_a_while(server, patience);
        let books = Books::of(&played.run, server);
        books.check(played.run.budget());
        match code {
            None => played.kills += 1,
            Some(0) => {
                books.check_complete();
                return played;
            }
            Some(12) => {
                played.raises += 1;
                played.run.raise();
            }
            Some(22) => {}
            other => panic!("{other:?}: {}", played.run.said()),
        }
    }
    panic!("the run does not end: {}", played.run.said());
}

#[test]
fn the_ceiling_holds_the_books_agree_and_nothing_is_lost() {
    let asked: Option<u64> = std::env::var("BENCH_CEILING_SCRIPTS").ok().and_then(|number| number.parse().ok());
    let scripts = asked.unwrap_or(SCRIPTS);
    let (next, kills, raises) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    // Runs wait more than they work.
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= scripts {
                        break;
                    }
                    let script = scripts::seeded(seed);
                    let api = if seed / 3 % 2 == 0 { Api::Messages } else { Api::Chat };
                    let expected = undisturbed(&script, api).outcomes();
                    for (turn, concurrency) in (0..).zip(CONCURRENCIES) {
                        if asked.is_none() && seed % 3 != turn {
                            continue;
                        }
                        let server = MockServer::start(&script, api, TASKS, DELAY);
                        let played = disturbed(&server, 3 * seed + turn, concurrency, 14, 60);
                        let ended = played.run.outcomes();
                        let differ: Vec<_> = ended.iter().filter(|(key, one)| expected.get(key) != Some(one)).collect();
                        let place = format!("script {seed} at concurrency {concurrency}");
                        assert!(differ.is_empty(), "{place}: {differ:#?}");
                        assert_eq!(ended.len(), expected.len(), "{place}");
                        kills.fetch_add(played.kills.into(), Ordering::Relaxed);
                        raises.fetch_add(played.raises.into(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let (kills, raises) = (kills.into_inner(), raises.into_inner());
    println!("{scripts} scripts, {kills} kills, {raises} times stopped by the budget");
    assert!(kills >= scripts && raises >= scripts, "{kills} kills and {raises} stops are no test of a ceiling");
}

/// Faults that leave the gate wide open: none of them says that the provider is short of capacity.
const LOSSES: &str = "seed = \"wide\"\n[[fault]]\nkind = \"reset\"\nrate_ppm = 20000\nbilled = true\n\
                      [[fault]]\nkind = \"no-usage\"\nrate_ppm = 20000\nbilled = true\n";

#[test]
fn the_ceiling_holds_with_64_requests_really_in_flight() {
    // Long enough that a slow machine, too, has sent them all before the first is answered.
    let server = MockServer::start(LOSSES, Api::Messages, 60, Duration::from_millis(1_500));
    let played = disturbed(&server, 64, 64, 50, 30_000);
    assert_eq!(played.run.outcomes().len(), 180);
    assert!(played.kills >= 2, "only {} kills hit the run", played.kills);
    assert!(server.peak() >= 40 && server.peak() <= 64, "at most {} requests were in flight", server.peak());
}

#[test]
fn a_bill_beyond_the_reservation_stops_the_run_until_it_is_accepted() {
    let server = MockServer::start("[[fault]]\nkind = \"excess-usage\"\nnth = [5]", Api::Messages, TASKS, DELAY);
    let mut run = Run::new(&server, 1, 60_000);
    assert_eq!(run.finish(), Some(22), "{}", run.said());
    for sign in ["stopped: attempt 4 was billed ", "more than its request can hold", "--accept-overrun"] {
        assert!(run.said().contains(sign), "{sign}: {}", run.said());
    }
    let lines = server.ledger();
    assert_eq!(lines.len(), 5, "nothing leaves behind it");
    assert_eq!(Books::of(&run, &server).booked(), lines.iter().map(|line| line.billed).sum::<u64>());
    // It is no accident that passes: the run stays where it is until somebody has looked at the bill.
    assert_eq!(run.finish(), Some(22), "{}", run.said());
    assert!(run.said().contains("no ceiling can be kept"), "{}", run.said());
    assert_eq!(server.requests(), 5);
    run.accept_overrun();
    assert_eq!(run.finish(), Some(0), "{}", run.said());
    let verified = run.verified();
    assert!(verified.contains("deviation: an overrun was accepted (attempt 4 was billed $1."), "{verified}");
}
