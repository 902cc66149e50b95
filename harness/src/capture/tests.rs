//! Against servers scripted in `/bin/sh`: each reads the client's lines and prints what the test wants.

use std::time::{Duration, Instant};

use super::*;

const INIT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"my server/x","version":"1"}}}"#;

fn options(script: &str) -> CaptureOptions {
    let mut options = CaptureOptions::new(["/bin/sh", "-c", script].map(OsString::from).to_vec());
    options.timeout = Duration::from_secs(20);
    options.settle = Duration::from_millis(200);
    options
}

/// A server that answers `initialize`, takes `initialized`, then does as `rest` says.
fn after_start(rest: &str) -> String {
    format!("read a; printf '%s\\n' '{INIT}'; read b; {rest}")
}

fn say(line: &str) -> String {
    format!("printf '%s\\n' '{line}'; ")
}

fn page(id: u32, result: &str) -> String {
    format!("read l{id}; {}", say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)))
}

fn run(rest: &str) -> Result<Captured, CaptureError> {
    capture(&options(&after_start(rest)))
}

fn error(rest: &str) -> String {
    run(rest).unwrap_err().to_string()
}

#[test]
fn the_results_are_kept_byte_for_byte() {
    // Spacing, key order, a float, an escape, a duplicate key, a number beyond 64 bits: all as sent.
    let tools = r#"{ "z":1.0, "tools" : [ {"name":"a","name2":"\u00e9","n":12345678901234567890123,"k":1,"k":2} ] }"#;
    let captured = run(&(page(2, tools) + "cat >/dev/null")).unwrap();
    let expected = format!(
        "{{\"initialize\":{},\"tools_list_pages\":[{tools}]}}\n",
        r#"{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"my server/x","version":"1"}}"#
    );
    assert_eq!(String::from_utf8(captured.file()).unwrap(), expected);
    assert_eq!(captured.suggested_name(), "my-server-x");
    assert_eq!(captured.catalog("mine").unwrap().tools.len(), 1);
}

#[test]
fn all_pages_are_taken_in_order() {
    let pages = page(2, r#"{"tools":[{"name":"a"}],"nextCursor":"p 2"}"#)
        + r#"case "$l2" in *cursor*) exit 3;; esac; "#
        + "read l3; case \"$l3\" in *'\"cursor\":\"p 2\"'*) ;; *) exit 4;; esac; "
        + &say(r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"b"}],"nextCursor":""}}"#)
        + "cat >/dev/null";
    let captured = run(&pages).unwrap();
    assert_eq!(captured.pages.len(), 2);
    let catalog = captured.catalog("x").unwrap();
    assert_eq!(catalog.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn pages_in_a_circle_and_endless_pages_are_refused() {
    let circle = page(2, r#"{"tools":[],"nextCursor":"c"}"#) + &page(3, r#"{"tools":[],"nextCursor":"c"}"#);
    insta::assert_snapshot!(error(&circle), @r#"page 2 of tools/list names the cursor "c" again; its pages never end"#);
    let mut options = options(&after_start(
        &(2..9).map(|id| page(id, &format!(r#"{{"tools":[],"nextCursor":"c{id}"}}"#))).collect::<String>(),
    ));
    options.max_pages = 5;
    insta::assert_snapshot!(capture(&options).unwrap_err(), @"tools/list has more than 5 pages");
}

#[test]
fn a_changed_list_is_asked_for_again() {
    let changed = say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    let script = page(2, r#"{"tools":[{"name":"early"}]}"#)
        + &changed
        + &page(3, r#"{"tools":[{"name":"early"},{"name":"late"}]}"#)
        + "cat >/dev/null";
    let captured = run(&script).unwrap();
    assert_eq!(captured.lists, 2);
    assert_eq!(captured.catalog("x").unwrap().tools.len(), 2);
}

#[test]
fn a_list_that_never_rests_is_refused() {
    let changed = say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    let script: String = (2..30).map(|id| page(id, r#"{"tools":[]}"#) + &changed).collect();
    let mut options = options(&after_start(&script));
    options.max_relists = 4;
    insta::assert_snapshot!(capture(&options).unwrap_err(), @"the server announced a changed tool list 4 times and never came to rest");
}

#[test]
fn requests_of_the_server_are_answered() {
    let script = say(r#"{"jsonrpc":"2.0","id":"r-1","method":"roots/list"}"#)
        + &say(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#)
        + "read list; read roots; read ping; "
        + "case \"$roots\" in *'\"r-1\"'*-32601*) ;; *) exit 5;; esac; "
        + "case \"$ping\" in *'\"id\":7'*'\"result\":{}'*) ;; *) exit 6;; esac; "
        + &say(r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}}"#)
        + "cat >/dev/null";
    assert_eq!(run(&script).unwrap().pages.len(), 1);
}

#[test]
fn what_goes_wrong_is_said_in_one_sentence() {
    let missing = CaptureOptions::new(vec!["no-such-mcp-server".into(), "--x".into()]);
    insta::assert_snapshot!(capture(&missing).unwrap_err(), @"no-such-mcp-server: command not found; install it, or give its path");
    insta::assert_snapshot!(error(&say("Server ready!")));
    insta::assert_snapshot!(
        error("read l; echo 'config.json: no such file' >&2; exit 3").split_once("` ended").unwrap().1
    );
    insta::assert_snapshot!(error(
        "read l; printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"no tools here\"}}'; cat"
    ));
    insta::assert_snapshot!(error(&page(2, r#"{"resources":[]}"#)));
    insta::assert_snapshot!(error(&page(2, r#"{"tools":{}}"#)));
}

#[test]
fn a_silent_server_is_ended_in_time_with_its_children() {
    let mut options = options("echo starting >&2; sleep 300 & sleep 300; wait");
    options.timeout = Duration::from_millis(300);
    let begun = Instant::now();
    let message = capture(&options).unwrap_err().to_string();
    assert!(message.starts_with("no answer to initialize within 0.3 s"), "{message}");
    assert!(message.ends_with("its last line on stderr: starting"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn a_flood_is_cut_off_and_a_long_stderr_does_not_block() {
    let mut flood = options("while :; do printf 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; done");
    flood.max_bytes = 100_000;
    insta::assert_snapshot!(capture(&flood).unwrap_err(), @"the server sent more than 100000 bytes; that is no tool list");
    // Far more than a pipe holds, before the first answer.
    let noisy = "i=0; while [ $i -lt 3000 ]; do echo 'a line of log that is about eighty bytes long, as servers write them' >&2; i=$((i+1)); done; ";
    let script = format!("{noisy}{}", after_start(&(page(2, r#"{"tools":[{"name":"a"}]}"#) + "cat >/dev/null")));
    assert_eq!(capture(&options(&script)).unwrap().lists, 1);
}

#[test]
fn a_list_that_no_client_could_use_is_refused() {
    let captured = run(&(page(2, r#"{"tools":[{"name":"a"},{"name":"a"}]}"#) + "cat >/dev/null")).unwrap();
    let message = captured.catalog("twice").unwrap_err().to_string();
    assert!(message.contains("is named \"a\" like tool 0"), "{message}");
}

#[test]
fn names_are_letters_that_tool_names_can_hold() {
    for (name, legal) in [("git", true), ("a_B-9", true), ("", false), ("a b", false), ("é", false), ("a/b", false)] {
        assert_eq!(is_name(name), legal, "{name}");
    }
}
