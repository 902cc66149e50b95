//! A calendar day, as text that sorts.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// A day, `YYYY-MM-DD`. Sorts by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Day(String);

impl Day {
    /// Reads `YYYY-MM-DD`; the day must exist in the Gregorian calendar.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |range: std::ops::Range<usize>| -> Option<u32> {
            let part = text.get(range)?;
            part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?
        };
        let shaped = text.len() == 10 && text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
        match (shaped, number(0..4), number(5..7), number(8..10)) {
            (true, Some(year), Some(month), Some(day)) if day >= 1 && day <= days_in(year, month) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(format!("`{text}` is not a day such as 2026-11-29")),
        }
    }
}

/// Days of a month; none for a month that does not exist.
fn days_in(year: u32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400) => 29,
        2 => 28,
        _ => 0,
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Day;

    #[test]
    fn only_days_that_exist_are_days() {
        for text in ["2026-11-29", "2024-02-29", "2000-02-29", "2026-12-31"] {
            assert!(Day::parse(text).is_ok(), "{text}");
        }
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-1-1",
            "29.11.2026",
            "2026-11-29T00",
            "２026-1-1",
        ] {
            assert!(Day::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn days_sort_by_time() {
        assert!(Day::parse("2026-09-30").unwrap() < Day::parse("2026-10-01").unwrap());
    }
}
