//! Cutting a text to so many characters.

/// Characters of a description that a cut tool keeps.
const MOST: usize = 100;
/// The last blank is looked for from this place on.
const FROM: usize = 67;

/// The text as it is where it is short; else up to its last blank between two thirds and the end, or hard at the end,
/// and an ellipsis.
pub(super) fn shorten(text: &str) -> String {
    let places: Vec<(usize, char)> = text.char_indices().collect();
    if places.len() <= MOST {
        return text.to_owned();
    }
    let blank = (FROM..MOST).rev().find(|&at| places[at].1 == ' ');
    let end = places[blank.unwrap_or(MOST - 1)].0;
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_hundred_characters_is_left_alone() {
        let text = "é".repeat(100);
        assert_eq!(shorten(&text), text);
    }

    #[test]
    fn a_longer_one_ends_at_its_last_blank_in_the_last_third_or_hard() {
        let at = |blank: usize| format!("{} {}", "a".repeat(blank), "b".repeat(120));
        assert_eq!(shorten(&at(67)), format!("{}…", "a".repeat(67)));
        assert_eq!(shorten(&at(99)), format!("{}…", "a".repeat(99)));
        assert_eq!(shorten(&at(66)).chars().count(), 100);
        assert_eq!(shorten(&"é".repeat(101)), format!("{}…", "é".repeat(99)));
    }
}
