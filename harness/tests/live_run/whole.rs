//! Runs to the end, undisturbed and under faults.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

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
fn what_stays_missing_is_asked_again_and_counted_as_missing_only_when_somebody_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, 40, two_lost, Duration::ZERO);
    let message = stderr(live(folder.path(), &server, 40).args(["--concurrency", "8"]), 22);
    assert!(message.contains("have no outcome") && message.contains("--accept-missing"), "{message}");
    // The schedule, the first round, and three rounds that bring nothing back. One more part of the run does the same.
    assert!(server.asked().iter().all(|(draw, &times)| times == if two_lost(draw, 1).is_some() { 4 } else { 1 }));
    let out = stdout(bench(folder.path()).args(["resume", "r", "--accept-missing", "--json"]), 0);
    let certificate: Value = serde_json::from_str(&out).unwrap();
    let lost = server.asked().iter().filter(|(draw, _)| two_lost(draw, 1).is_some()).count() as u64;
    assert!(lost > 0);
    assert!(server.asked().iter().all(|(draw, &times)| times == if two_lost(draw, 1).is_some() { 8 } else { 1 }));
    assert!(certificate["deviations"].to_string().contains("missing episodes were accepted"));
    let arms = certificate["arms"].as_array().unwrap();
    let missing: u64 = arms.iter().map(|arm| arm["flow"]["missing"].as_u64().unwrap()).sum();
    assert_eq!(missing, lost);
    let run = only_run(folder.path());
    let verified = stdout(bench(folder.path()).arg("verify").arg(&run), 0);
    assert!(verified.contains("equal byte for byte"), "{verified}");
}

/// Whether anybody is there to answer.
static OUT: AtomicBool = AtomicBool::new(true);

#[test]
fn an_outage_stops_the_run_and_it_goes_on_when_the_outage_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let down = |_: &DrawId, _| OUT.load(Ordering::SeqCst).then_some(Fault::Status(500));
    let server = MockServer::start(&ARMS, 40, down, Duration::ZERO);
    let message = stderr(live(folder.path(), &server, 40).args(["--concurrency", "4"]), 22);
    assert!(message.contains("requests in a row failed") && message.contains("bench resume r"), "{message}");
    assert!((20..=24).contains(&server.requests()), "{}", server.requests());
    let run = only_run(folder.path());
    assert_eq!(std::fs::read_to_string(run.join("episodes.jsonl")).unwrap(), "");
    OUT.store(false, Ordering::SeqCst);
    stdout(bench(folder.path()).args(["resume", "r"]), 0);
    assert_same_outcomes(&run, 40);
    let verified = stdout(bench(folder.path()).arg("verify").arg(&run), 0);
    assert!(verified.contains("equal byte for byte"), "{verified}");
}

/// The status that the account meets with; 0 where all is well.
static ACCOUNT: std::sync::atomic::AtomicU16 = std::sync::atomic::AtomicU16::new(0);

#[test]
fn an_account_that_is_refused_costs_no_episode() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |_: &DrawId, _| match ACCOUNT.load(Ordering::SeqCst) {
        0 => None,
        status => Some(Fault::Status(status)),
    };
    let server = MockServer::start(&ARMS, 40, refused, Duration::ZERO);
    // A refusal that looks like the request's own is the account's where every arm meets it.
    ACCOUNT.store(400, Ordering::SeqCst);
    let message = stderr(live(folder.path(), &server, 40).args(["--concurrency", "4"]), 22);
    assert!(message.contains("requests in a row failed") && message.contains("status 400"), "{message}");
    assert!((20..=24).contains(&server.requests()), "{}", server.requests());
    ACCOUNT.store(403, Ordering::SeqCst);
    let before = server.requests();
    let message = stderr(bench(folder.path()).args(["resume", "r"]), 22);
    assert!(message.contains("serves this run no longer: status 403"), "{message}");
    assert!(message.contains("check the key, its workspace"), "{message}");
    assert!(server.requests() <= before + 4, "{}", server.requests());
    ACCOUNT.store(0, Ordering::SeqCst);
    stdout(bench(folder.path()).args(["resume", "r"]), 0);
    assert_same_outcomes(&only_run(folder.path()), 40);
}

/// Every third draw is answered without a word about its output.
fn unstated(draw: &DrawId, _times: u32) -> Option<Fault> {
    let third = stream_id(&format!("{}/{}/{}", draw.task, draw.arm, draw.turn)).is_multiple_of(3);
    third.then_some(Fault::NoOutput)
}

#[test]
fn a_reply_whose_usage_leaves_the_output_out_keeps_its_reservation() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, 20, unstated, Duration::ZERO);
    let out = stdout(live(folder.path(), &server, 20).args(["--concurrency", "4", "--json"]), 0);
    let certificate: Value = serde_json::from_str(&out).unwrap();
    let asked = server.asked();
    let kept = asked.keys().filter(|draw| unstated(draw, 1).is_some()).count() as u64;
    // What a request can hold is far more than what it is billed.
    assert!(kept > 0 && certificate["spend"]["unsettled"].as_u64().unwrap() > kept * 10_000_000_000);
    assert!(certificate["spend"]["spent"].as_u64().unwrap() < server.billed(), "the rest is settled by its usage");
    let run = only_run(folder.path());
    assert_same_outcomes(&run, 20);
    let verified = stdout(bench(folder.path()).arg("verify").arg(&run), 0);
    assert!(verified.contains("equal byte for byte"), "{verified}");
}

#[test]
fn usage_beyond_what_money_can_count_stops_the_run_and_is_no_end_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let first = |draw: &DrawId, times| (&*draw.arm == "L2" && draw.turn == 2 && times == 1).then_some(Fault::Endless);
    let server = MockServer::start(&ARMS, 4, first, Duration::ZERO);
    // At a million dollars per million tokens, 2^32 of them are more than 64 bits of pico-dollars.
    let prices = folder.path().join("own.toml");
    let row = "schema = 1\n[[price]]\nprovider = \"own\"\nmodel = \"claude-haiku-4-5-20251001\"\nstatus = \"active\"\n\
               valid_from = \"2026-01-01\"\nas_of = \"2026-11-01\"\nsource = \"own\"\ninput = \"1\"\ncache_write_5m = \"1.25\"\n\
               cache_write_1h = \"2\"\ncache_read = \"0.1\"\noutput = \"1000000\"\n";
    std::fs::write(&prices, row).unwrap();
    let mut command = bench(folder.path());
    command.args(["--live", "--mock-server", "--base-url", &server.url(), "--arms", "L0,L2", "--tasks", "4"]);
    command.args(["--budget-usd", "1000000", "--concurrency", "1", "--prices"]).arg(&prices);
    let message = stderr(&mut command, 22);
    assert!(message.contains("more than its request can hold"), "{message}");
    let stops =
        (0..12).take_while(|_| bench(folder.path()).args(["resume", "r"]).output().unwrap().status.code() == Some(22));
    assert!(stops.count() < 12, "it never ends");
    let run = only_run(folder.path());
    let manifest = std::fs::read_to_string(run.join("manifest.json")).unwrap();
    assert!(manifest.contains("\"complete\": true"), "{manifest}");
    let verified = stdout(bench(folder.path()).arg("verify").arg(&run), 0);
    assert!(verified.contains("equal byte for byte"), "{verified}");
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
