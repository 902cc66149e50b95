//! The conversation as the model reads it: the user's words, then calls with their results.

use std::{borrow::Cow, collections::BTreeSet};

use serde_json::value::RawValue;

use super::{
    error::WireError,
    request::{Block, Content, Message, Role},
};

/// A checked conversation.
pub(crate) struct Conversation<'r, 'b> {
    /// What the user said last.
    pub(crate) user: Cow<'r, str>,
    /// Number of exchanges before that.
    pub(crate) since: usize,
    /// Calls with their results, in order.
    pub(crate) exchanges: Vec<Exchange<'r, 'b>>,
}

/// A call and what came back.
pub(crate) struct Exchange<'r, 'b> {
    /// Name the call used.
    pub(crate) name: &'r str,
    /// Its arguments, unread.
    pub(crate) input: &'b RawValue,
    /// Text of the result.
    pub(crate) text: Cow<'r, str>,
    /// The result reports an error.
    pub(crate) is_error: bool,
}

/// A call that waits for its result.
struct Pending<'r, 'b> {
    id: &'r str,
    name: &'r str,
    input: &'b RawValue,
    result: Option<&'r Block<'b>>,
}

impl<'r, 'b> Conversation<'r, 'b> {
    /// Checks roles, blocks and the pairing of calls with results, turns of one role taken together.
    pub(crate) fn new(messages: &'r [Message<'b>]) -> Result<Self, WireError> {
        if messages.is_empty() {
            return Err(WireError::field("messages", "at least one message is required"));
        }
        if messages[0].role != Role::User {
            return Err(WireError::field("messages.0", "the first message must use the user role"));
        }
        let mut ids = BTreeSet::new();
        let (mut user, mut since) = (Cow::Borrowed(""), 0);
        let mut exchanges = Vec::new();
        let mut pending: Vec<Pending<'r, 'b>> = Vec::new();
        let last = messages.len() - 1;
        let mut position = 0;
        while position < messages.len() {
            let role = messages[position].role;
            let end = messages[position..]
                .iter()
                .position(|message| message.role != role)
                .map_or(messages.len(), |n| position + n);
            for (at, message) in (position..).zip(&messages[position..end]) {
                check_content(&message.content, at, at == last && role == Role::Assistant)?;
            }
            let blocks = (position..).zip(&messages[position..end]).flat_map(|(at, message)| {
                message.content.blocks().iter().enumerate().map(move |(b, block)| (at, b, block))
            });
            match role {
                Role::Assistant => {
                    for (at, b, block) in blocks {
                        if let Some(call) = call_of(block, at, b, &mut ids)? {
                            pending.push(call);
                        }
                    }
                }
                Role::User => {
                    let spoke_first = matches!(messages[position].content, Content::Text(_));
                    take_results(blocks, spoke_first, position, &mut pending)?;
                    exchanges.extend(pending.drain(..).map(Pending::exchange));
                    // Text behind results belongs to them; a request has a message of its own.
                    let answers = |message: &Message<'_>| {
                        message.content.blocks().iter().any(|block| block.kind == "tool_result")
                    };
                    let own = messages[position..end].iter().filter(|message| !answers(message));
                    let mut said = own.map(|message| message.content.text());
                    if let Some(said) = said.rfind(|text| !text.is_empty()) {
                        (user, since) = (said, exchanges.len());
                    }
                }
            }
            position = end;
        }
        if let Some(call) = pending.first() {
            return Err(without_result(messages.len(), call.id));
        }
        Ok(Self { user, since, exchanges })
    }
}

impl<'r, 'b> Pending<'r, 'b> {
    fn exchange(self) -> Exchange<'r, 'b> {
        let content = self.result.and_then(|block| block.content.as_ref());
        Exchange {
            name: self.name,
            input: self.input,
            text: content.map_or(Cow::Borrowed(""), Content::text),
            is_error: self.result.and_then(|block| block.is_error).unwrap_or(false),
        }
    }
}

fn without_result(position: usize, id: &str) -> WireError {
    WireError::field(
        format!("messages.{position}"),
        format!("`tool_use` ids were found without `tool_result` blocks immediately after: {id}"),
    )
}

fn check_content(content: &Content<'_>, at: usize, may_be_empty: bool) -> Result<(), WireError> {
    match content {
        Content::Text(text) if text.is_empty() && !may_be_empty => {
            Err(WireError::field(format!("messages.{at}"), "all messages must have non-empty content"))
        }
        Content::Blocks(blocks) if blocks.is_empty() && !may_be_empty => {
            Err(WireError::field(format!("messages.{at}"), "all messages must have non-empty content"))
        }
        Content::Text(_) => Ok(()),
        Content::Blocks(blocks) => {
            for (b, block) in blocks.iter().enumerate() {
                check_block(block, &format!("messages.{at}.content.{b}"))?;
            }
            Ok(())
        }
    }
}

fn check_block(block: &Block<'_>, path: &str) -> Result<(), WireError> {
    match &*block.kind {
        "text" => match block.text.as_deref() {
            None => Err(WireError::field(format!("{path}.text"), "Field required")),
            Some("") => Err(WireError::field(path, "text content blocks must be non-empty")),
            Some(_) => Ok(()),
        },
        "tool_result" => {
            if let Some(Content::Blocks(inner)) = &block.content {
                for (b, block) in inner.iter().enumerate() {
                    let path = format!("{path}.content.{b}");
                    if block.kind == "tool_use" || block.kind == "tool_result" {
                        return Err(unknown_tag(&path, &block.kind));
                    }
                    check_block(block, &path)?;
                }
            }
            Ok(())
        }
        "tool_use" | "thinking" | "redacted_thinking" | "image" | "document" | "search_result" => Ok(()),
        other => Err(unknown_tag(path, other)),
    }
}

fn unknown_tag(path: &str, tag: &str) -> WireError {
    WireError::field(path, format!("Input tag '{tag}' found using 'type' does not match any of the expected tags"))
}

/// The call in a block of an assistant turn.
fn call_of<'r, 'b>(
    block: &'r Block<'b>,
    at: usize,
    b: usize,
    ids: &mut BTreeSet<&'r str>,
) -> Result<Option<Pending<'r, 'b>>, WireError> {
    let path = || format!("messages.{at}.content.{b}");
    match &*block.kind {
        "tool_use" => {
            let required = |name: &str| WireError::field(format!("{}.tool_use.{name}", path()), "Field required");
            let id = block.id.as_deref().ok_or_else(|| required("id"))?;
            let name = block.name.as_deref().ok_or_else(|| required("name"))?;
            let input = block.input.ok_or_else(|| required("input"))?;
            if !input.get().starts_with('{') {
                return Err(WireError::field(
                    format!("{}.tool_use.input", path()),
                    "Input should be a valid dictionary",
                ));
            }
            if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
                return Err(WireError::field(
                    format!("{}.tool_use.id", path()),
                    "String should match pattern '^[a-zA-Z0-9_-]+$'",
                ));
            }
            if !ids.insert(id) {
                return Err(WireError::field(path(), "`tool_use` ids must be unique"));
            }
            Ok(Some(Pending { id, name, input, result: None }))
        }
        "text" | "thinking" | "redacted_thinking" => Ok(None),
        other => Err(WireError::field(path(), format!("`{other}` blocks can only be in user messages"))),
    }
}

/// Gives every pending call its result.
fn take_results<'r, 'b: 'r>(
    blocks: impl Iterator<Item = (usize, usize, &'r Block<'b>)>,
    spoke_first: bool,
    position: usize,
    pending: &mut [Pending<'r, 'b>],
) -> Result<(), WireError> {
    let mut spoke = spoke_first;
    for (at, b, block) in blocks {
        let path = || format!("messages.{at}.content.{b}");
        match &*block.kind {
            "tool_result" => {
                let id = block
                    .tool_use_id
                    .as_deref()
                    .ok_or_else(|| WireError::field(format!("{}.tool_result.tool_use_id", path()), "Field required"))?;
                let call = pending.iter_mut().find(|call| call.id == id).ok_or_else(|| {
                    WireError::field(path(), format!("unexpected `tool_use_id` found in `tool_result` blocks: {id}"))
                })?;
                if call.result.is_some() {
                    return Err(WireError::field(
                        path(),
                        format!(
                            "each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
                        ),
                    ));
                }
                if spoke {
                    return Err(WireError::field(path(), "`tool_result` blocks must come first in a user message"));
                }
                call.result = Some(block);
            }
            "tool_use" | "thinking" | "redacted_thinking" => {
                return Err(WireError::field(
                    path(),
                    format!("`{}` blocks can only be in assistant messages", block.kind),
                ));
            }
            _ => spoke = true,
        }
    }
    match pending.iter().find(|call| call.result.is_none()) {
        Some(call) => Err(without_result(position, call.id)),
        None => Ok(()),
    }
}
