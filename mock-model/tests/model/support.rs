//! Small requests and keys.

use std::sync::Arc;

use bench_mock_model::{AnswerKey, Behaviour, Draw, Noise, Rates, ScriptedModel};
use bench_tasks::{results_suite::ResultTask, task::Task};
use serde_json::{Value, json};

/// What the user says in most tests.
pub(crate) const TEXT: &str = "Show me the last 3 commits of /srv/app";

/// A tool task that `git_log` serves.
pub(crate) fn task(text: &str, frame: &str) -> Task {
    serde_json::from_value(json!({
        "id": "t1", "suite": "tools", "server": "git", "tool": "git_log", "frame": frame, "stratum": "plain",
        "utterance": text,
        "gold": [{"server": "git", "tool": "git_log", "arguments": {"repo_path": "/srv/app", "max_count": 3}, "match": {}}],
    }))
    .unwrap()
}

/// A task that no tool serves.
pub(crate) fn abstain(text: &str) -> Task {
    serde_json::from_value(json!({
        "id": "t2", "suite": "tools", "server": null, "tool": null, "frame": "abstain/x", "stratum": "abstain",
        "utterance": text, "gold": [],
    }))
    .unwrap()
}

/// A question about a result of `git_log`.
pub(crate) fn question(text: &str, kind: &str, answer: &str) -> ResultTask {
    serde_json::from_value(json!({
        "id": "t3", "suite": "results", "server": "git", "tool": "git_log", "frame": "results/x", "stratum": kind,
        "utterance": text, "arguments": {"repo_path": "/srv/app"}, "result": {"content": []}, "gold": {"answer": answer},
    }))
    .unwrap()
}

pub(crate) fn key() -> Arc<AnswerKey> {
    let tools = AnswerKey::of_tasks(&[task(TEXT, "git/git_log/last-n"), abstain("Book me a flight")]);
    let results = AnswerKey::of_results(&[
        question("Who wrote it?", "record-lookup", "Grace Hopper"),
        question("How many commits?", "count", "4"),
    ]);
    Arc::new(tools.merge(results))
}

/// The protocol's rates.
pub(crate) fn rates() -> Rates {
    Rates {
        wrong_tool_ppm: 8_000,
        wrong_arguments_ppm: 12_000,
        blind_argument_ppm: 900_000,
        abstain_call_ppm: 20_000,
        misread_result_ppm: 10_000,
        skips_expand_ppm: 20_000,
    }
}

pub(crate) fn noise() -> Noise {
    Noise::new(rates(), [7; 32])
}

pub(crate) fn model(behaviour: Behaviour) -> ScriptedModel {
    ScriptedModel::new(behaviour, key(), noise())
}

pub(crate) fn draw<'a>(task: &'a str, arm: &'a str) -> Draw<'a> {
    Draw { task, arm, turn: 1 }
}

pub(crate) fn tool(name: &str, description: &str, properties: &Value, required: &Value) -> Value {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    json!({"name": name, "description": description, "input_schema": schema})
}

pub(crate) fn git_log() -> Value {
    let properties = json!({"repo_path": {"type": "string"}, "max_count": {"type": "integer"}});
    tool("git__git_log", "Shows the commit logs", &properties, &json!(["repo_path"]))
}

pub(crate) fn git_status() -> Value {
    tool(
        "git__git_status",
        "Shows the working tree status",
        &json!({"repo_path": {"type": "string"}}),
        &json!(["repo_path"]),
    )
}

pub(crate) fn fetcher() -> Value {
    let index = "Index of the tools.\ngit_log(repo_path, max_count?): Shows the commit logs\ngit_status(repo_path): Shows the status";
    tool("git__get_tool_schema", index, &json!({"tool_name": {"type": "string"}}), &json!(["tool_name"]))
}

pub(crate) fn invoker() -> Value {
    let properties = json!({"tool_name": {"type": "string"}, "arguments": {"type": "object"}});
    tool("git__invoke_tool", "Calls a tool by name", &properties, &json!(["tool_name"]))
}

pub(crate) fn expander() -> Value {
    tool("git__expand", "Returns the original", &json!({"handle": {"type": "string"}}), &json!(["handle"]))
}

/// A request body with these tools and messages.
pub(crate) fn request(tools: &[Value], messages: &Value) -> Value {
    let mut body = json!({"model": "m", "max_tokens": 1024, "temperature": 0});
    if !tools.is_empty() {
        body["tools"] = json!(tools);
        body["tool_choice"] = json!({"type": "auto"});
    }
    body["system"] = json!([{"type": "text", "text": "Be right."}]);
    body["messages"] = messages.clone();
    body
}

pub(crate) fn user(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

/// The conversation with one more call and its result.
pub(crate) fn and_call(messages: &Value, id: &str, name: &str, input: &Value, result: &str, is_error: bool) -> Value {
    let mut messages = messages.as_array().unwrap().clone();
    messages
        .push(json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}));
    messages.push(json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": [{"type": "text", "text": result}]},
    ]}));
    Value::Array(messages)
}

/// The response to a body.
pub(crate) fn ask(model: &ScriptedModel, body: &Value, draw: &Draw<'_>) -> Value {
    ask_bytes(model, body.to_string().as_bytes(), draw)
}

/// The response to the bytes of a body.
pub(crate) fn ask_bytes(model: &ScriptedModel, body: &[u8], draw: &Draw<'_>) -> Value {
    serde_json::from_slice(&model.respond(body, draw).unwrap()).unwrap()
}

/// The first call of a response as `name input`, or its text.
pub(crate) fn said(response: &Value) -> String {
    let block = &response["content"][0];
    match block["type"].as_str() {
        Some("tool_use") => format!("{} {}", block["name"].as_str().unwrap(), block["input"]),
        _ => block["text"].as_str().unwrap_or_default().to_owned(),
    }
}

/// What a behaviour says first to the usual request over these tools.
pub(crate) fn first(behaviour: Behaviour, tools: &[Value]) -> String {
    said(&ask(&model(behaviour), &request(tools, &user(TEXT)), &draw("t1", "raw")))
}
