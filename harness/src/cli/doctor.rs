//! `bench doctor`: what is there, and how to get the rest.

use std::{
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{args::DoctorArgs, failure::Failure, output::Output};
use crate::{exit, external::Entry};

/// Runtimes that published compressors need, with the flag that makes each say its version, and where to get it.
const RUNTIMES: [(&str, &str, &str); 5] = [
    ("python3", "--version", "https://www.python.org/downloads/"),
    ("node", "--version", "https://nodejs.org/"),
    ("npm", "--version", "comes with node"),
    ("cargo", "--version", "https://rustup.rs/"),
    ("just", "--version", "cargo install just; every recipe is a plain command too"),
];
/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(5);

/// One thing that was looked for.
#[derive(Debug, Serialize)]
struct Checked {
    name: String,
    found: bool,
    /// Its version, or the package's.
    version: Option<String>,
    /// How to get it, where it is not there.
    fix: Option<String>,
}

#[derive(Debug, Serialize)]
struct Report {
    runtimes: Vec<Checked>,
    compressors: Vec<Checked>,
}

/// Runs the command. What is missing is no failure: nothing but `compare` needs any of it.
pub(super) fn run(args: &DoctorArgs, output: &mut Output) -> Result<u8, Failure> {
    let runtimes = RUNTIMES
        .iter()
        .map(|(name, flag, from)| {
            let version = version(name, flag);
            let fix = version.is_none().then(|| (*from).to_owned());
            Checked { name: (*name).to_owned(), found: version.is_some(), version, fix }
        })
        .collect();
    let mut compressors = Vec::new();
    for file in &args.arms_file {
        for entry in Entry::load(file)? {
            let missing = entry.missing_program();
            let fix = missing.as_ref().map(|program| match &entry.install {
                Some(line) => format!("cd {} && {line}", quoted(&entry.here)),
                None => format!("{program} is not there, and the file does not say how to install it"),
            });
            let version = entry.package.as_ref().map(|package| {
                let version = entry.version.as_deref().unwrap_or("any version");
                format!("{package} {version}")
            });
            compressors.push(Checked { name: entry.name, found: missing.is_none(), version, fix });
        }
    }
    let report = Report { runtimes, compressors };
    if output.json {
        output.document(&report)?;
        return Ok(exit::OK);
    }
    for checked in report.runtimes.iter().chain(&report.compressors) {
        let mark = if checked.found { "found" } else { "missing" };
        let version = checked.version.as_deref().unwrap_or_default();
        writeln!(output.product(), "{mark:<8} {:<24} {version}", checked.name)?;
        if let Some(fix) = &checked.fix {
            writeln!(output.product(), "         to get it: {fix}")?;
        }
    }
    Ok(exit::OK)
}

/// A path as a shell takes it for one word.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    // Only a zero byte cannot be quoted, and no path holds one.
    shlex::try_quote(&text).map_or_else(|_| text.to_string(), std::borrow::Cow::into_owned)
}

/// The first line that a program says of its version; none where it is not there, fails or takes too long.
fn version(program: &str, flag: &str) -> Option<String> {
    let mut child = Command::new(program)
        .arg(flag)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break,
            Ok(None) if Instant::now() < until => thread::sleep(POLL),
            _ => {
                // It may have ended just now.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let said = child.wait_with_output().ok()?.stdout;
    Some(String::from_utf8_lossy(&said).lines().next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_word_of_a_shell() {
        assert_eq!(quoted(Path::new("/srv/peers")), "/srv/peers");
        assert_eq!(shlex::split(&quoted(Path::new("/my peers/it's"))).unwrap(), ["/my peers/it's"]);
    }
}
