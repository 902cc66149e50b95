//! Random streams, bit for bit.

use bench_protocol::rng;
use bench_protocol::stats::PairedCounts;
use bench_protocol::stats::cluster_bootstrap::cluster_bootstrap;
use rand_chacha::rand_core::RngCore;
use serde_json::Value;

use crate::support::{alpha, close, count, golden, margin};

/// The golden file's seed: 00 01 02 … 1f, as its hex text says.
fn golden_seed(block: &Value) -> rng::Seed {
    let hex = block["seed_hex"].as_str().unwrap();
    std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
}

#[test]
fn streams_and_index_draws_are_met_bit_for_bit() {
    let golden = golden();
    let block = &golden["rng"];
    let seed = golden_seed(block);
    for (stream, key) in [(0, "chacha8_u64"), (3, "chacha8_stream3_u64")] {
        let mut rng = rng::stream(seed, stream);
        for expected in block[key].as_array().unwrap() {
            assert_eq!(rng.next_u64().to_string(), expected.as_str().unwrap(), "{key}");
        }
    }
    for (n, key) in [(1_000, "chacha8_index_n1000"), (78, "chacha8_index_n78")] {
        let mut rng = rng::stream(seed, 0);
        for expected in block[key].as_array().unwrap() {
            assert_eq!(rng::index(&mut rng, n), count(expected), "{key}");
        }
    }
}

#[test]
fn the_cluster_bootstrap_counts_the_same_on_every_machine() {
    let golden = golden();
    let block = &golden["rng"]["cluster_bootstrap"];
    let sizes = block["clusters_n"].as_array().unwrap().iter().map(count);
    let nets = block["clusters_D"].as_array().unwrap().iter().map(|net| net.as_i64().unwrap());
    let clusters: Vec<PairedCounts> = sizes
        .zip(nets)
        .map(|(n, net)| PairedCounts::new(n, net.max(0).unsigned_abs(), net.min(0).unsigned_abs()).unwrap())
        .collect();
    assert_eq!(block["delta"], "2/100");
    let seed = golden_seed(&golden["rng"]);
    let mut rng = rng::stream(seed, 0);
    for expected in block["first_16_indices"].as_array().unwrap() {
        assert_eq!(rng::index(&mut rng, clusters.len() as u64), count(expected));
    }
    let resamples = u32::try_from(count(&block["B"])).unwrap();
    let found =
        cluster_bootstrap(&clusters, margin("0.02"), alpha("0.05"), resamples, &mut rng::stream(seed, 0)).unwrap();
    assert_eq!(u64::from(found.at_or_below), count(&block["count_le_minus_delta"]));
    close(found.p_lower, &block["p"], 1e-15, "p");
}
