//! A comparison for people: tables of at most 100 columns, then what was found.

use std::fmt::Write as _;

use bench_results::{
    record::Weight,
    report::text::line,
    table::{
        cell::{clipped, dash, signed, status_word},
        grid::{Head, number, render, width, word},
    },
};

use super::rows::{Against, ArmRow, Comparison, Pair};

/// What a comparison with a scripted model is evidence of.
pub const SCRIPTED: &str = "scripted model: shows mechanics and cost, not accuracy of a real model";

/// Losses by tool that a line names.
const LOSSES: usize = 4;
/// Pairs of arms that are printed; the JSON document has all.
const PAIRS: usize = 12;
/// Adjusted p below which a pair is printed.
const PAIR_LEVEL: f64 = 0.05;
/// Letters of a name that are always printed.
const NAME: usize = 22;
/// Columns that a table takes at most.
const WIDTH: usize = 100;

/// Heads, each with a shorter one for tables that would be too wide.
const ACCURACY: &[(Head, &str)] = &[
    (word("arm"), "arm"),
    (number("sel %"), "sel"),
    (number("args %"), "args"),
    (number("difference, CI"), "difference, CI"),
    (number("loss/gain"), "-/+"),
    (number("p Holm"), "p"),
    (number("faults"), "flt"),
    (word("verdict"), "verdict"),
];

const COST: &[(Head, &str)] = &[
    (word("arm"), "arm"),
    (number("start"), "start"),
    (number("decide"), "decide"),
    (number("trips"), "trips"),
    (number("bad/k"), "bad"),
    (number("$/k"), "$/k"),
    (number("x raw, CI"), "x raw, CI"),
    (number("warm $/k"), "warm"),
    (number("$/k solved"), "solved"),
    (number("ms"), "ms"),
];

const PARETO: &[(Head, &str)] =
    &[(word("arm"), "arm"), (number("$/k"), "$/k"), (number("args %"), "args"), (word("beaten by"), "beaten by")];

/// All of it.
pub fn text(comparison: &Comparison) -> String {
    let mut out = format!(
        "{} tasks over {} of {} servers and {} that no tool serves; model `{}`.\n{}.\n",
        comparison.tasks,
        comparison.task_servers,
        comparison.servers,
        comparison.abstain_tasks,
        comparison.mock,
        comparison.says
    );
    // Writing to a string cannot fail, here and below.
    if let Some(model) = &comparison.embedder {
        let _ = writeln!(out, "Arms that end in -emb-reimpl search by {model}; all others by words.");
    }
    out.push('\n');
    let rows = |row: fn(&ArmRow) -> Vec<String>| comparison.arms.iter().map(row).collect::<Vec<_>>();
    let mut accuracy = rows(accuracy);
    accuracy.extend(comparison.not_started.iter().map(|absent| not_started(&absent.arm)));
    out.push_str(&fitted(ACCURACY, accuracy));
    let _ = writeln!(
        out,
        "loss/gain (-/+): of {} pairs, those that only raw and those that only the arm had right;\n\
         p Holm: of a loss of the margin or more against raw, corrected for all that are tested;\n\
         faults (flt): episodes that the arm itself ended; shown, not driven: measured and not\n\
         tested, why stands under Found.\n",
        comparison.tasks
    );
    out.push_str(&fitted(COST, rows(cost)));
    let _ = writeln!(
        out,
        "\
         start: o200k tokens shown with the first request; decide: tokens of the deciding request;\n\
         bad/k: invalid upstream calls per 1,000 tasks; $/k: dollars per 1,000 tasks, nothing cached,\n\
         at the prices of {} ({}); four bytes are a token;\n\
         warm: the prefix read from a cache; solved: per 1,000 right ones; ms: a call's median.",
        comparison.priced_as.0, comparison.priced_as.1
    );
    let points: Vec<Vec<String>> = comparison
        .pareto
        .iter()
        .map(|point| {
            vec![
                point.arm.clone(),
                format!("{:.2}", point.dollars),
                format!("{:.1}", point.arguments_percent),
                point.beaten_by.clone().unwrap_or_else(|| "nobody: on the front".to_owned()),
            ]
        })
        .collect();
    let _ = write!(out, "\nAccuracy against dollars, ranked arms, cheapest first:\n{}", fitted(PARETO, points));
    losses(comparison, &mut out);
    pairs(comparison, &mut out);
    findings(comparison, &mut out);
    out
}

/// A table that gives way where it would be too wide: first the heads, then the longest names.
fn fitted(heads: &[(Head, &'static str)], mut rows: Vec<Vec<String>>) -> String {
    let is_wide = |heads: &[Head], rows: &[Vec<String>]| width(heads, rows).saturating_sub(WIDTH);
    let mut shown: Vec<Head> = heads.iter().map(|(head, _)| *head).collect();
    if is_wide(&shown, &rows) > 0 {
        shown = heads.iter().map(|(head, short)| Head { text: short, ..*head }).collect();
    }
    for column in (0..shown.len()).filter(|column| !shown[*column].right) {
        let over = is_wide(&shown, &rows);
        let longest = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let room = longest.saturating_sub(over).max(NAME);
        rows.iter_mut().for_each(|row| row[column] = clipped(&row[column], room));
    }
    render(&shown, &rows)
}

/// The row of an arm that did not start: there is nothing to measure.
fn not_started(arm: &str) -> Vec<String> {
    let numbers = vec![dash(); ACCURACY.len() - 2];
    [vec![arm.to_owned()], numbers, vec!["did not start".to_owned()]].concat()
}

fn accuracy(row: &ArmRow) -> Vec<String> {
    let mut cells =
        vec![row.arm.clone(), format!("{:.1}", row.selection.percent()), format!("{:.1}", row.arguments.percent())];
    cells.extend(match &row.against {
        None => [dash(), dash()],
        Some(Against { difference, interval, loss, gain }) => [
            format!("{} [{}, {}]", points(*difference), points(interval.lower), points(interval.upper)),
            format!("{loss}/{gain}"),
        ],
    });
    cells.push(row.test.as_ref().and_then(|test| test.p_holm).map_or_else(dash, |p| format!("{p:.3}")));
    cells.push(row.arm_faults.to_string());
    let verdict = match (&row.test, &row.against) {
        (Some(test), _) => status_word(test.status, Weight::Scripted),
        (None, Some(_)) if row.not_driven => "not driven".to_owned(),
        (None, Some(_)) => "shown".to_owned(),
        (None, None) => "reference".to_owned(),
    };
    cells.push(verdict);
    cells
}

fn cost(row: &ArmRow) -> Vec<String> {
    if row.given_up() {
        return [vec![row.arm.clone()], vec![dash(); COST.len() - 1]].concat();
    }
    let dollars = &row.dollars_uncached;
    let ratio = match dollars.ratio.interval {
        Some(interval) if row.against.is_some() => {
            format!("{:.2} [{:.2}, {:.2}]", dollars.ratio.point, interval.lower, interval.upper)
        }
        _ => format!("{:.2}", dollars.ratio.point),
    };
    vec![
        row.arm.clone(),
        row.tokens_at_start.map_or_else(dash, |tokens| format!("{tokens:.0}")),
        row.tokens_at_decision.map_or_else(dash, |tokens| format!("{tokens:.0}")),
        format!("{:.2}", row.extra_trips),
        format!("{:.0}", row.invalid_calls_per_thousand),
        format!("{:.2}", dollars.per_thousand_tasks),
        ratio,
        format!("{:.2}", row.dollars_warm.per_thousand_tasks),
        dollars.per_solved_task.value.map_or_else(dash, |value| format!("{:.2}", 1000.0 * value)),
        row.external.as_ref().map_or_else(dash, |external| format!("{:.1}", external.timing.call.p50_ms)),
    ]
}

fn losses(comparison: &Comparison, out: &mut String) {
    let with: Vec<&ArmRow> = comparison.arms.iter().filter(|row| !row.losses.is_empty()).collect();
    if with.is_empty() {
        return;
    }
    out.push_str("\nLosses by tool, on tool and arguments:\n");
    for row in with {
        let shown: Vec<String> =
            row.losses.iter().take(LOSSES).map(|tool| format!("{} {}/{}", tool.tool, tool.loss, tool.tasks)).collect();
        let more = row.losses.len().saturating_sub(LOSSES);
        let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
        let _ = writeln!(out, "  {}: {}{rest}", row.arm, shown.join(", "));
    }
}

fn pairs(comparison: &Comparison, out: &mut String) {
    let mut apart: Vec<&Pair> = comparison.exploratory_pairs.iter().filter(|pair| pair.p_holm <= PAIR_LEVEL).collect();
    // By p, then in the order of the arms: sorting is stable.
    apart.sort_by(|a, b| a.p.total_cmp(&b.p));
    let (all, told) = (comparison.exploratory_pairs.len(), apart.len());
    let _ = writeln!(
        out,
        "\nRanked arms, each against each, exploratory: {told} of {all} pairs differ (McNemar, Holm, 0.05)."
    );
    for pair in apart.iter().take(PAIRS) {
        let _ = writeln!(
            out,
            "  {} against {}: right alone on {} tasks, the other on {}, p {:.1e}",
            pair.arm, pair.against, pair.gain, pair.loss, pair.p_holm
        );
    }
    if told > PAIRS {
        let _ = writeln!(out, "  and {} more, in the JSON document", told - PAIRS);
    }
}

fn findings(comparison: &Comparison, out: &mut String) {
    let mut lines = Vec::new();
    for row in &comparison.arms {
        lines.extend(row.objections.iter().map(|why| format!("  {}: its author would object: {why}", row.arm)));
        if row.missing > 0 {
            lines.push(format!(
                "  {}: {} episodes have no outcome: the harness failed, not the arm",
                row.arm, row.missing
            ));
        }
        if row.not_driven {
            lines.push(format!(
                "  {}: not driven: the scripted model decided nothing through it; it knows the tools of a server by their own \
                 names, and other shapes by the names of their parameters (docs/compressors.md)",
                row.arm
            ));
        }
        let Some(external) = &row.external else { continue };
        for (kind, finding) in &external.findings {
            lines.push(format!("  {}: {kind} × {}: {}", row.arm, finding.times, finding.first));
        }
        for down in &external.not_started {
            lines.push(format!("  {}: did not start for {}: {}", row.arm, down.servers.join(", "), down.why));
        }
        if let Some(why) = &external.given_up {
            lines.push(format!("  {}: {why}", row.arm));
        }
        if let Some(note) = &external.note {
            lines.push(format!("  {}: note: {note}", row.arm));
        }
    }
    lines.extend(comparison.not_started.iter().map(|down| format!("  {}: did not start: {}", down.arm, down.why)));
    lines.extend(comparison.absent.iter().map(|absent| format!("  {}: absent: {}", absent.arm, absent.why)));
    if !lines.is_empty() {
        // What a process says of itself starts no line of its own.
        let lines: Vec<_> = lines.iter().map(|text| line(text)).collect();
        let _ = writeln!(out, "\nFound:\n{}", lines.join("\n"));
    }
}

/// Percentage points with their sign; zero has none.
fn points(share: f64) -> String {
    signed(100.0 * share)
}
