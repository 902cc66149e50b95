//! Its own way to cut text into words.

/// Shortest word, in bytes.
const SHORTEST: usize = 3;

/// Common English words and words of JSON Schema.
const STOP: [&str; 55] = [
    "the",
    "and",
    "for",
    "with",
    "that",
    "this",
    "from",
    "are",
    "was",
    "were",
    "has",
    "have",
    "had",
    "not",
    "but",
    "you",
    "your",
    "can",
    "will",
    "would",
    "should",
    "may",
    "its",
    "our",
    "their",
    "which",
    "when",
    "where",
    "what",
    "who",
    "how",
    "all",
    "any",
    "each",
    "into",
    "than",
    "then",
    "there",
    "these",
    "those",
    "use",
    "used",
    "using",
    "type",
    "object",
    "string",
    "number",
    "integer",
    "boolean",
    "array",
    "null",
    "true",
    "false",
    "properties",
    "required",
];

/// Runs of letters and digits, split at lower-to-upper boundaries, in lower case, without short and common ones.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_lower = false;
    // A blank at the end closes the last word.
    for c in text.chars().chain([' ']) {
        if !c.is_alphanumeric() || (after_lower && c.is_uppercase()) {
            if word.len() >= SHORTEST && !STOP.contains(&word.as_str()) {
                words.push(std::mem::take(&mut word));
            }
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_long_uncommon_and_split_at_case() {
        assert_eq!(words("readTextFile of the Object, id"), ["read", "text", "file"]);
        assert_eq!(words("ÜbungA é"), ["übung"]);
    }
}
