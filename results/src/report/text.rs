//! Text of strangers, made harmless for a reader: bounded, and without characters that hide or turn what is written.
//!
//! Escaping for a format is the format's own business; this is what no escaping does.

use std::{borrow::Cow, fmt::Write as _};

/// Replaces characters that are invisible or change the direction of what follows by their code points, and cuts after
/// `limit` characters with the number of those left out. Line ends and tabs stay.
pub(super) fn tame(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit.saturating_mul(2)));
    let mut chars = text.chars();
    for c in chars.by_ref().take(limit) {
        if hides(c) {
            let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
        } else {
            out.push(c);
        }
    }
    let rest = chars.count();
    if rest > 0 {
        let _ = write!(out, " … ({} more characters)", crate::table::group(rest as u64));
    }
    out
}

/// Replaces characters that are invisible or change the direction of what follows by their code points. Line ends and
/// tabs stay: where a text may have none, [`line`] is the function.
pub fn spelled(text: &str) -> Cow<'_, str> {
    if text.contains(hides) { Cow::Owned(tame(text, usize::MAX)) } else { Cow::Borrowed(text) }
}

/// As [`spelled`], on one line.
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\t']) {
        return spelled(text);
    }
    Cow::Owned(tame(text, usize::MAX).replace('\n', "⟨U+000A⟩").replace('\t', "⟨U+0009⟩"))
}

/// Control characters, bidirectional controls, and what takes no room at all. The joiners stay: scripts need them.
fn hides(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(c, '\u{061C}' | '\u{00AD}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Pico-dollars in dollars with six decimals, rounded half up: exact integer arithmetic.
pub(super) fn dollars(pico: u128) -> String {
    let micro = (pico + 500_000) / 1_000_000;
    format!("${}.{:06}", micro / 1_000_000, micro % 1_000_000)
}

/// `part` of `whole` in per cent with one decimal; a dash where there is nothing to divide by.
pub(super) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

/// A share given as decimal text, in percentage points with a sign.
pub(super) fn points(decimal: &str) -> String {
    decimal.parse::<f64>().map_or_else(|_| "?".to_owned(), |x| crate::table::signed(100.0 * x))
}

/// A unit variant or newtype as it is written in JSON.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn overrides_of_direction_and_invisible_characters_are_spelled_out() {
        assert_eq!(tame("pay\u{202E}gpj.exe\u{200B}\u{0}", 40), "pay⟨U+202E⟩gpj.exe⟨U+200B⟩⟨U+0000⟩");
        assert_eq!(tame("a\tb\nc\u{200D}d é", 40), "a\tb\nc\u{200D}d é");
    }

    #[test]
    fn what_is_cut_is_counted() {
        assert_eq!(tame(&"x".repeat(2_500), 3), "xxx … (2,497 more characters)");
        assert_eq!(tame("äöü", 3), "äöü");
    }

    #[test]
    fn dollars_are_rounded_to_a_micro_dollar() {
        let cases =
            [(0, "$0.000000"), (499_999, "$0.000000"), (500_000, "$0.000001"), (1_234_567_890_000, "$1.234568")];
        for (pico, text) in cases {
            assert_eq!(dollars(pico), text);
        }
    }

    proptest! {
        #[test]
        fn tamed_text_is_bounded_and_stays_tame(text in any::<String>(), limit in 0_usize..200) {
            let tamed = tame(&text, limit);
            prop_assert!(!tamed.chars().any(hides));
            prop_assert!(tamed.chars().count() <= limit * 10 + 40);
        }
    }
}
