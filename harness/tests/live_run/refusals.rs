//! What refuses a run, and that it does so before anything is asked.

use std::{fs, path::Path, time::Duration};

use assert_cmd::Command;
use bench_harness::{
    inputs::{Inputs, Overrides},
    ledger::{Event, Kind, Ledger, Run, RunId},
};
use bench_protocol::digest::Digest;

use crate::{
    common::{bench, stderr, stdout},
    server::MockServer,
    support::ARMS,
};

fn server() -> MockServer {
    MockServer::start(&ARMS, 20, |_, _| None, Duration::ZERO)
}

/// A ledger in which somebody has taken the look of the protocol's own model.
fn with_a_look(folder: &Path) {
    let inputs = Inputs::load(&Overrides::default()).unwrap();
    let run = Run {
        id: RunId::parse("r7k2m9xq0").unwrap(),
        lock: inputs.chain.current().unwrap().id().clone(),
        tasks: None,
        model: inputs.protocol.model.id.clone(),
        family: "levels".to_owned(),
        kind: Kind::Confirmatory,
        arms: vec!["raw".to_owned()],
        budget: 1,
        prices: Digest::of(b"prices"),
    };
    Ledger::at(folder.join("results/ledger.jsonl")).append("2026-11-29T12:00:00Z", Event::Started, &run).unwrap();
}

/// Nothing was asked, and no record was begun.
#[track_caller]
fn refused(command: &mut Command, folder: &Path, code: i32, signs: &[&str]) {
    let message = stderr(command, code);
    for sign in signs {
        assert!(message.contains(sign), "{sign}: {message}");
    }
    let errors: Vec<&str> = message.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "one sentence: {message}");
    assert!(!folder.join("results/runs").exists(), "a record was begun");
}

/// Whether the built-in lock's sizes reach the planned power; if not, no run under it is confirmatory.
fn lock_is_sufficient() -> bool {
    !Inputs::load(&Overrides::default()).unwrap().protocol.power.underpowered
}

#[test]
fn an_underpowered_lock_makes_every_run_exploratory_and_a_sufficient_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let document: serde_json::Value =
        serde_json::from_str(&stdout(bench(folder.path()).args(["plan", "--json"]), 0)).unwrap();
    let reasons = if lock_is_sufficient() { vec![] } else { vec!["the lock is underpowered"] };
    assert_eq!(document["exploratory"], serde_json::json!(reasons));
}

#[test]
fn a_second_confirmatory_look_is_refused_with_the_earlier_run_and_no_request() {
    let folder = tempfile::tempdir().unwrap();
    with_a_look(folder.path());
    let before = fs::read(folder.path().join("results/ledger.jsonl")).unwrap();
    let mut command = bench(folder.path());
    // A proxy that nobody listens at: a request would not get far, and would be another exit code.
    command.args(["--live", "--budget-usd", "80"]).env("ANTHROPIC_API_KEY", "sk-canary-0123456789abcdefghij");
    command.env("HTTPS_PROXY", "http://127.0.0.1:9");
    if lock_is_sufficient() {
        let signs = ["r7k2m9xq0", "2026-11-29T12:00:00Z", "bench resume", "--exploratory"];
        refused(&mut command, folder.path(), 21, &signs);
    } else {
        // No look is confirmatory, so none is the second one; this one ends at the proxy.
        refused(&mut command, folder.path(), 22, &["exploratory, it can never certify: the lock is underpowered"]);
    }
    assert_eq!(fs::read(folder.path().join("results/ledger.jsonl")).unwrap(), before);
}

#[test]
fn runs_that_cannot_be_paid_for_are_refused_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let bare = |arguments: &[&str]| {
        let mut command = bench(folder.path());
        command.arg("--live").args(arguments).env_remove("ANTHROPIC_API_KEY").env_remove("OPENAI_API_KEY");
        command
    };
    let check = |arguments: &[&str], signs: &[&str]| refused(&mut bare(arguments), folder.path(), 2, signs);
    check(&[], &["--budget-usd"]);
    check(&["--budget-usd", "80"], &["ANTHROPIC_API_KEY", "--api-key-env"]);
    check(&["--budget-usd", "80", "--provider", "openai"], &["OPENAI_API_KEY"]);
    check(&["--budget-usd", "80", "--model", "claude-haiku-4.5"], &["no price row", "claude-haiku-4-5-20251001"]);
    check(&["--budget-usd", "80", "--model", "claude-3-haiku-20240307"], &["retired"]);
    check(&["--budget-usd", "80", "--arms", "L9"], &["L9", "raw"]);
    check(&["--budget-usd", "80", "--arms", "R"], &["--suite"]);
    check(&["--budget-usd", "80", "--base-url", "api.anthropic.com"], &["https://"]);
    check(
        &["--budget-usd", "80", "--base-url", "http://127.0.0.1:1", "--api-key-env", "NO_SUCH_KEY"],
        &["NO_SUCH_KEY"],
    );
    let stray = stderr(bench(folder.path()).args(["--budget-usd", "80"]), 2);
    assert!(stray.contains("add --live"), "{stray}");
}

#[test]
fn a_run_that_calls_itself_plumbing_stays_on_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = bench(folder.path());
    command.args(["--live", "--budget-usd", "1", "--tasks", "5", "--mock-server", "--base-url", "https://192.0.2.1"]);
    refused(&mut command, folder.path(), 2, &["--mock-server", "192.0.2.1"]);
}

#[test]
fn own_prices_are_read_strictly() {
    let folder = tempfile::tempdir().unwrap();
    let row = |model: &str, input: &str| {
        format!(
            "schema = 1\n[[price]]\nprovider = \"own\"\nmodel = \"{model}\"\nstatus = \"active\"\nvalid_from = \"2026-01-01\"\n\
             as_of = \"2026-11-01\"\nsource = \"own\"\ninput = \"{input}\"\ncache_write_5m = \"0\"\ncache_write_1h = \"0\"\n\
             cache_read = \"0\"\noutput = \"0\"\n"
        )
    };
    let run = |text: String| {
        let path = folder.path().join("own.toml");
        fs::write(&path, text).unwrap();
        let mut command = bench(folder.path());
        command.args(["--live", "--budget-usd", "1", "--prices"]).arg(path).env("ANTHROPIC_API_KEY", "sk-x");
        command
    };
    refused(&mut run(row("m", "-1")), folder.path(), 30, &["own.toml", "negative"]);
    refused(&mut run("schema = 1\nprices = 3\n".to_owned()), folder.path(), 30, &["own.toml", "prices"]);
    let mut free = run(row("claude-haiku-4-5-20251001", "0"));
    refused(&mut free, folder.path(), 2, &["free", "--prices"]);
    let mut missing = bench(folder.path());
    missing.args(["--live", "--budget-usd", "1", "--prices", "nowhere.toml"]);
    refused(&mut missing, folder.path(), 30, &["nowhere.toml"]);
}

#[test]
fn an_endpoint_that_cannot_serve_is_named_before_anything_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let server = server();
    // A port that nobody listens at.
    let mut silent = bench(folder.path());
    silent.args(["--live", "--budget-usd", "1", "--base-url", "http://127.0.0.1:9", "--tasks", "5"]);
    refused(&mut silent, folder.path(), 22, &["127.0.0.1:9", "start the server"]);
    // TLS spoken to a server that has none.
    let mut tls = bench(folder.path());
    tls.args(["--live", "--budget-usd", "1", "--tasks", "5", "--base-url", &server.url().replace("http", "https")]);
    refused(&mut tls, folder.path(), 22, &["http://"]);
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_ceiling_below_the_first_request_stops_the_run_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = server();
    let mut command = bench(folder.path());
    command.args(["--live", "--mock-server", "--base-url", &server.url(), "--arms", "L0", "--tasks", "20"]);
    let message = stderr(command.args(["--budget-usd", "0.001"]), 12);
    assert!(message.contains("budget reached") && message.contains("bench resume r"), "{message}");
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_ceiling_that_may_not_hold_a_confirmatory_run_is_refused_with_one_that_would() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = bench(folder.path());
    let document: serde_json::Value = serde_json::from_str(&stdout(plan.args(["plan", "--json"]), 0)).unwrap();
    let upper = document["total"]["upper"].as_u64().unwrap();
    // Enough for the run that the protocol was written for, and not for a tenth of it.
    assert!((20_000_000_000_000..80_000_000_000_000).contains(&upper), "{upper}");
    let fits = upper.div_ceil(1_000_000_000_000).to_string();
    let mut command = bench(folder.path());
    command
        .args(["--live", "--budget-usd", "5"])
        .env("ANTHROPIC_API_KEY", "sk-x")
        .env("HTTPS_PROXY", "http://127.0.0.1:9");
    let next = format!("--budget-usd {fits} ");
    if lock_is_sufficient() {
        refused(&mut command, folder.path(), 2, &["cut short", &next, "--exploratory --tasks"]);
    } else {
        // An exploratory run may be cut short: it asks, and ends at the proxy.
        refused(&mut command, folder.path(), 22, &["the lock is underpowered"]);
    }
    let table = stdout(bench(folder.path()).args(["plan", "--budget-usd", &fits]), 0);
    assert!(table.contains("holds the upper estimate") && table.contains("power 0."), "{table}");
}
