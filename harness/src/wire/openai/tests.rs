use std::sync::Arc;

use bench_protocol::spec::Protocol;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    surface::Surface,
    wire::{LimitField, Settings, members::tests::nested},
};

fn surface() -> Surface {
    let shown = ShownTool::new("git__git_log".into(), Some("Shows \"it\"".into()), &json!({"type": "object"})).unwrap();
    let bare = ShownTool::new("git__git_diff".into(), None, &json!({"type": "object"})).unwrap();
    Surface::new(vec![Arc::new(shown), Arc::new(bare)], "Look first.".to_owned())
}

fn settings() -> Settings {
    Settings::of(&Protocol::built_in().unwrap())
}

fn encoded(settings: &Settings, entries: &[Entry]) -> String {
    let surface = surface();
    let request = Request { settings, system: "be right", surface: &surface, entries };
    let mut body = Vec::new();
    OpenAi.encode(&request, &mut body);
    assert!(serde_json::from_slice::<Value>(&body).is_ok());
    assert_ne!(OpenAi.request_digest(&request, &body).unwrap(), Digest::of(&body));
    String::from_utf8(body).unwrap()
}

/// A completion around one message and finish reason.
fn decoded(message: &Value, reason: &str) -> Reply {
    let body = json!({"model": "m", "choices": [{"index": 0, "finish_reason": reason, "message": message}]});
    OpenAi.decode(body.to_string().as_bytes()).unwrap()
}

fn call(arguments: &Value) -> Reply {
    decoded(
        &json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "n", "arguments": arguments}}]}),
        "tool_calls",
    )
}

#[test]
fn body_has_fixed_fields_then_tools_then_messages() {
    let settings = Settings {
        limit_field: LimitField::MaxCompletionTokens,
        states_choice: true,
        service_tier: Some("default".into()),
        implicit_cache_off: true,
        ..settings()
    };
    let turn = call(&json!("{}")).content;
    let entries = [
        Entry::User("hi \"there\"".into()),
        Entry::Call {
            id: "call_source".into(),
            name: "git__git_log".into(),
            arguments: Map::from_iter([("q".to_owned(), json!("é\""))]),
        },
        Entry::Results(vec![CallAnswer {
            id: "call_source".into(),
            text: vec!["one".into(), "two".into()],
            is_error: false,
        }]),
        Entry::Assistant(turn),
        Entry::Results(vec![CallAnswer { id: "a".into(), text: vec!["no such thing".into()], is_error: true }]),
    ];
    insta::assert_snapshot!(encoded(&settings, &entries));
}

#[test]
fn a_conservative_body_states_neither_choice_nor_tier() {
    let body: Map<String, Value> =
        serde_json::from_str(&encoded(&Settings { temperature: None, ..settings() }, &[Entry::User("hi".into())]))
            .unwrap();
    assert_eq!(body.keys().collect::<Vec<_>>(), ["model", "max_tokens", "tools", "messages"]);
}

#[test]
fn a_longer_conversation_extends_the_bytes_of_the_shorter_one() {
    let short = encoded(&settings(), &[Entry::User("hi".into())]);
    let long = encoded(&settings(), &[Entry::User("hi".into()), Entry::Assistant(call(&json!("{}")).content)]);
    assert!(long.starts_with(short.strip_suffix("]}").unwrap()));
}

#[test]
fn arguments_are_read_from_strings_objects_and_nothing() {
    let object = Map::from_iter([("k".to_owned(), json!(1))]);
    let cases = [
        (json!("{\"k\":1}"), Ok(object.clone()), None),
        (json!({"k": 1}), Ok(object), Some("arguments as an object")),
        (json!(""), Ok(Map::new()), Some(EMPTY_ARGUMENTS)),
        (json!(" "), Ok(Map::new()), Some(EMPTY_ARGUMENTS)),
        (json!(null), Ok(Map::new()), Some(EMPTY_ARGUMENTS)),
        (json!("null"), Ok(Map::new()), Some(EMPTY_ARGUMENTS)),
        (json!("{\"k\":"), Err("{\"k\":".to_owned()), None),
        (json!("[1]"), Err("[1]".to_owned()), None),
        (json!(7), Err("7".to_owned()), Some("arguments of a wrong type")),
    ];
    for (sent, expected, oddity) in cases {
        let reply = call(&sent);
        assert_eq!(reply.calls[0].arguments, expected, "{sent}");
        assert_eq!(reply.oddities, Vec::from_iter(oddity), "{sent}");
        // What goes back is always a string, and the same arguments.
        let back: Value = serde_json::from_str(reply.content.get()).unwrap();
        let text = back["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
        if let Ok(expected) = expected {
            assert_eq!(serde_json::from_str::<Map<String, Value>>(text).unwrap(), expected, "{sent}");
        }
    }
}

#[test]
fn missing_and_double_ids_are_made_up_and_sent_back() {
    let message = json!({"content": "", "reasoning": "kept", "tool_calls": [
        {"function": {"name": "a", "arguments": "{}"}},
        {"id": "x", "type": "function", "function": {"name": "b", "arguments": "{}"}},
        {"id": "x", "type": "function", "function": {"name": "c", "arguments": "{}"}}]});
    let reply = decoded(&message, "tool_calls");
    let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_0", "x", "call_2"]);
    let back: Value = serde_json::from_str(reply.content.get()).unwrap();
    for (call, id) in back["tool_calls"].as_array().unwrap().iter().zip(ids) {
        assert_eq!((call["id"].as_str(), call["type"].as_str()), (Some(id), Some("function")));
    }
    assert_eq!((back["role"].as_str(), back["reasoning"].as_str()), (Some("assistant"), Some("kept")));
}

#[test]
fn a_made_up_id_never_collides_with_one_that_was_sent() {
    let message = json!({"role": "assistant", "tool_calls": [
        {"type": "function", "function": {"name": "a", "arguments": "{}"}},
        {"id": "call_0", "type": "function", "function": {"name": "b", "arguments": "{}"}}]});
    let ids: Vec<String> = decoded(&message, "tool_calls").calls.into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["call_1", "call_0"]);
}

#[test]
fn a_clean_turn_goes_back_byte_for_byte() {
    let message = r#"{"role":"assistant", "content":null,"refusal":null,"tool_calls":[{"id":"a","type":"function","function":{"arguments":"{ }","name":"n"}}]}"#;
    let body = format!(r#"{{"choices":[{{"message":{message},"finish_reason":"stop"}}]}}"#);
    let reply = OpenAi.decode(body.as_bytes()).unwrap();
    assert_eq!(reply.content.get(), message);
    assert!(reply.oddities.is_empty());
}

#[test]
fn finish_reason_is_believed_only_without_calls_or_where_the_cut_shows() {
    assert_eq!(decoded(&json!({"role": "assistant", "content": "t"}), "length").stop, Stop::Truncated);
    assert_eq!(decoded(&json!({"role": "assistant", "content": "t"}), "stop").stop, Stop::End);
    assert_eq!(decoded(&json!({"role": "assistant", "content": "t"}), "content_filter").stop, Stop::Refused);
    let stop = |arguments: &Value, reason: &str| {
        let message = json!({"role": "assistant", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "n", "arguments": arguments}}]});
        decoded(&message, reason).stop
    };
    assert_eq!(stop(&json!("{}"), "stop"), Stop::Calls);
    assert_eq!(stop(&json!("{}"), "length"), Stop::Calls);
    assert_eq!(stop(&json!("{\"k\":"), "length"), Stop::Truncated);
    assert_eq!(stop(&json!(""), "length"), Stop::Truncated);
}

#[test]
fn content_may_be_null_missing_or_in_parts_and_a_refusal_is_one() {
    assert_eq!(decoded(&json!({"role": "assistant", "content": null}), "stop").text, "");
    assert_eq!(decoded(&json!({"role": "assistant"}), "stop").text, "");
    let parts = json!({"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
    assert_eq!(decoded(&parts, "stop").text, "ab");
    let refused = decoded(&json!({"role": "assistant", "content": null, "refusal": "I won't"}), "stop");
    assert_eq!((refused.stop, refused.text.as_str()), (Stop::Refused, "I won't"));
}

#[test]
fn arguments_of_any_depth_leave_the_reply_readable() {
    for (depth, readable) in [(64, true), (65, false), (4_000, false)] {
        assert_eq!(call(&json!(nested(depth))).calls[0].arguments.is_ok(), readable, "{depth}");
        // As an object, which is not the format's own form: the turn is written anew.
        let body = format!(
            r#"{{"choices":[{{"message":{{"role":"assistant","x":{0},"tool_calls":[{{"function":{{"name":"n","arguments":{0}}}}}]}}}}]}}"#,
            nested(depth)
        );
        let reply = OpenAi.decode(body.as_bytes()).unwrap();
        assert_eq!(reply.calls[0].arguments.is_ok(), readable, "{depth}");
        assert!(reply.content.get().contains(r#""type":"function""#));
    }
}

#[test]
fn cached_and_written_tokens_are_parts_of_the_prompt() {
    let usage = |usage: &Value| {
        let body = json!({"choices": [{"message": {"role": "assistant", "content": "t"}}], "usage": usage});
        OpenAi.decode(body.to_string().as_bytes()).unwrap().usage
    };
    let details = json!({"cached_tokens": 600, "cache_write_tokens": 100, "audio_tokens": 0});
    assert_eq!(
        usage(&json!({"prompt_tokens": 812, "completion_tokens": 40, "prompt_tokens_details": details})),
        Some(Usage { input: 112, cache_write: 100, cache_write_1h: 0, cache_read: 600, output: 40 })
    );
    let more = json!({"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 6}});
    assert_eq!(usage(&more), None);
    assert_eq!(usage(&json!({"prompt_tokens": 0, "completion_tokens": 0})), None);
    assert_eq!(usage(&json!({"prompt_tokens": -5, "completion_tokens": 1})), None);
    for unstated in [json!({"prompt_tokens": 5}), json!({"prompt_tokens": 5, "completion_tokens": null})] {
        assert_eq!(usage(&unstated), None, "output that is not stated is not free");
    }
    assert_eq!(usage(&json!(null)), None);
}

#[test]
fn error_objects_empty_choices_and_foreign_bytes_are_no_reply() {
    for body in [r#"{"error":{"message":"no"}}"#, r#"{"choices":[]}"#, r#"{"choices":[{"message":[]}]}"#, "<html>", ""]
    {
        assert!(OpenAi.decode(body.as_bytes()).is_err(), "{body}");
    }
}

proptest! {
    #[test]
    fn decoding_never_panics_and_what_goes_back_has_the_ids_of_the_calls(
        calls in proptest::collection::vec((proptest::option::of("[a-c]?"), "[\\PC]{0,12}"), 0..5),
    ) {
        let calls: Vec<Value> = calls
            .into_iter()
            .map(|(id, arguments)| json!({"id": id, "function": {"name": "n", "arguments": arguments}}))
            .collect();
        let reply = decoded(&json!({"role": "assistant", "content": null, "tool_calls": calls}), "stop");
        let back: Value = serde_json::from_str(reply.content.get()).unwrap();
        let sent: Vec<&str> = back["tool_calls"].as_array().map_or(Vec::new(), |calls| calls.iter().filter_map(|call| call["id"].as_str()).collect());
        let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
        prop_assert_eq!(&sent, &ids);
        let distinct: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
        prop_assert_eq!(distinct.len(), ids.len());
    }
}
