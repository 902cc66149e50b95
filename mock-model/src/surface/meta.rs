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
        /// It takes a list of names.
        many: bool,
        /// Parameter for the server's name.
        server: Option<String>,
    },
    /// Forwards a call.
    Invoke {
        /// Parameter for the tool's name.
        name: String,
        /// Parameter for the arguments.
        arguments: String,
        /// Parameter for the server's name.
        server: Option<String>,
    },
    /// Finds tools.
    Search {
        /// Parameter for the query.
        query: String,
        /// Switch that has it look further than it does by itself.
        further: Option<String>,
    },
    /// Returns a digested result whole.
    Expand {
        /// Parameter for the handle.
        handle: String,
    },
    /// Lists servers.
    Servers,
    /// Lists tools, of one server where it takes one.
    Tools {
        /// Parameter for the server's name.
        server: Option<String>,
    },
    /// Makes a server's tools available.
    Connect {
        /// Parameter for the server's name.
        server: String,
        /// Parameter that asks for schemas too, where that is what makes them available.
        flag: Option<String>,
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

const TOOL_NAMES: [&str; 8] =
    ["tool_name", "toolName", "tool", "tool_id", "toolId", "command_name", "commandName", "function_name"];
const TOOL_NAME_LISTS: [&str; 5] = ["tool_names", "toolNames", "command_names", "commandNames", "names"];
const ARGUMENTS: [&str; 7] = ["arguments", "args", "tool_arguments", "tool_input", "parameters", "params", "input"];
const QUERIES: [&str; 6] = ["query", "q", "keywords", "intent", "task", "tool_description"];
/// Parameters for a query that is a regular expression.
pub(crate) const PATTERNS: [&str; 2] = ["pattern", "regex"];
const SERVERS: [&str; 7] = ["server", "server_name", "serverName", "mcp_name", "mcp", "namespace", "family"];

/// Words of a meta tool's own name that say what it does.
const CALLS: [&str; 5] = ["call", "invoke", "execute", "run", "use"];
const LOOKS: [&str; 7] = ["describe", "schema", "schemas", "inspect", "metadata", "details", "definition"];
const SEEKS: [&str; 5] = ["search", "find", "discover", "query", "retrieve"];
const LISTS: [&str; 3] = ["list", "browse", "index"];
const LISTED: [&str; 4] = ["tools", "commands", "functions", "actions"];
const TELLS: [&str; 2] = ["health", "status"];
const CONNECTS: [&str; 5] = ["connect", "activate", "load", "enable", "open"];

/// Words of a switch that has a search look further.
const FURTHER: [&str; 3] = ["offline", "unavailable", "inactive"];

/// Parameters that a meta tool has at most where its name does not say what it does: its own and a few options.
const MAX_PARAMETERS: usize = 3;

impl Meta {
    /// What the tool at this place does for others, where it does.
    pub(crate) fn of(index: usize, tool: &Tool) -> Option<Self> {
        let server = tool.name.split_once("__").map(|(server, _)| server.to_owned());
        Some(Self { index, server, kind: kind(tool)? })
    }

    /// Whether its name says that it serves tools of this server.
    pub(crate) fn serves(&self, server: &str) -> bool {
        self.server.as_deref().is_none_or(|own| own == server)
    }

    /// Tools that its description or the enumeration of its name parameter names.
    pub(crate) fn listed(&self, tool: &Tool) -> Vec<Listed> {
        let (MetaKind::Fetch { name: parameter, .. } | MetaKind::Invoke { name: parameter, .. }) = &self.kind else {
            return Vec::new();
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
    let parameters = Parameters { tool };
    let own = tool.name.rsplit("__").next().unwrap_or_default();
    let words = words(own);
    let says = |some: &[&str]| words.iter().any(|word| some.contains(&word.as_str()));
    let few = tool.properties.len() <= MAX_PARAMETERS;
    let server = parameters.find(&SERVERS, "string");
    let arguments = parameters.find(&ARGUMENTS, "object");
    // Options may be many, but what has to be given says what a tool is for.
    let asks_only = |known: &[Option<&String>]| tool.required.iter().all(|name| known.contains(&Some(name)));
    if let Some(name) = parameters.find(&TOOL_NAMES, "string") {
        return match arguments {
            Some(arguments)
                if few || (says(&CALLS) && asks_only(&[Some(&name), Some(&arguments), server.as_ref()])) =>
            {
                Some(MetaKind::Invoke { name, arguments, server })
            }
            None if tool.properties.len() == 1 || (says(&LOOKS) && asks_only(&[Some(&name), server.as_ref()])) => {
                Some(MetaKind::Fetch { name, many: false, server })
            }
            _ => None,
        };
    }
    if let Some(name) = parameters.find(&TOOL_NAME_LISTS, "array").filter(|_| says(&LOOKS)) {
        return asks_only(&[Some(&name), server.as_ref()]).then_some(MetaKind::Fetch { name, many: true, server });
    }
    if let (Some(name), Some(arguments)) = (parameters.find(&["name"], "string"), arguments)
        && few
        && says(&CALLS)
    {
        return Some(MetaKind::Invoke { name, arguments, server });
    }
    if let Some(handle) = parameters.find(&["handle"], "string").filter(|_| few) {
        return Some(MetaKind::Expand { handle });
    }
    let query = parameters.find(&QUERIES, "string").or_else(|| parameters.find(&PATTERNS, "string"));
    if let Some(query) = query.filter(|_| says(&SEEKS)) {
        // Upstream tools search too, but not for tools.
        let for_tools = own.to_ascii_lowercase().contains("tool") || first_sentence_names("tools", &tool.description);
        let further = parameters.switch(&FURTHER);
        return (for_tools && asks_only(&[Some(&query)])).then_some(MetaKind::Search { query, further });
    }
    if !few || !asks_only(&[server.as_ref()]) {
        return None;
    }
    if let (Some(server), Some(flag)) = (&server, parameters.switch(&LOOKS)) {
        return Some(MetaKind::Connect { server: server.clone(), flag: Some(flag) });
    }
    let about_servers = says(&["server", "servers"]);
    if says(&CONNECTS) && about_servers {
        return server.map(|server| MetaKind::Connect { server, flag: None });
    }
    if says(&["manifest"]) || (says(&LISTS) && says(&LISTED)) {
        return Some(MetaKind::Tools { server });
    }
    // Who is asked nothing and tells how the servers are names them all.
    let tells_of_servers =
        tool.properties.is_empty() && says(&TELLS) && first_sentence_names("servers", &tool.description);
    ((says(&LISTS) && about_servers && server.is_none()) || tells_of_servers).then_some(MetaKind::Servers)
}

/// The parameters of a tool, looked up by what they may be called.
struct Parameters<'t> {
    tool: &'t Tool,
}

impl Parameters<'_> {
    fn find(&self, names: &[&str], wanted: &str) -> Option<String> {
        let fits =
            |(name, schema): &&(String, Box<RawValue>)| names.contains(&name.as_str()) && is_of_type(schema, wanted);
        self.tool.properties.iter().find(fits).map(|(name, _)| name.clone())
    }

    /// A switch whose name holds one of these words.
    fn switch(&self, of: &[&str]) -> Option<String> {
        let says = |name: &str| words(name).iter().any(|word| of.contains(&word.as_str()));
        let fits = |(name, schema): &&(String, Box<RawValue>)| says(name) && is_of_type(schema, "boolean");
        self.tool.properties.iter().find(fits).map(|(name, _)| name.clone())
    }
}

/// The words of a name, in lower case: `listTools`, `list_tools` and `list.tools` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        let apart = !c.is_ascii_alphanumeric() || (after_lower && c.is_ascii_uppercase());
        if apart {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        after_lower = c.is_ascii_lowercase();
    }
    words
}

fn first_sentence_names(what: &str, description: &str) -> bool {
    let first = description.split(['.', '\n']).next().unwrap_or_default().to_ascii_lowercase();
    first.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == what)
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
pub(super) fn split(name: &str, server: Option<&str>) -> (Option<String>, String) {
    match (server, name.split_once("__")) {
        (Some(server), Some((own, bare))) if own == server => (Some(server.to_owned()), bare.to_owned()),
        (Some(server), _) => (Some(server.to_owned()), name.to_owned()),
        (None, Some((own, bare))) => (Some(own.to_owned()), bare.to_owned()),
        (None, None) => (None, name.to_owned()),
    }
}

/// Reads an index line such as `- git_log(repo_path, max_count?): Shows the commit logs`.
pub(super) fn signature(line: &str, server: Option<&str>) -> Option<Listed> {
    let line = line.trim().trim_start_matches(['-', '*', '•', '`', ' ']);
    // Some put an index line into a tag.
    let line = line.strip_prefix('<').and_then(|tagged| tagged.split_once('>')).map_or(line, |(_, inner)| inner);
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
    fn an_index_line_may_stand_in_a_tag() {
        let listed = signature("<tool>git_log(repo_path, max_count): Shows the logs</tool>", Some("git")).unwrap();
        assert_eq!(listed.tool, "git_log");
        assert_eq!(listed.arguments.len(), 2);
    }

    fn kind_of(name: &str, properties: &[(&str, &str)], required: &[&str], description: &str) -> Option<MetaKind> {
        let property = |(name, kind): &(&str, &str)| {
            ((*name).to_owned(), RawValue::from_string(format!("{{\"type\":\"{kind}\"}}")).unwrap())
        };
        kind(&Tool {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: RawValue::from_string("{}".to_owned()).unwrap(),
            properties: properties.iter().map(property).collect(),
            required: required.iter().map(|name| (*name).to_owned()).collect(),
        })
    }

    #[test]
    fn meta_tools_of_every_kind_are_known_by_their_shape() {
        let server = || Some("server".to_owned());
        let invoke = |name: &str, arguments: &str, server: Option<&str>| {
            let server = server.map(str::to_owned);
            Some(MetaKind::Invoke { name: name.to_owned(), arguments: arguments.to_owned(), server })
        };
        let of = |name, properties: &[(&str, &str)], required: &[&str]| kind_of(name, properties, required, "");
        assert_eq!(of("x__list_servers", &[("filter", "string")], &[]), Some(MetaKind::Servers));
        assert_eq!(of("x__list_commands", &[("server", "string")], &[]), Some(MetaKind::Tools { server: server() }));
        assert_eq!(of("x__listTools", &[], &[]), Some(MetaKind::Tools { server: None }));
        assert_eq!(of("x__manifest", &[("server", "string")], &[]), Some(MetaKind::Tools { server: server() }));
        assert_eq!(
            of(
                "x__describe_commands",
                &[("server", "string"), ("command_names", "array")],
                &["server", "command_names"]
            ),
            Some(MetaKind::Fetch { name: "command_names".into(), many: true, server: server() })
        );
        assert_eq!(
            of("x__connect_server", &[("server", "string")], &["server"]),
            Some(MetaKind::Connect { server: "server".into(), flag: None })
        );
        assert_eq!(
            of(
                "x__invoke_command",
                &[("server", "string"), ("command_name", "string"), ("parameters", "object")],
                &["server"]
            ),
            invoke("command_name", "parameters", Some("server"))
        );
        assert_eq!(
            of("x__tool_call", &[("name", "string"), ("arguments", "object")], &[]),
            invoke("name", "arguments", None)
        );
        let query = &[("query", "string"), ("limit", "integer")];
        let search = Some(MetaKind::Search { query: "query".into(), further: None });
        assert_eq!(kind_of("x__search_tools", query, &[], ""), search);
        assert_eq!(kind_of("x__catalog_search", query, &[], "Search for available tools. More."), search);
        let switch = &[("query", "string"), ("include_offline", "boolean")];
        let further = Some("include_offline".to_owned());
        assert_eq!(of("x__find_tools", switch, &[]), Some(MetaKind::Search { query: "query".into(), further }));
        let health = "Health of the hub and all its servers. More.";
        assert_eq!(kind_of("x__health", &[], &[], health), Some(MetaKind::Servers));
        assert_eq!(kind_of("x__health", &[], &[], "Health of the hub. Not of its servers."), None);
        assert_eq!(kind_of("x__search_code", query, &[], "Search for code. Better than other tools."), None);
        assert_eq!(of("x__disconnect_server", &[("server", "string")], &["server"]), None);
        assert_eq!(of("x__list_issues", &[("server", "string")], &[]), None);
    }

    #[test]
    fn no_tool_of_the_reference_servers_is_taken_for_a_meta_tool() {
        for (catalog, tool) in bench_tasks::Catalogs::vendored().unwrap().tools() {
            let properties = tool.input_schema.get("properties").and_then(Value::as_object);
            let raw = |value: &Value| RawValue::from_string(value.to_string()).unwrap();
            let shown = Tool {
                name: format!("{}__{}", catalog.server, tool.name),
                description: tool.description.clone().unwrap_or_default(),
                schema: raw(&tool.input_schema),
                properties: properties.into_iter().flatten().map(|(name, value)| (name.clone(), raw(value))).collect(),
                required: serde_json::from_value(tool.input_schema["required"].clone()).unwrap_or_default(),
            };
            assert_eq!(kind(&shown), None, "{}", shown.name);
        }
    }

    #[test]
    fn a_listed_name_may_carry_its_server() {
        assert_eq!(split("git__git_log", None), (Some("git".into()), "git_log".into()));
        assert_eq!(split("git__git_log", Some("git")), (Some("git".into()), "git_log".into()));
        assert_eq!(split("a__b", Some("git")), (Some("git".into()), "a__b".into()));
    }
}
