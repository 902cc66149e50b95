//! Matchers that can never apply, or that let an invalid call through.

use serde_json::{Map, Value};

use crate::{
    catalog::ToolDef,
    intent::GoldTemplate,
    matcher::{ArgumentPath, Matcher, Step, compare},
    slots::Row,
};

pub(super) fn check(gold: &GoldTemplate, rows: &[Row<'_>], tool: &ToolDef, problem: &mut dyn FnMut(String)) {
    let arguments = gold.fill(rows);
    let matchers = gold.fill_matchers(rows);
    let whole = Value::from(arguments.clone());
    for (text, matcher) in matchers.by_path() {
        let Ok(path) = ArgumentPath::parse(text) else {
            continue;
        };
        let selected = path.select(&whole);
        if selected.is_empty() && !knows(&tool.input_schema, path.argument()) {
            problem(format!(
                "matcher for {text}, but neither the gold nor the schema of {} has {}",
                gold.tool,
                path.argument()
            ));
        }
        if let Some(why) = selected.iter().find_map(|value| matcher.unfit_for(value)) {
            problem(format!("{text}: {matcher} {why}"));
        }
        for value in values(matcher) {
            if let Some(why) = invalid_with(&arguments, &path, value, tool) {
                problem(format!("{text}: {value} is accepted, but breaks the schema of {}: {why}", gold.tool));
            }
        }
    }
    if let Err(mismatch) = compare(&arguments, &arguments, &matchers, &tool.input_schema) {
        problem(format!("the gold does not match itself: {mismatch}"));
    }
}

fn knows(schema: &Value, argument: &str) -> bool {
    schema.get("properties").and_then(Value::as_object).is_none_or(|properties| properties.contains_key(argument))
}

fn values(matcher: &Matcher) -> &[Value] {
    match matcher {
        Matcher::AnyOf(values) | Matcher::Allow { values, .. } => values,
        _ => &[],
    }
}

/// Why the gold with `value` at a top-level `path` breaks the schema; deeper paths are left to the schema of the gold.
fn invalid_with(arguments: &Map<String, Value>, path: &ArgumentPath, value: &Value, tool: &ToolDef) -> Option<String> {
    let [Step::Key(key)] = path.steps.as_slice() else {
        return None;
    };
    let mut changed = arguments.clone();
    changed.insert(key.clone(), value.clone());
    tool.validate(&changed).err()
}
