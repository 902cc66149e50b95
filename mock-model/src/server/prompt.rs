//! A request's prompt as a chain of blocks: where each prefix ends, how many tokens it has, and where breakpoints stand.
//!
//! Tokens are counted in a stated way, which is no tokenizer's: one for every four bytes of tool names, descriptions and
//! schemas, of the system text and of the messages' content, rounded up, and the published overhead of a tool list.
//! JSON's own punctuation and the request's settings do not count, so that a prompt has as many tokens for
//! `count_tokens` as for the paid request.

use crate::{
    surface::{ToolList, link::Link},
    wire::{
        reply::BYTES_PER_TOKEN,
        request::{Block, Content, Message, Request, Role, Ttl},
    },
};

/// The prompt of one request.
#[derive(Debug, Clone, Default)]
pub(super) struct Prompt {
    places: Vec<Place>,
    link: Link,
    bytes: usize,
    overhead: u64,
}

/// The end of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The prefix that ends here.
    pub(super) link: Link,
    /// Its tokens.
    pub(super) tokens: u64,
    /// The breakpoint that stands here.
    pub(super) mark: Option<Ttl>,
}

impl Prompt {
    /// The prompt that starts with a tool list; `overhead` is added where it shows a tool.
    pub(super) fn of_tools(tools: &ToolList, overhead: u64) -> Self {
        let links = tools.links();
        let mut prompt = Self { overhead: if links.is_empty() { 0 } else { overhead }, ..Self::default() };
        for (index, &(link, bytes)) in links.iter().enumerate() {
            (prompt.link, prompt.bytes) = (link, bytes);
            let mark = tools.marks().iter().find(|(at, _)| *at == index).map(|&(_, ttl)| ttl);
            prompt.places.push(Place { link, tokens: prompt.tokens(), mark });
        }
        prompt
    }

    /// The prompt of a Messages request. `forced`: tool choice makes the model call.
    pub(super) fn of_messages(request: &Request<'_>, tools: &ToolList, overhead: u64) -> Self {
        let mut prompt = Self::of_tools(tools, overhead);
        if let Some(system) = &request.system {
            prompt.push_content("system", system);
        }
        // A change of the tool choice leaves tools and system readable, and the messages not.
        let choice = request.tool_choice.as_ref().map_or("", |choice| choice.kind.as_str());
        prompt.link = prompt.link.then(&["tool choice", choice]);
        for Message { role, content } in request.messages.iter().flatten() {
            let role = match role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            prompt.push_content(role, content);
        }
        if let (Some(mark), Some(last)) = (request.automatic_cache, prompt.places.last_mut()) {
            last.mark.get_or_insert(mark.ttl());
        }
        prompt
    }

    /// Appends a block of these texts.
    pub(super) fn push(&mut self, kind: &str, texts: &[&str], mark: Option<Ttl>) {
        self.bytes += texts.iter().map(|text| text.len()).sum::<usize>();
        self.link = texts.iter().fold(self.link.then(&[kind]), |link, text| link.then(&[text]));
        self.places.push(Place { link: self.link, tokens: self.tokens(), mark });
    }

    /// Tokens of the whole.
    pub(super) fn tokens(&self) -> u64 {
        self.overhead + self.bytes.div_ceil(BYTES_PER_TOKEN) as u64
    }

    /// The ends of its blocks, in order.
    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    fn push_content(&mut self, role: &str, content: &Content<'_>) {
        match content {
            Content::Text(text) => self.push(role, &["text", text], None),
            Content::Blocks(blocks) => blocks.iter().for_each(|block| self.push_block(role, block)),
        }
    }

    fn push_block(&mut self, role: &str, block: &Block<'_>) {
        let mut texts = vec![&*block.kind];
        let own = [&block.text, &block.id, &block.name, &block.tool_use_id];
        texts.extend(own.into_iter().flatten().map(String::as_str));
        texts.extend(block.input.map(serde_json::value::RawValue::get));
        match &block.content {
            None => {}
            Some(Content::Text(text)) => texts.push(text),
            Some(Content::Blocks(inner)) => {
                texts.extend(inner.iter().filter_map(|block| block.text.as_deref()));
            }
        }
        self.push(role, &texts, block.marks().last());
    }
}
