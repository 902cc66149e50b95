//! What a continuous integration reads: a `JUnit` report and a step summary, each format a file of its own.

mod junit;
mod summary;
mod verdicts;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use bench_results::record::{Durability, whole::write_whole};
use clap::Args;

pub(in crate::cli) use verdicts::{Held, of_comparison, of_run};

use super::failure::Failure;
use crate::{exit, told::told};

/// Output for continuous integration.
#[derive(Debug, Clone, Default, Args)]
pub struct CiArgs {
    /// Also write a `JUnit` report, one test case per check or verdict.
    #[arg(long, value_name = "FILE", help_heading = "Continuous integration")]
    pub junit: Option<PathBuf>,
    /// Also add a Markdown summary to this file (a CI's step summary).
    #[arg(long, value_name = "FILE", help_heading = "Continuous integration")]
    pub summary: Option<PathBuf>,
}

/// How a case came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Outcome {
    /// As it must.
    Pass,
    /// Otherwise, and the command's exit code says so.
    Fail,
    /// Otherwise, or not at all, and nothing was required of it.
    Open,
}

/// One line of what is reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Case {
    /// Its name.
    pub(in crate::cli) name: String,
    /// How it came out.
    pub(in crate::cli) outcome: Outcome,
    /// What was found.
    pub(in crate::cli) text: String,
}

impl Case {
    /// A case of which something is required.
    pub(in crate::cli) fn required(name: impl Into<String>, pass: bool, text: impl Into<String>) -> Self {
        let outcome = if pass { Outcome::Pass } else { Outcome::Fail };
        Self { name: name.into(), outcome, text: text.into() }
    }

    /// The case of a command that did not come to its end.
    fn broken_off(text: impl Into<String>) -> Self {
        Self::required("run", false, text)
    }
}

/// How a command that gives verdicts ended.
#[derive(Debug)]
pub(in crate::cli) struct Ended {
    /// Its exit code.
    pub(in crate::cli) code: u8,
    /// What it was about.
    pub(in crate::cli) suite: String,
    /// Its verdicts.
    pub(in crate::cli) cases: Vec<Case>,
}

impl Ended {
    /// It stopped before there was a verdict.
    pub(in crate::cli) fn early(code: u8, suite: impl Into<String>, why: impl Into<String>) -> Self {
        Self { code, suite: suite.into(), cases: vec![Case::broken_off(why)] }
    }
}

/// The files, tried before the work starts, so that one that cannot be written fails first.
#[derive(Debug, Default)]
pub(in crate::cli) struct Files {
    /// A report stays as it was until the new one takes its place.
    junit: Option<PathBuf>,
    summary: Option<(PathBuf, File)>,
}

impl CiArgs {
    /// Tries the files.
    pub(in crate::cli) fn open(&self) -> Result<Files, Failure> {
        let at = |path: &Path, error: std::io::Error| {
            Failure::new(exit::USAGE, anyhow::Error::new(error).context(path.display().to_string()))
        };
        let junit = self.junit.as_ref().map(|path| {
            writable(path).map_err(|error| at(path, error))?;
            Ok::<_, Failure>(path.clone())
        });
        let summary = self.summary.as_ref().map(|path| {
            // A step's summary is added to: other steps write to the same file.
            let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| at(path, error))?;
            Ok::<_, Failure>((path.clone(), file))
        });
        Ok(Files { junit: junit.transpose()?, summary: summary.transpose()? })
    }
}

/// Fails where a report could not be written, and leaves the one that is there.
fn writable(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if path.exists() && OpenOptions::new().append(true).open(path).is_ok() {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::tempfile_in(folder).map(drop)
}

/// Replaces a report; where its folder takes no new file or the place no other (a file that is mounted), it is written over.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_whole(path, bytes, Durability::None)
        .or_else(|error| fs::write(path, bytes).map_err(|_| error))
        .map_err(|error| Failure::new(exit::INPUT, error))
}

impl Files {
    /// Writes the cases of a suite to whatever files there are.
    pub(in crate::cli) fn write(&mut self, tool: &str, suite: &str, cases: &[Case]) -> Result<(), Failure> {
        let junit = self.junit.as_ref().map_or(Ok(()), |path| {
            let text = junit::render(tool, suite, cases).context("writing the JUnit report")?;
            replace(path, text.as_bytes())
        });
        if let Some((path, file)) = &mut self.summary {
            file.write_all(summary::render(tool, suite, cases).as_bytes())
                .with_context(|| path.display().to_string())?;
        }
        junit
    }

    /// Writes how a command ended, whichever way, and gives its exit code.
    pub(in crate::cli) fn close(mut self, tool: &str, ended: Result<Ended, Failure>) -> Result<u8, Failure> {
        match ended {
            Ok(ended) => {
                self.write(tool, &ended.suite, &ended.cases)?;
                Ok(ended.code)
            }
            Err(failure) => {
                // What ended the command is what its user must hear.
                let _ = self.write(tool, "not run", &[Case::broken_off(told(&failure.error))]);
                Err(failure)
            }
        }
    }
}

#[cfg(test)]
pub(super) fn cases() -> Vec<Case> {
    let open = Case { name: "L2".to_owned(), outcome: Outcome::Open, text: "inconclusive".to_owned() };
    vec![
        Case::required("lock", true, "equal"),
        Case::required("episodes", false, "task t1 | <b>differs</b>\nhere"),
        open,
    ]
}
