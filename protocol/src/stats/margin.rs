//! The non-inferiority margin as an exact decimal, and every comparison made at it.
//!
//! `δ·n` in floats is not always the integer it should be (`0.07 · 100 = 7.000000000000001`), and a lattice statistic
//! often lies exactly at the margin. So the margin is a rational and comparisons at it are made in `i128`.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::StatsError;

const MAX_PLACES: usize = 9;

/// A margin `num/den`, strictly between 0 and 1, in lowest terms, `den` at most 10⁹.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Margin {
    num: u64,
    den: u64,
}

impl Margin {
    /// Numerator in lowest terms.
    pub fn num(self) -> u64 {
        self.num
    }

    /// Denominator in lowest terms.
    pub fn den(self) -> u64 {
        self.den
    }

    /// The double nearest to the margin.
    pub fn value(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// `net + δ·n` times `den`, exact: how far a net gain of `net` in `n` tasks lies above the margin.
    pub fn excess_scaled(self, net: i64, n: u64) -> i128 {
        i128::from(net) * i128::from(self.den) + i128::from(self.num) * i128::from(n)
    }

    /// `net + δ·n`, rounded once; its sign is exact.
    pub fn excess(self, net: i64, n: u64) -> f64 {
        self.excess_scaled(net, n) as f64 / self.den as f64
    }

    /// Whether `net/n ≤ −δ`, exact.
    pub fn is_reached_by(self, net: i64, n: u64) -> bool {
        self.excess_scaled(net, n) <= 0
    }

    /// The largest net gain that still lies at or below the margin: `⌊−δ·n⌋`, exact. `n` is a number of tasks.
    pub fn lattice_floor(self, n: u64) -> i64 {
        let floor = (-i128::from(self.num) * i128::from(n)).div_euclid(i128::from(self.den));
        // |floor| ≤ n, and tables hold at most 10⁶ tasks.
        i64::try_from(floor).unwrap_or(i64::MIN)
    }
}

impl FromStr for Margin {
    type Err = StatsError;

    /// Reads plain decimals such as `0.02`: no sign, no exponent, at most nine places.
    fn from_str(text: &str) -> Result<Self, StatsError> {
        let refuse = || StatsError::Margin { text: text.to_owned() };
        let places = text.strip_prefix("0.").or_else(|| text.strip_prefix('.')).ok_or_else(refuse)?;
        if places.is_empty() || places.len() > MAX_PLACES || !places.bytes().all(|b| b.is_ascii_digit()) {
            return Err(refuse());
        }
        let num: u64 = places.parse().map_err(|_| refuse())?;
        if num == 0 {
            return Err(refuse());
        }
        let den = places.bytes().fold(1, |den: u64, _| den * 10);
        let common = gcd(num, den);
        Ok(Self { num: num / common, den: den / common })
    }
}

/// Prints the shortest decimal, `0.02`.
impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value())
    }
}

impl Serialize for Margin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads text (`"0.02"`) or a float literal (`0.02`), whose shortest decimal is what was written.
impl<'de> Deserialize<'de> for Margin {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Decimal;

        impl Visitor<'_> for Decimal {
            type Value = Margin;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a decimal strictly between 0 and 1")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Margin, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Margin, E> {
                self.visit_str(&value.to_string())
            }
        }

        deserializer.deserialize_any(Decimal)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Margin;

    fn margin(text: &str) -> Margin {
        text.parse().unwrap()
    }

    #[test]
    fn a_decimal_is_read_exactly_and_printed_back() {
        assert_eq!((margin("0.02").num(), margin("0.02").den()), (1, 50));
        assert_eq!(margin("0.020"), margin(".02"));
        assert_eq!(margin("0.02").to_string(), "0.02");
        assert_eq!(serde_json::to_string(&margin("0.050")).unwrap(), "\"0.05\"");
        assert_eq!(serde_json::from_str::<Margin>("0.02").unwrap(), margin("0.02"));
        assert_eq!(serde_json::from_str::<Margin>("\"0.02\"").unwrap(), margin("0.02"));
    }

    #[test]
    fn anything_but_a_plain_decimal_between_zero_and_one_is_refused() {
        for bad in
            ["", "0", "1", "0.", ".", "0.0", "1.0", "-0.02", "+0.02", "2e-2", "0.0 2", "0,02", "0.1234567890", "NaN"]
        {
            let error = bad.parse::<Margin>().unwrap_err().to_string();
            assert!(error.contains(&format!("'{bad}'")), "{error}");
        }
        assert!(serde_json::from_str::<Margin>("2").is_err());
    }

    #[test]
    fn comparisons_hold_where_floats_do_not() {
        // 0.07·100 and 0.29·100 are not integers in binary floats.
        assert_eq!(margin("0.07").lattice_floor(100), -7);
        assert_eq!(margin("0.29").lattice_floor(100), -29);
        assert!(margin("0.07").is_reached_by(-7, 100) && !margin("0.07").is_reached_by(-6, 100));
        assert_eq!(margin("0.02").lattice_floor(149), -3);
        assert_eq!(margin("0.02").excess_scaled(-20, 1_000), 0);
    }

    proptest! {
        #[test]
        fn the_lattice_floor_is_the_last_net_that_reaches_the_margin(places in 1_u64..1_000_000, n in 1_u64..1_000_000_000) {
            let margin = margin(&format!("0.{places:06}"));
            let floor = margin.lattice_floor(n);
            prop_assert!(margin.is_reached_by(floor, n));
            prop_assert!(!margin.is_reached_by(floor + 1, n));
        }
    }
}
