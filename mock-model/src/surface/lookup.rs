//! Finding a wanted tool, or a way to it, among what is shown.

use super::{
    Tool, ToolList,
    meta::{Listed, Meta, MetaKind},
};

/// Longest shown name.
const MAX_NAME: usize = 64;

/// Bytes that a shortened name still shares with the full one; what follows is a hash.
const SHARED_HEAD: usize = 40;

/// The name under which a tool of a server is shown, before it is shortened.
pub(crate) fn full_name(server: &str, tool: &str) -> String {
    let name = format!("{server}__{tool}");
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
}

/// What may stand between a server's name and its tool's in a listing.
const JOINTS: [&str; 6] = ["__", "::", ":", "/", ".", "_"];

/// The forms in which a text may name a tool, those with its server first.
pub(crate) fn spellings(server: &str, tool: &str) -> Vec<String> {
    let mut forms = vec![full_name(server, tool)];
    forms.extend(JOINTS.iter().filter(|_| !server.is_empty()).map(|joint| format!("{server}{joint}{tool}")));
    forms.push(tool.to_owned());
    forms
}

/// Whether `text` holds `word` with no name character on either side.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let inner = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
    !word.is_empty()
        && text
            .match_indices(word)
            .any(|(at, _)| !inner(text[..at].chars().next_back()) && !inner(text[at + word.len()..].chars().next()))
}

/// Letters and digits, in lower case.
fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether the end of a name that has the letters of `tool` begins a word there: behind a joint, or with a capital.
fn begins_a_word(name: &str, tool: &str) -> bool {
    let mut left = letters(tool).len();
    let Some(at) = name.char_indices().rev().find_map(|(at, c)| {
        left -= usize::from(c.is_ascii_alphanumeric());
        (left == 0).then_some(at)
    }) else {
        return false;
    };
    name[at..].starts_with(|c: char| c.is_ascii_uppercase())
        || name[..at].ends_with(|c: char| !c.is_ascii_alphanumeric())
}

impl Tool {
    /// The form in which this tool's own text asks for names, where it gives a pattern such as `server_name::tool_name`.
    pub(crate) fn pattern(&self, server: &str, tool: &str) -> Option<String> {
        let asks = |joint: &&&str| {
            let patterns = [format!("server{joint}tool"), format!("server_name{joint}tool_name")];
            patterns.iter().any(|pattern| has_word(&self.description, pattern) || has_word(self.schema.get(), pattern))
        };
        let joint = JOINTS.iter().find(asks).filter(|_| !server.is_empty())?;
        Some(format!("{server}{joint}{tool}"))
    }

    /// The form in which this tool's own text names an upstream tool, where it does.
    pub(crate) fn lists_as(&self, server: &str, tool: &str) -> Option<String> {
        spellings(server, tool)
            .into_iter()
            .find(|name| has_word(&self.description, name) || has_word(self.schema.get(), name))
    }
}

impl ToolList {
    /// The tool shown under this very name.
    pub(crate) fn named(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).map(|&index| &self.tools[index])
    }

    /// The meta tool shown under this name.
    pub(crate) fn meta_named(&self, name: &str) -> Option<&Meta> {
        let index = *self.by_name.get(name)?;
        self.metas.iter().find(|meta| meta.index == index)
    }

    /// The upstream tool, where it is shown: under its full name, its shortened name, its bare one, or one that only adds to
    /// the front of it.
    pub(crate) fn direct(&self, server: &str, tool: &str) -> Option<&Tool> {
        let full = full_name(server, tool);
        let found = self.named(&full).or_else(|| self.shortened(&full)).or_else(|| self.named(tool));
        let found = found.or_else(|| self.prefixed(server, tool))?;
        self.meta_named(&found.name).is_none().then_some(found)
    }

    /// The one tool of a server whose name ends in a tool's, whatever its capitals and joints: `zip_git_status`, `GitStatus`.
    fn prefixed(&self, server: &str, tool: &str) -> Option<&Tool> {
        let label = full_name(server, "");
        let wanted = Some(letters(tool)).filter(|letters| !letters.is_empty())?;
        let ends = |one: &&Tool| {
            let own = one.name.strip_prefix(&label).unwrap_or(&one.name);
            letters(own).strip_suffix(&wanted).is_some_and(|front| front.is_empty() || begins_a_word(own, tool))
        };
        let mut fits = self.tools.iter().filter(ends);
        fits.next().filter(|_| fits.next().is_none())
    }

    /// The one tool whose name shares the longest head with a name too long to be shown.
    fn shortened(&self, full: &str) -> Option<&Tool> {
        if full.len() <= MAX_NAME {
            return None;
        }
        let shared = |tool: &Tool| tool.name.bytes().zip(full.bytes()).take_while(|(a, b)| a == b).count();
        let longest = self.tools.iter().map(shared).max().filter(|&length| length >= SHARED_HEAD)?;
        let mut fits = self.tools.iter().filter(|tool| shared(tool) == longest);
        fits.next().filter(|_| fits.next().is_none())
    }

    /// A meta tool that serves this server, with the tool that it is shown as: one whose name says so, or any where no
    /// tool's name says that it belongs to this server.
    pub(crate) fn meta<'l, T>(
        &'l self,
        server: &str,
        wanted: impl Fn(&'l MetaKind) -> Option<T>,
    ) -> Option<(&'l Tool, T)> {
        let label = full_name(server, "");
        let label = label.trim_end_matches("__");
        let first = |serves: &dyn Fn(&Meta) -> bool| {
            let mut fitting = self.metas.iter().filter(|meta| serves(meta));
            fitting.find_map(|meta| Some((&self.tools[meta.index], wanted(&meta.kind)?)))
        };
        let own = first(&|meta| meta.serves(label));
        let has_label =
            || self.tools.iter().any(|tool| tool.name.split_once("__").is_some_and(|(own, _)| own == label));
        own.or_else(|| if has_label() { None } else { first(&|_| true) })
    }

    /// Whether there are tools of several labels, so that a label tells servers apart.
    pub(crate) fn is_label_of_one(&self, label: &str) -> bool {
        self.tools.iter().any(|tool| tool.name.split_once("__").is_none_or(|(own, _)| own != label))
    }

    /// All meta tools of a kind, in order.
    pub(crate) fn metas<'l, T>(
        &'l self,
        wanted: impl Fn(&'l MetaKind) -> Option<T>,
    ) -> impl Iterator<Item = (&'l Meta, &'l Tool, T)> {
        self.metas.iter().filter_map(move |meta| Some((meta, &self.tools[meta.index], wanted(&meta.kind)?)))
    }

    /// The index entry of a tool.
    pub(crate) fn entry(&self, server: &str, tool: &str) -> Option<&Listed> {
        self.listed()
            .iter()
            .find(|listed| listed.tool == tool && listed.server.as_deref().is_none_or(|own| own == server))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_ends_at_name_characters() {
        assert!(has_word("git_log(path): shows", "git_log"));
        assert!(has_word("{\"path\":1}", "path"));
        assert!(!has_word("git_logs and my_git_log", "git_log"));
        assert!(!has_word("get-env-all", "get-env"));
    }

    #[test]
    fn a_tool_has_many_spellings_and_its_bare_name_comes_last() {
        let text = r#"{"tool_id": "git::git_log"}"#;
        let seen = spellings("git", "git_log").into_iter().find(|form| has_word(text, form));
        assert_eq!(seen.as_deref(), Some("git::git_log"));
        assert_eq!(spellings("", "x"), ["__x", "x"]);
    }

    #[test]
    fn a_word_of_a_name_begins_behind_a_joint_or_with_a_capital() {
        for name in ["zip_git_status", "zip-git-status", "ZipGitStatus", "a.git_status"] {
            assert!(begins_a_word(name, "git_status"), "{name}");
        }
        assert!(!begins_a_word("legit_status", "git_status"));
        assert!(!begins_a_word("status", "git_status"));
    }

    #[test]
    fn characters_that_a_name_may_not_have_become_underscores() {
        assert_eq!(full_name("a.b", "c/d"), "a_b__c_d");
    }
}
