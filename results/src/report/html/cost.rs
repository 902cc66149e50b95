//! Context tokens and cost.

use maud::{Markup, html};

use super::parts::{mark, scroll};
use crate::{
    report::{ContextRow, Cost, CostRow, Money, Origin, Outcomes},
    table::group,
};

/// What each arm shows at the start of a session.
pub(super) fn context(id: &str, outcomes: &Outcomes) -> Markup {
    let rows = &outcomes.context;
    let most = rows.iter().map(|row| row.tokens).max().unwrap_or(1).max(1);
    let servers: Vec<&str> = rows.iter().find(|row| !row.servers.is_empty()).map(names).unwrap_or_default();
    let by_server = html! {
        table {
            thead { tr { th { "arm" } @for server in &servers { th.num { bdi { (server) } } } } }
            tbody {
                @for row in rows.iter().filter(|row| !row.servers.is_empty()) {
                    tr { th scope="row" { bdi { (row.arm) } } @for size in &row.servers { td.num { (group(size.tokens)) } } }
                }
            }
        }
    };
    html! {
        section id=(id) {
            h2 { "Context tokens " (mark(Origin::Computed)) }
            p.lead { "What each arm shows the model at the start of a session" @if let Some(row) = rows.first() { ", in tokens of " (row.counted_by) } "." }
            @if rows.is_empty() { p { "No arm of the tool suite ran." } } @else {
                dl.bars {
                    @for row in rows {
                        dt { bdi { (row.arm) } }
                        dd {
                            span.bar style={ "width:" (percent_of(row.tokens, most)) "%" } {}
                            span.val { (group(row.tokens)) small { " in " (row.tools) " tools, " (saving(row)) } }
                        }
                    }
                }
                @if !servers.is_empty() { details { summary { "By server" } (scroll("Context tokens by server", &by_server)) } }
            }
        }
    }
}

fn names(row: &ContextRow) -> Vec<&str> {
    row.servers.iter().map(|size| size.server.as_str()).collect()
}

fn percent_of(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 6_000 / u128::from(whole.max(1));
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn saving(row: &ContextRow) -> String {
    let tenths = row.saving_ppm / 1_000;
    let sign = if tenths < 0 { "+" } else { "−" };
    if tenths == 0 { "±0 %".to_owned() } else { format!("{sign}{}.{} %", tenths.abs() / 10, tenths.abs() % 10) }
}

/// Cost three ways, and as billed.
pub(super) fn section(id: &str, outcomes: &Outcomes) -> Markup {
    html! {
        section id=(id) {
            h2 { "Cost " (mark(match &outcomes.cost { Some(cost) if cost.billed => Origin::Computed, _ => Origin::Estimated })) }
            @match &outcomes.cost {
                None => p { "The price table has no row for this model, so tokens are not priced." },
                Some(cost) => { (lead(cost)) (scroll("Cost per episode", &three_ways(cost))) (classes(cost)) },
            }
        }
    }
}

fn lead(cost: &Cost) -> Markup {
    html! {
        p.lead {
            "Dollars of an episode at the prices of " code { (cost.priced_as) } " (" (cost.source) "). "
            @if !cost.billed { strong { "Nothing was billed: these are list prices, taken as an example. " } }
            "Caches make a bill depend on the order of requests, so each arm is priced three ways: "
            i { "uncached" } ", all of the prompt as plain input; " i { "cold" } ", each session writes what it caches once; "
            i { "warm" } ", each session finds it written. Ratios to the reference with " (cost.level) " intervals over tools."
        }
    }
}

fn three_ways(cost: &Cost) -> Markup {
    html! {
        table {
            thead { tr { th { "arm" } th.num { "episodes" } th.num { "uncached" } th.num { "cold session" } th.num { "warm session" }
                @if cost.billed { th.num { "billed, whole run" } } th.num { "latency, median / 95 %" } } }
            tbody {
                @for row in &cost.arms {
                    tr {
                        th scope="row" { bdi { (row.arm) } }
                        td.num { (group(row.episodes)) }
                        (money(&row.uncached)) (money(&row.cold)) (money(&row.warm))
                        @if cost.billed { td.num { (row.billed.as_deref().unwrap_or("–")) } }
                        td.num { @match row.latency { Some((median, tail)) => { (group(median)) " / " (group(tail)) " ms" }, None => { "–" } } }
                    }
                }
            }
        }
    }
}

fn money(money: &Money) -> Markup {
    let short = |text: &str| text.parse::<f64>().map_or_else(|_| "?".to_owned(), |ratio| format!("{ratio:.3}"));
    html! {
        td.num {
            (money.per_episode)
            @if let Some([point, lower, upper]) = &money.ratio {
                small { br; "× " (short(point)) " [" (short(lower)) ", " (short(upper)) "]" }
            }
        }
    }
}

fn classes(cost: &Cost) -> Markup {
    let table = html! {
        table {
            thead { tr { th { "arm" } th.num { "attempts" } th.num { "input" } th.num { "cache write" } th.num { "cache read" } th.num { "output" }
                th.num { "total uncached" } th.num { "total cold" } th.num { "total warm" } } }
            tbody { @for row in &cost.arms { (tokens(row)) } }
        }
    };
    html! {
        details { summary { "Tokens by class, as used, and dollars of the whole run" } (scroll("Tokens by class", &table)) }
    }
}

fn tokens(row: &CostRow) -> Markup {
    let used = &row.tokens;
    let counts = [used.input, used.cache_write + used.cache_write_1h, used.cache_read, used.output];
    html! {
        tr {
            th scope="row" { bdi { (row.arm) } }
            td.num { (group(row.attempts)) }
            @for (count, (_, dollars)) in counts.iter().zip(&row.classes) { td.num { (group(*count)) small { br; (dollars) } } }
            td.num { (row.uncached.total) } td.num { (row.cold.total) } td.num { (row.warm.total) }
        }
    }
}
