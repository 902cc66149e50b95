//! The published JSON Schemas, for tests of what the program writes.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

use std::{fs, path::Path};

use serde_json::Value;

/// The schema of this name.
#[allow(dead_code, reason = "each test binary uses its part of this file")]
pub(crate) fn named(name: &str) -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../results/schemas/{name}.schema.json"));
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

/// What is written fits its schema.
#[track_caller]
#[allow(dead_code, reason = "each test binary uses its part of this file")]
pub(crate) fn fits(name: &str, validator: &jsonschema::Validator, value: &Value) {
    let errors: Vec<String> =
        validator.iter_errors(value).take(3).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

/// What is written fits, and one more member does not: a schema that takes everything says nothing.
#[track_caller]
#[allow(dead_code, reason = "each test binary uses its part of this file")]
pub(crate) fn fits_exactly(name: &str, value: &Value) {
    let validator = named(name);
    fits(name, &validator, value);
    let mut more = value.clone();
    more.as_object_mut().unwrap().insert("unheard_of".to_owned(), Value::Null);
    assert!(!validator.is_valid(&more), "{name} takes anything");
}
