//! What a text gives away.

use std::collections::BTreeSet;

use super::{Finding, FindingKind, stem::stem};
use crate::{intent::Frame, lexical::tokens, task::Stratum};

pub(super) fn check(frame: &Frame, findings: &mut Vec<Finding>) {
    let text = frame.text.literal(" ");
    if let (Stratum::Paraphrase, Some(tool)) = (frame.stratum, &frame.tool) {
        let leaked = leaked_name_words(tool, &text);
        if !leaked.is_empty() {
            let message = format!(
                "a paraphrase must share no word with the tool's name, but it says {}; put it in other words or call it plain",
                leaked.join(", ")
            );
            findings.push(Finding::error(
                FindingKind::NameToken,
                &frame.file,
                Some(frame.line),
                Some(&frame.id),
                message,
            ));
        }
    }
    if let Some(server) = &frame.server
        && names_server(server, &text)
        && (!is_spoken(server) || points_at_server(server, &text))
    {
        let message = format!("the text points at the server {server}; leave the name out, nobody asks that way");
        findings.push(Finding::warning(
            FindingKind::ServerName,
            &frame.file,
            Some(frame.line),
            Some(&frame.id),
            message,
        ));
    }
}

/// Server names that people say without a server in mind, and for what.
const SPOKEN: [(&str, &str); 6] = [
    ("everything", "a pronoun"),
    ("fetch", "a verb: to get something"),
    ("git", "the program whose repositories and commands are meant"),
    ("github", "the site, as against a clone on disk"),
    ("memory", "what an assistant remembers"),
    ("time", "the hour"),
];

/// Words that beside a server's name mean the server itself.
const SERVER_WORDS: [&str; 8] = ["server", "servers", "mcp", "tool", "tools", "plugin", "connector", "integration"];

/// Whether people say the name without a server in mind.
pub fn is_spoken(server: &str) -> bool {
    SPOKEN.iter().any(|(name, _)| *name == server)
}

/// Whether `text` names the server beside a word such as "server" or "tool".
pub fn points_at_server(server: &str, text: &str) -> bool {
    let (name, words) = (tokens(server), words(text));
    let means_server = |word: Option<&String>| word.is_some_and(|word| SERVER_WORDS.contains(&word.as_str()));
    !name.is_empty()
        && words.windows(name.len()).enumerate().any(|(at, window)| {
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            window == name && (means_server(before) || means_server(words.get(at + name.len())))
        })
}

/// The words of a text; unlike in a tool's name, capitals inside a word (`GitHub`) do not split it.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Words of `text` that are words of the tool's name, inflected or not, in order and without repeats.
pub fn leaked_name_words(tool: &str, text: &str) -> Vec<String> {
    let name: BTreeSet<String> = tokens(tool).iter().map(|word| stem(word)).collect();
    let mut leaked: Vec<String> = Vec::new();
    for word in words(text) {
        if name.contains(&stem(&word)) && !leaked.contains(&word) {
            leaked.push(word);
        }
    }
    leaked
}

/// Whether `text` holds the server's name, word for word.
pub fn names_server(server: &str, text: &str) -> bool {
    let (name, words) = (tokens(server), words(text));
    !name.is_empty() && words.windows(name.len()).any(|window| window == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflected_name_words_leak() {
        assert_eq!(leaked_name_words("git_log", "Logging: the latest logs of logic"), ["logging", "logs"]);
        assert_eq!(leaked_name_words("git_log", "what changed lately?"), [""; 0]);
        assert_eq!(leaked_name_words("read_text_file", "Files I can read"), ["files", "read"]);
    }

    #[test]
    fn a_server_is_named_only_word_for_word() {
        assert!(names_server("sequential-thinking", "do some Sequential thinking"));
        assert!(!names_server("sequential-thinking", "thinking of something sequential"));
        assert!(!names_server("git", "on GitHub"));
    }

    #[test]
    fn a_name_that_people_say_leaks_only_beside_a_word_for_a_server() {
        assert!(is_spoken("time") && !is_spoken("filesystem"));
        for text in ["ask the time server", "with your MCP time, please", "use the Time tool"] {
            assert!(points_at_server("time", text), "{text}");
        }
        for text in ["what time is it on the server?", "the time", "servers, any time soon"] {
            assert!(!points_at_server("time", text), "{text}");
        }
    }
}
