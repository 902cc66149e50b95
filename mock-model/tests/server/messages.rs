//! The Messages format: what is served, and what is refused in the API's words.

use serde_json::{Value, json};

use crate::support::{HAIKU, MESSAGES, Server, TEXT, request, tool, with, without};

fn mark(ttl: &str) -> Value {
    json!({"type": "ephemeral", "ttl": ttl})
}

#[tokio::test]
async fn a_call_and_the_turn_behind_its_result() {
    let server = Server::start().await;
    let first = server.message(&request()).await;
    assert_eq!(first.status, 200);
    assert_eq!(first.header("content-type"), Some("application/json"));
    assert!(first.header("request-id").is_some_and(|id| id.starts_with("req_")));
    let reply = first.json();
    assert_eq!((&reply["model"], &reply["stop_reason"]), (&HAIKU.into(), &"tool_use".into()));
    assert_eq!(reply["content"][0]["input"], json!({"repo_path": "/srv/app", "max_count": 3}));
    let mut next = request();
    let result = json!({"type": "tool_result", "tool_use_id": reply["content"][0]["id"], "content": "three commits"});
    next["messages"] = json!([
        {"role": "user", "content": TEXT},
        {"role": "assistant", "content": reply["content"]},
        {"role": "user", "content": [result]},
    ]);
    let second = server.message(&next).await.json();
    assert_eq!((&second["stop_reason"], &second["content"][0]["text"]), (&"end_turn".into(), &"Done.".into()));
}

#[tokio::test]
async fn an_alias_answers_under_the_dated_id() {
    let server = Server::start().await;
    let reply = server.message(&with(request(), "model", "claude-haiku-4-5".into())).await;
    assert_eq!(reply.json()["model"], HAIKU);
}

#[tokio::test]
async fn headers_are_required() {
    let server = Server::start().await;
    let body = request().to_string();
    let mut refusals = Vec::new();
    for headers in [
        "anthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n",
        "x-api-key: \r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n",
        "x-api-key: k\r\ncontent-type: application/json\r\n",
        "x-api-key: k\r\nanthropic-version: 2023-01-01\r\ncontent-type: application/json\r\n",
        "x-api-key: k\r\nanthropic-version: 2023-06-01\r\n",
        "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: text/plain\r\n",
        &format!("{MESSAGES}anthropic-beta: tools-2024-04-04\r\n"),
        &format!("{MESSAGES}x-bench-draw: t1/raw\r\n"),
    ] {
        let refused = server.send("POST", "/v1/messages", headers, body.as_bytes()).await.unwrap();
        assert_eq!(refused.json()["request_id"], *refused.header("request-id").unwrap());
        refusals.push(refused.error());
    }
    insta::assert_snapshot!(refusals.join("\n"));
    assert!(server.ledger().iter().all(|line| line["billed"] == 0 && line["client"] == "free"));
}

#[tokio::test]
async fn either_header_carries_the_key() {
    let server = Server::start().await;
    let headers = "authorization: Bearer k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";
    let served = server.send("POST", "/v1/messages", headers, request().to_string().as_bytes()).await.unwrap();
    assert_eq!(served.status, 200);
}

#[tokio::test]
async fn fields_are_checked_as_documented() {
    let server = Server::start().await;
    let model = |id: &str| with(request(), "model", id.into());
    let two = json!([tool("a", ""), tool("a", "")]);
    let blocks = |mark: Value| json!([{"type": "text", "text": "x", "cache_control": mark}]);
    let thinking = |budget: u64| json!({"type": "enabled", "budget_tokens": budget});
    let bodies = [
        without(request(), "max_tokens"),
        without(request(), "model"),
        without(request(), "messages"),
        model("claude-haiku-4.5"),
        model("claude-opus-4-1-20250805"),
        with(request(), "temprature", json!(0)),
        with(request(), "temperature", json!(1.1)),
        with(with(request(), "temperature", json!(0)), "top_p", json!(0.5)),
        with(model("claude-opus-4-7"), "temperature", json!(0)),
        with(model("claude-opus-4-7"), "top_k", json!(5)),
        with(model("claude-haiku-5-5"), "temperature", json!(0)),
        with(request(), "top_p", json!(2)),
        with(request(), "max_tokens", json!(64_001)),
        with(request(), "max_tokens", json!(-1)),
        with(request(), "stream", json!(true)),
        with(request(), "tools", two),
        with(request(), "tools", json!([tool("git.log", "")])),
        with(request(), "tools", json!([{"name": "a", "input_schema": {"type": "array"}}])),
        with(request(), "tools", json!([{"name": "a", "input_schema": {"type": "object", "anyOf": []}}])),
        with(request(), "tool_choice", json!({"type": "some"})),
        with(request(), "tool_choice", json!({"type": "tool", "name": "nope"})),
        with(model("claude-sonnet-5-5"), "tool_choice", json!({"type": "any"})),
        without(with(request(), "tool_choice", json!({"type": "auto"})), "tools"),
        with(request(), "system", blocks(json!({"type": "permanent"}))),
        with(request(), "system", blocks(mark("2h"))),
        with(request(), "stop_sequences", json!([" "])),
        with(request(), "service_tier", json!("fast")),
        with(request(), "metadata", json!({"name": "x"})),
        with(request(), "output_config", json!({"effort": "low"})),
        with(request(), "thinking", thinking(100)),
        with(request(), "thinking", thinking(2_000)),
        with(model("claude-opus-4-7"), "thinking", thinking(2_000)),
        with(request(), "thinking", json!({"type": "adaptive"})),
        with(model("claude-sonnet-5-5"), "thinking", json!({"type": "disabled"})),
    ];
    let mut refusals = Vec::new();
    for body in &bodies {
        refusals.push(server.message(body).await.error());
    }
    insta::assert_snapshot!(refusals.join("\n"));
    assert_eq!(server.ledger().len(), bodies.len());
}

#[tokio::test]
async fn sampling_is_refused_under_the_newer_version() {
    let server = Server::start().await;
    let headers = "x-api-key: k\r\nanthropic-version: 2026-10-21\r\ncontent-type: application/json\r\n";
    let body = with(request(), "temperature", json!(0)).to_string();
    let refused = server.send("POST", "/v1/messages", headers, body.as_bytes()).await.unwrap();
    assert_eq!(
        refused.error(),
        "400 invalid_request_error: `temperature` is not supported with anthropic-version 2026-10-21."
    );
    let served = server.send("POST", "/v1/messages", headers, request().to_string().as_bytes()).await.unwrap();
    assert_eq!(served.status, 200);
}

#[tokio::test]
async fn conversations_are_checked_as_documented() {
    let server = Server::start().await;
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "git__git_log", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
    let talk = |turns: &[(&str, Value)]| {
        let mut messages = vec![json!({"role": "user", "content": TEXT})];
        messages.extend(turns.iter().map(|(role, content)| json!({"role": role, "content": content})));
        with(request(), "messages", messages.into())
    };
    let marks = json!(
        (0..5)
            .map(|_| json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}))
            .collect::<Vec<_>>()
    );
    let bodies = [
        talk(&[("assistant", json!([call("a")]))]),
        talk(&[("assistant", json!([call("a")])), ("user", json!("and now?"))]),
        talk(&[("assistant", json!([call("a")])), ("user", json!([result("b")]))]),
        talk(&[("assistant", json!([call("a"), call("b")])), ("user", json!([result("a")]))]),
        talk(&[("assistant", json!([call("a")])), ("user", json!([result("a"), result("a")]))]),
        talk(&[("assistant", json!([call("a"), call("a")])), ("user", json!([result("a")]))]),
        talk(&[("assistant", json!([call("a")])), ("user", json!([{"type": "text", "text": "so"}, result("a")]))]),
        talk(&[("assistant", json!("x")), ("user", json!([result("a")]))]),
        talk(&[("narrator", json!("x"))]),
        talk(&[("assistant", json!("x")), ("user", json!([]))]),
        with(request(), "messages", json!([])),
        with(request(), "messages", json!([{"role": "assistant", "content": "x"}])),
        with(request(), "system", marks),
        with(
            with(request(), "system", json!([{"type": "text", "text": "x", "cache_control": mark("5m")}])),
            "messages",
            json!([{"role": "user", "content": [{"type": "text", "text": TEXT, "cache_control": mark("1h")}]}]),
        ),
        with(
            with(request(), "model", "claude-sonnet-4-6".into()),
            "messages",
            json!([{"role": "user", "content": TEXT}, {"role": "assistant", "content": "I"}]),
        ),
    ];
    let mut refusals = Vec::new();
    for body in bodies {
        refusals.push(server.message(&body).await.error());
    }
    insta::assert_snapshot!(refusals.join("\n"));
}

#[tokio::test]
async fn a_count_is_what_the_paid_request_is_billed_and_takes_no_sampling_fields() {
    let server = Server::start().await;
    let paid = server.message(&request()).await.json();
    let count = without(request(), "max_tokens");
    assert_eq!(server.count(&count).await.json(), json!({"input_tokens": paid["usage"]["input_tokens"]}));
    let bare = server.count(&without(count.clone(), "tools")).await.json()["input_tokens"].as_u64().unwrap();
    let shown = server.count(&count).await.json()["input_tokens"].as_u64().unwrap();
    assert!(shown > bare + 496, "{shown} {bare}");
    let forced = with(count.clone(), "tool_choice", json!({"type": "any"}));
    assert_eq!(server.count(&forced).await.json()["input_tokens"], shown + 588 - 496);
    let mut refusals = Vec::new();
    for body in [
        request(),
        with(count.clone(), "temperature", json!(0)),
        with(count.clone(), "service_tier", json!("auto")),
        with(count.clone(), "tools", json!([tool("a b", "")])),
        with(count, "tool_choice", json!({"type": "tool", "name": "nope"})),
    ] {
        refusals.push(server.count(&body).await.error());
    }
    insta::assert_snapshot!(refusals.join("\n"));
    assert_eq!(server.ledger().len(), 1, "counts are free and not booked");
}

#[tokio::test]
async fn models_are_listed_with_their_lives_and_unknown_paths_are_not_found() {
    let server = Server::start().await;
    let get = async |path: &str| server.send("GET", path, MESSAGES, b"").await.unwrap();
    let list = get("/v1/models").await.json();
    assert_eq!((&list["has_more"], &list["first_id"]), (&false.into(), &HAIKU.into()));
    let ids: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert!(!ids.contains(&&Value::from("claude-opus-4-1-20250805")) && !ids.contains(&&Value::from("gpt-5-mini")));
    let one = get("/v1/models/claude-haiku-4-5").await.json();
    assert_eq!((&one["id"], &one["lifecycle"], &one["max_tokens"]), (&HAIKU.into(), &"active".into(), &64_000.into()));
    let errors = [
        get("/v1/models/claude-opus-4-1-20250805").await.error(),
        get("/v1/messages/batches").await.error(),
        get("/v1/messages").await.error(),
        server.send("GET", "/v1/models", "anthropic-version: 2023-06-01\r\n", b"").await.unwrap().error(),
    ];
    insta::assert_snapshot!(errors.join("\n"), @r"
    404 not_found_error: model: claude-opus-4-1-20250805
    404 not_found_error: Not Found
    405 invalid_request_error: Method Not Allowed
    401 authentication_error: x-api-key header is required
    ");
}

#[tokio::test]
async fn rate_limit_headers_are_there() {
    let server = Server::start().await;
    let reply = server.message(&request()).await;
    for bucket in ["requests", "tokens", "input-tokens", "output-tokens"] {
        let value = |what: &str| reply.header(&format!("anthropic-ratelimit-{bucket}-{what}")).map(str::to_owned);
        assert_eq!(value("limit"), value("remaining"));
        assert!(value("reset").is_some_and(|reset| reset.len() == 20 && reset.ends_with('Z')));
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_too_large() {
    let server = Server::start().await;
    let refused = server.send("POST", "/v1/messages", MESSAGES, &vec![b' '; (32 << 20) + 1]).await;
    // The refusal may cross the body that is still being sent.
    if let Ok(refused) = refused {
        assert_eq!(refused.status, 413);
    }
    assert!(server.ledger().is_empty());
}
