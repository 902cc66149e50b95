//! The conversation of a chat request, checked and read as calls with their results.

use std::{borrow::Cow, collections::BTreeSet};

use serde_json::value::RawValue;

use super::request::{ChatCall, ChatMessage, ChatRole};
use crate::{
    server::refusal::Refusal,
    wire::conversation::{Conversation, Exchange},
};

/// A call with its result.
struct Answered<'r> {
    call: &'r ChatCall,
    text: &'r str,
}

/// Arguments of all calls, as JSON; what is none is an empty object to the script. They outlive the conversation that
/// borrows them.
pub(super) fn arguments(messages: &[ChatMessage<'_>]) -> Vec<Box<RawValue>> {
    let calls = messages.iter().flat_map(|message| message.tool_calls.iter().flatten());
    calls
        .map(|call| {
            let object = || RawValue::from_string("{}".to_owned()).unwrap_or_default();
            RawValue::from_string(call.function.arguments.clone())
                .ok()
                .filter(|raw| raw.get().trim_start().starts_with('{'))
                .unwrap_or_else(object)
        })
        .collect()
}

/// Reads the conversation; `arguments` are those of [`arguments`].
///
/// # Errors
/// A turn without content, calls without results right behind them, results without calls.
pub(super) fn read<'r>(
    messages: &'r [ChatMessage<'_>],
    arguments: &'r [Box<RawValue>],
) -> Result<Conversation<'r, 'r>, Refusal> {
    if messages.is_empty() {
        let why = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array.";
        return Err(Refusal::param("messages", "empty_array", why));
    }
    // What the user said last, and how many calls were answered before.
    let (mut user, mut since) = ("", 0);
    let mut answered = Vec::new();
    let mut pending: Vec<(&ChatCall, Option<&str>)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role != ChatRole::Tool {
            settle(at, &mut pending, &mut answered)?;
        }
        check_fields(at, message)?;
        match message.role {
            ChatRole::Assistant => {
                let calls = message.tool_calls.iter().flatten();
                pending.extend(calls.map(|call| (call, None)));
                let mut ids = BTreeSet::new();
                if let Some((call, _)) = pending.iter().find(|(call, _)| !ids.insert(&call.id)) {
                    let why = format!("Invalid 'messages[{at}]': duplicate tool_call_id '{}'.", call.id);
                    return Err(Refusal::param(format!("messages[{at}]"), "invalid_value", why));
                }
            }
            ChatRole::Tool => {
                let id = message.tool_call_id.as_deref().unwrap_or_default();
                let text = message.content.as_deref().unwrap_or_default();
                if let Some((_, result)) = pending.iter_mut().find(|(call, result)| call.id == id && result.is_none()) {
                    *result = Some(text);
                } else {
                    let why = "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
                               message with 'tool_calls'.";
                    return Err(Refusal::param(format!("messages.[{at}].role"), "invalid_value", why));
                }
            }
            ChatRole::User => (user, since) = (message.content.as_deref().unwrap_or_default(), answered.len()),
            _ => {}
        }
    }
    settle(messages.len(), &mut pending, &mut answered)?;
    let exchanges = answered.into_iter().zip(arguments).map(|(Answered { call, text }, input)| Exchange {
        name: &call.function.name,
        input,
        text: Cow::Borrowed(text),
        // The format has no mark for it: a result says so in its text.
        is_error: text.trim_start().get(..5).is_some_and(|head| head.eq_ignore_ascii_case("error")),
    });
    Ok(Conversation { user: Cow::Borrowed(user), since, exchanges: exchanges.collect() })
}

/// Every call before message `at` must have its result.
fn settle<'r>(
    at: usize,
    pending: &mut Vec<(&'r ChatCall, Option<&'r str>)>,
    answered: &mut Vec<Answered<'r>>,
) -> Result<(), Refusal> {
    let missing: Vec<&str> =
        pending.iter().filter(|(_, result)| result.is_none()).map(|(call, _)| call.id.as_str()).collect();
    if !missing.is_empty() {
        let why = format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            missing.join(", ")
        );
        return Err(Refusal::param(format!("messages.[{at}].role"), "invalid_value", why));
    }
    answered.extend(pending.drain(..).filter_map(|(call, text)| Some(Answered { call, text: text? })));
    Ok(())
}

fn check_fields(at: usize, message: &ChatMessage<'_>) -> Result<(), Refusal> {
    let wrong = |field: &str, why: &str| {
        let path = format!("messages[{at}].{field}");
        let why = format!("Invalid '{path}': {why}");
        Err(Refusal::param(path, "invalid_value", why))
    };
    let calls = message.tool_calls.as_deref();
    if message.role != ChatRole::Assistant && (calls.is_some() || message.refusal.is_some()) {
        return wrong("tool_calls", "only allowed in messages with role 'assistant'.");
    }
    if message.role != ChatRole::Tool && message.tool_call_id.is_some() {
        return wrong("tool_call_id", "only allowed in messages with role 'tool'.");
    }
    match message.role {
        ChatRole::Tool if message.tool_call_id.is_none() => wrong("tool_call_id", "missing required parameter."),
        ChatRole::Assistant if calls.is_some_and(<[_]>::is_empty) => {
            wrong("tool_calls", "empty array. Expected an array with minimum length 1, but got an empty array instead.")
        }
        ChatRole::Assistant if calls.is_some() || message.refusal.is_some() => Ok(()),
        _ if message.content.is_none() => wrong("content", "expected a string or an array, but got null."),
        _ => Ok(()),
    }
}
