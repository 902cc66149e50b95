//! What a continuous integration reads of a run and of a comparison: `JUnit` and a step summary that say what the exit
//! code says.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{fs, path::Path};

use common::{bench, stderr, stdout};

fn read(folder: &Path) -> (String, String) {
    let file = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    (file("junit.xml"), file("summary.md"))
}

const FILES: [&str; 5] = ["--quiet", "--junit", "junit.xml", "--summary", "summary.md"];

#[test]
fn a_required_verdict_is_a_failed_case_and_others_are_open() {
    let folder = tempfile::tempdir().unwrap();
    let short = ["--tasks", "40", "--arms", "L0,L2"];
    stdout(bench(folder.path()).args(short).args(FILES).args(["--require", "L2"]), 12);
    let (junit, summary) = read(folder.path());
    assert!(summary.contains("### bench `p") && summary.contains("of 3 fail"), "{summary}");
    assert!(summary.contains("| **FAIL** | L2 | There is no verdict on bench L2"), "{summary}");
    assert!(summary.contains("| open | L0 | There is no verdict on bench L0"), "{summary}");
    assert!(junit.contains("failures=\"1\"") && junit.contains("<testcase name=\"L2\" classname=\"bench\""), "{junit}");
    // Nothing is required: nothing fails, and the summary of a step is added to.
    stdout(bench(folder.path()).args(short).args(FILES), 0);
    let (junit, both) = read(folder.path());
    assert!(
        both.starts_with(&summary) && both.len() > summary.len() && !both[summary.len()..].contains("FAIL"),
        "{both}"
    );
    assert!(junit.contains("failures=\"0\""), "{junit}");
}

#[test]
fn a_comparison_says_its_verdicts_and_what_kept_it_from_any() {
    let folder = tempfile::tempdir().unwrap();
    let compare = ["compare", "--arms", "L0,L2", "--tasks", "20"];
    stdout(bench(folder.path()).args(compare).args(FILES).args(["--require", "L2"]), 11);
    let (junit, summary) = read(folder.path());
    assert!(summary.contains("### bench compare `oracle`") && summary.contains("| **FAIL** | L2 |"), "{summary}");
    assert!(summary.contains("| open | L0 | inconclusive"), "{summary}");
    assert!(junit.contains("failures=\"1\"") && junit.contains("skipped=\"1\""), "{junit}");
    let refused = stderr(bench(folder.path()).args(compare).args(FILES).args(["--require", "nobody"]), 2);
    let (junit, _) = read(folder.path());
    assert!(refused.contains("--require nobody") && junit.contains("--require nobody"), "{junit}");
    assert!(junit.contains("failures=\"1\""), "{junit}");
    // A file that cannot be written fails before the work.
    stderr(bench(folder.path()).args(compare).args(["--junit", "no/such/junit.xml"]), 2);
    stderr(bench(folder.path()).args(compare).args(["--junit", "."]), 2);
    stderr(bench(folder.path()).args(compare).args(["--junit", "junit.xml", "--summary", "no/such/summary.md"]), 2);
    assert_eq!(read(folder.path()).0, junit, "a report stays until the next one takes its place");
}
