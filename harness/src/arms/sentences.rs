//! Cuts a description into sentences, so that a level can keep some of them verbatim.
//!
//! A cut in the wrong place loses words, a missing cut only keeps more of them, so every doubt is decided against a cut.

/// Abbreviations that a sentence goes on after.
const ABBREVIATIONS: [&str; 14] =
    ["eg", "ie", "vs", "cf", "approx", "resp", "incl", "excl", "fig", "al", "mr", "mrs", "dr", "ca"];
/// Abbreviations where a number follows.
const BEFORE_NUMBERS: [&str; 8] = ["no", "nr", "max", "min", "ver", "vol", "sec", "ch"];

/// The sentences of a text in order, verbatim, without the blanks around them.
///
/// A sentence ends at `.`, `!` or `?` before a blank and something that can start a sentence, at a CJK full stop, at a
/// blank line, and before a list item.
pub(super) fn split(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        let cut = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | '"' | '\'' | '`' | ')' | ']' | '”' | '’' | '*' => {
                ends_sentence(&text[..end], &text[end..])
            }
            '\n' => ends_block(&text[end..]),
            _ => false,
        };
        if cut && at >= start {
            push(&mut sentences, &text[start..end]);
            start = end;
        }
    }
    push(&mut sentences, &text[start..]);
    sentences
}

fn push<'a>(sentences: &mut Vec<&'a str>, text: &'a str) {
    let text = text.trim();
    if !text.is_empty() {
        sentences.push(text);
    }
}

/// True where `before` ends a sentence that `after` does not go on with.
fn ends_sentence(before: &str, after: &str) -> bool {
    let Some(first) = after.chars().next().filter(|c| c.is_whitespace()) else { return false };
    let Some(next) = after.trim_start().chars().next() else { return false };
    if next.is_lowercase() || matches!(next, ',' | ';' | ':' | ')' | ']') {
        return false;
    }
    let sentence = before.trim_end_matches(['"', '\'', '`', ')', ']', '”', '’', '*']);
    let Some(mark) = sentence.chars().last().filter(|c| matches!(c, '.' | '!' | '?')) else { return false };
    if mark != '.' {
        return true;
    }
    let sentence = &sentence[..sentence.len() - 1];
    let line = sentence.rsplit('\n').next().unwrap_or_default();
    let word = line.rsplit(|c: char| c.is_whitespace() || "([{\"'`,;/".contains(c)).next().unwrap_or_default();
    if word.is_empty() {
        return false;
    }
    // `1. First step` opens a list item.
    if line.trim().bytes().all(|byte| byte.is_ascii_digit()) && first != '\n' {
        return false;
    }
    let bare: String = word.chars().filter(|&c| c != '.').flat_map(char::to_lowercase).collect();
    let initials = word.split('.').all(|part| part.chars().count() == 1 && part.chars().all(char::is_alphabetic));
    !(initials
        || ABBREVIATIONS.contains(&bare.as_str())
        || (next.is_ascii_digit() && BEFORE_NUMBERS.contains(&bare.as_str())))
}

/// True where what follows a line end is a blank line or a list item.
fn ends_block(after: &str) -> bool {
    let line = after.split('\n').next().unwrap_or_default().trim();
    if line.is_empty() {
        return true;
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marker = if digits > 0 { &line[digits..] } else { line };
    let bullets: &[char] = if digits > 0 { &['.', ')'] } else { &['-', '*', '•'] };
    marker.strip_prefix(bullets).is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::split;

    #[test]
    fn a_sentence_ends_at_its_mark() {
        assert_eq!(
            split("Reads a file. Must be UTF-8! Why? Because."),
            ["Reads a file.", "Must be UTF-8!", "Why?", "Because."]
        );
        assert_eq!(split("Takes at most 5. Then stops."), ["Takes at most 5.", "Then stops."]);
        assert_eq!(
            split("Says \"stop.\" Then stops. (Or not.) End"),
            ["Says \"stop.\"", "Then stops.", "(Or not.)", "End"]
        );
    }

    #[test]
    fn abbreviations_versions_paths_and_ellipses_do_not_cut() {
        for whole in [
            "Give a format, e.g. JSON or, i.e. YAML, as in v1.2 or v2.0 Beta.",
            "Reads /etc/app.conf and ../lib.rs (see README.md for more).",
            "Waits ... and goes on. and on",
            "Approx. 5 MB, max. 10 per call, cf. Section 3.",
            "Written by J. Doe in the U.S. Army style",
            "Use *.py patterns like **/*.Rs or .Env files",
            "Either yes or etc. and more",
        ] {
            assert_eq!(split(whole), [whole]);
        }
    }

    #[test]
    fn blank_lines_and_list_items_cut_and_wrapped_lines_do_not() {
        assert_eq!(split("Does a thing\nover two lines\n\nThen more"), ["Does a thing\nover two lines", "Then more"]);
        assert_eq!(split("Modes:\n- a\n* b\n2. c d\n3) e"), ["Modes:", "- a", "* b", "2. c d", "3) e"]);
        assert_eq!(split("A range of 1\n-5 to 3"), ["A range of 1\n-5 to 3"]);
    }

    #[test]
    fn cjk_full_stops_cut_without_a_blank() {
        assert_eq!(split("検索します。必須です。"), ["検索します。", "必須です。"]);
    }

    proptest! {
        #[test]
        fn nothing_but_blanks_is_lost_and_order_is_kept(text in "[a-cA-C.!?。 \n\"()1-3e-]{0,60}") {
            let words = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            let joined: String = split(&text).concat();
            prop_assert_eq!(words(&joined), words(&text));
            prop_assert!(split(&text).iter().all(|sentence| text.contains(sentence) && !sentence.trim().is_empty()));
        }
    }
}
