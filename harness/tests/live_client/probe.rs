//! Free requests before a run: probes, counts, keys and base URLs, and what people read when something is wrong.

use crate::server::{CANARY, Server, Step, canary, chat, endpoint_of, json_answer, message};
use bench_harness::{
    models::{Attempt, BaseUrl, Count, Endpoint, Key, Lifecycle, Model, ModelError, Outcome, Provider, connect},
    surface::Surface,
    wire::{Entry, Request, Settings},
};
use bench_protocol::spec::Protocol;

async fn model(provider: Provider, steps: Vec<Step>) -> (Server, Box<dyn Model>) {
    let server = Server::start(steps).await;
    let model = connect(endpoint_of(provider, &server.url())).ok().unwrap();
    (server, model)
}

/// The message of an error, which shows no key and is one sentence on one line.
fn words<T>(result: Result<T, ModelError>) -> String {
    let error = result.err().unwrap();
    let text = error.to_string();
    assert!(!format!("{error:?} {text}").contains(CANARY) && !text.contains('\n') && text.len() < 400, "{text}");
    text
}

#[tokio::test]
async fn anthropic_tells_whether_a_model_lives() {
    let about =
        r#"{"id":"claude-haiku-4-5-20251001","max_input_tokens":200000,"max_tokens":64000,"lifecycle":"deprecated"}"#;
    let (server, found) = model(Provider::Anthropic, vec![json_answer(200, "", about)]).await;
    let probe = found.probe().await.unwrap();
    assert_eq!((probe.lifecycle, probe.output_tokens_at_most), (Lifecycle::Deprecated, Some(64_000)));
    assert!(server.requests()[0].starts_with("GET /v1/models/claude-haiku-4-5-20251001 "));

    let gone = r#"{"type":"error","error":{"type":"not_found_error","message":"model: x"}}"#;
    let server = Server::start(vec![json_answer(404, "", gone)]).await;
    let endpoint = Endpoint { model: "claude-haiku-45".into(), ..endpoint_of(Provider::Anthropic, &server.url()) };
    let text = words(connect(endpoint).ok().unwrap().probe().await);
    assert!(text.contains("did you mean `claude-haiku-4-5`?"), "{text}");

    let retired = about.replace("deprecated", "retired");
    let (_server, found) = model(Provider::Anthropic, vec![json_answer(200, "", &retired)]).await;
    assert!(words(found.probe().await).contains("retired"));
}

#[tokio::test]
async fn a_compatible_server_is_asked_for_its_list() {
    let list = r#"{"object":"list","data":[{"id":"smollm2"},{"id":"qwen"}]}"#;
    let ask = async |steps: Vec<Step>, id: &str| {
        let server = Server::start(steps).await;
        let endpoint = Endpoint { model: id.to_owned(), ..endpoint_of(Provider::OpenAi, &server.url()) };
        connect(endpoint).ok().unwrap().probe().await
    };
    // The server answers every path with its list.
    let listing = vec![json_answer(200, "connection: close\r\n", list)];
    assert_eq!(ask(listing.clone(), "qwen").await.unwrap().lifecycle, Lifecycle::Unstated);
    assert!(words(ask(listing, "smolm2").await).contains("did you mean `smollm2`?"));
    let silent = vec![json_answer(404, "connection: close\r\n", "{}")];
    assert_eq!(ask(silent, "any").await.unwrap().lifecycle, Lifecycle::Unknown);
}

#[tokio::test]
async fn a_refused_key_a_page_and_a_redirect_each_say_what_to_do() {
    // Some providers quote the key; it goes on no record and no screen.
    let quoted = format!(r#"{{"error":{{"type":"authentication_error","message":"bad key {CANARY}"}}}}"#);
    let (_server, found) = model(Provider::Anthropic, vec![json_answer(401, "", &quoted)]).await;
    let text = words(found.probe().await);
    assert!(text.contains("check the key") && text.contains("[api key]"), "{text}");

    let page = crate::server::answer(200, "content-type: text/html\r\n", b"<html>proxy</html>");
    let (_server, found) = model(Provider::Anthropic, vec![Step::Answer(page)]).await;
    assert!(words(found.probe().await).contains("not a web page"));

    let (_server, found) = model(Provider::OpenAi, vec![json_answer(301, "location: https://x.y/\r\n", "{}")]).await;
    assert!(words(found.probe().await).contains("https://x.y/"));
}

#[tokio::test]
async fn a_count_is_free_of_sampling_fields_and_finds_refused_surfaces() {
    let settings = Settings::of(&Protocol::built_in().unwrap());
    let surface = Surface::new(Vec::new(), String::new());
    let entries = [Entry::User("hi".into())];
    let request = Request { settings: &settings, system: "s", surface: &surface, entries: &entries };
    let (server, found) = model(Provider::Anthropic, vec![json_answer(200, "", r#"{"input_tokens":41}"#)]).await;
    assert_eq!(found.count_tokens(&request).await.unwrap(), Count::Tokens(41));
    let sent = &server.requests()[0];
    assert!(sent.starts_with("POST /v1/messages/count_tokens ") && !sent.contains("max_tokens"), "{sent}");

    let no = r#"{"type":"error","error":{"type":"invalid_request_error","message":"tools.3: no anyOf"}}"#;
    let (_server, found) = model(Provider::Anthropic, vec![json_answer(400, "", no)]).await;
    let refused = found.count_tokens(&request).await.unwrap();
    assert!(matches!(refused, Count::Refused { status: 400, message } if message.contains("tools.3")));

    let (server, found) = model(Provider::OpenAi, Vec::new()).await;
    assert_eq!(found.count_tokens(&request).await.unwrap(), Count::Unavailable);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_wave_keeps_the_order_of_its_attempts() {
    let (server, found) = model(Provider::OpenAi, vec![json_answer(200, "connection: close\r\n", &chat())]).await;
    let draws: Vec<_> = (1..=5)
        .map(|turn| serde_json::from_value(serde_json::json!({"task": "t", "arm": "a", "turn": turn})).unwrap())
        .collect();
    let wave: Vec<Attempt<'_>> = draws.iter().map(|draw| Attempt { body: b"{}", draw }).collect();
    let outcomes = found.complete_wave(&wave).await;
    assert!(outcomes.len() == 5 && outcomes.iter().all(|outcome| matches!(outcome, Outcome::Reply(_))));
    assert_eq!(server.requests().len(), 5);
}

#[tokio::test]
async fn a_reply_that_quotes_the_key_is_recorded_without_it() {
    let body = message().replace("\"hi\"", &format!("\"your key is {CANARY}\""));
    let server = Server::start(vec![json_answer(200, &format!("request-id: {CANARY}\r\n"), &body)]).await;
    let outcome = crate::server::outcome_of(endpoint_of(Provider::Anthropic, &server.url())).await;
    let Outcome::Reply(answered) = outcome else { panic!("{outcome:?}") };
    assert_eq!(answered.reply.text, "your key is [api key]");
    assert!(server.requests()[0].contains(CANARY), "it was sent all the same");
}

#[test]
fn keys_are_demanded_where_needed_and_kept_off_open_networks() {
    let official = |provider: Provider| Endpoint {
        base: BaseUrl::parse(provider.official_url()).unwrap(),
        key: None,
        ..endpoint_of(provider, "http://127.0.0.1:1")
    };
    assert!(words(connect(official(Provider::Anthropic))).contains("ANTHROPIC_API_KEY"));
    assert!(words(connect(official(Provider::OpenAi))).contains("OPENAI_API_KEY"));
    let open = |key: Option<Key>| Endpoint {
        base: BaseUrl::parse("http://models.example.com").unwrap(),
        key,
        ..endpoint_of(Provider::OpenAi, "http://127.0.0.1:1")
    };
    assert!(words(connect(open(Some(canary())))).contains("unencrypted"));
    assert!(connect(open(None)).is_ok());
}
