//! Finding the record that a command line names: a folder, a bundle, or the beginning of an id.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bench_protocol::spec::Protocol;
use bench_results::record::{MANIFEST, Record};

use super::args::RecordArgs;
use crate::{
    bundle::{self, BundleError, Limits, layout},
    cli::failure::Failure,
    exit,
};

/// A record's folder; that of a bundle lasts as long as this does.
#[derive(Debug)]
pub(in crate::cli) struct Found {
    folder: PathBuf,
    unpacked: Option<tempfile::TempDir>,
}

impl Found {
    /// The folder.
    pub(in crate::cli) fn folder(&self) -> &Path {
        &self.folder
    }

    /// True where the folder is a copy that will be gone.
    pub(in crate::cli) fn is_bundle(&self) -> bool {
        self.unpacked.is_some()
    }
}

impl RecordArgs {
    /// The record that is meant.
    pub(in crate::cli) fn find(&self) -> Result<Found, Failure> {
        find(&self.run, &self.out)
    }
}

/// The record that a text means: a folder, a bundle, or the only run under `out` whose id begins so.
pub(in crate::cli) fn find(text: &str, out: &Path) -> Result<Found, Failure> {
    let path = PathBuf::from(text);
    if path.is_dir() {
        let held = if path.join(MANIFEST).exists() { Vec::new() } else { ids(&path)? };
        return if held.is_empty() { Ok(Found { folder: path, unpacked: None }) } else { Err(holds(&path, &held)) };
    }
    if path.is_file() {
        let scratch = tempfile::Builder::new().prefix("bench-bundle-").tempdir()?;
        bundle::unpack(&path, scratch.path(), &Limits::default()).map_err(|error| no_bundle(&path, error))?;
        return Ok(Found { folder: scratch.path().to_owned(), unpacked: Some(scratch) });
    }
    let ids = ids(out)?;
    let begins: Vec<&String> = ids.iter().filter(|id| !text.is_empty() && id.starts_with(text)).collect();
    match begins.as_slice() {
        [id] => Ok(Found { folder: out.join(id), unpacked: None }),
        several => {
            let exact = several.iter().find(|id| id.as_str() == text);
            match (exact, several.len()) {
                (Some(id), _) => Ok(Found { folder: out.join(id), unpacked: None }),
                (None, 0) => Err(Failure::usage(format!(
                    "`{text}` is no folder, no bundle and no run under {}; `bench runs` lists them",
                    out.display()
                ))),
                (None, _) => {
                    let list: Vec<&str> = several.iter().map(|id| id.as_str()).collect();
                    Err(Failure::usage(format!(
                        "`{text}` begins several runs ({}); give more letters",
                        list.join(", ")
                    )))
                }
            }
        }
    }
}

/// A folder that holds records and is none.
fn holds(path: &Path, held: &[String]) -> Failure {
    Failure::usage(format!(
        "{} is no record but holds some, such as {}: name one of them, or for `bench verify` all, as {}",
        path.display(),
        held[0],
        path.join("*").display()
    ))
}

/// A file that does not unpack. Where it is one of a record's own, that record is what was meant.
fn no_bundle(path: &Path, error: BundleError) -> Failure {
    let around = path.parent().filter(|folder| folder.join(MANIFEST).is_file());
    let own = path.file_name().is_some_and(|name| layout::is_top_level(&name.to_string_lossy()));
    match around.filter(|_| own) {
        Some(folder) => {
            let folder = if folder == Path::new("") { Path::new(".") } else { folder };
            let why = format!("{} is a file of a record: name its folder, {}", path.display(), folder.display());
            Failure::new(exit::VERIFY_RECORD, anyhow::anyhow!(why))
        }
        None => Failure::new(exit::VERIFY_RECORD, error),
    }
}

/// Opens the record of a run that is complete. Of any other no outcome is shown: whoever saw one could choose whether to
/// go on with the run.
pub(super) fn complete(folder: &Path) -> Result<Record, Failure> {
    let record = Record::open(folder).map_err(|error| Failure::new(exit::INPUT, error))?;
    let manifest = record.manifest();
    if manifest.complete {
        return Ok(record);
    }
    Err(Failure::usage(format!("run {} is not complete: no outcome is shown before its end", manifest.id)))
}

/// The protocol that a record ran under.
pub(in crate::cli) fn protocol(record: &Record) -> Result<Protocol, Failure> {
    let bytes = record.input("protocol.toml").map_err(|error| Failure::new(exit::INPUT, error))?;
    let text = String::from_utf8(bytes).map_err(|error| Failure::new(exit::INPUT, error))?;
    Ok(Protocol::parse(&text, "protocol.toml")?)
}

/// Names of the records in a folder, in order; a folder that is not there has none.
fn ids(out: &Path) -> Result<Vec<String>, Failure> {
    let entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::new(exit::INPUT, anyhow::anyhow!("{}: {error}", out.display()))),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.path().join(MANIFEST).is_file() {
            ids.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    ids.sort();
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_by_its_beginning_and_only_where_one_begins_so() {
        let out = tempfile::tempdir().unwrap();
        for id in ["p11", "p112", "r7k2", "notes"] {
            fs::create_dir(out.path().join(id)).unwrap();
            if id != "notes" {
                fs::write(out.path().join(id).join(MANIFEST), "{}").unwrap();
            }
        }
        let name = |text: &str| find(text, out.path()).ok().map(|found| found.folder().to_owned());
        assert_eq!(name("r"), Some(out.path().join("r7k2")));
        assert_eq!(name("p112"), Some(out.path().join("p112")));
        assert_eq!(name("p11"), Some(out.path().join("p11")), "a whole id may begin another");
        for text in ["p", "notes", "x", ""] {
            assert_eq!(name(text), None, "{text}");
        }
    }

    #[test]
    fn a_folder_of_runs_is_said_to_hold_them_and_one_with_a_manifest_is_a_record_whatever_it_holds() {
        let out = tempfile::tempdir().unwrap();
        let run = out.path().join("r7k2");
        fs::create_dir(&run).unwrap();
        let found = || find(&out.path().display().to_string(), Path::new("elsewhere"));
        assert_eq!(found().unwrap().folder(), out.path(), "an empty folder is for its reader to complain of");
        fs::write(run.join(MANIFEST), "{}").unwrap();
        let said = found().unwrap_err();
        assert_eq!(said.code, exit::USAGE);
        let all = out.path().join("*").display().to_string();
        assert!(said.error.to_string().contains("holds some, such as r7k2"), "{}", said.error);
        assert!(said.error.to_string().ends_with(&all), "{}", said.error);
        fs::write(out.path().join(MANIFEST), "{}").unwrap();
        assert_eq!(found().unwrap().folder(), out.path());
    }

    #[test]
    fn a_file_of_a_record_names_its_folder_and_any_other_is_no_bundle() {
        let out = tempfile::tempdir().unwrap();
        let said = |name: &str| {
            let path = out.path().join(name);
            fs::write(&path, "{}").unwrap();
            let failure = find(&path.display().to_string(), out.path()).unwrap_err();
            assert_eq!(failure.code, exit::VERIFY_RECORD);
            failure.error.to_string()
        };
        assert!(said("certificate.json").contains("no bundle"), "without a manifest beside it");
        assert!(said(MANIFEST).contains("is a file of a record"));
        let text = said("certificate.json");
        assert!(text.ends_with(&format!("name its folder, {}", out.path().display())), "{text}");
        assert!(said("notes.txt").contains("no bundle"));
    }
}
