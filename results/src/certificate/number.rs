//! Numbers as a certificate prints them.
//!
//! Counts and money are integers, rates exact fractions. What is left, p-values, statistics and interval ends, is decimal
//! *text*: a JSON number would pass through the reader's own float type, and a reader with another one could neither
//! reproduce the canonical bytes nor tell "0.05" rounded from 0.05. Rounding happens here once, in Rust's exact decimal
//! formatting, which is the same on every platform; six digits leave room for the last-place noise of a platform's `ln`.

use serde::{Deserialize, Serialize};

/// An exact rate or difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fraction {
    /// Numerator; negative where losses prevail.
    pub num: i64,
    /// Denominator.
    pub den: u64,
}

impl Fraction {
    /// A rate.
    pub fn rate(part: u64, whole: u64) -> Self {
        Self { num: part.cast_signed(), den: whole }
    }

    /// Its value; 0 where there is nothing to divide by.
    pub fn value(self) -> f64 {
        if self.den == 0 { 0.0 } else { self.num as f64 / self.den as f64 }
    }
}

/// A p-value, statistic or design effect to six significant digits: plain down to 1e-4, scientific below. What
/// underflows is printed as a bound: a p-value is never printed as 0.
pub fn significant(x: f64) -> String {
    if x.is_nan() {
        return "undefined".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{x:.5e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent @ -4..=5) => {
            let places = usize::try_from(5 - exponent).unwrap_or(0);
            format!("{x:.places$}")
        }
        Ok(exponent) => format!("{digits}e{exponent}"),
        Err(_) => scientific,
    }
}

/// A p-value: as [`significant`], with a bound where it underflows.
pub fn p_value(p: f64) -> String {
    if p < 1e-300 { "<1e-300".to_owned() } else { significant(p) }
}

/// An interval end or a level to six decimals; zero has no sign.
pub fn decimal(x: f64) -> String {
    let text = format!("{x:.6}");
    if text == "-0.000000" { "0.000000".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn six_significant_digits_at_every_size() {
        let cases = [
            (0.050_000_04, "0.0500000"),
            (0.012_345_678, "0.0123457"),
            (1.0, "1.00000"),
            (0.000_1, "0.000100000"),
            (0.000_099_999_96, "0.000100000"),
            (1.234_567_89e-9, "1.23457e-9"),
            (-2.345_678_9, "-2.34568"),
            (123_456.7, "123457"),
            (0.0, "0.00000"),
        ];
        for (x, text) in cases {
            assert_eq!(significant(x), text);
        }
    }

    #[test]
    fn a_p_value_is_never_printed_as_zero() {
        assert_eq!(p_value(0.0), "<1e-300");
        assert_eq!(p_value(1e-320), "<1e-300");
        assert_eq!(p_value(3e-12), "3.00000e-12");
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(decimal(-1e-9), "0.000000");
        assert_eq!(decimal(-0.012_345_67), "-0.012346");
    }

    proptest! {
        #[test]
        fn printed_numbers_read_back_to_six_digits(x in -1.0e6_f64..1.0e6) {
            let back: f64 = significant(x).parse().unwrap();
            prop_assert!((back - x).abs() <= 5.1e-6 * x.abs());
        }
    }
}
