//! The published JSON Schemas against what the program really writes, and against what it must not write.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{fs, path::Path};

use common::{
    bench,
    schema::{self, fits, fits_exactly},
    stdout,
};
use serde_json::Value;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn everything_that_a_run_leaves_behind_fits_its_schema() {
    let scratch = tempfile::tempdir().unwrap();
    stdout(
        bench(scratch.path()).args([
            "--tasks",
            "60",
            "--arms",
            "raw-again,planted-loss,names-only,L0,L1,L2,L3,R",
            "--quiet",
        ]),
        0,
    );
    let runs = fs::read_dir(scratch.path().join("results/runs")).unwrap();
    let run = runs.map(|entry| entry.unwrap().path()).next().unwrap();
    fits_exactly("manifest", &json(&run.join("manifest.json")));
    fits_exactly("certificate", &json(&run.join("certificate.json")));
    for (file, name) in [("attempts.jsonl", "attempt"), ("episodes.jsonl", "episode")] {
        let validator = schema::named(name);
        let text = fs::read_to_string(run.join(file)).unwrap();
        assert!(text.lines().count() > 100);
        for line in text.lines() {
            fits(name, &validator, &serde_json::from_str(line).unwrap());
        }
        fits_exactly(name, &serde_json::from_str(text.lines().next().unwrap()).unwrap());
    }
    let folder = scratch.path();
    stdout(bench(folder).args(["key", "new", "--quiet"]), 0);
    let statement = stdout(bench(folder).arg("sign").arg(&run).args(["--key", "bench.key", "--json"]), 0);
    fits_exactly("statement", &serde_json::from_str(&statement).unwrap());
    fits_exactly("attestation", &json(&run.join("attestation.json")));
    let contents = stdout(bench(folder).arg("bundle").arg(&run).args(["--json", "--quiet"]), 0);
    fits_exactly("bundle", &serde_json::from_str(&contents).unwrap());
    let report = stdout(bench(folder).arg("verify").arg(&run).arg("--json"), 0);
    fits_exactly("verify-report", &serde_json::from_str(&report).unwrap());
    let report = stdout(bench(folder).arg("report").arg(&run).arg("--json"), 0);
    fits_exactly("report", &serde_json::from_str(&report).unwrap());
}

/// Members that are in no schema are refused however deep they stand, not only at the top.
#[test]
fn every_object_of_every_schema_is_closed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/schemas");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        seen += closed(&path.display().to_string(), &json(&path));
    }
    assert!(seen > 100, "only {seen} objects");
}

/// Objects with named members below a schema, all of which say what else they take.
#[track_caller]
fn closed(place: &str, schema: &Value) -> usize {
    let below = match schema {
        Value::Object(members) => members.iter().map(|(key, one)| closed(&format!("{place}/{key}"), one)).sum(),
        Value::Array(all) => all.iter().map(|one| closed(place, one)).sum(),
        _ => 0,
    };
    let named = schema.get("type").is_some_and(|kind| kind == "object") && schema.get("properties").is_some();
    assert!(!named || schema.get("additionalProperties").is_some(), "{place} takes anything");
    below + usize::from(named)
}

#[test]
fn protocol_and_published_counts_fit_their_schemas() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let protocol = fs::read_to_string(root.join("protocol/protocol.toml")).unwrap();
    fits_exactly("protocol", &serde_json::to_value(toml::from_str::<toml::Value>(&protocol).unwrap()).unwrap());
    let published = root.join("results/published/distil-2026-09");
    fits_exactly("published-counts", &json(&published.join("counts.json")));
    fits_exactly("reanalysis", &json(&published.join("reanalysis.json")));
}

#[test]
fn the_ledger_of_this_repository_fits_its_schema() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/ledger.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let validator = schema::named("ledger-entry");
    for line in text.lines() {
        fits("ledger-entry", &validator, &serde_json::from_str(line).unwrap());
    }
    assert!(!validator.is_valid(&serde_json::json!({ "n": 0 })));
}
