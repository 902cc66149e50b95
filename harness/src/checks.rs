//! What a verification found: named checks, each with its evidence.

use serde::Serialize;

use crate::exit;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// What can be recomputed was, and agrees.
    Pass,
    /// Nothing disagrees, but something that a sceptic wants is not there. `--strict` fails it.
    Note,
    /// It does not agree.
    Fail,
}

impl Outcome {
    /// As printed, four letters wide.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Note => "note",
            Self::Fail => "FAIL",
        }
    }
}

/// One named check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// How it came out.
    pub outcome: Outcome,
    /// What was compared, or what differs.
    pub evidence: String,
    /// Exit code of its kind of failure, 40 to 49.
    pub code: u8,
}

/// What a check says: `Ok` with what was compared, `Err` with what differs.
pub(crate) type Found = Result<String, String>;

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The run.
    pub run: String,
    /// All checks that could be made, in order.
    pub checks: Vec<Check>,
    /// What no verification of a record can show.
    pub not_shown: Vec<&'static str>,
}

/// The check that recomputes the certificate.
pub(crate) const CERTIFICATE: &str = "certificate";

/// The limits of every verification.
const NOT_SHOWN: [&str; 3] = [
    "that the model really sent these responses: a record proves what follows from them, not where they came from",
    "that no other run was made and kept back: the ledger binds only from the day on which its head was published",
    "who ran it, unless a signature is checked against a key that you trust; a signature proves who and integrity, not truth",
];

impl Report {
    /// An empty report on a run that is called so.
    pub(crate) fn new(run: String) -> Self {
        Self { run, checks: Vec::new(), not_shown: NOT_SHOWN.to_vec() }
    }

    /// Exit code: of the first check that failed; with `strict` a note is a failure too.
    pub fn code(&self, strict: bool) -> u8 {
        self.checks.iter().find(|check| failed(check, strict)).map_or(exit::OK, |check| check.code)
    }

    /// Checks that failed; with `strict` notes are among them.
    pub fn failures(&self, strict: bool) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| failed(check, strict))
    }

    /// Checks that are notes.
    pub fn notes(&self) -> usize {
        self.checks.iter().filter(|check| check.outcome == Outcome::Note).count()
    }

    /// The outcome in a line.
    pub fn headline(&self, strict: bool) -> String {
        let (all, failed, notes) = (self.checks.len(), self.failures(strict).count(), self.notes());
        match (failed, notes) {
            (0, _) if !self.recomputed() => {
                format!("not recomputed: catalogs are withheld; {} of {all} checks pass, none fails", all - notes)
            }
            (0, 0) => format!("verified: all {all} checks pass"),
            (0, _) => format!("verified: {} of {all} checks pass, {notes} noted, none fails", all - notes),
            _ => format!("not verified: {failed} of {all} checks fail"),
        }
    }

    /// Whether the certificate was recomputed from the record's own responses, and is equal: what a verdict or a second
    /// signature rests on. A record that withholds its responses may pass every check that is left without it.
    pub fn recomputed(&self) -> bool {
        self.checks.iter().any(|check| check.name == CERTIFICATE && check.outcome == Outcome::Pass)
    }

    pub(crate) fn add(&mut self, name: &'static str, code: u8, found: Found) {
        let (outcome, evidence) = match found {
            Ok(evidence) => (Outcome::Pass, evidence),
            Err(evidence) => (Outcome::Fail, evidence),
        };
        self.checks.push(Check { name, outcome, evidence, code });
    }

    pub(crate) fn note(&mut self, name: &'static str, code: u8, evidence: impl Into<String>) {
        self.checks.push(Check { name, outcome: Outcome::Note, evidence: evidence.into(), code });
    }
}

fn failed(check: &Check, strict: bool) -> bool {
    check.outcome == Outcome::Fail || strict && check.outcome == Outcome::Note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_decides_and_strict_takes_notes_for_failures() {
        let mut report = Report::new("r".to_owned());
        report.add("certificate adds up", 40, Ok("fine".to_owned()));
        assert!(!report.recomputed(), "adding up is less");
        assert!(report.headline(false).starts_with("not recomputed"), "{}", report.headline(false));
        report.note("b", 48, "not signed");
        assert_eq!((report.code(false), report.code(true), report.notes()), (exit::OK, 48, 1));
        report.add("c", 45, Err("missing".to_owned()));
        report.add("d", 44, Err("differs".to_owned()));
        assert_eq!((report.code(false), report.code(true)), (45, 48));
        assert_eq!(report.failures(false).count(), 2);
    }
}
