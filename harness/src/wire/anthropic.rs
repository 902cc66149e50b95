//! Anthropic Messages, API version 2023-06-01.

use bench_protocol::{
    digest::Digest,
    spec::{Breakpoint, CacheTtl},
};
use bench_results::record::Usage;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::{
    CallAnswer, DecodeError, Entry, Reply, ReplyCall, Request, Settings, Stop, Wire, digest_without_tools,
    push_json, push_string,
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

    // Keys stand in the order of the cached prefix (tools, system, messages), with the long-lived ones first.
    fn encode(&self, request: &Request<'_>, out: &mut Vec<u8>) {
        out.clear();
        let Settings { model, max_tokens, temperature, parallel_calls, cache } = request.settings;
        out.extend_from_slice(b"{\"model\":");
        push_string(out, model);
        out.extend_from_slice(format!(",\"max_tokens\":{max_tokens}").as_bytes());
        if let Some(temperature) = temperature {
            out.extend_from_slice(format!(",\"temperature\":{temperature}").as_bytes());
        }
        if !request.surface.tools().is_empty() {
            out.extend_from_slice(b",\"tools\":");
            out.extend_from_slice(request.surface.wire(tool).as_bytes());
            out.extend_from_slice(
                format!(",\"tool_choice\":{{\"type\":\"auto\",\"disable_parallel_tool_use\":{}}}", !parallel_calls)
                    .as_bytes(),
            );
        }
        out.extend_from_slice(b",\"system\":[{\"type\":\"text\",\"text\":");
        let instructions = request.surface.instructions();
        if instructions.is_empty() {
            push_string(out, request.system);
        } else {
            push_string(out, &format!("{}\n\n{instructions}", request.system));
        }
        if cache.breakpoints.contains(&Breakpoint::System) {
            out.extend_from_slice(match cache.ttl {
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
                "tool_use" => {
                    let arguments = match block.input {
                        Some(Value::Object(arguments)) => Ok(arguments),
                        Some(other) => Err(other.to_string()),
                        None => Err(String::new()),
                    };
                    calls.push(ReplyCall {
                        id: block.id.unwrap_or_default(),
                        name: block.name.unwrap_or_default(),
                        arguments,
                    });
                }
                "thinking" | "redacted_thinking" => {}
                _ => oddities.push("unknown content block"),
            }
        }
        super::repair_ids(&mut calls, &mut oddities);
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
            usage: message.usage.map(WireUsage::classes),
            model: message.model,
            content: message.content.to_owned(),
            oddities,
        })
    }

    fn request_digest(&self, request: &Request<'_>, body: &[u8]) -> Digest {
        digest_without_tools(body, request.surface.wire(tool), request.surface)
    }
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
    #[serde(default)]
    usage: Option<WireUsage>,
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
    input: Option<Value>,
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
    cache_creation: Option<Map<String, Value>>,
}

impl WireUsage {
    fn classes(self) -> Usage {
        let written = self.cache_creation_input_tokens.unwrap_or(0);
        let hour = self
            .cache_creation
            .as_ref()
            .and_then(|split| split.get("ephemeral_1h_input_tokens"))
            .and_then(Value::as_u64)
            .unwrap_or(0)
            .min(written);
        Usage {
            input: self.input_tokens,
            cache_write: written - hour,
            cache_write_1h: hour,
            cache_read: self.cache_read_input_tokens.unwrap_or(0),
            output: self.output_tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bench_protocol::spec::Protocol;
    use serde_json::json;

    use super::*;
    use crate::surface::Surface;

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
        assert_ne!(Anthropic.request_digest(&request, &body), Digest::of(&body));
    }

    #[test]
    fn request_digest_tells_surfaces_and_conversations_apart() {
        let settings = Settings::of(&Protocol::built_in().unwrap());
        let digest = |surface: &Surface, text: &str| {
            let entries = [Entry::User(text.into())];
            let request = Request { settings: &settings, system: "s", surface, entries: &entries };
            let mut body = Vec::new();
            Anthropic.encode(&request, &mut body);
            Anthropic.request_digest(&request, &body)
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
    fn an_error_object_is_not_a_reply() {
        assert!(Anthropic.decode(br#"{"type":"error","error":{"type":"api_error"}}"#).is_err());
        assert!(Anthropic.decode(b"<html>").is_err());
    }
}
