//! Text of strangers starts no line of a table, whichever command prints it.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
};

use common::bench;
use serde_json::{Value, json};

/// What a catalog would have stand at the start of a line.
const INJECTED: &str = "\nINJECTED raw 100.0 100.0\r\u{1b}[2K";

/// Commands that print tables over catalogs, with the arguments that keep them short.
const OVER_CATALOGS: [&[&str]; 12] = [
    &["--tasks", "8"],
    &["arms", "check"],
    &["catalog", "check"],
    &["compare", "--arms", "L1,search-invoke", "--tasks", "20"],
    &["definitions"],
    &["pilot", "--per-frame", "1"],
    &["retrieval", "--n", "8", "--arms", "search-invoke"],
    &["rift"],
    &["sessions", "--sessions", "1", "--arms", "L2"],
    &["tasks", "check"],
    &["tasks", "report"],
    &["tasks", "audit-sheet"],
];

/// Commands that print no table over catalogs: documents and bytes, what is not of catalogs, and what reads records, which
/// are made by the commands above.
const OTHERS: [&str; 23] = [
    "surface",
    "stats",
    "power",
    "simulate",
    "protocol",
    "verify",
    "plan",
    "report",
    "resume",
    "runs",
    "verdict",
    "show",
    "diff",
    "rescore",
    "bundle",
    "key",
    "sign",
    "completions",
    "man",
    "mock-server",
    "doctor",
    "replay-server",
    "help",
];

/// The vendored catalogs, every tool changed.
fn catalogs(folder: &Path, change: impl Fn(&mut Value)) -> PathBuf {
    let out = folder.join("catalogs");
    fs::create_dir(&out).unwrap();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tasks/catalogs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let mut catalog: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for page in catalog["tools_list_pages"].as_array_mut().unwrap() {
            page["tools"].as_array_mut().unwrap().iter_mut().for_each(&change);
        }
        fs::write(out.join(path.file_name().unwrap()), catalog.to_string()).unwrap();
    }
    out
}

fn run(folder: &Path, catalogs: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = bench(folder).args(arguments).arg("--catalogs").arg(catalogs).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn descriptions_start_no_line_of_any_table() {
    let folder = tempfile::tempdir().unwrap();
    let catalogs = catalogs(folder.path(), |tool| {
        let told = tool["description"].as_str().unwrap_or_default().to_owned();
        tool["description"] = json!(format!("{told}{INJECTED}"));
        tool["title"] = json!(INJECTED);
        if let Some(properties) = tool["inputSchema"]["properties"].as_object_mut() {
            properties.values_mut().for_each(|property| property["title"] = json!(INJECTED));
        }
    });
    for arguments in OVER_CATALOGS {
        let (code, out, err) = run(folder.path(), &catalogs, arguments);
        assert!(out.lines().count() > 0 && code.is_some(), "{arguments:?} ended with {code:?}: {err}");
        for line in out.lines().chain(err.lines()) {
            assert!(!line.starts_with("INJECTED") && !line.contains('\u{1b}'), "{arguments:?}: {line}");
        }
    }
}

#[test]
fn a_name_that_would_start_a_line_reaches_no_table() {
    let folder = tempfile::tempdir().unwrap();
    let catalogs = catalogs(folder.path(), |tool| {
        tool["name"] = json!(format!("{}{INJECTED}", tool["name"].as_str().unwrap()));
    });
    for arguments in OVER_CATALOGS {
        let (code, out, err) = run(folder.path(), &catalogs, arguments);
        assert_eq!((code, out.as_str()), (Some(30), ""), "{arguments:?}: {err}");
        assert!(err.contains("U+000A") && err.trim_end().lines().count() == 1, "{arguments:?}: {err}");
    }
}

#[test]
fn every_command_is_tried_or_named_as_one_that_prints_no_such_table() {
    let folder = tempfile::tempdir().unwrap();
    let help = String::from_utf8(bench(folder.path()).arg("--help").output().unwrap().stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Descriptions go on in lines that are set in further.
    let commands: Vec<&str> = commands
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 20, "{help}");
    let tried = |command: &str| OVER_CATALOGS.iter().any(|arguments| arguments[0] == command);
    for command in commands {
        assert!(tried(command) != OTHERS.contains(&command), "{command}");
    }
}
