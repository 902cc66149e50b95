//! Chat Completions: what is served, and what is refused in the API's words.

use serde_json::{Value, json};

use crate::support::{CHAT, Server, chat_request, with, without};

#[tokio::test]
async fn a_call_and_the_turn_behind_its_result() {
    let server = Server::start().await;
    let first = server.chat(&chat_request()).await;
    assert!(first.header("x-request-id").is_some() && first.header("x-ratelimit-limit-requests").is_some());
    let reply = first.json();
    let choice = &reply["choices"][0];
    assert_eq!((&reply["model"], &choice["finish_reason"]), (&"gpt-5-mini".into(), &"tool_calls".into()));
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!(call["function"]["name"], "git__git_log");
    let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({"repo_path": "/srv/app", "max_count": 3}));
    let mut next = chat_request();
    next["messages"].as_array_mut().unwrap().extend([
        choice["message"].clone(),
        json!({"role": "tool", "tool_call_id": call["id"], "content": [{"type": "text", "text": "three commits"}]}),
    ]);
    let second = server.chat(&next).await.json();
    let choice = &second["choices"][0];
    assert_eq!((&choice["finish_reason"], &choice["message"]["content"]), (&"stop".into(), &"Done.".into()));
}

#[tokio::test]
async fn a_result_that_says_error_is_one() {
    let server = Server::start().await;
    let calls = json!([{"id": "c1", "type": "function",
        "function": {"name": "git__git_log", "arguments": "not even JSON"}}]);
    let mut body = chat_request();
    body["messages"].as_array_mut().unwrap().extend([
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "Error: no such folder"}),
    ]);
    assert_eq!(server.chat(&body).await.json()["choices"][0]["finish_reason"], "tool_calls", "it tries again");
}

#[tokio::test]
async fn without_tool_choice_it_says_so() {
    let server = Server::start().await;
    let reply = server.chat(&with(chat_request(), "tool_choice", "none".into())).await.json();
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
}

#[tokio::test]
async fn fields_are_checked_as_documented() {
    let server = Server::start().await;
    let model = |id: &str| with(chat_request(), "model", id.into());
    let function = |name: &str, parameters: Value| json!([{"type": "function", "function": {"name": name, "parameters": parameters}}]);
    let object = || json!({"type": "object"});
    let many: Vec<Value> = (0..129).map(|n| function(&format!("t{n}"), object())[0].clone()).collect();
    let twice = json!([function("a", object())[0], function("a", object())[0]]);
    let bodies = [
        without(chat_request(), "model"),
        without(chat_request(), "messages"),
        model("gpt-5-mni"),
        model("claude-haiku-4-5"),
        with(chat_request(), "temprature", json!(0)),
        with(chat_request(), "temperature", json!(0)),
        with(model("gpt-5.6-luna"), "temperature", json!(1)),
        with(model("scripted"), "temperature", json!(2.5)),
        with(chat_request(), "max_tokens", json!(5)),
        with(without(chat_request(), "max_completion_tokens"), "max_tokens", json!(5)),
        with(chat_request(), "max_completion_tokens", json!(0)),
        with(chat_request(), "stream", json!(true)),
        with(chat_request(), "n", json!(2)),
        with(chat_request(), "service_tier", json!("gold")),
        with(chat_request(), "tools", json!([])),
        with(chat_request(), "tools", many.into()),
        with(chat_request(), "tools", twice),
        with(chat_request(), "tools", function("a.b", object())),
        with(chat_request(), "tools", function("a", json!({"type": "string"}))),
        with(chat_request(), "tools", function("a", json!({"type": "object", "anyOf": []}))),
        with(chat_request(), "tools", json!([{"name": "a", "parameters": {}}])),
        with(chat_request(), "tool_choice", json!("required")),
        with(chat_request(), "tool_choice", json!({"type": "function", "function": {"name": "b"}})),
        without(with(chat_request(), "tool_choice", json!("auto")), "tools"),
        without(with(chat_request(), "parallel_tool_calls", json!(true)), "tools"),
        with(chat_request(), "prompt_cache_options", json!({"mode": "off"})),
    ];
    let mut refusals = Vec::new();
    for body in &bodies {
        refusals.push(server.chat(body).await.error());
    }
    insta::assert_snapshot!(refusals.join("\n"));
}

#[tokio::test]
async fn conversations_are_checked_as_documented() {
    let server = Server::start().await;
    let calls = |ids: &[&str]| {
        let calls: Vec<Value> = ids
            .iter()
            .map(|id| json!({"id": id, "type": "function", "function": {"name": "git__git_log", "arguments": "{}"}}))
            .collect();
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
    let talks = [
        vec![calls(&["a"])],
        vec![calls(&["a"]), json!({"role": "user", "content": "and now?"})],
        vec![calls(&["a", "b"]), result("a"), json!({"role": "user", "content": "x"})],
        vec![calls(&["a"]), result("b")],
        vec![calls(&["a"]), result("a"), result("a")],
        vec![calls(&["a", "a"]), result("a")],
        vec![result("a")],
        vec![calls(&[])],
        vec![json!({"role": "assistant", "content": null})],
        vec![json!({"role": "user", "content": null})],
        vec![json!({"role": "tool", "content": "x"})],
        vec![json!({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]})],
        vec![json!({"role": "narrator", "content": "x"})],
    ];
    let mut refusals = Vec::new();
    for talk in talks {
        let mut body = chat_request();
        body["messages"].as_array_mut().unwrap().extend(talk);
        refusals.push(server.chat(&body).await.error());
    }
    refusals.push(server.chat(&with(chat_request(), "messages", json!([]))).await.error());
    insta::assert_snapshot!(refusals.join("\n"));
}

#[tokio::test]
async fn keys_are_needed_but_for_the_local_model() {
    let server = Server::start().await;
    let ask = async |model: &str, headers: &str| {
        let body = with(chat_request(), "model", model.into()).to_string();
        server.send("POST", "/v1/chat/completions", headers, body.as_bytes()).await.unwrap()
    };
    let bare = "content-type: application/json\r\n";
    assert_eq!(ask("gpt-5-mini", bare).await.status, 401);
    assert_eq!(ask("gpt-5-mini", "authorization: Bearer k\r\n").await.status, 400, "a content type is needed");
    assert_eq!(
        ask("scripted", bare).await.json()["usage"]["total_tokens"].as_u64().map(|tokens| tokens > 0),
        Some(true)
    );
    assert_eq!(server.ledger().last().unwrap()["billed"], 0, "it is free");
}

#[tokio::test]
async fn models_are_listed_and_paths_not_found_in_the_formats_own_words() {
    let server = Server::start().await;
    let get = async |path: &str| server.send("GET", path, CHAT, b"").await.unwrap();
    let list = get("/v1/models").await.json();
    assert_eq!((&list["object"], &list["data"][0]["id"]), (&"list".into(), &"gpt-5-mini".into()));
    assert_eq!(get("/v1/models/scripted").await.json()["object"], "model");
    let errors = [get("/v1/models/nope").await.error(), get("/v1/responses").await.error()];
    insta::assert_snapshot!(errors.join("\n"), @r"
    404 invalid_request_error model_not_found: The model `nope` does not exist or you do not have access to it.
    404 invalid_request_error: Invalid URL (GET /v1/responses)
    ");
}

#[tokio::test]
async fn the_same_request_is_answered_alike_in_both_formats() {
    let server = Server::start().await;
    let chat = server.chat(&chat_request()).await.json();
    let message = server.message(&crate::support::request()).await.json();
    let arguments =
        chat["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"].as_str().unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&arguments).unwrap(), message["content"][0]["input"]);
}
