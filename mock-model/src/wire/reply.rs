//! Responses, as complete Messages bodies.

use serde::Serialize;
use serde_json::Value;

use super::body::Sizes;

/// Bytes that count as one token. A stand-in: usage of a scripted model is evidence of nothing.
pub(crate) const BYTES_PER_TOKEN: usize = 4;

/// Tokens below which a prefix is not cached; the primary model's threshold.
const CACHE_MINIMUM: usize = 4_096;

/// What the model says in one turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Turn {
    /// Prose.
    Text(String),
    /// Calls.
    Calls(Vec<Call>),
    /// Calls that ran into the output limit; the last one's arguments are incomplete.
    Cut(Vec<Call>),
    /// A refusal.
    Refusal,
}

/// One call under the shown name. `input` is an object but where the script sends garbage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// A content block.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block {
    /// Prose.
    Text {
        /// The words.
        text: String,
    },
    /// A call.
    ToolUse {
        /// Its id.
        id: String,
        /// The shown name.
        name: String,
        /// The arguments.
        input: Value,
    },
}

/// Why a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StopReason {
    /// It was over.
    EndTurn,
    /// It calls.
    ToolUse,
    /// It ran into the output limit.
    MaxTokens,
    /// It was refused.
    Refusal,
}

/// A turn with its ids, cut at the output limit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    /// Names the message; differs between turns.
    pub(crate) id: u64,
    pub(crate) content: Vec<Block>,
    pub(crate) stop: StopReason,
    /// Output tokens.
    pub(crate) output: usize,
}

impl Turn {
    /// The turn as it is sent. `id` names message and calls, and must differ between turns.
    pub(crate) fn said(self, id: u64, max_tokens: u64) -> Said {
        let blocks = |calls: Vec<Call>| {
            let block = |(n, call): (usize, Call)| Block::ToolUse {
                id: format!("toolu_{id:016x}{n}"),
                name: call.name,
                input: call.input,
            };
            calls.into_iter().enumerate().map(block).collect()
        };
        let (mut content, mut stop) = match self {
            Self::Text(text) => (vec![Block::Text { text }], StopReason::EndTurn),
            Self::Calls(calls) => (blocks(calls), StopReason::ToolUse),
            Self::Cut(calls) => (blocks(calls), StopReason::MaxTokens),
            Self::Refusal => (Vec::new(), StopReason::Refusal),
        };
        let mut output = output_tokens(&content);
        if output as u64 > max_tokens {
            stop = StopReason::MaxTokens;
            output = usize::try_from(max_tokens).unwrap_or(output);
            truncate(&mut content, output * BYTES_PER_TOKEN);
        }
        Said { id, content, stop, output }
    }
}

impl Said {
    /// Counts the output anew, after the content was changed.
    pub(crate) fn recount(&mut self) {
        self.output = output_tokens(&self.content);
    }
}

#[derive(Serialize)]
struct Message<'a, U> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'a str,
    content: &'a [Block],
    stop_reason: StopReason,
    stop_sequence: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_details: Option<StopDetails>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<U>,
}

#[derive(Serialize)]
struct StopDetails {
    #[serde(rename = "type")]
    kind: &'static str,
    category: Option<&'static str>,
    explanation: Option<&'static str>,
}

#[derive(Serialize)]
struct Usage {
    input_tokens: usize,
    cache_creation_input_tokens: usize,
    cache_read_input_tokens: usize,
    output_tokens: usize,
    service_tier: &'static str,
}

/// The response body, with this usage object or none.
pub(crate) fn message(said: &Said, model: &str, usage: Option<impl Serialize>) -> Vec<u8> {
    let refusal = StopDetails { kind: "refusal", category: None, explanation: None };
    let message = Message {
        id: format!("msg_{:016x}", said.id),
        kind: "message",
        role: "assistant",
        model,
        content: &said.content,
        stop_reason: said.stop,
        stop_sequence: None,
        stop_details: (said.stop == StopReason::Refusal).then_some(refusal),
        usage,
    };
    // Strings, numbers and JSON values with string keys always serialise.
    serde_json::to_vec(&message).unwrap_or_default()
}

/// The response body of the model in process.
///
/// Usage: four bytes are a token. A prefix behind a breakpoint counts as read from a warm cache where it reaches the
/// primary model's minimum, since a model without state cannot know whether it saw the prefix before.
pub(crate) fn write(said: &Said, model: &str, sizes: &Sizes) -> Vec<u8> {
    let prompt = sizes.body.div_ceil(BYTES_PER_TOKEN);
    let prefix = sizes.cached_prefix / BYTES_PER_TOKEN;
    let read = if prefix >= CACHE_MINIMUM { prefix.min(prompt) } else { 0 };
    let usage = Usage {
        input_tokens: prompt - read,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: read,
        output_tokens: said.output,
        service_tier: "standard",
    };
    message(said, model, Some(usage))
}

fn output_tokens(content: &[Block]) -> usize {
    let bytes: usize = content
        .iter()
        .map(|block| match block {
            Block::Text { text } => text.len(),
            Block::ToolUse { name, input, .. } => name.len() + input.to_string().len(),
        })
        .sum();
    bytes.div_ceil(BYTES_PER_TOKEN).max(1)
}

/// What is left of the content after so many bytes: text is cut, the arguments of the call that was cut are lost.
fn truncate(content: &mut Vec<Block>, mut left: usize) {
    content.retain_mut(|block| {
        let had = left;
        match block {
            Block::Text { text } => {
                let end = (0..=had.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                left -= end;
                text.truncate(end);
                end > 0
            }
            Block::ToolUse { input, name, .. } => {
                let size = name.len() + input.to_string().len();
                if size > had {
                    *input = Value::Object(serde_json::Map::new());
                }
                left = had.saturating_sub(size);
                had > 0
            }
        }
    });
}
