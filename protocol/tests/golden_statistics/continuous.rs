//! Continuous endpoints: paired t tests of equivalence, and bootstraps by enumeration.

use bench_protocol::stats::continuous::{PairedTotals, percentile_interval};
use bench_protocol::stats::tost::paired_tost;
use serde_json::Value;

use crate::support::{
    alpha, block, close, close_interval, close_p, count, floats, golden, number, resamples, tolerance,
};

#[test]
fn paired_t_tests_of_equivalence_are_met() {
    let golden = golden();
    for entry in block(&golden, "ttost_paired") {
        let id = entry["id"].as_str().unwrap();
        let differences: Vec<f64> = floats(&entry["x"]).iter().zip(floats(&entry["y"])).map(|(x, y)| x - y).collect();
        let found = paired_tost(&differences, number(&entry["low"]), number(&entry["upp"]), alpha("0.05")).unwrap();
        let closed = tolerance(&golden, "closed_form_abs");
        assert_eq!(found.df, count(&entry["df"]), "{id}");
        close(found.mean, &entry["mean"], closed, id);
        close(found.se, &entry["se"], closed, id);
        close(found.t_lower, &entry["t_lower"], closed, id);
        close(found.t_upper, &entry["t_upper"], closed, id);
        close_p(&golden, found.p_lower, &entry["p_lower"], id);
        close_p(&golden, found.p_upper, &entry["p_upper"], id);
        close_p(&golden, found.p_tost, &entry["p_tost"], id);
        close_interval(found.interval, &entry["ci90"], tolerance(&golden, "p_value_abs"), id);
    }
}

#[test]
fn bootstraps_of_continuous_endpoints_are_met_by_enumeration() {
    let golden = golden();
    for entry in block(&golden, "continuous_bootstrap") {
        let pairs: Vec<PairedTotals> = floats(&entry["raw"])
            .into_iter()
            .zip(floats(&entry["compressed"]))
            .map(|(raw, compressed)| PairedTotals { n: 1, raw, compressed })
            .collect();
        let drawn: Vec<PairedTotals> = resamples(pairs.len())
            .map(|picks| PairedTotals {
                n: picks.len() as u64,
                raw: picks.iter().map(|&i| pairs[i].raw).sum(),
                compressed: picks.iter().map(|&i| pairs[i].compressed).sum(),
            })
            .collect();
        assert_eq!(drawn.len() as u64, count(&entry["resamples"]));
        for level in ["0.025", "0.05"] {
            let upper = format!("{}", 1.0 - level.parse::<f64>().unwrap());
            let ends = |name: &str| Value::from(vec![entry[name][level].clone(), entry[name][upper.as_str()].clone()]);
            let difference = drawn.iter().map(|totals| totals.mean_difference().unwrap()).collect();
            close_interval(
                percentile_interval(difference, alpha(level)).unwrap(),
                &ends("diff_quantiles_type1"),
                1e-12,
                level,
            );
            let ratio = drawn.iter().map(|totals| totals.ratio().unwrap()).collect();
            close_interval(
                percentile_interval(ratio, alpha(level)).unwrap(),
                &ends("ratio_quantiles_type1"),
                1e-12,
                level,
            );
        }
    }
}
