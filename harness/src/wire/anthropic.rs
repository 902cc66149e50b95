//! Anthropic Messages, API version 2023-06-01.

use std::borrow::Cow;

use bench_protocol::{
    digest::Digest,
    spec::{Breakpoint, CacheTtl},
};
use bench_results::record::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    CallAnswer, DecodeError, Entry, ForeignBody, Reply, ReplyCall, Request, Stop, Wire, digest_without_tools,
    members::{Members, arguments},
    push_json, push_string, system_text,
};
use crate::surface::ShownTool;

/// The Messages format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anthropic;

const FORMAT: &str = "Anthropic Messages";

/// The neutral form is this format's own.
fn tool(shown: &ShownTool) -> String {
    shown.json().to_owned()
}

impl Wire for Anthropic {
    fn id(&self) -> &'static str {
        "anthropic"
    }

    fn encode(&self, request: &Request<'_>, out: &mut Vec<u8>) {
        push_body(request, Purpose::Complete, out);
    }

    fn decode(&self, body: &[u8]) -> Result<Reply, DecodeError> {
        let shape = |why: String| DecodeError::Shape { format: FORMAT, why };
        let message: Message<'_> = serde_json::from_slice(body).map_err(|error| shape(error.to_string()))?;
        if message.kind != "message" {
            return Err(shape(format!("its type is `{}`", message.kind)));
        }
        let blocks: Vec<Block> =
            serde_json::from_str(message.content.get()).map_err(|error| shape(error.to_string()))?;
        let mut text = String::new();
        let mut calls = Vec::new();
        let mut oddities = Vec::new();
        for block in blocks {
            match block.kind.as_str() {
                "text" => text.push_str(block.text.as_deref().unwrap_or_default()),
                "tool_use" => calls.push(block.call()),
                "thinking" | "redacted_thinking" => {}
                _ => oddities.push("unknown content block"),
            }
        }
        let repaired = super::repair_ids(&mut calls, &mut oddities);
        let content = if repaired { with_ids(message.content, &calls) } else { Ok(message.content.to_owned()) };
        let usage = super::read_usage(message.usage, WireUsage::classes, &mut oddities);
        let about: UsageNotes =
            message.usage.and_then(|usage| serde_json::from_str(usage.get()).ok()).unwrap_or_default();
        Ok(Reply {
            text,
            calls,
            stop: match message.stop_reason.as_deref() {
                Some("end_turn" | "stop_sequence") => Stop::End,
                Some("tool_use") => Stop::Calls,
                Some("max_tokens") => Stop::Truncated,
                Some("refusal") => Stop::Refused,
                Some("model_context_window_exceeded") => Stop::ContextFull,
                _ => Stop::Other,
            },
            usage,
            model: message.model,
            service_tier: about.service_tier,
            geo: about.inference_geo,
            content: content.map_err(|error| shape(error.to_string()))?,
            oddities,
        })
    }

    fn request_digest(&self, request: &Request<'_>, body: &[u8]) -> Result<Digest, ForeignBody> {
        digest_without_tools(body, request.surface.wire(tool), request.surface)
    }
}

/// What a body is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// An answer of the model.
    Complete,
    /// A free count of its tokens; that endpoint takes no sampling fields.
    Count,
}

impl Anthropic {
    /// Writes the body of a `count_tokens` request into `out`, which is cleared first.
    pub fn encode_count(request: &Request<'_>, out: &mut Vec<u8>) {
        push_body(request, Purpose::Count, out);
    }
}

// Keys stand in the order of the cached prefix (tools, system, messages), with the long-lived ones first.
fn push_body(request: &Request<'_>, purpose: Purpose, out: &mut Vec<u8>) {
    out.clear();
    let settings = request.settings;
    out.extend_from_slice(b"{\"model\":");
    push_string(out, &settings.model);
    if purpose == Purpose::Complete {
        out.extend_from_slice(format!(",\"max_tokens\":{}", settings.max_tokens).as_bytes());
        if let Some(temperature) = &settings.temperature {
            out.extend_from_slice(format!(",\"temperature\":{temperature}").as_bytes());
        }
        if let Some(tier) = &settings.service_tier {
            out.extend_from_slice(b",\"service_tier\":");
            push_string(out, tier);
        }
    }
    if settings.thinking_off {
        out.extend_from_slice(b",\"thinking\":{\"type\":\"disabled\"}");
    }
    if !request.surface.tools().is_empty() {
        out.extend_from_slice(b",\"tools\":");
        out.extend_from_slice(request.surface.wire(tool).as_bytes());
        let one = !settings.parallel_calls;
        out.extend_from_slice(
            format!(",\"tool_choice\":{{\"type\":\"auto\",\"disable_parallel_tool_use\":{one}}}").as_bytes(),
        );
    }
    out.extend_from_slice(b",\"system\":[{\"type\":\"text\",\"text\":");
    push_string(out, &system_text(request));
    if settings.cache.breakpoints.contains(&Breakpoint::System) {
        out.extend_from_slice(match settings.cache.ttl {
            CacheTtl::FiveMinutes => b",\"cache_control\":{\"type\":\"ephemeral\"}".as_slice(),
            CacheTtl::OneHour => b",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}",
        });
    }
    out.extend_from_slice(b"}],\"messages\":[");
    for (position, entry) in request.entries.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        push_entry(out, entry);
    }
    out.extend_from_slice(b"]}");
}

/// The turn with the ids that its calls were given; every block whose id stands stays byte for byte.
fn with_ids(content: &RawValue, calls: &[ReplyCall]) -> Result<Box<RawValue>, serde_json::Error> {
    let blocks: Vec<&RawValue> = serde_json::from_str(content.get())?;
    let mut ids = calls.iter().map(|call| &call.id);
    let mut out = Vec::with_capacity(content.get().len() + 16 * calls.len());
    out.push(b'[');
    for (position, block) in blocks.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        let Head { kind, id: sent } = serde_json::from_str(block.get())?;
        let id = if kind == "tool_use" { ids.next() } else { None };
        match id {
            Some(id) if sent.as_deref() != Some(id.as_str()) => {
                let mut block: Members = serde_json::from_str(block.get())?;
                block.set("id", serde_json::value::to_raw_value(id)?);
                push_json(&mut out, &block);
            }
            _ => out.extend_from_slice(block.get().as_bytes()),
        }
    }
    out.push(b']');
    serde_json::from_slice(&out)
}

fn push_entry(out: &mut Vec<u8>, entry: &Entry) {
    match entry {
        Entry::User(text) => {
            out.extend_from_slice(b"{\"role\":\"user\",\"content\":");
            push_string(out, text);
        }
        Entry::Assistant(content) => {
            out.extend_from_slice(b"{\"role\":\"assistant\",\"content\":");
            // An empty turn is refused by the API when sent back; one blank text block stands for it.
            if content.get().trim() == "[]" {
                out.extend_from_slice(b"[{\"type\":\"text\",\"text\":\".\"}]");
            } else {
                out.extend_from_slice(content.get().as_bytes());
            }
        }
        Entry::Call { id, name, arguments } => {
            out.extend_from_slice(b"{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":");
            push_string(out, id);
            out.extend_from_slice(b",\"name\":");
            push_string(out, name);
            out.extend_from_slice(b",\"input\":");
            push_json(out, arguments);
            out.extend_from_slice(b"}]");
        }
        Entry::Results(answers) => {
            out.extend_from_slice(b"{\"role\":\"user\",\"content\":[");
            for (position, answer) in answers.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                push_answer(out, answer);
            }
            out.push(b']');
        }
    }
    out.push(b'}');
}

fn push_answer(out: &mut Vec<u8>, answer: &CallAnswer) {
    out.extend_from_slice(b"{\"type\":\"tool_result\",\"tool_use_id\":");
    push_string(out, &answer.id);
    if answer.is_error {
        out.extend_from_slice(b",\"is_error\":true");
    }
    out.extend_from_slice(b",\"content\":[");
    for (position, text) in answer.text.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
        push_string(out, text);
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    model: String,
    #[serde(borrow)]
    content: &'a RawValue,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default, borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    id: Option<Cow<'a, str>>,
}

/// What stands in the usage object beside counts.
#[derive(Deserialize, Default)]
struct UsageNotes {
    #[serde(default)]
    service_tier: Option<String>,
    #[serde(default)]
    inference_geo: Option<String>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
}

impl Block {
    fn call(self) -> ReplyCall {
        let arguments = self.input.map_or_else(|| Err(String::new()), |input| arguments(input.get()));
        ReplyCall { id: self.id.unwrap_or_default(), name: self.name.unwrap_or_default(), arguments }
    }
}

/// Usage as sent: `input_tokens` is only the part that the cache neither read nor wrote.
#[derive(Deserialize)]
struct WireUsage {
    input_tokens: u64,
    output_tokens: u64,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation: Option<Written>,
}

/// The split of what the cache wrote, by how long it lives.
#[derive(Deserialize, Default)]
struct Written {
    #[serde(default)]
    ephemeral_5m_input_tokens: Option<u64>,
    #[serde(default)]
    ephemeral_1h_input_tokens: Option<u64>,
}

impl WireUsage {
    /// Where the split and its sum disagree, the larger one counts: a bill is never read as smaller than it may be. None
    /// where the numbers are beyond counting.
    fn classes(self) -> Option<Usage> {
        let split = self.cache_creation.unwrap_or_default();
        let hour = split.ephemeral_1h_input_tokens.unwrap_or(0);
        let parts = split.ephemeral_5m_input_tokens.unwrap_or(0).checked_add(hour)?;
        let written = self.cache_creation_input_tokens.unwrap_or(0).max(parts);
        Some(Usage {
            input: self.input_tokens,
            cache_write: written.checked_sub(hour)?,
            cache_write_1h: hour,
            cache_read: self.cache_read_input_tokens.unwrap_or(0),
            output: self.output_tokens,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bench_protocol::spec::Protocol;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::{
        surface::Surface,
        wire::{Settings, members::tests::nested},
    };

    fn surface() -> Surface {
        let shown = ShownTool::new("git__git_log".into(), Some("Shows".into()), &json!({"type": "object"})).unwrap();
        Surface::new(vec![Arc::new(shown)], String::new())
    }

    #[test]
    fn body_has_tools_system_and_messages_in_prefix_order() {
        let settings = Settings::of(&Protocol::built_in().unwrap());
        let surface = surface();
        let entries = [Entry::User("hi \"there\"".into())];
        let request = Request { settings: &settings, system: "be right", surface: &surface, entries: &entries };
        let mut body = Vec::new();
        Anthropic.encode(&request, &mut body);
        insta::assert_snapshot!(String::from_utf8(body.clone()).unwrap());
        assert_ne!(Anthropic.request_digest(&request, &body).unwrap(), Digest::of(&body));
    }

    #[test]
    fn a_body_without_the_surface_it_is_said_to_show_has_no_digest() {
        let settings = Settings::of(&Protocol::built_in().unwrap());
        let (surface, empty) = (surface(), Surface::new(Vec::new(), String::new()));
        let entries = [Entry::User("a".into())];
        let request = |surface| Request { settings: &settings, system: "s", surface, entries: &entries };
        let mut body = Vec::new();
        Anthropic.encode(&request(&empty), &mut body);
        assert_eq!(Anthropic.request_digest(&request(&empty), &body), Ok(Digest::of(&body)), "nothing is left out");
        assert_eq!(Anthropic.request_digest(&request(&surface), &body), Err(ForeignBody));
    }

    #[test]
    fn request_digest_tells_surfaces_and_conversations_apart() {
        let settings = Settings::of(&Protocol::built_in().unwrap());
        let digest = |surface: &Surface, text: &str| {
            let entries = [Entry::User(text.into())];
            let request = Request { settings: &settings, system: "s", surface, entries: &entries };
            let mut body = Vec::new();
            Anthropic.encode(&request, &mut body);
            Anthropic.request_digest(&request, &body).unwrap()
        };
        let empty = Surface::new(Vec::new(), String::new());
        assert_ne!(digest(&surface(), "a"), digest(&surface(), "b"));
        assert_ne!(digest(&surface(), "a"), digest(&empty, "a"));
        assert_eq!(digest(&surface(), "a"), digest(&surface(), "a"));
    }

    #[test]
    fn reply_keeps_every_call_and_splits_usage() {
        let body = br#"{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"ok"},
            {"type":"tool_use","id":"a","name":"n","input":{"k":1}},{"type":"tool_use","id":"a","name":"n","input":"no"}],
            "stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":7,"cache_creation_input_tokens":30,
            "cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"cache_read_input_tokens":null},
            "future":{"x":[]}}"#;
        let reply = Anthropic.decode(body).unwrap();
        assert_eq!(reply.calls.len(), 2);
        assert_eq!(reply.calls[1].arguments, Err("\"no\"".to_owned()));
        assert_ne!(reply.calls[0].id, reply.calls[1].id);
        let usage = reply.usage.unwrap();
        assert_eq!((usage.input, usage.cache_write, usage.cache_write_1h, usage.cache_read), (5, 10, 20, 0));
    }

    #[test]
    fn repaired_ids_stand_in_the_turn_that_is_sent_back_and_other_blocks_keep_their_bytes() {
        let body = br#"{"type":"message","model":"x","content":[{"type":"thinking", "signature":"s"},
            {"type":"tool_use","id":"a","name":"n","input":{}},{"type":"tool_use","name":"n","input":{"z":1,"a":2}},
            {"type":"odd",  "n":1.50}],"stop_reason":"tool_use"}"#;
        let reply = Anthropic.decode(body).unwrap();
        assert_eq!(
            reply.content.get(),
            r#"[{"type":"thinking", "signature":"s"},{"type":"tool_use","id":"a","name":"n","input":{}},{"type":"tool_use","name":"n","input":{"z":1,"a":2},"id":"call_1"},{"type":"odd",  "n":1.50}]"#
        );
        assert_eq!(reply.calls[1].id, "call_1");
    }

    #[test]
    fn a_turn_without_repairs_keeps_its_bytes() {
        let body = br#"{"type":"message","content":[ {"input":{},"id":"a","name":"n","type":"tool_use"} ]}"#;
        let reply = Anthropic.decode(body).unwrap();
        assert_eq!(reply.content.get(), r#"[ {"input":{},"id":"a","name":"n","type":"tool_use"} ]"#);
        assert!(reply.oddities.is_empty());
    }

    #[test]
    fn impossible_usage_counts_as_missing_and_the_reply_survives() {
        let endless = r#"{"input_tokens":1,"output_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":18446744073709551615,
            "ephemeral_1h_input_tokens":1}}"#;
        for usage in [
            r#"{"input_tokens":-1,"output_tokens":1}"#,
            r#"{"input_tokens":0,"output_tokens":1}"#,
            r#"{"input_tokens":1}"#,
            r#"{"input_tokens":4294967297,"output_tokens":1}"#,
            r#"{"input_tokens":18446744073709551615,"output_tokens":18446744073709551615}"#,
            endless,
            "{}",
            "7",
        ] {
            let body = format!(r#"{{"type":"message","content":[],"usage":{usage}}}"#);
            let reply = Anthropic.decode(body.as_bytes()).unwrap();
            assert_eq!((reply.usage, reply.oddities.len()), (None, 1), "{usage}");
        }
        let reply = Anthropic.decode(br#"{"type":"message","content":[],"usage":null}"#).unwrap();
        assert_eq!((reply.usage, reply.oddities.len()), (None, 0));
    }

    #[test]
    fn what_the_cache_wrote_is_the_larger_of_its_sum_and_its_parts() {
        for (sum, five, hour, expected) in [
            ("30", "10", "20", (10, 20)),
            ("5", "10", "20", (10, 20)),
            ("40", "10", "20", (20, 20)),
            ("null", "10", "0", (10, 0)),
        ] {
            let body = format!(
                r#"{{"type":"message","content":[],"usage":{{"input_tokens":1,"output_tokens":1,"cache_creation_input_tokens":{sum},
                "cache_creation":{{"ephemeral_5m_input_tokens":{five},"ephemeral_1h_input_tokens":{hour}}}}}}}"#
            );
            let usage = Anthropic.decode(body.as_bytes()).unwrap().usage.unwrap();
            assert_eq!((usage.cache_write, usage.cache_write_1h), expected, "{sum} {five} {hour}");
        }
    }

    #[test]
    fn arguments_of_any_depth_leave_the_reply_readable() {
        for (depth, id, readable) in [(64, r#""id":"a","#, true), (65, r#""id":"a","#, false), (4_000, "", false)] {
            let body = format!(
                r#"{{"type":"message","content":[{{"type":"tool_use",{id}"name":"n","input":{}}}]}}"#,
                nested(depth)
            );
            let reply = Anthropic.decode(body.as_bytes()).unwrap();
            assert_eq!(reply.calls[0].arguments.is_ok(), readable, "{depth}");
            assert!(!reply.calls[0].id.is_empty() && reply.content.get().contains(&nested(depth)));
        }
    }

    #[test]
    fn a_count_has_the_same_prompt_and_no_sampling_fields() {
        let settings = Settings { thinking_off: true, ..Settings::of(&Protocol::built_in().unwrap()) };
        let surface = surface();
        let entries = [Entry::User("hi".into())];
        let request = Request { settings: &settings, system: "s", surface: &surface, entries: &entries };
        let (mut count, mut complete) = (Vec::new(), Vec::new());
        Anthropic::encode_count(&request, &mut count);
        Anthropic.encode(&request, &mut complete);
        let mut complete: Map<String, Value> = serde_json::from_slice(&complete).unwrap();
        assert!(complete.shift_remove("max_tokens").is_some() && complete.shift_remove("temperature").is_some());
        assert_eq!(serde_json::from_slice::<Map<String, Value>>(&count).unwrap(), complete);
    }

    #[test]
    fn an_error_object_is_not_a_reply() {
        assert!(Anthropic.decode(br#"{"type":"error","error":{"type":"api_error"}}"#).is_err());
        assert!(Anthropic.decode(b"<html>").is_err());
    }
}
