//! Usage, caches and the ledger.

use serde_json::{Value, json};

use crate::support::{HAIKU, Server, chat_request, request, tool, with};

/// A request whose tool list and system prompt are a prefix of some 5,000 tokens behind a breakpoint.
fn cached(text: &str) -> Value {
    let mut body = with(request(), "tools", json!([tool("git__git_log", &"Shows commits. ".repeat(1_200))]));
    body["system"] = json!([{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]);
    body["messages"] = json!([{"role": "user", "content": text}]);
    body
}

fn classes(usage: &Value) -> [u64; 4] {
    ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"]
        .map(|class| usage[class].as_u64().unwrap())
}

#[tokio::test]
async fn a_prefix_is_written_by_the_first_request_and_read_by_the_next() {
    let server = Server::start().await;
    let first = server.message(&cached("one")).await.json()["usage"].clone();
    let second = server.message(&cached("two")).await.json()["usage"].clone();
    let ([input, written, none, _], [again, nothing, read, _]) = (classes(&first), classes(&second));
    assert!(written > 4_096);
    assert_eq!((none, nothing, read, input), (0, 0, written, again));
    assert_eq!(first["cache_creation"]["ephemeral_5m_input_tokens"], written);
    assert_eq!((&first["service_tier"], &first["inference_geo"]), (&"standard".into(), &"global".into()));
}

#[tokio::test]
async fn without_a_breakpoint_and_below_the_minimum_nothing_is_cached() {
    let server = Server::start().await;
    let mut bare = cached("one");
    bare["system"] = json!("Be brief.");
    let mut short = request();
    short["system"] = json!([{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]);
    for body in [bare, short] {
        for _ in 0..2 {
            let [_, written, read, _] = classes(&server.message(&body).await.json()["usage"]);
            assert_eq!((written, read), (0, 0));
        }
    }
}

#[tokio::test]
async fn a_warm_up_without_output_writes_the_prefix() {
    let server = Server::start().await;
    let warm = server.message(&with(cached("one"), "max_tokens", json!(0))).await.json();
    assert_eq!((&warm["content"], &warm["stop_reason"]), (&json!([]), &"max_tokens".into()));
    let [_, written, _, output] = classes(&warm["usage"]);
    assert!(written > 4_096 && output == 0);
    assert_eq!(classes(&server.message(&cached("two")).await.json()["usage"])[2], written);
}

#[tokio::test]
async fn a_line_says_draw_model_tokens_and_what_they_cost() {
    let server = Server::start().await;
    let reply = server.try_message(&cached("one"), "x-bench-draw: t1/L2/3\r\n").await.unwrap();
    let [input, written, _, output] = classes(&reply.json()["usage"]);
    let line = &server.ledger()[0];
    let cost = input * 1_000_000 + written * 1_250_000 + output * 5_000_000;
    assert_eq!((&line["billed"], &line["stated"]), (&cost.into(), &cost.into()));
    assert_eq!((&line["n"], &line["draw"], &line["model"]), (&1.into(), &"t1/L2/3".into(), &HAIKU.into()));
    assert_eq!((&line["client"], line["request_id"].as_str()), (&"usage".into(), reply.header("request-id")));
}

#[tokio::test]
async fn a_request_without_a_draw_has_one_by_its_body() {
    let server = Server::start().await;
    for text in ["one", "one", "two"] {
        server.message(&cached(text)).await;
    }
    let draws: Vec<Value> = server.ledger().iter().map(|line| line["draw"].clone()).collect();
    assert!(draws[0] == draws[1] && draws[1] != draws[2]);
}

#[tokio::test]
async fn chat_caches_by_itself_and_counts_what_is_cached_into_the_prompt() {
    let server = Server::start().await;
    let body = |model: &str, text: &str| {
        let mut body = with(chat_request(), "model", model.into());
        body["messages"][0]["content"] = "Be brief. ".repeat(1_000).into();
        body["messages"][1]["content"] = text.into();
        body
    };
    for (model, writes) in [("gpt-5-mini", false), ("gpt-5.6-luna", true)] {
        let first = server.chat(&body(model, "one")).await.json()["usage"].clone();
        let second = server.chat(&body(model, "two")).await.json()["usage"].clone();
        let details = |usage: &Value| {
            let details = &usage["prompt_tokens_details"];
            (details["cached_tokens"].as_u64().unwrap(), details["cache_write_tokens"].as_u64().unwrap())
        };
        let prompt = second["prompt_tokens"].as_u64().unwrap();
        let (read, written) = details(&second);
        assert!(read > 1_024 && read % 128 == 0 && read < prompt, "{second}");
        assert_eq!(written, if writes { prompt - read } else { 0 });
        assert_eq!(details(&first).0, 0);
        assert_eq!(second["total_tokens"], prompt + second["completion_tokens"].as_u64().unwrap());
    }
    let off = with(body("gpt-5.6-luna", "one"), "prompt_cache_options", json!({"mode": "explicit"}));
    let usage = server.chat(&off).await.json()["usage"].clone();
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 0);
}
