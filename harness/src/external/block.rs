//! The tools of one process as a model is shown them.

use std::{collections::HashSet, sync::Arc};

use serde_json::Value;

use super::{client::ListedTool, fault::Fault};
use crate::{
    arms::names::{self, MAX_NAME},
    surface::ShownTool,
};

/// Longest property name that providers take.
const MAX_PROPERTY: usize = 64;

/// The tools of a slot, in the order of its list.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) tools: Vec<Arc<ShownTool>>,
    /// Own names, in the same order.
    pub(super) own: Vec<String>,
}

impl Block {
    /// The tools under names that providers take: `label__name`, or the name alone where there is no label.
    ///
    /// # Errors
    /// A tool that a provider would refuse, and with it every request.
    pub(super) fn new(label: Option<&str>, listed: &[ListedTool], taken: &mut HashSet<String>) -> Result<Self, Fault> {
        let mut block = Self::default();
        for tool in listed {
            let refuse = |cause: &str| Fault::IllegalTool { tool: tool.name.clone(), cause: cause.to_owned() };
            if block.own.contains(&tool.name) {
                return Err(refuse("it is listed twice"));
            }
            check(&tool.input_schema).map_err(refuse)?;
            let wanted = match label {
                Some(label) => names::legal(label, &tool.name),
                None => bare(&tool.name),
            };
            let name = if taken.insert(wanted.clone()) { wanted } else { names::suffixed(&wanted, taken) };
            let shown = ShownTool::new(name, tool.description.clone(), &tool.input_schema)
                .map_err(|error| refuse(&error.to_string()))?;
            block.tools.push(Arc::new(shown));
            block.own.push(tool.name.clone());
        }
        Ok(block)
    }

    /// The own name of a shown tool.
    pub(super) fn own(&self, shown: &str) -> Option<&str> {
        let at = self.tools.iter().position(|tool| tool.name() == shown)?;
        Some(&self.own[at])
    }
}

/// A name without a label, in letters that providers take.
fn bare(name: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let mut shown: String = name.chars().map(legal).take(MAX_NAME).collect();
    if shown.is_empty() {
        shown.push('_');
    }
    shown
}

/// What a provider refuses in a schema.
fn check(schema: &Value) -> Result<(), &'static str> {
    let Some(keywords) = schema.as_object() else { return Err("its inputSchema is no object") };
    if keywords.get("type").and_then(Value::as_str) != Some("object") {
        return Err("its inputSchema has another type than object");
    }
    if ["oneOf", "anyOf", "allOf"].iter().any(|choice| keywords.contains_key(*choice)) {
        return Err("its inputSchema has alternatives at its top level");
    }
    let legal = |name: &String| {
        (1..=MAX_PROPERTY).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
    };
    match keywords.get("properties") {
        None => Ok(()),
        Some(Value::Object(properties)) if properties.keys().all(legal) => Ok(()),
        Some(Value::Object(_)) => Err("a property of its inputSchema has an illegal name"),
        Some(_) => Err("the properties of its inputSchema are no object"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, schema: Value) -> ListedTool {
        ListedTool { name: name.to_owned(), description: None, input_schema: schema }
    }

    #[test]
    fn names_are_made_legal_and_unique_and_lead_back() {
        let listed =
            [tool("gateway.invoke", json!({"type": "object"})), tool("gateway_invoke", json!({"type": "object"}))];
        let mut taken = HashSet::new();
        let block = Block::new(Some("pm cp"), &listed, &mut taken).unwrap();
        let shown: Vec<&str> = block.tools.iter().map(|tool| tool.name()).collect();
        assert_eq!(shown, ["pm-cp__gateway_invoke", "pm-cp__gateway_invoke_2"]);
        assert_eq!(block.own("pm-cp__gateway_invoke_2"), Some("gateway_invoke"));
        assert_eq!(block.own("gateway_invoke"), None);
        let block = Block::new(None, &listed[..1], &mut HashSet::new()).unwrap();
        assert_eq!(block.tools[0].name(), "gateway_invoke");
    }

    #[test]
    fn what_a_provider_refuses_is_named() {
        for (schema, why) in [
            (json!(null), "no object"),
            (json!({}), "another type"),
            (json!({"type": "object", "anyOf": []}), "alternatives"),
            (json!({"type": "object", "properties": {"a b": {}}}), "illegal name"),
        ] {
            let fault = Block::new(Some("x"), &[tool("t", schema)], &mut HashSet::new()).unwrap_err();
            assert!(fault.to_string().contains(why), "{fault}");
        }
        let twice = [tool("t", json!({"type": "object"})), tool("t", json!({"type": "object"}))];
        assert_eq!(Block::new(None, &twice, &mut HashSet::new()).unwrap_err().kind(), "illegal-tool");
    }
}
