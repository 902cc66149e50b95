//! The optimizer's distiller: shorter words around the same tool.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::arms::tidy;

/// What descriptions like to start with.
const PREAMBLE: &str = "this tool ";
/// Examples kept.
const EXAMPLES: usize = 3;

/// A description without its preamble.
pub(super) fn description(text: &str) -> String {
    let Some(head) = text.get(..PREAMBLE.len()).filter(|head| head.eq_ignore_ascii_case(PREAMBLE)) else {
        return text.to_owned();
    };
    let mut letters = text[head.len()..].chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A schema without titles and dialect, with few examples, its arguments in snake case; and what renamed arguments are
/// called upstream. An argument whose new name another one has keeps its own.
pub(super) fn schema(schema: &Value) -> (Value, BTreeMap<String, String>) {
    let mut schema = tidy::map_schemas(schema, &|members| {
        members.retain(|key, value| !(matches!(key.as_str(), "title" | "$schema") && value.is_string()));
        if let Some(Value::Array(examples)) = members.get_mut("examples") {
            examples.truncate(EXAMPLES);
        }
    });
    let mut renamed = BTreeMap::new();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return (schema, renamed);
    };
    let mut taken: BTreeSet<String> = properties.keys().cloned().collect();
    let old = std::mem::take(properties);
    let mut new = Map::with_capacity(old.len());
    for (name, value) in old {
        let snake = snake_case(&name);
        if snake != name && taken.insert(snake.clone()) {
            new.insert(snake.clone(), value);
            renamed.insert(snake, name);
        } else {
            new.insert(name, value);
        }
    }
    *properties = new;
    let back: BTreeMap<&String, &String> = renamed.iter().map(|(snake, name)| (name, snake)).collect();
    for required in schema.get_mut("required").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::String(name) = required
            && let Some(snake) = back.get(name)
        {
            *name = (*snake).clone();
        }
    }
    (schema, renamed)
}

/// `repoPath` as `repo_path`, `max-count` as `max_count`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut after_lower = false;
    for c in name.chars() {
        if after_lower && c.is_uppercase() {
            snake.push('_');
        }
        after_lower = c.is_lowercase() || c.is_numeric();
        if c == '-' {
            snake.push('_');
        } else {
            snake.extend(c.to_lowercase());
        }
    }
    snake
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_preamble_goes_and_the_next_word_starts_the_sentence() {
        assert_eq!(description("This tool reads files."), "Reads files.");
        assert_eq!(description("THIS TOOL  x"), " x");
        assert_eq!(description("This toolbox reads."), "This toolbox reads.");
        assert_eq!(description("éa"), "éa");
    }

    #[test]
    fn arguments_are_renamed_with_a_way_back_and_a_collision_keeps_its_name() {
        let before = json!({
            "$schema": "x", "title": "T", "type": "object",
            "properties": {
                "repoPath": {"type": "string", "title": "Repo", "examples": [1, 2, 3, 4]},
                "title": {"type": "string"},
                "a-b": {}, "a_b": {},
            },
            "required": ["repoPath", "a-b"],
        });
        let (after, renamed) = schema(&before);
        assert_eq!(
            after,
            json!({
                "type": "object",
                "properties": {"repo_path": {"type": "string", "examples": [1, 2, 3]}, "title": {"type": "string"}, "a-b": {}, "a_b": {}},
                "required": ["repo_path", "a-b"],
            })
        );
        assert_eq!(renamed, BTreeMap::from([("repo_path".to_owned(), "repoPath".to_owned())]));
    }

    #[test]
    fn names_in_snake_case() {
        for (name, snake) in [("repoPath", "repo_path"), ("perPage2Max", "per_page2_max"), ("URL", "url"), ("ok", "ok")]
        {
            assert_eq!(snake_case(name), snake);
        }
    }
}
