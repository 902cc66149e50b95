//! Which parts of the schemas the golds exercise.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::{
    catalog::Catalogs,
    intent::{Frame, GoldTemplate},
    slots::ValueTemplate,
};

/// Scored frames per keyword that their own gold's arguments exercise.
pub(super) fn exercised(frames: &[&Frame], catalogs: &Catalogs) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for frame in frames {
        let Some(gold) = frame.gold.first() else {
            continue;
        };
        let Some(tool) = catalogs.tool(&gold.server, &gold.tool) else {
            continue;
        };
        let mut keywords = BTreeSet::new();
        let first: Vec<_> = frame.slots.iter().map(|slot| slot.pool.get(slot.share.index(0))).collect();
        walk(&Value::from(gold.fill(&first)), &tool.input_schema, &mut keywords);
        for keyword in keywords {
            *counts.entry(keyword).or_default() += 1;
        }
    }
    counts
}

/// All keywords of the input schemas' arguments.
pub(super) fn of_catalogs(catalogs: &Catalogs) -> BTreeSet<String> {
    let mut keywords = BTreeSet::new();
    for (_, tool) in catalogs.tools() {
        collect(&tool.input_schema, &mut keywords);
    }
    keywords
}

/// Top-level arguments that no frame's gold gives, in catalog order.
pub(super) fn unused_arguments(frames: &[&Frame], catalogs: &Catalogs) -> Vec<String> {
    let gives = |gold: &GoldTemplate, argument: &str| {
        gold.arguments
            .iter()
            .any(|(name, value)| name == argument && !matches!(value, ValueTemplate::Literal(Value::Null)))
    };
    let mut unused = Vec::new();
    for (catalog, tool) in catalogs.tools() {
        let golds: Vec<&GoldTemplate> = frames
            .iter()
            .filter_map(|frame| frame.gold.first())
            .filter(|gold| gold.server == catalog.server && gold.tool == tool.name)
            .collect();
        for argument in tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            if !golds.iter().any(|gold| gives(gold, argument)) {
                unused.push(format!("{}/{}: {argument}", catalog.server, tool.name));
            }
        }
    }
    unused
}

fn walk(value: &Value, schema: &Value, keywords: &mut BTreeSet<String>) {
    own(schema, keywords);
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                if let Some(schema) = schema.get("properties").and_then(|properties| properties.get(key)) {
                    walk(value, schema, keywords);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    walk(item, schema, keywords);
                }
            }
        }
        _ => {}
    }
}

fn collect(schema: &Value, keywords: &mut BTreeSet<String>) {
    own(schema, keywords);
    for schema in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values) {
        collect(schema, keywords);
    }
    if let Some(items) = schema.get("items") {
        collect(items, keywords);
    }
}

/// The keywords of one schema that say something about values.
fn own(schema: &Value, keywords: &mut BTreeSet<String>) {
    for (key, value) in schema.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("title" | "description" | "$schema" | "properties" | "$defs" | "definitions", _) => {}
            ("type", Value::String(name)) => drop(keywords.insert(format!("type:{name}"))),
            ("format", Value::String(name)) => drop(keywords.insert(format!("format:{name}"))),
            _ => drop(keywords.insert(key.clone())),
        }
    }
}
