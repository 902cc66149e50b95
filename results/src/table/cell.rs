//! What stands in a cell: words, names and numbers, the same in every table.

use bench_protocol::verdict::Status;

use crate::record::Weight;

/// The verdict word; where the run cannot certify it is a conditional and says why.
pub fn status_word(status: Status, weight: Weight) -> String {
    match weight {
        Weight::Certifies => status.word().to_owned(),
        Weight::Exploratory => format!("{} (exploratory)", conditional(status)),
        Weight::Scripted => format!("{} (mock)", conditional(status)),
    }
}

pub(super) fn conditional(status: Status) -> &'static str {
    match status {
        Status::Certified => "would certify",
        Status::Failed => "would fail",
        Status::Inconclusive | Status::NotTested | Status::NotEvaluated | Status::NoVerdict => status.word(),
    }
}

/// A name of at most so many characters; its document has it whole.
pub fn clipped(name: &str, at_most: usize) -> String {
    if name.chars().count() <= at_most {
        return name.to_owned();
    }
    name.chars().take(at_most.saturating_sub(1)).chain(['…']).collect()
}

/// Stands where there is nothing to say.
pub fn dash() -> String {
    "–".to_owned()
}

/// One decimal with its sign; zero has none.
pub fn signed(x: f64) -> String {
    let text = format!("{x:+.1}");
    if matches!(text.as_str(), "+0.0" | "-0.0") { "0.0".to_owned() } else { text }
}

/// Thousands apart: `9,688`.
pub fn group(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped_and_zero_has_no_sign() {
        assert_eq!([0, 999, 1_000, 9_688, 1_234_567].map(group), ["0", "999", "1,000", "9,688", "1,234,567"]);
        assert_eq!([-0.04, 0.04, -0.06, 1.25].map(signed), ["0.0", "0.0", "-0.1", "+1.2"]);
    }

    #[test]
    fn long_names_are_clipped_where_it_shows() {
        assert_eq!(clipped("planted-loss", 16), "planted-loss");
        assert_eq!(clipped("some-vendor/compressor@1.2.3", 16), "some-vendor/com…");
    }
}
