//! A step summary: Markdown that a CI shows beside a job.

use std::fmt::Write as _;

use super::{Case, Outcome};

/// The cases of one suite as a table under a heading.
pub(super) fn render(tool: &str, suite: &str, cases: &[Case]) -> String {
    let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count();
    let verdict = match (count(Outcome::Fail), count(Outcome::Open)) {
        (0, 0) => format!("all {} pass", cases.len()),
        (0, open) => format!("{} of {} pass, {open} open, none fails", cases.len() - open, cases.len()),
        (failed, _) => format!("{failed} of {} fail", cases.len()),
    };
    let mut text = format!("### {} `{}`: {verdict}\n\n| | what | found |\n|---|---|---|\n", tool, cell(suite));
    for case in cases {
        let word = match case.outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "**FAIL**",
            Outcome::Open => "open",
        };
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
    use crate::cli::ci::cases;

    #[test]
    fn the_summary_is_a_table_whatever_the_evidence_holds() {
        let expected = "### bench verify `r7k2`: 1 of 3 fail\n\n| | what | found |\n|---|---|---|\n\
                        | pass | lock | equal |\n\
                        | **FAIL** | episodes | task t1 \\| &lt;b>differs&lt;/b> here |\n\
                        | open | L2 | inconclusive |\n\n";
        assert_eq!(render("bench verify", "r7k2", &cases()), expected);
    }

    #[test]
    fn what_nobody_required_is_open_and_no_failure() {
        let mut cases = cases();
        cases.remove(1);
        assert!(render("bench", "r", &cases).starts_with("### bench `r`: 1 of 2 pass, 1 open, none fails\n"));
        cases.pop();
        assert!(render("bench", "r", &cases).starts_with("### bench `r`: all 1 pass\n"));
    }
}
