//! Made-up suites and episodes for tests.

use std::sync::Arc;

use bench_protocol::{
    rng::{index, stream},
    spec::Protocol,
    stats::{Alpha, Margin},
};
use bench_tasks::task::TaskId;

use super::{Accumulator, FamilySpec, Reporting, TaskMeta, TaskTable};
use crate::record::{EpisodeRecord, episode::tests::episode};

pub(crate) const ARMS: [&str; 6] = ["raw", "L0", "L1", "raw-again", "planted-loss", "names-only"];

pub(crate) fn spec() -> FamilySpec {
    FamilySpec::levels(&Protocol::built_in().unwrap(), &ARMS).unwrap()
}

/// Task `i`: every twentieth abstains, the others go round 20 tools of 4 servers, three tasks to a frame.
pub(crate) fn meta(i: u64, arms: usize) -> TaskMeta {
    let abstains = i % 20 == 19;
    let tool = (i / 3) % 20;
    let named = |name: String| (!abstains).then(|| Arc::from(name));
    TaskMeta {
        id: TaskId(format!("t{i:016x}")),
        index: i,
        server: named(format!("s{}", tool % 4)),
        tool: named(format!("tool{tool}")),
        frame: if abstains { format!("abstain/f{i}") } else { format!("s{}/tool{tool}/f{}", tool % 4, i / 60) }.into(),
        stratum: ["plain", "nested", "abstain"][if abstains { 2 } else { usize::from(i.is_multiple_of(2)) }].into(),
        affected: vec![true; arms],
    }
}

pub(crate) fn table(n: u64) -> TaskTable {
    TaskTable::new((0..n).map(|i| meta(i, ARMS.len())), ARMS.len()).unwrap()
}

pub(crate) fn accumulator(n: u64) -> Accumulator {
    Accumulator::new(spec(), table(n)).unwrap()
}

/// Episodes of all arms over `n` tasks: 2 % noise everywhere, 8 % loss under planted-loss, 60 % under names-only.
pub(crate) fn episodes(n: u64) -> Vec<EpisodeRecord> {
    let mut all = Vec::new();
    for i in 0..n {
        for (place, arm) in (0..).zip(ARMS) {
            let mut rng = stream([7; 32], i * 16 + place);
            let wrong_ppm = match arm {
                "planted-loss" => 80_000,
                "names-only" => 600_000,
                _ => 10_000,
            };
            let right = index(&mut rng, 1_000_000) >= wrong_ppm;
            let mut record = episode(&format!("t{i:016x}"), arm, right);
            record.usage.input = 1_000 + 10 * (i % 7) - 100 * u64::from(arm.starts_with('L'));
            all.push(record);
        }
    }
    all
}

pub(crate) fn margin() -> Margin {
    "0.02".parse().unwrap()
}

pub(crate) fn reporting() -> Reporting {
    Reporting { alpha: Alpha::new(0.05).unwrap(), resamples: 500, seed: [9; 32] }
}
