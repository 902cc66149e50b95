//! Wire formats: how a conversation becomes the bytes of a request, and a response becomes a [`Reply`].

pub mod anthropic;
mod members;
pub mod openai;

use std::borrow::Cow;

use bench_protocol::{
    digest::Digest,
    spec::{CachePolicy, Protocol},
};
use bench_results::record::Usage;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};
use thiserror::Error;

use crate::surface::Surface;

/// One entry of a conversation.
#[derive(Debug, Clone)]
pub enum Entry {
    /// The user's words.
    User(String),
    /// A turn of the model, its content as received.
    Assistant(Box<RawValue>),
    /// A call that the task itself puts before the model's first turn (result suite).
    Call {
        /// Call id.
        id: String,
        /// Shown tool name.
        name: String,
        /// Arguments.
        arguments: Map<String, Value>,
    },
    /// Answers to the calls of the turn before, one per call, in its order.
    Results(Vec<CallAnswer>),
}

/// The answer to one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallAnswer {
    /// Id of the call it answers.
    pub id: String,
    /// Text blocks that the model reads.
    pub text: Vec<String>,
    /// The call failed.
    pub is_error: bool,
}

/// Fields of a request that do not depend on the conversation; what is `None` or false is not sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "one flag per field of a request that a model may not know")]
pub struct Settings {
    /// Exact model id.
    pub model: String,
    /// Output tokens at most.
    pub max_tokens: u32,
    /// Sampling temperature as its JSON text, where the model takes one.
    pub temperature: Option<String>,
    /// Whether several calls per response are allowed.
    pub parallel_calls: bool,
    /// Prompt-cache policy.
    pub cache: CachePolicy,
    /// The name under which the output limit is sent (Chat Completions knows two).
    #[serde(default)]
    pub limit_field: LimitField,
    /// Thinking is switched off explicitly, for models that think unless told not to.
    #[serde(default)]
    pub thinking_off: bool,
    /// Service tier, so that there is one price.
    #[serde(default)]
    pub service_tier: Option<String>,
    /// Tool choice and parallel calls are stated (Chat Completions; some servers know neither field).
    #[serde(default)]
    pub states_choice: bool,
    /// Caching that nobody asked for is switched off (Chat Completions, models that bill its writes).
    #[serde(default)]
    pub implicit_cache_off: bool,
}

/// Name of the output limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// `max_tokens`.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

impl LimitField {
    /// As it stands in a request.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

impl Settings {
    /// The settings that the protocol states, before a model's capabilities are looked at.
    pub fn of(protocol: &Protocol) -> Self {
        Self {
            model: protocol.model.id.clone(),
            max_tokens: protocol.model.max_tokens,
            temperature: Some(protocol.model.temperature.text().to_owned()),
            parallel_calls: protocol.episode.parallel_calls,
            cache: protocol.cache.clone(),
            limit_field: LimitField::MaxTokens,
            thinking_off: false,
            service_tier: None,
            states_choice: false,
            implicit_cache_off: false,
        }
    }
}

/// Everything a request is made of.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Fixed fields.
    pub settings: &'a Settings,
    /// System prompt.
    pub system: &'a str,
    /// What the arm shows now.
    pub surface: &'a Surface,
    /// The conversation so far.
    pub entries: &'a [Entry],
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// It was done.
    End,
    /// It wants tools.
    Calls,
    /// It ran into the output limit.
    Truncated,
    /// It, or a classifier, refused.
    Refused,
    /// The context was full.
    ContextFull,
    /// Anything else.
    Other,
}

/// One call in a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyCall {
    /// Its id; made up where the provider sent none.
    pub id: String,
    /// The name the model used.
    pub name: String,
    /// Its arguments, or the text that is not a JSON object.
    pub arguments: Result<Map<String, Value>, String>,
}

/// A response, read.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Text of the turn.
    pub text: String,
    /// Calls, in order.
    pub calls: Vec<ReplyCall>,
    /// Why it ended.
    pub stop: Stop,
    /// Billed tokens, where the provider says and what it says is possible.
    pub usage: Option<Usage>,
    /// Model id that answered.
    pub model: String,
    /// Service tier that was billed, where the provider says.
    pub service_tier: Option<String>,
    /// Where the model ran, where the provider says; it can change the price.
    pub geo: Option<String>,
    /// The turn as it must be sent back.
    pub content: Box<RawValue>,
    /// Deviations from the wire format that were tolerated, for the record.
    pub oddities: Vec<&'static str>,
}

/// Why a response is not a reply.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// The body is no JSON of the expected shape.
    #[error("response is not a {format} message: {why}")]
    Shape {
        /// The wire format.
        format: &'static str,
        /// What is wrong.
        why: String,
    },
}

/// A request whose body is not its own: to hash it whole would give it a name that nobody can re-make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the body of a request does not hold its tools as this wire format writes them: a bug of this program, please report it"
)]
pub struct ForeignBody;

/// A provider's wire format.
pub trait Wire: Send + Sync {
    /// Its name: `anthropic` or `openai`.
    fn id(&self) -> &'static str;
    /// Writes the request body into `out`, which is cleared first.
    fn encode(&self, request: &Request<'_>, out: &mut Vec<u8>);
    /// Reads a response body.
    fn decode(&self, body: &[u8]) -> Result<Reply, DecodeError>;
    /// Digest that names a request in the record: over the body with the tool list replaced by the surface's digest, so
    /// that a list of many kilobytes is hashed once per surface and not once per request.
    ///
    /// # Errors
    /// A body that does not hold the list as this format writes it.
    fn request_digest(&self, request: &Request<'_>, body: &[u8]) -> Result<Digest, ForeignBody>;
}

/// Digest of a body whose byte range `tools` is replaced by the surface's digest.
fn digest_without_tools(body: &[u8], tools: &str, surface: &Surface) -> Result<Digest, ForeignBody> {
    // Nothing is shown, so that nothing is left out.
    if surface.tools().is_empty() {
        return Ok(Digest::of(body));
    }
    let start = find(body, tools.as_bytes()).ok_or(ForeignBody)?;
    let parts = [&body[..start], surface.digest().as_str().as_bytes(), &body[start + tools.len()..]];
    Ok(Digest::of_parts(parts))
}

/// Where the tool list starts: bodies hold it once, behind the literal key.
fn find(body: &[u8], needle: &[u8]) -> Option<usize> {
    const KEY: &[u8] = b"\"tools\":";
    let at = body.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    body[at..].starts_with(needle).then_some(at)
}

/// Appends a JSON string literal.
fn push_string(out: &mut Vec<u8>, text: &str) {
    // Writing a string into memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Appends any JSON value.
fn push_json<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Maps with string keys and values without foreign numbers always serialise.
    let _ = serde_json::to_writer(out, value);
}

/// The system prompt, followed by what the arm adds to it.
fn system_text<'a>(request: &Request<'a>) -> Cow<'a, str> {
    match request.surface.instructions() {
        "" => Cow::Borrowed(request.system),
        instructions => Cow::Owned(format!("{}\n\n{instructions}", request.system)),
    }
}

/// Gives every call an id of its own: providers that leave ids out, or send one twice, would make results ambiguous.
/// True where an id was changed: the turn must then be sent back with the new ids.
fn repair_ids(calls: &mut [ReplyCall], oddities: &mut Vec<&'static str>) -> bool {
    let mut repaired = false;
    for position in 0..calls.len() {
        let missing = calls[position].id.is_empty();
        let double = calls[..position].iter().any(|earlier| earlier.id == calls[position].id);
        if missing || double {
            oddities.push(if missing { "call without an id" } else { "two calls with one id" });
            // A provider may use this very pattern for another call of the turn.
            // One more candidate than there are calls, so that one of them is free.
            let fresh = (position..=position + calls.len())
                .map(|number| format!("call_{number}"))
                .find(|id| calls.iter().all(|other| other.id != *id));
            calls[position].id = fresh.unwrap_or_default();
            repaired = true;
        }
    }
    repaired
}

/// Most tokens of one class that are believed. No context holds as many, and sums over all attempts of a run stay countable.
const TOKENS_AT_MOST: u64 = 1 << 32;

/// Usage as a provider sends it, in classes that are each counted once. Counts that are negative, no numbers, beyond
/// belief, or contradict each other say nothing: such usage counts as missing, and is noted.
fn read_usage<W: DeserializeOwned>(
    usage: Option<&RawValue>,
    classes: impl FnOnce(W) -> Option<Usage>,
    oddities: &mut Vec<&'static str>,
) -> Option<Usage> {
    let sent = usage.filter(|usage| usage.get() != "null")?;
    let usage = serde_json::from_str(sent.get()).ok().and_then(classes).filter(|usage: &Usage| {
        let Usage { input, cache_write, cache_write_1h, cache_read, output } = *usage;
        [input, cache_write, cache_write_1h, cache_read, output].iter().all(|&count| count <= TOKENS_AT_MOST)
    });
    match usage {
        // No request has an empty prompt: a zero stands for "not counted".
        Some(usage) if usage.prompt() > 0 => Some(usage),
        Some(_) => {
            oddities.push("usage without prompt tokens");
            None
        }
        None => {
            oddities.push("usage that cannot be right");
            None
        }
    }
}
