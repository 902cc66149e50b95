//! Definitions: original and shown.

use maud::{Markup, html};

use super::parts::mark;
use crate::report::{Added, Origin, Outcomes, Shown, ToolDiff};

/// Every tool, folded.
pub(super) fn section(id: &str, outcomes: &Outcomes) -> Markup {
    let all = &outcomes.definitions;
    html! {
        section id=(id) {
            h2 { "Definitions " (mark(Origin::Computed)) }
            p.lead {
                "What each arm shows of a tool at the start of a session, as differences from the reference: "
                span.del { "− only in the original" } ", " span.ins { "+ only in what is shown" } "."
            }
            div.folds { @for tool in &all.tools { (fold(tool)) } }
            @if all.tools_left_out > 0 { p.more { (all.tools_left_out) " more tools are not shown: there is too much text; " code { "bench surface --arm A" } " prints it." } }
            @if !all.added.is_empty() {
                h3 { "Tools that arms add" }
                div.folds { @for added in &all.added { (meta(added)) } }
            }
        }
    }
}

fn fold(tool: &ToolDiff) -> Markup {
    html! {
        details {
            summary { bdi { (tool.tool) } small { @if tool.changed.is_empty() { " shown as it is or not at all" } @else { @for form in &tool.changed { " " (form.arms.join(", ")) } " differ" } } }
            @if !tool.unchanged.is_empty() { p { "As the reference: " (tool.unchanged.join(", ")) } }
            @if !tool.hidden.is_empty() { p { "Not shown at the start: " (tool.hidden.join(", ")) } }
            @for form in &tool.changed { (form_of(form)) }
        }
    }
}

fn form_of(form: &Shown) -> Markup {
    html! {
        h4 { (form.arms.join(", ")) }
        pre.diff dir="ltr" {
            @for (sign, line) in &form.lines {
                @match sign {
                    '-' => { del { "−" (line) } "\n" }
                    '+' => { ins { "+" (line) } "\n" }
                    '…' => { span.gap { "⋯" } "\n" }
                    _ => { " " (line) "\n" }
                }
            }
        }
    }
}

fn meta(added: &Added) -> Markup {
    html! {
        details { summary { bdi { (added.name) } small { " " (added.arms.join(", ")) } } pre dir="ltr" { (added.text) } }
    }
}
