//! A million tasks from the compiled-in intents, and the check that a small plan goes through first.

#![expect(clippy::expect_used, reason = "a bench fails by panicking")]

use std::{hint::black_box, time::Duration};

use bench_tasks::{Catalogs, CheckOptions, FrameSet, Generator, Intents, Plan, check};
use criterion::{Criterion, criterion_group, criterion_main};

const PLAN: Plan = Plan {
    tool_tasks: 1_000_000,
    abstain_tasks: 0,
    frames_per_tool: 12,
    abstain_frames: 0,
    frames: FrameSet::Scored,
    allow_incomplete: true,
};

fn generate(criterion: &mut Criterion) {
    let catalogs = Catalogs::vendored().expect("the vendored catalogs load");
    let intents = Intents::embedded();
    let million = Generator::new(&intents, &catalogs, [1; 32], PLAN).expect("the embedded intents are sound");
    let mut group = criterion.benchmark_group("generate");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    group.bench_function("a million tasks", |bencher| {
        bencher.iter(|| million.iter().map(|task| black_box(task).utterance.len()).sum::<usize>());
    });
    group.bench_function("a generator of 1,872 tasks, checked for ambiguity", |bencher| {
        bencher.iter(|| Generator::new(&intents, &catalogs, [1; 32], Plan { tool_tasks: 1872, ..PLAN }));
    });
    group.bench_function("read the intents", |bencher| bencher.iter(Intents::embedded));
    group.bench_function("check the intents", |bencher| {
        bencher.iter(|| check(&intents, &catalogs, &CheckOptions::default()));
    });
    group.finish();
}

criterion_group!(benches, generate);
criterion_main!(benches);
