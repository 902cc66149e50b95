//! `bench mock-server` as a process: its one product line, its end, and what it refuses to start with.

mod common;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Command, Stdio},
};

use common::{bench, stderr};
use rustix::process::{Pid, Signal, kill_process};

#[test]
fn it_prints_its_address_serves_keeps_books_and_ends_with_an_interrupt() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["mock-server", "--ledger", "billed.jsonl"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .write_all(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
              content-length: 69\r\n\r\n\
              {\"model\":\"scripted\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello?!\"}]}",
        )
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"chat.completion\""), "{answer}");
    assert!(fs::read_to_string(folder.path().join("billed.jsonl")).unwrap().contains("\"model\":\"scripted\""));
    kill_process(Pid::from_child(&server), Signal::INT).unwrap();
    let output = server.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), b"billed 0 pico-dollars\n".as_slice()));
}

/// What `bench mock-server` says with these arguments, which it must refuse.
fn refusal(folder: &Path, arguments: &[&str], code: i32) -> String {
    stderr(bench(folder).arg("mock-server").args(arguments), code)
}

#[test]
fn what_it_cannot_start_with_is_named_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("faults.toml"), "schema = 1\n[[fault]]\nkind = \"reset\"\nnth = [1]\n").unwrap();
    fs::write(folder.path().join("torn.jsonl"), "{\"n\":1").unwrap();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap().to_string();
    let script = refusal(folder.path(), &["--script", "faults.toml"], 30);
    assert!(script.contains("faults.toml: fault 1 (`reset`): say whether it is billed"), "{script}");
    let missing = refusal(folder.path(), &["--script", "nowhere.toml"], 30);
    assert!(missing.contains("nowhere.toml: "), "{missing}");
    let torn = refusal(folder.path(), &["--ledger", "torn.jsonl"], 30);
    assert!(torn.contains("torn.jsonl: the last line is torn"), "{torn}");
    let listen = refusal(folder.path(), &["--listen", &taken], 2);
    assert!(listen.contains("name another --listen"), "{listen}");
}
