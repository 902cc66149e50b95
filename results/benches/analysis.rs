//! From episodes to a certificate: 1,900 tasks under 9 arms.

use std::{collections::BTreeMap, hint::black_box};

use bench_protocol::{
    digest::Digest,
    rng::{index, stream},
    spec::Protocol,
    stats::ExactCache,
    verdict::{Rule, evaluate},
};
use bench_results::{
    analysis::{Accumulator, FamilySpec, Reporting, TaskMeta, TaskTable},
    record::{End, EpisodeRecord, Usage},
};
use bench_tasks::task::TaskId;
use criterion::{Criterion, criterion_group, criterion_main};

const TASKS: u64 = 1_900;

/// Eight arms of the protocol: the ninth, `L4`, stands for an external one among the levels.
fn setting() -> (FamilySpec, TaskTable, Vec<EpisodeRecord>, Protocol) {
    let mut protocol = Protocol::built_in().unwrap_or_else(|error| panic!("{error}"));
    protocol.arms.levels.push("L4".to_owned());
    let ran: Vec<String> = [protocol.arms.reference.clone()]
        .into_iter()
        .chain(protocol.arms.levels.clone())
        .chain(protocol.arms.controls.clone())
        .collect();
    let names: Vec<&str> = ran.iter().map(String::as_str).collect();
    let spec = FamilySpec::levels(&protocol, &names).unwrap_or_else(|error| panic!("{error}"));
    let metas = (0..TASKS).map(|i| TaskMeta {
        id: TaskId(format!("t{i:016x}")),
        index: i,
        server: Some(format!("s{}", i % 78 % 8).into()),
        tool: Some(format!("t{}", i % 78).into()),
        frame: format!("f{}", i % 936).into(),
        stratum: "plain".into(),
        affected: vec![true; spec.arms.len()],
    });
    let table = TaskTable::new(metas, spec.arms.len()).unwrap_or_else(|error| panic!("{error}"));
    let mut episodes = Vec::new();
    for i in 0..TASKS {
        for (place, arm) in (0..).zip(&spec.arms) {
            let wrong = match &*arm.id {
                "planted-loss" => 80_000,
                "names-only" => 600_000,
                _ => 10_000,
            };
            let right = index(&mut stream([3; 32], i * 16 + place), 1_000_000) >= wrong;
            episodes.push(EpisodeRecord {
                task: TaskId(format!("t{i:016x}")),
                arm: arm.id.clone(),
                turns: 1,
                calls: Vec::new(),
                meta_calls: 0,
                rejected_calls: 0,
                end: End::Decided,
                answer: None,
                surface: Digest::of(arm.id.as_bytes()),
                usage: Usage { input: 9_000, output: 60, ..Usage::default() },
                billed: 0,
                selection: Some(right),
                arguments: Some(right),
                first_call_ok: Some(right),
                look_first_ok: Some(right),
            });
        }
    }
    (spec, table, episodes, protocol)
}

fn analysis(c: &mut Criterion) {
    let (spec, table, episodes, protocol) = setting();
    let rule = Rule::of(&protocol).unwrap_or_else(|error| panic!("{error}"));
    let reporting = Reporting { alpha: rule.alpha(), resamples: 10_000, seed: [1; 32] };
    let filled = || {
        let mut all = Accumulator::new(spec.clone(), table.clone()).unwrap_or_else(|error| panic!("{error}"));
        for episode in &episodes {
            all.push(episode).unwrap_or_else(|error| panic!("{error}"));
        }
        all
    };
    let accumulator = filled();
    let counted = accumulator.finish(rule.margin(), &reporting).unwrap_or_else(|error| panic!("{error}"));
    c.bench_function("accumulate 1,900 tasks × 9 arms", |b| b.iter(|| black_box(filled())));
    let plain = Reporting { resamples: 1, ..reporting };
    c.bench_function("tables 1,900 tasks × 9 arms", |b| {
        b.iter(|| black_box(accumulator.finish(rule.margin(), &plain)));
    });
    c.bench_function("tables and bootstraps of 10,000 resamples", |b| {
        b.iter(|| black_box(accumulator.finish(rule.margin(), &reporting)));
    });
    c.bench_function("verdict rule, cold cache", |b| {
        b.iter(|| black_box(evaluate(&rule, &counted.input, &ExactCache::new())));
    });
    let lines: BTreeMap<usize, String> =
        episodes.iter().enumerate().map(|(i, e)| (i, serde_json::to_string(e).unwrap_or_default())).collect();
    c.bench_function("read 17,100 episode lines", |b| {
        b.iter(|| {
            for line in lines.values() {
                black_box(serde_json::from_str::<EpisodeRecord>(line).is_ok());
            }
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = analysis
}
criterion_main!(benches);
