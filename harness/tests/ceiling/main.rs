//! The ceiling: whatever a provider does, and however often a run is killed, what it bills stays within the budget, the
//! books agree with its own, and nothing is lost.
//!
//! Seeded fault scripts, each at concurrency 1, 8 and 64. `BENCH_CEILING_SCRIPTS` sets their number (`just ceiling`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod books;
mod run;
mod scripts;
mod server;

use bench_protocol::rng;

use crate::{books::Books, run::Run, server::MockServer};

/// Scripts unless the environment says otherwise: what a continuous integration can wait for.
const SCRIPTS: u64 = 6;

/// Starts a new run may take, kills and stops together: far more than any script causes.
const STARTS: u32 = 400;

/// Plays a script without kills, and with more money than it needs.
fn undisturbed(script: &str) -> Run {
    let server = MockServer::start(script);
    let mut run = Run::new(&server, 16, "1000");
    for _ in 0..STARTS {
        if run.finish() == Some(0) {
            return run;
        }
    }
    panic!("the undisturbed run does not end: {}", run.said());
}

/// Plays a script with kills at random places and a budget that grows only where it stops the run.
fn disturbed(script: &str, seed: u64, concurrency: u32) -> Run {
    let server = MockServer::start(script);
    let mut rng = rng::stream([9; 32], seed);
    let mut run = Run::new(&server, concurrency, "0.60");
    let mut kills = 6;
    for _ in 0..STARTS {
        let patience = (kills > 0).then(|| rng::index(&mut rng, 40));
        let code = run.for_a_while(&server, patience);
        let books = Books::of(&run, &server);
        books.check(run.budget());
        match code {
            None => kills -= 1,
            Some(0) => {
                books.check_complete();
                return run;
            }
            Some(12) => run.raise(),
            Some(22) => {}
            other => panic!("{other:?}: {}", run.said()),
        }
    }
    panic!("the run does not end: {}", run.said());
}

#[test]
fn the_ceiling_holds_the_books_agree_and_nothing_is_lost() {
    let scripts = std::env::var("BENCH_CEILING_SCRIPTS").ok().and_then(|number| number.parse().ok()).unwrap_or(SCRIPTS);
    for seed in 0..scripts {
        let script = scripts::seeded(seed);
        let expected = undisturbed(&script).outcomes();
        for concurrency in [1, 8, 64] {
            let run = disturbed(&script, 3 * seed + u64::from(concurrency), concurrency);
            assert_eq!(run.outcomes(), expected, "script {seed} at concurrency {concurrency}");
        }
    }
}

#[test]
fn a_bill_beyond_the_reservation_stops_the_run_and_the_books_say_by_how_much() {
    let server = MockServer::start("[[fault]]\nkind = \"excess-usage\"\nnth = [5]");
    let mut run = Run::new(&server, 1, "60");
    let code = run.finish();
    assert!(code.is_some_and(|code| code != 0), "{}", run.said());
    assert!(run.said().contains("more than its request can hold"), "{}", run.said());
    let lines = server.ledger();
    assert_eq!(lines.len(), 5, "nothing leaves behind it");
    let books = Books::of(&run, &server);
    assert_eq!(books.booked(), lines.iter().map(|line| line.billed).sum::<u64>());
}
