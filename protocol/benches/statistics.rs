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
use rand_chacha::rand_core::RngCore as _;

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

/// What the memory alone takes: words drawn beforehand are read one after the other and counted into a table that stays
/// in the cache. The bootstrap and the simulation draw their words, a block of the generator at a time, and are held
/// against the sum of this and of drawing.
fn plain_loops(c: &mut Criterion) {
    let words = |count: usize| {
        let mut rng = rng::stream([7; 32], 0);
        (0..count).map(|_| rng.next_u64()).collect::<Vec<u64>>()
    };
    let pairs: Vec<(i64, u64)> = (0..78).map(|i| (i % 5 - 2, 24)).collect();
    let resampled = words(10_000 * 78);
    c.bench_function("plain loop of the cluster bootstrap, words in memory", |b| {
        b.iter(|| {
            let sums = black_box(&resampled).chunks_exact(78).map(|resample| {
                resample.iter().fold((0, 0), |sum, &word| {
                    let place = usize::try_from((u128::from(word) * 78) >> 64).expect("below 78");
                    let (net, n) = pairs[place];
                    (sum.0 + net, sum.1 + n)
                })
            });
            sums.collect::<Vec<(i64, u64)>>()
        });
    });
    c.bench_function("words of the cluster bootstrap, drawn", |b| b.iter(|| words(10_000 * 78)));
    drop(resampled);
    let tasks = words(20_000 * 1_900);
    c.bench_function("plain loop of 20,000 trials, words in memory", |b| {
        b.iter(|| {
            let counts = black_box(&tasks).chunks_exact(1_900).map(|trial| {
                trial.iter().fold((0_u64, 0_u64), |(gain, loss), &word| {
                    let draw = (u128::from(word) * 1_000) >> 64;
                    (gain + u64::from(draw < 15), loss + u64::from((15..50).contains(&draw)))
                })
            });
            counts.filter(|&(gain, loss)| gain > loss).count()
        });
    });
    c.bench_function("words of 20,000 trials, drawn", |b| {
        b.iter(|| {
            let mut rng = rng::stream([7; 32], 1);
            (0..20_000 * 1_900).fold(0, |all, _| all ^ rng.next_u64())
        });
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
    targets = one_table, plain_loops, planning, simulation, whole_rule
}
criterion_main!(benches);
