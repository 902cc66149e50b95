//! Arms, retrieval, Rift and sessions as the command line shows them.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::path::Path;

use common::{bench, stderr, stdout};
use serde_json::Value;

fn run(args: &[&str]) -> String {
    stdout(bench(tempfile::tempdir().unwrap().path()).args(args), 0)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&run(&[args, &["--json"]].concat())).unwrap()
}

#[test]
fn every_arm_is_listed_with_source_affordance_and_what_is_ours() {
    insta::assert_snapshot!(run(&["arms"]));
    let arms = json(&["arms"]);
    for arm in arms.as_array().unwrap() {
        let id = arm["id"].as_str().unwrap();
        let gaps = arm["gaps"].as_array().unwrap().len();
        assert_eq!(gaps > 0, id.ends_with("-reimpl"), "{id}: what a re-implementation fills in is named");
        for key in ["summary", "source", "affordance", "extra_trips", "waivers", "ranked"] {
            assert!(!arm[key].is_null(), "{id} {key}");
        }
    }
}

#[test]
fn searches_over_the_suites_own_words() {
    let out = run(&["retrieval", "--n", "160"]);
    insta::assert_snapshot!(out);
    assert_eq!(out, run(&["retrieval", "--n", "160"]), "no clock and no order of threads reaches the figures");
    assert!(out.lines().all(|line| line.chars().count() <= 100));
    let there = |variant: &str| -> f64 {
        let row = out.lines().find_map(|line| line.strip_prefix(variant)).unwrap();
        row.split_whitespace().next().unwrap().parse().unwrap()
    };
    // The first five by nearness hold the five nearest above a threshold; recency may push one of those out.
    assert!(there("pure top-K") >= there("no recency"));
    assert!(there("whole, with promotion") >= there("whole  "));
}

/// The command of an embedder, `flat-1`, for which all texts are the same.
fn flat_embedder(folder: &Path) -> String {
    // One number for every text: the JSON texts of a request are what stands between `","`, escapes taken away.
    let script = r#"echo '{"model":"flat-1","dimensions":1}'
        while IFS= read -r line; do
            n=$(printf '%s\n' "$line" | sed 's/\\.//g' | grep -o '","' | wc -l)
            vectors='[1]'
            while [ "$n" -gt 0 ]; do vectors="$vectors,[1]"; n=$((n - 1)); done
            echo "{\"vectors\":[$vectors]}"
        done"#;
    std::fs::write(folder.join("flat.sh"), script).unwrap();
    format!("sh {}/flat.sh", folder.display())
}

#[test]
fn the_embedding_model_stands_beside_the_numbers_it_made() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = flat_embedder(folder.path());
    let arms = "raw,cartograph-emb-reimpl,speakeasy-emb-reimpl";
    for args in [
        ["compare", "--quiet", "--arms", arms, "--tasks", "20", "--embedder", &embedder],
        ["retrieval", "--quiet", "--arms", arms, "--n", "80", "--embedder", &embedder],
    ] {
        assert!(run(&args).contains("-emb-reimpl search by flat-1; all others by words."), "{args:?}");
        let report = json(&args);
        assert_eq!(report["embedder"], "flat-1", "{args:?}");
        let rows = if args[0] == "compare" { &report["arms"] } else { &report["retrieval"] };
        let ranked: Vec<bool> = rows
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["arm"] != "raw")
            .map(|row| row["ranked"] == true)
            .collect();
        assert_eq!(ranked, [false, true], "Cartograph names another model, Speakeasy names none");
    }
    assert!(run(&["rift", "--embedder", &embedder]).contains("Nearness: flat-1.\n"));
    assert!(
        run(&["retrieval", "--n", "80", "--arms", arms, "--embedder", &embedder]).contains("whatever the embedder")
    );
}

#[test]
fn sessions_take_an_embedder_and_say_which_ranks_and_what_authors_would_object_to() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = flat_embedder(folder.path());
    let args = ["sessions", "--sessions", "1", "--arms", "uimcp-emb-reimpl,uimcp-reimpl,mcpdiet-reimpl"];
    let message = stderr(bench(tempfile::tempdir().unwrap().path()).args(args), 2);
    assert!(message.contains("--embedder"), "{message}");
    let out = run(&[&args[..], &["--embedder", embedder.as_str()]].concat());
    assert!(out.contains("-emb-reimpl search by flat-1"), "{out}");
    assert!(out.contains("uimcp-reimpl: its author would object: built for an embedding model"), "{out}");
    let report = json(&[&args[..], &["--embedder", embedder.as_str()]].concat());
    assert_eq!(report["embedder"], "flat-1");
    let ranked: Vec<bool> = report["arms"].as_array().unwrap().iter().map(|arm| arm["ranked"] == true).collect();
    assert_eq!(ranked, [true, false, true], "what a single call says nothing of is ranked here, what stands in is not");
}

#[test]
fn retrieval_as_json_names_what_it_measures() {
    let report = json(&["retrieval", "--n", "80", "--arms", "jaccard-k5-reimpl,raw", "--latency"]);
    assert_eq!(report["retrieval"].as_array().unwrap().len(), 1, "raw has no search");
    assert_eq!(report["retrieval"][0]["own_k"], 5);
    assert_eq!(report["ratios"].as_array().unwrap().len(), 4);
    assert_eq!(report["latency"].as_array().unwrap().len(), 3);
    assert!(report["embedder"].is_null());
}

#[test]
fn helper_programs_are_used_and_their_failures_named() {
    let folder = tempfile::tempdir().unwrap();
    let counts =
        |line: &str| format!("sh -c 'echo {{\\\"tokenizer\\\":\\\"mine\\\"}}; while read _; do echo {line}; done'");
    let arms = ["retrieval", "--n", "80", "--arms", "search-invoke", "--tokenizer"];
    let message = stderr(bench(folder.path()).args(arms).arg(counts("[]")), 31);
    assert!(message.contains("expected a line"), "{message}");
    let message = stderr(bench(folder.path()).args(arms).arg("no-such-program"), 31);
    assert!(message.contains("no-such-program"), "{message}");
    let message = stderr(bench(folder.path()).args(["retrieval", "--arms", "cartograph-emb-reimpl"]), 2);
    assert!(message.contains("--embedder"), "{message}");
    let message = stderr(bench(folder.path()).args(["retrieval", "--embedder", "it's"]), 2);
    assert!(message.contains("quote"), "{message}");
}

#[test]
fn rift_names_what_is_easily_confused() {
    insta::assert_snapshot!(run(&["rift"]));
    let rift = json(&["rift"]);
    assert_eq!(rift["cards"].as_array().unwrap().len(), 8);
    let members: usize =
        rift["clusters"].as_array().unwrap().iter().map(|c| c["members"].as_array().unwrap().len()).sum();
    assert_eq!(members, 78);
}

#[test]
fn sessions_show_accuracy_and_cost_by_position() {
    let args = ["sessions", "--sessions", "3", "--arms", "raw,L2,L2+R,uimcp-reimpl,mcpdiet-reimpl"];
    let out = run(&args);
    insta::assert_snapshot!(out);
    let report = json(&args);
    assert_eq!(report["arms"][0]["positions"].as_array().unwrap().len(), 20);
}

#[test]
fn every_arm_keeps_its_contract() {
    assert!(run(&["arms", "check"]).contains("arms keep their contract over 78 tools"));
}
