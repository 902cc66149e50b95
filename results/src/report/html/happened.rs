//! What happened, per arm, server and tool.

use maud::{Markup, html};

use super::parts::{family, mark, scroll};
use crate::{
    report::{ArmRow, Origin, Outcomes, ServerRow, ShownAs, Tally, ToolRow},
    table::group,
};

/// A table per arm.
pub(super) fn section(id: &str, outcomes: &Outcomes) -> Markup {
    let table = html! {
        table {
            thead { tr { th { "arm" } (heads()) } }
            tbody { @for arm in &outcomes.happened { tr { th scope="row" { bdi { (arm.arm) } } td { "–" } (cells(&arm.total)) } } }
        }
    };
    html! {
        section id=(id) {
            h2 { "What happened " (mark(Origin::Measured)) }
            p.lead {
                "How the deciding call came about: " i { "direct" } ", the tool stood on the first surface; " i { "fetched" } ", it or its schema was asked for; "
                i { "invoked" } ", through a tool that forwards; " i { "guessed" } ", by its name alone. "
                i { "Changed lists" } " are requests that showed another surface than the one before."
            }
            (scroll("What happened by arm", &table))
            @for arm in &outcomes.happened { (of_arm(arm)) }
        }
    }
}

fn heads() -> Markup {
    html! {
        th { "shown: as is / changed / hidden" }
        @for head in ["episodes", "direct", "fetched", "invoked", "guessed", "none", "with meta calls", "meta calls", "refused", "invalid", "changed lists", "turns"] { th.num { (head) } }
    }
}

fn cells(tally: &Tally) -> Markup {
    let all = [
        tally.episodes,
        tally.direct,
        tally.fetched,
        tally.invoked,
        tally.guessed,
        tally.undecided,
        tally.episodes_with_meta,
        tally.meta_calls,
        tally.rejected_calls,
        tally.invalid_calls,
        tally.list_changes,
        tally.turns,
    ];
    html! { @for count in all { td.num { @if count == 0 { span.zero { "0" } } @else { (group(count)) } } } }
}

fn of_arm(arm: &ArmRow) -> Markup {
    let table = html! {
        table {
            thead { tr { th { "server, tool" } (heads()) } }
            @for server in &arm.servers { tbody { (of_server(server)) @if server.tools.len() > 1 { @for tool in &server.tools { (of_tool(tool)) } } } }
        }
    };
    html! { details { summary { b { bdi { (arm.arm) } } ", " (family(&arm.family)) ": by server and tool" } (scroll("What happened by server and tool", &table)) } }
}

fn of_server(server: &ServerRow) -> Markup {
    html! {
        tr.server {
            th scope="row" { bdi { (server.server) } }
            td { @match server.shown { Some((same, changed, hidden)) => { (same) " / " (changed) " / " (hidden) }, None => { "–" } } }
            (cells(&server.tally))
        }
    }
}

fn of_tool(tool: &ToolRow) -> Markup {
    let shown = match tool.shown {
        Some(ShownAs::Unchanged) => "as is",
        Some(ShownAs::Changed) => "changed",
        Some(ShownAs::Hidden) => "hidden",
        None => "–",
    };
    html! { tr { th.tool scope="row" { bdi { (tool.tool) } } td { (shown) } (cells(&tool.tally)) } }
}
