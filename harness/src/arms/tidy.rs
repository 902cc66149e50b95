//! What L0 does to one text and one schema: it removes what no validator reads, and nothing that a model could miss.
//!
//! Only true schema positions are touched: a property that is *called* `title` or `description` is data.

use serde_json::{Map, Value};

/// Keywords whose value maps names to schemas.
const MAPS: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords whose value is a list of schemas (`items` in its tuple form too).
const LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose value is one schema.
const ONES: [&str; 11] = [
    "items",
    "additionalProperties",
    "additionalItems",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords whose value is data.
const DATA: [&str; 5] = ["const", "enum", "default", "examples", "example"];

/// The dialects that servers declare and whose declaration may go: without one, MCP reads a schema as 2020-12.
const DIALECTS: [&str; 4] = [
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2020-12/schema#",
];
/// Keywords that draft-07 and 2020-12 read differently, or that only one of them knows.
const DIALECT_BOUND: [&str; 15] = [
    "additionalItems",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "prefixItems",
    "unevaluatedItems",
    "unevaluatedProperties",
    "minContains",
    "maxContains",
    "$recursiveRef",
    "$recursiveAnchor",
    "$dynamicRef",
    "$dynamicAnchor",
    "$anchor",
    "$vocabulary",
];

/// A tool's own description, or nothing where it is empty.
pub(super) fn description(text: &str) -> Option<String> {
    Some(tidy(text)).filter(|text| !text.is_empty())
}

/// Takes blanks off line ends and off both ends of the text, and leaves one blank line where several are.
pub(super) fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for line in text.trim().lines() {
        let line = line.trim_end();
        if line.is_empty() {
            blank = true;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if blank { "\n\n" } else { "\n" });
        }
        blank = false;
        out.push_str(line);
    }
    out
}

/// A schema in its L0 form, its descriptions rewritten by `describe`; `name` is the tool's.
pub(super) fn schema(schema: &Value, name: &str, describe: &dyn Fn(&str) -> String) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let droppable = members.get("$schema").and_then(Value::as_str).is_some_and(|uri| DIALECTS.contains(&uri))
        && !is_dialect_bound(schema);
    let mut out = walk(members, Some(name), describe);
    if droppable {
        out.shift_remove("$schema");
    }
    Value::Object(out)
}

fn node(schema: &Value, name: Option<&str>, describe: &dyn Fn(&str) -> String) -> Value {
    match schema {
        Value::Object(members) => Value::Object(walk(members, name, describe)),
        // A boolean schema; anything else is no schema and is left as it is.
        other => other.clone(),
    }
}

fn walk(members: &Map<String, Value>, name: Option<&str>, describe: &dyn Fn(&str) -> String) -> Map<String, Value> {
    let mut out = Map::with_capacity(members.len());
    for (key, value) in members {
        let kept = match (key.as_str(), value) {
            ("$comment", Value::String(_)) => continue,
            ("title", Value::String(title)) if name.is_some_and(|name| restates(title, name)) => continue,
            ("description", Value::String(text)) => {
                let text = describe(text);
                if text.is_empty() {
                    continue;
                }
                Value::String(text)
            }
            (map, Value::Object(named)) if MAPS.contains(&map) => Value::Object(
                named.iter().map(|(name, value)| (name.clone(), node(value, Some(name), describe))).collect(),
            ),
            (list, Value::Array(items)) if LISTS.contains(&list) => {
                Value::Array(items.iter().map(|item| node(item, None, describe)).collect())
            }
            (one, Value::Object(_)) if ONES.contains(&one) => node(value, None, describe),
            _ => value.clone(),
        };
        out.insert(key.clone(), kept);
    }
    out
}

/// A schema with `edit` applied to the members of every schema in it, outer ones first.
pub(super) fn map_schemas(schema: &Value, edit: &dyn Fn(&mut Map<String, Value>)) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let mut members = members.clone();
    edit(&mut members);
    for (key, value) in &mut members {
        let inner: Vec<&mut Value> = match value {
            Value::Object(named) if MAPS.contains(&key.as_str()) => named.values_mut().collect(),
            Value::Array(items) if LISTS.contains(&key.as_str()) => items.iter_mut().collect(),
            one @ Value::Object(_) if ONES.contains(&key.as_str()) => vec![one],
            _ => continue,
        };
        for schema in inner {
            *schema = map_schemas(schema, edit);
        }
    }
    Value::Object(members)
}

/// True where a title says no more than the name: the same letters and digits, whatever case and punctuation.
fn restates(title: &str, name: &str) -> bool {
    let letters =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<Vec<char>>();
    let title = letters(title);
    !title.is_empty() && title == letters(name)
}

/// True where a validator's verdict may hang on the declared dialect. Looks into unknown keywords too, since a reference
/// may lead there, but not into data, and takes no property name for a keyword.
fn is_dialect_bound(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(is_dialect_bound),
        Value::Object(members) => members.iter().any(|(key, value)| match (key.as_str(), value) {
            (key, _) if DIALECT_BOUND.contains(&key) => true,
            ("items", Value::Array(_)) | ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => true,
            // Draft-07 reads nothing beside a reference, and takes `$id: "#name"` for an anchor.
            ("$ref", Value::String(_)) => members.len() > 1,
            ("$id", Value::String(id)) => id.contains('#'),
            (key, _) if DATA.contains(&key) => false,
            (key, Value::Object(named)) if MAPS.contains(&key) => named.values().any(is_dialect_bound),
            (_, value) => is_dialect_bound(value),
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
