//! Every fault, as a client sees it and as the server books it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Response, Server, TEXT, chat_request, request};

/// A server that plays one fault to its first request.
async fn first(kind: &str, more: &str) -> Server {
    Server::with(&format!("[[fault]]\nkind = \"{kind}\"\nnth = [1]\n{more}")).await
}

/// Client, stated and billed of the only line.
fn booked(server: &Server) -> (String, bool, bool) {
    let lines = server.ledger();
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    let billed = line["billed"].as_u64().unwrap();
    if let Some(stated) = line["stated"].as_u64() {
        assert!(billed == stated || billed == 0);
    }
    (line["client"].as_str().unwrap().to_owned(), line["stated"].is_u64(), billed > 0)
}

#[tokio::test]
async fn statuses_that_are_documented_to_be_free_are_free() {
    for (kind, status, error) in [
        ("unauthorized", 401, "authentication_error"),
        ("invalid-request", 400, "invalid_request_error"),
        ("not-found", 404, "not_found_error"),
        ("rate-limited", 429, "rate_limit_error"),
        ("spend-cap", 429, "rate_limit_error"),
    ] {
        let server = first(kind, "").await;
        let refused = server.message(&request()).await;
        assert_eq!((refused.status, &refused.json()["error"]["type"]), (status, &error.into()), "{kind}");
        assert_eq!(refused.header("retry-after").is_some(), kind == "rate-limited", "{kind}");
        assert_eq!(booked(&server), ("free".to_owned(), false, false), "{kind}");
        assert_eq!(server.message(&request()).await.status, 200);
    }
}

#[tokio::test]
async fn a_wait_is_stated_in_whole_seconds_and_in_milliseconds() {
    let server = first("rate-limited", "wait_ms = 1500").await;
    let refused = server.message(&request()).await;
    assert_eq!((refused.header("retry-after"), refused.header("retry-after-ms")), (Some("2"), Some("1500")));
    assert_eq!(refused.header("anthropic-ratelimit-requests-remaining"), Some("0"));
}

#[tokio::test]
async fn too_large_comes_from_the_edge_and_is_no_json() {
    let server = first("too-large", "").await;
    let refused = server.message(&request()).await;
    assert_eq!((refused.status, refused.header("content-type")), (413, Some("text/html")));
    assert!(serde_json::from_slice::<Value>(&refused.body).is_err());
    assert_eq!(booked(&server), ("free".to_owned(), false, false));
}

#[tokio::test]
async fn statuses_that_are_not_documented_to_be_free_are_billed_as_the_script_says() {
    for (kind, status, error) in [
        ("server-error", 500, "api_error"),
        ("unavailable", 503, "overloaded_error"),
        ("timeout", 504, "timeout_error"),
        ("overloaded", 529, "overloaded_error"),
    ] {
        for billed in [true, false] {
            let server = first(kind, &format!("billed = {billed}")).await;
            let refused = server.message(&request()).await;
            assert_eq!((refused.status, &refused.json()["error"]["type"]), (status, &error.into()));
            assert_eq!(booked(&server), ("nothing".to_owned(), false, billed), "{kind}");
        }
    }
}

#[tokio::test]
async fn a_late_reply_is_whole() {
    let server = first("slow-headers", "wait_ms = 300").await;
    let start = Instant::now();
    let reply = server.message(&request()).await;
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert_eq!(reply.json()["stop_reason"], "tool_use");
    assert_eq!(booked(&server), ("usage".to_owned(), true, true));
}

#[tokio::test]
async fn a_slow_body_is_whole_in_the_end() {
    let server = first("slow-body", "wait_ms = 30").await;
    let start = Instant::now();
    let reply = server.message(&request()).await;
    assert!(start.elapsed() >= Duration::from_millis(8 * 30));
    assert!(!reply.cut);
    assert_eq!(reply.json()["stop_reason"], "tool_use");
}

#[tokio::test]
async fn a_client_that_leaves_a_late_reply_is_billed() {
    let server = first("slow-headers", "wait_ms = 60000").await;
    let body = request();
    let asked = server.try_message(&body, "");
    assert!(tokio::time::timeout(Duration::from_millis(300), asked).await.is_err());
    assert!(booked(&server).2);
}

#[tokio::test]
async fn a_cut_body_is_shorter_than_it_says() {
    for billed in [true, false] {
        let server = first("cut-body", &format!("billed = {billed}")).await;
        let reply = server.message(&request()).await;
        assert!(reply.status == 200 && reply.cut && !reply.body.is_empty());
        assert_eq!(booked(&server), ("nothing".to_owned(), false, billed));
    }
}

#[tokio::test]
async fn bodies_that_no_client_can_read() {
    let parses = |reply: &Response| serde_json::from_slice::<Value>(&reply.body).is_ok();
    for billed in [true, false] {
        let more = format!("billed = {billed}");
        for (kind, content_type, encoding) in [
            ("wrong-json", "application/json", None),
            ("wrong-content-type", "text/html", None),
            ("wrong-encoding", "application/json", Some("gzip")),
        ] {
            let server = first(kind, &more).await;
            let reply = server.message(&request()).await;
            assert_eq!((reply.status, reply.cut), (200, false));
            assert_eq!(
                (reply.header("content-type"), reply.header("content-encoding")),
                (Some(content_type), encoding)
            );
            assert!(encoding.is_some() || !parses(&reply), "{kind}");
            assert_eq!(booked(&server), ("nothing".to_owned(), false, billed), "{kind}");
        }
    }
}

#[tokio::test]
async fn a_reply_without_usage_is_billed_all_the_same() {
    let server = first("no-usage", "billed = true").await;
    let reply = server.message(&request()).await.json();
    assert_eq!((&reply["usage"], &reply["stop_reason"]), (&Value::Null, &"tool_use".into()));
    assert_eq!(booked(&server), ("nothing".to_owned(), false, true));
}

#[tokio::test]
async fn a_reset_is_a_reset_before_and_after_billing() {
    for billed in [true, false] {
        let server = first("reset", &format!("billed = {billed}")).await;
        let error = server.try_message(&request(), "").await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        assert_eq!(booked(&server), ("nothing".to_owned(), false, billed));
        assert_eq!(server.ledger()[0].get("status"), None);
        assert_eq!(server.message(&request()).await.status, 200);
    }
}

#[tokio::test]
async fn a_hang_ends_in_a_reset_and_not_before_its_time() {
    let server = first("hang", "billed = true\nwait_ms = 200").await;
    let start = Instant::now();
    let error = server.try_message(&request(), "").await.unwrap_err();
    assert!(start.elapsed() >= Duration::from_millis(200));
    assert_eq!((error.kind(), booked(&server).2), (std::io::ErrorKind::ConnectionReset, true));
}

#[tokio::test]
async fn calls_come_twice_under_one_id_or_two() {
    for (kind, same) in [("duplicate-ids", true), ("parallel-calls", false)] {
        let server = first(kind, "").await;
        let content = server.message(&request()).await.json()["content"].clone();
        assert_eq!(content.as_array().unwrap().len(), 2);
        assert_eq!(content[0]["input"], content[1]["input"]);
        assert_eq!(content[0]["id"] == content[1]["id"], same, "{kind}");
        assert_eq!(booked(&server), ("usage".to_owned(), true, true));
    }
}

#[tokio::test]
async fn a_refusal_shows_its_tokens_and_they_are_waived() {
    let server = first("refusal", "").await;
    let reply = server.message(&request()).await.json();
    assert_eq!((&reply["content"], &reply["stop_reason"]), (&json!([]), &"refusal".into()));
    assert_eq!(reply["stop_details"]["type"], "refusal");
    assert!(reply["usage"]["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(booked(&server), ("usage".to_owned(), true, false));
}

#[tokio::test]
async fn the_output_limit_takes_the_last_argument() {
    let server = first("max-tokens", "").await;
    let reply = server.message(&request()).await.json();
    assert_eq!(reply["stop_reason"], "max_tokens");
    assert_eq!(reply["content"][0]["input"], json!({"repo_path": "/srv/app"}));
    let server = first("max-tokens", "").await;
    let reply = server.chat(&chat_request()).await.json();
    let arguments =
        reply["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"].as_str().unwrap().to_owned();
    assert_eq!((&reply["choices"][0]["finish_reason"], &*arguments), (&"length".into(), r#"{"repo_path":"/srv/app""#));
}

#[tokio::test]
async fn an_excessive_usage_is_beyond_any_bound_on_the_request() {
    let server = first("excess-usage", "").await;
    let body = request();
    let reply = server.message(&body).await.json();
    assert!(reply["usage"]["input_tokens"].as_u64().unwrap() > 2 * body.to_string().len() as u64 + 1_000_000);
    assert_eq!(booked(&server), ("usage".to_owned(), true, true));
}

#[tokio::test]
async fn a_draw_is_struck_by_name_and_only_as_often_as_the_script_says() {
    let faults = "[[fault]]\nkind = \"overloaded\"\nbilled = false\ndraws = [\"t1/L2/1\"]\ntries = 2";
    let server = Server::with(faults).await;
    let ask =
        async |draw: &str| server.try_message(&request(), &format!("x-bench-draw: {draw}\r\n")).await.unwrap().status;
    let statuses = [ask("t1/L2/1").await, ask("t1/L1/1").await, ask("t1/L2/1").await, ask("t1/L2/1").await];
    assert_eq!(statuses, [529, 200, 529, 200]);
    let draws: Vec<Value> = server.ledger().iter().map(|line| line["draw"].clone()).collect();
    assert_eq!(draws, ["t1/L2/1", "t1/L1/1", "t1/L2/1", "t1/L2/1"]);
}

#[tokio::test]
async fn chat_has_its_own_words_for_the_same_faults() {
    let mut errors = Vec::new();
    for kind in ["unauthorized", "not-found", "rate-limited", "spend-cap"] {
        errors.push(first(kind, "").await.chat(&chat_request()).await.error());
    }
    for kind in ["server-error", "unavailable", "overloaded"] {
        errors.push(first(kind, "billed = false").await.chat(&chat_request()).await.error());
    }
    insta::assert_snapshot!(errors.join("\n"));
    let refusal = first("refusal", "").await.chat(&chat_request()).await.json();
    assert!(refusal["choices"][0]["message"]["refusal"].is_string());
    let twice = first("duplicate-ids", "").await.chat(&chat_request()).await.json();
    let calls = &twice["choices"][0]["message"]["tool_calls"];
    assert_eq!(calls[0]["id"], calls[1]["id"]);
}

#[tokio::test]
async fn a_request_in_order_is_not_touched_by_faults_of_others() {
    let server = Server::with("[[fault]]\nkind = \"refusal\"\nnth = [2]").await;
    let mut body = request();
    assert_eq!(server.message(&body).await.json()["stop_reason"], "tool_use");
    assert_eq!(server.message(&body).await.json()["stop_reason"], "refusal");
    body["messages"] = json!([{"role": "user", "content": format!("{TEXT} Please.")}]);
    assert_eq!(server.message(&body).await.json()["stop_reason"], "end_turn");
}
