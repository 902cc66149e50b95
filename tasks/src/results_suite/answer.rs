//! Reading an answer off a model's text: the final `Answer:` line, exact after a stated normalisation.

/// The text behind the last line that starts with `Answer:` (any case, list or emphasis marks before it ignored).
/// `None` where there is no such line: such an episode is wrong.
pub fn extract(text: &str) -> Option<&str> {
    text.lines().rev().find_map(|line| {
        let line = line.trim().trim_start_matches(['*', '_', '#', '>', '-', ' ']);
        let head = line.get(..7)?;
        head.eq_ignore_ascii_case("answer:").then(|| line[7..].trim_start_matches(['*', '_', ' ']).trim())
    })
}

/// The form in which answers are compared: outer quotes, backticks, emphasis and one final full stop dropped, blanks
/// folded, ASCII letters in lower case. Digits, signs, inner punctuation and Unicode letters count.
pub fn normalise(answer: &str) -> String {
    let mut text = answer.trim();
    loop {
        let before = text;
        for pair in [("**", "**"), ("`", "`"), ("\"", "\""), ("'", "'"), ("“", "”"), ("*", "*")] {
            if text.len() >= pair.0.len() + pair.1.len()
                && let Some(inner) = text.strip_prefix(pair.0).and_then(|rest| rest.strip_suffix(pair.1))
            {
                text = inner.trim();
            }
        }
        if let Some(rest) = text.strip_suffix('.')
            && !rest.ends_with('.')
        {
            text = rest.trim_end();
        }
        if text == before {
            break;
        }
    }
    let folded: Vec<&str> = text.split_whitespace().collect();
    folded.join(" ").to_ascii_lowercase()
}

/// Whether a model's text answers with `gold`.
pub fn is_right(text: &str, gold: &str) -> bool {
    extract(text).is_some_and(|answer| normalise(answer) == normalise(gold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_inside_a_longer_number_is_wrong() {
        assert!(!is_right("Answer: 120", "12"));
        assert!(is_right("thinking 120\nAnswer: 12", "12"));
    }

    #[test]
    fn the_last_answer_line_counts_and_none_is_wrong() {
        assert_eq!(extract("Answer: a\nno wait\n**Answer:** b"), Some("b"));
        assert_eq!(extract("the answer is 4"), None);
    }

    #[test]
    fn quotes_case_blanks_and_a_full_stop_do_not_matter_inner_marks_do() {
        assert_eq!(normalise(" \"Fix  CSV\". "), "fix csv");
        assert_ne!(normalise("1.5"), normalise("15"));
        assert_ne!(normalise("naïve"), normalise("naive"));
    }
}
