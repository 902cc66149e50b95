//! The server in memory: lines in, lines out.

use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::arms::fixtures::catalogs_of;

/// What it answers to these messages, and the log.
fn converse(server: &ReplayServer, messages: &[Value]) -> (Vec<Value>, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let mut output = Vec::new();
    server.serve(input.as_bytes(), &mut output, &mut CallLog::to(&path).unwrap()).unwrap();
    let lines = |text: String| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (lines(String::from_utf8(output).unwrap()), lines(fs::read_to_string(path).unwrap()))
}

#[expect(clippy::needless_pass_by_value, reason = "callers write the values in place")]
fn ask(id: Value, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn git() -> ReplayServer {
    ReplayServer::new(&Catalogs::vendored().unwrap(), Some("git"), None).unwrap()
}

#[test]
fn any_protocol_version_is_spoken_and_ids_come_back_as_sent() {
    for version in ["2024-11-05", "2025-06-18", "2026-07-28"] {
        let (answers, _) = converse(
            &git(),
            &[ask(json!("id-é"), "initialize", json!({ "protocolVersion": version, "_meta": {"a": 1} }))],
        );
        assert_eq!(answers[0]["id"], "id-é");
        assert_eq!(answers[0]["result"]["protocolVersion"], version);
        assert_eq!(answers[0]["result"]["serverInfo"]["name"], "mcp-git");
    }
}

#[test]
fn what_nobody_declared_is_empty_and_what_nobody_knows_is_refused() {
    let asked = ["ping", "resources/list", "resources/templates/list", "prompts/list", "logging/setLevel", "nope/nope"];
    let messages: Vec<Value> = asked.iter().zip(1..).map(|(method, id)| ask(json!(id), method, json!({}))).collect();
    let (answers, _) = converse(&git(), &messages);
    let seen: Vec<String> =
        answers.iter().map(|a| a.get("result").unwrap_or(&a["error"]["code"]).to_string()).collect();
    assert_eq!(seen, ["{}", r#"{"resources":[]}"#, r#"{"resourceTemplates":[]}"#, r#"{"prompts":[]}"#, "{}", "-32601"]);
}

#[test]
fn notifications_answers_and_blank_lines_are_not_answered_and_garbage_is() {
    let mut output = Vec::new();
    let input =
        "\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n{\"id\":9,\"result\":{}}\nnot json\n[1]\n";
    git().serve(input.as_bytes(), &mut output, &mut CallLog::none()).unwrap();
    let codes: Vec<i64> = String::from_utf8(output)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["error"]["code"].as_i64().unwrap())
        .collect();
    assert_eq!(codes, [-32700, -32600]);
}

#[test]
fn calls_are_validated_against_the_original_schema_and_logged_as_they_came() {
    let call = |name: &str, arguments: Value| {
        ask(json!(1), "tools/call", json!({ "name": name, "arguments": arguments, "_meta": {"x": 1} }))
    };
    let (answers, log) = converse(
        &git(),
        &[
            call("git_log", json!({ "repo_path": "/a", "max_count": 3.0 })),
            call("git_log", json!({ "max_count": "three" })),
            call("git_blame", json!({})),
            ask(json!(1), "tools/call", json!({ "name": "git_log", "arguments": [1] })),
        ],
    );
    assert_eq!(answers[0]["result"], json!({ "content": [{ "type": "text", "text": "ok" }] }));
    assert_eq!(answers[1]["result"]["isError"], true);
    let why = answers[1]["result"]["content"][0]["text"].as_str().unwrap();
    assert!(why.starts_with("Input validation error: ") && why.contains("repo_path"), "{why}");
    assert_eq!(answers[2]["error"]["message"], "Unknown tool: git_blame");
    assert_eq!(answers[3]["error"]["code"], -32602);
    assert_eq!(
        log,
        [
            json!({ "server": "git", "tool": "git_log", "arguments": { "repo_path": "/a", "max_count": 3.0 }, "valid": true }),
            json!({ "server": "git", "tool": "git_log", "arguments": { "max_count": "three" }, "valid": false }),
            json!({ "server": "git", "tool": "git_blame", "arguments": {}, "valid": false }),
        ]
    );
}

#[test]
fn list_changed_is_a_switch() {
    for (switch, expected) in [(None, json!(false)), (Some(true), json!(true)), (Some(false), json!(false))] {
        let server = ReplayServer::new(&Catalogs::vendored().unwrap(), Some("git"), switch).unwrap();
        let (answers, _) = converse(&server, &[ask(json!(1), "initialize", json!({}))]);
        assert_eq!(answers[0]["result"]["capabilities"]["tools"]["listChanged"], expected);
    }
}

#[test]
fn pages_are_given_out_as_captured_and_a_made_up_cursor_is_refused() {
    let file = "{\"tools_list_pages\":[{\"tools\":[{\"name\":\"a\"}],\n  \"nextCursor\":\"p2\"},{\"tools\":[{\"name\":\"b\",\"n\":1.0}]}]}";
    let catalog = bench_tasks::Catalog::parse("s", "s.json", file.as_bytes().into()).unwrap();
    let server = ReplayServer::new(&Catalogs { catalogs: vec![catalog] }, None, None).unwrap();
    let mut output = Vec::new();
    let input: String = [json!({}), json!({ "cursor": "p2" }), json!({ "cursor": "p3" })]
        .into_iter()
        .map(|params| ask(json!(1), "tools/list", params).to_string() + "\n")
        .collect();
    server.serve(input.as_bytes(), &mut output, &mut CallLog::none()).unwrap();
    let output = String::from_utf8(output).unwrap();
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],  "nextCursor":"p2"}}"#);
    assert_eq!(lines[1], r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"b","n":1.0}]}}"#);
    assert!(lines[2].contains("-32602"), "{}", lines[2]);
}

#[test]
fn several_catalogs_are_one_server_with_names_that_lead_back() {
    let catalogs = catalogs_of(&[("a", json!([{ "name": "x" }])), ("b", json!([{ "name": "x" }]))]);
    let server = ReplayServer::new(&catalogs, None, None).unwrap();
    let (answers, log) = converse(
        &server,
        &[ask(json!(1), "tools/list", json!({})), ask(json!(2), "tools/call", json!({ "name": "b__x" }))],
    );
    let names: Vec<&str> =
        answers[0]["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a__x", "b__x"]);
    assert_eq!((&log[0]["server"], &log[0]["tool"]), (&json!("b"), &json!("x")));
}

#[test]
fn an_unknown_catalog_is_named_with_those_there_are() {
    let error = ReplayServer::new(&Catalogs::vendored().unwrap(), Some("gti"), None).err().unwrap();
    insta::assert_snapshot!(error, @"no catalog is called `gti`; there are everything, fetch, filesystem, git, github, memory, sequential-thinking, time");
}
