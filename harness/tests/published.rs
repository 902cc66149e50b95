//! Everything below `results/published` is verified here, whatever is added.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use std::{
    fs,
    path::{Path, PathBuf},
};

use common::{bench, schema::fits_exactly, stdout};

fn published() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/published")
}

/// Files below a folder with this ending, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            all.push(path);
        }
    }
    all.sort();
    all
}

#[test]
fn every_published_bundle_verifies() {
    let scratch = tempfile::tempdir().unwrap();
    let bundles = files(&published(), ".tar.gz");
    assert!(!bundles.is_empty(), "nothing is published");
    for bundle in bundles {
        let out = stdout(bench(scratch.path()).arg("verify").arg(&bundle), 0);
        assert!(out.contains("equal byte for byte"), "{}: {out}", bundle.display());
        let view = stdout(bench(scratch.path()).arg("report").arg(&bundle).args(["--json", "--unverified"]), 0);
        fits_exactly("report", &serde_json::from_str(&view).unwrap());
    }
}

#[test]
fn the_definitions_table_is_what_the_program_prints() {
    let scratch = tempfile::tempdir().unwrap();
    let table = fs::read_to_string(published().join("offline/definitions.txt")).unwrap();
    assert_eq!(stdout(bench(scratch.path()).arg("definitions"), 0), table, "run `just publish-offline`");
}

#[test]
fn the_readme_shows_the_published_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let table = fs::read_to_string(published().join("offline/table.txt")).unwrap();
    let rows = table.lines().take_while(|line| !line.starts_with("bench "));
    let shown = rows.collect::<Vec<_>>().join("\n");
    assert!(shown.lines().count() > 10 && readme.contains(shown.trim_end()), "run `just publish-offline`");
}

#[test]
fn published_counts_are_read_again_to_the_same_page_and_document() {
    let scratch = tempfile::tempdir().unwrap();
    let all = files(&published(), "counts.json");
    assert!(!all.is_empty());
    for counts in all {
        let read =
            |args: &[&str]| stdout(bench(scratch.path()).args(["stats", "--published"]).arg(&counts).args(args), 0);
        let beside = |name: &str| fs::read_to_string(counts.with_file_name(name)).unwrap();
        assert_eq!(read(&[]), beside("README.md"));
        assert_eq!(read(&["--json"]), beside("reanalysis.json"));
    }
}
