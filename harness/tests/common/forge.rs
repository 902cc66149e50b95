//! What a forger does: edits a record, and then makes everything that follows from it again, certificate included. Whatever
//! is caught by nothing but a certificate that does not fit is not caught.

use std::{fs, path::Path};

use bench_harness::{inputs::Inputs, verify::rescore};
use bench_results::record::{Manifest, Record};
use serde_json::Value;

/// Edits a JSON file of a record.
#[track_caller]
pub(crate) fn edit(file: &Path, change: impl FnOnce(&mut Value)) {
    let before: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let mut after = before.clone();
    change(&mut after);
    assert_ne!(before, after, "the change of {} must change something", file.display());
    fs::write(file, serde_json::to_vec_pretty(&after).unwrap()).unwrap();
}

/// Makes the certificate of a record again from its responses, under whatever its manifest says now.
#[track_caller]
pub(crate) fn reconclude(record: &Path) {
    let reader = Record::open(record).unwrap();
    let manifest: Manifest = reader.manifest().clone();
    let own = Inputs::of_record(&reader.inputs()).unwrap();
    let certificate = rescore(&reader, &own, &manifest).unwrap().certificate;
    fs::write(record.join("certificate.json"), certificate.bytes().unwrap()).unwrap();
}

/// Edits the manifest and makes the certificate again.
#[track_caller]
pub(crate) fn claim(record: &Path, change: impl FnOnce(&mut Value)) {
    edit(&record.join("manifest.json"), change);
    reconclude(record);
}

/// A copy of a folder, to be spoilt.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The words of a check in what `bench verify` printed.
#[track_caller]
pub(crate) fn line<'a>(out: &'a str, word: &str, check: &str) -> &'a str {
    let start = format!("  {word}  {check} ");
    out.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no `{start}` in\n{out}"))
}
