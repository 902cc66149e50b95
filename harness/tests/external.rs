//! `bench compare` with a compressor from outside, end to end.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{bench, stderr, stdout};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

/// What a test waits for on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

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
fn a_proxy_that_the_script_cannot_work_is_not_tested_and_one_that_renames_is_worked() {
    let proxy = |mode| format!("{} {mode} -- {{upstream}}", hostile().display());
    let renames = proxy("renames");
    let seen = compare(&["--proxy", &renames, "--stateless", "--arms", "raw", "--tasks", "40"]);
    assert_eq!(row(&seen, "proxy")["arguments"], row(&seen, "raw")["arguments"]);
    let folder = tempfile::tempdir().unwrap();
    let ciphers = proxy("ciphers");
    let arguments = ["compare", "--quiet", "--proxy", &ciphers, "--stateless", "--arms", "raw", "--tasks", "40"];
    let out = stdout(bench(folder.path()).args(arguments).args(["--require", "proxy", "--junit", "junit.xml"]), 12);
    let line = out.lines().find(|line| line.starts_with("proxy")).unwrap();
    assert!(line.ends_with(" not driven") && out.contains("  proxy: not driven: the scripted model"), "{out}");
    assert!(out.starts_with("38 tasks over ") && out.contains(" of 8 servers"), "{out}");
    let junit = fs::read_to_string(folder.path().join("junit.xml")).unwrap();
    assert!(junit.contains("not driven") && junit.contains("failures=\"1\""), "{junit}");
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

#[test]
fn a_compressor_that_does_not_start_is_told_as_it_was_typed_and_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let compare = |proxy: &str, more: &[&str]| {
        let mut bench = bench(folder.path());
        bench.args(["compare", "--quiet", "--arms", "raw,L0", "--tasks", "20", "--proxy", proxy]).args(more);
        bench
    };
    let crashes = format!("{} crash-start -- {{upstream}}", hostile().display());
    for (proxy, cause) in [("sh no-such-script.sh {upstream}", "no-such-script.sh"), (&crashes, "exit status: 3")] {
        let out = stdout(&mut compare(proxy, &[]), 31);
        let row = out.lines().find(|line| line.starts_with("proxy ")).unwrap();
        assert!(row.ends_with(" did not start") && !row.contains(|c: char| c.is_ascii_digit()), "{out}");
        let found = out.lines().find(|line| line.starts_with("  proxy: ")).unwrap();
        assert!(found.starts_with(&format!("  proxy: did not start: `{proxy}`: it ended (")), "{found}");
        assert!(found.contains(cause) && !out.contains("bench-arm-"), "{found}");
        let seen: Value = serde_json::from_str(&stdout(&mut compare(proxy, &["--json"]), 31)).unwrap();
        assert_eq!(seen["not_started"][0]["arm"], "proxy");
        assert!(seen["arms"].as_array().unwrap().iter().all(|row| row["arm"] != "proxy"));
        assert_eq!(seen["exploratory_pairs"].as_array().unwrap().len(), 1, "raw against L0 alone");
        stdout(&mut compare(proxy, &["--require", "proxy"]), 31);
    }
    let message = stderr(bench(folder.path()).args(["compare", "--proxy", "bin/none -- {upstream}"]), 31);
    assert!(message.contains("arm `proxy`: bin/none is not there"), "{message}");
}

#[test]
fn a_compressor_that_starts_for_some_servers_only_says_for_which_not() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "case \"$*\" in *'--server git '*) echo 'not git' >&2; exit 7;; esac\nexec {} honest -- \"$@\"\n",
        hostile().display()
    );
    fs::write(folder.path().join("some.sh"), script).unwrap();
    let compare = |more: &[&str]| {
        let mut bench = bench(folder.path());
        bench.args(["compare", "--quiet", "--stateless", "--arms", "raw", "--tasks", "60"]);
        bench.args(["--proxy", "sh some.sh {upstream}"]).args(more);
        bench
    };
    let seen: Value = serde_json::from_str(&stdout(&mut compare(&["--json"]), 31)).unwrap();
    let proxy = row(&seen, "proxy");
    assert_eq!(proxy["external"]["not_started"][0]["servers"], serde_json::json!(["git"]));
    assert_eq!((&proxy["external"]["given_up"], &proxy["arm_faults"]), (&Value::Null, &Value::from(0)));
    let losses: Vec<&str> =
        proxy["losses"].as_array().unwrap().iter().filter_map(|loss| loss["tool"].as_str()).collect();
    assert!(!losses.is_empty() && losses.iter().all(|tool| tool.starts_with("git/")), "{losses:?}");
    let out = stdout(&mut compare(&[]), 31);
    let said = "  proxy: did not start for git: `sh some.sh {upstream}`: it ended (exit status: 7)";
    assert!(out.contains(said) && out.contains("not git"), "{out}");
}

#[test]
fn beside_a_compressor_stand_raw_and_the_levels_unless_somebody_chooses() {
    let proxy = format!("{} honest -- {{upstream}}", hostile().display());
    let folder = tempfile::tempdir().unwrap();
    let arms = format!(
        "[[arm]]\nname = \"filed\"\ncommand = [{:?}, \"honest\", \"--\", \"{{upstream}}\"]\nstateless = true\n",
        hostile()
    );
    fs::write(folder.path().join("arms.toml"), arms).unwrap();
    let file = folder.path().join("arms.toml");
    let names = |arguments: &[&str]| -> Vec<String> {
        let seen = compare(&[arguments, &["--tasks", "20"]].concat());
        seen["arms"].as_array().unwrap().iter().filter_map(|row| row["arm"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(names(&["--proxy", &proxy, "--stateless"]), ["raw", "L0", "L1", "L2", "L3", "proxy"]);
    assert_eq!(names(&["--arms-file", file.to_str().unwrap()]), ["raw", "L0", "L1", "L2", "L3", "filed"]);
    let all = names(&["--arms", "all", "--arms-file", file.to_str().unwrap()]);
    assert!(all.len() > 20 && all.contains(&"hierarchical".to_owned()), "{all:?}");
    assert_eq!(all.last().unwrap(), "filed");
    let help = stdout(bench(folder.path()).args(["compare", "--help"]), 0);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("20 at least") && help.contains("By default L0 to L3"), "{help}");
}

#[test]
fn names_are_whole_where_shorter_heads_make_room_and_every_column_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let arms = "raw,L0,profile-core-static-reimpl,atlassian-medium-reimpl";
    let out = stdout(bench(folder.path()).args(["compare", "--quiet", "--arms", arms, "--tasks", "40"]), 0);
    assert!(!out.contains('…'), "{out}");
    assert!(out.lines().all(|line| line.starts_with("  ") || line.chars().count() <= 100), "{out}");
    for explained in ["loss/gain (-/+): of ", "p Holm: ", "faults (flt): "] {
        assert!(out.contains(explained), "{explained}: {out}");
    }
}

/// `bench` in a folder where a stubborn proxy stands: it heeds no interrupt, no request to end and no end of its input,
/// and writes its number into `started`. Homes of compressors are in `tmp`.
fn with_stubborn_proxy(folder: &Path, habit: &str, arguments: &[&str]) -> Child {
    let script = format!(
        "trap '' INT TERM\necho $$ >> \"$(dirname \"$0\")/started\"\n{} {habit} -- \"$@\"\nsleep 600\n",
        hostile().display()
    );
    fs::write(folder.join("proxy.sh"), script).unwrap();
    fs::create_dir(folder.join("tmp")).unwrap();
    Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(arguments)
        .current_dir(folder)
        .env("TMPDIR", folder.join("tmp"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < until, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Interrupts until it has ended, and how often that took.
fn interrupt(bench: &mut Child) -> usize {
    let mut times = 0;
    let mut code = None;
    until("it ends", || {
        if let Some(status) = bench.try_wait().unwrap() {
            code = status.code();
            return true;
        }
        times += 1;
        kill_process(Pid::from_child(bench), Signal::INT).unwrap();
        thread::sleep(Duration::from_millis(500));
        false
    });
    assert_eq!(code, Some(130));
    times
}

/// Nothing of it is left: none of the processes that said that they were started, and no home.
#[track_caller]
fn is_clear(folder: &Path) {
    let started = fs::read_to_string(folder.join("started")).unwrap();
    let pids: Vec<i32> = started.lines().map(|pid| pid.parse().unwrap()).collect();
    assert!(!pids.is_empty());
    for pid in pids {
        until("the proxy is gone", || {
            // Where it has ended and nobody collected it, it is gone too.
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            test_kill_process(Pid::from_raw(pid).unwrap()).is_err() || stat.contains(") Z ")
        });
    }
    let homes: Vec<_> = fs::read_dir(folder.join("tmp")).unwrap().map(|home| home.unwrap().file_name()).collect();
    assert!(homes.is_empty(), "{homes:?}");
}

#[test]
fn the_interrupt_that_ends_a_comparison_leaves_no_proxy_and_no_home() {
    let folder = tempfile::tempdir().unwrap();
    let proxy = ["compare", "--arms", "raw", "--proxy", "sh proxy.sh {upstream}"];
    let mut bench = with_stubborn_proxy(folder.path(), "ignores-close", &proxy);
    // A call was made: all proxies have started, and the first interrupt only asks.
    until("a call is made", || {
        let homes = fs::read_dir(folder.path().join("tmp")).unwrap();
        homes.flatten().any(|home| home.path().join("calls.jsonl").metadata().is_ok_and(|log| log.len() > 0))
    });
    assert!(interrupt(&mut bench) >= 2);
    is_clear(folder.path());
}

#[test]
fn an_interrupt_while_servers_start_ends_them_at_once() {
    let compare: &[&str] = &["compare", "--arms", "raw", "--proxy", "sh proxy.sh {upstream}"];
    for arguments in [compare, &["catalog", "capture", "--", "sh", "proxy.sh"]] {
        let folder = tempfile::tempdir().unwrap();
        let mut bench = with_stubborn_proxy(folder.path(), "silent", arguments);
        until("it starts", || folder.path().join("started").exists());
        assert_eq!(interrupt(&mut bench), 1, "{arguments:?}");
        is_clear(folder.path());
    }
}
