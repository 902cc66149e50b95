//! What a continuous integration reads: a `JUnit` report and a step summary.

use std::{
    fmt::Write as _,
    fs::{File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::args::CiArgs;
use crate::{cli::failure::Failure, exit};

/// One line of what is reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Case {
    /// Its name.
    pub(in crate::cli) name: String,
    /// Whether it passed.
    pub(in crate::cli) pass: bool,
    /// What was found.
    pub(in crate::cli) text: String,
}

/// The files, open before the work starts, so that one that cannot be written fails first.
#[derive(Debug, Default)]
pub(in crate::cli) struct Files {
    junit: Option<(PathBuf, File)>,
    summary: Option<(PathBuf, File)>,
}

impl CiArgs {
    /// Opens the files.
    pub(in crate::cli) fn open(&self) -> Result<Files, Failure> {
        let at = |path: &Path, error: std::io::Error| {
            Failure::new(exit::USAGE, anyhow::Error::new(error).context(path.display().to_string()))
        };
        let junit = self
            .junit
            .as_ref()
            .map(|path| Ok::<_, Failure>((path.clone(), File::create(path).map_err(|e| at(path, e))?)));
        let summary = self.summary.as_ref().map(|path| {
            // A step's summary is added to: other steps write to the same file.
            let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| at(path, error))?;
            Ok::<_, Failure>((path.clone(), file))
        });
        Ok(Files { junit: junit.transpose()?, summary: summary.transpose()? })
    }
}

impl Files {
    /// Writes the cases of a suite to whatever files there are.
    pub(in crate::cli) fn write(&mut self, tool: &str, suite: &str, cases: &[Case]) -> Result<(), Failure> {
        if let Some((path, file)) = &mut self.junit {
            let text = junit(tool, suite, cases).context("writing the JUnit report")?;
            file.write_all(text.as_bytes()).with_context(|| path.display().to_string())?;
        }
        if let Some((path, file)) = &mut self.summary {
            file.write_all(markdown(tool, suite, cases).as_bytes()).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

fn junit(tool: &str, suite: &str, cases: &[Case]) -> anyhow::Result<String> {
    let mut tests = TestSuite::new(suite);
    for case in cases {
        let status = if case.pass {
            TestCaseStatus::success()
        } else {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(case.text.as_str());
            status
        };
        let mut test = TestCase::new(case.name.as_str(), status);
        test.set_classname(tool);
        test.set_system_out(case.text.as_str());
        tests.add_test_case(test);
    }
    let mut report = Report::new(tool);
    report.add_test_suite(tests);
    Ok(report.to_string()?)
}

fn markdown(tool: &str, suite: &str, cases: &[Case]) -> String {
    let failed = cases.iter().filter(|case| !case.pass).count();
    let verdict =
        if failed == 0 { format!("all {} pass", cases.len()) } else { format!("{failed} of {} fail", cases.len()) };
    let mut text = format!("### {} `{}`: {verdict}\n\n| | check | found |\n|---|---|---|\n", tool, cell(suite));
    for case in cases {
        let word = if case.pass { "pass" } else { "**FAIL**" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {word} | {} | {} |", cell(&case.name), cell(&case.text));
    }
    text.push('\n');
    text
}

/// Text that stays within a cell, whatever it holds.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' => out.push_str("\\|"),
            '<' => out.push_str("&lt;"),
            '\n' | '\r' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> Vec<Case> {
        let case = |name: &str, pass, text: &str| Case { name: name.to_owned(), pass, text: text.to_owned() };
        vec![case("lock", true, "equal"), case("episodes", false, "task t1 | <b>differs</b>\nhere")]
    }

    #[test]
    fn the_summary_is_a_table_whatever_the_evidence_holds() {
        let expected = "### bench verify `r7k2`: 1 of 2 fail\n\n| | check | found |\n|---|---|---|\n\
                        | pass | lock | equal |\n\
                        | **FAIL** | episodes | task t1 \\| &lt;b>differs&lt;/b> here |\n\n";
        assert_eq!(markdown("bench verify", "r7k2", &cases()), expected);
    }

    #[test]
    fn the_junit_report_counts_and_escapes() {
        let text = junit("bench verify", "r7k2", &cases()).unwrap();
        assert!(text.contains(r#"tests="2" skipped="0" failures="1""#), "{text}");
        assert!(text.contains("&lt;b&gt;differs&lt;/b&gt;"), "{text}");
    }
}
