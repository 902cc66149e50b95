//! Typed, borrowed view of a request body. Unknown fields are refused, as the API refuses them.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// A request. Fields that the script does not look at are named so that they are allowed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request<'a> {
    pub(crate) model: Option<String>,
    pub(crate) max_tokens: Option<u64>,
    #[serde(borrow)]
    pub(crate) messages: Option<Vec<Message<'a>>>,
    #[serde(borrow)]
    pub(crate) system: Option<Content<'a>>,
    #[serde(borrow)]
    pub(crate) tools: Option<&'a RawValue>,
    pub(crate) tool_choice: Option<ToolChoice>,
    pub(crate) temperature: Option<f64>,
    #[serde(rename = "cache_control")]
    pub(crate) automatic_cache: Option<CacheControl>,
    pub(crate) metadata: Option<Metadata>,
    pub(crate) output_config: Option<OutputConfig>,
    pub(crate) service_tier: Option<ServiceTier>,
    pub(crate) stop_sequences: Option<Vec<String>>,
    pub(crate) stream: Option<bool>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) top_k: Option<u64>,
    pub(crate) top_p: Option<f64>,
}

/// A cache breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CacheControl {
    #[serde(rename = "type")]
    _kind: CacheKind,
    ttl: Option<Ttl>,
}

impl CacheControl {
    /// How long what it marks is kept.
    pub(crate) fn ttl(self) -> Ttl {
        self.ttl.unwrap_or(Ttl::FiveMinutes)
    }
}

/// The one kind of breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CacheKind {
    Ephemeral,
}

/// Life of a cached prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Ttl {
    /// Five minutes.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// An hour.
    #[serde(rename = "1h")]
    OneHour,
}

/// Whom the request is for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metadata {
    #[serde(rename = "user_id")]
    _user_id: Option<String>,
}

/// Which capacity may serve the request.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServiceTier {
    Auto,
    StandardOnly,
}

/// How the model thinks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Thinking {
    #[serde(rename = "type")]
    pub(crate) kind: ThinkingKind,
    pub(crate) budget_tokens: Option<u64>,
    #[serde(rename = "display")]
    _display: Option<String>,
}

/// Ways to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ThinkingKind {
    Adaptive,
    Disabled,
    Enabled,
}

/// How much the model may do, and in which form it answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutputConfig {
    pub(crate) effort: Option<String>,
    #[serde(rename = "format")]
    _format: Option<IgnoredAny>,
    #[serde(rename = "task_budget")]
    _task_budget: Option<IgnoredAny>,
}

/// How the model may use tools.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolChoice {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) disable_parallel_tool_use: bool,
}

/// One message as sent; turns of one role may follow each other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Message<'a> {
    pub(crate) role: Role,
    #[serde(borrow)]
    pub(crate) content: Content<'a>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    User,
    Assistant,
}

/// A string, or blocks.
pub(crate) enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

/// A content block of any type; which fields it must have is checked by its type.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: Cow<'a, str>,
    pub(crate) text: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    #[serde(borrow)]
    pub(crate) input: Option<&'a RawValue>,
    pub(crate) tool_use_id: Option<String>,
    #[serde(borrow)]
    pub(crate) content: Option<Content<'a>>,
    pub(crate) is_error: Option<bool>,
    pub(crate) cache_control: Option<CacheControl>,
    #[serde(rename = "citations")]
    _citations: Option<IgnoredAny>,
    #[serde(rename = "source")]
    _source: Option<IgnoredAny>,
    #[serde(rename = "title")]
    _title: Option<IgnoredAny>,
    #[serde(rename = "context")]
    _context: Option<IgnoredAny>,
    #[serde(rename = "thinking")]
    _thinking: Option<IgnoredAny>,
    #[serde(rename = "signature")]
    _signature: Option<IgnoredAny>,
    #[serde(rename = "data")]
    _data: Option<IgnoredAny>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an array of content blocks")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = items.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }
}

impl<'a> Content<'a> {
    /// The blocks; none where the content is a string.
    pub(crate) fn blocks(&self) -> &[Block<'a>] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }

    /// Text of all text blocks, joined by line ends.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Blocks(blocks) => {
                let mut texts =
                    blocks.iter().filter(|block| block.kind == "text").filter_map(|block| block.text.as_deref());
                let first = texts.next().unwrap_or_default();
                match texts.next() {
                    None => Cow::Borrowed(first),
                    Some(second) => {
                        let mut joined = format!("{first}\n{second}");
                        for text in texts {
                            joined.push('\n');
                            joined.push_str(text);
                        }
                        Cow::Owned(joined)
                    }
                }
            }
        }
    }

    /// Blocks that carry a cache breakpoint, nested ones included.
    pub(crate) fn breakpoints(&self) -> usize {
        self.marks().count()
    }

    /// Cache breakpoints in order, nested ones included.
    pub(crate) fn marks(&self) -> impl Iterator<Item = Ttl> {
        self.blocks().iter().flat_map(Block::marks)
    }
}

impl Block<'_> {
    /// Cache breakpoints of this block: those of the blocks within it, then its own.
    pub(crate) fn marks(&self) -> impl Iterator<Item = Ttl> {
        // A result holds blocks, and those hold none.
        let inner =
            self.content.as_ref().map_or(&[][..], Content::blocks).iter().filter_map(|block| block.cache_control);
        inner.chain(self.cache_control).map(CacheControl::ttl)
    }
}
