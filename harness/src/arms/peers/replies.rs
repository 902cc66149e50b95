//! The forms in which meta tools tell of upstream tools.

use serde_json::{Map, Value, value::RawValue};

use super::Materials;
use crate::arms::sentences;

/// A JSON array of objects that are JSON already.
pub(super) fn array(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!("[{}]", items.join(","))
}

/// The definition of a tool as MCP writes it, `{"name", "description"?, "inputSchema"}`, under the name it is shown, and
/// further members behind.
pub(super) fn definition(materials: &Materials, at: usize, more: &[(&str, Value)]) -> String {
    let raw = &materials.tool(at).raw;
    object(raw.name(), raw.description(), Some(raw.schema()), more)
}

/// `{"name", "description"?, "inputSchema"?, …}` as compact JSON.
pub(super) fn object(
    name: &str,
    description: Option<&str>,
    schema: Option<&RawValue>,
    more: &[(&str, Value)],
) -> String {
    let mut out = format!("{{\"name\":{}", Value::from(name));
    let mut member = |key: &str, json: &str| {
        out.push_str(",\"");
        out.push_str(key);
        out.push_str("\":");
        out.push_str(json);
    };
    if let Some(description) = description {
        member("description", &Value::from(description).to_string());
    }
    if let Some(schema) = schema {
        member("inputSchema", schema.get());
    }
    for (key, value) in more {
        member(key, &value.to_string());
    }
    out.push('}');
    out
}

/// The first sentence of a tool's description on one line; `None` where there is none.
pub(super) fn first_sentence(materials: &Materials, at: usize) -> Option<String> {
    let first = sentences::split(materials.description(at)).into_iter().next()?;
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

/// An optional argument of a call, where it says something: models send null, an empty text or an empty list for what
/// they leave out.
pub(super) fn given<'a>(arguments: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    let says = |value: &&Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    arguments.get(key).filter(says)
}

/// A text argument of a call.
pub(super) fn text<'a>(arguments: &'a Map<String, Value>, key: &str) -> Result<&'a str, String> {
    arguments.get(key).and_then(Value::as_str).ok_or_else(|| format!("error: `{key}` must be a text"))
}

/// An argument of a call that holds a tool's own arguments. As the described proxies do it: whatever is no object
/// reaches the server as no arguments.
pub(super) fn inner(arguments: &Map<String, Value>, key: &str) -> Map<String, Value> {
    arguments.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// An argument of a call that is a list of texts, or one text alone.
pub(super) fn texts<'a>(arguments: &'a Map<String, Value>, key: &str) -> Result<Vec<&'a str>, String> {
    let wrong = || format!("error: `{key}` must be a list of texts");
    match arguments.get(key) {
        Some(Value::String(one)) => Ok(vec![one]),
        Some(Value::Array(many)) => many.iter().map(|one| one.as_str().ok_or_else(wrong)).collect(),
        _ => Err(wrong()),
    }
}

/// A whole number among a call's arguments, between bounds; `default` where it is missing or no number.
pub(super) fn number(
    arguments: &Map<String, Value>,
    key: &str,
    default: usize,
    bounds: std::ops::RangeInclusive<usize>,
) -> usize {
    let given = arguments.get(key).and_then(Value::as_u64).and_then(|given| usize::try_from(given).ok());
    given.unwrap_or(default).clamp(*bounds.start(), *bounds.end())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_optional_argument_that_says_nothing_is_not_given() {
        let Value::Object(arguments) = json!({ "null": null, "text": "", "list": [], "zero": 0, "no": false, "empty": {}, "word": "x", "one": [""] })
        else {
            unreachable!()
        };
        let given: Vec<&str> =
            arguments.keys().map(String::as_str).filter(|key| given(&arguments, key).is_some()).collect();
        assert_eq!(given, ["zero", "no", "empty", "word", "one"]);
        assert_eq!(super::given(&arguments, "missing"), None);
    }
}
