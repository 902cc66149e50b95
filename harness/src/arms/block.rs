//! What a level shows of one server: the piece that levels make and their engine puts together.

use std::sync::Arc;

use super::{definitions::Definitions, names::MetaKind};
use crate::surface::ShownTool;

/// One server's part of a surface at the start of a session.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// What is shown, in order, meta tools included.
    pub shown: Vec<Arc<ShownTool>>,
    /// Upstream tools that are not shown at first, by index; sorted.
    pub hidden: Vec<usize>,
    /// The meta tools among those shown.
    pub metas: Vec<MetaKind>,
}

impl Block {
    /// A list of all upstream tools and nothing else.
    pub(super) fn direct(shown: Vec<Arc<ShownTool>>) -> Self {
        Self { shown, ..Self::default() }
    }

    /// One server's tools in their L0 form.
    pub(super) fn lossless(definitions: &Definitions, server: usize) -> Self {
        Self::direct(definitions.servers[server].tools.iter().map(|tool| Arc::clone(&tool.lossless)).collect())
    }
}
