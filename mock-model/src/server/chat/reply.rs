//! Replies as Chat Completions bodies.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    server::{bill::Tokens, fault::FaultKind},
    wire::reply::{Block, Said, StopReason},
};

#[derive(Serialize)]
struct Completion<'a> {
    id: String,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: [Choice; 1],
    service_tier: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
}

#[derive(Serialize)]
struct Choice {
    index: u32,
    finish_reason: &'static str,
    logprobs: Option<()>,
    message: Message,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: Option<String>,
    refusal: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    annotations: [(); 0],
}

/// The response body, with this usage or none.
pub(in crate::server) fn completion(
    said: &Said,
    model: &str,
    usage: Option<&Tokens>,
    fault: Option<FaultKind>,
) -> Vec<u8> {
    let mut text = String::new();
    let mut calls = Vec::new();
    for block in &said.content {
        match block {
            Block::Text { text: part } => text.push_str(part),
            Block::ToolUse { id, name, input } => {
                // A cut object is sent as the string that it is; malformed ones likewise.
                let mut arguments = match input {
                    Value::String(raw) => raw.clone(),
                    other => other.to_string(),
                };
                if fault == Some(FaultKind::MaxTokens) {
                    arguments.pop();
                }
                let id = id.replacen("toolu_", "call_", 1);
                calls.push(json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}));
            }
        }
    }
    let refused = said.stop == StopReason::Refusal;
    let completion = Completion {
        id: format!("chatcmpl-{:016x}", said.id),
        object: "chat.completion",
        created: 0,
        model,
        choices: [Choice {
            index: 0,
            finish_reason: match said.stop {
                StopReason::MaxTokens => "length",
                StopReason::ToolUse => "tool_calls",
                StopReason::EndTurn | StopReason::Refusal => "stop",
            },
            logprobs: None,
            message: Message {
                role: "assistant",
                content: (!text.is_empty()).then_some(text),
                refusal: refused.then_some("I can't help with that."),
                tool_calls: calls,
                annotations: [],
            },
        }],
        service_tier: "default",
        usage: usage.map(object),
    };
    // Strings, numbers and JSON values with string keys always serialise.
    serde_json::to_vec(&completion).unwrap_or_default()
}

/// The usage object: what the cache read and wrote is part of the prompt.
fn object(tokens: &Tokens) -> Value {
    json!({
        "prompt_tokens": tokens.prompt(),
        "completion_tokens": tokens.output,
        "total_tokens": tokens.prompt() + tokens.output,
        "prompt_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}
