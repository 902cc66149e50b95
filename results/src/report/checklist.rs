//! The checklist of CONSORT for non-inferiority and equivalence trials (Piaggio and others 2012), in its order, each item
//! with the field that answers it. Wording is ours.

use std::collections::BTreeSet;

use bench_protocol::verdict::FamilyKind;
use serde::Serialize;

use super::{source::Sources, text::tame};
use crate::{certificate::Certificate, record::Manifest};

/// The margin whose reason stands in `docs/method.md`, under "Why two points". It speaks for no other.
const REASONED: &str = "0.02";

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

impl Item {
    fn new(number: &str, asks: &str, field: &str, answer: impl Into<String>) -> Self {
        Self {
            number: number.to_owned(),
            asks: asks.to_owned(),
            answer: tame(&answer.into(), 600),
            field: field.to_owned(),
            met: true,
        }
    }

    fn met(self, met: bool) -> Self {
        Self { met, ..self }
    }
}

/// Fills the checklist.
pub(super) fn checklist(manifest: &Manifest, certificate: &Certificate, sources: &Sources) -> Vec<Item> {
    let mut all = design(manifest, certificate);
    all.extend(methods(certificate, sources));
    all.extend(outcome(certificate));
    all
}

fn design(manifest: &Manifest, certificate: &Certificate) -> Vec<Item> {
    let rule = &certificate.rule;
    let tasks = |kind| certificate.families.get(&kind).map_or(0, |one| one.tasks);
    let references: Vec<&str> = certificate.families.values().map(|one| &*one.reference).collect();
    let endpoints: BTreeSet<&str> =
        certificate.families.values().flat_map(|one| &one.endpoints).map(|at| at.name()).collect();
    let endpoints: Vec<&str> = endpoints.into_iter().collect();
    let (deviations, earlier) = (manifest.deviations.len(), certificate.locks.len().saturating_sub(1));
    let model = &certificate.model;
    vec![
        Item::new(
            "1a",
            "a non-inferiority comparison, said so",
            "rule.gates",
            "non-inferiority of each level against its reference",
        ),
        Item::new(
            "2a",
            "why non-inferiority",
            "limits",
            "a compressor is bought for its savings: it must not lose accuracy by more than the margin",
        ),
        Item::new(
            "2b",
            "hypotheses, margin and its reason",
            "rule.margin",
            format!(
                "worse by {} or more is to be rejected, on every endpoint; {}",
                rule.margin,
                if rule.margin == REASONED {
                    "the reason is given in docs/method.md (\"Why two points\"), not in the protocol"
                } else {
                    "nobody gives a reason for this margin"
                }
            ),
        )
        .met(rule.margin == REASONED),
        Item::new("3a", "design", "schedule.rule", "paired: every arm runs the same tasks, in fresh sessions"),
        Item::new(
            "3b",
            "changes after the start",
            "deviations, locks",
            locked(certificate, &format!("{deviations} deviations; {earlier} locks before this one")),
        )
        .met(!certificate.locks.is_empty()),
        Item::new(
            "4a",
            "who takes part",
            "tasks, catalogs",
            format!(
                "{} tool tasks, {} result tasks over {} catalogs",
                tasks(FamilyKind::Levels) + tasks(FamilyKind::Products),
                tasks(FamilyKind::Results),
                certificate.catalogs.len()
            ),
        ),
        Item::new("4b", "setting", "model", format!("model {} of {}", model.asked, model.provider)),
        Item::new(
            "5",
            "what each arm is, and the reference",
            "subjects.*.surface",
            format!("reference: {}; each arm's initial surface by digest", references.join(", ")),
        ),
        Item::new("6a", "outcomes", "families.*.endpoints", endpoints.join(", ")),
        Item::new("6b", "changes of outcomes", "locks", locked(certificate, "none: the lock fixes them"))
            .met(!certificate.locks.is_empty()),
    ]
}

fn locked(certificate: &Certificate, answer: &str) -> String {
    if certificate.locks.is_empty() { "no lock covers these inputs".to_owned() } else { answer.to_owned() }
}

fn methods(certificate: &Certificate, sources: &Sources) -> Vec<Item> {
    let (rule, plan) = (&certificate.rule, &sources.protocol.power);
    let reach = if certificate.underpowered { "; the protocol says that its sizes do not reach this" } else { "" };
    let planned = format!(
        "discordance {}, difference {}, power {} per endpoint{reach}",
        plan.discordance, plan.difference, plan.target_per_endpoint
    );
    let simulated = certificate.power.as_ref().map(|power| {
        format!("; {}, {} replicates, size at most {} ppm", power.method, power.replicates, power.sup_size_ppm)
    });
    let schedule = &certificate.schedule;
    vec![
        Item::new("7a", "sample size and its assumptions", "power", planned + &simulated.unwrap_or_default()),
        looks(certificate, sources),
        Item::new(
            "8–10",
            "order of arms, how it is drawn and by whom",
            "schedule",
            format!("{}, from the seed text `{}`", schedule.rule, schedule.seed),
        ),
        Item::new(
            "11a",
            "blinding",
            "tasks.*.digest",
            "arms see neither request nor gold; scoring is a program that does not know the arm",
        ),
        Item::new(
            "12a",
            "methods; one- or two-sided level",
            "rule",
            format!("one-sided {}; {}", rule.alpha, rule.gates),
        ),
        Item::new(
            "12b",
            "further analyses",
            "levels[].endpoints.*.missing",
            "first calls, look-first calls, other readings of missing outcomes, cost",
        ),
    ]
}

/// One look is a promise of a confirmatory run, and only the published ledger shows that it was kept.
fn looks(certificate: &Certificate, sources: &Sources) -> Item {
    let kept = sources.passes("one look");
    let answer = match (certificate.confirmatory, kept) {
        (true, true) => "one look, by the published ledger; nothing is scored before the run is closed",
        (true, false) => "one look is promised; the published ledger was not at hand to show it (--ledger)",
        (false, _) => "not confirmatory: nothing limits how often such a run is made",
    };
    Item::new("7b", "looks and stopping", "confirmatory, results/ledger.jsonl", answer)
        .met(certificate.confirmatory && kept)
}

fn outcome(certificate: &Certificate) -> Vec<Item> {
    let missing: u64 = certificate.arms.iter().map(|arm| arm.flow.missing).sum();
    let orders: Vec<String> = certificate.families.values().map(|one| one.order.to_string()).collect();
    let makers: BTreeSet<&str> = certificate.subjects.values().map(|subject| subject.origin.as_str()).collect();
    let makers: Vec<&str> = makers.into_iter().collect();
    let days = certificate.model.days.as_ref();
    let lock = certificate.locks.first().map(|lock| lock.id.to_string()).unwrap_or_default();
    vec![
        Item::new("13a", "flow", "arms[].flow", format!("{} arms, {missing} outcomes missing", certificate.arms.len())),
        Item::new(
            "14a",
            "dates",
            "model.days",
            days.map_or_else(|| "none: a scripted model has no dates".to_owned(), |days| days.join(" to ")),
        ),
        Item::new("15", "baseline", "families.*.floors", "the reference's own rates, against the assay's floor"),
        Item::new(
            "16",
            "numbers analysed, both analysis sets",
            "levels[].endpoints.*.missing",
            "worst case (primary), complete pairs, both wrong",
        ),
        Item::new(
            "17a",
            "effects with intervals; the figure against the margin",
            "levels[].endpoints.*.intervals",
            "intervals of two levels, and the figure above",
        )
        .met(!certificate.levels.is_empty()),
        Item::new(
            "18",
            "other analyses; multiplicity",
            "families.*.order",
            format!("order of claims: {}", orders.join(", ")),
        ),
        Item::new(
            "19",
            "harms",
            "levels[].harm, levels[].abstain, arms[]",
            "tools broken, requests that no tool serves, invalid calls, turns, cost, latency",
        ),
        Item::new("20", "limits", "limits", format!("{} sentences", certificate.limits.len())),
        Item::new(
            "21",
            "to what the result extends",
            "levels[].tool_robust",
            "other requests to these tools; other tools only where tool-robust",
        ),
        Item::new("22", "interpretation tied to the margin", "levels[].status", "the verdict sentences"),
        Item::new("23", "registration", "locks", locked(certificate, &lock)).met(!certificate.locks.is_empty()),
        Item::new(
            "24",
            "access to the protocol",
            "protocol",
            format!("digest {}; its text is on this page", certificate.protocol),
        ),
        Item::new(
            "25",
            "who paid, and who made what is tested",
            "subjects.*.origin",
            format!("made by: {}; who paid is not recorded", makers.join(", ")),
        )
        .met(false),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        certificate::fixture::certificate,
        report::{CheckLine, CheckOutcome, fixture},
    };

    #[test]
    fn an_item_is_met_by_what_was_shown_and_not_by_what_was_said() {
        let run = fixture::run(60, true);
        let (mut manifest, mut sources) = (run.record.manifest().clone(), run.sources.clone());
        let met = |manifest: &Manifest, certificate: &Certificate, sources: &Sources, number: &str| {
            let all = checklist(manifest, certificate, sources);
            all.into_iter().find(|item| item.number == number).unwrap().met
        };
        let mut claim = certificate();
        claim.confirmatory = true;
        manifest.confirmatory = true;
        assert!(!met(&manifest, &claim, &sources, "7b"), "said, and no ledger was there");
        let line = |outcome| CheckLine { name: "one look".to_owned(), outcome, evidence: String::new() };
        sources.checks.push(line(CheckOutcome::Note));
        assert!(!met(&manifest, &claim, &sources, "7b"), "only the copy of its maker");
        sources.checks.push(line(CheckOutcome::Pass));
        assert!(met(&manifest, &claim, &sources, "7b"));
        claim.confirmatory = false;
        assert!(!met(&manifest, &claim, &sources, "7b"), "an exploratory run has any number of looks");
        assert!(met(&manifest, &claim, &sources, "2b"));
        "0.05".clone_into(&mut claim.rule.margin);
        assert!(!met(&manifest, &claim, &sources, "2b"), "the reason for two points is none for five");
        claim.locks.clear();
        for number in ["3b", "6b", "23"] {
            assert!(!met(&manifest, &claim, &sources, number), "{number} without a lock");
        }
    }
}
