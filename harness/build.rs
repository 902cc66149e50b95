//! Tells the program what it was built from: compiler, target, and the commit where there is one.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// What is compiled in, beside this crate's own sources: a change of it may make the checkout differ from its commit.
const SOURCES: [&str; 8] =
    ["src", "data", "../protocol", "../tasks", "../mock-model", "../results/src", "../Cargo.toml", "../Cargo.lock"];

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    set("BENCH_RUSTC", output(&rustc, &["--version"]));
    set("BENCH_TARGET", env::var("TARGET").ok());
    set("BENCH_COMMIT", output("git", &["rev-parse", "HEAD"]));
    set(
        "BENCH_DIRTY",
        output("git", &["--no-optional-locks", "status", "--porcelain"]).map(|lines| (!lines.is_empty()).to_string()),
    );
    let sources = SOURCES.into_iter().map(PathBuf::from).filter(|path| path.exists());
    for path in sources.chain(commit_files()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

fn set(name: &str, value: Option<String>) {
    if let Some(value) = value {
        println!("cargo::rustc-env={name}={value}");
    }
}

/// The files that change with the commit: HEAD, and the branch that it names, wherever git keeps that. None in a folder
/// without history. Git says where they are, since a worktree has a HEAD of its own and shares the branches.
fn commit_files() -> Vec<PathBuf> {
    let place = |name: &str| output("git", &["rev-parse", "--git-path", name]).map(PathBuf::from);
    // A commit on a branch leaves HEAD as it is and writes the branch; a detached HEAD holds the commit itself.
    let branch = output("git", &["symbolic-ref", "--quiet", "HEAD"]).and_then(|name| place(&name));
    let named = ["HEAD", "packed-refs"].into_iter().filter_map(place);
    // A file that is not there would make every build a new one.
    named.filter(|path| path.exists()).chain(branch.and_then(|path| existing(&path))).collect()
}

/// The path, or the nearest folder above it that is there: a packed branch has no file until the next commit makes one.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|path| path.exists()).map(Path::to_owned)
}

/// Standard output of a command, trimmed; none where it cannot be had, as in a folder without history.
fn output(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
