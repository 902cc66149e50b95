//! Multiplicity procedures.

use bench_protocol::stats::multiplicity::{Graph, intersection_union};
use serde_json::Value;

use crate::support::{block, close, floats, golden, number, tolerance};

#[test]
fn multiplicity_procedures_are_met() {
    let golden = golden();
    for entry in block(&golden, "multiplicity") {
        let id = entry["id"].as_str().unwrap();
        let p: Vec<Option<f64>> = entry["p"].as_array().unwrap().iter().map(Value::as_f64).collect();
        let level = number(&entry["alpha"]);
        let graph = match entry["method"].as_str().unwrap() {
            "holm" => Graph::holm(p.len()),
            "fixed_sequence" => Graph::fixed_sequence(p.len()),
            "graphical" => {
                let rows = entry["transition"].as_array().unwrap().iter().map(floats).collect();
                Graph::new(floats(&entry["weights"]), rows).unwrap()
            }
            "intersection_union" => {
                let found = intersection_union(&p);
                assert_eq!(found, entry["p_iut"].as_f64(), "{id}");
                assert_eq!(found.is_some_and(|p| p <= level), entry["reject"].as_bool().unwrap(), "{id}");
                continue;
            }
            other => panic!("unknown method {other}"),
        };
        let rejected = graph.rejected(&p, level).unwrap();
        assert_eq!(Value::from(rejected), entry["reject"], "{id}");
        if let Some(expected) = entry["adjusted"].as_array() {
            for (found, expected) in graph.adjusted(&p).unwrap().into_iter().zip(expected) {
                assert_eq!(found.is_none(), expected.is_null(), "{id}");
                if let Some(found) = found {
                    close(found, expected, tolerance(&golden, "closed_form_abs"), id);
                }
            }
        }
    }
}
