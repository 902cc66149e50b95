//! Tokenizers: the two that are built in, and helper programs of the user's.
//!
//! A helper's first line is `{"tokenizer": "…"}`; a request is `{"texts": ["…"]}`, the reply `{"counts": [12, …]}`.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::helper::{Helper, HelperError};

/// A way to count tokens, and its name.
pub struct Tokenizer {
    /// Its name.
    pub name: String,
    counter: Counter,
}

enum Counter {
    BuiltIn(fn(&str) -> usize),
    Helper(Mutex<Helper>),
}

#[derive(Deserialize)]
struct Hello {
    tokenizer: String,
}

#[derive(Serialize)]
struct Request<'a> {
    texts: &'a [&'a str],
}

#[derive(Deserialize)]
struct Reply {
    counts: Vec<usize>,
}

impl Tokenizer {
    /// The two that are built in.
    pub fn built_in() -> Vec<Self> {
        let own =
            |name: &str, count: fn(&str) -> usize| Self { name: name.to_owned(), counter: Counter::BuiltIn(count) };
        vec![own("o200k_base", crate::tokens::tokens), own("cl100k_base", |text| bpe_openai::cl100k_base().count(text))]
    }

    /// A helper program.
    ///
    /// # Errors
    /// Where it cannot be started or does not introduce itself.
    pub fn start(command: &[String]) -> Result<Self, HelperError> {
        let (helper, Hello { tokenizer }) = Helper::start(command, "a first line {\"tokenizer\": text}")?;
        Ok(Self { name: tokenizer, counter: Counter::Helper(Mutex::new(helper)) })
    }

    /// Tokens of every text.
    ///
    /// # Errors
    /// Where a helper fails.
    pub fn count(&self, texts: &[&str]) -> Result<Vec<usize>, HelperError> {
        match &self.counter {
            Counter::BuiltIn(count) => Ok(texts.iter().map(|text| count(text)).collect()),
            Counter::Helper(helper) => {
                let mut helper = helper.lock().unwrap_or_else(PoisonError::into_inner);
                let Reply { counts } = helper.ask(&Request { texts }, "a line {\"counts\": [number, …]}")?;
                if counts.len() == texts.len() {
                    return Ok(counts);
                }
                let what = format!("{} counts for {} texts", counts.len(), texts.len());
                Err(HelperError::Reply { what, expected: "one count per text" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::helper::tests::saying;

    #[test]
    fn a_helper_counts_every_text_or_is_refused() {
        let hello = r#"{"tokenizer":"mine"}"#;
        let mine = Tokenizer::start(&saying(&[hello, r#"{"counts":[3,4]}"#])).unwrap();
        assert_eq!(mine.name, "mine");
        assert_eq!(mine.count(&["a", "b"]).unwrap(), [3, 4]);
        let short = Tokenizer::start(&saying(&[hello, r#"{"counts":[3]}"#])).unwrap();
        assert!(short.count(&["a", "b"]).is_err_and(|error| error.to_string().contains("1 counts for 2 texts")));
    }

    #[test]
    fn the_built_in_ones_differ_where_their_vocabularies_do() {
        let [o200k, cl100k] = &Tokenizer::built_in()[..] else { panic!() };
        let text = ["Передай привет: 日本語"];
        assert!(o200k.count(&text).unwrap() < cl100k.count(&text).unwrap());
    }
}
