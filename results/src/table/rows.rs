//! The rows of a family's table.

use bench_protocol::verdict::{Endpoint, FamilyKind, Status};

use super::{
    cell::{clipped, conditional, dash, group, signed, status_word},
    control::{Planned, control_word},
    grid::{Head, number, word},
};
use crate::{
    analysis::Role,
    certificate::{ArmReport, Certificate, ControlReport, IntervalReport, LevelReport, number::Fraction},
    record::Weight,
};

const TOOL_HEADS: &[Head] = &[
    word("arm"),
    number("n"),
    number("sel %"),
    number("args %"),
    number("difference, 90 % CI"),
    number("loss/gain"),
    number("trips"),
    number("tokens"),
    word("verdict"),
];

const TOOL_HEADS_OTHER_LEVEL: &[Head] = &[
    word("arm"),
    number("n"),
    number("sel %"),
    number("args %"),
    number("difference, CI"),
    number("loss/gain"),
    number("trips"),
    number("tokens"),
    word("verdict"),
];

const RESULT_HEADS: &[Head] = &[
    word("arm"),
    number("n"),
    number("answer %"),
    number("difference, 90 % CI"),
    number("loss/gain"),
    number("trips"),
    number("expanded %"),
    word("verdict"),
];

const RESULT_HEADS_OTHER_LEVEL: &[Head] = &[
    word("arm"),
    number("n"),
    number("answer %"),
    number("difference, CI"),
    number("loss/gain"),
    number("trips"),
    number("expanded %"),
    word("verdict"),
];

/// Longest name of an arm that a row prints whole.
const NAME: usize = 16;

/// The heads; the level of the interval stands in them where it is the usual one.
pub(super) fn heads(certificate: &Certificate, family: FamilyKind) -> &'static [Head] {
    let usual = certificate.rule.alpha == "0.0500000";
    match (family.has_tools(), usual) {
        (true, true) => TOOL_HEADS,
        (true, false) => TOOL_HEADS_OTHER_LEVEL,
        (false, true) => RESULT_HEADS,
        (false, false) => RESULT_HEADS_OTHER_LEVEL,
    }
}

/// A row per arm, in the order of the certificate.
pub(super) fn rows(certificate: &Certificate, planned: Planned, family: FamilyKind) -> Vec<Vec<String>> {
    let arms = certificate.arms.iter().filter(|arm| arm.family == family);
    arms.map(|arm| row(certificate, planned, family, arm)).collect()
}

fn row(certificate: &Certificate, planned: Planned, family: FamilyKind, arm: &ArmReport) -> Vec<String> {
    let effect = effect(certificate, family, arm);
    let rate = |endpoint| arm.rates.get(&endpoint).map_or_else(dash, |rate| percent(*rate));
    let episodes = arm.flow.attempted.max(1) as f64;
    let n = arm.rates.values().next().map_or(0, |rate| rate.den);
    let mut cells = vec![clipped(&arm.arm, NAME), group(n)];
    if family.has_tools() {
        cells.extend([rate(Endpoint::Selection), rate(Endpoint::Arguments)]);
    } else {
        cells.push(rate(Endpoint::Answer));
    }
    cells.push(effect.as_ref().map_or_else(dash, Effect::difference));
    cells.push(effect.as_ref().map_or_else(dash, |effect| format!("{}/{}", effect.loss, effect.gain)));
    cells.push(format!("{:.2}", arm.extra_trips as f64 / episodes));
    if family.has_tools() {
        cells.push(certificate.sizes.get(&*arm.arm).map_or_else(dash, |size| group(size.tokens)));
    } else {
        cells.push(format!("{:.1}", 100.0 * arm.episodes_with_meta as f64 / episodes));
    }
    cells.push(verdict(certificate, planned, arm));
    cells
}

/// The effect that a row shows: on the stricter endpoint, on first calls for a control that must show damage there.
struct Effect<'a> {
    difference: Fraction,
    interval: Option<&'a IntervalReport>,
    loss: u64,
    gain: u64,
}

impl Effect<'_> {
    /// Percentage points with their interval: `-0.4 [-1.1, +0.3]`.
    fn difference(&self) -> String {
        let point = 100.0 * self.difference.value();
        let end = |text: &str| text.parse::<f64>().map_or_else(|_| "?".to_owned(), |end| signed(100.0 * end));
        match self.interval {
            Some(interval) => format!("{} [{}, {}]", signed(point), end(&interval.lower), end(&interval.upper)),
            None => signed(point),
        }
    }
}

fn effect<'a>(certificate: &'a Certificate, family: FamilyKind, arm: &ArmReport) -> Option<Effect<'a>> {
    let strict = if family.has_tools() { Endpoint::Arguments } else { Endpoint::Answer };
    let control = control(certificate, family, &arm.arm);
    if let Some(damage) = control.and_then(|control| control.damage.as_ref()) {
        return Some(Effect {
            difference: damage.difference,
            interval: Some(&damage.interval),
            loss: damage.loss,
            gain: damage.gain,
        });
    }
    let of_level = level(certificate, family, &arm.arm).and_then(|level| level.endpoints.get(&strict));
    let seen = of_level.or_else(|| control.and_then(|control| control.endpoints.get(&strict)))?;
    Some(Effect { difference: seen.difference, interval: seen.intervals.first(), loss: seen.loss, gain: seen.gain })
}

pub(super) fn level<'a>(certificate: &'a Certificate, family: FamilyKind, arm: &str) -> Option<&'a LevelReport> {
    certificate.levels.iter().find(|level| level.family == family && &*level.arm == arm)
}

pub(super) fn control<'a>(certificate: &'a Certificate, family: FamilyKind, arm: &str) -> Option<&'a ControlReport> {
    certificate.controls.iter().find(|control| control.family == family && &*control.arm == arm)
}

/// The word that a row ends with.
pub(super) fn verdict(certificate: &Certificate, planned: Planned, arm: &ArmReport) -> String {
    if arm.role == Role::Reference {
        return "reference".to_owned();
    }
    if let Some(level) = level(certificate, arm.family, &arm.arm) {
        return short_word(level.status, certificate.weight());
    }
    match control(certificate, arm.family, &arm.arm) {
        None => "not run".to_owned(),
        Some(control) => control_word(control, planned).to_owned(),
    }
}

/// As [`status_word`], short enough for the table.
fn short_word(status: Status, weight: Weight) -> String {
    if weight == Weight::Exploratory { format!("{} (expl.)", conditional(status)) } else { status_word(status, weight) }
}

fn percent(rate: Fraction) -> String {
    if rate.den == 0 { dash() } else { format!("{:.1}", 100.0 * rate.value()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_that_can_certify_speaks_without_a_mark() {
        use Status::{Certified, Failed, Inconclusive, NoVerdict, NotEvaluated, NotTested};
        for status in [Certified, Failed, Inconclusive, NotTested, NotEvaluated, NoVerdict] {
            assert!(status_word(status, Weight::Scripted).ends_with("(mock)"));
            assert!(status_word(status, Weight::Exploratory).ends_with("(exploratory)"));
            assert!(!status_word(status, Weight::Certifies).contains('('));
            assert!(short_word(status, Weight::Exploratory).ends_with("(expl.)"));
        }
        assert_eq!(status_word(Certified, Weight::Exploratory), "would certify (exploratory)");
        assert_eq!(status_word(Certified, Weight::Certifies), "certified");
    }
}
