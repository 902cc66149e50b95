//! Tells the program what it was built from: compiler, target, and the commit where there is one.

use std::{env, process::Command};

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    set("BENCH_RUSTC", output(&rustc, &["--version"]));
    set("BENCH_TARGET", env::var("TARGET").ok());
    set("BENCH_COMMIT", output("git", &["rev-parse", "HEAD"]));
    set("BENCH_DIRTY", output("git", &["status", "--porcelain"]).map(|lines| (!lines.is_empty()).to_string()));
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=../.git/HEAD");
}

fn set(name: &str, value: Option<String>) {
    if let Some(value) = value {
        println!("cargo::rustc-env={name}={value}");
    }
}

/// Standard output of a command, trimmed; none where it cannot be had, as in a folder without history.
fn output(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    if !output.status.success() {
        return None;
    }
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
