//! Meta tools, recognised by the shape of their schemas as a model would: never by the arm's name.

use serde_json::{Value, value::RawValue};

use super::Tool;

/// A shown tool that serves other tools.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meta {
    /// Its place in the list.
    pub(crate) index: usize,
    /// The server it belongs to, as its name says; `None` where it serves all.
    pub(crate) server: Option<String>,
    /// What it does.
    pub(crate) kind: MetaKind,
}

/// What a meta tool does, with the names of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MetaKind {
    /// Returns a tool's schema.
    Fetch {
        /// Parameter for the tool's name.
        name: String,
    },
    /// Forwards a call.
    Invoke {
        /// Parameter for the tool's name.
        name: String,
        /// Parameter for the arguments.
        arguments: String,
    },
    /// Finds tools.
    Search {
        /// Parameter for the query.
        query: String,
    },
    /// Returns a digested result whole.
    Expand {
        /// Parameter for the handle.
        handle: String,
    },
}

/// A tool that a meta tool's description or enumeration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Its server; `None` where neither the meta tool nor the line says.
    pub(crate) server: Option<String>,
    /// Its name, without the server.
    pub(crate) tool: String,
    /// Argument names of its signature, each with whether it is required.
    pub(crate) arguments: Vec<(String, bool)>,
    /// The line that names it.
    pub(crate) line: String,
}

const TOOL_NAMES: [&str; 3] = ["tool_name", "toolName", "tool"];
const ARGUMENTS: [&str; 7] = ["arguments", "args", "tool_arguments", "tool_input", "parameters", "params", "input"];
const QUERIES: [&str; 4] = ["query", "q", "keywords", "intent"];

/// Parameters that a meta tool has at most: its own and a few options.
const MAX_PARAMETERS: usize = 3;

impl Meta {
    /// What the tool at this place does for others, where it does.
    pub(crate) fn of(index: usize, tool: &Tool) -> Option<Self> {
        let server = tool.name.split_once("__").map(|(server, _)| server.to_owned());
        Some(Self { index, server, kind: kind(tool)? })
    }

    /// Whether it serves tools of this server.
    pub(crate) fn serves(&self, server: &str) -> bool {
        self.server.as_deref().is_none_or(|own| own == server)
    }

    /// Tools that its description or the enumeration of its name parameter names.
    pub(crate) fn listed(&self, tool: &Tool) -> Vec<Listed> {
        let parameter = match &self.kind {
            MetaKind::Fetch { name } | MetaKind::Invoke { name, .. } => name,
            MetaKind::Search { .. } | MetaKind::Expand { .. } => return Vec::new(),
        };
        let mut listed: Vec<Listed> =
            tool.description.lines().filter_map(|line| signature(line, self.server.as_deref())).collect();
        for name in enumeration(tool, parameter) {
            let (server, bare) = split(&name, self.server.as_deref());
            if !listed.iter().any(|known| known.tool == bare && known.server == server) {
                listed.push(Listed { server, tool: bare, arguments: Vec::new(), line: name });
            }
        }
        listed
    }
}

fn kind(tool: &Tool) -> Option<MetaKind> {
    if tool.properties.is_empty() || tool.properties.len() > MAX_PARAMETERS {
        return None;
    }
    let find = |names: &[&str], wanted: &str| {
        tool.properties
            .iter()
            .find(|(name, schema)| names.contains(&name.as_str()) && is_of_type(schema, wanted))
            .map(|(name, _)| name.clone())
    };
    if let Some(name) = find(&TOOL_NAMES, "string") {
        return match find(&ARGUMENTS, "object") {
            Some(arguments) => Some(MetaKind::Invoke { name, arguments }),
            None if tool.properties.len() == 1 => Some(MetaKind::Fetch { name }),
            None => None,
        };
    }
    if let Some(handle) = find(&["handle"], "string") {
        return Some(MetaKind::Expand { handle });
    }
    // Upstream tools search too, but not for tools.
    let own = tool.name.rsplit("__").next().unwrap_or_default().to_ascii_lowercase();
    let seeks = ["search", "find", "discover", "query"].iter().any(|verb| own.contains(verb));
    match find(&QUERIES, "string") {
        Some(query) if seeks && own.contains("tool") => Some(MetaKind::Search { query }),
        _ => None,
    }
}

/// Whether a property's schema is of this type, or leaves it open.
fn is_of_type(schema: &RawValue, wanted: &str) -> bool {
    let Ok(Value::Object(schema)) = serde_json::from_str(schema.get()) else { return false };
    schema.get("type").is_none_or(|kind| kind == wanted)
}

/// The values that a parameter enumerates.
fn enumeration(tool: &Tool, parameter: &str) -> Vec<String> {
    let Some((_, schema)) = tool.properties.iter().find(|(name, _)| name == parameter) else { return Vec::new() };
    let schema: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    let values = schema.get("enum").and_then(Value::as_array);
    values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Server and bare name of a listed name.
fn split(name: &str, server: Option<&str>) -> (Option<String>, String) {
    match (server, name.split_once("__")) {
        (Some(server), Some((own, bare))) if own == server => (Some(server.to_owned()), bare.to_owned()),
        (Some(server), _) => (Some(server.to_owned()), name.to_owned()),
        (None, Some((own, bare))) => (Some(own.to_owned()), bare.to_owned()),
        (None, None) => (None, name.to_owned()),
    }
}

/// Reads an index line such as `- git_log(repo_path, max_count?): Shows the commit logs`.
fn signature(line: &str, server: Option<&str>) -> Option<Listed> {
    let line = line.trim().trim_start_matches(['-', '*', '•', '`', ' ']);
    let (name, rest) = line.split_once('(')?;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte)) {
        return None;
    }
    let (inner, _) = rest.split_once(')')?;
    let arguments = inner
        .split(',')
        .map(|argument| argument.split([':', '=']).next().unwrap_or_default().trim())
        .filter(|argument| !argument.is_empty())
        .map(|argument| (argument.trim_end_matches('?').to_owned(), !argument.ends_with('?')))
        .collect();
    let (server, tool) = split(name, server);
    Some(Listed { server, tool, arguments, line: line.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_line_gives_the_signature_and_prose_does_not() {
        let listed = signature("- git_log(repo_path, max_count?): Shows the logs (newest first)", Some("git")).unwrap();
        assert_eq!(listed.tool, "git_log");
        assert_eq!(listed.arguments, [("repo_path".to_owned(), true), ("max_count".to_owned(), false)]);
        assert_eq!(signature("get_env(): prints", None).unwrap().arguments, []);
        assert_eq!(signature("Call this first (it is cheap)", Some("git")), None);
    }

    #[test]
    fn a_listed_name_may_carry_its_server() {
        assert_eq!(split("git__git_log", None), (Some("git".into()), "git_log".into()));
        assert_eq!(split("git__git_log", Some("git")), (Some("git".into()), "git_log".into()));
        assert_eq!(split("a__b", Some("git")), (Some("git".into()), "a__b".into()));
    }
}
