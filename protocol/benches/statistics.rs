//! The speed of the statistics that a verdict and a plan wait for.
#![expect(clippy::expect_used, reason = "the inputs are constants")]

use std::hint::black_box;
use std::num::NonZeroUsize;

use bench_protocol::rng;
use bench_protocol::simulate::run::Options;
use bench_protocol::simulate::{Layout, Scenario, Simulator, Truths};
use bench_protocol::spec::Protocol;
use bench_protocol::stats::bootstrap::Bootstrap;
use bench_protocol::stats::cluster_bootstrap::cluster_bootstrap;
use bench_protocol::stats::exact::exact_test;
use bench_protocol::stats::power::{Truth, exact_power};
use bench_protocol::stats::region::GateRegion;
use bench_protocol::stats::sample_size::sample_size;
use bench_protocol::stats::{Alpha, Margin, PairedCounts};
use criterion::{Criterion, criterion_group, criterion_main};

fn inputs() -> (Margin, Alpha) {
    ("0.02".parse().expect("a margin"), Alpha::new(0.05).expect("a level"))
}

fn counts(n: u64, gain: u64, loss: u64) -> PairedCounts {
    PairedCounts::new(n, gain, loss).expect("a table")
}

fn truth() -> Truth {
    Truth::new(0.05, 0.0).expect("a truth")
}

fn one_table(c: &mut Criterion) {
    let (margin, alpha) = inputs();
    let table = counts(1_900, 40, 48);
    c.bench_function("exact guard, n = 1,900", |b| b.iter(|| exact_test(black_box(table), margin)));
    c.bench_function("exact bootstrap with BCa, n = 1,900", |b| {
        b.iter(|| Bootstrap::new(black_box(table), margin, alpha));
    });
    let tools: Vec<PairedCounts> = (0..78).map(|i| counts(24, i % 3, (i * 7) % 4)).collect();
    c.bench_function("cluster bootstrap, 10,000 x 78", |b| {
        b.iter(|| cluster_bootstrap(black_box(&tools), margin, alpha, 10_000, &mut rng::stream([7; 32], 0)));
    });
}

fn planning(c: &mut Criterion) {
    let (margin, alpha) = inputs();
    c.bench_function("exact power, n = 2,000", |b| b.iter(|| exact_power(black_box(2_000), truth(), margin, alpha)));
    c.bench_function("sample size, psi = 0.05, power 0.95", |b| {
        b.iter(|| sample_size(black_box(truth()), margin, alpha, 0.95));
    });
    let hard = (Truth::new(0.15, 0.0).expect("a truth"), "0.01".parse().expect("a margin"));
    c.bench_function("sample size, psi = 0.15, margin 0.01, power 0.95", |b| {
        b.iter(|| sample_size(black_box(hard.0), hard.1, alpha, 0.95));
    });
}

fn simulation(c: &mut Criterion) {
    let (margin, alpha) = inputs();
    c.bench_function("region of G1 and G2, n = 1,900", |b| b.iter(|| GateRegion::new(black_box(1_900), margin, alpha)));
    let region = GateRegion::new(1_900, margin, alpha);
    // A trial draws every task, as a simulation of nested tasks has to.
    c.bench_function("20,000 trials of n = 1,900", |b| {
        b.iter(|| {
            let mut rng = rng::stream([7; 32], 1);
            let mut passed = 0_u32;
            for _ in 0..20_000 {
                let (mut gain, mut loss) = (0, 0);
                for _ in 0..1_900 {
                    let draw = rng::index(&mut rng, 1_000);
                    gain += u64::from(draw < 15);
                    loss += u64::from((15..50).contains(&draw));
                }
                passed += u32::from(region.passes_g1(gain, loss) && region.passes_g2(gain, loss));
            }
            passed
        });
    });
}

/// Whole runs: every pass drawn on nested tasks, every gate, guard and control.
fn whole_rule(c: &mut Criterion) {
    let protocol = Protocol::built_in().expect("the built-in protocol");
    let layout = Layout { tools: 78, frames_per_tool: 12, tasks_per_frame: 2, abstain_tasks: 66, damage_tasks: 400 };
    let simulator = Simulator::new(&protocol, layout, "bench").expect("a simulator");
    let scenario = Scenario::named("bench", 0.05, 0.3, 0.05);
    let options = Options { replicates: 1_000, threads: NonZeroUsize::MIN, replicated: false, selection_share: None };
    c.bench_function("1,000 runs of the whole rule, n = 1,872, four levels", |b| {
        b.iter(|| simulator.rates(black_box(&scenario), &Truths(vec![0.0; 4]), "bench", &options));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = one_table, planning, simulation, whole_rule
}
criterion_main!(benches);
