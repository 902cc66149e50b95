//! The live clients against sockets that misbehave: every failure lands in the right class, is one request on the wire,
//! and shows no key.

use std::time::{Duration, Instant};

use crate::server::{Server, Step, answer, canary, chat, endpoint_of, json_answer, message, outcome_of};
use bench_harness::models::{Billing, Cause, Endpoint, Outcome, Provider, Retry};

/// What an outcome came to: class, books, retry.
fn summary(outcome: &Outcome) -> (&'static str, Billing, Option<Retry>) {
    let class = match outcome {
        Outcome::Reply(_) => "reply",
        Outcome::NotSent { .. } => "not sent",
        Outcome::Refused(_) => "refused",
        Outcome::Ambiguous(_) => "ambiguous",
    };
    (class, outcome.billing(), outcome.retry())
}

const UNKNOWN: (&str, Billing, Option<Retry>) = ("ambiguous", Billing::Unknown, Some(Retry::Costly));

/// Plays the steps to one attempt and returns its outcome. There was one request on the wire.
async fn played(provider: Provider, steps: Vec<Step>) -> Outcome {
    let server = Server::start(steps).await;
    let outcome = outcome_of(endpoint_of(provider, &server.url())).await;
    assert_eq!(server.requests().len(), 1, "an attempt is one request");
    outcome
}

fn cause(outcome: &Outcome) -> &Cause {
    match outcome {
        Outcome::Ambiguous(unclear) => &unclear.cause,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_whole_reply_of_either_format_is_metered() {
    for (provider, body) in [(Provider::Anthropic, message()), (Provider::OpenAi, chat())] {
        let outcome = played(provider, vec![json_answer(200, "request-id: req_7\r\n", &body)]).await;
        assert_eq!(summary(&outcome), ("reply", Billing::Metered, None));
        let Outcome::Reply(answered) = outcome else { panic!() };
        assert_eq!(answered.facts.request_id.as_deref(), Some("req_7"));
        assert_eq!(answered.body, body.as_bytes());
        assert_eq!(answered.reply.usage.unwrap().prompt(), 12);
    }
}

#[tokio::test]
async fn a_reply_without_usage_keeps_its_reservation() {
    let body = chat().replace("\"usage\"", "\"other\"");
    let outcome = played(Provider::OpenAi, vec![json_answer(200, "", &body)]).await;
    assert_eq!(summary(&outcome), ("reply", Billing::Unknown, None));
}

#[tokio::test]
async fn slow_headers_and_a_slow_body_time_out_and_may_have_been_billed() {
    let start = Instant::now();
    let outcome = played(Provider::Anthropic, vec![Step::Read, Step::Wait(Duration::from_secs(20))]).await;
    assert_eq!(summary(&outcome), UNKNOWN);
    assert!(matches!(cause(&outcome), Cause::TimedOut(_)));
    let outcome = played(
        Provider::Anthropic,
        vec![
            Step::Read,
            Step::Send(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{\"type\":".to_vec(),
            ),
            Step::Wait(Duration::from_secs(20)),
        ],
    )
    .await;
    assert_eq!(summary(&outcome), UNKNOWN);
    assert_eq!(outcome.status(), Some(200));
    assert!(matches!(cause(&outcome), Cause::TimedOut(_)));
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn a_body_that_drips_forever_ends_at_the_total_limit() {
    let drip = (0..200).flat_map(|_| [Step::Send(b"1\r\n \r\n".to_vec()), Step::Wait(Duration::from_millis(100))]);
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let steps = [Step::Read, Step::Send(head)].into_iter().chain(drip).collect();
    let start = Instant::now();
    let outcome = played(Provider::OpenAi, steps).await;
    assert_eq!(summary(&outcome), UNKNOWN);
    assert!(matches!(cause(&outcome), Cause::TimedOut(_)));
    assert!(start.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn a_cut_body_and_a_cut_chunk_may_have_been_billed() {
    let body = message();
    let whole = answer(200, "content-type: application/json\r\n", body.as_bytes());
    let outcome = played(Provider::Anthropic, vec![Step::Read, Step::Send(whole[..whole.len() - 5].to_vec())]).await;
    assert_eq!(summary(&outcome), UNKNOWN);
    assert!(matches!(cause(&outcome), Cause::Cut(_)));

    let chunked = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}",
        body.len() + 9
    );
    let outcome = played(Provider::Anthropic, vec![Step::Read, Step::Send(chunked.into_bytes())]).await;
    assert_eq!(summary(&outcome), UNKNOWN);
    assert!(matches!(cause(&outcome), Cause::Cut(_)));

    // Without a length only the JSON tells that the end is missing.
    let open = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{}",
        &body[..body.len() - 5]
    );
    let outcome = played(Provider::Anthropic, vec![Step::Read, Step::Send(open.into_bytes())]).await;
    assert_eq!(summary(&outcome), UNKNOWN);
    assert!(matches!(cause(&outcome), Cause::Undecodable(_)));
}

#[tokio::test]
async fn a_connection_that_ends_after_the_request_may_have_been_billed() {
    for steps in [vec![Step::Read], vec![Step::Read, Step::Reset]] {
        let outcome = played(Provider::Anthropic, steps).await;
        assert_eq!(summary(&outcome), UNKNOWN);
        assert!(matches!(cause(&outcome), Cause::Lost(_)), "{outcome:?}");
    }
}

#[tokio::test]
async fn pages_wrong_json_and_foreign_encodings_behind_a_success_are_no_reply() {
    let html = answer(200, "content-type: text/html\r\n", b"<html>Please log in</html>");
    let text = answer(200, "content-type: text/plain\r\n", message().as_bytes());
    let bare = answer(200, "", message().as_bytes());
    let gzip = answer(200, "content-type: application/json\r\ncontent-encoding: gzip\r\n", &[0x1f, 0x8b, 8, 0, 0, 0]);
    for (bytes, sign) in [(html, "text/html"), (text, "text/plain"), (bare, "none"), (gzip, "gzip")] {
        let outcome = played(Provider::Anthropic, vec![Step::Read, Step::Send(bytes)]).await;
        assert_eq!(summary(&outcome), UNKNOWN);
        assert!(outcome.error().unwrap().contains(sign), "{outcome:?}");
    }
    for body in [
        "{\"type\":\"message\"}",
        "[]",
        "{}",
        "{\"type\":\"message\",\"content\":[{]}",
        "{\"error\":{\"type\":\"api_error\",\"message\":\"late\"}}",
    ] {
        let outcome = played(Provider::Anthropic, vec![json_answer(200, "", body)]).await;
        assert_eq!(summary(&outcome), UNKNOWN, "{body}");
        assert!(matches!(cause(&outcome), Cause::Undecodable(_)));
    }
}

#[tokio::test]
async fn a_huge_body_is_not_read_whether_announced_or_not() {
    let announced =
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2147483648\r\n\r\n{".to_vec();
    let outcome = played(Provider::OpenAi, vec![Step::Read, Step::Send(announced)]).await;
    assert_eq!(summary(&outcome), UNKNOWN);
    assert!(matches!(cause(&outcome), Cause::TooLarge(_)));

    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n".to_vec();
    let outcome = played(Provider::OpenAi, vec![Step::Read, Step::Send(head), Step::Flood(2 << 30)]).await;
    assert_eq!(summary(&outcome), UNKNOWN);
    assert!(matches!(cause(&outcome), Cause::TooLarge(_)));
}

#[tokio::test]
async fn refusals_carry_the_providers_words_and_wait() {
    let limit = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    let outcome = played(Provider::Anthropic, vec![json_answer(429, "retry-after: 7\r\n", limit)]).await;
    assert_eq!(summary(&outcome), ("refused", Billing::None, Some(Retry::Free)));
    assert_eq!(outcome.facts().unwrap().retry_after, Some(Duration::from_secs(7)));
    assert_eq!(outcome.error().as_deref(), Some("status 429: rate_limit_error: slow down"));

    let outcome = played(Provider::Anthropic, vec![json_answer(429, "", limit)]).await;
    assert_eq!(summary(&outcome), ("refused", Billing::None, Some(Retry::Stop)));
    let outcome = played(Provider::OpenAi, vec![json_answer(429, "", limit)]).await;
    assert_eq!(summary(&outcome), ("refused", Billing::None, Some(Retry::Free)));

    let page = answer(413, "content-type: text/html\r\n", b"<html>too large</html>");
    let outcome = played(Provider::Anthropic, vec![Step::Read, Step::Send(page)]).await;
    assert_eq!(summary(&outcome), ("refused", Billing::None, Some(Retry::Never)));
    let outcome = played(Provider::Anthropic, vec![json_answer(529, "", "{}")]).await;
    assert_eq!(summary(&outcome), ("refused", Billing::Suspect, Some(Retry::Free)));
    let outcome = played(Provider::Anthropic, vec![json_answer(500, "", "{}")]).await;
    assert_eq!(summary(&outcome), UNKNOWN);
}

#[tokio::test]
async fn a_refusal_with_a_cut_body_is_still_that_refusal() {
    let whole = answer(429, "content-type: application/json\r\nretry-after: 1\r\n", b"{\"error\":{}}");
    let outcome = played(Provider::Anthropic, vec![Step::Read, Step::Send(whole[..whole.len() - 3].to_vec())]).await;
    assert_eq!(summary(&outcome), ("refused", Billing::None, Some(Retry::Free)));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Server::start(vec![json_answer(200, "", &message())]).await;
    let place = format!("location: {}/v1/messages\r\n", elsewhere.url());
    let outcome = played(Provider::Anthropic, vec![json_answer(307, &place, "{}")]).await;
    assert_eq!(summary(&outcome), ("ambiguous", Billing::Unknown, Some(Retry::Stop)));
    assert!(outcome.error().unwrap().contains(&elsewhere.url()));
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn what_never_left_is_free() {
    // A port that was just closed.
    let closed = Server::start(Vec::new()).await.url();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let plain = Server::start(vec![Step::ReadSome, Step::Send(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())]).await;
    for (url, key, sign) in [
        (closed, Some(canary()), "start the server"),
        (plain.url().replace("http://", "https://"), Some(canary()), "http://"),
        ("http://no-such-host.invalid".to_owned(), None, "host name"),
    ] {
        let outcome = outcome_of(Endpoint { key, ..endpoint_of(Provider::OpenAi, &url) }).await;
        assert_eq!(summary(&outcome), ("not sent", Billing::None, Some(Retry::Free)), "{url}: {outcome:?}");
        assert!(outcome.error().unwrap().contains(sign), "{outcome:?}");
    }
}

#[tokio::test]
async fn requests_carry_the_right_headers_and_the_draw_goes_to_the_mock_alone() {
    for (provider, line, other) in [
        (Provider::Anthropic, "x-api-key: ", "authorization"),
        (Provider::OpenAi, "authorization: bearer ", "x-api-key"),
    ] {
        for mock in [false, true] {
            let body = if provider == Provider::OpenAi { chat() } else { message() };
            let server = Server::start(vec![json_answer(200, "", &body)]).await;
            let mut endpoint = endpoint_of(provider, &server.url());
            endpoint.mock = mock;
            assert_eq!(outcome_of(endpoint).await.billing(), Billing::Metered);
            let request = server.requests().remove(0).to_lowercase();
            let path = if provider == Provider::OpenAi { "post /v1/chat/completions " } else { "post /v1/messages " };
            assert!(request.starts_with(path), "{request}");
            assert!(request.contains(line) && !request.contains(other), "{request}");
            assert!(
                request.contains("content-type: application/json") && request.contains("accept-encoding: identity")
            );
            assert_eq!(request.contains("anthropic-version: 2023-06-01"), provider == Provider::Anthropic);
            assert_eq!(request.contains("x-bench-draw: t1/l2/3"), mock, "{request}");
        }
    }
}
