//! Sample values for an argument, made from its schema and kept only if the tool's own validator takes them.

use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, ToolDef};

/// References and branches are followed this deep; beyond it nothing is made up.
const DEPTH: usize = 6;

/// Up to `count` different values of one argument that fit its schema; none where nothing that is tried does.
pub(super) fn samples(tool: &ToolDef, name: &str, schema: &Value, count: usize) -> Vec<Value> {
    let maker = Maker { root: &tool.input_schema };
    let validator = Validator::new(&tool.input_schema, name, schema);
    let mut values: Vec<Value> = Vec::new();
    for nth in 0..4 * count {
        if values.len() == count {
            break;
        }
        let Some(value) = maker.value(schema, name, nth, 0) else { continue };
        if !values.contains(&value) && !has_null(&value) && validator.takes(&value) {
            values.push(value);
        }
    }
    values
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

/// The schema of one argument alone, with the definitions that it may refer to.
struct Validator {
    catalog: Option<Catalog>,
    name: String,
}

impl Validator {
    fn new(root: &Value, name: &str, schema: &Value) -> Self {
        let mut alone: Map<String, Value> = Map::new();
        for definitions in ["$defs", "definitions"] {
            if let Some(value) = root.get(definitions) {
                alone.insert(definitions.to_owned(), value.clone());
            }
        }
        alone.insert("properties".to_owned(), json!({ name: schema }));
        let file = json!({ "tools_list_pages": [{ "tools": [{ "name": "x", "inputSchema": alone }] }] });
        let catalog = Catalog::parse("x", "x", file.to_string().into_bytes().into()).ok();
        Self { catalog, name: name.to_owned() }
    }

    fn takes(&self, value: &Value) -> bool {
        let arguments: Map<String, Value> = [(self.name.clone(), value.clone())].into_iter().collect();
        self.catalog.as_ref().and_then(|catalog| catalog.tool("x")).is_none_or(|tool| tool.validate(&arguments).is_ok())
    }
}

struct Maker<'a> {
    root: &'a Value,
}

impl Maker<'_> {
    /// The `nth` value of a schema; `name` flavours strings.
    fn value(&self, schema: &Value, name: &str, nth: usize, depth: usize) -> Option<Value> {
        if depth > DEPTH {
            return None;
        }
        if let Some(value) = schema.get("const") {
            return Some(value.clone());
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return words.get(nth).cloned();
        }
        if let Some(example) = schema.get("examples").and_then(Value::as_array).and_then(|examples| examples.get(nth)) {
            return Some(example.clone());
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return self.value(self.root.pointer(target.strip_prefix('#')?)?, name, nth, depth + 1);
        }
        if let Some(branches) = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(*key)?.as_array()) {
            let useful = branches.iter().find(|branch| branch.get("type") != Some(&json!("null")))?;
            return self.value(useful, name, nth, depth + 1);
        }
        match type_of(schema) {
            "integer" => integer(schema, nth),
            "number" => integer(schema, nth).map(|whole| whole.as_f64().map_or(whole, |whole| json!(whole + 0.5))),
            "boolean" => (nth < 2).then(|| json!(nth == 0)),
            "array" => self.array(schema, name, nth, depth),
            "object" => self.object(schema, nth, depth),
            "string" => Some(text(schema, name, nth).into()),
            _ => None,
        }
    }

    fn array(&self, schema: &Value, name: &str, nth: usize, depth: usize) -> Option<Value> {
        let items = schema.get("items").filter(|items| items.is_object());
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
        let least = bound("minItems").unwrap_or(1).max(1);
        // One to four elements, all values of different lengths' runs.
        let length = (least + nth % 4).min(bound("maxItems").unwrap_or(usize::MAX));
        let text = json!({ "type": "string" });
        let values = (0..length).map(|at| self.value(items.unwrap_or(&text), name, 4 * nth + at, depth + 1));
        // An enumeration may have fewer words than the array has places.
        let values: Vec<Value> = values.take_while(Option::is_some).flatten().collect();
        (values.len() >= least).then(|| values.into())
    }

    fn object(&self, schema: &Value, nth: usize, depth: usize) -> Option<Value> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let wanted = |name: &String| required.is_none_or(|names| names.iter().any(|other| other == name));
        let mut members = Map::new();
        for (name, property) in properties.into_iter().flatten().filter(|(name, _)| wanted(name)) {
            members.insert(name.clone(), self.value(property, name, nth, depth + 1)?);
        }
        if members.is_empty() {
            members.insert(format!("key-{}", nth + 1), format!("value-{}", nth + 1).into());
        }
        Some(members.into())
    }
}

/// The first type that says something; a schema with properties or items is what they belong to.
fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or(""),
        _ if schema.get("properties").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ => "string",
    }
}

fn integer(schema: &Value, nth: usize) -> Option<Value> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|bound| bound + 1.0));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|bound| bound - 1.0));
    let step = schema.get("multipleOf").and_then(Value::as_f64).filter(|step| *step >= 1.0).unwrap_or(1.0);
    let start = least.unwrap_or_else(|| most.map_or(2.0, |most| (most - 20.0).min(2.0)));
    let value = (start / step).ceil() * step + step * nth as f64;
    // Beyond 2^53 a float no longer tells neighbours apart.
    if value.abs() > 9e15 || most.is_some_and(|most| value > most) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    Some(json!(value as i64))
}

fn text(schema: &Value, name: &str, nth: usize) -> String {
    let n = nth + 1;
    let stem = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => format!("2026-03-{:02}T09:{:02}:00Z", n % 28 + 1, n % 60),
        Some("date") => format!("2026-03-{:02}", n % 28 + 1),
        Some("time") => format!("09:{:02}:00Z", n % 60),
        Some("uri" | "url") => format!("https://example.com/page-{n}"),
        Some("email") => format!("person{n}@example.com"),
        Some("uuid") => format!("00000000-0000-4000-8000-{n:012}"),
        Some("ipv4") => format!("192.0.2.{}", n % 250 + 1),
        _ => format!("{name} {n}"),
    };
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|bound| usize::try_from(bound).ok());
    let least = bound("minLength").unwrap_or(0);
    let mut text = stem;
    while text.chars().count() < least.min(10_000) {
        text.push('x');
    }
    match bound("maxLength") {
        // The end tells the values apart.
        Some(most) if text.chars().count() > most => text.chars().skip(text.chars().count() - most).collect(),
        _ => text,
    }
}
