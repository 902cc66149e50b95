//! A key is sent, and is nowhere else.

use std::{fs, path::Path, time::Duration};

use assert_cmd::Command;
use bench_results::record::DrawId;
use serde_json::Value;

use crate::{
    common::bench,
    server::{Fault, MockServer},
    support::{ARMS, live, only_run},
};

const CANARY: &str = "sk-canary-0123456789abcdefghij";

/// Files below a folder that hold the text.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn the_key_is_in_no_file_and_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, 10, |_, _| None, Duration::ZERO);
    let output = live(folder.path(), &server, 10)
        .args(["--api-key-env", "BENCH_TEST_KEY"])
        .env("BENCH_TEST_KEY", CANARY)
        .env("RUST_BACKTRACE", "full")
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(server.saw_key(), "it was sent");
    for stream in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(stream).contains(CANARY));
    }
    assert_eq!(holding(folder.path(), CANARY), Vec::<String>::new());
    assert_eq!(holding(folder.path(), "BENCH_TEST_KEY").len(), 1, "only its name is on record");
}

/// Runs a command with the key in a variable; it must end with this code and show no key.
#[track_caller]
fn silent(command: &mut Command, code: i32) -> String {
    let output = command.env("BENCH_TEST_KEY", CANARY).env("RUST_BACKTRACE", "full").output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(!text.contains(CANARY), "{text}");
    text
}

#[test]
fn a_provider_that_quotes_the_key_gets_it_into_no_file_and_no_output() {
    let folder = tempfile::tempdir().unwrap();
    // Quoted where the draw is asked again at the end, and where the run stops.
    let quoting = |draw: &DrawId, times| match (&*draw.arm, times) {
        ("L0", 1) => Some(Fault::Echo(500)),
        ("L2", 1) => Some(Fault::Echo(401)),
        _ => None,
    };
    let server = MockServer::start(&ARMS, 3, quoting, Duration::ZERO);
    let mut first = live(folder.path(), &server, 3);
    let text = silent(first.args(["--api-key-env", "BENCH_TEST_KEY", "--concurrency", "1"]), 22);
    assert!(text.contains("[api key]") && text.contains("status 401"), "{text}");
    assert!(server.saw_key());
    // It is resumed with the key, and stopped by it again, until every draw was quoted once.
    let stops = (0..20).take_while(|_| {
        let output = bench(folder.path()).args(["resume", "r"]).env("BENCH_TEST_KEY", CANARY).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(!text.contains(CANARY), "{text}");
        output.status.code() == Some(22)
    });
    assert!((1..20).contains(&stops.count()));
    let without = bench(folder.path()).args(["resume", "r"]).output().unwrap();
    assert_eq!(without.status.code(), Some(2), "it is complete");
    assert_eq!(holding(folder.path(), CANARY), Vec::<String>::new());
    assert!(!holding(folder.path(), "[api key]").is_empty(), "what was quoted is on record without the key");
}

#[test]
fn a_key_in_the_place_of_a_name_is_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    for key in ["sk-ant-api03-0123456789abcdef", "gsk_0123456789abcdef"] {
        let mut command = bench(folder.path());
        let output = command.args(["--live", "--budget-usd", "80", "--api-key-env", key]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("--api-key-env") && !message.contains(key), "{message}");
    }
}

#[test]
fn a_key_of_the_provider_goes_to_no_other_address_unless_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, 4, |_, _| None, Duration::ZERO);
    let output = live(folder.path(), &server, 4).env("ANTHROPIC_API_KEY", CANARY).output().unwrap();
    assert!(output.status.success());
    assert!(!server.saw_key());
    let unnamed = bench(folder.path()).args(["runs"]).env("ANTHROPIC_API_KEY", CANARY).output().unwrap();
    assert!(!String::from_utf8_lossy(&unnamed.stdout).contains(CANARY));
}

#[test]
fn a_record_does_not_say_which_variable_goes_to_a_stranger() {
    let folder = tempfile::tempdir().unwrap();
    let server = MockServer::start(&ARMS, 4, |_, _| Some(Fault::Status(500)), Duration::ZERO);
    let mut command = live(folder.path(), &server, 4);
    assert!(!command.output().unwrap().status.success());
    let terms = only_run(folder.path()).join("inputs/live.json");
    let mut value: Value = serde_json::from_slice(&fs::read(&terms).unwrap()).unwrap();
    value["base_url"] = "https://somewhere.invalid/v1".into();
    value["key_variable"] = "BENCH_TEST_KEY".into();
    fs::write(&terms, value.to_string()).unwrap();
    let mut resume = bench(folder.path());
    let said = silent(resume.args(["resume", "r"]), 2);
    let words = ["BENCH_TEST_KEY to https://somewhere.invalid", "--api-key-env BENCH_TEST_KEY"];
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
}
