//! Seeded fault scripts.

use std::fmt::Write as _;

use bench_protocol::rng;

/// Faults of the transport, each with what it needs beside its rate. Waits are short: only time would be lost.
const FAULTS: [(&str, &str); 18] = [
    ("rate-limited", "wait_ms = 1"),
    ("overloaded", "wait_ms = 1\nbilled = true"),
    ("overloaded", "wait_ms = 1\nbilled = false"),
    ("unavailable", "wait_ms = 1\nbilled = true"),
    ("server-error", "billed = true"),
    ("server-error", "billed = false"),
    ("timeout", "billed = true"),
    ("slow-headers", "wait_ms = 30"),
    ("slow-body", "wait_ms = 4"),
    ("cut-body", "billed = true"),
    ("wrong-json", "billed = true"),
    ("wrong-content-type", "billed = false"),
    ("wrong-encoding", "billed = true"),
    ("no-usage", "billed = true"),
    ("reset", "billed = true"),
    ("reset", "billed = false"),
    ("hang", "wait_ms = 40\nbilled = true"),
    ("invalid-request", ""),
];

/// Faults that change what a draw ends with: the undisturbed run has them too.
const CONTENT: [&str; 4] = ["duplicate-ids", "parallel-calls", "refusal", "max-tokens"];

/// Faults that stop a run until it is resumed.
const STOPS: [&str; 2] = ["spend-cap", "unauthorized"];

/// The script of this seed: every kind at a rate of its own, some of them not at all.
pub(crate) fn seeded(seed: u64) -> String {
    let mut rng = rng::stream([3; 32], seed);
    let mut rate = |below: u64| if rng::index(&mut rng, 3) == 0 { 0 } else { rng::index(&mut rng, below) };
    let mut script = format!("seed = \"{seed}\"\n");
    let mut push = |kind: &str, more: &str, rate: u64| {
        if rate > 0 {
            // Writing to a string does not fail.
            let _ = write!(script, "[[fault]]\nkind = \"{kind}\"\nrate_ppm = {rate}\n{more}\n");
        }
    };
    // First, since the first rule that fits wins: a late or unpriced reply to one try would else hide them from it, and
    // what a draw ends with would depend on which try was answered.
    for kind in CONTENT {
        push(kind, "", rate(20_000));
    }
    for (kind, more) in FAULTS {
        push(kind, more, rate(25_000));
    }
    for kind in STOPS {
        push(kind, "", rate(4_000));
    }
    script
}
