//! Cluster variances, deflated tests, and the cluster bootstrap by enumeration.

use bench_protocol::rng;
use bench_protocol::stats::PairedCounts;
use bench_protocol::stats::cluster_bootstrap::cluster_bootstrap;
use bench_protocol::stats::clusters::{cluster_test, cluster_variance};
use bench_protocol::stats::distribution::normal_sf;
use bench_protocol::stats::quantile::type1_index;
use serde_json::Value;

use crate::support::{alpha, block, close, close_p, count, golden, margin, resamples, tolerance};

fn clusters(entry: &Value) -> Vec<PairedCounts> {
    let cluster = |c: &Value| PairedCounts::new(count(&c["n"]), count(&c["G"]), count(&c["L"])).unwrap();
    entry["clusters"].as_array().unwrap().iter().map(cluster).collect()
}

#[test]
fn cluster_variances_and_deflated_tests_are_met() {
    let golden = golden();
    let closed = tolerance(&golden, "closed_form_abs");
    for entry in block(&golden, "clustered") {
        let id = entry["id"].as_str().unwrap();
        let clusters = clusters(entry);
        let variance = cluster_variance(&clusters).unwrap();
        assert_eq!(variance.clusters, count(&entry["K"]), "{id}");
        close(variance.independent.sqrt(), &entry["se_iid"], closed, id);
        close(variance.cluster_robust.sqrt(), &entry["se_cr1"], closed, id);
        close(variance.deff, &entry["deff"], closed, id);
        let test = cluster_test(&clusters, margin(&entry["delta"]), 1.0).unwrap();
        close(test.deff_used, &entry["deff_used"], closed, id);
        close(test.t_tango, &entry["T_tango"], closed, id);
        close(test.t_deff, &entry["T_deff"], closed, id);
        close_p(&golden, test.p, &entry["p_deff_t"], id);
        close_p(&golden, normal_sf(test.t_deff), &entry["p_deff_z"], id);
    }
}

#[test]
fn the_cluster_bootstrap_agrees_with_its_full_enumeration() {
    let golden = golden();
    for entry in block(&golden, "clustered").iter().filter(|entry| entry["cluster_boot_exact"].is_object()) {
        let id = entry["id"].as_str().unwrap();
        let (clusters, margin, expected) = (clusters(entry), margin(&entry["delta"]), &entry["cluster_boot_exact"]);
        let mut values: Vec<f64> = Vec::new();
        let mut reached = 0_u32;
        for picks in resamples(clusters.len()) {
            let net: i64 = picks.iter().map(|&i| clusters[i].net()).sum();
            let n: u64 = picks.iter().map(|&i| clusters[i].n()).sum();
            reached += u32::from(margin.is_reached_by(net, n));
            values.push(net as f64 / n as f64);
        }
        assert_eq!(values.len() as u64, count(&expected["resamples"]), "{id}");
        let p = f64::from(reached) / values.len() as f64;
        close(p, &expected["p_le_minus_delta"], 1e-12, id);
        values.sort_by(f64::total_cmp);
        for (level, quantile) in expected["quantiles_type1"].as_object().unwrap() {
            close(values[type1_index(values.len(), level.parse().unwrap())], quantile, 1e-12, id);
        }
        // Monte Carlo within five standard errors of the enumeration.
        let drawn = cluster_bootstrap(&clusters, margin, alpha("0.05"), 10_000, &mut rng::stream([9; 32], 0)).unwrap();
        let error = 5.0 * (p * (1.0 - p) / 10_000.0).sqrt() + 2e-4;
        assert!((drawn.p_lower - p).abs() < error, "{id}: {} against {p}", drawn.p_lower);
    }
}
