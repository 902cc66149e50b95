//! What has happened in the conversation so far, as far as a wanted call is concerned: calls since the user spoke last,
//! and everything that was ever read.

use serde_json::{Map, Value};

use super::Scene;
use crate::surface::{lookup::spellings, meta::MetaKind};

/// Earlier calls, read for one wanted tool.
#[derive(Default)]
pub(super) struct Past<'s> {
    /// An upstream call was answered without an error.
    pub(super) done: bool,
    /// Upstream calls that were answered with an error.
    pub(super) failed: usize,
    /// Schema fetches of the wanted tool.
    pub(super) fetches: usize,
    /// Replies to searches and lists, and to fetches of the wanted tool.
    pub(super) found: Vec<&'s str>,
    pub(super) fetched: Vec<&'s str>,
    /// How the way to the wanted tool was looked for.
    pub(super) steps: Steps,
}

/// Steps towards a tool that cannot be seen yet.
#[derive(Default)]
pub(super) struct Steps {
    /// Queries, since the wanted tool's server was connected if it was.
    pub(super) queries: Vec<String>,
    /// The server was asked to be connected.
    pub(super) connected: bool,
    /// Servers were listed.
    pub(super) servers: bool,
    /// Tools were listed, of the wanted tool's server or of all.
    pub(super) tools: bool,
}

impl<'s> Past<'s> {
    pub(super) fn of(scene: &'s Scene<'_>, server: &str, tool: &str) -> Self {
        let mut past = Self::default();
        let names = spellings(server, tool);
        let conversation = &scene.request.conversation;
        for (at, exchange) in conversation.exchanges.iter().enumerate() {
            let now = at >= conversation.since;
            let meta = scene.request.tools.meta_named(exchange.name);
            let input = || serde_json::from_str::<Map<String, Value>>(exchange.input.get()).unwrap_or_default();
            let text = (!exchange.is_error).then_some(&*exchange.text);
            match meta.map(|meta| &meta.kind) {
                Some(MetaKind::Fetch { name, .. }) => {
                    let input = input();
                    let asked = match input.get(name) {
                        Some(Value::Array(many)) => many.first().and_then(Value::as_str),
                        one => one.and_then(Value::as_str),
                    };
                    if asked.is_some_and(|asked| names.iter().any(|name| name == asked)) {
                        past.fetches += 1;
                        past.fetched.extend(text);
                    }
                }
                // What an earlier search brought out may be gone again: one searches anew.
                Some(MetaKind::Search { .. }) if !now => {}
                Some(MetaKind::Search { query, .. }) => {
                    let asked = input().get(query).and_then(Value::as_str).unwrap_or_default().to_owned();
                    past.steps.queries.push(asked);
                    past.found.extend(text);
                }
                Some(MetaKind::Tools { server: parameter }) => {
                    let input = input();
                    let asked = parameter.as_ref().and_then(|name| input.get(name)?.as_str());
                    past.steps.tools |= asked.is_none_or(|asked| asked == server);
                    past.found.extend(text);
                }
                Some(MetaKind::Servers) => past.steps.servers = true,
                Some(MetaKind::Connect { .. }) => {
                    past.steps.connected = true;
                    past.steps.queries.clear();
                }
                Some(MetaKind::Expand { .. }) => {}
                Some(MetaKind::Invoke { .. }) | None if !now => {}
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
