//! The ceiling: whatever a provider does, and however often a run is killed, what it bills stays within the budget, the
//! books agree with its own, and nothing is lost.
//!
//! Seeded fault scripts, each at one of the concurrencies 1, 8 and 64 in turn. `BENCH_CEILING_SCRIPTS` names another number
//! of scripts, each then at all three (`just ceiling`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod books;
mod run;
mod scripts;
mod server;

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use bench_protocol::rng;

use crate::{books::Books, run::Run, server::MockServer};

/// Scripts unless the environment says otherwise: what a continuous integration can wait for.
const SCRIPTS: u64 = 6;

/// Concurrencies of the runs.
const CONCURRENCIES: [u32; 3] = [1, 8, 64];

/// Starts a run may take, kills and stops together: far more than any script causes.
const STARTS: u32 = 400;

/// Kills of a run.
const KILLS: u32 = 4;

/// Plays a script without kills, and with more money than it needs.
fn undisturbed(script: &str) -> Run {
    let server = MockServer::start(script);
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

/// Plays a script with kills at random places and a budget that grows only where it stops the run.
fn disturbed(script: &str, seed: u64, concurrency: u32) -> Disturbed {
    let server = MockServer::start(script);
    let mut rng = rng::stream([9; 32], seed);
    let mut played = Disturbed { run: Run::new(&server, concurrency, 60), kills: 0, raises: 0 };
    for _ in 0..STARTS {
        let patience = (played.kills < KILLS).then(|| rng::index(&mut rng, 14));
        let code = played.run.for_a_while(&server, patience);
        let books = Books::of(&played.run, &server);
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
                    let expected = undisturbed(&script).outcomes();
                    for (turn, concurrency) in (0..).zip(CONCURRENCIES) {
                        if asked.is_none() && seed % 3 != turn {
                            continue;
                        }
                        let played = disturbed(&script, 3 * seed + turn, concurrency);
                        assert_eq!(played.run.outcomes(), expected, "script {seed} at concurrency {concurrency}");
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

#[test]
fn a_bill_beyond_the_reservation_stops_the_run_and_the_books_say_by_how_much() {
    let server = MockServer::start("[[fault]]\nkind = \"excess-usage\"\nnth = [5]");
    let mut run = Run::new(&server, 1, 60_000);
    let code = run.finish();
    assert!(code.is_some_and(|code| code != 0), "{}", run.said());
    assert!(run.said().contains("stopped: attempt 4 was billed $1.0"), "{}", run.said());
    let lines = server.ledger();
    assert_eq!(lines.len(), 5, "nothing leaves behind it");
    let books = Books::of(&run, &server);
    assert_eq!(books.booked(), lines.iter().map(|line| line.billed).sum::<u64>());
}
