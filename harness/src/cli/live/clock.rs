//! The clock of live runs: the only place where they learn the time of day.

use std::time::{SystemTime, UNIX_EPOCH};

use bench_protocol::prices::Day;

/// Now, in UTC, `YYYY-MM-DDTHH:MM:SSZ`.
pub(in crate::cli) fn now() -> String {
    // A clock before 1970 is no clock.
    text(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// Today, in UTC.
///
/// # Errors
/// The clock shows a year that is none.
pub(in crate::cli) fn today() -> Result<Day, String> {
    Day::parse(&now()[..10])
}

fn text(unix: u64) -> String {
    let (year, month, day) = civil(unix / 86_400);
    let second = unix % 86_400;
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
}

/// `(year, month, day)` of the proleptic Gregorian calendar (Hinnant, 2013, `civil_from_days`), for days since 1970.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, of_year - (153 * shifted_month + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(text(0), "1970-01-01T00:00:00Z");
        assert_eq!(text(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(text(1_764_590_399), "2025-12-01T11:59:59Z");
        assert_eq!(text(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
