//! Effects with intervals, against the margin.

use maud::{Markup, PreEscaped, html};

use super::parts::{families, family, mark, scroll};
use crate::{
    report::{
        EffectRow, Origin, Outcomes, ReportError,
        plot::{NARROW, WIDE, forest, height},
        text::points,
    },
    table::{group, signed},
};

/// The figure, and the same numbers as a table.
pub(super) fn section(id: &str, outcomes: &Outcomes) -> Result<Markup, ReportError> {
    let mut figures = Vec::new();
    for name in families(outcomes.effects.iter().map(|row| row.family.as_str())) {
        let rows: Vec<&EffectRow> = outcomes.effects.iter().filter(|row| row.family == name).collect();
        figures.push((name, figure(name, &rows, &outcomes.margin)?, table(&rows)));
    }
    Ok(html! {
        section id=(id) {
            h2 { "Effects " (mark(Origin::Computed)) }
            p.lead {
                "Each arm against its reference, in percentage points, with the interval that decides. A level is shown not to be "
                "worse where its whole interval lies right of the dashed margin; shaded is what a level must exclude."
            }
            @for (name, figure, table) in &figures {
                h3 { (family(name)) }
                (figure)
                details { summary { "The same as a table, with the wider interval and other readings of missing outcomes" } (scroll("Effects", table)) }
            }
        }
    })
}

fn figure(name: &str, rows: &[&EffectRow], margin: &str) -> Result<Markup, ReportError> {
    let mut drawings = Vec::new();
    for (layout, class) in [(WIDE, "wide"), (NARROW, "narrow")] {
        if let Some(svg) = forest(rows, margin, layout)? {
            drawings.push((layout.width, height(rows.len()), class, svg));
        }
    }
    Ok(html! {
        figure.forest {
            @for (width, height, class, svg) in &drawings {
                svg.(class) role="img" viewBox={ "0 0 " (width) " " (height) }
                    aria-labelledby={ "t-" (name) "-" (class) " d-" (name) "-" (class) } {
                    title id={ "t-" (name) "-" (class) } { "Differences with intervals against the margin, " (family(name)) }
                    desc id={ "d-" (name) "-" (class) } { @for row in rows { (sentence(row)) " " } }
                    (PreEscaped(svg))
                }
            }
            figcaption {
                span.key.level aria-hidden="true" { "■" } " level "
                span.key.control aria-hidden="true" { "●" } " control "
                span.key.margin aria-hidden="true" { "┆" } " margin "
                "◂ goes on beyond the figure"
            }
        }
    })
}

fn sentence(row: &EffectRow) -> String {
    format!(
        "{}, {}: {} points, {} to {}.",
        row.arm,
        row.endpoint,
        signed(100.0 * row.difference.value()),
        points(&row.interval.lower),
        points(&row.interval.upper)
    )
}

fn table(rows: &[&EffectRow]) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th { "arm" } th { "against" } th { "endpoint" } th.num { "n" } th.num { "loss" } th.num { "gain" } th.num { "difference" }
                    th { "deciding interval" } th { "wider interval" } th { "missing read otherwise" }
                }
            }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" { bdi { (row.arm) } }
                        td { bdi { (row.against) } }
                        td { (row.endpoint) }
                        td.num { (group(row.n)) }
                        td.num { (group(row.loss)) }
                        td.num { (group(row.gain)) }
                        td.num { (signed(100.0 * row.difference.value())) }
                        td.fit { (interval(&row.interval)) }
                        td.fit { @if let Some(wide) = &row.wide { (interval(wide)) } }
                        td.fit { @for (name, n, loss, gain, pass) in &row.readings {
                            div { (name) ": " (loss) "/" (gain) " of " (n) ", " (match pass { Some(true) => "passes", Some(false) => "does not pass", None => "undefined" }) }
                        } }
                    }
                }
            }
        }
    }
}

fn interval(seen: &crate::certificate::IntervalReport) -> String {
    let level = seen.level.parse::<f64>().map_or_else(|_| "?".to_owned(), |level| format!("{:.0} %", 100.0 * level));
    format!("{} to {} ({level}, {})", points(&seen.lower), points(&seen.upper), seen.method)
}
