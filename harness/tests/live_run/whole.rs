//! Runs to the end, undisturbed and under faults.

use std::time::Duration;

use bench_protocol::rng::stream_id;
use bench_results::record::DrawId;
use serde_json::Value;

use crate::{
    common::{bench, stderr, stdout},
    forge::{claim, line},
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

/// Two draws that nobody ever answers.
fn two_lost(draw: &DrawId, _times: u32) -> Option<Fault> {
    let lost = stream_id(&format!("{}/{}", draw.task, draw.arm)) % 40 == 1;
    lost.then_some(Fault::Status(500))
}

#[test]
fn what_stays_missing_is_asked_again_and_then_counted_as_missing() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, 40, two_lost, Duration::ZERO);
    let out = stdout(live(folder.path(), &server, 40).args(["--concurrency", "8", "--json"]), 0);
    let certificate: Value = serde_json::from_str(&out).unwrap();
    let lost = server.asked().iter().filter(|(draw, _)| two_lost(draw, 1).is_some()).count() as u64;
    assert!(lost > 0);
    // The schedule, the first round, and three rounds that bring nothing back.
    assert!(server.asked().iter().all(|(draw, &times)| times == if two_lost(draw, 1).is_some() { 4 } else { 1 }));
    let arms = certificate["arms"].as_array().unwrap();
    let missing: u64 = arms.iter().map(|arm| arm["flow"]["missing"].as_u64().unwrap()).sum();
    assert_eq!(missing, lost);
    let run = only_run(folder.path());
    let verified = stdout(bench(folder.path()).arg("verify").arg(&run), 0);
    assert!(verified.contains("equal byte for byte"), "{verified}");
}

#[test]
fn an_outage_stops_the_run_and_it_goes_on_when_the_outage_is_over() {
    let folder = tempfile::tempdir().unwrap();
    // The first time that anything is asked, nobody is there to answer.
    let server = MockServer::start(&ARMS, 40, |_, times| (times == 1).then_some(Fault::Status(500)), Duration::ZERO);
    let message = stderr(live(folder.path(), &server, 40).args(["--concurrency", "4"]), 22);
    assert!(message.contains("requests in a row failed") && message.contains("bench resume r"), "{message}");
    assert!((20..=24).contains(&server.requests()), "{}", server.requests());
    let episodes = std::fs::read_to_string(only_run(folder.path()).join("episodes.jsonl")).unwrap();
    assert_eq!(episodes, "");
}

#[test]
fn an_arm_whose_surface_is_refused_is_not_run_and_the_record_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, 20, |_, _| None, Duration::ZERO);
    server.refuse("get_tool_schema");
    let out = stdout(live(folder.path(), &server, 20).arg("--json"), 0);
    let certificate: Value = serde_json::from_str(&out).unwrap();
    let of_lazy =
        |list: &str| certificate[list].as_array().unwrap().iter().find(|entry| entry["arm"] == "L2").unwrap().clone();
    // Without its controls no level of this short run gets a verdict; what this one has is no numbers either.
    assert_eq!(of_lazy("levels")["endpoints"], serde_json::json!({}));
    assert_eq!(of_lazy("arms")["flow"]["attempted"], 0);
    let deviations = certificate["deviations"].to_string();
    assert!(deviations.contains("`L2` was not run") && deviations.contains("no such schema"), "{deviations}");
    assert!(server.asked().keys().all(|draw| &*draw.arm != "L2"));
    let run = only_run(folder.path());
    let verified = stdout(bench(folder.path()).arg("verify").arg(&run), 0);
    assert!(verified.contains("equal byte for byte"), "{verified}");
    claim(&run, |m| m["deviations"].as_array_mut().unwrap().retain(|one| !one["what"].to_string().contains("L2")));
    let silent = stdout(bench(folder.path()).arg("verify").arg(&run), 41);
    assert!(line(&silent, "FAIL", "kind").contains("`L2` was not run"), "{silent}");
}
