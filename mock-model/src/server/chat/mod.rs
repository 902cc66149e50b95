//! `POST /v1/chat/completions`: what such a request must be, and how the scripted model reads it.
//!
//! The types are this crate's own reading of the format; the harness's client is another.

mod conversation;
pub(super) mod reply;
mod request;
mod tools;

use axum::http::HeaderMap;
use serde_json::Value;

use self::request::{CacheMode, ChatMessage, ChatRequest, ChatRole};
use super::{
    draw::OwnedDraw,
    headers,
    models::{CacheKind, Format, Model, Temperature},
    plan::{Ask, Place, Planned},
    prompt::Prompt,
    refusal::Refusal,
    route::unknown_model,
    state::State,
};
use crate::{
    surface::ToolList,
    wire::body::{Checked, Sizes, Split},
};

/// Checks a paid request and plans its answer.
pub(super) fn paid(state: &State, headers: &HeaderMap, bytes: &[u8], place: Place<'_>) -> Result<Planned, Refusal> {
    headers::check_content_type(headers)?;
    let draw = headers::draw(headers)?.unwrap_or_else(|| OwnedDraw::of_body(bytes));
    let split = Split::new(bytes, &state.chat_tools);
    let (request, mut tools) = split.read::<ChatRequest<'_>>(&state.chat_tools)?;
    let id = request
        .model
        .as_deref()
        .ok_or_else(|| Refusal::param("model", "missing_required_parameter", "you must provide a model parameter"))?;
    let found = state.models.find(Format::Chat, id);
    if !found.is_some_and(|(_, model)| model.keyless) {
        state.check_key(Format::Chat, headers)?;
    }
    let (row, model) = found.ok_or_else(|| unknown_model(Format::Chat, id))?;
    check_fields(&request, model)?;
    let limit = limit(&request, model)?;
    let choice = check_choice(&request, &tools)?;
    let messages = request.messages.as_deref().ok_or_else(|| {
        Refusal::param("messages", "missing_required_parameter", "Missing required parameter: 'messages'.")
    })?;
    let arguments = conversation::arguments(messages);
    let conversation = conversation::read(messages, &arguments)?;
    let prompt = prompt(messages, &tools, model)?;
    if choice == Choice::None {
        tools = std::sync::Arc::new(ToolList::default());
    }
    let off = request.prompt_cache_options.is_some_and(|options| options.mode == CacheMode::Explicit);
    let cache = if off && model.cache == CacheKind::ImplicitBilled { CacheKind::None } else { model.cache };
    let checked = Checked {
        model: &model.id,
        max_tokens: limit,
        tools,
        parallel: request.parallel_tool_calls.unwrap_or(true),
        conversation,
        sizes: Sizes { body: bytes.len(), cached_prefix: 0 },
    };
    Ok(state.plan(place, Ask { format: Format::Chat, draw, checked: &checked, prompt, row, model, cache }))
}

fn check_fields(request: &ChatRequest<'_>, model: &Model) -> Result<(), Refusal> {
    if request.stream == Some(true) {
        let why = "Unsupported value: 'stream' does not support true with this server.";
        return Err(Refusal::param("stream", "unsupported_value", why));
    }
    if request.n.is_some_and(|n| n != 1) {
        let why = "Unsupported value: 'n' supports 1 only with this server.";
        return Err(Refusal::param("n", "unsupported_value", why));
    }
    for (field, sent, top) in [("temperature", request.temperature, 2.0), ("top_p", request.top_p, 1.0)] {
        let Some(value) = sent else { continue };
        if !(0.0..=top).contains(&value) {
            let why = format!("Invalid '{field}': expected a value between 0 and {top}, but got {value}.");
            return Err(Refusal::param(field, "decimal_out_of_range", why));
        }
        match model.temperature {
            Temperature::Free => {}
            Temperature::One if (value - 1.0).abs() < f64::EPSILON => {}
            Temperature::One => {
                let why = format!(
                    "Unsupported value: '{field}' does not support {value} with this model. Only the default (1) value \
                     is supported."
                );
                return Err(Refusal::param(field, "unsupported_value", why));
            }
            Temperature::Refused => {
                let why = format!("Unsupported parameter: '{field}' is not supported with this model.");
                return Err(Refusal::param(field, "unsupported_parameter", why));
            }
        }
    }
    if request.tools.is_none() && request.parallel_tool_calls.is_some() {
        let why = "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are \
                   specified.";
        return Err(Refusal::param("parallel_tool_calls", "invalid_value", why));
    }
    Ok(())
}

/// Output tokens at most.
fn limit(request: &ChatRequest<'_>, model: &Model) -> Result<u64, Refusal> {
    let (field, limit) = match (request.max_completion_tokens, request.max_tokens) {
        (None, None) => return Ok(model.max_output),
        (Some(_), Some(_)) => {
            let why = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
            return Err(Refusal::param("max_tokens", "invalid_parameter_combination", why));
        }
        (Some(limit), None) => ("max_completion_tokens", limit),
        (None, Some(_)) if !model.old_limit_field => {
            let why = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                       'max_completion_tokens' instead.";
            return Err(Refusal::param("max_tokens", "unsupported_parameter", why));
        }
        (None, Some(limit)) => ("max_tokens", limit),
    };
    if limit == 0 || limit > model.max_output {
        let why = format!("Invalid '{field}': expected a value between 1 and {}, but got {limit}.", model.max_output);
        return Err(Refusal::param(field, "integer_out_of_range", why));
    }
    Ok(limit)
}

/// Tool choices that the script can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Auto,
    None,
}

fn check_choice(request: &ChatRequest<'_>, tools: &ToolList) -> Result<Choice, Refusal> {
    let Some(raw) = request.tool_choice else { return Ok(Choice::Auto) };
    let wrong = |why: &str| {
        Err(Refusal::param("tool_choice", "invalid_value", format!("Invalid value for 'tool_choice': {why}")))
    };
    if request.tools.is_none() {
        return wrong("'tool_choice' is only allowed when 'tools' are specified.");
    }
    match serde_json::from_str::<Value>(raw.get()) {
        Ok(Value::String(word)) => match word.as_str() {
            "auto" => Ok(Choice::Auto),
            "none" => Ok(Choice::None),
            "required" => wrong("the scripted model takes `auto` and `none`, not `required`."),
            other => wrong(&format!("'{other}' is none of 'none', 'auto' and 'required'.")),
        },
        Ok(Value::Object(choice)) => match choice.get("function").and_then(|function| function["name"].as_str()) {
            Some(name) if tools.named(name).is_none() => wrong(&format!("function '{name}' is not in 'tools'.")),
            _ => wrong("the scripted model takes `auto` and `none`, no forced function."),
        },
        _ => wrong("expected a string or an object."),
    }
}

/// The prompt, once the model has room for it.
fn prompt(messages: &[ChatMessage<'_>], tools: &ToolList, model: &Model) -> Result<Prompt, Refusal> {
    let mut prompt = Prompt::of_tools(tools, model.overhead[0]);
    for message in messages {
        let role = match message.role {
            ChatRole::Developer | ChatRole::System => "system",
            ChatRole::User => "user",
            ChatRole::Assistant => "assistant",
            ChatRole::Tool => "tool",
        };
        let mut texts: Vec<&str> = message.content.as_deref().into_iter().collect();
        texts.extend(message.tool_call_id.as_deref());
        for call in message.tool_calls.iter().flatten() {
            texts.extend([&*call.id, &*call.function.name, &*call.function.arguments]);
        }
        prompt.push(role, &texts, None);
    }
    if prompt.tokens() > model.context {
        let why = format!(
            "This model's maximum context length is {} tokens. However, your messages resulted in {} tokens.",
            model.context,
            prompt.tokens()
        );
        return Err(Refusal::param("messages", "context_length_exceeded", why));
    }
    Ok(prompt)
}
