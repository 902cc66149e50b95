//! Published power values and sample sizes.

use crate::support::{alpha, block, close, count, golden, margin, number, tolerance};
use bench_protocol::stats::power::{Truth, exact_power};
use bench_protocol::stats::sample_size::sample_size;
use serde_json::Value;

fn truth(entry: &Value) -> Truth {
    Truth::new(number(&entry["psi"]), number(&entry["Delta"])).unwrap()
}

#[test]
fn exact_power_is_met() {
    let golden = golden();
    for entry in block(&golden, "power") {
        let found = exact_power(count(&entry["n"]), truth(entry), margin(&entry["delta"]), alpha(&entry["alpha"]));
        close(found, &entry["power"], tolerance(&golden, "power_abs"), &entry.to_string());
    }
}

#[test]
fn sample_sizes_are_met_to_the_task() {
    let golden = golden();
    for entry in block(&golden, "sample_size") {
        let (truth, margin, alpha) = (truth(entry), margin(&entry["delta"]), alpha(&entry["alpha"]));
        let found = sample_size(truth, margin, alpha, number(&entry["power"])).unwrap();
        let what = entry.to_string();
        assert_eq!(found.exact, count(&entry["n_exact"]), "{what}");
        let power = tolerance(&golden, "power_abs");
        close(found.power_at_exact, &entry["power_at_n_exact"], power, &what);
        close(exact_power(found.exact - 1, truth, margin, alpha), &entry["power_at_n_exact_minus_1"], power, &what);
        close(found.wald, &entry["n_wald_real"], 1e-9, &what);
        close(found.nam, &entry["n_nam_real"], 1e-9, &what);
        close(found.wald.ceil(), &entry["n_wald"], 0.0, &what);
        close(found.nam.ceil(), &entry["n_nam"], 0.0, &what);
    }
}
