//! What a provider's prompt cache makes of a session: everything up to the first difference is read, the rest written.
//!
//! Tools come first in a prompt, so a changed tool list breaks the whole. Tokens are those of o200k over the texts, a
//! stand-in for the provider's own count: they compare arms, they are no bill.

use bench_protocol::{digest::Digest, prices::Tokens};
use serde::Serialize;

use crate::{surface::Surface, tokens::tokens, wire::Entry};

/// Tokens of requests by class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Classes {
    /// Neither read nor written.
    pub plain: u64,
    /// Written to the cache.
    pub written: u64,
    /// Read from the cache.
    pub read: u64,
    /// Output.
    pub output: u64,
}

impl Classes {
    /// Adds another request's.
    pub fn add(&mut self, other: Self) {
        self.plain += other.plain;
        self.written += other.written;
        self.read += other.read;
        self.output += other.output;
    }

    /// Prompt tokens of all classes.
    pub fn prompt(self) -> u64 {
        self.plain + self.written + self.read
    }

    /// As the price table takes them.
    pub fn priced(self) -> Tokens {
        Tokens {
            input: self.plain,
            cache_write_5m: self.written,
            cache_read: self.read,
            output: self.output,
            ..Tokens::default()
        }
    }
}

/// The cache over one session.
pub struct Cache {
    system: u64,
    minimum: u64,
    /// Tool list of the request before.
    list: Option<Digest>,
    /// Prompt tokens that are in the cache.
    held: u64,
    /// Entries counted so far, and their tokens.
    counted: (usize, u64),
}

impl Cache {
    /// A cold cache; prompts below `minimum` tokens are never held.
    pub fn new(system: &str, minimum: u64) -> Self {
        Self { system: count(system), minimum, list: None, held: 0, counted: (0, 0) }
    }

    /// The classes of one request with its reply, and whether a changed list broke the cache. The entries are those of
    /// the request before and more.
    pub fn request(&mut self, surface: &Surface, entries: &[Entry], reply: &str) -> (Classes, bool) {
        let (seen, mut history) = self.counted;
        history += entries.iter().skip(seen).map(entry_tokens).sum::<u64>();
        self.counted = (entries.len(), history);
        let prompt = self.system + tokens_of(surface) + history;
        let broke = self.list.as_ref().is_some_and(|list| list != surface.digest());
        self.list = Some(surface.digest().clone());
        let read = if broke { 0 } else { self.held.min(prompt) };
        let cached = prompt >= self.minimum;
        self.held = if cached { prompt } else { 0 };
        let fresh = prompt - read;
        let (plain, written) = if cached { (0, fresh) } else { (fresh, 0) };
        (Classes { plain, written, read, output: count(reply) }, broke)
    }
}

/// Tokens of a tool list.
pub fn tokens_of(surface: &Surface) -> u64 {
    surface.tools().iter().map(|tool| tool.tokens() as u64).sum()
}

fn entry_tokens(entry: &Entry) -> u64 {
    match entry {
        Entry::User(text) => count(text),
        Entry::Assistant(content) => count(content.get()),
        Entry::Call { name, arguments, .. } => {
            count(name) + count(&serde_json::Value::Object(arguments.clone()).to_string())
        }
        Entry::Results(answers) => answers.iter().flat_map(|answer| &answer.text).map(|text| count(text)).sum(),
    }
}

fn count(text: &str) -> u64 {
    tokens(text) as u64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::surface::ShownTool;

    fn surface(name: &str) -> Arc<Surface> {
        let tool = ShownTool::new(name.to_owned(), None, &json!({})).map(Arc::new).unwrap();
        Arc::new(Surface::new(vec![tool], String::new()))
    }

    #[test]
    fn what_was_sent_before_is_read_until_the_list_changes() {
        let (a, b) = (surface("a"), surface("b"));
        let mut cache = Cache::new("", 0);
        let mut entries = vec![Entry::User("one two three".to_owned())];
        let (first, broke) = cache.request(&a, &entries, "");
        assert_eq!((first.read, first.written, broke), (0, tokens_of(&a) + 3, false));
        entries.push(Entry::User("four".to_owned()));
        let (second, broke) = cache.request(&a, &entries, "x");
        assert_eq!((second.read, second.written, second.output, broke), (first.written, 1, 1, false));
        let (third, broke) = cache.request(&b, &entries, "");
        assert_eq!((third.read, third.written, broke), (0, tokens_of(&b) + 4, true));
    }

    #[test]
    fn a_prompt_below_the_minimum_is_paid_in_full_each_time() {
        let list = surface("a");
        let mut cache = Cache::new("", 1_000);
        let entries = [Entry::User("one".to_owned())];
        for _ in 0..2 {
            let (classes, _) = cache.request(&list, &entries, "");
            assert_eq!((classes.plain, classes.written, classes.read), (tokens_of(&list) + 1, 0, 0));
        }
    }
}
