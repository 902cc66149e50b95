//! `bench report`: formats, targets, bytes, and what an open run does not show.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
};

use bench_harness::bundle::{Limits, unpack};
use common::{bench, schema::fits_exactly, stderr, stdout};

/// A small run of two levels.
fn small_run(folder: &Path) -> PathBuf {
    stdout(bench(folder).args(["--tasks", "80", "--arms", "L0,L2", "--quiet"]), 0);
    let mut runs = fs::read_dir(folder.join("results/runs")).unwrap();
    runs.next().unwrap().unwrap().path()
}

#[test]
fn every_format_of_one_run_and_the_same_bytes_wherever_it_lies() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, second) = (small_run(one.path()), small_run(two.path()));
    for format in ["--html", "--markdown", "--csv", "--csv=attempts", "--json"] {
        let report = |folder: &Path, run: &Path| stdout(bench(folder).arg("report").arg(run).arg(format), 0);
        let text = report(one.path(), &first);
        assert!(text == report(two.path(), &second), "{format} depends on where the record lies");
        assert!(!text.contains(one.path().to_str().unwrap()), "{format} holds a path of this machine");
    }
    let page = stdout(bench(one.path()).arg("report").arg(&first).arg("--html"), 0);
    for section in ["effects", "flow", "losses", "pairs", "definitions", "cost", "checks", "consort"] {
        assert!(page.contains(&format!("id=\"{section}\"")), "{section}");
    }
    assert!(page.contains("never evidence about a language model"));
    assert!(page.contains("equal byte for byte"), "the checks of a verification stand in the page");
    let view: serde_json::Value =
        serde_json::from_str(&stdout(bench(one.path()).arg("report").arg(&first).arg("--json"), 0)).unwrap();
    assert_eq!(view["schema"], "bench/report/1");
    fits_exactly("report", &view);
    assert_eq!(view["outcomes"]["definitions"]["tools"].as_array().unwrap().len(), 78);
}

#[test]
fn a_run_is_named_by_its_id_and_written_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let id = run.file_name().unwrap();
    let said = stderr(bench(folder.path()).arg("report").arg(id).args(["--html", "-o", "page.html"]), 0);
    assert!(said.contains("page.html"), "{said}");
    assert!(fs::read_to_string(folder.path().join("page.html")).unwrap().starts_with("<!DOCTYPE html>"));
    let page = fs::read(folder.path().join("page.html")).unwrap();
    let begun = &id.to_str().unwrap()[..4];
    assert!(stdout(bench(folder.path()).args(["report", begun, "--html"]), 0).into_bytes() == page, "by its beginning");
    // A bundle takes the page along, and is itself something that can be reported on.
    stdout(bench(folder.path()).arg("bundle").arg(id).args(["-o", "b.tar.gz", "--quiet"]), 0);
    let unpacked = tempfile::tempdir().unwrap();
    unpack(&folder.path().join("b.tar.gz"), unpacked.path(), &Limits::default()).unwrap();
    assert!(fs::read(unpacked.path().join("report.html")).unwrap() == page, "the page in the bundle");
    let of_bundle = stdout(bench(folder.path()).args(["report", "b.tar.gz", "--html"]), 0);
    assert!(of_bundle.contains("each with its digest") && of_bundle.contains("id=\"effects\""));
    let refused = stderr(bench(folder.path()).arg("report").arg(id).args(["--html", "-o", "no/such/page.html"]), 30);
    assert!(refused.contains("no/such"), "{refused}");
}

#[test]
fn a_page_that_nobody_verified_says_so_and_one_that_fails_ends_with_the_code_of_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let of = |args: &[&str], code: i32| stdout(bench(folder.path()).arg("report").arg(&run).args(args), code);
    assert!(of(&["--html", "--unverified"], 0).contains("nobody recomputed it"));
    let path = run.join("episodes.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"turns\":1", "\"turns\":2", 1)).unwrap();
    for format in ["--html", "--markdown", "--json"] {
        let text = of(&[format], 44);
        assert!(text.contains("does not verify") && !text.contains("would certify"), "{format}");
    }
    fits_exactly("report", &serde_json::from_str(&of(&["--json"], 44)).unwrap());
}

#[test]
fn one_format_must_be_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    for formats in [vec![], vec!["--html", "--json"], vec!["--html", "--markdown"], vec!["--csv", "--markdown"]] {
        stderr(bench(folder.path()).arg("report").arg(&run).args(&formats), 2);
    }
}

#[test]
fn an_open_run_shows_its_flow_and_no_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let run = small_run(folder.path());
    let manifest = fs::read_to_string(run.join("manifest.json")).unwrap();
    fs::write(run.join("manifest.json"), manifest.replace("\"complete\": true", "\"complete\": false")).unwrap();
    fs::remove_file(run.join("certificate.json")).unwrap();
    let page = stdout(bench(folder.path()).arg("report").arg(&run).arg("--html"), 0);
    assert!(page.contains("No verdict yet") && page.contains("id=\"flow\""));
    for outcome in ["id=\"effects\"", "id=\"losses\"", "id=\"pairs\"", "decided"] {
        assert!(!page.contains(outcome), "{outcome}");
    }
    let rows = stdout(bench(folder.path()).arg("report").arg(&run).arg("--csv"), 0);
    assert!(!rows.contains("true") && !rows.contains("decided"), "a row of an open run shows an outcome");
    let mut lines = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let columns = lines.next().unwrap();
    let at = ["invalid_calls", "rejected_calls"].map(|name| columns.iter().position(|column| *column == name).unwrap());
    assert!(lines.all(|row| at.iter().all(|&at| row[at].is_empty())), "what was wrong is an outcome, too");
    let view = stdout(bench(folder.path()).arg("report").arg(&run).arg("--json"), 0);
    fits_exactly("report", &serde_json::from_str(&view).unwrap());
}
