//! The published re-analysis is what these functions make of its counts, byte for byte.

use std::{fs, path::PathBuf};

use super::*;

fn published(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("published/distil-2026-09").join(name)
}

fn counts() -> PublishedCounts {
    PublishedCounts::parse(&fs::read(published("counts.json")).unwrap()).unwrap()
}

#[test]
fn the_published_page_and_document_are_recomputed_byte_for_byte() {
    let counts = counts();
    let read = reanalyse(&counts).unwrap();
    let mut json = serde_json::to_string_pretty(&read).unwrap();
    json.push('\n');
    assert_eq!(json, fs::read_to_string(published("reanalysis.json")).unwrap());
    assert_eq!(markdown(&counts, &read), fs::read_to_string(published("README.md")).unwrap());
}

#[test]
fn margins_alone_bound_the_p_as_the_worst_case_says() {
    let read = reanalyse(&counts()).unwrap();
    let level = read.tables.iter().find(|table| &*table.arm == "L0" && table.endpoint == Endpoint::Selection).unwrap();
    let p: Vec<f64> = level.readings.iter().map(|reading| reading.p_g1.parse().unwrap()).collect();
    assert_eq!(level.readings.iter().map(|reading| reading.split.as_str()).collect::<Vec<_>>(), ["fewest", "worst"]);
    assert!(p[0] < p[1] && p[1] > 0.003, "{p:?}");
}

#[test]
fn losses_in_whole_templates_cost_more_than_losses_spread_out() {
    let counts = PairedCounts::new(1_000, 0, 20).unwrap();
    let test = |clusters: Vec<PairedCounts>| cluster_test(&clusters, "0.05".parse().unwrap(), 1.0).unwrap();
    let (spread, lumped) = (test(spread(counts, 47).unwrap()), test(lumped(counts, 47).unwrap()));
    assert!(lumped.deff > 15.0 && spread.deff < 1.0 && lumped.p > spread.p, "{spread:?} {lumped:?}");
}

#[test]
fn both_arrangements_are_partitions_whatever_the_counts() {
    for (n, gain, loss, templates) in [(1_000, 55, 4, 47), (10, 6, 4, 3), (5, 0, 5, 5), (100, 100, 0, 7), (9, 0, 0, 2)]
    {
        let counts = PairedCounts::new(n, gain, loss).unwrap();
        for clusters in [spread(counts, templates), lumped(counts, templates)] {
            let pooled = bench_protocol::stats::clusters::pooled(&clusters.unwrap()).unwrap();
            assert_eq!(pooled, counts, "n={n} gain={gain} loss={loss}");
        }
    }
}

#[test]
fn counts_that_contradict_each_other_are_refused() {
    let mut counts = counts();
    let table = counts.tables.iter_mut().find(|table| table.loss.is_some()).unwrap();
    table.arm_right.value += 1;
    assert!(matches!(reanalyse(&counts), Err(CountsError::Contradiction { .. })));
    let mut counts = self::counts();
    counts.templates[0].count.value = 1;
    assert!(matches!(reanalyse(&counts), Err(CountsError::Templates { count: 1, .. })));
    assert!(matches!(PublishedCounts::parse(b"{}"), Err(CountsError::Syntax(_))));
}
