//! Discordant pairs, side by side.

use maud::{Markup, html};

use super::parts::{family, mark};
use crate::{
    report::{ArmPairs, Origin, Outcomes, PairView, SideView, Step},
    table::group,
};

/// The pairs of every arm.
pub(super) fn section(id: &str, outcomes: &Outcomes) -> Markup {
    html! {
        section id=(id) {
            h2 { "Discordant pairs " (mark(Origin::Measured)) }
            p.lead { "Tasks on which an arm and its reference differ: what each model was asked, read and did. One of each tool before a second of any; the rest is counted." }
            @for arm in outcomes.pairs.iter().filter(|arm| arm.losses + arm.gains > 0) { (of_arm(arm)) }
        }
    }
}

fn of_arm(arm: &ArmPairs) -> Markup {
    let left_out = (arm.losses + arm.gains).saturating_sub(arm.shown.len() as u64);
    html! {
        details.arm {
            summary {
                b { bdi { (arm.arm) } } " against " bdi { (arm.against) } " (" (family(&arm.family)) "): "
                (group(arm.losses)) " losses, " (group(arm.gains)) " gains"
            }
            @for pair in &arm.shown { (view(pair, arm)) }
            @if left_out > 0 { p.more { (group(left_out)) " more pairs are not shown; " code { "bench report RUN --csv=episodes" } " has them all." } }
        }
    }
}

fn view(pair: &PairView, arm: &ArmPairs) -> Markup {
    html! {
        article.pair {
            h4 {
                span.tag.(if pair.loss { "bad" } else { "good" }) { @if pair.loss { "loss" } @else { "gain" } } " "
                @match &pair.tool { Some(tool) => bdi { (tool) }, None => { "no tool serves this" } }
                small { " " (pair.stratum) " · " code { (pair.task) } }
            }
            blockquote dir="auto" { (pair.utterance) }
            p.gold {
                b { "Right: " }
                @if pair.gold.is_empty() { "no call" }
                @for (at, gold) in pair.gold.iter().enumerate() { @if at > 0 { " or " } code { (gold) } }
            }
            div.sides { (side(&arm.against, &pair.reference)) (side(&arm.arm, &pair.arm)) }
        }
    }
}

fn side(name: &str, side: &SideView) -> Markup {
    html! {
        div.side {
            h5 {
                bdi { (name) } " " span.tag.(if side.right { "good" } else { "bad" }) { @if side.right { "✓ right" } @else { "✕ wrong" } }
                small { " " (side.end) ", " (side.turns) @if side.turns == 1 { " turn" } @else { " turns" } " · surface " code { (side.surface) } }
            }
            ol.steps { @for one in &side.steps { (step(one)) } }
            @if side.steps_left_out > 0 { p.more { (side.steps_left_out) " more steps" } }
        }
    }
}

fn step(step: &Step) -> Markup {
    match step {
        Step::Model { text, calls } => html! {
            li.model {
                @if !text.is_empty() { p dir="auto" { (text) } }
                @for call in calls { pre { b { (call.name) } " " (call.arguments) } }
                @if text.is_empty() && calls.is_empty() { p { i { "said nothing" } } }
            }
        },
        Step::Answer { text, error } => html! {
            li.answer.(if *error { "error" } else { "fine" }) {
                span.who { @if *error { "was told, as an error" } @else { "read" } }
                pre dir="auto" { (text) }
            }
        },
    }
}
