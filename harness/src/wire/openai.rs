//! Chat Completions, as OpenAI documents it and as compatible servers really speak it.
//!
//! Tolerated and noted: arguments as an object, empty or null arguments, missing or double ids, null or missing content,
//! content in parts, missing usage, a finish reason that contradicts the calls. The turn that is sent back is the
//! message as received, unless something in its calls had to be repaired.

use std::borrow::Cow;

use bench_protocol::digest::Digest;
use bench_results::record::Usage;
use serde::Deserialize;
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};

use super::{
    CallAnswer, DecodeError, Entry, ForeignBody, Reply, ReplyCall, Request, Stop, Wire, digest_without_tools,
    members::{self, Members},
    push_json, push_string, system_text,
};
use crate::surface::ShownTool;

/// The Chat Completions format.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAi;

const FORMAT: &str = "Chat Completions";

fn tool(shown: &ShownTool) -> String {
    let mut out = b"{\"type\":\"function\",\"function\":{\"name\":".to_vec();
    push_string(&mut out, shown.name());
    if let Some(description) = shown.description() {
        out.extend_from_slice(b",\"description\":");
        push_string(&mut out, description);
    }
    out.extend_from_slice(b",\"parameters\":");
    out.extend_from_slice(shown.schema().get().as_bytes());
    out.extend_from_slice(b"}}");
    // Built from strings and JSON text, so it is UTF-8.
    String::from_utf8_lossy(&out).into_owned()
}

impl Wire for OpenAi {
    fn id(&self) -> &'static str {
        "openai"
    }

    // The long-lived fields first, then tools and messages in the order in which a server renders its prompt.
    fn encode(&self, request: &Request<'_>, out: &mut Vec<u8>) {
        out.clear();
        let settings = request.settings;
        out.extend_from_slice(b"{\"model\":");
        push_string(out, &settings.model);
        out.extend_from_slice(format!(",\"{}\":{}", settings.limit_field.name(), settings.max_tokens).as_bytes());
        if let Some(temperature) = &settings.temperature {
            out.extend_from_slice(format!(",\"temperature\":{temperature}").as_bytes());
        }
        if let Some(tier) = &settings.service_tier {
            out.extend_from_slice(b",\"service_tier\":");
            push_string(out, tier);
        }
        if settings.implicit_cache_off {
            out.extend_from_slice(b",\"prompt_cache_options\":{\"mode\":\"explicit\"}");
        }
        if !request.surface.tools().is_empty() {
            out.extend_from_slice(b",\"tools\":");
            out.extend_from_slice(request.surface.wire(tool).as_bytes());
            if settings.states_choice {
                let parallel = settings.parallel_calls;
                out.extend_from_slice(
                    format!(",\"tool_choice\":\"auto\",\"parallel_tool_calls\":{parallel}").as_bytes(),
                );
            }
        }
        out.extend_from_slice(b",\"messages\":[{\"role\":\"system\",\"content\":");
        push_string(out, &system_text(request));
        out.push(b'}');
        for entry in request.entries {
            push_entry(out, entry);
        }
        out.extend_from_slice(b"]}");
    }

    fn decode(&self, body: &[u8]) -> Result<Reply, DecodeError> {
        let shape = |why: String| DecodeError::Shape { format: FORMAT, why };
        let completion: Completion<'_> = serde_json::from_slice(body).map_err(|error| shape(error.to_string()))?;
        let mut choices = completion.choices.into_iter();
        let Some(choice) = choices.next() else { return Err(shape("it has no choices".to_owned())) };
        let mut oddities = Vec::new();
        if choices.next().is_some() {
            oddities.push("more than one choice");
        }
        let message: Message<'_> =
            serde_json::from_str(choice.message.get()).map_err(|error| shape(error.to_string()))?;
        let content = message.content.map_or(Ok(String::new()), text_of).map_err(|error| shape(error.to_string()))?;
        let refusal = message.refusal.filter(|refusal| !refusal.is_empty());

        let mut calls = Vec::new();
        // True for calls whose arguments may have been cut off by the output limit.
        let mut unsure = false;
        // An empty list of calls is refused when it comes back.
        let mut repaired = message.tool_calls.as_ref().is_some_and(Vec::is_empty);
        for call in message.tool_calls.unwrap_or_default() {
            let function = call.function.unwrap_or_default();
            let (arguments, oddity) = read_arguments(function.arguments);
            unsure |= arguments.is_err() || oddity == Some(EMPTY_ARGUMENTS);
            repaired |= oddity.is_some() || call.kind.as_deref() != Some("function");
            oddities.extend(oddity);
            calls.push(ReplyCall {
                id: call.id.unwrap_or_default().into_owned(),
                name: function.name.unwrap_or_default().into_owned(),
                arguments,
            });
        }
        repaired |= super::repair_ids(&mut calls, &mut oddities);
        // Servers leave the role out, and are strict about it when the turn comes back.
        repaired |= message.role.as_deref() != Some("assistant");
        let turn = if repaired { rebuilt(choice.message, &calls) } else { Ok(choice.message.to_owned()) };

        Ok(Reply {
            stop: stop(choice.finish_reason.as_deref(), calls.is_empty(), unsure, refusal.is_some()),
            text: refusal.map_or(content, Cow::into_owned),
            calls,
            usage: super::read_usage(completion.usage, WireUsage::classes, &mut oddities),
            model: completion.model.unwrap_or_default().into_owned(),
            service_tier: completion.service_tier.map(Cow::into_owned),
            geo: None,
            content: turn.map_err(|error| shape(error.to_string()))?,
            oddities,
        })
    }

    fn request_digest(&self, request: &Request<'_>, body: &[u8]) -> Result<Digest, ForeignBody> {
        digest_without_tools(body, request.surface.wire(tool), request.surface)
    }
}

/// The finish reason is not looked at where there are calls: servers say `stop` with calls present. Only a cut is
/// believed, and only where it shows in the arguments.
fn stop(reason: Option<&str>, no_calls: bool, unsure: bool, refusal: bool) -> Stop {
    match reason {
        Some("length") if no_calls || unsure => Stop::Truncated,
        _ if !no_calls => Stop::Calls,
        _ if refusal => Stop::Refused,
        Some("content_filter") => Stop::Refused,
        Some("stop") => Stop::End,
        _ => Stop::Other,
    }
}

const EMPTY_ARGUMENTS: &str = "empty arguments";

/// Arguments as an object, and what was odd about them.
fn read_arguments(sent: Option<&RawValue>) -> (Result<Map<String, Value>, String>, Option<&'static str>) {
    let empty = || (Ok(Map::new()), Some(EMPTY_ARGUMENTS));
    let Some(sent) = sent else { return empty() };
    match sent.get().as_bytes().first() {
        Some(b'n') => empty(),
        Some(b'{') => (members::arguments(sent.get()), Some("arguments as an object")),
        _ => match serde_json::from_str::<String>(sent.get()) {
            Ok(text) if matches!(text.trim(), "" | "null") => empty(),
            Ok(text) => (members::arguments(&text), None),
            Err(_) => (Err(sent.get().to_owned()), Some("arguments of a wrong type")),
        },
    }
}

/// Text of a message's content: a string, or parts of which the text ones count.
fn text_of(content: &RawValue) -> Result<String, serde_json::Error> {
    let content: Value = serde_json::from_str(content.get())?;
    Ok(match content {
        Value::String(text) => text,
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect::<Vec<_>>().concat()
        }
        _ => String::new(),
    })
}

/// The message with role, content and calls in their documented form; its other fields stay.
fn rebuilt(message: &RawValue, calls: &[ReplyCall]) -> Result<Box<RawValue>, serde_json::Error> {
    let mut message: Members = serde_json::from_str(message.get())?;
    message.set("role", to_raw_value("assistant")?);
    if !message.has("content") {
        message.set("content", to_raw_value(&Value::Null)?);
    }
    if calls.is_empty() {
        message.remove("tool_calls");
    } else {
        let calls = calls.iter().map(|call| {
            let arguments = match &call.arguments {
                Ok(arguments) => Value::Object(arguments.clone()).to_string(),
                Err(text) => text.clone(),
            };
            serde_json::json!({
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments},
            })
        });
        message.set("tool_calls", to_raw_value(&calls.collect::<Value>())?);
    }
    to_raw_value(&message)
}

/// Appends a comma and the messages of one entry: answers to calls are a message each.
fn push_entry(out: &mut Vec<u8>, entry: &Entry) {
    match entry {
        Entry::User(text) => {
            out.extend_from_slice(b",{\"role\":\"user\",\"content\":");
            push_string(out, text);
            out.push(b'}');
        }
        Entry::Assistant(message) => {
            out.push(b',');
            out.extend_from_slice(message.get().as_bytes());
        }
        Entry::Call { id, name, arguments } => {
            out.extend_from_slice(b",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":");
            push_string(out, id);
            out.extend_from_slice(b",\"type\":\"function\",\"function\":{\"name\":");
            push_string(out, name);
            out.extend_from_slice(b",\"arguments\":");
            let mut text = Vec::new();
            push_json(&mut text, arguments);
            push_string(out, &String::from_utf8_lossy(&text));
            out.extend_from_slice(b"}}]}");
        }
        Entry::Results(answers) => answers.iter().for_each(|answer| push_answer(out, answer)),
    }
}

/// The format has no error mark and servers want a plain string: blocks are joined by newlines, and an error says in its
/// text that it is one.
fn push_answer(out: &mut Vec<u8>, answer: &CallAnswer) {
    out.extend_from_slice(b",{\"role\":\"tool\",\"tool_call_id\":");
    push_string(out, &answer.id);
    out.extend_from_slice(b",\"content\":");
    push_string(out, &answer.text.join("\n"));
    out.push(b'}');
}

#[derive(Deserialize)]
struct Completion<'a> {
    #[serde(default, borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
    #[serde(default, borrow)]
    usage: Option<&'a RawValue>,
    #[serde(default, borrow)]
    service_tier: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
    #[serde(default, borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default, borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
    #[serde(default, borrow)]
    refusal: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    tool_calls: Option<Vec<WireCall<'a>>>,
}

#[derive(Deserialize)]
struct WireCall<'a> {
    #[serde(default, borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(default, rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    function: Option<Function<'a>>,
}

#[derive(Deserialize, Default)]
struct Function<'a> {
    #[serde(default, borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    arguments: Option<&'a RawValue>,
}

/// Usage as sent: what the cache read and wrote is part of `prompt_tokens`.
#[derive(Deserialize)]
struct WireUsage {
    prompt_tokens: u64,
    /// Required: usage that leaves the output out states no price, and the reservation stands.
    completion_tokens: u64,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize, Default)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default)]
    cache_write_tokens: Option<u64>,
}

impl WireUsage {
    /// None where the parts are larger than the whole.
    fn classes(self) -> Option<Usage> {
        let details = self.prompt_tokens_details.unwrap_or_default();
        let cache_read = details.cached_tokens.unwrap_or(0);
        let cache_write = details.cache_write_tokens.unwrap_or(0);
        let input = self.prompt_tokens.checked_sub(cache_read)?.checked_sub(cache_write)?;
        Some(Usage { input, cache_write, cache_write_1h: 0, cache_read, output: self.completion_tokens })
    }
}

#[cfg(test)]
mod tests;
