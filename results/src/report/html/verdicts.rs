//! The verdict of each level, and the controls that it rests on.

use maud::{Markup, html};

use super::parts::{class, families, family, mark, scroll, sign};
use crate::report::{Origin, Outcomes, VerdictRow};

/// The banner.
pub(super) fn cards(outcomes: &Outcomes) -> Markup {
    html! {
        @for name in families(outcomes.verdicts.iter().map(|row| row.family.as_str())) {
            h2.suite { (family(name)) }
            div.cards { @for row in outcomes.verdicts.iter().filter(|row| row.family == name) { (card(row)) } }
        }
        @if !outcomes.remarks.is_empty() { ul.remarks { @for remark in &outcomes.remarks { li { (remark) } } } }
        div.scope {
            h2 { "What this says, and what it does not" }
            ul { @for limit in &outcomes.limits { li { (limit) } } }
        }
    }
}

fn card(row: &VerdictRow) -> Markup {
    html! {
        article.card.(class(row.tone)) {
            h3 { bdi { (row.arm) } }
            p.word { span.sign aria-hidden="true" { (sign(row.tone)) } " " (row.word) }
            @if row.tool_robust { p.label { "tool-robust" } }
            p.sentence { (row.sentence) }
            @if !row.gates.is_empty() {
                details {
                    summary { "Gates" @if let Some(p) = &row.p { ", largest p " (p) } @if let Some(p) = &row.p_adjusted { ", adjusted " (p) } }
                    @for endpoint in &row.gates {
                        table.small {
                            caption { (endpoint.endpoint) }
                            tbody {
                                @for (name, p, pass) in &endpoint.gates {
                                    tr { th scope="row" { (name) } td.num { (p) } td { @if *pass { "pass" } @else { strong { "no" } } } }
                                }
                            }
                        }
                    }
                    @if let Some(harm) = &row.harm { p { b { "Harm guard " } (harm) } }
                    @if let Some(abstain) = &row.abstain { p { b { "Abstain guard " } (abstain) } }
                }
            }
        }
    }
}

/// The controls.
pub(super) fn controls(id: &str, outcomes: &Outcomes) -> Markup {
    let table = html! {
        table {
            thead { tr { th { "control" } th { "must" } th { "showed" } th { "p, both passes the same" } } }
            tbody {
                @for row in &outcomes.controls {
                    tr {
                        th scope="row" { bdi { (row.arm) } }
                        td { (row.demand) }
                        td.(class(row.tone)) { span aria-hidden="true" { (sign(row.tone)) } " " (row.word) }
                        td.num { @for (endpoint, p) in &row.p_differ { (endpoint) " " (p) " " } }
                    }
                }
            }
        }
    };
    html! {
        section id=(id) {
            h2 { "Controls " (mark(Origin::Computed)) }
            p.lead { "A test that cannot fail shows nothing. The same comparison is made with arms that must fail, and with the reference a second time." }
            (scroll("Controls", &table))
        }
    }
}
