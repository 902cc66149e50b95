//! A price per token, exact.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Decimal places that a price per million tokens may have: one pico-dollar per token is the last of them.
const PLACES: usize = 6;

/// The dearest price that is believed, a million dollars per million tokens: beyond it, somebody mistook the unit.
const MOST: u64 = 1_000_000_000_000;

/// Pico-dollars (10⁻¹² USD) per token. On disk a decimal string in USD per million tokens: `"1.25"` is 1,250,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rate(u64);

impl Rate {
    /// Nothing.
    pub const FREE: Self = Self(0);

    /// Pico-dollars per token.
    pub fn pico_dollars(self) -> u64 {
        self.0
    }

    /// Reads USD per million tokens. Exact: what has more than six decimal places is refused, never rounded.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with('-') {
            return Err(format!("`{text}` is negative; a price is 0 or more"));
        }
        let (whole, places) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(places) {
            return Err(format!("`{text}` is not a plain decimal such as \"1.25\""));
        }
        if places.len() > PLACES {
            return Err(format!("`{text}` has more than {PLACES} decimal places"));
        }
        // `places` is at most six digits, so the padded text is a number in units of a pico-dollar per token.
        let value = format!("{whole}{places:0<PLACES$}").parse::<u64>().ok().filter(|&value| value <= MOST);
        value
            .map(Self)
            .ok_or_else(|| format!("`{text}` USD per million tokens cannot be right; the unit is one million tokens"))
    }
}

impl fmt::Display for Rate {
    /// USD per million tokens, without trailing zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, places) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if places == 0 {
            return write!(f, "{whole}");
        }
        let places = format!("{places:0>PLACES$}");
        write!(f, "{whole}.{}", places.trim_end_matches('0'))
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Rate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("USD per million tokens as a decimal string such as \"1.25\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Rate, E> {
                Rate::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Rate;

    #[test]
    fn one_dollar_per_million_tokens_is_a_million_pico_dollars_per_token() {
        for (text, pico) in [("1", 1_000_000), ("0.10", 100_000), ("0.000001", 1), ("18.75", 18_750_000), ("0", 0)] {
            assert_eq!(Rate::parse(text).unwrap().pico_dollars(), pico, "{text}");
        }
    }

    #[test]
    fn what_is_not_an_exact_price_is_refused() {
        for text in [
            "",
            ".",
            "1.",
            ".5",
            "-1",
            "-0",
            "+1",
            "1e3",
            "1,5",
            "0.0000001",
            "NaN",
            " 1",
            "1000001",
            "99999999999999999999",
        ] {
            assert!(Rate::parse(text).is_err(), "{text}");
        }
        assert!(Rate::parse("-0.5").unwrap_err().contains("negative"));
    }

    proptest! {
        #[test]
        fn printing_loses_nothing(pico in 0_u64..=1_000_000_000_000) {
            prop_assert_eq!(Rate::parse(&Rate(pico).to_string()), Ok(Rate(pico)));
        }
    }
}
