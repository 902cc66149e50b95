//! A tool's own schema as a validator that never fails to exist.
//!
//! Foreign schemas hold patterns that no engine here compiles, references to nowhere and keywords of the wrong type. A
//! real server with such a schema still runs, so whatever cannot be used is dropped with a warning and the rest is kept.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value, json};

/// At most this many reasons are given for one call.
const MAX_REASONS: usize = 5;
/// A reason quotes the argument; a long one is cut after this many characters.
const MAX_REASON_CHARS: usize = 300;

#[derive(Debug)]
pub(super) struct ArgumentValidator {
    /// `None`: nothing of the schema can be used, all arguments pass.
    validator: Option<Validator>,
    warnings: Vec<String>,
}

impl ArgumentValidator {
    pub(super) fn new(schema: &Value) -> Self {
        let failed = match build(schema) {
            Ok(validator) => {
                return Self { validator: Some(validator), warnings: Vec::new() };
            }
            Err(cause) => cause,
        };
        let mut usable = schema.clone();
        let mut warnings = Vec::new();
        drop_unusable(&mut usable, schema, "", &mut warnings);
        match build(&usable) {
            Ok(validator) => Self { validator: Some(validator), warnings },
            Err(cause) => {
                let cause = if warnings.is_empty() { failed } else { cause };
                warnings.push(format!("the schema is not used at all: {cause}"));
                Self { validator: None, warnings }
            }
        }
    }

    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub(super) fn validate(&self, arguments: &Map<String, Value>) -> Result<(), String> {
        let Some(validator) = &self.validator else {
            return Ok(());
        };
        let instance = Value::Object(arguments.clone());
        if validator.is_valid(&instance) {
            return Ok(());
        }
        let reasons: Vec<String> = validator
            .iter_errors(&instance)
            .take(MAX_REASONS)
            .map(|error| {
                let place = error.instance_path().to_string();
                let reason = cut(&error.to_string());
                if place.is_empty() { reason } else { format!("{}: {reason}", place.trim_start_matches('/')) }
            })
            .collect();
        Err(reasons.join("; "))
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_REASON_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn build(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .should_validate_formats(false)
        .with_pattern_options(PatternOptions::fancy_regex())
        .offline()
        .build(schema)
        .map_err(|error| cut(&error.to_string()))
}

/// Keywords whose value maps names to schemas.
const SCHEMA_MAPS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Keywords whose value is data, never a schema.
const DATA: [&str; 5] = ["const", "enum", "default", "examples", "example"];

/// Removes what cannot be compiled from `schema`, keyword by keyword, and notes each removal with its JSON pointer.
fn drop_unusable(schema: &mut Value, root: &Value, at: &str, warnings: &mut Vec<String>) {
    match schema {
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                drop_unusable(item, root, &format!("{at}/{index}"), warnings);
            }
        }
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                if DATA.contains(&key.as_str()) {
                    continue;
                }
                let place = format!("{at}/{key}");
                match value {
                    Value::Object(named) if SCHEMA_MAPS.contains(&key.as_str()) => {
                        for (name, value) in named.iter_mut() {
                            drop_unusable(value, root, &format!("{place}/{name}"), warnings);
                        }
                        if key == "patternProperties" {
                            named.retain(|pattern, _| {
                                keep(&json!({"patternProperties": {pattern: true}}), &place, warnings)
                            });
                        }
                    }
                    _ => drop_unusable(value, root, &place, warnings),
                }
            }
            members.retain(|key, value| match (key.as_str(), &*value) {
                ("$ref" | "$dynamicRef", Value::String(target)) => {
                    let found = resolves(root, target);
                    if !found {
                        warnings.push(format!(
                            "{at}/{key} points to {target:?}, which is not in the schema, and is ignored"
                        ));
                    }
                    found
                }
                ("$ref" | "properties" | "patternProperties" | "$defs" | "definitions", Value::Object(_)) => true,
                (_, Value::Object(_) | Value::Array(_))
                    if !DATA.contains(&key.as_str()) && key != "type" && key != "required" =>
                {
                    true
                }
                _ => keep(&json!({ key: value }), &format!("{at}/{key}"), warnings),
            });
        }
        _ => {}
    }
}

/// Whether one keyword compiles alone; a warning if not.
fn keep(alone: &Value, place: &str, warnings: &mut Vec<String>) -> bool {
    match build(alone) {
        Ok(_) => true,
        Err(cause) => {
            warnings.push(format!("{place} is ignored: {cause}"));
            false
        }
    }
}

fn resolves(root: &Value, target: &str) -> bool {
    match target.strip_prefix('#') {
        Some("") => true,
        Some(pointer) if pointer.starts_with('/') => root.pointer(&percent_decoded(pointer)).is_some(),
        // An anchor inside the schema, or a document that is not here.
        Some(anchor) => has_anchor(root, anchor),
        None => false,
    }
}

fn has_anchor(schema: &Value, anchor: &str) -> bool {
    match schema {
        Value::Object(members) => {
            let names = ["$anchor", "$dynamicAnchor"];
            names.iter().any(|key| members.get(*key).and_then(Value::as_str) == Some(anchor))
                || members.values().any(|value| has_anchor(value, anchor))
        }
        Value::Array(items) => items.iter().any(|item| has_anchor(item, anchor)),
        _ => false,
    }
}

fn percent_decoded(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digits =
            tail.get(..2).and_then(|pair| str::from_utf8(pair).ok()).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        if let (b'%', Some(byte)) = (first, digits) {
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
