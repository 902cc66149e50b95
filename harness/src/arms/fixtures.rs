//! Catalogs and contexts for tests.

use std::sync::Arc;

use bench_tasks::catalog::{Catalog, Catalogs};
use serde_json::{Map, Value, json};

use super::{ArmContext, Scope, ToolCall, WarmUp, registry};
use crate::surface::Surface;

/// Catalogs of these servers and tool definitions.
pub(crate) fn catalogs_of(servers: &[(&str, Value)]) -> Catalogs {
    let catalogs = servers.iter().map(|(server, tools)| {
        let file = json!({ "tools_list_pages": [{ "tools": tools }] }).to_string();
        Catalog::parse(server, "test", file.into_bytes().into()).unwrap()
    });
    Catalogs { catalogs: catalogs.collect() }
}

/// Catalogs of these servers with tools that have nothing but a name.
pub(crate) fn catalogs_named(servers: &[(&str, &[&str])]) -> Catalogs {
    let servers: Vec<(&str, Value)> = servers
        .iter()
        .map(|(server, tools)| (*server, tools.iter().map(|tool| json!({ "name": tool })).collect()))
        .collect();
    catalogs_of(&servers)
}

/// The context of the reference catalogs, with a warm-up in which every server's first three tools are used.
pub(crate) fn context() -> ArmContext {
    context_of(Catalogs::vendored().unwrap())
}

/// As [`context`], over other catalogs.
pub(crate) fn context_of(catalogs: Catalogs) -> ArmContext {
    let uses = catalogs.catalogs.iter().map(|catalog| {
        let tools = catalog.tools.iter().take(3).zip([9, 3, 5]);
        (catalog.server.to_string(), tools.map(|(tool, uses)| (tool.name.to_string(), uses)).collect())
    });
    let warm_up = WarmUp { uses: uses.collect() };
    ArmContext { catalogs: Arc::new(catalogs), warm_up, pins: (8, 3), seed: [7; 32], planted_loss_ppm: 60_000 }
}

/// A surface a tool to a line, so that one tool that changed is one line that changed.
pub(crate) fn lines(surface: &Surface) -> String {
    let instructions = Value::from(surface.instructions()).to_string();
    let tools = surface.tools().iter().map(|tool| tool.json().to_owned());
    std::iter::once(instructions).chain(tools).collect::<Vec<_>>().join("\n")
}

/// What an arm shows over a few of the reference servers.
pub(crate) fn some(id: &str, servers: &[&str]) -> String {
    let mut catalogs = Catalogs::vendored().unwrap();
    catalogs.catalogs.retain(|catalog| servers.contains(&&*catalog.server));
    let arm = registry::build(id, &context_of(catalogs)).unwrap();
    lines(arm.open(Scope::Catalogs).unwrap().surface())
}

/// A call; arguments that are no object are none.
pub(crate) fn call(name: &str, arguments: Value) -> ToolCall {
    let arguments = if let Value::Object(arguments) = arguments { arguments } else { Map::new() };
    ToolCall { name: name.to_owned(), arguments }
}
