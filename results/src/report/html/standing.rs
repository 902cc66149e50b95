//! Protocol, amendments, deviations, checks, origins, checklist.

use maud::{Markup, html};

use super::parts::{class, scroll};
use crate::report::{CheckOutcome, Item, Outcomes, Report, Tone};

/// The protocol, its locks and the deviations from it.
pub(super) fn protocol(id: &str, report: &Report) -> Markup {
    let standing = &report.standing;
    html! {
        section id=(id) {
            h2 { "Protocol, amendments, deviations" }
            @if let Some(digest) = &standing.protocol { p { "Protocol " code.digest { (digest) } } }
            (scroll("Choices of the protocol", &html! {
                table.pairs { tbody { @for (name, value) in &standing.choices { tr { th scope="row" { (name) } td { bdi { (value) } } } } } }
            }))
            details { summary { "The protocol, whole" } pre dir="ltr" { (standing.protocol_text) } }
            h3 { "Locks" }
            @if standing.amendments.is_empty() { p { "No lock covers these inputs, or the run is open." } }
            ol.locks {
                @for (id, reason, seen) in &standing.amendments {
                    li { code.digest { (id) } br; bdi { (reason) } " — outcomes of an earlier lock had " @if *seen { strong { "been seen" } } @else { "not been seen" } "." }
                }
            }
            h3 { "Deviations" }
            @if standing.deviations.is_empty() { p { "None." } }
            ul { @for one in &standing.deviations { li { b { bdi { (one.what) } } ": " bdi { (one.why) } } } }
        }
    }
}

/// What was verified, and what no check can show.
pub(super) fn checks(id: &str, report: &Report) -> Markup {
    let standing = &report.standing;
    html! {
        section id=(id) {
            h2 { "Checks" }
            @if standing.checks.is_empty() {
                p { "The record was not verified for this report." }
            } @else {
                (scroll("Checks", &html! {
                    table {
                        thead { tr { th { "check" } th { "outcome" } th { "evidence" } } }
                        tbody {
                            @for check in &standing.checks {
                                tr { th scope="row" { (check.name) } td.(class(tone(check.outcome))) { (outcome(check.outcome)) } td { bdi { (check.evidence) } } }
                            }
                        }
                    }
                }))
                p.more { "Not shown by any of them: " (standing.not_shown) "." }
            }
            details {
                summary { "The program that ran" }
                dl.facts { @for (name, value) in &report.run.build { div { dt { (name) } dd { bdi { (value) } } } } }
                @if let Some(digest) = &report.run.certificate { p { "Certificate " code.digest { (digest) } } }
            }
        }
    }
}

fn tone(outcome: CheckOutcome) -> Tone {
    match outcome {
        CheckOutcome::Pass => Tone::Good,
        CheckOutcome::Note => Tone::Open,
        CheckOutcome::Fail => Tone::Bad,
    }
}

fn outcome(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Pass => "✓ pass",
        CheckOutcome::Note => "– note",
        CheckOutcome::Fail => "✕ FAIL",
    }
}

/// Where the numbers come from.
pub(super) fn origins(id: &str, report: &Report) -> Markup {
    html! {
        section id=(id) {
            h2 { "Where every number comes from" }
            (scroll("Origins", &html! {
                table {
                    thead { tr { th { "numbers" } th { "are" } th { "from" } } }
                    tbody { @for row in &report.origins { tr { th scope="row" { (row.what) } td { span.origin { (row.origin.word()) } } td { (row.how) } } } }
                }
            }))
        }
    }
}

/// The checklist.
pub(super) fn checklist(id: &str, outcomes: &Outcomes) -> Markup {
    html! {
        section id=(id) {
            h2 { "CONSORT checklist, non-inferiority" }
            p.lead { "The items of the extension for non-inferiority trials (Piaggio and others 2012), in our words, each with the field of the certificate that answers it." }
            (scroll("Checklist", &html! {
                table {
                    thead { tr { th { "item" } th { "asks for" } th { "answer" } th { "field" } } }
                    tbody { @for item in &outcomes.checklist { (row(item)) } }
                }
            }))
        }
    }
}

fn row(item: &Item) -> Markup {
    html! {
        tr {
            th scope="row" { (item.number) }
            td { (item.asks) }
            td { @if !item.met { strong { "open: " } } bdi { (item.answer) } }
            td { code { (item.field) } }
        }
    }
}
