//! L2 and L3: an index per server, a tool's real definition once the model asks for it, and (L3) the most used tools
//! shown from the start.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::json;

use super::{
    Affordance, Arm, ArmContext, ArmError, ArmInfo, LEVELS_SOURCE, Waiver,
    block::Block,
    definitions::{Definitions, Server, shown},
    fallback,
    level::LevelArm,
    materials::Materials,
    names::MetaKind,
    schema_tool::{ARGUMENTS, TOOL_NAME, schema_meta, signature},
    sentences,
};
use crate::surface::ShownTool;

pub(super) fn info(pinned: bool) -> ArmInfo {
    let (id, summary, waivers): (_, _, &[Waiver]) = if pinned {
        ("L3", "as L2, the most used tools of a warm-up trace shown from the start", &[Waiver::Order])
    } else {
        ("L2", "one index per server; a tool's definition once it is asked for", &[])
    };
    ArmInfo {
        affordance: Affordance::IndexSchemaDirect,
        extra_trips: 1,
        source: LEVELS_SOURCE,
        ..ArmInfo::direct(id, summary, waivers)
    }
}

/// L2.
pub(super) fn build(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let (blocks, fallbacks) = blocks(materials.definitions())?;
    Ok(Arc::new(LevelArm::new(info, Arc::clone(materials.definitions()), blocks, fallbacks)))
}

/// L3.
pub(super) fn build_pinned(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let (blocks, fallbacks) = pinned_blocks(materials.definitions(), materials.context())?;
    Ok(Arc::new(LevelArm::new(info, Arc::clone(materials.definitions()), blocks, fallbacks)))
}

/// Every server's L2 block, and why some are shown at L0.
pub(super) fn blocks(definitions: &Definitions) -> Result<(Vec<Block>, BTreeMap<String, String>), ArmError> {
    fallback::never_larger(definitions, "L2", |definitions, server| block(definitions, server, &BTreeSet::new()))
}

/// Every server's L3 block, and why some are shown at L0.
pub(super) fn pinned_blocks(
    definitions: &Definitions,
    context: &ArmContext,
) -> Result<(Vec<Block>, BTreeMap<String, String>), ArmError> {
    fallback::never_larger(definitions, "L3", |definitions, server| {
        block(definitions, server, &pins(&definitions.servers[server], context))
    })
}

/// Indices of the most used tools of a server: ties by name, names that the server does not have passed over.
fn pins(server: &Server, context: &ArmContext) -> BTreeSet<usize> {
    let (most, at_least) = context.pins;
    let mut used: Vec<(Reverse<u32>, &str, usize)> = context
        .warm_up
        .uses
        .get(&*server.name)
        .into_iter()
        .flatten()
        .filter(|&(_, &uses)| uses >= at_least)
        .filter_map(|(tool, &uses)| Some((Reverse(uses), tool.as_str(), server.position(tool)?)))
        .collect();
    used.sort_unstable();
    used.into_iter().take(usize::try_from(most).unwrap_or(usize::MAX)).map(|(_, _, tool)| tool).collect()
}

fn block(definitions: &Definitions, server: usize, pins: &BTreeSet<usize>) -> Result<Block, ArmError> {
    let own = &definitions.servers[server];
    let mut shown = vec![index(definitions, server)?, invoke_meta(definitions, server)?];
    let mut pinned: Vec<usize> = pins.iter().copied().collect();
    pinned.sort_by(|&a, &b| own.tools[a].upstream.name.cmp(&own.tools[b].upstream.name));
    shown.extend(pinned.into_iter().map(|tool| Arc::clone(&own.tools[tool].lossless)));
    let hidden = (0..own.tools.len()).filter(|tool| !pins.contains(tool)).collect();
    Ok(Block { shown, hidden, metas: vec![MetaKind::Schema, MetaKind::Invoke] })
}

/// The schema meta tool with the index in its description.
fn index(definitions: &Definitions, server: usize) -> Result<Arc<ShownTool>, ArmError> {
    let own = &definitions.servers[server];
    let mut description = format!(
        "Index of the {} on the `{}` server, as name(required, optional?): purpose. To use one, call this with its \
         tool_name: you get its full definition, and it joins your tools under its own name, to be called directly.",
        if own.tools.len() == 1 { "one tool".to_owned() } else { format!("{} tools", own.tools.len()) },
        own.name
    );
    index_lines(own, &mut description);
    schema_meta(definitions.names.meta(server, MetaKind::Schema), description)
}

/// Appends a line per tool: its signature, and its purpose where it has one.
pub(super) fn index_lines(server: &Server, text: &mut String) {
    for tool in &server.tools {
        text.push('\n');
        text.push_str(&signature(&tool.upstream.name, &tool.upstream.input_schema));
        if let Some(purpose) = tool.upstream.description.as_deref().and_then(purpose) {
            text.push_str(": ");
            text.push_str(&purpose);
        }
    }
}

fn invoke_meta(definitions: &Definitions, server: usize) -> Result<Arc<ShownTool>, ArmError> {
    let description = format!(
        "Calls a tool of the `{}` server by its tool_name. Only for a tool whose definition you have and that is not \
         among your tools.",
        definitions.servers[server].name
    );
    let schema = json!({
        "type": "object",
        "properties": { TOOL_NAME: { "type": "string" }, ARGUMENTS: { "type": "object" } },
        "required": [TOOL_NAME],
    });
    shown(definitions.names.meta(server, MetaKind::Invoke), Some(description), &schema)
}

/// The first sentence on one line.
fn purpose(description: &str) -> Option<String> {
    let first = sentences::split(description).into_iter().next()?;
    Some(first.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests;
