//! Typed view of a Chat Completions request. Unknown fields are refused, as the API refuses them.

use std::borrow::Cow;

use serde::{
    Deserialize,
    de::{Error as _, IgnoredAny},
};
use serde_json::value::RawValue;

use super::tools;
use crate::{
    surface::ToolList,
    wire::{body::ShowsTools, error::WireError},
};

/// A request. Fields that the script does not look at are named so that they are allowed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatRequest<'a> {
    pub(super) model: Option<String>,
    #[serde(borrow)]
    pub(super) messages: Option<Vec<ChatMessage<'a>>>,
    #[serde(borrow)]
    pub(super) tools: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_choice: Option<&'a RawValue>,
    pub(super) parallel_tool_calls: Option<bool>,
    pub(super) max_completion_tokens: Option<u64>,
    pub(super) max_tokens: Option<u64>,
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    pub(super) n: Option<u64>,
    pub(super) stream: Option<bool>,
    #[serde(rename = "service_tier")]
    _service_tier: Option<ServiceTier>,
    pub(super) prompt_cache_options: Option<CacheOptions>,
    #[serde(rename = "reasoning_effort")]
    _reasoning_effort: Option<IgnoredAny>,
    #[serde(rename = "verbosity")]
    _verbosity: Option<IgnoredAny>,
    #[serde(rename = "response_format")]
    _response_format: Option<IgnoredAny>,
    #[serde(rename = "seed")]
    _seed: Option<i64>,
    #[serde(rename = "stop")]
    _stop: Option<IgnoredAny>,
    #[serde(rename = "store")]
    _store: Option<bool>,
    #[serde(rename = "metadata")]
    _metadata: Option<IgnoredAny>,
    #[serde(rename = "user")]
    _user: Option<String>,
    #[serde(rename = "safety_identifier")]
    _safety_identifier: Option<String>,
    #[serde(rename = "prompt_cache_key")]
    _prompt_cache_key: Option<String>,
    #[serde(rename = "frequency_penalty")]
    _frequency_penalty: Option<f64>,
    #[serde(rename = "presence_penalty")]
    _presence_penalty: Option<f64>,
    #[serde(rename = "logprobs")]
    _logprobs: Option<bool>,
    #[serde(rename = "top_logprobs")]
    _top_logprobs: Option<u64>,
}

/// Which capacity may serve the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ServiceTier {
    Auto,
    Default,
    Flex,
    Scale,
    Priority,
    Fast,
}

/// What the prompt cache may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CacheOptions {
    pub(super) mode: CacheMode,
    #[serde(rename = "ttl")]
    _ttl: Option<CacheTtl>,
}

/// Who decides what is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CacheMode {
    Implicit,
    Explicit,
}

/// The one life of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum CacheTtl {
    #[serde(rename = "30m")]
    HalfAnHour,
}

/// A message of any role; which fields it must have is checked by its role.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatMessage<'a> {
    pub(super) role: ChatRole,
    #[serde(borrow, default, deserialize_with = "text")]
    pub(super) content: Option<Cow<'a, str>>,
    pub(super) refusal: Option<String>,
    pub(super) tool_calls: Option<Vec<ChatCall>>,
    pub(super) tool_call_id: Option<String>,
    #[serde(rename = "name")]
    _name: Option<String>,
    #[serde(rename = "audio")]
    _audio: Option<IgnoredAny>,
    #[serde(rename = "annotations")]
    _annotations: Option<IgnoredAny>,
    #[serde(rename = "function_call")]
    _function_call: Option<()>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChatRole {
    Developer,
    System,
    User,
    Assistant,
    Tool,
}

/// A call in a turn of the assistant.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatCall {
    pub(super) id: String,
    #[serde(rename = "type")]
    _kind: FunctionKind,
    pub(super) function: ChatFunction,
}

/// The one kind of call and tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FunctionKind {
    Function,
}

/// What is called.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChatFunction {
    pub(super) name: String,
    /// JSON in a string.
    pub(super) arguments: String,
}

/// A part of a content that is a list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    #[serde(rename = "prompt_cache_breakpoint")]
    _breakpoint: Option<IgnoredAny>,
}

/// Text, or text parts joined.
fn text<'de: 'a, 'a, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'a, str>>, D::Error> {
    let Some(raw) = Option::<&'de RawValue>::deserialize(deserializer)? else { return Ok(None) };
    if raw.get().starts_with('"') {
        // A string without escapes is borrowed.
        return serde_json::from_str::<Borrowed<'_>>(raw.get()).map(|text| Some(text.0)).map_err(D::Error::custom);
    }
    let parts: Vec<Part> = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
    let mut whole = String::new();
    for part in parts {
        match (part.kind.as_str(), part.text) {
            ("text", Some(text)) => whole.push_str(&text),
            (kind, _) => return Err(D::Error::custom(format!("a part of type `{kind}` is not a text"))),
        }
    }
    Ok(Some(Cow::Owned(whole)))
}

#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> ShowsTools<'a> for ChatRequest<'a> {
    fn tools(&self) -> Option<&'a RawValue> {
        self.tools
    }

    fn read_tools(raw: &RawValue) -> Result<ToolList, WireError> {
        tools::read(raw)
    }
}
