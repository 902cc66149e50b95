//! Reservations per second, each on disk before it is acknowledged, with 64 waiting at any time.

#![expect(clippy::expect_used, reason = "a bench that cannot open its files measures nothing")]

use std::{sync::Arc, time::Instant};

use bench_harness::{
    journal::{Asked, Durability, Journal},
    meter::Limits,
};
use bench_protocol::digest::Digest;
use bench_results::record::DrawId;
use bench_tasks::task::TaskId;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const WAITERS: u64 = 64;
const EACH: u64 = 32;

async fn reserve(journal: Arc<Journal>) {
    let mut waiters = tokio::task::JoinSet::new();
    for waiter in 0..WAITERS {
        let journal = Arc::clone(&journal);
        waiters.spawn(async move {
            for turn in 1..=EACH {
                let turn = u32::try_from(turn).unwrap_or_default();
                let draw = DrawId { task: TaskId(format!("t{waiter:016x}")), arm: "raw".into(), turn };
                let digest = Digest::of(b"request");
                let asked = Asked { draw, attempt: 1, reserve: 1, request: digest.clone(), surface: digest };
                assert!(journal.admit(asked).await.is_ok());
            }
        });
    }
    waiters.join_all().await;
}

fn reservations(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let mut group = criterion.benchmark_group("journal");
    group.throughput(Throughput::Elements(WAITERS * EACH)).sample_size(20);
    for (name, durability) in [("synced", Durability::Synced), ("buffered", Durability::Buffered)] {
        group.bench_function(format!("reservations-at-64/{name}"), |bencher| {
            bencher.iter_custom(|rounds| {
                let folder = tempfile::tempdir().expect("a folder");
                let limits = Limits { budget: u64::MAX, per_attempt: None, attempts: None };
                let (journal, _) = Journal::open(folder.path(), limits, durability).expect("a new journal");
                let journal = Arc::new(journal);
                let start = Instant::now();
                for _ in 0..rounds {
                    runtime.block_on(reserve(Arc::clone(&journal)));
                }
                start.elapsed()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, reservations);
criterion_main!(benches);
