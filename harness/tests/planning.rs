//! What a verdict will be worth: power, simulation, pilot, explanation.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{fs, path::Path};

use common::{bench, stderr, stdout};
use serde_json::Value;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&stdout(bench(folder).args(args).arg("--json"), 0)).unwrap()
}

#[test]
fn the_planning_decision_is_reproduced_through_the_command() {
    let folder = folder();
    let plan = |args: &[&str]| {
        let base = ["power", "--replicates", "0", "--discordance", "0.05", "--target", "0.95"];
        json(folder.path(), &[&base, args].concat())["plan"].clone()
    };
    let two = plan(&["--frames-per-tool", "12", "--tasks-per-frame", "2", "--rho-frame", "0.3"]);
    assert_eq!(two["sizes"]["independent"], 1_409);
    assert_eq!(two["sizes"]["nested"], 1_832);
    assert_eq!(two["at_n"]["n"], 1_872);
    assert!(two["at_n"]["power"].as_f64().unwrap() >= 0.95);
    // The same by number of tasks and clusters.
    assert_eq!(plan(&["--n", "1872", "--clusters", "936", "--rho-frame", "0.3"])["at_n"], two["at_n"]);
    let single = plan(&["--n", "1482", "--clusters", "1482"]);
    assert_eq!(single["sizes"]["nested"], 1_409);
    let results = json(folder.path(), &["power", "--results", "--replicates", "0"]);
    assert_eq!(results["plan"]["sizes"]["independent"], 530);
}

#[test]
fn power_for_people() {
    let folder = folder();
    insta::assert_snapshot!(stdout(
        bench(folder.path()).args([
            "power",
            "--frames-per-tool",
            "12",
            "--tasks-per-frame",
            "2",
            "--replicates",
            "200",
            "--discordance",
            "0.05",
            "--rho-frame",
            "0.3",
        ]),
        0
    ));
}

#[test]
fn a_loss_at_the_margin_has_no_number_of_tasks() {
    let folder = folder();
    let out = stdout(bench(folder.path()).args(["power", "--difference", "-0.02", "--replicates", "0"]), 0);
    assert!(out.contains("no number of tasks certifies"), "{out}");
}

#[test]
fn assumptions_that_are_none_are_refused_with_their_name() {
    let folder = folder();
    let refused = |args: &[&str]| stderr(bench(folder.path()).arg("power").args(args), 2);
    assert!(refused(&["--discordance", "0.01", "--difference", "-0.02"]).contains("discordance"));
    assert!(refused(&["--clusters", "0"]).contains("--clusters"));
    assert!(refused(&["--alpha", "five"]).contains("plain decimal"));
    assert!(refused(&["--rho-frame", "1.5"]).contains("rho"));
}

#[test]
fn sizes_that_do_not_nest_leave_the_outlook_out_and_say_so() {
    let folder = folder();
    let output = bench(folder.path()).args(["power", "--n", "1001", "--json"]).output().unwrap();
    let talk = String::from_utf8(output.stderr).unwrap();
    assert!(talk.contains("the outlook is left out"), "{talk}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["outlook"].is_null() && report["plan"]["at_n"]["n"] == 1_001);
}

#[test]
fn curves_are_drawn_and_an_unwritable_file_is_told_first() {
    let folder = folder();
    stdout(bench(folder.path()).args(["power", "--replicates", "0", "--svg", "power.svg"]), 0);
    let svg = fs::read_to_string(folder.path().join("power.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("psi 0.05"), "{}", &svg[..200]);
    stderr(bench(folder.path()).args(["power", "--svg", "no/such/folder/power.svg"]), 30);
}

#[test]
fn a_simulation_prints_the_same_bytes_at_any_number_of_threads() {
    let folder = folder();
    let run = |threads: &str, seed: &str| {
        let args = ["simulate", "--scenario", "planned,corner", "--replicates", "60", "--json", "--threads", threads];
        stdout(bench(folder.path()).args(args).args(["--seed", seed]), 0)
    };
    let one = run("1", "a");
    assert_eq!(one, run("3", "a"));
    assert_ne!(one, run("1", "b"));
    let table: Value = serde_json::from_str(&one).unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert!(
        rows.iter().all(|row| ["scenario", "claim", "at", "level", "rate", "se"].iter().all(|key| !row[key].is_null()))
    );
    for (claim, at) in [("frames", "margin"), ("frames", "null"), ("tools", "margin"), ("tools", "null")] {
        assert_eq!(rows.iter().filter(|row| row["claim"] == claim && row["at"] == at).count(), 2 * 4, "{claim} {at}");
    }
    // Only the planned scenario is an outlook; it is given for no loss and for a small one.
    assert_eq!(table["outlooks"].as_array().unwrap().len(), 2);
}

#[test]
fn simulation_for_people() {
    let folder = folder();
    let args = ["simulate", "--scenario", "quiet,tools-0.1", "--replicates", "300", "--tools", "20"];
    insta::assert_snapshot!(stdout(bench(folder.path()).args(args), 0));
}

#[test]
fn an_unknown_scenario_lists_the_known_ones() {
    let folder = folder();
    let refused = stderr(bench(folder.path()).args(["simulate", "--scenario", "quite"]), 2);
    assert!(refused.contains("quite") && refused.contains("corner-frames-0.5"), "{refused}");
}

#[test]
fn stats_explains_each_step_and_not_as_json() {
    let folder = folder();
    let out = stdout(bench(folder.path()).args(["stats", "--table", "920,5,0,75", "--explain"]), 0);
    assert!(out.starts_with("1. What was counted") && out.contains("G1 passes"), "{out}");
    stderr(bench(folder.path()).args(["stats", "--table", "920,5,0,75", "--explain", "--json"]), 2);
    stderr(bench(folder.path()).args(["stats", "--margins", "944,952,1000", "--explain"]), 2);
}

#[test]
fn a_pilot_runs_on_dev_frames_alone_and_declares_nothing_of_a_scripted_model() {
    let folder = folder();
    let args = ["pilot", "--arms", "L0", "--per-frame", "2", "--json", "--threads"];
    let one = stdout(bench(folder.path()).args(args).arg("1"), 0);
    assert_eq!(one, stdout(bench(folder.path()).args(args).arg("3"), 0));
    let report: Value = serde_json::from_str(&one).unwrap();
    let pilot = &report["pilot"];
    assert_eq!(pilot["tasks"].as_u64().unwrap(), 2 * pilot["frames"].as_u64().unwrap());
    let arms: Vec<&str> = pilot["arms"].as_array().unwrap().iter().map(|arm| arm["arm"].as_str().unwrap()).collect();
    assert_eq!(arms, ["L0", "raw-again"]);
    let declared = pilot["declare"]["discordance"].as_f64().unwrap();
    assert!(pilot["arms"].as_array().unwrap().iter().all(|arm| arm["discordance"].as_f64().unwrap() <= declared));
    let text = stdout(bench(folder.path()).args(["pilot", "--arms", "L0"]), 0);
    assert!(text.contains("a scripted model answered: do not declare these") && !text.contains("[power]"), "{text}");
    let refused = stderr(bench(folder.path()).args(["pilot", "--arms", "planted-loss"]), 2);
    assert!(refused.contains("no level of the protocol"), "{refused}");
}
