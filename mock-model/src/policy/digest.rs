//! Reading a digested result: what was left out of it, and whether an answer still stands in it.

use bench_tasks::results_suite::answer::normalise;

/// Words that say that something was left out.
const CUES: [&str; 6] = ["dropped", "omitted", "elided", "hidden", "left out", "not shown"];

/// Hex digits of a handle.
const HANDLE_DIGITS: usize = 8;

/// Kinds of questions whose answer follows from all rows together: seeing it somewhere is not knowing it.
const COMPUTED: [&str; 5] = ["count", "sum", "absence", "second-largest", "first-last"];

/// Bytes below which an answer may stand in a text by chance.
const MIN_TELLING: usize = 4;

/// Whether a text with gaps still gives the answer to this kind of question.
pub(super) fn tells(kind: &str, text: &str, answer: &str) -> bool {
    answer.len() >= MIN_TELLING && !COMPUTED.contains(&kind) && holds(text, answer)
}

/// Handles of the gaps in a text, in order, each once. A table that holds all rows has a handle but no gap.
pub(super) fn gaps(text: &str) -> Vec<&str> {
    let mut handles = Vec::new();
    for line in text.lines() {
        let says_so = CUES.iter().any(|cue| line.contains(cue)) && (line.contains("line") || line.contains("row"));
        if let Some(handle) = says_so.then(|| handle(line)).flatten()
            && !handles.contains(&handle)
        {
            handles.push(handle);
        }
    }
    handles
}

/// The last word of exactly eight lower-case hex digits.
fn handle(line: &str) -> Option<&str> {
    line.rsplit(|c: char| !c.is_ascii_alphanumeric()).find(|word| {
        word.len() == HANDLE_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// Whether the answer stands in the text, as itself or as JSON writes it, and not inside a longer word or number.
fn holds(text: &str, answer: &str) -> bool {
    let answer = normalise(answer);
    let escaped = serde_json::Value::from(answer.as_str()).to_string();
    let escaped = escaped.trim_matches('"');
    let text = normalise(text);
    stands_in(&text, &answer) || (escaped != answer && stands_in(&text, escaped))
}

fn stands_in(text: &str, answer: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !answer.is_empty()
        && text.match_indices(answer).any(|(at, _)| {
            let mut before = text[..at].chars().rev();
            let mut after = text[at + answer.len()..].chars();
            let (b, bb) = (before.next(), before.next());
            let (a, aa) = (after.next(), after.next());
            let inside_number = |mark: Option<char>, next: Option<char>| {
                mark.is_some_and(|c| c == '.' || c == ',') && next.is_some_and(|c| c.is_ascii_digit())
            };
            !is_word(b) && !is_word(a) && !inside_number(b, bb) && !inside_number(a, aa)
        })
}

/// A word of the text that is not the answer, picked by `pick` among so many; `None` where there is none.
pub(super) fn another_word(text: &str, answer: &str, pick: impl Fn(usize) -> usize) -> Option<String> {
    let answer = normalise(answer);
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let mut words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
        .filter(|word| word.chars().nth(1).is_some() || is_number(word))
        .filter(|word| !word.is_empty() && normalise(word) != answer && is_number(word) == is_number(&answer))
        .take(200)
        .collect();
    words.dedup();
    words.get(pick(words.len())).map(|word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_needs_a_cue_and_a_handle_and_a_table_of_all_rows_has_none() {
        let text = "one\n[… 12 lines dropped, handle 0a1b2c3d]\ntwo\n[… 3 lines dropped, handle 0a1b2c3d]";
        assert_eq!(gaps(text), ["0a1b2c3d"]);
        assert_eq!(gaps("[table 40 rows, columns id|name, handle 0a1b2c3d]\n1|a"), [""; 0]);
        assert_eq!(gaps("commit 0a1b2c3d\nthe connection was dropped 0a1b2c3d"), [""; 0]);
    }

    #[test]
    fn an_answer_inside_a_longer_one_does_not_stand_there() {
        assert!(holds("total: 12 items", "12"));
        assert!(!holds("total: 120 items, 3.12, 12.5", "12"));
        assert!(holds(r#"{"title":"say \"hi\""}"#, r#"say "hi""#));
        assert!(holds("see 12.", "12"));
    }

    #[test]
    fn a_computed_or_short_answer_is_not_told_by_standing_somewhere() {
        let text = "author: Grace Hopper, 128 rows, #17";
        assert!(tells("record-lookup", text, "grace hopper"));
        assert!(!tells("first-last", text, "grace hopper"));
        assert!(!tells("count", text, "128"));
        assert!(!tells("record-lookup", text, "17"));
    }

    #[test]
    fn another_word_is_never_the_answer() {
        for at in 0..3 {
            let word = another_word("7 Ada ada Bob 12", "ada", |n| at % n).unwrap();
            assert_eq!(word, "Bob");
        }
        assert_eq!(another_word("7 Ada", "7", |_| 0), None);
    }
}
