//! One plain sentence per verdict.

use bench_protocol::verdict::{Endpoint, FamilyKind, Status};

use super::{
    cell::signed,
    control::{Planned, remark},
};
use crate::{
    certificate::{Certificate, EndpointReport, LevelReport},
    record::Weight,
};

/// Said after every plumbing run.
pub const MOCK_IS_NO_EVIDENCE: &str =
    "A scripted model answered: this exercises the plumbing and is never evidence about a language model.";

/// Said after every exploratory run.
pub const EXPLORATORY_CERTIFIES_NOTHING: &str =
    "An exploratory run certifies nothing: what it shows can only be certified by the one confirmatory run of a lock.";

/// What a reader must know before a verdict of this weight; nothing where it is one.
pub fn caution(weight: Weight) -> Option<&'static str> {
    match weight {
        Weight::Certifies => None,
        Weight::Exploratory => Some(EXPLORATORY_CERTIFIES_NOTHING),
        Weight::Scripted => Some(MOCK_IS_NO_EVIDENCE),
    }
}

/// Every verdict with its sentence.
pub fn verdicts(certificate: &Certificate) -> impl Iterator<Item = (&LevelReport, String)> {
    certificate.levels.iter().map(|level| (level, sentence(certificate, level)))
}

/// A sentence per verdict, then what holds for the whole run.
pub fn sentences(certificate: &Certificate, planned: Planned) -> Vec<String> {
    let mut all: Vec<String> = verdicts(certificate).map(|(_, sentence)| sentence).collect();
    if certificate.underpowered {
        all.push(
            "The protocol's sizes do not reach its planned power; an inconclusive level may only need more tasks."
                .to_owned(),
        );
    }
    all.extend(remark(certificate, planned));
    all.extend(caution(certificate.weight()).map(str::to_owned));
    all
}

fn sentence(certificate: &Certificate, level: &LevelReport) -> String {
    let name = format!("bench {}", level.arm);
    let margin = margin_points(certificate);
    let reference = certificate.families.get(&level.family).map_or("its reference", |family| &*family.reference);
    let strict = if level.family.has_tools() { Endpoint::Arguments } else { Endpoint::Answer };
    let effect = level.endpoints.get(&strict).map(|seen| effect(strict, seen)).unwrap_or_default();
    let effect = effect + &expand_rate(certificate, level);
    let because = because(level);
    let real = certificate.can_certify();
    match level.status {
        Status::Certified => {
            let verb = if real { "is certified" } else { "would be certified" };
            format!(
                "{name} {verb}: less than {margin} points worse than {reference} for other requests to these tools{effect}.{}",
                robust(level)
            )
        }
        Status::Failed => {
            let verb = if real { "failed" } else { "would fail" };
            format!("{name} {verb}{effect}{because}.")
        }
        Status::Inconclusive => format!(
            "{name} is inconclusive: shown neither to lose less than {margin} points nor to lose more{effect}{because}."
        ),
        Status::NotTested => format!("{name} was not tested{because}; its numbers are description."),
        Status::NotEvaluated => format!("{name} was not evaluated{because}."),
        Status::NoVerdict => format!("There is no verdict on {name}{because}."),
    }
}

/// The margin in percentage points, as short as it goes.
fn margin_points(certificate: &Certificate) -> String {
    certificate.rule.margin.parse::<f64>().map_or_else(
        |_| certificate.rule.margin.clone(),
        |margin| {
            let text = format!("{:.4}", 100.0 * margin);
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        },
    )
}

fn effect(endpoint: Endpoint, seen: &EndpointReport) -> String {
    let point = signed(100.0 * seen.difference.value());
    let Some(interval) = seen.intervals.first() else { return String::new() };
    let end = |text: &str| text.parse::<f64>().map_or_else(|_| "?".to_owned(), |end| signed(100.0 * end));
    let level = interval.level.parse::<f64>().map_or_else(|_| "?".to_owned(), |level| format!("{:.0}", 100.0 * level));
    format!(" ({endpoint} {point} points, {level} % CI {} to {})", end(&interval.lower), end(&interval.upper))
}

fn because(level: &LevelReport) -> String {
    if level.reasons.is_empty() {
        return String::new();
    }
    let texts: Vec<&str> = level.reasons.iter().map(|reason| reason.text.as_str()).collect();
    format!(", because {}", texts.join("; "))
}

fn robust(level: &LevelReport) -> String {
    if !level.family.has_tools() {
        return String::new();
    }
    if level.tool_robust {
        return " It is tool-robust: the claim extends to other tools.".to_owned();
    }
    let texts: Vec<&str> = level.reasons.iter().map(|reason| reason.text.as_str()).collect();
    format!(" It is not tool-robust: {}.", texts.join("; "))
}

/// For R: a digest that always expands is raw.
fn expand_rate(certificate: &Certificate, level: &LevelReport) -> String {
    if level.family != FamilyKind::Results {
        return String::new();
    }
    let arm = certificate.arms.iter().find(|arm| arm.family == level.family && arm.arm == level.arm);
    arm.map(|arm| {
        let rate = 100.0 * arm.episodes_with_meta as f64 / arm.flow.attempted.max(1) as f64;
        format!(", expanding in {rate:.1} % of episodes")
    })
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bench_protocol::{spec::Protocol, verdict::Reason};

    use super::*;
    use crate::{
        certificate::{ReasonReport, fixture::certificate},
        record::RunKind,
    };

    fn planned() -> Planned {
        Planned::of(&Protocol::built_in().unwrap())
    }

    fn set(certificate: &mut Certificate, at: usize, status: Status, reason: Reason) {
        certificate.levels[at].status = status;
        certificate.levels[at].tool_robust = false;
        certificate.levels[at].reasons = vec![ReasonReport { text: reason.to_string(), reason }];
    }

    #[test]
    fn a_plumbing_run_speaks_in_the_conditional_and_ends_with_what_a_mock_is() {
        insta::assert_snapshot!(sentences(&certificate(), planned()).join("\n"));
    }

    #[test]
    fn an_exploratory_run_never_says_that_anything_is_certified() {
        let mut one = certificate();
        one.kind = RunKind::Live;
        one.confirmatory = false;
        let all = sentences(&one, planned()).join("\n");
        assert!(all.contains("would be certified") && !all.contains("is certified"), "{all}");
        assert!(all.ends_with(EXPLORATORY_CERTIFIES_NOTHING), "{all}");
    }

    #[test]
    fn every_status_has_its_sentence() {
        let mut live = certificate();
        live.kind = RunKind::Live;
        live.confirmatory = true;
        live.underpowered = false;
        let base = live.clone();
        let mut all = Vec::new();
        for (status, reason) in [
            (Status::Certified, Reason::ToolClusters { endpoint: Endpoint::Arguments }),
            (Status::Failed, Reason::HarmGuard { tools: vec!["git/git_log".into()] }),
            (Status::Inconclusive, Reason::NoiseTooHigh { arm: "raw-again".into() }),
            (Status::NotTested, Reason::EarlierLevel { arm: "L0".into() }),
            (Status::NotEvaluated, Reason::TooManyMissing { missing: 31, pairs: 1_000 }),
            (Status::NoVerdict, Reason::ControlCertified { arm: "planted-loss".into() }),
        ] {
            let mut one = base.clone();
            one.levels.truncate(1);
            set(&mut one, 0, status, reason);
            all.extend(sentences(&one, planned()));
        }
        insta::assert_snapshot!(all.join("\n"));
    }
}
