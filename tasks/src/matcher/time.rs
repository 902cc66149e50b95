//! Points in time and times of day.

/// The same point in time where both are RFC 3339 timestamps (`2026-03-01T09:00:00+01:00`), seconds left out meaning :00;
/// the same local time where both have no zone; else the same text. A date alone is not midnight: git reads it as that
/// date at the present time of day.
pub fn instant_equal(a: &str, b: &str) -> bool {
    match (instant(a), instant(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// The same 24-hour time of day where both are `H:MM` or `HH:MM`; else the same text.
pub fn clock_equal(a: &str, b: &str) -> bool {
    match (clock(a), clock(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// Minutes since midnight.
fn clock(text: &str) -> Option<u32> {
    let (hours, minutes) = text.split_once(':')?;
    if !(1..=2).contains(&hours.len()) {
        return None;
    }
    Some(digits(hours, hours.len(), 23)? * 60 + digits(minutes, 2, 59)?)
}

/// Whether a zone is given, seconds since 1970 (of the local clock without one), and the fraction's digits without
/// trailing zeros, so that no precision is lost.
fn instant(text: &str) -> Option<(bool, i64, &str)> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let has_seconds = rest.as_bytes().get(5) == Some(&b':');
    let (time, rest) = rest.split_at_checked(if has_seconds { 8 } else { 5 })?;

    let mut parts = date.split('-');
    let year = digits(parts.next()?, 4, 9999)?;
    let month = digits(parts.next()?, 2, 12)?;
    let day = digits(parts.next()?, 2, 31)?;
    if parts.next().is_some() || month == 0 || day == 0 || day > days_in(year, month) {
        return None;
    }
    let mut parts = time.split(':');
    let hour = digits(parts.next()?, 2, 23)?;
    let minute = digits(parts.next()?, 2, 59)?;
    // 60 is a leap second; it is the same instant as the next minute's start in every clock that has none.
    let second = parts.next().map_or(Some(0), |second| digits(second, 2, 60))?;

    let (fraction, zone) = match rest.strip_prefix('.').filter(|_| has_seconds) {
        Some(after) => {
            let end = after.find(|c: char| !c.is_ascii_digit()).filter(|&end| end > 0)?;
            (&after[..end], &after[end..])
        }
        None => ("", rest),
    };
    let offset = match zone {
        "" | "Z" | "z" => 0,
        _ => {
            let sign = if zone.starts_with('+') { 1 } else { -1 };
            let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
            sign * i64::from(digits(hours, 2, 23)? * 60 + digits(minutes, 2, 59)?)
        }
    };
    let minutes = days_since_1970(year, month, day) * 24 * 60 + i64::from(hour * 60 + minute) - offset;
    Some((!zone.is_empty(), minutes * 60 + i64::from(second), fraction.trim_end_matches('0')))
}

/// A number of exactly `width` ASCII digits, at most `max`.
fn digits(text: &str, width: usize, max: u32) -> Option<u32> {
    if text.len() != width || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|&number| number <= max)
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the Gregorian calendar (Howard Hinnant's `days_from_civil`, 2013).
fn days_since_1970(year: u32, month: u32, day: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((i64::from(month) + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instant_table() {
        for (a, b) in [
            ("2026-03-01T09:00:00+01:00", "2026-03-01T08:00:00Z"),
            ("2026-03-01T08:00:00Z", "2026-03-01t08:00:00.000z"),
            ("2026-03-01 08:00:00-00:00", "2026-03-01T08:00:00Z"),
            ("2026-01-01T00:30:00+05:45", "2025-12-31T18:45:00Z"),
            ("2024-02-29T23:59:59.5-00:30", "2024-03-01T00:29:59.50Z"),
            ("2026-03-01T09:00Z", "2026-03-01T10:00:00+01:00"),
            ("2026-03-01T09:00:00", "2026-03-01 09:00"),
            ("yesterday", "yesterday"),
        ] {
            assert!(instant_equal(a, b) && instant_equal(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("2026-03-01T09:00:00Z", "2026-03-01T09:00:01Z"),
            ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00"),
            ("2026-03-01T00:00:00", "2026-03-01"),
            ("2026-03-01T09:00.5", "2026-03-01T09:00"),
            ("2026-03-01T09", "2026-03-01T09:00"),
            ("2025-02-29T00:00:00Z", "2025-03-01T00:00:00Z"),
            ("2026-03-01T09:00:00.1Z", "2026-03-01T09:00:00.10000000001Z"),
            ("2026-03-01T09:00:00.Z", "2026-03-01T09:00:00Z"),
            ("2026-03-01T09:00:00+0100", "2026-03-01T08:00:00Z"),
            ("2026-03-01T24:00:00Z", "2026-03-02T00:00:00Z"),
        ] {
            assert!(!instant_equal(a, b), "{a} {b}");
        }
        assert_eq!(instant("1970-01-01T00:00:00Z"), Some((true, 0, "")));
        assert_eq!(instant("2001-09-09T01:46:40Z"), Some((true, 1_000_000_000, "")));
    }

    #[test]
    fn clock_table() {
        for (a, b) in [("9:05", "09:05"), ("00:00", "0:00"), ("noon", "noon")] {
            assert!(clock_equal(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("9:05", "21:05"),
            ("09:05", "09:05:00"),
            ("24:00", "0:00"),
            ("9:5", "9:05"),
            ("009:05", "9:05"),
            ("9:05 am", "9:05"),
        ] {
            assert!(!clock_equal(a, b), "{a} {b}");
        }
    }
}
