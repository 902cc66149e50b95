//! Names shown to a model: `server__tool`, legal for every provider, through one table that all arms share.
//!
//! Providers take `^[a-zA-Z0-9_-]{1,64}$`. Illegal characters are replaced, what is too long is cut and ends in a hash
//! of the whole, and of several names that come out equal the first in list order keeps it while the others get `_2`,
//! `_3` and so on. Upstream tools are named before meta tools, so that a tool has the same name under every arm.

use std::collections::{HashMap, HashSet};

use bench_protocol::digest::Digest;
use bench_tasks::catalog::Catalogs;

/// Longest name that every provider takes, in characters (all of them ASCII).
pub const MAX_NAME: usize = 64;
/// Hex digits of the hash that a cut name ends in.
const HASH_DIGITS: usize = 8;
/// What the second of two equal names ends in.
const FIRST_NUMBER: u32 = 2;

/// An upstream tool by position: catalog order, then upstream order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Index of the catalog.
    pub server: usize,
    /// Index of the tool within it.
    pub tool: usize,
}

/// The meta tools that the built-in arms add to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetaKind {
    /// Gives a tool's full definition.
    Schema,
    /// Calls a tool by its upstream name.
    Invoke,
    /// Gives the exact original of a digested result.
    Expand,
    /// Lists the tools.
    List,
}

impl MetaKind {
    const ALL: [Self; 4] = [Self::Schema, Self::Invoke, Self::Expand, Self::List];

    /// The part of the name behind `server__`.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Schema => "get_tool_schema",
            Self::Invoke => "invoke_tool",
            Self::Expand => "expand",
            Self::List => "list_tools",
        }
    }
}

/// What a shown name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// An upstream tool.
    Tool(Place),
    /// A meta tool of a server, by the catalog's index.
    Meta(usize, MetaKind),
}

/// The table of shown names.
#[derive(Debug)]
pub struct Names {
    tools: Vec<Vec<String>>,
    metas: Vec<[String; 4]>,
    known: HashMap<String, Named>,
}

impl Names {
    /// Names every tool of the catalogs, and the meta tools of every server.
    pub fn new(catalogs: &Catalogs) -> Self {
        let mut taken = HashSet::new();
        let wanted = catalogs
            .catalogs
            .iter()
            .map(|catalog| catalog.tools.iter().map(|tool| legal(&catalog.server, &tool.name)).collect());
        let tools = settle(wanted.collect(), &mut taken);
        let wanted = catalogs
            .catalogs
            .iter()
            .map(|catalog| MetaKind::ALL.iter().map(|kind| legal(&catalog.server, kind.suffix())).collect());
        let metas: Vec<[String; 4]> = settle(wanted.collect(), &mut taken)
            .into_iter()
            .map(|names| {
                let mut names = names.into_iter();
                std::array::from_fn(|_| names.next().unwrap_or_default())
            })
            .collect();
        let mut known = HashMap::with_capacity(taken.len());
        for (server, names) in tools.iter().enumerate() {
            for (tool, name) in names.iter().enumerate() {
                known.insert(name.clone(), Named::Tool(Place { server, tool }));
            }
        }
        for (server, names) in metas.iter().enumerate() {
            for (name, kind) in names.iter().zip(MetaKind::ALL) {
                known.insert(name.clone(), Named::Meta(server, kind));
            }
        }
        Self { tools, metas, known }
    }

    /// The name that an upstream tool is shown under; the place must be one of these catalogs.
    pub fn tool(&self, place: Place) -> &str {
        &self.tools[place.server][place.tool]
    }

    /// The name of a server's meta tool.
    pub fn meta(&self, server: usize, kind: MetaKind) -> &str {
        let [schema, invoke, expand, list] = &self.metas[server];
        match kind {
            MetaKind::Schema => schema,
            MetaKind::Invoke => invoke,
            MetaKind::Expand => expand,
            MetaKind::List => list,
        }
    }

    /// What a shown name stands for.
    pub fn get(&self, shown: &str) -> Option<Named> {
        self.known.get(shown).copied()
    }
}

/// The legal form of `server__name`, before collisions are looked at.
pub fn legal(server: &str, name: &str) -> String {
    let mut shown = server_part(server);
    shown.push_str("__");
    shown.extend(name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }));
    if shown.len() > MAX_NAME {
        let digest = Digest::of_parts([server.as_bytes(), b"__", name.as_bytes()]);
        shown.truncate(MAX_NAME - HASH_DIGITS - 1);
        shown.push('-');
        shown.push_str(&digest.hex()[..HASH_DIGITS]);
    }
    shown
}

/// True for names that every provider takes.
pub fn is_legal(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// A server reduced to letters, digits and single dashes, so that the first `__` always ends it.
fn server_part(server: &str) -> String {
    let parts: Vec<&str> =
        server.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|part| !part.is_empty()).collect();
    let joined = parts.join("-");
    let trimmed = joined.trim_matches('-');
    if trimmed.is_empty() { "mcp".to_owned() } else { trimmed.to_owned() }
}

/// Makes names unique. All first claimants are served before anybody gets a suffix, so that a tool which really is
/// called `a_2` keeps its name.
fn settle(wanted: Vec<Vec<String>>, taken: &mut HashSet<String>) -> Vec<Vec<String>> {
    let mut first = Vec::with_capacity(wanted.len());
    for names in &wanted {
        first.push(names.iter().map(|name| taken.insert(name.clone())).collect::<Vec<bool>>());
    }
    let mut settled = wanted;
    // Numbers below were taken when a name was asked for last, and nothing is given back.
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for (names, first) in settled.iter_mut().zip(first) {
        for (name, _) in names.iter_mut().zip(first).filter(|(_, first)| !first) {
            let number = numbers.entry(name.clone()).or_insert(FIRST_NUMBER);
            *name = suffixed_from(number, name, taken);
        }
    }
    settled
}

/// The name with the first free number behind it.
pub(crate) fn suffixed(name: &str, taken: &mut HashSet<String>) -> String {
    suffixed_from(&mut { FIRST_NUMBER }, name, taken)
}

/// As [`suffixed`], from this number on; it becomes the one that is found.
fn suffixed_from(number: &mut u32, name: &str, taken: &mut HashSet<String>) -> String {
    loop {
        let suffix = format!("_{number}");
        let room = (MAX_NAME - suffix.len()).min(name.len());
        let candidate = format!("{}{suffix}", &name[..room]);
        if taken.insert(candidate.clone()) {
            return candidate;
        }
        *number += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::arms::fixtures::catalogs_named;

    fn shown(servers: &[(&str, &[&str])]) -> Vec<Vec<String>> {
        Names::new(&catalogs_named(servers)).tools
    }

    #[test]
    fn a_tool_is_server_and_name_with_two_underscores_between() {
        assert_eq!(shown(&[("git", &["git_log"])]), [["git__git_log"]]);
    }

    #[test]
    fn illegal_characters_are_replaced_and_the_server_holds_no_underscore() {
        assert_eq!(legal("my_server.v2", "a.b/c d"), "my-server-v2__a_b_c_d");
        assert_eq!(legal("日本", "x"), "mcp__x");
        assert_eq!(legal("-a--b-", "x"), "a--b__x");
    }

    #[test]
    fn a_long_name_is_cut_and_told_apart_by_a_hash_of_the_whole() {
        let one = legal("server", &format!("{}1", "x".repeat(80)));
        let two = legal("server", &format!("{}2", "x".repeat(80)));
        assert_eq!((one.len(), two.len()), (64, 64));
        assert_ne!(one, two);
        assert_eq!(one[..55], two[..55]);
        assert_eq!(legal("s", &"x".repeat(61)).len(), 64);
        assert!(!legal("s", &"x".repeat(61)).contains('-'));
    }

    #[test]
    fn equal_names_are_numbered_in_list_order_around_names_that_exist() {
        assert_eq!(
            shown(&[("a-b", &["x", "y.z", "y/z", "y_z_2"]), ("a_b", &["x"])]),
            [vec!["a-b__x", "a-b__y_z", "a-b__y_z_3", "a-b__y_z_2"], vec!["a-b__x_2"]]
        );
    }

    #[test]
    fn a_tool_keeps_a_meta_name_and_the_meta_tool_steps_aside() {
        let names = Names::new(&catalogs_named(&[("s", &["expand"])]));
        assert_eq!(names.tool(Place { server: 0, tool: 0 }), "s__expand");
        assert_eq!(names.meta(0, MetaKind::Expand), "s__expand_2");
        assert_eq!(names.get("s__expand"), Some(Named::Tool(Place { server: 0, tool: 0 })));
        assert_eq!(names.get("s__expand_2"), Some(Named::Meta(0, MetaKind::Expand)));
        assert_eq!(names.get("s__nothing"), None);
    }

    proptest! {
        #[test]
        fn any_catalogs_get_legal_unique_names_that_lead_back(
            servers in prop::collection::btree_map("[a-b_.é-]{1,4}|[a-c]{60,70}", prop::collection::btree_set("[a-b._/é]{1,3}|x{60,70}[12]", 1..8), 1..5),
        ) {
            let servers: Vec<(String, Vec<String>)> =
                servers.into_iter().map(|(server, tools)| (server, tools.into_iter().collect())).collect();
            let borrowed: Vec<(&str, Vec<&str>)> = servers
                .iter()
                .map(|(server, tools)| (server.as_str(), tools.iter().map(String::as_str).collect()))
                .collect();
            let borrowed: Vec<(&str, &[&str])> =
                borrowed.iter().map(|(server, tools)| (*server, tools.as_slice())).collect();
            let catalogs = catalogs_named(&borrowed);
            let names = Names::new(&catalogs);
            let mut seen = HashSet::new();
            for (server, catalog) in catalogs.catalogs.iter().enumerate() {
                for tool in 0..catalog.tools.len() {
                    let place = Place { server, tool };
                    prop_assert!(is_legal(names.tool(place)) && seen.insert(names.tool(place).to_owned()));
                    prop_assert_eq!(names.get(names.tool(place)), Some(Named::Tool(place)));
                }
                for kind in MetaKind::ALL {
                    prop_assert!(is_legal(names.meta(server, kind)) && seen.insert(names.meta(server, kind).to_owned()));
                    prop_assert_eq!(names.get(names.meta(server, kind)), Some(Named::Meta(server, kind)));
                }
            }
        }
    }
}
