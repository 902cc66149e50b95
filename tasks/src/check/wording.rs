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
    {
        let message = format!("the text names the server {server}; leave it out unless a person would say it");
        findings.push(Finding::warning(
            FindingKind::ServerName,
            &frame.file,
            Some(frame.line),
            Some(&frame.id),
            message,
        ));
    }
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
}
