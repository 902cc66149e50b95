//! Tool lists of chat requests: checked, then read as the scripted model reads those of the other format.

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::request::FunctionKind;
use crate::{surface::ToolList, wire::error::WireError};

/// Functions that a request may show.
const MAX_TOOLS: usize = 128;

/// Keywords that a schema may not have at its top level.
const NOT_ON_TOP: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChatTool<'a> {
    #[serde(rename = "type")]
    _kind: FunctionKind,
    #[serde(borrow)]
    function: Function<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Function<'a> {
    name: String,
    description: Option<String>,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(rename = "strict")]
    _strict: Option<bool>,
}

/// Reads a list.
///
/// # Errors
/// More functions than are allowed, an illegal or repeated name, a schema that is no object's.
pub(super) fn read(raw: &RawValue) -> Result<ToolList, WireError> {
    let tools: Vec<ChatTool<'_>> =
        serde_json::from_str(raw.get()).map_err(|error| WireError::field("tools", error.to_string()))?;
    if tools.is_empty() {
        return Err(WireError::field("tools", "empty array. Expected an array with minimum length 1"));
    }
    if tools.len() > MAX_TOOLS {
        let why = format!("array too long. Expected an array with maximum length {MAX_TOOLS}, but got {}", tools.len());
        return Err(WireError::field("tools", why));
    }
    let mut read = Vec::with_capacity(tools.len());
    for (index, ChatTool { function, .. }) in tools.iter().enumerate() {
        let schema: Value = match function.parameters {
            None => json!({"type": "object", "properties": {}}),
            Some(raw) => serde_json::from_str(raw.get())
                .map_err(|error| WireError::field(format!("tools[{index}].function.parameters"), error.to_string()))?,
        };
        check(index, function, schema.as_object())?;
        let schema = function.parameters.map_or_else(|| schema.to_string(), |raw| raw.get().to_owned());
        let head = json!({"name": function.name, "description": function.description.as_deref().unwrap_or_default()});
        // The schema's bytes stay as they came: their order counts.
        let head = head.to_string();
        read.push(format!("{},\"input_schema\":{schema}}}", head.trim_end_matches('}')));
    }
    let list = RawValue::from_string(format!("[{}]", read.join(",")))
        .map_err(|error| WireError::field("tools", error.to_string()))?;
    Ok(ToolList::read(&list)?.sent_as(raw))
}

fn check(index: usize, function: &Function<'_>, schema: Option<&Map<String, Value>>) -> Result<(), WireError> {
    let name = &function.name;
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || name.len() > 64 || !name.bytes().all(legal) {
        return Err(WireError::field(
            format!("tools[{index}].function.name"),
            "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$'",
        ));
    }
    let wrong = |why: &str| {
        WireError::field(
            format!("tools[{index}].function.parameters"),
            format!("Invalid schema for function '{name}': {why}"),
        )
    };
    let schema = schema.ok_or_else(|| wrong("schema must be a JSON object"))?;
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(wrong("schema must be a JSON Schema of 'type: \"object\"'"));
    }
    if NOT_ON_TOP.iter().any(|keyword| schema.contains_key(*keyword)) {
        return Err(wrong(
            "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level",
        ));
    }
    Ok(())
}
