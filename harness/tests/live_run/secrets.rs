//! A key is sent, and is nowhere else.

use std::{fs, path::Path, time::Duration};

use crate::{
    common::bench,
    server::MockServer,
    support::{ARMS, live},
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
