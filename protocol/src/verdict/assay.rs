//! Assay sensitivity: can this run tell a harmful arm from a harmless one at all? If not there is no verdict.

use std::sync::Arc;

use super::{
    ArmInput, Endpoint, EndpointEvidence, FamilyInput, Imputation, Reason, Rule, VerdictError,
    evidence::{shows_damage, weigh},
    rule::exceeds,
};
use crate::stats::{ExactCache, Interval, PairedTable, score::score_interval};

/// The reference on one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floor {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Right answers.
    pub right: u64,
    /// Tasks.
    pub tasks: u64,
    /// Whether the floor is reached.
    pub reached: bool,
}

/// A control that must not be certified.
#[derive(Debug, Clone, PartialEq)]
pub struct HarmfulControl {
    /// The control.
    pub arm: Arc<str>,
    /// Its evidence, missing outcomes in its favour.
    pub endpoints: Vec<EndpointEvidence>,
    /// Whether it would be certified.
    pub certified: bool,
}

/// A control that must show damage.
#[derive(Debug, Clone, PartialEq)]
pub struct DamageControl {
    /// The control.
    pub arm: Arc<str>,
    /// Its table on first calls, missing outcomes in its favour.
    pub table: PairedTable,
    /// Score interval of level `1 − 2·alpha`.
    pub decision: Interval,
    /// Whether damage is shown.
    pub damage: bool,
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Assay {
    /// The floor, by endpoint.
    pub floors: Vec<Floor>,
    /// Controls that must not be certified.
    pub harmful: Vec<HarmfulControl>,
    /// Controls that must show damage.
    pub damaged: Vec<DamageControl>,
    /// Why there is no verdict; empty where the assay is sensitive and complete.
    pub reasons: Vec<Reason>,
}

impl Assay {
    /// Whether levels may be judged.
    pub fn sensitive(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// Judges the assay of a family.
///
/// # Errors
/// As [`weigh`].
pub fn assess(rule: &Rule, input: &FamilyInput, exact: &ExactCache) -> Result<Assay, VerdictError> {
    let mut reasons = completeness(rule, input);
    let floors = floors(rule, input)?;
    reasons.extend(floors.iter().filter(|floor| !floor.reached).map(|floor| Reason::BelowFloor {
        endpoint: floor.endpoint,
        right: floor.right,
        tasks: floor.tasks,
    }));
    let mut harmful = Vec::new();
    for control in input.must_not_certify.iter().filter(|control| has_pairs(control)) {
        let endpoints = weigh_all(rule, input, control, Imputation::BestCase, exact)?;
        let certified = endpoints.iter().all(|endpoint| endpoint.gates.pass());
        if certified {
            reasons.push(Reason::ControlCertified { arm: Arc::clone(&control.arm) });
        }
        harmful.push(HarmfulControl { arm: Arc::clone(&control.arm), endpoints, certified });
    }
    let mut damaged = Vec::new();
    for control in input.must_show_damage.iter().filter(|control| has_pairs(control)) {
        let seen = damage(rule, control)?;
        if !seen.damage {
            reasons.push(Reason::ControlShowsNoDamage { arm: Arc::clone(&control.arm) });
        }
        damaged.push(seen);
    }
    Ok(Assay { floors, harmful, damaged, reasons })
}

/// Every co-primary of an arm under one imputation.
pub(crate) fn weigh_all(
    rule: &Rule,
    family: &FamilyInput,
    arm: &ArmInput,
    imputation: Imputation,
    exact: &ExactCache,
) -> Result<Vec<EndpointEvidence>, VerdictError> {
    let with_tools = family.kind.has_tools();
    family
        .kind
        .endpoints()
        .iter()
        .map(|&endpoint| weigh(rule, &arm.arm, endpoint, arm.endpoint(endpoint)?, imputation, with_tools, exact))
        .collect()
}

/// Whether anything was counted at all; where nothing was, [`completeness`] has said so.
pub(crate) fn has_pairs(arm: &ArmInput) -> bool {
    arm.endpoints.values().any(|endpoint| endpoint.total().n() > 0)
}

fn damage(rule: &Rule, control: &ArmInput) -> Result<DamageControl, VerdictError> {
    let endpoint = Endpoint::FirstCall;
    let table = control
        .endpoint(endpoint)?
        .total()
        .table(Imputation::BestCase)
        .map_err(|source| VerdictError::Counts { arm: Arc::clone(&control.arm), endpoint, source })?;
    Ok(DamageControl {
        arm: Arc::clone(&control.arm),
        table,
        decision: score_interval(table.counts(), rule.alpha()),
        damage: shows_damage(table.counts(), rule.margin(), rule.alpha()),
    })
}

fn floors(rule: &Rule, input: &FamilyInput) -> Result<Vec<Floor>, VerdictError> {
    let reference = &input.reference;
    input
        .kind
        .endpoints()
        .iter()
        .map(|&endpoint| {
            let right = *reference
                .right
                .get(&endpoint)
                .ok_or_else(|| VerdictError::NotCounted { arm: Arc::clone(&reference.arm), endpoint })?;
            let wrong = reference.tasks.saturating_sub(right);
            // right/tasks ≥ floor, as wrong·den ≤ (den − num)·tasks in integers.
            let floor = rule.assay_floor;
            let allowed = u128::from(floor.den() - floor.num()) * u128::from(reference.tasks);
            let reached = reference.tasks > 0 && u128::from(wrong) * u128::from(floor.den()) <= allowed;
            Ok(Floor { endpoint, right, tasks: reference.tasks, reached })
        })
        .collect()
}

/// What is not complete enough for a verdict on anything.
fn completeness(rule: &Rule, input: &FamilyInput) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut unattempted = |arm: &Arc<str>, unattempted| {
        if unattempted > 0 {
            reasons.push(Reason::RunIncomplete { arm: Arc::clone(arm), unattempted });
        }
    };
    unattempted(&input.reference.arm, input.reference.unattempted);
    for control in input.controls() {
        // Pairs are unattempted because of the reference, too; one reason per cause is enough.
        unattempted(&control.arm, control.unattempted.saturating_sub(input.reference.unattempted));
    }
    for required in &input.required_controls {
        if !input.controls().any(|control| control.arm == *required && has_pairs(control)) {
            reasons.push(Reason::ControlAbsent { arm: Arc::clone(required) });
        }
    }
    for control in input.controls() {
        let (missing, pairs) = control.missing();
        if exceeds(missing, pairs, rule.missing_limit) {
            reasons.push(Reason::ControlNotEvaluated { arm: Arc::clone(&control.arm), missing });
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{
        Mark,
        fixture::{arm, cells, endpoint, healthy, rule},
    };

    fn reasons(input: &FamilyInput) -> Vec<Reason> {
        assess(&rule(), input, &ExactCache::new()).unwrap().reasons
    }

    #[test]
    fn a_healthy_run_is_sensitive() {
        assert_eq!(reasons(&healthy()), []);
    }

    #[test]
    fn a_reference_exactly_at_the_floor_reaches_it_and_one_answer_less_does_not() {
        let mut input = healthy();
        input.reference.right.insert(Endpoint::Arguments, 700);
        assert_eq!(reasons(&input), []);
        input.reference.right.insert(Endpoint::Arguments, 699);
        assert_eq!(reasons(&input), [Reason::BelowFloor { endpoint: Endpoint::Arguments, right: 699, tasks: 1_000 }]);
    }

    #[test]
    fn a_planted_loss_that_would_be_certified_voids_the_assay() {
        let mut input = healthy();
        input.must_not_certify = vec![arm("planted-loss", &endpoint(1_000, 20, cells(995, 5, 0, 0)))];
        assert_eq!(reasons(&input), [Reason::ControlCertified { arm: "planted-loss".into() }]);
    }

    #[test]
    fn missing_outcomes_of_a_harmful_control_are_read_in_its_favour() {
        let mut input = healthy();
        let mut table = cells(985, 5, 0, 0);
        table.count_many(Mark::Right, Mark::Missing, 10);
        input.must_not_certify = vec![arm("planted-loss", &endpoint(1_000, 20, table))];
        assert_eq!(reasons(&input), [Reason::ControlCertified { arm: "planted-loss".into() }]);
    }

    #[test]
    fn names_only_without_damage_voids_the_assay() {
        let mut input = healthy();
        input.must_show_damage = vec![arm("names-only", &endpoint(1_000, 20, cells(970, 25, 5, 0)))];
        assert_eq!(reasons(&input), [Reason::ControlShowsNoDamage { arm: "names-only".into() }]);
    }

    #[test]
    fn an_absent_control_voids_the_assay() {
        let mut input = healthy();
        input.must_show_damage.clear();
        assert_eq!(reasons(&input), [Reason::ControlAbsent { arm: "names-only".into() }]);
    }

    #[test]
    fn an_unfinished_reference_is_named_once() {
        let mut input = healthy();
        input.reference.unattempted = 4;
        for control in &mut input.must_not_certify {
            control.unattempted = 4;
        }
        assert_eq!(reasons(&input), [Reason::RunIncomplete { arm: "raw".into(), unattempted: 4 }]);
    }

    #[test]
    fn a_control_that_lacks_too_many_outcomes_can_not_vouch_for_anything() {
        let mut input = healthy();
        let mut table = cells(900, 80, 0, 0);
        table.count_many(Mark::Right, Mark::Missing, 20);
        input.must_not_certify = vec![arm("planted-loss", &endpoint(1_000, 20, table))];
        assert_eq!(reasons(&input), [Reason::ControlNotEvaluated { arm: "planted-loss".into(), missing: 20 }]);
    }
}
