//! What the API refuses is refused, in its words.

use bench_mock_model::Behaviour::Oracle;
use serde_json::{Value, json};

use crate::support::{TEXT, and_call, ask, draw, git_log, model, request, said, tool, user};

fn refusal(body: &Value) -> String {
    model(Oracle).respond(body.to_string().as_bytes(), &draw("t1", "raw")).unwrap_err().to_string()
}

#[test]
fn fields_are_required_and_unknown_ones_refused() {
    let whole = request(&[git_log()], &user(TEXT));
    let mut refusals = Vec::new();
    for field in ["model", "max_tokens", "messages"] {
        let mut body = whole.clone();
        body.as_object_mut().unwrap().shift_remove(field);
        refusals.push(refusal(&body));
    }
    let mut with = |field: &str, value: Value| {
        let mut body = whole.clone();
        body[field] = value;
        refusals.push(refusal(&body).split(", expected").next().unwrap().to_owned());
    };
    with("temprature", json!(0));
    with("temperature", json!(1.5));
    with("messages", json!([]));
    with("messages", json!([{"role": "assistant", "content": "x"}]));
    with("messages", json!([{"role": "user", "content": ""}]));
    with("messages", json!([{"role": "user", "content": []}]));
    with("messages", json!([{"role": "user", "content": [{"type": "text", "text": ""}]}]));
    with("messages", json!([{"role": "user", "content": [{"type": "hologram"}]}]));
    with("tool_choice", json!({"type": "any"}));
    with("system", json!([{"type": "text", "text": ""}]));
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn one_bad_tool_fails_the_whole_request() {
    let schema = |schema: Value| json!({"name": "a", "input_schema": schema});
    let bad = [
        json!({"input_schema": {"type": "object"}}),
        json!({"name": "a"}),
        tool("a.b", "", &json!({}), &json!([])),
        tool("", "", &json!({}), &json!([])),
        tool(&"a".repeat(65), "", &json!({}), &json!([])),
        schema(json!({})),
        schema(json!({"type": "array"})),
        schema(json!({"type": "object", "oneOf": []})),
        schema(json!({"type": "object", "anyOf": []})),
        schema(json!({"type": "object", "allOf": []})),
        schema(json!(true)),
        tool("a", "", &json!({"$and": {}}), &json!([])),
        json!({"type": "web_search_20250305", "name": "web_search"}),
        json!({"name": "a", "input_schema": {"type": "object"}, "inputSchema": {}}),
        git_log(),
    ];
    let refusals =
        bad.map(|bad| refusal(&request(&[git_log(), bad], &user(TEXT))).split(", expected").next().unwrap().to_owned());
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn calls_and_results_must_pair() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "n", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
    let text = json!({"type": "text", "text": "x"});
    let hello = json!({"role": "user", "content": "hello"});
    let assistant = |blocks: Value| json!({"role": "assistant", "content": blocks});
    let answer = |blocks: Value| json!({"role": "user", "content": blocks});
    let bad = [
        json!([hello, assistant(json!([call("a")]))]),
        json!([hello, assistant(json!([call("a")])), hello]),
        json!([hello, assistant(json!([call("a"), call("b")])), answer(json!([result("a")]))]),
        json!([hello, assistant(json!([call("a")])), answer(json!([result("b")]))]),
        json!([hello, assistant(json!([call("a")])), answer(json!([result("a"), result("a")]))]),
        json!([hello, assistant(json!([call("a")])), answer(json!([text, result("a")]))]),
        json!([hello, assistant(json!([call("a")])), hello, answer(json!([result("a")]))]),
        json!([answer(json!([result("a")]))]),
        json!([answer(json!([call("a")]))]),
        json!([hello, assistant(json!([result("a")]))]),
        json!([hello, assistant(json!([call("a"), call("a")])), answer(json!([result("a")]))]),
        json!([
            hello,
            assistant(json!([{"type": "tool_use", "id": "a", "name": "n", "input": "{"}])),
            answer(json!([result("a")]))
        ]),
        json!([
            hello,
            assistant(json!([{"type": "tool_use", "id": "a b", "name": "n", "input": {}}])),
            answer(json!([result("a b")]))
        ]),
    ];
    insta::assert_snapshot!(bad.map(|messages| refusal(&request(&[git_log()], &messages))).join("\n"));
}

#[test]
fn turns_of_one_role_are_taken_together() {
    let messages = json!([
        {"role": "user", "content": TEXT},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "git__git_log", "input": {}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "b", "name": "git__git_log", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "ok"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}, {"type": "text", "text": "go on"}]},
    ]);
    assert_eq!(said(&ask(&model(Oracle), &request(&[git_log()], &messages), &draw("t1", "raw"))), "Done.");
}

#[test]
fn a_message_of_its_own_is_a_new_request_in_the_same_session() {
    let call =
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "git__git_log", "input": {}}]});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]});
    let again = json!({"role": "user", "content": TEXT});
    let messages = json!([{"role": "user", "content": "something else"}, call, result, again]);
    let said = said(&ask(&model(Oracle), &request(&[git_log()], &messages), &draw("t1", "raw")));
    assert!(said.starts_with("git__git_log"), "{said}");
}

#[test]
fn five_breakpoints_are_one_too_many() {
    let cached = |n: usize| json!({"type": "text", "text": format!("{n}"), "cache_control": {"type": "ephemeral"}});
    let mut body = request(&[git_log()], &user(TEXT));
    body["system"] = json!([cached(1), cached(2), cached(3), cached(4)]);
    assert_eq!(said(&ask(&model(Oracle), &body, &draw("t1", "raw"))).split(' ').next(), Some("git__git_log"));
    body["tools"][0]["cache_control"] = json!({"type": "ephemeral"});
    assert_eq!(refusal(&body), "cache_control: A maximum of 4 blocks with cache_control may be provided. Found 5.");
}

#[test]
fn a_refusal_is_the_apis_error_object() {
    let error = model(Oracle).respond(b"{", &draw("t", "raw")).unwrap_err();
    assert_eq!(error.status(), 400);
    insta::assert_snapshot!(String::from_utf8(error.body()).unwrap());
}

/// The known tool list is cut out by its bytes; the same bytes deep inside a message are no tool list.
#[test]
fn a_known_tool_list_inside_a_message_is_not_the_requests() {
    let model = model(Oracle);
    let list = json!([git_log()]).to_string();
    ask(&model, &request(&[git_log()], &user(TEXT)), &draw("t1", "raw"));
    let messages = and_call(&user(TEXT), "a", "x", &json!({"tools": [git_log()]}), "failed", true).to_string();
    let inside = format!(r#"{{"messages":{messages},"model":"m","max_tokens":9}}"#);
    assert!(inside.contains(&format!(r#""tools":{list}"#)));
    let response: Value =
        serde_json::from_slice(&model.respond(inside.as_bytes(), &draw("t1", "raw")).unwrap()).unwrap();
    assert_eq!(said(&response), "I do not see a tool for this.");
    // Behind the messages stands another list, with no tool in it that fits.
    let other = json!([tool("a", "", &json!({}), &json!([]))]);
    let both = format!(r#"{{"messages":{messages},"model":"m","max_tokens":9,"tools":{other}}}"#);
    let response: Value = serde_json::from_slice(&model.respond(both.as_bytes(), &draw("t1", "raw")).unwrap()).unwrap();
    assert_eq!(said(&response), "I do not see a tool for this.");
}

#[test]
fn a_warm_prefix_counts_as_read_only_from_the_models_minimum_on() {
    let usage = |description: &str| {
        let mut body = request(&[git_log(), tool("x", description, &json!({}), &json!([]))], &user(TEXT));
        body["system"][0]["cache_control"] = json!({"type": "ephemeral"});
        ask(&model(Oracle), &body, &draw("t1", "raw"))["usage"].clone()
    };
    assert_eq!(usage("short")["cache_read_input_tokens"], 0);
    let long = usage(&"long ".repeat(4_000));
    assert!(long["cache_read_input_tokens"].as_u64().unwrap() > 4_096);
    assert!(long["input_tokens"].as_u64().unwrap() < 200);
}
