//! Markdown, short enough for the summary of a CI job.

use std::fmt::Write as _;

use super::{
    CheckOutcome, Report, Trust,
    effects::EffectRow,
    text::{percent, points},
};
use crate::table::{group, signed};

/// Foreign text in a cell or a sentence: no markup of Markdown or HTML is left in it, nor a mention.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// A report as Markdown.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = write(report, &mut out);
    out
}

fn write(report: &Report, out: &mut String) -> std::fmt::Result {
    let run = &report.run;
    writeln!(out, "## bench: run {}\n", plain(&run.id))?;
    match report.standing.trust {
        Trust::Refuted => writeln!(out, "> **This record does not verify; nothing here is to be relied on.**\n")?,
        Trust::Unverified if report.outcomes.is_some() => {
            writeln!(out, "> **Not verified: this repeats what the record says.**\n")?;
        }
        Trust::Verified | Trust::Unverified => {}
    }
    if let Some(text) = crate::table::caution(run.weight) {
        writeln!(out, "> **{text}**\n")?;
    }
    let Some(outcomes) = &report.outcomes else {
        writeln!(out, "The run is open: nothing is scored before it is closed.\n")?;
        return flow(report, out);
    };
    writeln!(out, "| level | verdict | tool-robust |\n|---|---|---|")?;
    for row in &outcomes.verdicts {
        let robust = if row.tool_robust { "yes" } else { "no" };
        writeln!(out, "| {} | **{}** | {robust} |", plain(&row.arm), plain(&row.word))?;
    }
    writeln!(out)?;
    for row in &outcomes.verdicts {
        writeln!(out, "- {}", plain(&row.sentence))?;
    }
    for remark in &outcomes.remarks {
        writeln!(out, "- {}", plain(remark))?;
    }
    writeln!(
        out,
        "\n### Effects\n\n| arm | endpoint | n | difference | interval | loss | gain |\n|---|---|--:|--:|---|--:|--:|"
    )?;
    for row in &outcomes.effects {
        effect(row, out)?;
    }
    writeln!(out, "\n### Controls\n\n| control | demand | showed |\n|---|---|---|")?;
    for row in &outcomes.controls {
        writeln!(out, "| {} | {} | **{}** |", plain(&row.arm), plain(&row.demand), plain(&row.word))?;
    }
    writeln!(out)?;
    flow(report, out)?;
    if !report.standing.checks.is_empty() {
        let of = |outcome| report.standing.checks.iter().filter(move |check| check.outcome == outcome);
        let (all, passed) = (report.standing.checks.len(), of(CheckOutcome::Pass).count());
        writeln!(out, "\n### Verification\n\n{passed} of {all} checks pass.")?;
        for check in of(CheckOutcome::Fail) {
            writeln!(out, "- **{}** fails: {}", plain(&check.name), plain(&check.evidence))?;
        }
        for check in of(CheckOutcome::Note) {
            writeln!(out, "- {}: {}", plain(&check.name), plain(&check.evidence))?;
        }
    }
    writeln!(out, "\n### Limits\n")?;
    outcomes.limits.iter().try_for_each(|limit| writeln!(out, "- {}", plain(limit)))
}

fn effect(row: &EffectRow, out: &mut String) -> std::fmt::Result {
    writeln!(
        out,
        "| {} | {} | {} | {} | {} to {} | {} | {} |",
        plain(&row.arm),
        plain(&row.endpoint),
        group(row.n),
        signed(100.0 * row.difference.value()),
        points(&row.interval.lower),
        points(&row.interval.upper),
        group(row.loss),
        group(row.gain)
    )
}

fn flow(report: &Report, out: &mut String) -> std::fmt::Result {
    writeln!(out, "### Flow\n\n| arm | planned | run | missing | scored |\n|---|--:|--:|--:|--:|")?;
    for row in &report.flow {
        let share = if row.missing > 0 { format!(" ({})", percent(row.missing, row.run)) } else { String::new() };
        writeln!(
            out,
            "| {} | {} | {} | {}{share} | {} |",
            plain(&row.arm),
            group(row.planned),
            group(row.run),
            group(row.missing),
            group(row.scored)
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    #[test]
    fn a_small_run_reads_like_this() {
        insta::assert_snapshot!(render(&fixture::run(200, true).report()));
    }

    #[test]
    fn an_open_run_shows_its_flow_and_nothing_else() {
        let text = render(&fixture::run(200, false).report());
        assert!(text.contains("The run is open") && text.contains("### Flow"), "{text}");
        assert!(!text.contains("difference") && !text.contains("verdict"), "{text}");
    }

    #[test]
    fn markup_and_mentions_of_strangers_are_text() {
        assert_eq!(plain("|<b>@x`*\n"), "\\|&lt;b&gt;&#64;x\\`\\* ");
    }
}
