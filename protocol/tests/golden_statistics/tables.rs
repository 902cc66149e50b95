//! Every statistic of every published 2×2 table, and the published anchors.

use crate::support::{alpha, block, close, close_interval, close_p, count, golden, margin, number, tolerance};
use bench_protocol::stats::bootstrap::Bootstrap;
use bench_protocol::stats::mcnemar::mcnemar;
use bench_protocol::stats::newcombe::newcombe10;
use bench_protocol::stats::score::{score_interval, score_test};
use bench_protocol::stats::single::SingleArms;
use bench_protocol::stats::{ExactCache, PairedCounts, PairedTable, TableReport};
use serde_json::Value;

fn table(entry: &Value) -> PairedTable {
    let cell = |name: &str| count(&entry[name]);
    PairedTable::new(cell("n11"), cell("n10"), cell("n01"), cell("n00")).unwrap()
}

fn each_table(check: impl Fn(&Value, &Value, PairedTable, &str)) {
    let golden = golden();
    for entry in block(&golden, "tables") {
        check(&golden, entry, table(entry), entry["id"].as_str().unwrap());
    }
}

fn keyed<'a>(value: &'a Value, what: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    value.as_object().unwrap_or_else(|| panic!("{what} is no object")).iter().map(|(key, value)| (key.as_str(), value))
}

#[test]
fn counts_and_rates_follow_from_the_cells() {
    each_table(|golden, entry, table, id| {
        let closed = tolerance(golden, "closed_form_abs");
        assert_eq!([table.n(), table.gain(), table.loss()], ["n", "G", "L"].map(|name| count(&entry[name])), "{id}");
        close(table.delta_hat(), &entry["delta_hat"], closed, id);
        close(table.discordance(), &entry["discordance"], closed, id);
    });
}

#[test]
fn score_tests_are_met_at_every_margin() {
    each_table(|golden, entry, table, id| {
        let closed = tolerance(golden, "closed_form_abs");
        for (key, expected) in keyed(&entry["tango"], id) {
            let found = score_test(table.counts(), margin(key));
            close(found.t_lower, &expected["T_lower"], closed, &format!("{id} {key} T_lower"));
            close(found.t_upper, &expected["T_upper"], closed, &format!("{id} {key} T_upper"));
            close_p(golden, found.p_lower, &expected["p_lower"], &format!("{id} {key} p_lower"));
            close_p(golden, found.p_upper, &expected["p_upper"], &format!("{id} {key} p_upper"));
            close_p(golden, found.p_tost, &expected["p_tost"], &format!("{id} {key} p_tost"));
        }
    });
}

#[test]
fn intervals_of_the_difference_are_met_at_both_levels() {
    each_table(|golden, entry, table, id| {
        for (key, expected) in keyed(&entry["tango_ci"], id) {
            close_interval(score_interval(table.counts(), alpha(key)), expected, tolerance(golden, "tango_ci_abs"), id);
        }
        for (key, expected) in keyed(&entry["newcombe10"], id) {
            close_interval(newcombe10(table, alpha(key)), expected, tolerance(golden, "newcombe_abs"), id);
        }
    });
}

#[test]
fn mcnemar_tests_are_met() {
    each_table(|golden, entry, table, id| {
        let found = mcnemar(table.gain(), table.loss());
        let expected = &entry["mcnemar"];
        close_p(golden, found.two_sided, &expected["two_sided"], id);
        close_p(golden, found.one_sided_harm, &expected["one_sided_harm"], id);
        close_p(golden, found.midp_two, &expected["midp_two"], id);
        close_p(golden, found.midp_harm, &expected["midp_harm"], id);
    });
}

#[test]
fn intervals_of_each_arm_are_met() {
    each_table(|golden, entry, table, id| {
        for level in ["0.05", "0.025"] {
            let found = SingleArms::new(table, alpha(level));
            for (arm, name, right) in
                [(found.raw, "raw", table.raw_right()), (found.compressed, "compressed", table.compressed_right())]
            {
                let expected = &entry["single"][name];
                assert_eq!(count(&expected["k"]), right, "{id}");
                let exact = tolerance(golden, "clopper_pearson_abs");
                close_interval(arm.clopper_pearson, &expected[level]["clopper_pearson"], exact, id);
                close_interval(arm.wilson, &expected[level]["wilson"], tolerance(golden, "closed_form_abs"), id);
            }
        }
    });
}

#[test]
fn exact_bootstraps_are_met_at_every_margin_and_level() {
    each_table(|golden, entry, table, id| {
        let cdf = tolerance(golden, "bootstrap_cdf_abs");
        let expected = &entry["bootstrap_exact"];
        for (key, p) in keyed(&expected["p_lower"], id) {
            let found = Bootstrap::new(table.counts(), margin(key), alpha("0.05")).p_lower;
            close(found, p, cdf, &format!("{id} {key} bootstrap p"));
            let p = number(p);
            // Below 1e-13 the reference's own transforms leave rounding noise.
            if p > 1e-13 {
                assert!((found / p - 1.0).abs() < 1e-3, "{id} {key}: {found:e} against {p:e}");
            }
        }
        for (key, interval) in keyed(&expected["percentile_ci"], id) {
            let found = Bootstrap::new(table.counts(), margin("0.02"), alpha(key));
            close_interval(found.percentile_ci, interval, tolerance(golden, "closed_form_abs"), id);
            assert_eq!(found.bca_z0.is_none(), expected["bca_z0"].is_null(), "{id}");
            assert_eq!(found.bca_ci.is_none(), expected["bca_ci"].is_null(), "{id}");
            if let (Some(z0), Some(a), Some(ci)) = (found.bca_z0, found.bca_a, found.bca_ci) {
                close(z0, &expected["bca_z0"], cdf, id);
                close(a, &expected["bca_a"], tolerance(golden, "closed_form_abs"), id);
                close_interval(
                    ci,
                    &expected["bca_ci"][key],
                    tolerance(golden, "closed_form_abs"),
                    &format!("{id} {key} bca"),
                );
            }
        }
    });
}

#[test]
fn exact_unconditional_tests_are_met() {
    each_table(|golden, entry, table, id| {
        let Some(expected) = entry["exact_uncond"].as_object() else {
            assert!(table.n() >= 5_000, "{id} has no exact p");
            return;
        };
        for (key, expected) in expected {
            let found = ExactCache::new().p(table.counts(), margin(key));
            close(found, &expected["p"], tolerance(golden, "exact_uncond_abs"), id);
            // What the reference searched on a grid, this search must at least reach.
            let p = number(&expected["p"]).min(1.0);
            assert!(found >= p * (1.0 - 1e-6), "{id}: {found:e} below {p:e}");
        }
    });
}

#[test]
fn the_report_carries_the_same_values() {
    each_table(|golden, entry, table, id| {
        if table.n() > 1_000 {
            return;
        }
        let report = TableReport::new(table, margin("0.02"), alpha("0.05"), &ExactCache::new());
        let json = serde_json::to_value(report).unwrap();
        close(
            number(&json["tango"]["p_lower"]),
            &entry["tango"]["0.02"]["p_lower"],
            tolerance(golden, "p_value_abs"),
            id,
        );
        close(number(&json["tango_ci"][0]), &entry["tango_ci"]["0.05"][0], tolerance(golden, "tango_ci_abs"), id);
        close(number(&json["newcombe10"][1]), &entry["newcombe10"]["0.05"][1], tolerance(golden, "newcombe_abs"), id);
        let boot = (&json["bootstrap_exact"], &entry["bootstrap_exact"]);
        close(number(&boot.0["p_lower"]), &boot.1["p_lower"]["0.02"], tolerance(golden, "bootstrap_cdf_abs"), id);
        close(number(&json["exact_uncond"]["p"]), &entry["exact_uncond"]["0.02"]["p"], 1e-6, id);
        close(
            number(&json["mcnemar"]["midp_harm"]),
            &entry["mcnemar"]["midp_harm"],
            tolerance(golden, "p_value_abs"),
            id,
        );
    });
}

#[test]
fn published_anchors_are_met() {
    let golden = golden();
    for entry in block(&golden, "anchors") {
        let id = entry["id"].as_str().unwrap();
        let counts = PairedCounts::new(count(&entry["n"]), count(&entry["G"]), count(&entry["L"])).unwrap();
        let found = score_test(counts, margin(&entry["delta"]));
        close(found.t_lower, &entry["T_lower"], tolerance(&golden, "closed_form_abs"), id);
        close_p(&golden, found.p_lower, &entry["p_lower"], id);
        let interval = score_interval(counts, alpha(&entry["alpha"]));
        close_interval(interval, &entry["tango_ci"], tolerance(&golden, "tango_ci_abs"), id);
    }
}
