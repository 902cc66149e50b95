//! The rule over certificates of whole offline runs, dressed up as live ones.

use std::sync::OnceLock;

use bench_mock_model::Behaviour;
use bench_protocol::verdict::Status;
use bench_results::{
    certificate::LockSubject,
    record::{FormatVersion, Manifest, ModelIds, RunKind},
};

use super::*;
use crate::{
    build,
    conclude::{Facts, Judge},
    inputs::{Inputs, Overrides},
    run::{
        mock::Mock,
        offline::{Setting, run_episode},
        prepare::{Prepared, RunSpec},
    },
    wire::Settings,
};

fn inputs() -> Inputs {
    Inputs::load(&Overrides::default()).unwrap()
}

/// A small run, live and confirmatory: its statuses are set by the tests.
pub(crate) fn certificate() -> Certificate {
    static MADE: OnceLock<Certificate> = OnceLock::new();
    MADE.get_or_init(|| {
        let inputs = inputs();
        let arms: Vec<String> = ["L0", "L1", "L2", "R"].map(str::to_owned).to_vec();
        let spec = RunSpec::of(&inputs, &inputs.protocol.seeds.primary, &arms, Some(24)).unwrap();
        let prepared = Prepared::new(&inputs, &spec).unwrap();
        let mut judge = Judge::new(&inputs, &prepared).unwrap();
        let model = Mock::new(Behaviour::Oracle, &inputs.protocol.mock, &prepared);
        let settings = Settings::of(&inputs.protocol);
        let setting = Setting::scripted(&inputs, &settings);
        for family in &prepared.families {
            for task in (0..family.tasks.len()).filter_map(|index| family.tasks.task(index)) {
                for arm in &family.arms {
                    let system = family.system(&inputs.protocol);
                    let trace = run_episode(&task, arm.as_ref(), system, setting, &model, &mut Vec::new()).unwrap();
                    judge.push(&trace.record).unwrap();
                }
            }
        }
        let manifest = Manifest {
            schema: FormatVersion,
            id: "r".to_owned(),
            kind: RunKind::Live,
            confirmatory: true,
            lock: None,
            model: ModelIds { provider: "x".to_owned(), asked: "a".to_owned(), returned: Vec::new(), host: None },
            arms: spec.arms,
            suites: spec.suites,
            prices: None,
            budget: None,
            build: build::info(),
            started: None,
            finished: None,
            complete: true,
            deviations: Vec::new(),
        };
        let mut certificate = judge.conclude(&manifest, &Facts::default()).unwrap().certificate;
        certificate.underpowered = false;
        certificate
    })
    .clone()
}

fn run(id: &str, seed: &str, model: &str, certified: &[&str]) -> Verified {
    let mut certificate = certificate();
    for tasks in certificate.tasks.values_mut() {
        seed.clone_into(&mut tasks.seed);
    }
    model.clone_into(&mut certificate.model.asked);
    for level in &mut certificate.levels {
        level.status = if certified.contains(&&*level.arm) { Status::Certified } else { Status::Inconclusive };
        level.tool_robust = true;
    }
    Verified { run: id.to_owned(), certificate, entered: true }
}

fn both(primary: &[&str], replication: &[&str]) -> Vec<Verified> {
    let protocol = inputs().protocol;
    let (seeds, model) = (&protocol.seeds, &protocol.model);
    vec![
        run("r1", &seeds.primary, &model.id, primary),
        run("r2", &seeds.replication, &model.replication_id, replication),
    ]
}

#[test]
fn the_most_aggressive_level_certified_on_both_models_is_the_answer() {
    let inputs = inputs();
    let seen = answer(&inputs.protocol, &both(&["L0", "L1", "L2", "R"], &["L0", "L1", "R"])).unwrap();
    assert_eq!((&*seen.level, seen.earned, &*seen.would_be), ("L1", true, "L1"));
    assert_eq!(seen.results, [Arc::from("R")]);
    assert!(seen.because.is_empty());
    let seen = answer(&inputs.protocol, &both(&["L0", "L1", "R"], &["L0", "L1"])).unwrap();
    assert_eq!(seen.results, [] as [Arc<str>; 0], "R must be certified on both");
}

#[test]
fn without_a_replication_the_fallback_stays_and_the_answer_says_why() {
    let inputs = inputs();
    let seen = answer(&inputs.protocol, &both(&["L0", "L1"], &[])[..1]).unwrap();
    assert_eq!((&*seen.level, seen.earned), ("L0", false));
    assert!(seen.because[0].contains("replication on gpt-5-mini"), "{:?}", seen.because);
}

#[test]
fn a_level_that_is_not_tool_robust_on_the_primary_model_gives_way() {
    let inputs = inputs();
    let mut runs = both(&["L0", "L1"], &["L0", "L1"]);
    for level in &mut runs[0].certificate.levels {
        level.tool_robust = &*level.arm != "L1";
    }
    assert_eq!(&*answer(&inputs.protocol, &runs).unwrap().level, "L0");
    for level in &mut runs[1].certificate.levels {
        level.tool_robust = false;
    }
    assert!(answer(&inputs.protocol, &runs).unwrap().earned, "the replication needs no label");
}

#[test]
fn a_scripted_or_exploratory_run_earns_nothing_but_shows_what_would_be() {
    let inputs = inputs();
    for change in [
        |c: &mut Certificate| c.kind = RunKind::Plumbing,
        |c: &mut Certificate| c.confirmatory = false,
        |c: &mut Certificate| c.underpowered = true,
    ] {
        let mut runs = both(&["L0", "L1"], &["L0", "L1"]);
        change(&mut runs[0].certificate);
        let seen = answer(&inputs.protocol, &runs).unwrap();
        assert_eq!((&*seen.level, seen.earned, &*seen.would_be), ("L0", false, "L1"));
        assert!(seen.because[0].contains("r1"), "{:?}", seen.because);
    }
}

#[test]
fn a_run_that_the_published_ledger_does_not_have_earns_nothing() {
    let inputs = inputs();
    for at in [0, 1] {
        let mut runs = both(&["L0", "L1"], &["L0", "L1"]);
        runs[at].entered = false;
        let seen = answer(&inputs.protocol, &runs).unwrap();
        assert_eq!((&*seen.level, seen.earned, &*seen.would_be), ("L0", false, "L1"));
        assert!(seen.because[0].contains("ledger"), "{:?}", seen.because);
    }
}

#[test]
fn runs_that_do_not_belong_together_are_refused() {
    let inputs = inputs();
    let refused = |runs: &[Verified]| answer(&inputs.protocol, runs).unwrap_err();
    let (seeds, model) = (&inputs.protocol.seeds, &inputs.protocol.model);
    let mut other = both(&["L0"], &["L0"]);
    other[1].certificate.protocol = Digest::of(b"another");
    assert!(matches!(refused(&other), VerdictError::Protocol { .. }));
    let mut relocked = both(&["L0"], &["L0"]);
    for (one, name) in relocked.iter_mut().zip([b"first", b"later"]) {
        one.certificate.locks = vec![LockSubject { id: Digest::of(name), reason: "a".to_owned(), data_seen: false }];
    }
    assert_eq!(refused(&relocked), VerdictError::Lock { run: "r2".to_owned(), first: "r1".to_owned() });
    assert!(matches!(refused(&[run("r1", "own", &model.id, &[])]), VerdictError::Seed { .. }));
    let twice = [run("r1", &seeds.primary, &model.id, &[]), run("r2", &seeds.primary, &model.id, &[])];
    assert!(matches!(refused(&twice), VerdictError::Twice { .. }));
    assert_eq!(refused(&[run("r2", &seeds.replication, &model.replication_id, &[])]), VerdictError::NoPrimary);
}

#[test]
fn a_run_that_could_certify_must_be_on_the_model_of_its_role() {
    let inputs = inputs();
    let refused = |runs: &[Verified]| answer(&inputs.protocol, runs).unwrap_err();
    for at in 0..2 {
        let mut runs = both(&["L0"], &["L0"]);
        runs[at].certificate.model.asked = "other".to_owned();
        assert!(matches!(refused(&runs), VerdictError::Model { model, .. } if model == "other"));
        // An exploratory run is on whatever model it likes: it earns nothing.
        runs[at].certificate.confirmatory = false;
        assert!(!answer(&inputs.protocol, &runs).unwrap().earned);
    }
    let mut same = both(&["L0"], &["L0"]);
    for one in &mut same {
        one.certificate.confirmatory = false;
        one.certificate.model.asked = "a".to_owned();
    }
    assert!(matches!(refused(&same), VerdictError::SameModel { .. }));
}
