//! A live pilot: metered, on record, resumed and verified as any run, on dev frames.

use std::{fs, time::Duration};

use bench_harness::{
    inputs::{Inputs, Overrides},
    run::{
        pilot::{PilotSpec, spec},
        prepare::Prepared,
    },
};
use bench_results::record::Record;
use serde_json::Value;

use crate::{
    common::{bench, stderr, stdout},
    server::MockServer,
    support::only_run,
};

#[test]
fn a_live_pilot_stops_at_its_ceiling_goes_on_and_estimates_what_the_scripted_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = Inputs::load(&Overrides::default()).unwrap();
    let asked = PilotSpec { levels: vec!["L0".to_owned()], per_frame: 1, seed: "pilot".to_owned() };
    let prepared = Prepared::new(&inputs, &spec(&inputs, &asked).unwrap()).unwrap();
    let server = MockServer::over(&inputs, &prepared, |_, _| None, Duration::ZERO);
    let pilot = ["pilot", "--arms", "L0", "--per-frame", "1", "--json"];
    let live = ["--live", "--mock-server", "--base-url", &server.url(), "--budget-usd"];
    let stopped = stderr(bench(folder.path()).args(pilot).args(live).arg("0.5"), 12);
    assert!(
        stopped.contains("a pilot: dev frames are never scored") && stopped.contains("bench resume r"),
        "{stopped}"
    );
    let before = server.requests();
    assert!(before > 0 && server.billed() <= 500_000_000_000);

    let run = only_run(folder.path());
    let id = run.file_name().unwrap().to_str().unwrap();
    let resumed = stdout(bench(folder.path()).args(["resume", id, "--budget-usd", "20", "--json"]), 0);
    let (seen, scripted): (Value, Value) = (
        serde_json::from_str(&resumed).unwrap(),
        serde_json::from_str(&stdout(bench(folder.path()).args(pilot), 0)).unwrap(),
    );
    assert_eq!(seen["scripted"], true, "the mock server is a scripted model");
    assert_eq!(seen["pilot"]["accuracy"], scripted["pilot"]["accuracy"]);
    assert_eq!(seen["pilot"]["declare"], scripted["pilot"]["declare"]);
    assert!(seen["pilot"]["arms"].as_array().unwrap().iter().all(|arm| arm["billed"].as_f64().unwrap() > 0.0));

    let record = Record::open(&run).unwrap();
    let manifest = record.manifest();
    assert!(manifest.is_pilot() && manifest.complete && !manifest.confirmatory && manifest.lock.is_none());
    let ledger = fs::read_to_string(folder.path().join("results/ledger.jsonl")).unwrap();
    assert!(ledger.lines().all(|line| line.contains("\"family\":\"pilot\"") && !line.contains("\"seen\"")), "{ledger}");
    stdout(bench(folder.path()).args(["verify", run.to_str().unwrap()]), 0);
}

#[test]
fn a_pilot_takes_the_arguments_of_live_runs_with_live_alone() {
    let folder = tempfile::tempdir().unwrap();
    let stray = stderr(bench(folder.path()).args(["pilot", "--budget-usd", "1"]), 2);
    assert!(stray.contains("--budget-usd is for live runs: add --live"), "{stray}");
    let live = ["pilot", "--live", "--suite", "results", "--budget-usd", "1"];
    let other = stderr(bench(folder.path()).args(live).env("ANTHROPIC_API_KEY", "sk-x"), 2);
    assert!(other.contains("only that one has dev frames"), "{other}");
}
