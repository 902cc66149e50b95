//! The leaderboard's type words as JSON Schema.

use serde_json::{Map, Value};

/// The schema of a function's parameters, as a tool's input schema.
///
/// # Errors
/// Names the parameter and the type word that is unknown.
pub(super) fn input_schema(parameters: &Value) -> Result<Value, String> {
    match parameters {
        Value::Null => Ok(serde_json::json!({ "type": "object", "properties": {} })),
        Value::Object(_) => schema(parameters, "parameters"),
        other => Err(format!("its parameters are {other}, not an object")),
    }
}

fn schema(value: &Value, place: &str) -> Result<Value, String> {
    let Value::Object(members) = value else {
        return Err(format!("{place} is {value}, not a schema"));
    };
    let mut mapped = Map::new();
    for (key, value) in members {
        let value = match (key.as_str(), value) {
            ("type", Value::String(word)) => match type_word(word) {
                Some(TypeWord::Any) => continue,
                Some(TypeWord::Type(name)) => Value::from(name),
                None => return Err(format!("{place} has the unknown type word {word:?}")),
            },
            ("type", Value::Array(words)) => {
                let names = words.iter().map(|word| word.as_str().and_then(type_word).and_then(TypeWord::name));
                match names.collect::<Option<Vec<_>>>() {
                    Some(names) => Value::from(names),
                    None => return Err(format!("{place} has an unknown word among its types {value}")),
                }
            }
            ("type", other) => return Err(format!("{place} has {other} for a type")),
            ("properties", Value::Object(properties)) => properties
                .iter()
                .map(|(name, value)| Ok((name.clone(), schema(value, &format!("{place}.{name}"))?)))
                .collect::<Result<Map<_, _>, String>>()?
                .into(),
            ("properties", other) => return Err(format!("{place} has {other} for its properties")),
            ("items", items @ Value::Object(_)) => schema(items, &format!("{place}[]"))?,
            ("additionalProperties", inner @ Value::Object(_)) => schema(inner, &format!("{place}.*"))?,
            // Some rows mark single parameters as required; a list says it already, and JSON Schema knows no other form.
            ("required", flag) if !flag.is_array() => continue,
            (_, other) => other.clone(),
        };
        mapped.insert(key.clone(), value);
    }
    Ok(Value::Object(mapped))
}

/// What a type word means.
enum TypeWord {
    /// A type of JSON Schema.
    Type(&'static str),
    /// Every value is allowed.
    Any,
}

impl TypeWord {
    fn name(self) -> Option<&'static str> {
        if let Self::Type(name) = self { Some(name) } else { None }
    }
}

/// The meaning of a type word; none for an unknown one.
fn type_word(word: &str) -> Option<TypeWord> {
    Some(TypeWord::Type(match word {
        "dict" | "object" | "HashMap" | "Hashtable" | "Map" => "object",
        "float" | "number" | "double" | "Float" | "Double" => "number",
        "integer" | "int" | "long" | "short" | "byte" | "Integer" | "Long" | "bigint" | "BigInt" => "integer",
        "boolean" | "bool" | "Boolean" => "boolean",
        "string" | "str" | "char" | "String" => "string",
        "array" | "list" | "tuple" | "set" | "Array" | "ArrayList" | "Queue" | "Stack" | "Set" => "array",
        "null" | "None" => "null",
        "any" | "Any" => return Some(TypeWord::Any),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn type_words_become_json_schema_at_every_depth() {
        let parameters = json!({
            "type": "dict",
            "properties": {
                "at": { "type": "tuple", "items": { "type": "float" }, "description": "a pair" },
                "any": { "type": "any", "default": "x", "optional": true },
                "rows": { "type": "array", "items": { "type": "dict", "properties": { "n": { "type": "integer" } }, "required": ["n"] } },
                "one": { "type": ["str", "int"], "required": true }
            },
            "required": ["at"]
        });
        assert_eq!(
            input_schema(&parameters).unwrap(),
            json!({
                "type": "object",
                "properties": {
                    "at": { "type": "array", "items": { "type": "number" }, "description": "a pair" },
                    "any": { "default": "x", "optional": true },
                    "rows": { "type": "array", "items": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] } },
                    "one": { "type": ["string", "integer"] }
                },
                "required": ["at"]
            })
        );
    }

    #[test]
    fn an_unknown_word_is_named_with_its_place() {
        let parameters =
            json!({ "type": "dict", "properties": { "a": { "type": "array", "items": { "type": "flaot" } } } });
        assert_eq!(input_schema(&parameters).unwrap_err(), "parameters.a[] has the unknown type word \"flaot\"");
        assert_eq!(input_schema(&json!([1])).unwrap_err(), "its parameters are [1], not an object");
    }
}
