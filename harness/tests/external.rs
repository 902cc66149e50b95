//! `bench compare` with a compressor from outside, end to end.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{fs, path::PathBuf};

use common::{bench, stderr, stdout};
use serde_json::Value;

fn hostile() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_bench")).parent().unwrap().join("examples/hostile")
}

fn compare(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let out = stdout(bench(folder.path()).arg("compare").args(["--json", "--quiet"]).args(arguments), 0);
    serde_json::from_str(&out).unwrap()
}

fn row<'c>(comparison: &'c Value, arm: &str) -> &'c Value {
    comparison["arms"].as_array().unwrap().iter().find(|row| row["arm"] == arm).unwrap()
}

#[test]
fn a_proxy_that_passes_everything_on_is_as_good_as_raw_and_costs_the_same() {
    let proxy = format!("{} honest -- {{upstream}}", hostile().display());
    let seen = compare(&["--proxy", &proxy, "--stateless", "--arms", "raw", "--tasks", "60"]);
    let (raw, proxy) = (row(&seen, "raw"), row(&seen, "proxy"));
    assert_eq!(proxy["arguments"], raw["arguments"]);
    assert_eq!(proxy["tokens_at_start"], raw["tokens_at_start"]);
    assert_eq!(proxy["dollars_uncached"]["per_thousand_tasks"], raw["dollars_uncached"]["per_thousand_tasks"]);
    assert_eq!((&proxy["arm_faults"], &proxy["against"]["loss"]), (&Value::from(0), &Value::from(0)));
    assert_eq!(proxy["external"]["findings"], serde_json::json!({}));
    assert!(seen["says"].as_str().unwrap().contains("not accuracy of a real model"));
}

#[test]
fn a_proxy_may_be_named_by_a_path_from_where_one_stands() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    std::os::unix::fs::symlink(hostile(), folder.path().join("bin/hostile")).unwrap();
    let compare = |proxy: &str| {
        let mut bench = bench(folder.path());
        bench.args(["compare", "--json", "--quiet", "--stateless", "--arms", "raw", "--tasks", "20", "--proxy", proxy]);
        bench
    };
    let seen: Value = serde_json::from_str(&stdout(&mut compare("bin/hostile honest -- {upstream}"), 0)).unwrap();
    assert_eq!(row(&seen, "proxy")["arguments"], row(&seen, "raw")["arguments"]);
    // The shell is found in PATH, the script that it runs from here.
    fs::write(folder.path().join("proxy.sh"), "exec \"$(dirname \"$0\")/bin/hostile\" honest -- \"$@\"\n").unwrap();
    let seen: Value = serde_json::from_str(&stdout(&mut compare("sh proxy.sh {upstream}"), 0)).unwrap();
    assert_eq!(row(&seen, "proxy")["arguments"], row(&seen, "raw")["arguments"]);
    let message = stderr(&mut compare("bin/none -- {upstream}"), 31);
    assert!(message.contains("bin/none is not there"), "{message}");
}

#[test]
fn a_proxy_that_rewrites_arguments_loses_and_ci_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let arms = format!(
        "[[arm]]\nname = \"twister\"\ncommand = [{:?}, \"rewrites\", \"--\", \"{{upstream}}\"]\nstateless = true\n",
        hostile()
    );
    fs::write(folder.path().join("arms.toml"), arms).unwrap();
    let out = stdout(
        bench(folder.path())
            .args(["compare", "--quiet", "--arms-file", "arms.toml", "--arms", "twister", "--tasks", "150"])
            .args(["--require", "twister"]),
        10,
    );
    assert!(out.contains("would fail (mock)") && out.contains("other-arguments"), "{out}");
    assert!(out.lines().all(|line| line.starts_with("  ") || line.chars().count() <= 100), "{out}");
}

#[test]
fn an_arm_that_is_only_shown_is_measured_and_not_tested() {
    let arms = "raw,L0,stacklok-fts-reimpl";
    let seen = compare(&["--arms", arms, "--tasks", "40"]);
    let shown = row(&seen, "stacklok-fts-reimpl");
    assert_eq!((&shown["ranked"], &shown["test"]), (&Value::Bool(false), &Value::Null));
    assert!(shown["against"]["loss"].is_u64() && !shown["gaps"].as_array().unwrap().is_empty());
    let l0 = row(&seen, "L0");
    assert!(l0["test"]["p_holm"].is_number() && l0["test"]["status"].is_string(), "{l0}");
    let front: Vec<&str> =
        seen["pareto"].as_array().unwrap().iter().filter_map(|point| point["arm"].as_str()).collect();
    assert!(front.contains(&"L0") && !front.contains(&"stacklok-fts-reimpl"), "{front:?}");
    assert!(seen["embedder"].is_null());
    let folder = tempfile::tempdir().unwrap();
    let out = stdout(bench(folder.path()).args(["compare", "--quiet", "--arms", arms, "--tasks", "40"]), 0);
    let line = out.lines().find(|line| line.starts_with("stacklok-fts-reimpl")).unwrap();
    assert!(line.ends_with(" shown"), "{line}");
    assert!(out.contains("  stacklok-fts-reimpl: its author would object: its own fallback"), "{out}");
    let required = ["compare", "--quiet", "--arms", arms, "--tasks", "40", "--require", "stacklok-fts-reimpl"];
    let message = stderr(bench(folder.path()).args(required), 2);
    assert!(message.contains("only shown, not tested"), "{message}");
}

#[test]
fn who_is_not_there_is_said_with_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let arms =
        "[[arm]]\nname = \"gone\"\ninstall = \"get it\"\ncommand = [\"{here}/no-such-program\", \"{upstream}\"]\n";
    fs::write(folder.path().join("arms.toml"), arms).unwrap();
    let message = stderr(bench(folder.path()).args(["compare", "--arms-file", "arms.toml", "--arms", "gone"]), 31);
    assert!(message.contains("no-such-program is not there; to install it: get it"), "{message}");
    let message = stderr(bench(folder.path()).args(["compare", "--arms", "nobody"]), 2);
    assert!(message.contains("no arm is called `nobody`; there are raw, L0"), "{message}");
}
