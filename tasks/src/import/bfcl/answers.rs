//! Possible answers as a gold with matchers.
//!
//! `{function: {argument: [accepted values]}}`; an empty string among the values means that the argument may be left
//! out. Inside an accepted object every member lists its own accepted values in the same way.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::super::{Refusal, malformed};
use crate::catalog::{Catalog, ToolDef};

/// Combinations of members' values that one accepted object may stand for.
const MAX_COMBINATIONS: usize = 256;

/// A gold: the tool's place in the row's list, and how its arguments are compared.
#[derive(Debug)]
pub(super) struct Accepted {
    pub tool: usize,
    pub arguments: Map<String, Value>,
    pub matchers: Map<String, Value>,
    pub allow: Map<String, Value>,
}

/// Reads a row's answer; values that break the tool's schema are dropped and told in `dropped`.
pub(super) fn accepted(
    truth: &[Map<String, Value>],
    tools: &[Arc<ToolDef>],
    dropped: &mut Vec<String>,
) -> Result<Accepted, Refusal> {
    let call = match truth {
        [] => return Err(malformed("its answer is empty")),
        [call] => call,
        calls => {
            return Err(Refusal::Unsupported(format!(
                "its answer is {} calls; a task of the tool suite has one",
                calls.len()
            )));
        }
    };
    let mut entries = call.iter();
    let (Some((name, arguments)), None) = (entries.next(), entries.next()) else {
        return Err(malformed(format!("its answer names {} functions in one call", call.len())));
    };
    let Some(tool) = tools.iter().position(|tool| *tool.name == **name) else {
        return Err(malformed(format!("its answer calls {name}, which is not in its function list")));
    };
    let Value::Object(arguments) = arguments else {
        return Err(malformed(format!("its answer gives {arguments} for the arguments of {name}")));
    };
    let mut gold = Accepted { tool, arguments: Map::new(), matchers: Map::new(), allow: Map::new() };
    for (argument, values) in arguments {
        one(argument, values, &tools[tool], &mut gold, dropped)?;
    }
    tools[tool]
        .validate(&gold.arguments)
        .map_err(|why| malformed(format!("its answer breaks the schema of {name}: {why}")))?;
    Ok(gold)
}

fn one(
    argument: &str,
    values: &Value,
    tool: &ToolDef,
    gold: &mut Accepted,
    dropped: &mut Vec<String>,
) -> Result<(), Refusal> {
    let Value::Array(values) = values else {
        return Err(malformed(format!("argument {argument} has {values}, not a list of accepted values")));
    };
    let Some(schema) = tool.input_schema.pointer("/properties").and_then(|properties| properties.get(argument)) else {
        return Err(malformed(format!("its answer gives {argument}, which {} has not", tool.name)));
    };
    let required = tool
        .input_schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|name| name == argument));
    let left_out = !required && values.iter().any(|value| value == "");
    let mut accepted: Vec<Value> = Vec::new();
    for value in values.iter().filter(|value| !(left_out && *value == "")) {
        for value in expand(value, argument)? {
            if let Err(why) = fits(&value, schema) {
                dropped.push(format!("{argument}: {value} is accepted, but {why}"));
            } else if !accepted.contains(&value) {
                accepted.push(value);
            }
        }
    }
    let path = path_of(argument);
    let all_strings = !accepted.is_empty() && accepted.iter().all(Value::is_string);
    if left_out {
        if all_strings {
            gold.matchers.insert(path.clone(), "nocase".into());
        }
        if !accepted.is_empty() {
            gold.allow.insert(path, accepted.into());
        }
        return Ok(());
    }
    let mut accepted = accepted.into_iter();
    let Some(first) = accepted.next() else {
        return Err(malformed(format!(
            "no accepted value of {argument} fits its schema: {}",
            Value::from(values.clone())
        )));
    };
    let others: Vec<Value> = accepted.collect();
    if !others.is_empty() {
        gold.matchers.insert(path, json!({ "any-of": others }));
    } else if first.is_string() {
        gold.matchers.insert(path, "nocase".into());
    } else if first.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_string)) {
        gold.matchers.insert(format!("{path}[]"), "nocase".into());
    }
    gold.arguments.insert(argument.to_owned(), first);
    Ok(())
}

/// All values that an accepted value stands for.
fn expand(value: &Value, argument: &str) -> Result<Vec<Value>, Refusal> {
    let too_many = || {
        let message = format!("argument {argument} has more than {MAX_COMBINATIONS} accepted combinations");
        Refusal::Unsupported(message)
    };
    match value {
        // A member of an accepted object lists its values; an object with other members is meant as it is.
        Value::Object(members) if members.values().all(Value::is_array) => {
            let mut combinations = vec![Map::new()];
            for (key, values) in members {
                let values = values.as_array().map_or(&[][..], Vec::as_slice);
                if combinations.len() * values.len() > MAX_COMBINATIONS {
                    return Err(too_many());
                }
                let with = |combination: &Map<String, Value>, value: &Value| {
                    let mut combination = combination.clone();
                    if value != "" {
                        combination.insert(key.clone(), value.clone());
                    }
                    combination
                };
                combinations = combinations
                    .iter()
                    .flat_map(|combination| values.iter().map(move |value| with(combination, value)))
                    .collect();
            }
            Ok(combinations.into_iter().map(Value::Object).collect())
        }
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {
            let mut combinations: Vec<Vec<Value>> = vec![Vec::new()];
            for item in items {
                let values = expand(item, argument)?;
                if combinations.len() * values.len() > MAX_COMBINATIONS {
                    return Err(too_many());
                }
                combinations = combinations
                    .iter()
                    .flat_map(|combination| {
                        values.iter().map(move |value| combination.iter().chain([value]).cloned().collect())
                    })
                    .collect();
            }
            Ok(combinations.into_iter().map(Value::Array).collect())
        }
        other => Ok(vec![other.clone()]),
    }
}

/// Whether one argument's value fits its schema, by the validator that scores calls.
fn fits(value: &Value, schema: &Value) -> Result<(), String> {
    let file = json!({ "tools_list_pages": [{ "tools": [{ "name": "x", "inputSchema": { "properties": { "x": schema } } }] }] });
    let catalog = Catalog::parse("x", "x", file.to_string().into_bytes().into()).map_err(|error| error.to_string())?;
    let arguments: Map<String, Value> = [("x".to_owned(), value.clone())].into_iter().collect();
    catalog.tool("x").map_or(Ok(()), |tool| tool.validate(&arguments))
}

/// The argument path of a top-level argument.
fn path_of(argument: &str) -> String {
    argument.chars().fold(String::new(), |mut path, c| {
        if matches!(c, '.' | '[' | '\\') {
            path.push('\\');
        }
        path.push(c);
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(schema: &Value) -> Vec<Arc<ToolDef>> {
        let file = json!({ "tools_list_pages": [{ "tools": [{ "name": "f", "inputSchema": schema }] }] });
        Catalog::parse("x", "x", file.to_string().into_bytes().into()).unwrap().tools
    }

    fn read(schema: &Value, answer: &Value) -> Result<Accepted, Refusal> {
        let truth: Vec<Map<String, Value>> = serde_json::from_value(json!([{ "f": answer }])).unwrap();
        accepted(&truth, &tools(schema), &mut Vec::new())
    }

    #[test]
    fn accepted_values_become_gold_matchers_and_allowances() {
        let schema = json!({ "type": "object", "required": ["n", "city", "tags", "mode"], "properties": {
            "n": { "type": "number" }, "city": { "type": "string" }, "tags": { "type": "array", "items": { "type": "string" } },
            "mode": { "type": "string" }, "unit": { "type": "string" }, "round": { "type": "integer" }, "spare": { "type": "integer" }
        } });
        let answer = json!({
            "n": [3, 3.5], "city": ["Oslo"], "tags": [["a", "b"]], "mode": ["", "fast"],
            "unit": ["cm", "", "centimetre"], "round": ["", 2], "spare": [""]
        });
        let gold = read(&schema, &answer).unwrap();
        assert_eq!(Value::from(gold.arguments), json!({ "n": 3, "city": "Oslo", "tags": ["a", "b"], "mode": "" }));
        assert_eq!(
            Value::from(gold.matchers),
            json!({ "n": { "any-of": [3.5] }, "city": "nocase", "tags[]": "nocase", "mode": { "any-of": ["fast"] }, "unit": "nocase" })
        );
        assert_eq!(Value::from(gold.allow), json!({ "unit": ["cm", "centimetre"], "round": [2] }));
    }

    #[test]
    fn accepted_objects_stand_for_all_combinations_of_their_members() {
        let schema = json!({ "type": "object", "required": ["b"], "properties": { "b": {} } });
        let gold = read(&schema, &json!({ "b": [{ "min": [1, 2], "max": [9], "note": ["", "x"] }] })).unwrap();
        assert_eq!(gold.arguments["b"], json!({ "min": 1, "max": 9 }));
        assert_eq!(
            gold.matchers["b"]["any-of"],
            json!([{ "min": 1, "max": 9, "note": "x" }, { "min": 2, "max": 9 }, { "min": 2, "max": 9, "note": "x" }])
        );
        let gold = read(&schema, &json!({ "b": [[{ "k": [1] }, { "k": [2, 3] }]] })).unwrap();
        assert_eq!(gold.arguments["b"], json!([{ "k": 1 }, { "k": 2 }]));
        assert_eq!(gold.matchers["b"]["any-of"], json!([[{ "k": 1 }, { "k": 3 }]]));
        let many: Map<String, Value> = (0..9).map(|at| (format!("k{at}"), json!([1, 2]))).collect();
        assert!(matches!(read(&schema, &json!({ "b": [many] })), Err(Refusal::Unsupported(_))));
    }

    #[test]
    fn an_argument_with_dots_gets_an_escaped_path() {
        assert_eq!(path_of("a.b[c"), "a\\.b\\[c");
    }
}
