//! Runs to the end, undisturbed and under faults.

use std::time::Duration;

use bench_protocol::rng::stream_id;
use bench_results::record::DrawId;
use serde_json::Value;

use crate::{
    common::{bench, stdout},
    server::{Fault, MockServer},
    support::{ARMS, assert_same_outcomes, live, only_run},
};

#[test]
fn a_run_over_http_is_the_run_in_process_at_any_concurrency_and_verifies() {
    for concurrency in ["1", "8", "64"] {
        let folder = tempfile::tempdir().unwrap();
        let server = MockServer::start(&ARMS, 40, |_, _| None, Duration::ZERO);
        let out = stdout(live(folder.path(), &server, 40).args(["--concurrency", concurrency, "--json"]), 0);
        let certificate: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(certificate["kind"], "plumbing");
        assert_eq!(certificate["confirmatory"], false);
        assert_eq!(certificate["record"]["attempts"], server.requests());
        assert!(server.asked().values().all(|&times| times == 1));
        let run = only_run(folder.path());
        assert_same_outcomes(&run, 40);
        let verified = stdout(bench(folder.path()).arg("verify").arg(&run), 0);
        assert!(verified.contains("equal byte for byte"), "{verified}");
        let runs = stdout(bench(folder.path()).args(["runs", "--json"]), 0);
        let runs: Value = serde_json::from_str(&runs).unwrap();
        assert_eq!((&runs[0]["state"], &runs[0]["episodes"]), (&"complete".into(), &120.into()));
        assert_eq!(runs[0]["spent"], certificate["spend"]["spent"]);
    }
}

/// A tenth of the draws each: told to wait, cut off, lost with a 500, spread over lines.
fn some_faults(draw: &DrawId, times: u32) -> Option<Fault> {
    match (stream_id(&format!("{}/{}/{}", draw.task, draw.arm, draw.turn)) % 10, times) {
        (0, 1) => Some(Fault::Status(429)),
        (1, 1) => Some(Fault::Cut),
        (2, _) => Some(Fault::Pretty),
        (3, 1 | 2) => Some(Fault::Status(500)),
        _ => None,
    }
}

#[test]
fn faults_cost_time_and_reservations_and_change_no_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, 40, some_faults, Duration::ZERO);
    let out = stdout(live(folder.path(), &server, 40).args(["--concurrency", "8", "--json"]), 0);
    let certificate: Value = serde_json::from_str(&out).unwrap();
    assert!(certificate["spend"]["unsettled"].as_u64().unwrap() > 0);
    assert_eq!(certificate["record"]["attempts"], server.requests());
    let run = only_run(folder.path());
    assert_same_outcomes(&run, 40);
    let verified = stdout(bench(folder.path()).arg("verify").arg(&run), 0);
    assert!(verified.contains("equal byte for byte"), "{verified}");
}
