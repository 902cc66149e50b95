//! Which files a record may hold, by name. What has another name is never packed, and never unpacked.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bench_results::{
    attestation::ATTESTATION,
    record::{ATTEMPTS, CERTIFICATE, EPISODES, INPUTS, MANIFEST, SURFACES},
};

use super::{BundleError, CONTENTS};

/// Name of the ledger as it stood when the bundle was made, beside the record.
pub const LEDGER: &str = "ledger.jsonl";

/// The report that a bundle takes along.
pub const PAGE: &str = "report.html";

/// Reports that may lie beside the record.
const REPORTS: [&str; 5] = [PAGE, "report.md", "report.json", "episodes.csv", "attempts.csv"];

/// Longest path, in bytes. Fits the name fields of a plain archive header with room for the top folder.
const LONGEST: usize = 160;

/// Folders below each other at most: `inputs/catalogs/git.json`.
const DEEPEST: usize = 4;

/// True for a name that may stand at the top of a record's folder.
pub fn is_top_level(name: &str) -> bool {
    [MANIFEST, ATTEMPTS, EPISODES, CERTIFICATE, ATTESTATION, CONTENTS, LEDGER, INPUTS, SURFACES].contains(&name)
        || is_report(name)
}

/// True for a report: made from the record, not part of it.
pub fn is_report(name: &str) -> bool {
    REPORTS.contains(&name)
}

/// The catalogs, what was written over them, and every file that repeats tool definitions, arguments or responses: all
/// that a bundle may withhold.
pub fn quotes_catalogs(name: &str) -> bool {
    ["inputs/catalogs/", "inputs/intents/", "surfaces/"].iter().any(|folder| name.starts_with(folder))
        || [ATTEMPTS, EPISODES].contains(&name)
        || is_report(name)
}

/// A plain relative path: no root, no way up, no separators or devices of other systems, nothing that cannot be seen.
///
/// # Errors
/// Why it is none.
pub fn plain(name: &str) -> Result<(), BundleError> {
    let wrong = |why| Err(BundleError::Name { name: name.escape_debug().to_string(), why });
    if name.is_empty() || name.len() > LONGEST {
        return wrong("empty or too long");
    }
    let odd = |c: char| !(c.is_ascii_alphanumeric() || "-_./".contains(c));
    if name.chars().any(odd) {
        return wrong("only letters, digits and -_. are in the names of a record");
    }
    if name.split('/').any(|part| part.is_empty() || part.starts_with('.') || part.ends_with('.')) {
        return wrong("it leads elsewhere, or is hidden");
    }
    if name.split('/').count() > DEEPEST {
        return wrong("too deep");
    }
    Ok(())
}

/// A path that a record may hold.
///
/// # Errors
/// Why it may not.
pub fn of_record(name: &str) -> Result<(), BundleError> {
    plain(name)?;
    let (top, rest) = name.split_once('/').map_or((name, None), |(top, rest)| (top, Some(rest)));
    let fits = match (top, rest) {
        (INPUTS, Some(_)) => true,
        (SURFACES, Some(file)) => file
            .strip_suffix(".json")
            .is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))),
        (INPUTS | SURFACES, None) | (_, Some(_)) => false,
        (file, None) => is_top_level(file),
    };
    if fits { Ok(()) } else { Err(BundleError::Name { name: name.to_owned(), why: "a record has no such file" }) }
}

/// The files of a record's folder, by path inside of it, in order; without the list of contents and without strangers at
/// the top.
///
/// # Errors
/// A folder that cannot be read, a link, or a strange name below `inputs` or `surfaces`.
pub fn files(folder: &Path) -> Result<Vec<String>, BundleError> {
    let mut all = Vec::new();
    walk(folder, &mut |name, is_folder| {
        if is_folder {
            plain(&name)
        } else if name == CONTENTS {
            Ok(())
        } else {
            of_record(&name)?;
            all.push(name);
            Ok(())
        }
    })?;
    all.sort();
    Ok(all)
}

/// Refuses a record that is not made of plain files: what a link leads to can change without the record, and a pipe never
/// ends. Strangers at the top are not looked at.
///
/// # Errors
/// A folder that cannot be read, a link, or a device.
pub fn of_plain_files(folder: &Path) -> Result<(), BundleError> {
    walk(folder, &mut |_, _| Ok(()))
}

/// Calls `take` with the path of everything in a record's folder, and whether it is a folder; strangers at the top are left
/// out.
fn walk(folder: &Path, take: &mut dyn FnMut(String, bool) -> Result<(), BundleError>) -> Result<(), BundleError> {
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let path = folder.join(&below);
        let io = |source| BundleError::Io { path: path.clone(), source };
        for entry in fs::read_dir(&path).map_err(io)? {
            let entry = entry.map_err(io)?;
            let inside = below.join(entry.file_name());
            let name = inside.to_string_lossy().into_owned();
            if below.as_os_str().is_empty() && !is_top_level(&name) {
                continue;
            }
            // Of the entry itself: a link is never followed.
            let kind = entry.file_type().map_err(io)?;
            if kind.is_dir() {
                take(name, true)?;
                folders.push(inside);
            } else if kind.is_file() {
                take(name, false)?;
            } else {
                return Err(BundleError::Kind { name, kind: "a link or a device" });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_record_fit_and_nothing_that_leads_elsewhere_does() {
        let surface = format!("surfaces/{}.json", "a1".repeat(32));
        for name in ["manifest.json", "inputs/catalogs/git.json", "inputs/locks/ab.json", &surface, "report.html"] {
            assert!(of_record(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "/etc/passwd",
            "../x",
            "inputs/../../x",
            "inputs//x",
            "inputs/./x",
            "inputs",
            "surfaces",
            "surfaces/x.json",
            "C:/x",
            "inputs\\x",
            "inputs/\u{202e}x",
            "inputs/a\nb",
            "inputs/.ssh/id",
            "evil.sh",
            "manifest.json/x",
            "inputs/a/b/c/d",
            "inputs/x.",
            &"i".repeat(200),
        ] {
            assert!(of_record(name).is_err(), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_a_record_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("inputs")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("inputs/protocol.toml")).unwrap();
        assert!(matches!(files(folder.path()), Err(BundleError::Kind { .. })));
        assert!(matches!(of_plain_files(folder.path()), Err(BundleError::Kind { .. })));
    }
}
