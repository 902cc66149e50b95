//! Numbers on a command line that have to be there: a count of nothing, or a wait of none, is a mistake and no table.

use std::num::{IntErrorKind, NonZeroU64};

/// A whole number, at least 1.
///
/// # Errors
/// What it is instead.
pub(super) fn at_least_one<N: TryFrom<NonZeroU64>>(text: &str) -> Result<N, String> {
    let number: u64 = text.parse().map_err(|error: std::num::ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => "too large".to_owned(),
        _ => "not a whole number".to_owned(),
    })?;
    let number = NonZeroU64::new(number).ok_or("it must be at least 1")?;
    N::try_from(number).map_err(|_| "too large".to_owned())
}

#[cfg(test)]
mod tests {
    use std::num::{NonZeroU32, NonZeroU64};

    use super::at_least_one;

    #[test]
    fn zero_is_refused_in_words_and_so_is_what_does_not_fit() {
        assert_eq!(at_least_one::<NonZeroU32>("7"), Ok(NonZeroU32::new(7).unwrap()));
        assert_eq!(at_least_one::<NonZeroU64>("18446744073709551615"), Ok(NonZeroU64::MAX));
        for (text, why) in [
            ("0", "it must be at least 1"),
            ("00", "it must be at least 1"),
            ("-1", "not a whole number"),
            ("1.5", "not a whole number"),
            ("", "not a whole number"),
            ("4294967296", "too large"),
            ("18446744073709551616", "too large"),
        ] {
            assert_eq!(at_least_one::<NonZeroU32>(text), Err(why.to_owned()), "{text}");
        }
    }
}
