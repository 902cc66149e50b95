//! `JUnit`: what test dashboards read.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Case, Outcome};

/// The cases of one suite as a document.
pub(super) fn render(tool: &str, suite: &str, cases: &[Case]) -> anyhow::Result<String> {
    let mut tests = TestSuite::new(suite);
    for case in cases {
        let mut status = match case.outcome {
            Outcome::Pass => TestCaseStatus::success(),
            Outcome::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
            Outcome::Open => TestCaseStatus::skipped(),
        };
        if case.outcome != Outcome::Pass {
            status.set_message(case.text.as_str());
        }
        let mut test = TestCase::new(case.name.as_str(), status);
        test.set_classname(tool);
        test.set_system_out(case.text.as_str());
        tests.add_test_case(test);
    }
    let mut report = Report::new(tool);
    report.add_test_suite(tests);
    Ok(report.to_string()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::ci::cases;

    #[test]
    fn the_junit_report_counts_and_escapes() {
        let text = render("bench verify", "r7k2", &cases()).unwrap();
        assert!(text.contains(r#"tests="3" skipped="1""#) && text.contains(r#"failures="1""#), "{text}");
        assert!(text.contains("&lt;b&gt;differs&lt;/b&gt;"), "{text}");
        assert!(text.contains(r#"<skipped message="inconclusive"/>"#), "{text}");
    }
}
