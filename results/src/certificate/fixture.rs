//! A made-up run for tests.

use std::collections::BTreeMap;

use bench_protocol::{
    digest::Digest,
    lock::{OperatingCharacteristics, OperatingPoint, SizePoint},
    simulate::Claim,
    spec::Protocol,
    stats::ExactCache,
    verdict::{FamilyVerdict, Rule, evaluate},
};

use super::{
    ArmSubject, CatalogSubject, Certificate, ModelSubject, RecordSubject, ScheduleSubject, Subjects, SurfaceSize,
    TaskSubject, TokenSource,
};
use crate::{
    analysis::{
        Analysis,
        fixture::{ARMS, accumulator, episodes, margin, reporting},
    },
    record::RunKind,
};

pub(crate) fn subjects() -> Subjects {
    let arm = |id: &str| ArmSubject {
        origin: "bench".to_owned(),
        summary: format!("the arm {id}"),
        version: None,
        licence: None,
        surface: Digest::of(id.as_bytes()),
        fallbacks: BTreeMap::new(),
        waivers: Vec::new(),
    };
    let size = |tokens| SurfaceSize {
        tools: 78,
        bytes: 4 * tokens,
        tokens,
        source: TokenSource::Bpe,
        counted_by: "o200k".to_owned(),
    };
    Subjects {
        kind: RunKind::Plumbing,
        confirmatory: false,
        protocol: Digest::of(b"protocol"),
        locks: Vec::new(),
        catalogs: [(
            "git".to_owned(),
            CatalogSubject {
                digest: Digest::of(b"git"),
                package: None,
                version: None,
                licence: None,
                provenance: None,
            },
        )]
        .into(),
        arms: ARMS.into_iter().map(|id| (id.to_owned(), arm(id))).collect(),
        model: ModelSubject {
            provider: "mock".to_owned(),
            asked: "noisy".to_owned(),
            returned: vec!["mock-noisy".to_owned()],
            host: None,
            api_version: None,
            sampling: BTreeMap::new(),
            days: None,
            prices: None,
        },
        tasks: [(
            "tools".to_owned(),
            TaskSubject {
                generator: 1,
                seed: "seed".to_owned(),
                derivation: "SHA-256(protocol, 0x00, purpose)".to_owned(),
                n: 1_000,
                digest: Digest::of(b"tasks"),
            },
        )]
        .into(),
        schedule: ScheduleSubject { rule: "arms shuffled within each task".to_owned(), seed: "seed".to_owned() },
        sizes: ARMS.into_iter().map(|id| (id.to_owned(), size(if id == "L1" { 7_934 } else { 9_688 }))).collect(),
        spend: None,
        usage_source: TokenSource::Estimate,
        record: RecordSubject { attempts: 6_000, episodes: 6_000, digest: None },
        power: Some(power()),
        underpowered: true,
        deviations: Vec::new(),
    }
}

/// One outlook, and the size of the rule where it holds its level and where it does not.
pub(crate) fn power() -> OperatingCharacteristics {
    let size = |scenario: &str, claim, rate_ppm, caveat: Option<&str>| SizePoint {
        scenario: scenario.to_owned(),
        claim,
        rate_ppm,
        se_ppm: 1_500,
        within: caveat.is_none(),
        caveat: caveat.map(str::to_owned),
    };
    OperatingCharacteristics {
        method: "simulated".to_owned(),
        replicates: 20_000,
        sup_size_ppm: 50_100,
        points: vec![OperatingPoint {
            scenario: "planned".to_owned(),
            difference: "0".to_owned(),
            certify_ppm: [("L0".to_owned(), 930_000), ("L1".to_owned(), 890_000)].into(),
            chain_ppm: 890_000,
            default_rule_ppm: 610_000,
            no_verdict_ppm: 0,
        }],
        sizes: vec![
            size("planned", Claim::Frames, 41_200, None),
            size("quiet", Claim::Frames, 38_000, None),
            size("tools", Claim::Frames, 90_530, Some("tools are drawn anew")),
            size("planned", Claim::Tools, 9_000, None),
        ],
    }
}

pub(crate) fn run() -> (Rule, Analysis, FamilyVerdict) {
    let mut all = accumulator(1_000);
    for episode in &episodes(1_000) {
        all.push(episode).unwrap();
    }
    let analysis = all.finish(margin(), &reporting()).unwrap();
    let rule = Rule::of(&Protocol::built_in().unwrap()).unwrap();
    let verdict = evaluate(&rule, &analysis.input, &ExactCache::new()).unwrap();
    (rule, analysis, verdict)
}

pub(crate) fn certificate() -> Certificate {
    let (rule, analysis, verdict) = run();
    Certificate::new(&subjects(), &rule, &[(&analysis, &verdict)])
}
