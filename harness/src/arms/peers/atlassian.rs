//! `atlassian-*-reimpl`: Atlassian's mcp-compressor, an index per server at four levels of detail, called by a wrapper.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    Build, Materials, REAL_ONE,
    desk::{Answer, Desk, DeskArm, meta},
    info, replies,
};
use crate::arms::{
    Affordance, Arm, ArmError, ArmInfo, ToolCall,
    definitions::Tool,
    names::{MetaKind, Named},
};

const SOURCE: &str = "Atlassian mcp-compressor, README and docs; 0.38.2 observed";
const GAPS: &[&str] = &["wording of the wrapper tools", "toonify, CLI, bash and code modes are left out"];
const TOOL_NAME: &str = "tool_name";
const TOOL_INPUT: &str = "tool_input";

/// How much of a tool its line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Signature and full description.
    Low,
    /// Signature and first sentence.
    Medium,
    /// Signature.
    High,
    /// Name.
    Max,
}

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    let arm = |id, summary, trips| ArmInfo {
        gaps: GAPS,
        objection: Some(REAL_ONE),
        ranked: false,
        ..info(id, summary, SOURCE, Affordance::IndexSchemaInvoke, trips)
    };
    vec![
        (arm("atlassian-low-reimpl", "index of signatures with full descriptions", 1), |info, materials| {
            build(info, materials, Level::Low)
        }),
        (
            arm("atlassian-medium-reimpl", "index of signatures with first sentences (its default)", 1),
            |info, materials| build(info, materials, Level::Medium),
        ),
        (arm("atlassian-high-reimpl", "index of signatures", 1), |info, materials| build(info, materials, Level::High)),
        (arm("atlassian-max-reimpl", "index of names; signatures on request", 2), |info, materials| {
            build(info, materials, Level::Max)
        }),
    ]
}

fn build(info: ArmInfo, materials: &Materials, level: Level) -> Result<Arc<dyn Arm>, ArmError> {
    let names = &materials.definitions().names;
    let mut shown = Vec::new();
    for (server, own) in materials.definitions().servers.iter().enumerate() {
        let [schema, invoke, list] =
            [MetaKind::Schema, MetaKind::Invoke, MetaKind::List].map(|kind| names.meta(server, kind));
        let listing = listing(&own.tools, level);
        let tool_name = || (TOOL_NAME, json!({ "type": "string" }), true);
        let about = format!(
            "Gives the schema of a tool of the `{}` server; then call the tool with `{invoke}`. Its tools:\n{listing}",
            own.name
        );
        shown.push(meta(schema, about, &[tool_name()])?);
        let about = format!("Calls a tool of the `{}` server; `{schema}` gives its schema.", own.name);
        shown.push(meta(invoke, about, &[tool_name(), (TOOL_INPUT, json!({ "type": "object" }), true)])?);
        if level == Level::Max {
            shown.push(meta(list, format!("Lists the tools of the `{}` server with their arguments.", own.name), &[])?);
        }
    }
    Ok(DeskArm::build(info, Arc::new(Wrapper(materials.clone())), shown))
}

/// One `<tool>` line per tool.
fn listing(tools: &[Tool], level: Level) -> String {
    let lines: Vec<String> = tools.iter().map(|tool| format!("<tool>{}</tool>", line(tool, level))).collect();
    lines.join("\n")
}

fn line(tool: &Tool, level: Level) -> String {
    let upstream = &tool.upstream;
    if level == Level::Max {
        return upstream.name.to_string();
    }
    let arguments: Vec<&str> = upstream
        .input_schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect();
    let signature = format!("{}({})", upstream.name, arguments.join(", "));
    let description = upstream.description.as_deref().unwrap_or_default();
    let description = match level {
        Level::Low => description.trim(),
        Level::Medium => first_sentence(description),
        Level::High | Level::Max => "",
    };
    if description.is_empty() { signature } else { format!("{signature}: {description}") }
}

/// The first line that is not blank, up to its first full stop: "e.g." and "v1.2" cut early, as published.
fn first_sentence(description: &str) -> &str {
    let line = description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.split('.').next().unwrap_or_default().trim_end()
}

struct Wrapper(Materials);

impl Wrapper {
    fn call(&self, server: usize, kind: MetaKind, arguments: &Map<String, Value>) -> Result<Answer, String> {
        if kind == MetaKind::List {
            return Ok(Answer::Says(listing(&self.0.definitions().servers[server].tools, Level::High)));
        }
        let at = self.0.find_on(server, replies::text(arguments, TOOL_NAME)?)?;
        if kind == MetaKind::Schema {
            return Ok(Answer::Says(format!("{}\n\n{}", line(self.0.tool(at), Level::Low), pretty(self.0.tool(at)))));
        }
        let inner = replies::inner(arguments, TOOL_INPUT);
        let schema = &self.0.tool(at).upstream.input_schema;
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let missing: Vec<&str> = required.filter(|key| !inner.contains_key(*key)).collect();
        if missing.is_empty() {
            return Ok(Answer::Forwards(at, inner));
        }
        Err(format!("error: missing required arguments: {}. Schema:\n{}", missing.join(", "), pretty(self.0.tool(at))))
    }
}

/// A tool's schema, two blanks per level.
fn pretty(tool: &Tool) -> String {
    format!("{:#}", tool.upstream.input_schema)
}

impl Desk for Wrapper {
    fn materials(&self) -> &Materials {
        &self.0
    }

    fn informs(&self, name: &str) -> bool {
        let named = self.0.definitions().names.get(name);
        matches!(named, Some(Named::Meta(_, MetaKind::Schema | MetaKind::List)))
    }

    fn answer(&self, call: &ToolCall) -> Option<Result<Answer, String>> {
        match self.0.definitions().names.get(&call.name) {
            // The listing is advertised at max only, and answers at every level.
            Some(Named::Meta(server, kind @ (MetaKind::Schema | MetaKind::Invoke | MetaKind::List))) => {
                Some(self.call(server, kind, &call.arguments))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::{
        ArmSession, CallOutcome, Scope,
        fixtures::{call, context, some},
        registry,
    };

    fn open(id: &str) -> Box<dyn ArmSession> {
        registry::build(id, &context()).unwrap().open(Scope::Catalogs).unwrap()
    }

    #[test]
    fn a_first_sentence_ends_at_the_first_full_stop_of_the_first_line() {
        assert_eq!(first_sentence("\n  Reads v1.2 files. More.\nAnd more."), "Reads v1");
        assert_eq!(first_sentence("No stop\nNext."), "No stop");
        assert_eq!(first_sentence(" \n"), "");
    }

    #[test]
    fn each_level_tells_less_than_the_one_before() {
        let sizes: Vec<usize> = ["low", "medium", "high", "max"]
            .map(|level| open(&format!("atlassian-{level}-reimpl")).surface().bytes().len())
            .to_vec();
        assert!(sizes.windows(2).all(|pair| pair[0] > pair[1]), "{sizes:?}");
    }

    #[test]
    fn surfaces_over_two_servers() {
        for level in ["low", "medium", "high", "max"] {
            let id = format!("atlassian-{level}-reimpl");
            insta::assert_snapshot!(format!("surface_{level}"), some(&id, &["memory", "time"]));
        }
    }

    #[test]
    fn a_blind_call_without_its_required_arguments_is_told_the_schema() {
        let mut session = open("atlassian-medium-reimpl");
        let invoke = |input: Value| call("git__invoke_tool", json!({ "tool_name": "git_log", "tool_input": input }));
        let CallOutcome::Meta { reply, is_error: true, .. } = session.call(&invoke(json!({}))) else { panic!() };
        assert!(reply.contains("repo_path. Schema:\n{\n  \""), "{reply}");
        assert!(matches!(session.call(&invoke(json!({ "repo_path": "/r" }))), CallOutcome::Upstream { .. }));
    }

    #[test]
    fn the_listing_answers_at_every_level() {
        let mut session = open("atlassian-low-reimpl");
        let CallOutcome::Meta { reply, .. } = session.call(&call("time__list_tools", json!({}))) else { panic!() };
        assert_eq!(
            reply,
            "<tool>get_current_time(timezone)</tool>\n<tool>convert_time(source_timezone, time, target_timezone)</tool>"
        );
    }
}
