//! Canned results: the same for every call of a tool, and of the shape that the tool declares.

use serde_json::{Map, Value, json};

/// What a tool without an output schema says.
const TEXT: &str = "ok";
/// How deep a made-up value goes; a schema that refers to itself ends here.
const MAX_DEPTH: u32 = 16;
/// Members and items that a schema may ask for; more are not made up.
const MAX_MADE_UP: u64 = 64;

/// The result of a call. With an output schema there is structured content of that shape, and its JSON as text, as the
/// protocol asks of servers.
pub(super) fn result(output_schema: Option<&Value>) -> Value {
    match output_schema {
        None => json!({ "content": [{ "type": "text", "text": TEXT }] }),
        Some(schema) => {
            let structured = match made_up(schema, schema, 0) {
                object @ Value::Object(_) => object,
                // Structured content is an object by the protocol, whatever the schema leaves open.
                _ => json!({}),
            };
            json!({ "content": [{ "type": "text", "text": structured.to_string() }], "structuredContent": structured })
        }
    }
}

/// A smallest value that a schema takes, as far as it is read: constants, types, required members, bounds, references
/// within the document, the first of alternatives.
fn made_up(schema: &Value, root: &Value, depth: u32) -> Value {
    let Some(keywords) = schema.as_object().filter(|_| depth < MAX_DEPTH) else { return json!({}) };
    if let Some(value) = keywords.get("const") {
        return value.clone();
    }
    if let Some(value) = keywords.get("enum").and_then(|values| values.get(0)) {
        return value.clone();
    }
    if let Some(target) = keywords.get("$ref").and_then(Value::as_str) {
        let found = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return found.map_or_else(|| json!({}), |found| made_up(found, root, depth + 1));
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(first) = keywords.get(choice).and_then(|all| all.get(0)) {
            return made_up(first, root, depth + 1);
        }
    }
    if let Some(all) = keywords.get("allOf").and_then(Value::as_array) {
        let mut merged = object(keywords, root, depth);
        for part in all {
            if let Value::Object(members) = made_up(part, root, depth + 1) {
                merged.extend(members);
            }
        }
        return Value::Object(merged);
    }
    let kind = match keywords.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => kinds.iter().find_map(Value::as_str).unwrap_or_default(),
        _ => "",
    };
    match kind {
        "string" => string(keywords),
        "integer" | "number" => number(keywords),
        "boolean" => json!(true),
        "null" => Value::Null,
        "array" => {
            let items = keywords.get("items").unwrap_or(&Value::Null);
            let count = bound(keywords, "minItems").min(MAX_MADE_UP);
            (0..count).map(|_| made_up(items, root, depth + 1)).collect()
        }
        _ => Value::Object(object(keywords, root, depth)),
    }
}

fn object(keywords: &Map<String, Value>, root: &Value, depth: u32) -> Map<String, Value> {
    let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let properties = keywords.get("properties");
    required
        .map(|name| {
            let schema = properties.and_then(|all| all.get(name)).unwrap_or(&Value::Null);
            (name.to_owned(), made_up(schema, root, depth + 1))
        })
        .collect()
}

fn string(keywords: &Map<String, Value>) -> Value {
    let text = match keywords.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("date") => "2026-01-01",
        Some("time") => "00:00:00Z",
        Some("uri" | "url") => "https://example.com/",
        Some("email") => "someone@example.com",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        _ => TEXT,
    };
    let missing = bound(keywords, "minLength").min(MAX_MADE_UP).saturating_sub(text.chars().count() as u64);
    Value::String(text.chars().chain((0..missing).map(|_| '-')).collect())
}

fn number(keywords: &Map<String, Value>) -> Value {
    if let Some(minimum) = keywords.get("minimum").filter(|minimum| minimum.is_number()) {
        return minimum.clone();
    }
    match keywords.get("exclusiveMinimum").and_then(Value::as_f64) {
        Some(above) => json!(above + 1.0),
        None => json!(1),
    }
}

fn bound(keywords: &Map<String, Value>, name: &str) -> u64 {
    keywords.get(name).and_then(Value::as_u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use bench_tasks::catalog::Catalogs;

    use super::*;

    #[test]
    fn every_vendored_output_schema_is_met() {
        let catalogs = Catalogs::vendored().unwrap();
        let mut met = 0;
        for (catalog, tool) in catalogs.tools() {
            let Some(schema) = &tool.output_schema else { continue };
            let result = result(Some(schema));
            assert!(
                jsonschema::is_valid(schema, &result["structuredContent"]),
                "{}/{}: {}",
                catalog.server,
                tool.name,
                result["structuredContent"]
            );
            assert_eq!(result["content"][0]["text"], result["structuredContent"].to_string());
            met += 1;
        }
        assert_eq!(met, 27);
    }

    #[test]
    fn odd_schemas_are_met_or_end() {
        for schema in [
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "minLength": 5}}}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "minItems": 2, "items": {"type": "integer", "minimum": 7}}}}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"enum": ["x"]}}}),
            json!({"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"type": ["null", "string"]}}}]}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"anyOf": [{"type": "number", "exclusiveMinimum": 3}]}}}),
        ] {
            let result = result(Some(&schema));
            assert!(jsonschema::is_valid(&schema, &result["structuredContent"]), "{schema}: {result}");
        }
        let endless = json!({"$ref": "#"});
        assert_eq!(result(Some(&endless))["structuredContent"], json!({}));
        let deep = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
        assert!(result(Some(&deep))["structuredContent"]["a"]["a"].is_object());
    }
}
