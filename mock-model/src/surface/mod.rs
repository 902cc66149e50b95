//! The tool list of a request as the model sees it.

pub(crate) mod cache;
pub(crate) mod link;
pub(crate) mod lookup;
pub(crate) mod meta;
pub(crate) mod read;
pub(crate) mod reply;
pub(crate) mod words;

use std::{collections::HashMap, sync::OnceLock};

use serde_json::value::RawValue;

use self::{
    link::Link,
    meta::{Listed, Meta},
    words::Words,
};
use crate::wire::request::Ttl;

/// A checked tool list, read once per distinct bytes.
#[derive(Debug, Default)]
pub(crate) struct ToolList {
    raw: Box<str>,
    /// Cache breakpoints, each with the place of the tool that carries it.
    marks: Vec<(usize, Ttl)>,
    tools: Vec<Tool>,
    by_name: HashMap<String, usize>,
    metas: Vec<Meta>,
    listed: OnceLock<Vec<Listed>>,
    words: OnceLock<Words>,
    links: OnceLock<Vec<(Link, usize)>>,
}

/// One shown tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Box<RawValue>,
    /// Top-level properties with their unread schemas, in order.
    pub(crate) properties: Vec<(String, Box<RawValue>)>,
    pub(crate) required: Vec<String>,
}

impl Tool {
    pub(crate) fn has(&self, argument: &str) -> bool {
        self.properties.iter().any(|(name, _)| name == argument)
    }
}

impl ToolList {
    /// The same list, known by the bytes that another format sends it as.
    pub(crate) fn sent_as(mut self, raw: &RawValue) -> Self {
        self.raw = raw.get().into();
        self
    }

    /// Length of the list on the wire.
    pub(crate) fn bytes(&self) -> usize {
        self.raw.len()
    }

    /// Tools that carry a cache breakpoint.
    pub(crate) fn breakpoints(&self) -> usize {
        self.marks.len()
    }

    /// Cache breakpoints, each with the place of the tool that carries it, in order.
    pub(crate) fn marks(&self) -> &[(usize, Ttl)] {
        &self.marks
    }

    /// Per tool, the prefix that ends with it, and the bytes of that prefix that count.
    pub(crate) fn links(&self) -> &[(Link, usize)] {
        self.links.get_or_init(|| {
            let mut link = Link::default();
            let mut bytes = 0;
            let links = self.tools.iter().map(|tool| {
                let parts = [&tool.name, &tool.description, tool.schema.get()];
                link = link.then(&parts);
                bytes += parts.iter().map(|part| part.len()).sum::<usize>();
                (link, bytes)
            });
            links.collect()
        })
    }

    /// Shown tools that are no meta tools, in order.
    pub(crate) fn upstream(&self) -> impl Iterator<Item = &Tool> {
        self.tools
            .iter()
            .enumerate()
            .filter(|(index, _)| self.metas.iter().all(|meta| meta.index != *index))
            .map(|(_, tool)| tool)
    }

    /// Tools that the descriptions of meta tools list, shown or not.
    pub(crate) fn listed(&self) -> &[Listed] {
        self.listed.get_or_init(|| self.metas.iter().flat_map(|meta| meta.listed(&self.tools[meta.index])).collect())
    }

    /// The words of every tool that can be seen.
    pub(crate) fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(self))
    }
}
