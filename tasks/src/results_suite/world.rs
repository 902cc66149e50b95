//! Invented people, repositories, files, commits and moments.

use super::{draw::Draw, pools::Pools};

/// 2025-01-01T00:00:00Z in Unix seconds: no invented record is older.
const EPOCH: u64 = 1_735_689_600;
const DAY: u64 = 86_400;

/// What a recipe draws from.
#[derive(Debug)]
pub(super) struct World<'p> {
    /// Random draws.
    pub(super) draw: Draw,
    /// Word lists.
    pub(super) pools: &'p Pools,
}

/// A fictional person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) login: String,
    pub(super) email: String,
    pub(super) id: u64,
}

/// A fictional repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Repo {
    pub(super) owner: String,
    pub(super) name: String,
}

impl Repo {
    /// `owner/name`.
    pub(super) fn full(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// The folder it is cloned into.
    pub(super) fn path(&self) -> String {
        format!("/srv/git/{}", self.full())
    }
}

impl World<'_> {
    /// `count` people whose names, logins and addresses all differ.
    pub(super) fn people(&mut self, count: usize) -> Vec<Person> {
        let pools = self.pools;
        let names =
            self.draw.distinct(count, |draw| (draw.pick(&pools.first).to_owned(), draw.pick(&pools.last).to_owned()));
        let ids = self.draw.numbers(count, 1_000_000, 99_999_999);
        let host = self.draw.pick(&pools.owners);
        names
            .into_iter()
            .zip(ids)
            .map(|((first, last), id)| {
                let login = format!("{}{}", first.to_lowercase(), last.to_lowercase());
                let email = format!("{}.{}@{host}.example", first.to_lowercase(), last.to_lowercase());
                Person { name: format!("{first} {last}"), login, email, id }
            })
            .collect()
    }

    /// A repository.
    pub(super) fn repo(&mut self) -> Repo {
        let pools = self.pools;
        Repo { owner: self.draw.pick(&pools.owners).to_owned(), name: self.draw.pick(&pools.repos).to_owned() }
    }

    /// `count` different commit subjects, such as `perf: cache tenant lookup`.
    pub(super) fn subjects(&mut self, count: usize) -> Vec<String> {
        let pools = self.pools;
        self.draw.distinct(count, |draw| {
            let (kind, verb) = (draw.pick(&pools.types), draw.pick(&pools.verbs));
            format!("{kind}: {verb} {}", draw.pick(&pools.objects))
        })
    }

    /// `count` different titles of issues or pull requests.
    pub(super) fn titles(&mut self, count: usize) -> Vec<String> {
        let pools = self.pools;
        self.draw.distinct(count, |draw| {
            let (verb, object) = (draw.pick(&pools.verbs), draw.pick(&pools.objects));
            let tail = draw.pick(&pools.sections);
            let mut chars = verb.chars();
            let head: String = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            format!("{head}{} {object} in {tail}", chars.as_str())
        })
    }

    /// `count` different file paths.
    pub(super) fn paths(&mut self, count: usize) -> Vec<String> {
        let pools = self.pools;
        self.draw.distinct(count, |draw| {
            let (dir, stem) = (draw.pick(&pools.dirs), draw.pick(&pools.stems));
            let (suffix, extension) = (draw.pick(&pools.suffixes), draw.pick(&pools.extensions));
            format!("{dir}/{stem}{suffix}.{extension}")
        })
    }

    /// `count` different prose sentences; none holds a number.
    pub(super) fn prose(&mut self, count: usize) -> Vec<String> {
        let pools = self.pools;
        self.draw.entries(count, &pools.prose).into_iter().map(str::to_owned).collect()
    }

    /// `count` commit hashes that differ within their first seven digits.
    pub(super) fn hashes(&mut self, count: usize) -> Vec<String> {
        let heads = self.draw.distinct(count, |draw| draw.hex(7));
        heads.into_iter().map(|head| head + &self.draw.hex(33)).collect()
    }

    /// A moment in working hours, 2025-01-01 to 2026-08-23, in Unix seconds.
    pub(super) fn moment(&mut self) -> u64 {
        EPOCH + self.draw.between(0, 599) * DAY + self.draw.between(7 * 3600, 19 * 3600)
    }

    /// `count` moments on `count` different days within `days` days, latest first.
    pub(super) fn moments(&mut self, count: usize, days: u64) -> Vec<u64> {
        let first = self.draw.between(0, 599 - days);
        let mut on: Vec<u64> = self.draw.numbers(count, 0, days);
        on.sort_unstable_by(|a, b| b.cmp(a));
        on.into_iter().map(|day| EPOCH + (first + day) * DAY + self.draw.between(7 * 3600, 19 * 3600)).collect()
    }

    /// `count` different tracker keys, such as `OPS-4312`.
    pub(super) fn tickets(&mut self, count: usize) -> Vec<String> {
        self.draw.numbers(count, 1000, 9999).into_iter().map(|number| format!("OPS-{number}")).collect()
    }
}

/// `(year, month, day)` of the proleptic Gregorian calendar (Hinnant, 2013, `civil_from_days`).
fn civil(unix: u64) -> (u64, u64, u64) {
    let days = unix / DAY + 719_468;
    let era_day = days % 146_097;
    let year_of_era = (era_day - era_day / 1460 + era_day / 36_524 - era_day / 146_096) / 365;
    let day_of_year = era_day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + days / 146_097 * 400 + u64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// `2026-03-04`.
pub(super) fn day(unix: u64) -> String {
    let (year, month, day) = civil(unix);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `17:26:19`.
fn clock(unix: u64) -> String {
    let second = unix % DAY;
    format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

/// `2026-03-04 17:26:19+00:00`, as Python prints a moment.
pub(super) fn python_time(unix: u64) -> String {
    format!("{} {}+00:00", day(unix), clock(unix))
}

/// `2026-03-04T17:26:19Z`.
pub(super) fn iso(unix: u64) -> String {
    format!("{}T{}Z", day(unix), clock(unix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_print_as_the_calendar_says() {
        assert_eq!(iso(1_735_689_600), "2025-01-01T00:00:00Z");
        assert_eq!(python_time(1_772_645_179), "2026-03-04 17:26:19+00:00");
        assert_eq!(day(1_709_164_800), "2024-02-29");
    }
}
