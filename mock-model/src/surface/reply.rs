//! Tools and servers that a reply in the conversation lists: JSON of any shape, or lines.

use std::collections::{
    BTreeMap,
    btree_map::Entry::{Occupied, Vacant},
};

use serde_json::{Map, Value};

use super::meta::{signature, split};

const NAMES: [&str; 6] = ["tool_id", "tool_name", "command_name", "name", "id", "tool"];
const SERVERS: [&str; 4] = ["server", "server_name", "mcp_name", "mcp"];
const DESCRIPTIONS: [&str; 5] = ["description", "short_description", "summary", "title", "reasoning"];
/// What an entry calls itself that is no tool.
const SERVER: &str = "server";
/// Lists of advice, such as of programs to run instead.
const ADVICE: &str = "hints";
/// Members that hold schemas or examples, where `name` is something else.
const NOT_LISTS: [&str; 6] = ["input_schema", "inputSchema", "schema", "parameters", "args", "properties"];
/// Joints of server and tool beside the usual one.
const JOINTS: [&str; 3] = ["::", "/", ":"];
/// Entries that a model keeps in mind.
const MAX_ENTRIES: usize = 2_000;

/// One thing that a reply lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its server, where the reply says.
    pub(crate) server: Option<String>,
    /// Its name, without the server.
    pub(crate) name: String,
    /// What the reply says of it.
    pub(crate) description: String,
    /// The reply says that it is a server.
    pub(crate) is_server: bool,
}

/// What a reply lists, in order. `server` is the one that was asked about.
pub(crate) fn entries(text: &str, server: Option<&str>) -> Vec<Entry> {
    let mut found = Vec::new();
    match serde_json::from_str::<Value>(text) {
        Ok(value) => walk(&value, server, &mut found),
        Err(_) => found.extend(text.lines().filter_map(|line| {
            let listed = signature(line, server)?;
            Some(Entry { server: listed.server, name: listed.tool, description: listed.line, ..Entry::default() })
        })),
    }
    // Of several mentions the first counts, with the first description that any of them has.
    let mut once: Vec<Entry> = Vec::with_capacity(found.len());
    let mut places = BTreeMap::new();
    for entry in found {
        match places.entry((entry.server.clone(), entry.name.clone())) {
            Vacant(place) => {
                place.insert(once.len());
                once.push(entry);
            }
            Occupied(place) => {
                let known = &mut once[*place.get()].description;
                if known.is_empty() {
                    *known = entry.description;
                }
            }
        }
    }
    once
}

fn walk(value: &Value, server: Option<&str>, found: &mut Vec<Entry>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, server, found)),
        Value::Object(members) => object(members, server, found),
        _ => {}
    }
}

fn object(members: &Map<String, Value>, server: Option<&str>, found: &mut Vec<Entry>) {
    let text = |names: &[&str]| names.iter().find_map(|name| members.get(*name)?.as_str());
    let lists = |value: &Value| value.as_array().is_some_and(|items| items.iter().any(Value::is_object));
    let is_list = |key: &str| !NOT_LISTS.contains(&key) && !key.ends_with(ADVICE);
    let inner: Vec<(&String, &Value)> = members.iter().filter(|(key, _)| is_list(key)).collect();
    let own_server = text(&SERVERS).or(server);
    match text(&NAMES) {
        // A group: its name is a server's.
        Some(name) if inner.iter().any(|(_, value)| lists(value)) => {
            inner.iter().for_each(|(_, value)| walk(value, Some(name), found));
        }
        Some(name) => {
            if found.len() < MAX_ENTRIES {
                let description = text(&DESCRIPTIONS).unwrap_or_default().to_owned();
                let is_server = members.iter().any(|(key, value)| value == SERVER && !SERVERS.contains(&key.as_str()));
                found.push(Entry { is_server, ..entry(name, own_server, description) });
            }
        }
        None => inner.iter().for_each(|(_, value)| walk(value, own_server, found)),
    }
}

fn entry(name: &str, server: Option<&str>, description: String) -> Entry {
    let joined = JOINTS.iter().find_map(|joint| name.split_once(joint));
    let (server, name) = match joined {
        Some((own, bare)) => (Some(own.to_owned()), bare.to_owned()),
        None => split(name, server),
    };
    Entry { server, name, description, is_server: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, server: Option<&str>) -> Vec<String> {
        let one = |entry: Entry| format!("{}/{}", entry.server.unwrap_or_default(), entry.name);
        entries(text, server).into_iter().map(one).collect()
    }

    #[test]
    fn lists_of_many_shapes_are_read() {
        let by_server = r#"{"servers":[{"name":"git","toolCount":1,"tools":[{"name":"git_log"}]},{"name":"time","tools":[{"name":"now"}]}]}"#;
        assert_eq!(shown(by_server, None), ["git/git_log", "time/now"]);
        assert_eq!(
            shown(r#"[{"name":"git_log","description":"x","inputSchema":{"name":"no"}}]"#, Some("git")),
            ["git/git_log"]
        );
        let ids = r#"{"results":[{"tool_id":"git::git_add","server":"git","tool_name":"git_add"}],"truncated":false}"#;
        assert_eq!(shown(ids, None), ["git/git_add"]);
        let references = r#"{"tool_references":[{"tool_name":"git__git_show"}],"tools":[{"tool_name":"git__git_show","description":"Shows","input_schema":{}}]}"#;
        assert_eq!(shown(references, None), ["git/git_show"]);
        assert_eq!(
            shown("<tool>git_log(repo_path): Shows</tool>\nprose (with brackets)", Some("git")),
            ["git/git_log"]
        );
        assert_eq!(shown(r#"{"servers":[{"name":"git","description":"git server"}]}"#, None), ["/git"]);
    }

    #[test]
    fn advice_is_no_list_and_an_entry_may_say_that_it_is_a_server() {
        let text = r#"{"results":[],"cli_hints":[{"name":"git","description":"a program"}],
            "candidates":[{"name":"time","candidate_type":"server","reasoning":"clocks"}]}"#;
        let [time] = &entries(text, None)[..] else { panic!("{:?}", entries(text, None)) };
        assert_eq!((time.name.as_str(), time.description.as_str(), time.is_server), ("time", "clocks", true));
        assert!(!entries(r#"[{"name":"now","server":"server"}]"#, None)[0].is_server);
    }
}
