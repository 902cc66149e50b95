//! `bench replay-server` as a process, asked by `bench catalog capture`.

mod common;

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use bench_tasks::catalog::Catalogs;
use common::{bench, stderr};

#[test]
fn capturing_a_replayed_catalog_gives_the_vendored_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for catalog in Catalogs::vendored().unwrap().catalogs {
        let output = bench(folder.path())
            .args(["catalog", "capture", "--settle", "0", "--", env!("CARGO_BIN_EXE_bench")])
            .args(["replay-server", "--server", &catalog.server])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout == *catalog.bytes, "{}: other bytes", catalog.server);
    }
}

#[test]
fn a_folder_of_catalogs_is_replayed_and_calls_are_in_the_log_when_they_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let catalogs = folder.path().join("catalogs");
    fs::create_dir(&catalogs).unwrap();
    fs::write(catalogs.join("mine.json"), r#"{"tools_list_pages":[{"tools":[{"name":"a"}]}]}"#).unwrap();
    let log = folder.path().join("log");
    let mut server = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["replay-server", "--catalogs"])
        .arg(&catalogs)
        .arg("--log")
        .arg(&log)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    writeln!(
        stdin,
        r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{{"name":"a","arguments":{{"k":1.0}}}}}}"#
    )
    .unwrap();
    let mut answer = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(server.stdout.take().unwrap()), &mut answer).unwrap();
    assert!(answer.starts_with(r#"{"jsonrpc":"2.0","id":"x","result":{"content""#), "{answer}");
    assert_eq!(
        fs::read_to_string(&log).unwrap(),
        "{\"server\":\"mine\",\"tool\":\"a\",\"arguments\":{\"k\":1.0},\"valid\":true}\n"
    );
    drop(stdin);
    assert_eq!(server.wait().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_replayed_is_said_before_anything_is_answered() {
    let message = stderr(bench(Path::new(".")).args(["replay-server", "--server", "gti"]), 2);
    assert!(message.contains("no catalog is called `gti`; there are everything, fetch"), "{message}");
    let message =
        stderr(bench(Path::new(".")).args(["replay-server", "--server", "git", "--log", "/no/such/folder/log"]), 30);
    assert!(message.contains("cannot write the log /no/such/folder/log"), "{message}");
}
