//! The verdict on a family: evidence first, then guards, noise, assay and the order of testing.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    ArmInput, Endpoint, EndpointEvidence, FamilyInput, FamilyKind, Imputation, Reason, Rule, Status, VerdictError,
    abstain::{AbstainGuard, abstain_guard},
    assay::{Assay, assess, has_pairs, weigh_all},
    harm::{HarmGuard, harm_guard},
    noise::{Noise, noise},
    robust::{EndpointRobustness, robustness},
    sensitivity::{Sensitivities, sensitivities},
};
use crate::{
    sequence::{Claim, Order, order},
    stats::ExactCache,
};

/// The verdict on a family.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyVerdict {
    /// Which family.
    pub kind: FamilyKind,
    /// How its claims share one error rate.
    pub order: Order,
    /// Levels, in the order of testing.
    pub levels: Vec<LevelVerdict>,
    /// Floor and harmful controls.
    pub assay: Assay,
    /// The second pass; none where it did not run.
    pub noise: Option<Noise>,
}

/// The verdict on one level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelVerdict {
    /// The level.
    pub arm: Arc<str>,
    /// The verdict.
    pub status: Status,
    /// Certified, and all three conditions hold on every endpoint.
    pub tool_robust: bool,
    /// Why the status is what it is; for a certified level, why it is not tool-robust.
    pub reasons: Vec<Reason>,
    /// Evidence by endpoint, missing outcomes in the worst case. Descriptive where the level was not tested; empty where
    /// no pair was run.
    pub endpoints: Vec<EndpointEvidence>,
    /// The largest p over gates and endpoints; none where the level was not evaluated.
    pub p: Option<f64>,
    /// The same, adjusted for the family; none where the level was not reached.
    pub p_adjusted: Option<f64>,
    /// The harm guard, on arguments.
    pub harm: Option<HarmGuard>,
    /// The abstain guard.
    pub abstain: Option<AbstainGuard>,
    /// The conditions of the label, by endpoint.
    pub robustness: BTreeMap<Endpoint, EndpointRobustness>,
    /// Readings of missing outcomes, by endpoint.
    pub sensitivities: BTreeMap<Endpoint, Sensitivities>,
}

impl FamilyVerdict {
    /// The verdict on a level.
    pub fn level(&self, arm: &str) -> Option<&LevelVerdict> {
        self.levels.iter().find(|level| &*level.arm == arm)
    }
}

impl FamilyKind {
    /// How its claims share one error rate; R is alone, a sequence of one.
    pub fn order(self) -> Order {
        match self {
            Self::Levels | Self::Results => Order::FixedSequence,
            Self::Products => Order::Holm,
        }
    }
}

/// Applies the rule to a family. Exact p-values go through the cache, which may be shared between families.
///
/// # Errors
/// Counts that the statistics refuse, or an endpoint that was not counted.
pub fn evaluate(rule: &Rule, input: &FamilyInput, exact: &ExactCache) -> Result<FamilyVerdict, VerdictError> {
    let assay = assess(rule, input, exact)?;
    let noise = noise(rule, input, exact)?;
    let mut levels = input
        .levels
        .iter()
        .map(|level| evaluate_alone(rule, input, level, noise.as_ref(), exact))
        .collect::<Result<Vec<_>, _>>()?;
    apply_order(rule, input.kind.order(), &mut levels)?;
    if !assay.sensitive() {
        for level in &mut levels {
            level.status = Status::NoVerdict;
            level.reasons.clone_from(&assay.reasons);
        }
    }
    for level in &mut levels {
        conclude_robustness(level);
    }
    Ok(FamilyVerdict { kind: input.kind, order: input.kind.order(), levels, assay, noise })
}

/// A level on its own: evidence, guards, noise; neither assay nor order.
fn evaluate_alone(
    rule: &Rule,
    family: &FamilyInput,
    level: &ArmInput,
    noise: Option<&Noise>,
    exact: &ExactCache,
) -> Result<LevelVerdict, VerdictError> {
    let mut verdict = LevelVerdict {
        arm: Arc::clone(&level.arm),
        status: Status::NotEvaluated,
        tool_robust: false,
        reasons: not_evaluated(rule, level),
        endpoints: Vec::new(),
        p: None,
        p_adjusted: None,
        harm: None,
        abstain: None,
        robustness: BTreeMap::new(),
        sensitivities: BTreeMap::new(),
    };
    if !has_pairs(level) {
        return Ok(verdict);
    }
    verdict.endpoints = weigh_all(rule, family, level, Imputation::WorstCase, exact)?;
    for &endpoint in family.kind.endpoints() {
        verdict.sensitivities.insert(endpoint, sensitivities(rule, level.endpoint(endpoint)?, exact));
    }
    if family.kind.has_tools() {
        guards(rule, level, &mut verdict)?;
    }
    if !verdict.reasons.is_empty() {
        return Ok(verdict);
    }
    // G1 adds the allowance of its search to a p that may be 1.
    verdict.p = verdict.endpoints.iter().map(|seen| seen.gates.p().min(1.0)).reduce(f64::max);
    (verdict.status, verdict.reasons) = judge(&verdict, noise);
    if family.kind.has_tools() {
        for seen in &verdict.endpoints {
            let (robust, reasons) = robustness(rule, seen, level, family.again.as_ref(), exact)?;
            verdict.robustness.insert(seen.endpoint, robust);
            if verdict.status == Status::Certified {
                verdict.reasons.extend(reasons);
            }
        }
    }
    Ok(verdict)
}

/// Why a level is not evaluated; empty where it is.
fn not_evaluated(rule: &Rule, level: &ArmInput) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some(why) = &level.refused {
        reasons.push(Reason::SurfaceRefused { why: why.clone() });
    }
    if level.unattempted > 0 || (level.refused.is_none() && !has_pairs(level)) {
        reasons.push(Reason::Incomplete { unattempted: level.unattempted });
    }
    let (missing, pairs) = level.missing();
    if rule.too_many_missing(missing, pairs) {
        reasons.push(Reason::TooManyMissing { missing, pairs });
    }
    reasons
}

fn guards(rule: &Rule, level: &ArmInput, verdict: &mut LevelVerdict) -> Result<(), VerdictError> {
    let refuse = |source| VerdictError::Counts { arm: Arc::clone(&level.arm), endpoint: Endpoint::Arguments, source };
    verdict.harm = Some(harm_guard(rule, &level.endpoint(Endpoint::Arguments)?.tools).map_err(refuse)?);
    // A suite without abstain tasks has no such guard; the certificate then makes no claim about it.
    let abstain = level.abstain.as_ref().filter(|cells| cells.n() > 0);
    verdict.abstain = abstain.map(|cells| abstain_guard(rule, cells)).transpose().map_err(refuse)?;
    Ok(())
}

/// The word from evidence, guards and noise.
fn judge(verdict: &LevelVerdict, noise: Option<&Noise>) -> (Status, Vec<Reason>) {
    let damage = verdict.endpoints.iter().filter(|seen| seen.damage);
    let mut reasons: Vec<Reason> = damage.map(|seen| Reason::DamageShown { endpoint: seen.endpoint }).collect();
    let broken: Vec<Arc<str>> = verdict.harm.iter().flat_map(HarmGuard::broken).map(Arc::clone).collect();
    if !broken.is_empty() {
        reasons.push(Reason::HarmGuard { tools: broken });
    }
    if let Some(guard) = verdict.abstain.filter(|guard| guard.fired) {
        reasons.push(Reason::AbstainGuard { loss: guard.table.loss(), gain: guard.table.gain() });
    }
    if !reasons.is_empty() {
        return match noise.and_then(Noise::excuse) {
            Some(excuse) => {
                reasons.push(excuse);
                (Status::Inconclusive, reasons)
            }
            None => (Status::Failed, reasons),
        };
    }
    let failing = verdict
        .endpoints
        .iter()
        .flat_map(|seen| seen.gates.failing().map(|gate| Reason::GateNotPassed { endpoint: seen.endpoint, gate }));
    reasons.extend(failing);
    if !reasons.is_empty() {
        return (Status::Inconclusive, reasons);
    }
    let voided = noise.map(Noise::voids).unwrap_or_default();
    let status = if voided.is_empty() { Status::Certified } else { Status::Inconclusive };
    (status, voided)
}

/// Takes away claims that the order of testing does not allow.
fn apply_order(rule: &Rule, how: Order, levels: &mut [LevelVerdict]) -> Result<(), VerdictError> {
    let claims: Vec<Claim> =
        levels.iter().map(|level| Claim { p: level.p, holds: level.status == Status::Certified }).collect();
    let ordered = order(how, &claims, rule.alpha()).map_err(VerdictError::Rule)?;
    let names: Vec<Arc<str>> = levels.iter().map(|level| Arc::clone(&level.arm)).collect();
    for (level, place) in levels.iter_mut().zip(ordered) {
        level.p_adjusted = place.adjusted;
        if let Some(by) = place.stopped_by {
            level.status = Status::NotTested;
            level.reasons = vec![Reason::EarlierLevel { arm: Arc::clone(&names[by]) }];
        } else if level.status == Status::Certified && !place.allowed {
            level.status = Status::Inconclusive;
            level.reasons = vec![Reason::Multiplicity];
        }
    }
    Ok(())
}

/// The label is for certified levels alone.
fn conclude_robustness(level: &mut LevelVerdict) {
    level.tool_robust = level.status == Status::Certified
        && !level.robustness.is_empty()
        && level.robustness.values().all(EndpointRobustness::holds);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{
        Mark, PairCells,
        fixture::{arm, cells, cluster, endpoint, healthy, rule},
    };

    fn verdict(input: &FamilyInput) -> FamilyVerdict {
        evaluate(&rule(), input, &ExactCache::new()).unwrap()
    }

    fn statuses(input: &FamilyInput) -> Vec<Status> {
        verdict(input).levels.iter().map(|level| level.status).collect()
    }

    fn level(id: &str, both: u64, loss: u64, gain: u64, neither: u64) -> ArmInput {
        arm(id, &endpoint(1_000, 20, cells(both, loss, gain, neither)))
    }

    #[test]
    fn harmless_levels_are_certified_and_tool_robust() {
        let verdict = verdict(&healthy());
        assert!(
            verdict.levels.iter().all(|level| level.status == Status::Certified && level.tool_robust),
            "{verdict:#?}"
        );
    }

    #[test]
    fn a_p_that_the_search_allowance_lifts_above_one_is_one() {
        let mut input = healthy();
        input.levels[0] = level("L0", 500, 480, 0, 20);
        assert_eq!(verdict(&input).levels[0].p, Some(1.0));
    }

    #[test]
    fn both_endpoints_must_hold() {
        let mut input = healthy();
        let damaged = endpoint(1_000, 20, cells(945, 30, 5, 20));
        input.levels[1].endpoints.insert(Endpoint::Arguments, damaged);
        assert_eq!(statuses(&input), [Status::Certified, Status::Inconclusive]);
    }

    #[test]
    fn damage_fails_a_level_and_the_next_one_is_not_tested() {
        let mut input = healthy();
        input.levels[0] = level("L0", 900, 75, 5, 20);
        let verdict = verdict(&input);
        assert_eq!(verdict.levels[0].status, Status::Failed);
        assert!(verdict.levels[0].reasons.contains(&Reason::DamageShown { endpoint: Endpoint::Selection }));
        assert_eq!(verdict.levels[1].status, Status::NotTested);
        assert_eq!(verdict.levels[1].reasons, [Reason::EarlierLevel { arm: "L0".into() }]);
        assert!(!verdict.levels[1].endpoints.is_empty(), "estimates stay, as description");
    }

    #[test]
    fn a_loss_near_the_margin_is_inconclusive() {
        let mut input = healthy();
        input.levels[1] = level("L1", 955, 22, 3, 20);
        let verdict = verdict(&input);
        assert_eq!(verdict.levels[1].status, Status::Inconclusive);
        assert!(matches!(verdict.levels[1].reasons[0], Reason::GateNotPassed { gate: super::super::Gate::G1, .. }));
    }

    #[test]
    fn one_broken_tool_fails_a_level_that_passes_on_average() {
        let mut input = healthy();
        let mut arguments = endpoint(1_900, 78, cells(1_839, 11, 50, 0));
        let all_losses_in_one = |i: u64| if i == 0 { cells(13, 11, 0, 0) } else { PairCells::default() };
        let rest = cells(1_839 - 13, 0, 50, 0);
        arguments.tools = crate::verdict::fixture::spread("s/u", 77, &rest);
        arguments.tools.push(cluster("s/broken", all_losses_in_one(0)));
        input.levels[1].endpoints.insert(Endpoint::Arguments, arguments);
        let verdict = verdict(&input);
        assert!(verdict.levels[1].endpoints.iter().all(|seen| seen.gates.pass()));
        assert_eq!(verdict.levels[1].status, Status::Failed);
        assert_eq!(verdict.levels[1].reasons, [Reason::HarmGuard { tools: vec!["s/broken".into()] }]);
    }

    #[test]
    fn calls_where_none_is_right_fail_a_level() {
        let mut input = healthy();
        input.levels[1].abstain = Some(cells(50, 12, 0, 0));
        assert_eq!(statuses(&input), [Status::Certified, Status::Failed]);
    }

    #[test]
    fn a_noisy_assay_excuses_failures_and_keeps_certificates() {
        let mut input = healthy();
        input.again = Some(level("raw-again", 760, 110, 110, 20));
        input.levels[1] = level("L1", 900, 75, 5, 20);
        let verdict = verdict(&input);
        assert_eq!(verdict.levels[0].status, Status::Certified);
        assert_eq!(verdict.levels[1].status, Status::Inconclusive);
        assert!(verdict.levels[1].reasons.contains(&Reason::NoiseTooHigh { arm: "raw-again".into() }));
    }

    #[test]
    fn passes_that_differ_void_certificates() {
        let mut input = healthy();
        input.again = Some(level("raw-again", 950, 2, 28, 20));
        let verdict = verdict(&input);
        assert_eq!(verdict.levels[0].status, Status::Inconclusive);
        assert!(matches!(verdict.levels[0].reasons[0], Reason::PassesDiffer { .. }));
    }

    #[test]
    fn an_insensitive_assay_gives_no_verdict_on_anything() {
        let mut input = healthy();
        input.must_not_certify[0] = level("planted-loss", 980, 0, 0, 20);
        let verdict = verdict(&input);
        assert!(verdict.levels.iter().all(|level| level.status == Status::NoVerdict && !level.tool_robust));
    }

    #[test]
    fn an_unfinished_level_is_not_evaluated_and_stops_the_sequence() {
        let mut input = healthy();
        input.levels[0].unattempted = 3;
        assert_eq!(statuses(&input), [Status::NotEvaluated, Status::NotTested]);
    }

    #[test]
    fn more_than_one_percent_missing_is_not_evaluated_and_exactly_one_percent_is() {
        let with_missing = |missing| {
            let mut table = cells(980 - missing, 0, 0, 20);
            table.count_many(Mark::Right, Mark::Missing, missing);
            let mut input = healthy();
            input.levels[1] = arm("L1", &endpoint(1_000, 20, table));
            input.levels[1].abstain = None;
            statuses(&input)[1]
        };
        assert_eq!(with_missing(10), Status::Certified);
        assert_eq!(with_missing(11), Status::NotEvaluated);
    }

    #[test]
    fn a_refused_surface_is_not_evaluated_with_the_providers_words() {
        let mut input = healthy();
        input.levels[1].refused = Some("tools.3.name: too long".to_owned());
        input.levels[1].endpoints.clear();
        let verdict = verdict(&input);
        assert_eq!(verdict.levels[1].status, Status::NotEvaluated);
        assert_eq!(verdict.levels[1].reasons, [Reason::SurfaceRefused { why: "tools.3.name: too long".to_owned() }]);
    }

    #[test]
    fn products_share_one_error_rate_by_holm_and_do_not_stop_each_other() {
        let mut input = healthy();
        input.kind = FamilyKind::Products;
        input.levels[0] = level("P0", 900, 75, 5, 20);
        assert_eq!(statuses(&input), [Status::Failed, Status::Certified]);
    }

    #[test]
    fn r_is_judged_on_answers_alone_and_has_no_label() {
        let table = |loss| endpoint(630, 630, cells(630 - loss, loss, 0, 0));
        let mut input = healthy();
        input.kind = FamilyKind::Results;
        input.reference.right = [(Endpoint::Answer, 990)].into();
        input.levels = vec![arm("R", &table(2))];
        input.again = Some(arm("R-again", &table(1)));
        input.must_not_certify = vec![arm("R-no-expand", &table(300))];
        input.must_show_damage.clear();
        input.required_controls = ["R-again", "R-no-expand"].map(Arc::from).to_vec();
        let verdict = verdict(&input);
        assert_eq!(verdict.levels[0].status, Status::Certified);
        assert!(
            !verdict.levels[0].tool_robust && verdict.levels[0].harm.is_none() && verdict.levels[0].abstain.is_none()
        );
        assert_eq!(verdict.levels[0].endpoints.len(), 1);
    }
}
