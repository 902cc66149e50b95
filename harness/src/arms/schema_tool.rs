//! The meta tool that gives a tool's full definition: what it takes, and what it answers.

use std::{fmt::Write as _, sync::Arc};

use serde_json::{Map, Value, json};

use super::{
    ArmError,
    definitions::{Definitions, shown},
    names::{MetaKind, Place},
    tidy,
};
use crate::surface::ShownTool;

/// Argument of the meta tools that names a tool.
pub(super) const TOOL_NAME: &str = "tool_name";
/// Argument of the invoke meta tool that holds the tool's arguments.
pub(super) const ARGUMENTS: &str = "arguments";

/// A schema meta tool of this name and description.
pub(super) fn schema_meta(name: &str, description: String) -> Result<Arc<ShownTool>, ArmError> {
    let schema =
        json!({ "type": "object", "properties": { TOOL_NAME: { "type": "string" } }, "required": [TOOL_NAME] });
    shown(name, Some(description), &schema)
}

/// `name(required, optional?)`: arguments in the schema's order, then required ones that it does not describe.
pub(super) fn signature(name: &str, schema: &Value) -> String {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let described =
        properties.keys().map(|key| if required.contains(&key.as_str()) { key.clone() } else { format!("{key}?") });
    let undescribed = required.iter().filter(|key| !properties.contains_key(**key)).map(|&key| key.to_owned());
    format!("{name}({})", described.chain(undescribed).collect::<Vec<_>>().join(", "))
}

/// What a schema meta tool answers: signature, the full L0 description, the L0 schema, and (where the tool has joined
/// the list) under which name.
pub(super) fn schema_text(definitions: &Definitions, place: Place, unlocked: bool) -> String {
    let tool = definitions.tool(place);
    let upstream = &tool.upstream;
    let mut text = signature(&upstream.name, &upstream.input_schema);
    if let Some(description) = upstream.description.as_deref().and_then(tidy::description) {
        text.push_str(": ");
        text.push_str(&description);
    }
    text.push_str("\n\n");
    text.push_str(tool.lossless.schema().get());
    if unlocked {
        let name = definitions.names.tool(place);
        let invoke = definitions.names.meta(place.server, MetaKind::Invoke);
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            "\n\n`{name}` is among your tools now: call it directly. If you do not see it, call `{invoke}` with tool_name \
             `{}`.",
            upstream.name
        );
    }
    text
}
