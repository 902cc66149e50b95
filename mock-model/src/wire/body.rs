//! From bytes to a checked request. The tool list, nine tenths of a body, is read once per distinct list.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    conversation::Conversation,
    error::WireError,
    request::{Content, Request},
};
use crate::surface::{ToolList, cache::ToolCache};

/// Cache breakpoints that a request may carry.
const MAX_BREAKPOINTS: usize = 4;

/// How much of the body precedes the messages, and whether a cache breakpoint closes that part.
pub(crate) struct Sizes {
    /// Bytes of the whole body.
    pub(crate) body: usize,
    /// Bytes of tool list and system prompt, where a breakpoint stands behind them; else 0.
    pub(crate) cached_prefix: usize,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// An answer of the model.
    Complete,
    /// A count of its tokens: no output limit is needed, and a forced call is none of the script's business.
    Count,
}

/// A request that the API would take.
pub(crate) struct Checked<'r, 'b> {
    pub(crate) model: &'r str,
    pub(crate) max_tokens: u64,
    pub(crate) tools: Arc<ToolList>,
    pub(crate) parallel: bool,
    pub(crate) conversation: Conversation<'r, 'b>,
    pub(crate) sizes: Sizes,
}

/// A body whose tool list, where it is a known one, was cut out.
pub(crate) struct Split<'b> {
    body: &'b [u8],
    rest: Option<(Vec<u8>, usize, Arc<ToolList>)>,
}

impl<'b> Split<'b> {
    /// Looks for a tool list that the cache knows, byte for byte.
    pub(crate) fn new(body: &'b [u8], cache: &ToolCache) -> Self {
        let rest = find_tools(body).and_then(|start| {
            let list = cache.find(&body[start..])?;
            let mut rest = Vec::with_capacity(body.len() - list.bytes() + PLACEHOLDER.len());
            rest.extend_from_slice(&body[..start]);
            rest.extend_from_slice(PLACEHOLDER);
            rest.extend_from_slice(&body[start + list.bytes()..]);
            Some((rest, start, list))
        });
        Self { body, rest }
    }

    /// Reads the request. What was cut out counts only where the reader, too, found the top-level field `tools` there:
    /// the same bytes could stand deep inside a message.
    pub(crate) fn read<'s, R: ShowsTools<'s>>(&'s self, cache: &ToolCache) -> Result<(R, Arc<ToolList>), WireError> {
        if let Some((rest, start, list)) = &self.rest
            && let Ok(request) = serde_json::from_slice::<R>(rest)
            && request.tools().is_some_and(|raw| raw.get().as_ptr() == rest[*start..].as_ptr())
        {
            return Ok((request, Arc::clone(list)));
        }
        let request: R =
            serde_json::from_slice(self.body).map_err(|error| WireError::Body { why: error.to_string() })?;
        let list = match request.tools() {
            None => Arc::new(ToolList::default()),
            Some(raw) => cache.read(raw, R::read_tools)?,
        };
        Ok((request, list))
    }
}

/// A request of either format, as far as its tool list goes.
pub(crate) trait ShowsTools<'a>: Deserialize<'a> {
    /// The list, unread.
    fn tools(&self) -> Option<&'a RawValue>;

    /// Reads and checks a list of this format.
    fn read_tools(raw: &RawValue) -> Result<ToolList, WireError>;
}

impl<'a> ShowsTools<'a> for Request<'a> {
    fn tools(&self) -> Option<&'a RawValue> {
        self.tools
    }

    fn read_tools(raw: &RawValue) -> Result<ToolList, WireError> {
        ToolList::read(raw)
    }
}

/// Stands in the place of a tool list that is already known.
const PLACEHOLDER: &[u8] = b"[]";

/// Where the value of the first `"tools":` starts.
fn find_tools(body: &[u8]) -> Option<usize> {
    const KEY: &[u8] = b"\"tools\":";
    body.windows(KEY.len()).position(|window| window == KEY).map(|at| at + KEY.len())
}

/// Checks what the API checks, in its order: fields, tools, messages, cache breakpoints.
pub(crate) fn check<'r, 'b>(
    request: &'r Request<'b>,
    tools: Arc<ToolList>,
    body: usize,
    purpose: Purpose,
) -> Result<Checked<'r, 'b>, WireError> {
    let required = |name: &str| WireError::field(name, "Field required");
    let model = request.model.as_deref().ok_or_else(|| required("model"))?;
    let max_tokens = match purpose {
        Purpose::Complete => request.max_tokens.ok_or_else(|| required("max_tokens"))?,
        Purpose::Count => 0,
    };
    let messages = request.messages.as_deref().ok_or_else(|| required("messages"))?;
    if let Some(temperature) = request.temperature
        && !(0.0..=1.0).contains(&temperature)
    {
        return Err(WireError::field("temperature", "range: 0..1"));
    }
    let mut parallel = true;
    let mut tools = tools;
    if let Some(choice) = &request.tool_choice {
        if request.tools.is_none() {
            return Err(WireError::field("tool_choice", "may only be specified while providing tools"));
        }
        parallel = !choice.disable_parallel_tool_use;
        match choice.kind.as_str() {
            "auto" => {}
            "none" => tools = Arc::new(ToolList::default()),
            "any" | "tool" if purpose == Purpose::Count => {}
            other => {
                return Err(WireError::field(
                    "tool_choice",
                    format!("the scripted model takes `auto` and `none`, not `{other}`"),
                ));
            }
        }
    }
    let system = request.system.as_ref();
    if let Some(Content::Blocks(blocks)) = system {
        for (position, block) in blocks.iter().enumerate() {
            if block.kind != "text" || block.text.as_deref().is_none_or(str::is_empty) {
                return Err(WireError::field(format!("system.{position}"), "text content blocks must be non-empty"));
            }
        }
    }
    let conversation = Conversation::new(messages)?;
    let in_system = system.map_or(0, Content::breakpoints);
    let in_messages: usize = messages.iter().map(|message| message.content.breakpoints()).sum();
    let breakpoints = tools.breakpoints() + in_system + in_messages + usize::from(request.automatic_cache.is_some());
    if breakpoints > MAX_BREAKPOINTS {
        return Err(WireError::field(
            "cache_control",
            format!("A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {breakpoints}."),
        ));
    }
    let system_bytes = system.map_or(0, |content| content.text().len());
    let cached_prefix = if in_system > 0 {
        tools.bytes() + system_bytes
    } else if tools.breakpoints() > 0 {
        tools.bytes()
    } else {
        0
    };
    Ok(Checked { model, max_tokens, tools, parallel, conversation, sizes: Sizes { body, cached_prefix } })
}
