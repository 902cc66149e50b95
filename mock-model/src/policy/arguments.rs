//! Filling arguments: what is known goes under the names that were seen.

use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    noise::Dice,
    surface::{Tool, meta::Listed},
};

/// The right arguments; a name that was not seen is guessed, and the guess is wrong at the rate of the noise.
pub(super) fn under_seen_names(
    right: &Map<String, Value>,
    seen: impl Fn(&str) -> bool,
    dice: &Dice<'_>,
) -> Map<String, Value> {
    let name = |name: &String| {
        let blind = !seen(name) && dice.in_episode(&format!("blind/{name}"), dice.noise.rates.blind_argument_ppm);
        if blind { guess(name) } else { name.clone() }
    };
    right.iter().map(|(key, value)| (name(key), value.clone())).collect()
}

/// The other spelling that a guess falls for: never the name itself.
fn guess(name: &str) -> String {
    if name.contains('_') {
        let mut words = name.split('_');
        let mut guess = words.next().unwrap_or_default().to_owned();
        for word in words {
            let mut letters = word.chars();
            guess.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            guess.push_str(letters.as_str());
        }
        return guess;
    }
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        let mut guess = String::new();
        for letter in name.chars() {
            if letter.is_ascii_uppercase() {
                guess.push('_');
            }
            guess.push(letter.to_ascii_lowercase());
        }
        return guess;
    }
    format!("{name}_value")
}

/// Arguments with one of them wrong; `None` where there is none to get wrong.
pub(super) fn with_one_wrong(right: &Map<String, Value>, dice: &Dice<'_>) -> Option<Map<String, Value>> {
    if right.is_empty() {
        return None;
    }
    let mut wrong = right.clone();
    if let Some((_, value)) = wrong.iter_mut().nth(dice.pick("wrong-arguments/which", right.len())) {
        spoil(value);
    }
    Some(wrong)
}

/// Makes a value another one that no matcher takes for the same.
fn spoil(value: &mut Value) {
    match value {
        Value::Null => *value = json!("-2"),
        Value::Bool(flag) => *flag = !*flag,
        Value::Number(number) => {
            *value = match number.as_i64() {
                Some(integer) => json!(integer.wrapping_add(1)),
                None => json!(number.as_f64().unwrap_or(0.0) + 1.0),
            }
        }
        Value::String(text) => text.push_str("-2"),
        Value::Array(items) => {
            if items.pop().is_none() {
                items.push(Value::Null);
            }
        }
        Value::Object(members) => {
            let last = members.keys().next_back().cloned();
            match last {
                Some(key) => drop(members.shift_remove(&key)),
                None => drop(members.insert("x".to_owned(), Value::Null)),
            }
        }
    }
}

/// Arguments for a tool that is not the right one: known facts where its names fit, stand-ins for the rest that it
/// requires.
pub(super) fn for_another(
    facts: &Map<String, Value>,
    tool: Option<&Tool>,
    listed: Option<&Listed>,
) -> Map<String, Value> {
    let mut arguments = Map::new();
    let mut put = |name: &str, required: bool, schema: Option<&RawValue>| {
        if let Some(fact) = facts.get(name) {
            arguments.insert(name.to_owned(), fact.clone());
        } else if required {
            arguments.insert(name.to_owned(), stand_in(schema));
        }
    };
    match (tool, listed) {
        (Some(tool), _) => {
            for (name, schema) in &tool.properties {
                put(name, tool.required.contains(name), Some(schema));
            }
        }
        (None, Some(listed)) => {
            for (name, required) in &listed.arguments {
                put(name, *required, None);
            }
        }
        (None, None) => {}
    }
    arguments
}

/// A value of the schema's type.
fn stand_in(schema: Option<&RawValue>) -> Value {
    let schema: Value = schema.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        Some("null") => Value::Null,
        _ => json!("example"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_is_never_the_name() {
        for (name, expected) in
            [("repo_path", "repoPath"), ("perPage", "per_page"), ("path", "path_value"), ("a_", "a"), ("_", "")]
        {
            assert_eq!(guess(name), expected);
            assert_ne!(guess(name), name);
        }
    }

    #[test]
    fn a_spoilt_value_is_another_one() {
        for value in [
            json!(null),
            json!(true),
            json!(3),
            json!(1.5),
            json!("a"),
            json!(""),
            json!([]),
            json!([1]),
            json!({}),
            json!({"a": 1}),
        ] {
            let mut spoilt = value.clone();
            spoil(&mut spoilt);
            assert_ne!(spoilt, value);
        }
    }

    #[test]
    fn another_tool_gets_known_facts_and_stand_ins_for_what_it_requires() {
        let facts = json!({"path": "/a", "depth": 2}).as_object().unwrap().clone();
        let listed = crate::surface::meta::Listed {
            server: None,
            tool: "x".into(),
            arguments: vec![("path".into(), true), ("mode".into(), true), ("flag".into(), false)],
            line: String::new(),
        };
        let arguments = for_another(&facts, None, Some(&listed));
        assert_eq!(Value::Object(arguments), json!({"path": "/a", "mode": "example"}));
    }
}
