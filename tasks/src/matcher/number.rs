//! Numbers by value.

use serde_json::Number;

/// Whether two JSON numbers are the same value. Integers compare as integers, also beyond 2^53 where floats cannot
/// tell neighbours apart; an integer equals a float only if the float is exactly that integer.
pub fn numbers_equal(a: &Number, b: &Number) -> bool {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a == b,
        (Some(whole), None) => float_is(b, whole),
        (None, Some(whole)) => float_is(a, whole),
        (None, None) => a.as_f64() == b.as_f64(),
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

#[expect(clippy::cast_possible_truncation, reason = "in range and whole by the checks before it")]
fn float_is(number: &Number, whole: i128) -> bool {
    // 2^64 bounds every integer that JSON numbers are parsed into, and is exact as a float.
    const BOUND: f64 = 18_446_744_073_709_551_616.0;
    number.as_f64().is_some_and(|float| float.abs() <= BOUND && float.fract() == 0.0 && float as i128 == whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn equal_by_value_and_exact_beyond_the_floats() {
        for (a, b) in [
            ("1", "1.0"),
            ("0", "-0.0"),
            ("1e2", "100"),
            ("9007199254740992", "9007199254740992.0"),
            ("18446744073709551615", "18446744073709551615"),
            ("0.1", "0.10"),
        ] {
            assert!(numbers_equal(&number(a), &number(b)), "{a} {b}");
        }
        for (a, b) in [
            ("1", "1.5"),
            ("9007199254740993", "9007199254740992.0"),
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551615", "18446744073709551616.0"),
            ("-1", "18446744073709551615"),
        ] {
            assert!(!numbers_equal(&number(a), &number(b)), "{a} {b}");
        }
    }
}
