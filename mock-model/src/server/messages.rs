//! `POST /v1/messages` and its free count: what such a request must be, beyond what the scripted model itself checks.

use std::sync::Arc;

use axum::http::HeaderMap;
use serde_json::json;

use super::{
    draw::OwnedDraw,
    headers::{self, NO_SAMPLING},
    models::{Format, Model, Temperature, Thinks},
    plan::{Ask, Place, Planned},
    prompt::Prompt,
    refusal::Refusal,
    state::State,
};
use crate::{
    surface::ToolList,
    wire::{
        body::{self, Purpose, Split},
        request::{Request, Role, ThinkingKind, Ttl},
    },
};

/// Messages that a conversation may have.
const MAX_MESSAGES: usize = 100_000;

/// Smallest budget that a model can be given to think.
const MIN_BUDGET: u64 = 1_024;

/// Efforts that can be asked for.
const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// Checks a paid request and plans its answer.
pub(super) fn paid(state: &State, headers: &HeaderMap, bytes: &[u8], place: Place<'_>) -> Result<Planned, Refusal> {
    let version = check_headers(state, headers)?;
    let draw = headers::draw(headers)?.unwrap_or_else(|| OwnedDraw::of_body(bytes));
    let split = Split::new(bytes, state.model.tools());
    let (request, tools) = split.read::<Request<'_>>(state.model.tools())?;
    let (row, model) = find(state, &request)?;
    check_fields(&request, model, version)?;
    let max_tokens = request.max_tokens.unwrap_or_default();
    check_limit(&request, model, max_tokens)?;
    check_choice(&request, model, &tools)?;
    let prompt = prompt(&request, model, &tools)?;
    let checked = body::check(&request, tools, bytes.len(), Purpose::Complete)?;
    let ask = Ask { format: Format::Messages, draw, checked: &checked, prompt, row, model, cache: model.cache };
    Ok(state.plan(place, ask))
}

/// The answer to a count: the tokens that the paid request would have, cache or not.
pub(super) fn count(state: &State, headers: &HeaderMap, bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    let version = check_headers(state, headers)?;
    let split = Split::new(bytes, state.model.tools());
    let (request, tools) = split.read::<Request<'_>>(state.model.tools())?;
    let extra = [
        ("max_tokens", request.max_tokens.is_some()),
        ("metadata", request.metadata.is_some()),
        ("service_tier", request.service_tier.is_some()),
        ("stop_sequences", request.stop_sequences.is_some()),
        ("stream", request.stream.is_some()),
        ("temperature", request.temperature.is_some()),
        ("top_k", request.top_k.is_some()),
        ("top_p", request.top_p.is_some()),
    ];
    if let Some((field, _)) = extra.into_iter().find(|(_, sent)| *sent) {
        return Err(Refusal::field(field, "Extra inputs are not permitted"));
    }
    let (_, model) = find(state, &request)?;
    check_fields(&request, model, version)?;
    check_choice(&request, model, &tools)?;
    let prompt = prompt(&request, model, &tools)?;
    body::check(&request, tools, bytes.len(), Purpose::Count)?;
    Ok(json!({"input_tokens": prompt.tokens()}).to_string().into_bytes())
}

fn check_headers<'h>(state: &State, headers: &'h HeaderMap) -> Result<&'h str, Refusal> {
    state.check_key(Format::Messages, headers)?;
    headers::check_content_type(headers)?;
    headers::check_version(headers)
}

fn find<'s>(state: &'s State, request: &Request<'_>) -> Result<(usize, &'s Model), Refusal> {
    let id = request.model.as_deref().ok_or_else(|| Refusal::field("model", "Field required"))?;
    let unknown = || Refusal::of_status(Format::Messages, 404, format!("model: {id}"));
    state.models.find(Format::Messages, id).ok_or_else(unknown)
}

/// Fields whose rules depend on the model or the version, and those that this server does not serve.
fn check_fields(request: &Request<'_>, model: &Model, version: &str) -> Result<(), Refusal> {
    if request.stream == Some(true) {
        return Err(Refusal::field("stream", "this server does not stream; leave the field out"));
    }
    check_sampling(request, model, version)?;
    check_thinking(request, model)?;
    if let Some(effort) = request.output_config.as_ref().and_then(|config| config.effort.as_deref()) {
        if !model.effort {
            return Err(Refusal::field("output_config.effort", "This model does not support the effort parameter."));
        }
        if !EFFORTS.contains(&effort) {
            return Err(Refusal::field("output_config.effort", &format!("Input should be one of {EFFORTS:?}")));
        }
    }
    let stops = request.stop_sequences.iter().flatten();
    if stops.into_iter().any(|stop| stop.trim().is_empty()) {
        return Err(Refusal::field("stop_sequences", "each stop sequence must contain non-whitespace"));
    }
    let messages = request.messages.as_deref().unwrap_or_default();
    if messages.len() > MAX_MESSAGES {
        return Err(Refusal::field("messages", &format!("at most {MAX_MESSAGES} messages are allowed")));
    }
    if !model.prefill && messages.last().is_some_and(|message| message.role == Role::Assistant) {
        return Err(Refusal::invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
    }
    Ok(())
}

fn check_sampling(request: &Request<'_>, model: &Model, version: &str) -> Result<(), Refusal> {
    let sent = [
        ("temperature", request.temperature.is_some()),
        ("top_p", request.top_p.is_some()),
        ("top_k", request.top_k.is_some()),
    ];
    let first = sent.into_iter().find(|(_, sent)| *sent).map(|(field, _)| field);
    if let Some(field) = first.filter(|_| version == NO_SAMPLING) {
        return Err(Refusal::invalid(format!("`{field}` is not supported with anthropic-version {version}.")));
    }
    if request.top_p.is_some_and(|top_p| !(0.0..=1.0).contains(&top_p)) {
        return Err(Refusal::field("top_p", "range: 0..1"));
    }
    match model.temperature {
        Temperature::Refused => match first {
            Some(field) => Err(Refusal::invalid(format!("`{field}` is not supported for this model."))),
            None => Ok(()),
        },
        Temperature::One => {
            let odd = |sent: Option<f64>, only: f64| sent.is_some_and(|sent| (sent - only).abs() > f64::EPSILON);
            let field = [
                ("temperature", odd(request.temperature, 1.0)),
                ("top_p", odd(request.top_p, 0.99)),
                ("top_k", request.top_k.is_some()),
            ];
            match field.into_iter().find(|(_, odd)| *odd) {
                Some((field, _)) => {
                    Err(Refusal::invalid(format!("`{field}` may only be left at its default for this model.")))
                }
                None => Ok(()),
            }
        }
        Temperature::Free if !model.top_p_with_temperature && sent[0].1 && sent[1].1 => Err(Refusal::invalid(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        )),
        Temperature::Free => Ok(()),
    }
}

fn check_thinking(request: &Request<'_>, model: &Model) -> Result<(), Refusal> {
    let Some(thinking) = &request.thinking else { return Ok(()) };
    let refuse = |why: &str| Err(Refusal::field("thinking", why));
    match (thinking.kind, model.thinking) {
        (ThinkingKind::Disabled, Thinks::Always) => refuse("thinking cannot be disabled for this model"),
        (ThinkingKind::Disabled, _) => Ok(()),
        (ThinkingKind::Adaptive, Thinks::Budget) if !model.effort => {
            refuse("adaptive thinking is not supported on this model")
        }
        (_, Thinks::Off) => refuse("thinking is not supported on this model"),
        (ThinkingKind::Adaptive, _) => Ok(()),
        (ThinkingKind::Enabled, Thinks::Adaptive | Thinks::Always) => {
            refuse("`thinking.type.enabled` is not supported for this model; use `adaptive`")
        }
        (ThinkingKind::Enabled, Thinks::Budget) => match (thinking.budget_tokens, request.max_tokens) {
            (None, _) => Err(Refusal::field("thinking.enabled.budget_tokens", "Field required")),
            (Some(budget), _) if budget < MIN_BUDGET => {
                Err(Refusal::field("thinking.enabled.budget_tokens", "Input should be greater than or equal to 1024"))
            }
            (Some(budget), Some(limit)) if budget >= limit => {
                Err(Refusal::invalid("`max_tokens` must be greater than `thinking.budget_tokens`."))
            }
            _ => Ok(()),
        },
    }
}

fn check_limit(request: &Request<'_>, model: &Model, max_tokens: u64) -> Result<(), Refusal> {
    if max_tokens > model.max_output {
        return Err(Refusal::field(
            "max_tokens",
            &format!(
                "{max_tokens} > {}, which is the maximum allowed number of output tokens for {}",
                model.max_output, model.id
            ),
        ));
    }
    let forced = request.tool_choice.as_ref().is_some_and(|choice| matches!(choice.kind.as_str(), "any" | "tool"));
    let thinks = request.thinking.as_ref().is_some_and(|thinking| thinking.kind != ThinkingKind::Disabled);
    if request.max_tokens == Some(0) && (forced || thinks) {
        return Err(Refusal::field("max_tokens", "0 is not allowed with thinking or a forced tool choice"));
    }
    Ok(())
}

fn check_choice(request: &Request<'_>, model: &Model, tools: &ToolList) -> Result<(), Refusal> {
    let Some(choice) = &request.tool_choice else { return Ok(()) };
    let wrong = |why: &str| Err(Refusal::field("tool_choice", why));
    match choice.kind.as_str() {
        "auto" | "any" | "none" if choice.name.is_some() => wrong("name: Extra inputs are not permitted"),
        "any" | "tool" if !model.forced_choice => wrong("forced tool use is not supported for this model"),
        "tool" => match choice.name.as_deref() {
            None => wrong("tool.name: Field required"),
            Some(name) if tools.named(name).is_none() => wrong(&format!("Tool '{name}' not found in provided tools")),
            Some(_) => Ok(()),
        },
        "auto" | "any" | "none" => Ok(()),
        other => wrong(&format!(
            "Input tag '{other}' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
        )),
    }
}

/// The prompt, once breakpoints stand in an order that is allowed and the model has room for it.
fn prompt(request: &Request<'_>, model: &Model, tools: &Arc<ToolList>) -> Result<Prompt, Refusal> {
    let forced = request.tool_choice.as_ref().is_some_and(|choice| matches!(choice.kind.as_str(), "any" | "tool"));
    let prompt = Prompt::of_messages(request, tools, model.overhead[usize::from(forced)]);
    let mut short = false;
    for mark in prompt.places().iter().filter_map(|place| place.mark) {
        if short && mark == Ttl::OneHour {
            return Err(Refusal::field(
                "cache_control.ttl",
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
            ));
        }
        short |= mark == Ttl::FiveMinutes;
    }
    if prompt.tokens() > model.context {
        return Err(Refusal::invalid(format!(
            "prompt is too long: {} tokens > {} maximum",
            prompt.tokens(),
            model.context
        )));
    }
    Ok(prompt)
}
