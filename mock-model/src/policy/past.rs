//! What has happened in the conversation so far, as far as a wanted call is concerned.

use serde_json::{Map, Value};

use super::Scene;
use crate::surface::{lookup::full_name, meta::MetaKind};

/// Earlier calls, read for one wanted tool.
#[derive(Default)]
pub(super) struct Past<'s> {
    /// An upstream call was answered without an error.
    pub(super) done: bool,
    /// Upstream calls that were answered with an error.
    pub(super) failed: usize,
    /// Schema fetches of the wanted tool.
    pub(super) fetches: usize,
    /// Replies to searches, and to fetches of the wanted tool.
    pub(super) found: Vec<&'s str>,
    pub(super) fetched: Vec<&'s str>,
    /// Searches made.
    pub(super) searches: usize,
}

impl<'s> Past<'s> {
    pub(super) fn of(scene: &'s Scene<'_>, server: &str, tool: &str) -> Self {
        let mut past = Self::default();
        let full = full_name(server, tool);
        for exchange in &scene.request.conversation.exchanges {
            let meta = scene.request.tools.meta_named(exchange.name);
            match meta.map(|meta| &meta.kind) {
                Some(MetaKind::Fetch { name }) => {
                    let input: Map<String, Value> = serde_json::from_str(exchange.input.get()).unwrap_or_default();
                    let asked = input.get(name).and_then(Value::as_str);
                    if asked.is_some_and(|asked| asked == tool || asked == full) {
                        past.fetches += 1;
                        if !exchange.is_error {
                            past.fetched.push(&exchange.text);
                        }
                    }
                }
                Some(MetaKind::Search { .. }) => {
                    past.searches += 1;
                    if !exchange.is_error {
                        past.found.push(&exchange.text);
                    }
                }
                Some(MetaKind::Expand { .. }) => {}
                Some(MetaKind::Invoke { .. }) | None => {
                    if exchange.is_error {
                        past.failed += 1;
                    } else {
                        past.done = true;
                    }
                }
            }
        }
        past
    }
}
