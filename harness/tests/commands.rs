//! The other commands, and what bad input gets.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{fs, path::Path};

use bench_harness::{
    inputs::{Inputs, Overrides},
    ledger::{Event, Kind, Ledger, Run, RunId},
};
use bench_protocol::digest::Digest;
use common::{bench, stderr, stdout};
use serde_json::Value;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn json(out: &str) -> Value {
    serde_json::from_str(out).unwrap()
}

#[test]
fn a_cause_is_said_once_and_a_byte_order_mark_is_no_cause() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts.json");
    fs::write(&file, "{}").unwrap();
    let said = stderr(bench(folder.path()).args(["stats", "--published", "counts.json"]), 30);
    assert_eq!(said.matches("missing field").count(), 1, "{said}");
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/published/distil-2026-09/counts.json");
    let counts = fs::read_to_string(published).unwrap();
    fs::write(&file, format!("\u{feff}{counts}")).unwrap();
    stdout(bench(folder.path()).args(["stats", "--published", "counts.json"]), 0);
}

#[test]
fn stats_prints_the_golden_names() {
    let folder = folder();
    let out = stdout(
        bench(folder.path()).args(["stats", "--table", "920,5,0,75", "--margin", "0.02", "--alpha", "0.05", "--json"]),
        0,
    );
    let report = json(&out);
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    insta::assert_json_snapshot!(keys);
    assert!((report["tango"]["p_lower"].as_f64().unwrap() - 0.000_352).abs() < 1e-6);
    assert_eq!(report["G"], 0);
    assert_eq!(report["L"], 5);
}

#[test]
fn stats_table_for_people() {
    let folder = folder();
    insta::assert_snapshot!(stdout(bench(folder.path()).args(["stats", "--table", "1000,0,0,0"]), 0));
}

#[test]
fn stats_refuses_counts_that_are_no_table() {
    let folder = folder();
    let message = stderr(bench(folder.path()).args(["stats", "--table", "1,2,3"]), 2);
    assert!(message.contains("four counts"), "{message}");
    let message = stderr(bench(folder.path()).args(["stats", "--table", "0,0,0,0"]), 2);
    assert!(message.contains("at least one task"), "{message}");
    let message = stderr(bench(folder.path()).args(["stats", "--table", "1,2,3,4", "--margin", "2"]), 2);
    assert!(message.contains("margin"), "{message}");
}

#[test]
fn a_p_that_underflows_is_a_bound_and_only_silence_has_nothing_to_resample() {
    let folder = folder();
    let out = stdout(bench(folder.path()).args(["stats", "--table", "0,0,40000,0"]), 0);
    assert!(out.contains("exact bootstrap           p  <1e-300") && !out.contains("nothing to resample"), "{out}");
    let silent = stdout(bench(folder.path()).args(["stats", "--table", "40000,0,0,0"]), 0);
    assert!(silent.contains("exact bootstrap           p  undefined (nothing to resample)"), "{silent}");
}

#[test]
fn counts_that_nothing_exact_can_be_computed_for_are_refused_with_the_limit() {
    let folder = folder();
    for (arguments, limit) in [
        (vec!["stats", "--table", "999999999,0,0,0"], "1000000"),
        (vec!["stats", "--margins", "900000000,900000000,999999999"], "1000000"),
        (vec!["power", "--n", "1000000000"], "200000"),
        (vec!["power", "--margin", "0.0001"], "200000"),
    ] {
        let message = stderr(bench(folder.path()).args(&arguments), 2);
        assert!(message.contains(limit), "{arguments:?}: {message}");
    }
}

#[test]
fn margins_of_a_published_run_bound_its_p() {
    let folder = folder();
    let out = stdout(bench(folder.path()).args(["stats", "--margins", "944,952,1000", "--json"]), 0);
    assert!((json(&out)["p_lower"].as_f64().unwrap() - 0.0036).abs() < 5e-5, "{out}");
}

#[test]
fn tasks_are_json_lines_with_the_documented_keys_and_the_seed_decides() {
    let folder = folder();
    let tasks =
        |seed: &str| stdout(bench(folder.path()).args(["tasks", "--suite", "tools", "--seed", seed, "--n", "300"]), 0);
    let (a, b) = (tasks("a"), tasks("b"));
    assert_eq!(a, tasks("a"));
    assert_ne!(a, b);
    assert_eq!(a.lines().count(), 300);
    let mut abstain = 0;
    for line in a.lines() {
        let task = json(line);
        for key in ["id", "suite", "server", "tool", "frame", "stratum", "utterance", "gold"] {
            assert!(task.get(key).is_some(), "{key}: {line}");
        }
        abstain += usize::from(task["tool"].is_null());
    }
    assert!(abstain > 5, "{abstain}");
    let results = stdout(bench(folder.path()).args(["tasks", "--suite", "results", "--n", "20"]), 0);
    assert_eq!(results.lines().count(), 20);
}

#[test]
fn intents_are_sound() {
    let folder = folder();
    let out = stdout(bench(folder.path()).args(["tasks", "check"]), 0);
    assert!(out.contains(" 0 errors"), "{}", out.lines().last().unwrap_or_default());
}

#[test]
fn the_sheet_of_some_frames_shows_these_and_no_ids() {
    let folder = folder();
    let frames = "time/get_current_time/w4-utc,abstain/w5-other-zone";
    let out = stdout(bench(folder.path()).args(["tasks", "audit-sheet", "--frames", frames]), 0);
    assert_eq!(out.lines().count(), 2);
    assert!(!out.contains("w4-utc"), "{out}");
    let message = stderr(bench(folder.path()).args(["tasks", "audit-sheet", "--frames", "time/w4-utc"]), 2);
    assert!(message.contains("there is no frame time/w4-utc"), "{message}");
}

#[test]
fn intents_that_do_not_fill_the_locks_plan_run_all_the_same() {
    let folder = folder();
    let intents = folder.path().join("intents");
    std::fs::create_dir(&intents).unwrap();
    let text = "server = \"git\"\nwriter = \"me\"\n[[intent]]\ntool = \"git_status\"\n[[intent.frame]]\nid = \"x\"\nstratum = \"plain\"\nvoice = \"terse\"\ntext = \"status of /srv/app\"\ngold = { repo_path = \"/srv/app\" }\n";
    std::fs::write(intents.join("git-me.toml"), text).unwrap();
    let run = |tasks: &str| {
        let mut command = bench(folder.path());
        command.args(["--tasks", tasks, "--arms", "L0", "--intents"]).arg(&intents);
        command
    };
    let message = stderr(&mut run("2"), 2);
    assert!(message.contains("tasks of a single frame"), "{message}");
    let live = ["--live", "--mock-server", "--base-url", "http://127.0.0.1:9", "--budget-usd", "1"];
    let message = stderr(run("2").args(live), 2);
    assert!(message.contains("tasks of a single frame"), "{message}");
    let second = text.replace("id = \"x\"", "id = \"y\"").replace("/srv/app", "/srv/other");
    std::fs::write(intents.join("git-other.toml"), second).unwrap();
    let out = stdout(&mut run("2"), 0);
    assert!(out.lines().any(|line| line.starts_with("L0 ") && line.contains(" 2 ")), "{out}");
}

#[test]
fn a_surface_is_the_document_whose_digest_the_lock_holds() {
    let folder = folder();
    let surface = json(&stdout(bench(folder.path()).args(["surface", "--arm", "L2", "--quiet"]), 0));
    assert_eq!(surface["tools"].as_array().unwrap().len(), 16);
    let message = stderr(bench(folder.path()).args(["surface", "--arm", "L9"]), 2);
    assert!(message.contains("L9") && message.contains("bench arms"), "{message}");
}

#[test]
fn definitions_of_the_vendored_catalogs() {
    let folder = folder();
    insta::assert_snapshot!(stdout(bench(folder.path()).args(["definitions", "--arms", "raw,L0,L2"]), 0));
}

#[test]
fn nothing_drifted_from_the_committed_lock() {
    let folder = folder();
    let out = stdout(bench(folder.path()).args(["protocol", "check"]), 0);
    assert!(out.contains("nothing drifted"), "{out}");
}

#[test]
fn a_drifted_protocol_names_what_drifted() {
    let folder = folder();
    let file = folder.path().join("p.toml");
    let text = bench_protocol::spec::BUILT_IN.replace("max_turns = 8", "max_turns = 7");
    fs::write(&file, text).unwrap();
    let out = stdout(bench(folder.path()).args(["protocol", "check", "--protocol"]).arg(&file), 20);
    assert!(out.contains("drifted: protocol"), "{out}");
}

#[test]
fn an_unknown_protocol_key_is_named_with_its_line() {
    let folder = folder();
    let file = folder.path().join("p.toml");
    fs::write(&file, bench_protocol::spec::BUILT_IN.replace("max_turns = 8", "max_turns = 8\nmax_trns = 8")).unwrap();
    let message = stderr(bench(folder.path()).args(["protocol", "show", "--protocol"]).arg(&file), 30);
    assert!(message.contains("max_trns") && message.contains("p.toml"), "{message}");
}

#[test]
fn malformed_catalogs_are_named_with_place_and_cause() {
    let folder = folder();
    let catalogs = folder.path().join("catalogs");
    fs::create_dir(&catalogs).unwrap();
    let run = |text: &str| {
        fs::write(catalogs.join("mine.json"), text).unwrap();
        stderr(bench(folder.path()).args(["definitions", "--catalogs"]).arg(&catalogs), 30)
    };
    let cut = run(r#"{"initialize":{},"tools_list_pages":[{"tools":[{"name":"a","inputSchema":{"#);
    assert!(cut.contains("mine.json"), "{cut}");
    let twice = run(
        r#"{"initialize":{},"tools_list_pages":[{"tools":[{"name":"a","inputSchema":{}},{"name":"a","inputSchema":{}}]}]}"#,
    );
    assert!(
        twice.contains("mine.json") && twice.contains('a') && twice.contains("twice") || twice.contains("duplicate"),
        "{twice}"
    );
}

#[test]
fn malformed_intents_are_named_with_file_and_frame() {
    let folder = folder();
    let intents = folder.path().join("intents");
    fs::create_dir(&intents).unwrap();
    let run = |frame: &str| {
        let text = format!(
            "server = \"git\"\nwriter = \"w1\"\n[pools.repo]\nvalues = [\"/srv/a\", \"/srv/b\"]\n[[intent]]\ntool = \"git_status\"\n[[intent.frame]]\nid = \"f\"\nstratum = \"plain\"\nvoice = \"terse\"\n{frame}\n"
        );
        fs::write(intents.join("git-x.toml"), text).unwrap();
        stdout(bench(folder.path()).args(["tasks", "check", "--intents"]).arg(&intents), 30)
    };
    let unused = run("text = \"state of {r}\"\nslots = { r = \"repo\", q = \"repo\" }\ngold = { repo_path = \"{r}\" }");
    assert!(unused.contains("git-x.toml") && unused.contains("git/git_status/f") && unused.contains('q'), "{unused}");
    let broken = run("text = \"state of {r}\"\nslots = { r = \"repo\" }\ngold = { repo_path = 7 }");
    assert!(broken.contains("git/git_status/f"), "{broken}");
}

#[test]
fn freezing_without_drift_is_refused() {
    let folder = folder();
    fs::create_dir(folder.path().join("locks")).unwrap();
    let args = ["protocol", "freeze", "--reason", "again", "--data-seen", "no", "--locks", "locks"];
    let message = stderr(bench(folder.path()).args(args), 2);
    assert!(message.contains("nothing to freeze"), "{message}");
    assert_eq!(fs::read_dir(folder.path().join("locks")).unwrap().count(), 0);
}

#[test]
fn a_lock_that_misstates_its_power_is_refused() {
    let folder = folder();
    fs::create_dir(folder.path().join("locks")).unwrap();
    let stated = bench_protocol::spec::Protocol::built_in().unwrap().power.underpowered;
    let text = bench_protocol::spec::BUILT_IN
        .replace(&format!("underpowered = {stated}"), &format!("underpowered = {}", !stated));
    fs::write(folder.path().join("p.toml"), text).unwrap();
    let freeze = ["protocol", "freeze", "--reason", "other", "--data-seen", "no", "--locks", "locks"];
    let message = stderr(bench(folder.path()).args(freeze).args(["--protocol", "p.toml"]), 2);
    assert!(message.contains(&format!("state {stated}")) && message.contains("bench power"), "{message}");
    assert_eq!(fs::read_dir(folder.path().join("locks")).unwrap().count(), 0);
}

#[test]
fn a_lock_that_hides_a_look_is_refused_before_its_simulation_is_read() {
    let folder = folder();
    fs::create_dir(folder.path().join("locks")).unwrap();
    let inputs = Inputs::load(&Overrides::default()).unwrap();
    let run = Run {
        id: RunId::parse("r7k2m9xq0").unwrap(),
        lock: inputs.chain.current().unwrap().id().clone(),
        tasks: None,
        model: "m".to_owned(),
        family: "levels".to_owned(),
        kind: Kind::Exploratory,
        arms: vec!["raw".to_owned()],
        budget: 1,
        prices: Digest::of(b"prices"),
    };
    let ledger = folder.path().join("results/ledger.jsonl");
    Ledger::at(&ledger).append("2026-11-29T12:00:00Z", Event::Started, &run).unwrap();
    let text = bench_protocol::spec::BUILT_IN.replace("max_turns = 8", "max_turns = 7");
    fs::write(folder.path().join("p.toml"), &text).unwrap();
    let freeze = |seen: &str| {
        let arguments = ["protocol", "freeze", "--reason", "other", "--locks", "locks", "--protocol", "p.toml"];
        stderr(bench(folder.path()).args(arguments).args(["--data-seen", seen]), 2)
    };
    let denied = freeze("no");
    assert!(denied.contains("r7k2m9xq0") && denied.contains("--data-seen yes"), "{denied}");
    let seeds = &inputs.protocol.seeds;
    let text = text
        .replace(&format!("\"{}\"", seeds.primary), "\"new\"")
        .replace(&format!("\"{}\"", seeds.replication), "\"newer\"");
    fs::write(folder.path().join("p.toml"), text).unwrap();
    // Both are in order now; the committed simulation is of another protocol.
    let unfit = freeze("yes");
    assert!(unfit.contains("the simulation is of protocol") && unfit.contains("--simulation"), "{unfit}");
}

#[test]
fn a_run_that_is_not_there_is_a_usage_error() {
    let folder = folder();
    let message = stderr(bench(folder.path()).args(["verify", "nowhere"]), 2);
    assert!(message.contains("nowhere"), "{message}");
}

#[test]
fn a_count_or_a_wait_of_zero_is_refused_and_prints_no_empty_table() {
    let folder = folder();
    for (arguments, option) in [
        (vec!["retrieval", "--n", "0"], "--n"),
        (vec!["sessions", "--sessions", "0"], "--sessions"),
        (vec!["tasks", "--n", "0"], "--n"),
        (vec!["compare", "--start-timeout", "0"], "--start-timeout"),
        (vec!["compare", "--call-timeout", "0"], "--call-timeout"),
        (vec!["simulate", "--frames-per-tool", "0"], "--frames-per-tool"),
        (vec!["power", "--tools", "0"], "--tools"),
        (vec!["pilot", "--per-frame", "0"], "--per-frame"),
        (vec!["catalog", "capture", "--timeout", "0", "--", "true"], "--timeout"),
        (vec!["--threads", "0"], "--threads"),
    ] {
        let message = stderr(bench(folder.path()).args(&arguments), 2);
        let said = message.contains(option) && message.contains("it must be at least 1");
        assert!(said, "{arguments:?}: {message}");
    }
}

#[test]
fn intents_that_still_hold_the_scaffolds_words_do_not_pass_the_check() {
    let folder = folder();
    let place = |name: &str| folder.path().join(name);
    fs::create_dir(place("catalogs")).unwrap();
    fs::create_dir(place("intents")).unwrap();
    let tool = r#"{ "name": "find", "inputSchema": { "type": "object", "properties": {} } }"#;
    let catalog = format!(r#"{{ "tools_list_pages": [{{ "tools": [{tool}] }}] }}"#);
    fs::write(place("catalogs/mine.json"), catalog).unwrap();
    let mut scaffold = bench(folder.path());
    stdout(scaffold.args(["tasks", "scaffold", "catalogs/mine.json", "--out", "intents/me.toml"]), 0);
    let check = || {
        let mut command = bench(folder.path());
        command.args(["--catalogs", "catalogs", "--intents", "intents", "tasks", "check"]);
        stdout(&mut command, 30)
    };
    let found = check();
    for frame in ["plain-1", "paraphrase-1"] {
        let named = format!("frame mine/find/{frame}: nobody has written its text yet");
        assert!(found.lines().any(|line| line.starts_with("me.toml:") && line.contains(&named)), "{found}");
    }
    let written = fs::read_to_string(place("intents/me.toml")).unwrap().replacen("REWRITE\"", "where is it?\"", 1);
    fs::write(place("intents/me.toml"), written).unwrap();
    assert_eq!(check().matches("nobody has written its text yet").count(), 1);
}

#[test]
fn help_names_every_command() {
    let folder = folder();
    insta::assert_snapshot!(stdout(bench(folder.path()).arg("--help"), 0));
}

#[test]
fn an_import_names_its_bad_rows_and_one_of_no_rows_leaves_nothing() {
    let folder = folder();
    let import = |name: &str, text: &str, code| {
        fs::write(folder.path().join(name), text).unwrap();
        let mut command = bench(folder.path());
        command.args(["tasks", "import", "csv", name, "--out", "own"]);
        if code == 0 { stdout(&mut command, 0) } else { stderr(&mut command, code) }
    };
    let head = "utterance,server,tool,arguments\n";
    let said = import("empty.csv", head, 30);
    assert!(said.contains("empty.csv: no rows"), "{said}");
    assert!(!folder.path().join("own").exists());
    let good = "is anything changed in /srv/x?,git,git_status,\"{\"\"repo_path\"\": \"\"/srv/x\"\"}\"\n";
    let said = import("good.csv", &format!("{head}{good}"), 0);
    assert!(said.starts_with("1 rows: 1 requests with a right call"), "{said}");
    fs::remove_dir_all(folder.path().join("own")).unwrap();
    import("bad.csv", &format!("{head}{good}and now?,git,git_nothing,{{}}\n"), 30);
    let kept = json(&fs::read_to_string(folder.path().join("own/import.json")).unwrap());
    assert!(kept["malformed"][0].to_string().contains("git_nothing"), "{kept}");
}
