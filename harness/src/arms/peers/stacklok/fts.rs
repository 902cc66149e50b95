//! The word half: `SQLite`'s FTS5 as the optimizer queries it, over the columns name and description.

use bench_tasks::lexical::{Index, porter::stem};

/// Words that turn a query into one exact phrase.
const PHRASE_WORDS: [&str; 23] = [
    "name",
    "description",
    "schema",
    "input",
    "output",
    "type",
    "properties",
    "required",
    "title",
    "id",
    "tool",
    "server",
    "meta",
    "data",
    "content",
    "text",
    "value",
    "field",
    "column",
    "table",
    "index",
    "key",
    "primary",
];

/// A full-text index of two columns per tool.
pub(super) struct FullText {
    index: Index,
    /// Stems of name and description.
    columns: Vec<[Vec<String>; 2]>,
}

impl FullText {
    /// Indexes names and descriptions.
    pub(super) fn new<'t>(tools: impl IntoIterator<Item = [&'t str; 2]>) -> Self {
        let columns: Vec<[Vec<String>; 2]> = tools.into_iter().map(|columns| columns.map(stems)).collect();
        Self { index: Index::new(columns.iter().map(|columns| columns.concat())), columns }
    }

    /// Scores of every tool: any of the query's words, or all of it as one phrase.
    pub(super) fn scores(&self, query: &str) -> Vec<f64> {
        let words: Vec<String> = words(query).collect();
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        let one_phrase = words.len() == 1 || words.iter().any(|word| PHRASE_WORDS.contains(&word.as_str()));
        if !one_phrase || stems.is_empty() {
            return self.index.bm25(&stems);
        }
        let occurrences = |columns: &[Vec<String>; 2]| -> usize {
            columns.iter().map(|column| column.windows(stems.len()).filter(|window| *window == stems).count()).sum()
        };
        // A phrase stands nowhere but where all of its stems do.
        self.index.bm25_of(self.index.having(&stems).into_iter().map(|at| (at, occurrences(&self.columns[at]))))
    }
}

/// Runs of letters and digits, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn stems(text: &str) -> Vec<String> {
    words(text).map(|word| stem(&word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> FullText {
        FullText::new([["read_file", "Reads the content of a file."], ["write_file", "Writes files."]])
    }

    fn hits(query: &str) -> Vec<bool> {
        text().scores(query).into_iter().map(|score| score > 0.0).collect()
    }

    #[test]
    fn any_stemmed_word_is_enough() {
        assert_eq!(hits("please rewrite my files"), [true, true]);
        assert_eq!(hits("writing poems"), [false, true]);
    }

    #[test]
    fn one_telling_word_turns_the_query_into_a_phrase_that_must_stand_there() {
        assert_eq!(hits("content of a file"), [true, false]);
        assert_eq!(hits("read file content"), [false, false]);
        assert_eq!(hits("reading"), [true, false]);
    }

    #[test]
    fn a_phrase_does_not_reach_over_two_columns() {
        assert_eq!(hits("file reads the content"), [false, false]);
        assert_eq!(hits(""), [false, false]);
    }
}
