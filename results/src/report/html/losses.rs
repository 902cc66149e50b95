//! The map of losses by server and tool.

use maud::{Markup, html};

use super::parts::{family, mark, scroll};
use crate::report::{HeatCell, HeatMap, HeatRow, Origin, Outcomes};

/// A map per family.
pub(super) fn section(id: &str, outcomes: &Outcomes) -> Markup {
    html! {
        section id=(id) {
            h2 { "Losses by server and tool " (mark(Origin::Computed)) }
            p.lead {
                "Tasks that only the reference got right (−) and tasks that only the arm got right (+), on the stricter endpoint. "
                "The shade is the net loss as a share of the group's tasks."
            }
            @for map in &outcomes.heat {
                h3 { (family(&map.family)) }
                (scroll("Losses by server", &table(map, &map.servers, "server")))
                @if !map.tools.is_empty() {
                    details open {
                        summary { (map.tools.len()) " tools with a loss or a gain, " (map.quiet_tools) " with neither"
                            @if map.left_out > 0 { ", " (map.left_out) " more not listed" } }
                        (scroll("Losses by tool", &table(map, &map.tools, "tool")))
                    }
                }
            }
        }
    }
}

fn table(map: &HeatMap, rows: &[HeatRow], what: &str) -> Markup {
    html! {
        table.heat {
            thead { tr { th { (what) } @for arm in &map.arms { th { bdi { (arm) } } } } }
            tbody {
                @for row in rows { tr { th scope="row" { bdi { (row.name) } } @for cell in &row.cells { (shade(*cell)) } } }
            }
        }
    }
}

fn shade(cell: HeatCell) -> Markup {
    if cell.n == 0 {
        return html! { td.none { "·" } };
    }
    let net = cell.loss.abs_diff(cell.gain);
    let per_mille = 1_000 * net / cell.n;
    let step = match per_mille {
        0 => 0,
        1..=20 => 1,
        21..=60 => 2,
        61..=150 => 3,
        151..=400 => 4,
        _ => 5,
    };
    let side = if cell.loss >= cell.gain { 'l' } else { 'g' };
    let class = if step == 0 { String::new() } else { format!("{side}{step}") };
    html! {
        td class=(class) title={ (cell.loss) " losses, " (cell.gain) " gains of " (cell.n) } {
            @if cell.loss + cell.gain == 0 { span.zero { "0" } }
            @if cell.loss > 0 { "−" (cell.loss) }
            @if cell.loss > 0 && cell.gain > 0 { " " }
            @if cell.gain > 0 { "+" (cell.gain) }
        }
    }
}
