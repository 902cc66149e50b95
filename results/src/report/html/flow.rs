//! The flow of episodes.

use maud::{Markup, html};

use super::parts::{families, family, mark, scroll};
use crate::{
    report::{FlowRow, Origin, Report, text::percent},
    table::group,
};

/// A diagram per family, and a row per arm.
pub(super) fn section(id: &str, report: &Report) -> Markup {
    let closed = report.outcomes.is_some();
    html! {
        section id=(id) {
            h2 { "Flow " (mark(Origin::Measured)) }
            @for name in families(report.flow.iter().map(|row| row.family.as_str())) {
                @let rows: Vec<&FlowRow> = report.flow.iter().filter(|row| row.family == name).collect();
                h3 { (family(name)) }
                (diagram(&rows, closed))
                (scroll("Flow by arm", &table(&rows, closed)))
            }
        }
    }
}

fn diagram(rows: &[&FlowRow], closed: bool) -> Markup {
    let sum = |part: fn(&FlowRow) -> u64| rows.iter().map(|row| part(row)).sum::<u64>();
    let (planned, run, missing) = (sum(|row| row.planned), sum(|row| row.run), sum(|row| row.missing));
    let mut reasons: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for (why, count) in rows.iter().flat_map(|row| &row.missing_by_reason) {
        *reasons.entry(why).or_default() += count;
    }
    html! {
        ol.flow {
            li { b { (group(planned)) } " episodes planned" small { (rows.len()) " arms, each task under every one that runs it" } }
            li {
                b { (group(run)) } " run"
                @if run < planned { small { (group(planned.saturating_sub(run))) " not run" } }
            }
            li.aside {
                b { (group(missing)) } " without an outcome" small { (percent(missing, run)) " of those run: provider or harness failed" }
                @if !reasons.is_empty() { ul { @for (why, count) in &reasons { li { (group(*count)) ": " bdi { (why) } } } } }
            }
            @if closed {
                li { b { (group(sum(|row| row.scored))) } " scored" small { "missing outcomes enter the primary analysis in the worst case" } }
            } @else {
                li { b { "0" } " scored" small { "scoring happens when the run is closed" } }
            }
        }
    }
}

fn table(rows: &[&FlowRow], closed: bool) -> Markup {
    let ends: Vec<&str> = families(rows.iter().flat_map(|row| row.ends.keys().map(String::as_str)));
    html! {
        table {
            thead {
                tr {
                    th { "arm" } th.num { "planned" } th.num { "run" } th.num { "missing" }
                    @if closed { th.num { "scored" } @for end in &ends { th.num { (end) } } }
                }
            }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" { bdi { (row.arm) } }
                        td.num { (group(row.planned)) } td.num { (group(row.run)) } td.num { (group(row.missing)) }
                        @if closed {
                            td.num { (group(row.scored)) }
                            @for end in &ends { td.num { (row.ends.get(*end).map_or_else(|| "–".to_owned(), |count| group(*count))) } }
                        }
                    }
                }
            }
        }
    }
}
