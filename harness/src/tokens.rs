//! Counting o200k tokens.

use bpe_openai::Normalizable;

/// Number of o200k tokens of a text.
pub fn tokens(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

/// True where a text has at least this many o200k tokens; reads no more of it than it must.
pub fn has_tokens(text: &str, at_least: usize) -> bool {
    // Every token is at least one byte.
    if text.len() < at_least {
        return false;
    }
    let Some(limit) = at_least.checked_sub(1) else { return true };
    bpe_openai::o200k_base().count_till_limit(&text.normalize(false), limit).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_on_tokens_agrees_with_the_count() {
        for text in ["", "a", "hello world, this is a text", "日本語 🙂 x\n\n  y"] {
            for at_least in 0..20 {
                assert_eq!(has_tokens(text, at_least), tokens(text) >= at_least, "{text:?} {at_least}");
            }
        }
    }
}
