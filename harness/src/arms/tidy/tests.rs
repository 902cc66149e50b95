use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::rng;
use bench_tasks::catalog::Catalogs;
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::*;

fn strip(schema_value: &Value) -> Value {
    schema(schema_value, "tool", &tidy)
}

#[test]
fn a_property_called_like_a_keyword_is_no_keyword() {
    let original = json!({"type": "object", "title": "Tool", "description": "", "properties": {
        "title": {"type": "string", "title": "title"},
        "description": {"type": "string", "description": "  "},
        "$schema": {"$comment": "gone", "type": "string"},
        "$comment": {"type": "string"},
        "__proto__": {"title": "Proto", "type": "object", "properties": {"title": {}}},
    }, "required": ["title", "description", "$schema", "$comment"]});
    let expected = json!({"type": "object", "properties": {
        "title": {"type": "string"},
        "description": {"type": "string"},
        "$schema": {"type": "string"},
        "$comment": {"type": "string"},
        "__proto__": {"type": "object", "properties": {"title": {}}},
    }, "required": ["title", "description", "$schema", "$comment"]});
    assert_eq!(strip(&original).to_string(), expected.to_string());
}

#[test]
fn data_is_left_alone() {
    let data = json!({"title": "a", "description": "", "$comment": "c"});
    let original = json!({"properties": {"a": {"const": data, "enum": [data], "default": data, "examples": [data], "example": data, "x-own": data}}});
    assert_eq!(strip(&original), original);
}

#[test]
fn a_title_goes_only_where_it_restates_the_name() {
    let title = |title: &str, property: &str| {
        strip(&json!({"properties": {property: {"title": title}}})).to_string().contains("title\":\"")
    };
    assert!(!title("Repo Path", "repo_path"));
    assert!(!title("maxCount", "max_count"));
    assert!(!title("Größe", "größe"));
    assert!(title("Repository", "repo_path"));
    assert!(title("日本", "中国"));
    assert!(title("!!", "?"));
}

#[test]
fn every_subschema_position_is_reached() {
    let sub = json!({"$comment": "x", "type": "string"});
    let clean = json!({"type": "string"});
    let all = |sub: &Value| {
        json!({
            "patternProperties": {"^a": sub}, "$defs": {"d": sub}, "definitions": {"d": sub}, "dependentSchemas": {"a": sub},
            "allOf": [sub, true], "anyOf": [sub], "oneOf": [sub], "prefixItems": [sub], "items": sub, "additionalProperties": sub,
            "additionalItems": sub, "contains": sub, "not": sub, "if": sub, "then": sub, "else": sub, "propertyNames": sub,
            "unevaluatedItems": sub, "unevaluatedProperties": false,
        })
    };
    assert_eq!(strip(&all(&sub)), all(&clean));
    assert_eq!(strip(&json!({"items": [sub, false]})), json!({"items": [clean, false]}));
    assert_eq!(strip(&json!(true)), json!(true));
}

#[test]
fn the_dialect_stays_where_a_verdict_may_hang_on_it() {
    let keeps = |uri: &str, rest: Value| {
        let mut original = json!({"$schema": uri, "type": "object"});
        original.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        strip(&original).get("$schema").is_some()
    };
    let draft7 = "http://json-schema.org/draft-07/schema#";
    assert!(!keeps(draft7, json!({"properties": {"dependencies": {"default": {"$ref": "x", "y": 1}}}})));
    assert!(!keeps(
        "https://json-schema.org/draft/2020-12/schema",
        json!({"$defs": {"a": {}}, "items": {"$ref": "#/$defs/a"}})
    ));
    assert!(keeps("http://json-schema.org/draft-04/schema#", json!({})));
    for bound in [
        json!({"items": [{}]}),
        json!({"properties": {"a": {"additionalItems": false}}}),
        json!({"dependencies": {"a": ["b"]}}),
        json!({"properties": {"a": {"$ref": "#/$defs/b", "minimum": 1}}}),
        json!({"anyOf": [{"exclusiveMinimum": true}]}),
        json!({"$dynamicRef": "#a"}),
        json!({"x-unknown": {"prefixItems": []}}),
        json!({"$id": "#a"}),
    ] {
        assert!(keeps(draft7, bound.clone()), "{bound}");
    }
    // Only the root declares the dialect of a document.
    let nested = json!({"properties": {"a": {"$schema": draft7}}});
    assert_eq!(strip(&nested), nested);
}

#[test]
fn blanks_at_line_ends_and_blank_lines_in_a_row_go() {
    assert_eq!(tidy("\n\n  a  \n\n\n\n\t\n b\r\n  c\t\n\n"), "a\n\n b\n  c");
    assert_eq!(tidy(" \n "), "");
    assert_eq!(description(" \n "), None);
}

proptest! {
    #[test]
    fn tidying_changes_blanks_only_and_once(text in "[ab \n\t\r]{0,40}") {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let tidied = tidy(&text);
        prop_assert_eq!(words(&tidied), words(&text));
        prop_assert!(!tidied.contains("\n\n\n") && !tidied.contains(" \n") && tidied.trim() == tidied);
        prop_assert_eq!(tidy(&tidied), tidied);
    }
}

// The proof: a validator's verdicts before and after are the same, and only annotations are gone.

/// A value for a schema: mostly one that fits, sometimes one that does not.
fn value_for(schema: &Value, root: &Value, rng: &mut ChaCha8Rng, depth: u32) -> Value {
    let roll = rng::index(rng, 10);
    let wrong = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("x"),
        json!([]),
        json!({}),
        json!([1, "a"]),
        json!({"a": 1}),
    ];
    if depth > 5 || roll == 0 {
        return wrong[usize::try_from(rng::index(rng, 10)).unwrap()].clone();
    }
    if let Some(target) =
        schema.get("$ref").and_then(Value::as_str).and_then(|target| root.pointer(target.trim_start_matches('#')))
    {
        return value_for(target, root, rng, depth + 1);
    }
    for choice in ["anyOf", "oneOf", "enum"] {
        if let Some(options) = schema.get(choice).and_then(Value::as_array).filter(|options| !options.is_empty()) {
            let option = &options[usize::try_from(rng::index(rng, options.len() as u64)).unwrap()];
            return if choice == "enum" { option.clone() } else { value_for(option, root, rng, depth + 1) };
        }
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds[usize::try_from(rng::index(rng, kinds.len() as u64)).unwrap()].as_str(),
        Some(kind) => kind.as_str(),
        None if schema.get("properties").is_some() => Some("object"),
        None => None,
    };
    match kind {
        Some("object") => {
            let mut object = Map::new();
            let required: BTreeSet<&str> = schema
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                if rng::index(rng, 12) < if required.contains(key.as_str()) { 11 } else { 6 } {
                    object.insert(key.clone(), value_for(property, root, rng, depth + 1));
                }
            }
            if rng::index(rng, 8) == 0 {
                object.insert("$comment".to_owned(), json!("extra"));
            }
            Value::Object(object)
        }
        Some("array") => {
            let item = |n: u64| match schema.get("items").or(schema.get("prefixItems")) {
                Some(Value::Array(items)) => items.get(usize::try_from(n).unwrap()).cloned().unwrap_or(json!(true)),
                Some(items) => items.clone(),
                None => json!(true),
            };
            (0..rng::index(rng, 4)).map(|n| value_for(&item(n), root, rng, depth + 1)).collect()
        }
        Some("string") => {
            json!(["", "a", "2026-01-01", "https://x.example/"][usize::try_from(rng::index(rng, 4)).unwrap()])
        }
        Some("integer" | "number") => {
            let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
            let low = bound("minimum").unwrap_or(0);
            json!(
                [low, low + 1, low - 1, bound("maximum").unwrap_or(100), 3]
                    [usize::try_from(rng::index(rng, 5)).unwrap()]
            )
        }
        Some("boolean") => json!(rng::index(rng, 2) == 0),
        Some("null") => Value::Null,
        _ => wrong[usize::try_from(rng::index(rng, 10)).unwrap()].clone(),
    }
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().should_validate_formats(true).build(schema).unwrap()
}

/// Verdicts on `draws` generated arguments, checked to be the same before and after: how many valid, how many not.
fn same_verdicts(before: &Value, after: &Value, label: &str, draws: u32) -> (u32, u32) {
    let (original, stripped) = (validator(before), validator(after));
    let mut rng = rng::stream([5; 32], rng::stream_id(label));
    let (mut valid, mut invalid) = (0, 0);
    for _ in 0..draws {
        let arguments = value_for(before, before, &mut rng, 0);
        let verdict = original.is_valid(&arguments);
        assert_eq!(stripped.is_valid(&arguments), verdict, "{label}: {arguments}");
        *(if verdict { &mut valid } else { &mut invalid }) += 1;
    }
    (valid, invalid)
}

/// JSON pointers of what `after` lacks or has otherwise.
fn changes(before: &Value, after: &Value, at: &str, out: &mut BTreeMap<String, Option<(String, String)>>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            assert!(after.keys().all(|key| before.contains_key(key)), "{at}: something was added");
            for (key, value) in before {
                match after.get(key) {
                    Some(other) => changes(value, other, &format!("{at}/{key}"), out),
                    None => {
                        out.insert(format!("{at}/{key}"), None);
                    }
                }
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            assert_eq!(before.len(), after.len(), "{at}");
            for (position, (before, after)) in before.iter().zip(after).enumerate() {
                changes(before, after, &format!("{at}/{position}"), out);
            }
        }
        (before, after) if before == after => {}
        (before, after) => {
            out.insert(at.to_owned(), Some((before.as_str().unwrap().to_owned(), after.as_str().unwrap().to_owned())));
        }
    }
}

#[test]
fn over_the_reference_catalogs_a_validator_sees_no_difference_and_only_annotations_go() {
    let catalogs = Catalogs::vendored().unwrap();
    let mut tools = 0;
    let (mut valid, mut invalid) = (0, 0);
    for (catalog, tool) in catalogs.tools() {
        let before = &tool.input_schema;
        let after = schema(before, &tool.name, &tidy);
        let label = format!("{}/{}", catalog.server, tool.name);
        let (yes, no) = same_verdicts(before, &after, &label, 200);
        assert!(yes > 0 && no > 0, "{label}: {yes} valid, {no} invalid");
        (valid, invalid, tools) = (valid + yes, invalid + no, tools + 1);
        let mut changed = BTreeMap::new();
        changes(before, &after, "", &mut changed);
        for (pointer, change) in changed {
            let keyword = pointer.rsplit('/').next().unwrap();
            match change {
                None => assert!(["$comment", "title", "description", "$schema"].contains(&keyword), "{label}{pointer}"),
                Some((before, after)) => {
                    assert_eq!(keyword, "description");
                    assert!(before.split_whitespace().eq(after.split_whitespace()), "{label}{pointer}");
                }
            }
        }
    }
    assert_eq!(tools, 78);
    assert!(valid > 3_000 && invalid > 3_000, "{valid} valid, {invalid} invalid");
}

#[test]
fn over_tricky_schemas_a_validator_sees_no_difference() {
    let draft7 = "http://json-schema.org/draft-07/schema#";
    let tricky = [
        json!({"$schema": draft7, "type": "object", "properties": {
            "title": {"type": "string", "title": "Title", "$comment": "c"},
            "copy": {"$ref": "#/properties/title"},
            "deep": {"type": "array", "items": {"anyOf": [{"$ref": "#/properties/copy"}, {"type": "integer"}]}},
            "nth": {"$ref": "#/properties/deep/items/anyOf/1"},
        }, "required": ["title"], "additionalProperties": false}),
        json!({"$schema": draft7, "type": "object", "properties": {"pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer", "title": "x"}], "additionalItems": false}}}),
        json!({"$schema": draft7, "type": "object", "properties": {"a": {"type": "integer", "$comment": "c"}, "b": {"$ref": "#/properties/a", "maximum": 0}}}),
        json!({"$schema": draft7, "type": "object", "properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}]}}}),
        json!({"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}}, "required": ["name"]}),
        json!({"type": "object", "properties": {"any": true, "none": false, "$schema": {"type": "string"}, "description": {"type": "string", "description": ""}}}),
        json!({"type": "object", "properties": {"__proto__": {"type": "object", "properties": {"title": {"type": "integer"}}, "required": ["title"]}}}),
        json!({"$schema": draft7, "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "dependencies": {"a": ["b"]}}),
    ];
    for (number, before) in tricky.iter().enumerate() {
        let (valid, invalid) = same_verdicts(before, &strip(before), &format!("tricky {number}"), 2_000);
        assert!(valid > 50 && invalid > 50, "tricky {number}: {valid} valid, {invalid} invalid");
    }
}
