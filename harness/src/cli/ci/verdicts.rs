//! Verdicts as cases. A case fails where the command's exit code says so; a verdict that nobody required is open until it
//! certifies.

use bench_protocol::verdict::Status;
use bench_results::{
    certificate::Certificate,
    record::Weight,
    table::{self, Planned, Showing},
};

use super::{Case, Outcome};
use crate::{
    cli::check,
    compare::{ArmRow, Comparison},
    exit,
};

/// What the exit code of a run holds it to.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Held<'a> {
    /// The arm of `--require`, which then decides alone.
    pub(in crate::cli) required: Option<&'a str>,
    /// Every level must certify.
    pub(in crate::cli) levels: bool,
    /// Every control must behave.
    pub(in crate::cli) controls: bool,
}

/// The verdicts of a run, its controls, and whether its references could have shown a difference.
pub(in crate::cli) fn of_run(certificate: &Certificate, planned: Planned, held: Held<'_>) -> Vec<Case> {
    let alone = held.required.is_some();
    let mut cases: Vec<Case> = table::verdicts(certificate)
        .map(|(level, text)| {
            let name = level.arm.to_string();
            // An exploratory run has no verdict to give, whatever its words.
            let gives = certificate.weight() != Weight::Exploratory;
            match held.required {
                Some(arm) if *level.arm == *arm => {
                    Case::required(name, check::required(arm, certificate) == exit::OK, text)
                }
                _ => case(name, gives && level.status == Status::Certified, held.levels && !alone, text),
            }
        })
        .collect();
    let must = held.controls && !alone;
    cases.extend(certificate.controls.iter().map(|control| {
        let text = format!("control: {}", table::control_word(control, planned));
        // What so few tasks cannot show is open, unless the exit code takes it as it stands.
        let few = Showing::of(control, planned) == Showing::TooFewTasks;
        case(control.arm.to_string(), control.behaved && !few, must && !(few && control.behaved), text)
    }));
    cases.extend(certificate.families.values().map(|family| {
        let reasons: Vec<&str> = family.reasons.iter().map(|reason| reason.text.as_str()).collect();
        let text = if reasons.is_empty() {
            "reference: it could have shown a difference".to_owned()
        } else {
            reasons.join("; ")
        };
        case(family.reference.to_string(), family.assay_sensitive, must, text)
    }));
    cases
}

/// The verdicts of a comparison. An arm that is only shown has none.
pub(in crate::cli) fn of_comparison(comparison: &Comparison, required: Option<&str>) -> Vec<Case> {
    let mut cases: Vec<Case> = comparison.arms.iter().filter_map(|row| of_arm(row, required)).collect();
    cases.extend(
        comparison
            .not_started
            .iter()
            .map(|down| Case::required(&down.arm, false, format!("did not start: {}", down.why))),
    );
    cases.extend(comparison.absent.iter().map(|absent| case(absent.arm.clone(), false, false, absent.why.clone())));
    cases
}

fn of_arm(row: &ArmRow, required: Option<&str>) -> Option<Case> {
    let down = row.external.iter().flat_map(|external| &external.not_started);
    let down: Vec<String> =
        down.map(|down| format!("did not start for {}: {}", down.servers.join(", "), down.why)).collect();
    if !down.is_empty() {
        return Some(Case::required(&row.arm, false, down.join("; ")));
    }
    if row.not_driven {
        let text = "not driven: the scripted model decided nothing through it";
        return Some(case(row.arm.clone(), false, required == Some(row.arm.as_str()), text.to_owned()));
    }
    let test = row.test.as_ref()?;
    let mut text = format!(
        "{}: selection {:.1} %, with arguments {:.1} %",
        table::status_word(test.status, Weight::Scripted),
        row.selection.percent(),
        row.arguments.percent()
    );
    for reason in &test.reasons {
        text = format!("{text}; {reason}");
    }
    let certified = test.status == Status::Certified;
    Some(case(row.arm.clone(), certified, required == Some(row.arm.as_str()), text))
}

fn case(name: String, pass: bool, must: bool, text: String) -> Case {
    let outcome = match (pass, must) {
        (true, _) => Outcome::Pass,
        (false, true) => Outcome::Fail,
        (false, false) => Outcome::Open,
    };
    Case { name, outcome, text }
}

#[cfg(test)]
mod tests {
    use bench_protocol::spec::Protocol;

    use super::*;
    use crate::verdict::tests::certificate;

    fn outcome(certificate: &Certificate, held: Held<'_>, arm: &str) -> Outcome {
        let planned = Planned::of(&Protocol::built_in().unwrap());
        of_run(certificate, planned, held).into_iter().find(|case| case.name == arm).unwrap().outcome
    }

    #[test]
    fn a_case_fails_exactly_where_the_exit_code_does() {
        let mut one = certificate();
        let arm = one.levels[0].arm.to_string();
        let free = Held { required: None, levels: false, controls: false };
        let all = Held { levels: true, controls: true, ..free };
        let named = Held { required: Some(&arm), ..all };
        one.confirmatory = true;
        for (status, expected) in [
            (Status::Certified, [Outcome::Pass; 3]),
            (Status::Failed, [Outcome::Open, Outcome::Fail, Outcome::Fail]),
            (Status::Inconclusive, [Outcome::Open, Outcome::Fail, Outcome::Fail]),
            (Status::NoVerdict, [Outcome::Open, Outcome::Fail, Outcome::Fail]),
        ] {
            one.levels[0].status = status;
            assert_eq!([free, all, named].map(|held| outcome(&one, held, &arm)), expected, "{status:?}");
        }
        // What another arm comes to is nothing that `--require` asks for.
        let other = Held { required: Some("nobody"), ..all };
        assert_eq!(outcome(&one, other, &arm), Outcome::Open);
        // An exploratory run gives no verdict.
        one.levels[0].status = Status::Certified;
        one.confirmatory = false;
        assert_eq!([free, named].map(|held| outcome(&one, held, &arm)), [Outcome::Open, Outcome::Fail]);
    }
}
