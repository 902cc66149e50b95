//! The checklist of CONSORT for non-inferiority and equivalence trials (Piaggio and others 2012), in its order, each item
//! with the field that answers it. Wording is ours.

use bench_protocol::verdict::FamilyKind;
use serde::Serialize;

use super::{source::Sources, text::tame};
use crate::{certificate::Certificate, record::Manifest};

/// One item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Number in the checklist.
    pub number: String,
    /// What it asks for.
    pub asks: String,
    /// The answer.
    pub answer: String,
    /// Where it stands.
    pub field: String,
    /// Whether there is an answer.
    pub met: bool,
}

/// Fills the checklist.
pub(super) fn checklist(manifest: &Manifest, certificate: &Certificate, sources: &Sources) -> Vec<Item> {
    let protocol = &sources.protocol;
    let rule = &certificate.rule;
    let family = |kind| certificate.families.get(&kind);
    let reference = certificate.families.values().map(|one| one.reference.to_string()).collect::<Vec<_>>().join(", ");
    let tasks = |kind| family(kind).map_or(0, |one| one.tasks);
    let flow_missing: u64 = certificate.arms.iter().map(|arm| arm.flow.missing).sum();
    let orders: Vec<String> = certificate.families.values().map(|one| one.order.to_string()).collect();
    let origins: std::collections::BTreeSet<&str> =
        certificate.subjects.values().map(|subject| subject.origin.as_str()).collect();
    let power = certificate.power.as_ref().map_or_else(
        || {
            format!(
                "discordance {}, difference {}, power {} per endpoint{}",
                protocol.power.discordance,
                protocol.power.difference,
                protocol.power.target_per_endpoint,
                if certificate.underpowered { "; the protocol says that its sizes do not reach this" } else { "" }
            )
        },
        |power| format!("{}, {} replicates, size at most {} ppm", power.method, power.replicates, power.sup_size_ppm),
    );
    let items: Vec<(&str, &str, String, &str, bool)> = vec![
        (
            "1a",
            "a non-inferiority comparison, said so",
            "non-inferiority of each level against its reference".to_owned(),
            "rule.gates",
            true,
        ),
        (
            "2a",
            "why non-inferiority",
            "a compressor is bought for its savings: it must not lose accuracy by more than the margin".to_owned(),
            "docs/",
            true,
        ),
        (
            "2b",
            "hypotheses, margin and its reason",
            format!("worse by {} or more is rejected, on every endpoint; the margin is the protocol's", rule.margin),
            "rule.margin",
            true,
        ),
        ("3a", "design", "paired: every arm runs the same tasks, in fresh sessions".to_owned(), "schedule.rule", true),
        (
            "3b",
            "changes after the start",
            format!(
                "{} deviations, {} locks before this one",
                manifest.deviations.len(),
                certificate.locks.len().saturating_sub(1)
            ),
            "deviations, locks",
            true,
        ),
        (
            "4a",
            "who takes part",
            format!(
                "{} tool tasks, {} result tasks over {} catalogs",
                tasks(FamilyKind::Levels),
                tasks(FamilyKind::Results),
                certificate.catalogs.len()
            ),
            "tasks, catalogs",
            true,
        ),
        (
            "4b",
            "setting",
            format!("model {} of {}", certificate.model.asked, certificate.model.provider),
            "model",
            true,
        ),
        (
            "5",
            "what each arm is, and the reference",
            format!("reference: {reference}; each arm's initial surface by digest"),
            "subjects.*.surface",
            true,
        ),
        (
            "6a",
            "outcomes",
            certificate
                .families
                .values()
                .flat_map(|one| &one.endpoints)
                .map(|at| at.name())
                .collect::<Vec<_>>()
                .join(", "),
            "families.*.endpoints",
            true,
        ),
        (
            "6b",
            "changes of outcomes",
            "none is possible under one lock".to_owned(),
            "locks",
            !certificate.locks.is_empty(),
        ),
        ("7a", "sample size and its assumptions", power, "power", true),
        (
            "7b",
            "looks and stopping",
            "one look: nothing is scored before the run is closed".to_owned(),
            "results/ledger.jsonl",
            true,
        ),
        (
            "8–10",
            "order of arms, how it is drawn and by whom",
            format!("{}, from the seed text `{}`", certificate.schedule.rule, certificate.schedule.seed),
            "schedule",
            true,
        ),
        (
            "11a",
            "blinding",
            "arms see neither request nor gold; scoring is a program that does not know the arm".to_owned(),
            "tasks.*.digest",
            true,
        ),
        ("12a", "methods; one- or two-sided level", format!("one-sided {}; {}", rule.alpha, rule.gates), "rule", true),
        (
            "12b",
            "further analyses",
            "first calls, look-first calls, other readings of missing outcomes, cost".to_owned(),
            "levels[].endpoints.*.missing",
            true,
        ),
        (
            "13a",
            "flow",
            format!("{} arms, {flow_missing} outcomes missing", certificate.arms.len()),
            "arms[].flow",
            true,
        ),
        (
            "14a",
            "dates",
            certificate
                .model
                .days
                .as_ref()
                .map_or_else(|| "none: a scripted model has no dates".to_owned(), |days| days.join(" to ")),
            "model.days",
            true,
        ),
        (
            "15",
            "baseline",
            "the reference's own rates, against the assay's floor".to_owned(),
            "families.*.floors",
            true,
        ),
        (
            "16",
            "numbers analysed, both analysis sets",
            "worst case (primary), complete pairs, both wrong".to_owned(),
            "levels[].endpoints.*.missing",
            true,
        ),
        (
            "17a",
            "effects with intervals; the figure against the margin",
            "intervals of two levels, and the figure above".to_owned(),
            "levels[].endpoints.*.intervals",
            !certificate.levels.is_empty(),
        ),
        (
            "18",
            "other analyses; multiplicity",
            format!("order of claims: {}", orders.join(", ")),
            "families.*.order",
            true,
        ),
        (
            "19",
            "harms",
            "tools broken, requests without a tool, invalid calls, turns, cost, latency".to_owned(),
            "levels[].harm, levels[].abstain, arms[]",
            true,
        ),
        ("20", "limits", format!("{} sentences", certificate.limits.len()), "limits", true),
        (
            "21",
            "to what the result extends",
            "other requests to these tools; other tools only where tool-robust".to_owned(),
            "levels[].tool_robust",
            true,
        ),
        ("22", "interpretation tied to the margin", "the verdict sentences".to_owned(), "levels[].status", true),
        (
            "23",
            "registration",
            certificate
                .locks
                .first()
                .map_or_else(|| "no lock covers these inputs".to_owned(), |lock| lock.id.to_string()),
            "locks",
            !certificate.locks.is_empty(),
        ),
        (
            "24",
            "access to the protocol",
            format!("digest {}; its text is below", certificate.protocol),
            "protocol",
            true,
        ),
        (
            "25",
            "who paid, and who made what is tested",
            format!("made by: {}; who paid is not recorded", origins.into_iter().collect::<Vec<_>>().join(", ")),
            "subjects.*.origin",
            false,
        ),
    ];
    items
        .into_iter()
        .map(|(number, asks, answer, field, met)| Item {
            number: number.to_owned(),
            asks: asks.to_owned(),
            answer: tame(&answer, 600),
            field: field.to_owned(),
            met,
        })
        .collect()
}
