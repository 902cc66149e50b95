//! The policy finds its way through every kind of surface, from what it is shown and told alone.

use bench_mock_model::Behaviour;
use serde_json::{Value, json};

use crate::support::{TEXT, and_call, ask, draw, git_log, model, request, said, tool, user};

/// Plays an episode: `reply` answers meta calls with text, `None` is a call that reaches a server. All calls, in order.
fn play(behaviour: Behaviour, surface: &[Value], reply: impl Fn(&str, &Value) -> Option<String>) -> Vec<String> {
    let model = model(behaviour);
    let mut messages = user(TEXT);
    let mut calls = Vec::new();
    for turn in 1..=8 {
        let response = ask(&model, &request(surface, &messages), &draw("t1", "arm"));
        calls.push(said(&response));
        let block = &response["content"][0];
        let Some(name) = block["name"].as_str() else { break };
        let Some(text) = reply(name, &block["input"]) else { break };
        messages = and_call(&messages, &format!("c{turn}"), name, &block["input"], &text, false);
    }
    calls
}

fn string() -> Value {
    json!({ "type": "string" })
}

fn object() -> Value {
    json!({ "type": "object" })
}

/// The arguments of the right call, as they come out.
const RIGHT: &str = r#"{"repo_path":"/srv/app","max_count":3}"#;
/// What a list says of the tool.
const LISTED: &str = r#"[{"name":"git_status","description":"Shows the working tree"},{"name":"git_log","description":"Shows the last commits"}]"#;
/// What a schema says of its arguments.
const SCHEMA: &str = r#"{"name":"git_log","inputSchema":{"properties":{"repo_path":{},"max_count":{}}}}"#;

fn search() -> Value {
    tool("hub__search_tools", "Finds tools", &json!({ "query": string() }), &json!(["query"]))
}

fn execute() -> Value {
    let properties = json!({ "mcp_name": string(), "tool_name": string(), "parameters": object() });
    tool("hub__execute_tool", "Executes a tool", &properties, &json!(["mcp_name", "tool_name"]))
}

#[test]
fn search_then_invoke_names_server_and_tool_apart_where_the_meta_tool_does() {
    let calls = play(Behaviour::Oracle, &[search(), execute()], |name, input| match name {
        "hub__search_tools" => Some(if input["query"] == "git log" { format!("[{SCHEMA}]") } else { "[]".to_owned() }),
        _ => None,
    });
    // The user's own words first; when they find nothing, those of the tool that is wanted.
    assert_eq!(
        calls,
        [
            format!(r#"hub__search_tools {{"query":"{TEXT}"}}"#),
            r#"hub__search_tools {"query":"git log"}"#.to_owned(),
            format!(r#"hub__execute_tool {{"mcp_name":"git","tool_name":"git_log","parameters":{RIGHT}}}"#),
        ]
    );
}

#[test]
fn search_then_a_direct_call_once_the_tool_is_shown() {
    let model = model(Behaviour::Oracle);
    let messages = user(TEXT);
    let first = ask(&model, &request(&[search()], &messages), &draw("t1", "arm"));
    let input = &first["content"][0]["input"];
    let messages = and_call(&messages, "c1", "hub__search_tools", input, "git__git_log is available now", false);
    let then = ask(&model, &request(&[search(), git_log()], &messages), &draw("t1", "arm"));
    assert_eq!(said(&then), format!("git__git_log {RIGHT}"));
}

#[test]
fn servers_then_their_tools_then_a_schema_then_a_call() {
    let surface = [
        tool("hub__list_servers", "", &json!({ "filter": string() }), &json!([])),
        tool("hub__list_commands", "", &json!({ "server": string() }), &json!([])),
        tool(
            "hub__describe_commands",
            "",
            &json!({ "server": string(), "command_names": { "type": "array" } }),
            &json!(["server", "command_names"]),
        ),
        tool(
            "hub__invoke_command",
            "",
            &json!({ "server": string(), "command_name": string(), "parameters": object() }),
            &json!(["server", "command_name"]),
        ),
    ];
    let servers =
        r#"{"servers":[{"name":"time","description":"clock"},{"name":"git","description":"commits of repositories"}]}"#;
    let reply = |name: &str, _: &Value| match name {
        "hub__list_servers" => Some(servers.to_owned()),
        "hub__list_commands" => Some(LISTED.to_owned()),
        "hub__describe_commands" => Some(format!("[{SCHEMA}]")),
        _ => None,
    };
    let expected = [
        "hub__list_servers {}".to_owned(),
        r#"hub__list_commands {"server":"git"}"#.to_owned(),
        r#"hub__describe_commands {"server":"git","command_names":["git_log"]}"#.to_owned(),
        format!(r#"hub__invoke_command {{"server":"git","command_name":"git_log","parameters":{RIGHT}}}"#),
    ];
    assert_eq!(play(Behaviour::Oracle, &surface, reply), expected);
    // By words alone, from the descriptions of servers and tools.
    assert_eq!(play(Behaviour::Lexical, &surface, reply), expected);
}

#[test]
fn a_manifest_then_a_schema_then_a_call_by_name() {
    let surface = [
        tool("hub__manifest", "Lists the tools", &json!({ "server": string() }), &json!([])),
        tool("hub__inspect", "Shows a schema", &json!({ "tool": string(), "server": string() }), &json!(["tool"])),
        tool("hub__call", "Runs a tool", &json!({ "name": string(), "arguments": object() }), &json!(["name"])),
    ];
    let calls = play(Behaviour::Oracle, &surface, |name, _| match name {
        "hub__manifest" => Some(r#"{"servers":[{"name":"git","tools":[{"name":"git_log"}]}]}"#.to_owned()),
        "hub__inspect" => Some(SCHEMA.to_owned()),
        _ => None,
    });
    assert_eq!(
        calls,
        [
            r#"hub__manifest {"server":"git"}"#.to_owned(),
            r#"hub__inspect {"server":"git","tool":"git_log"}"#.to_owned(),
            format!(r#"hub__call {{"name":"git_log","arguments":{RIGHT}}}"#),
        ]
    );
}

#[test]
fn a_server_is_connected_where_searches_find_nothing_before() {
    let surface = [
        tool("hub__catalog_search", "Search for available tools.", &json!({ "query": string() }), &json!([])),
        tool("hub__connect_server", "", &json!({ "server_name": string() }), &json!(["server_name"])),
        tool("hub__describe", "", &json!({ "tool_id": string() }), &json!(["tool_id"])),
        tool("hub__invoke", "", &json!({ "tool_id": string(), "arguments": object() }), &json!(["tool_id"])),
    ];
    let connected = std::cell::Cell::new(false);
    let calls = play(Behaviour::Oracle, &surface, |name, _| match name {
        "hub__catalog_search" if connected.get() => Some(r#"{"results":[{"tool_id":"git::git_log"}]}"#.to_owned()),
        "hub__catalog_search" => Some(r#"{"results":[]}"#.to_owned()),
        "hub__connect_server" => {
            connected.set(true);
            Some("connected".to_owned())
        }
        "hub__describe" => Some(SCHEMA.to_owned()),
        _ => None,
    });
    assert_eq!(calls[1], r#"hub__connect_server {"server_name":"git"}"#);
    assert_eq!(calls[3], r#"hub__describe {"tool_id":"git::git_log"}"#);
    assert_eq!(calls[4], format!(r#"hub__invoke {{"tool_id":"git::git_log","arguments":{RIGHT}}}"#));
}

#[test]
fn who_goes_by_words_connects_what_a_search_that_looks_further_offers() {
    let search = json!({ "query": string(), "include_offline": { "type": "boolean" } });
    let surface = [
        tool("hub__catalog_search", "Search for available tools.", &search, &json!([])),
        tool("hub__connect_server", "", &json!({ "server_name": string() }), &json!(["server_name"])),
        tool("hub__invoke", "", &json!({ "tool_id": string(), "arguments": object() }), &json!(["tool_id"])),
    ];
    let connected = std::cell::Cell::new(false);
    // Programs to run instead are no tools.
    let nothing = r#"{"results":[],"cli_hints":[{"name":"git","description":"commits"}],"candidates":[]}"#;
    let offer = r#"{"results":[],"candidates":[{"name":"vcs","type":"server","reasoning":"commits"},{"name":"git","type":"server","reasoning":"commits of a repository"}]}"#;
    let calls = play(Behaviour::Lexical, &surface, |name, input| match name {
        "hub__catalog_search" if connected.get() => {
            Some(r#"{"results":[{"tool_id":"git::git_log","description":"commits"}]}"#.to_owned())
        }
        "hub__catalog_search" => Some(if input.get("include_offline").is_some() { offer } else { nothing }.to_owned()),
        "hub__connect_server" => {
            connected.set(input["server_name"] == "git");
            Some("done".to_owned())
        }
        _ => None,
    });
    let names: Vec<&str> = calls.iter().filter_map(|call| call.split(' ').next()).collect();
    let [search, connect] = ["hub__catalog_search", "hub__connect_server"];
    assert_eq!(names, [search, search, connect, search, "hub__invoke"], "{calls:?}");
    assert_eq!(calls[2], r#"hub__connect_server {"server_name":"git"}"#);
}

#[test]
fn who_goes_by_words_connects_servers_that_the_user_names_and_no_more_than_three() {
    let surface = [
        tool("hub__catalog_search", "Search for available tools.", &json!({ "query": string() }), &json!([])),
        tool("hub__connect_server", "", &json!({ "server_name": string() }), &json!(["server_name"])),
        tool("hub__health", "Health of all servers.", &json!({}), &json!([])),
    ];
    let word = TEXT.split_whitespace().find(|word| word.len() > 4).unwrap();
    let servers: Vec<Value> =
        (0..9).map(|n| json!({ "name": format!("{word}-{n}") })).chain([json!({ "name": "zzz" })]).collect();
    let servers = json!({ "servers": servers }).to_string();
    let calls = play(Behaviour::Lexical, &surface, |name, _| match name {
        "hub__health" => Some(servers.clone()),
        _ => Some("{}".to_owned()),
    });
    let connects: Vec<&String> = calls.iter().filter(|call| call.starts_with("hub__connect_server")).collect();
    assert_eq!(connects.len(), 3, "{calls:?}");
    assert!(connects.iter().all(|call| call.contains(word)), "{calls:?}");
}

#[test]
fn who_goes_by_words_takes_what_a_search_finds() {
    let calls = play(Behaviour::Lexical, &[search(), execute()], |name, _| {
        match name {
        "hub__search_tools" => {
            Some(r#"{"tools":[{"name":"git_status","mcp_name":"git","description":"tree"},{"name":"git_log","mcp_name":"git","description":"commits","inputSchema":{"properties":{"repo_path":{},"max_count":{}}}}]}"#.to_owned())
        }
        _ => None,
    }
    });
    assert_eq!(
        calls[1],
        format!(r#"hub__execute_tool {{"mcp_name":"git","tool_name":"git_log","parameters":{RIGHT}}}"#)
    );
}

#[test]
fn a_name_is_given_in_the_form_that_is_asked_for() {
    let properties =
        json!({ "name": { "type": "string", "description": "In server_tool form, e.g. a_b." }, "arguments": object() });
    let surface = [
        tool("hub__manifest", "Lists the tools", &json!({}), &json!([])),
        tool("hub__call", "Runs a tool", &properties, &json!(["name"])),
    ];
    let calls = play(Behaviour::Oracle, &surface, |name, _| {
        (name == "hub__manifest").then(|| format!(r#"{{"servers":[{{"name":"git","tools":[{SCHEMA}]}}]}}"#))
    });
    assert_eq!(calls[1], format!(r#"hub__call {{"name":"git_git_log","arguments":{RIGHT}}}"#));
}

#[test]
fn where_nothing_leads_to_the_tool_the_model_says_so_and_ends() {
    let calls = play(Behaviour::Oracle, &[search(), execute()], |name, _| {
        (name == "hub__search_tools").then(|| "[]".to_owned())
    });
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[2], "I do not see a tool for this.");
}
