//! What the tests of the binary share.

#![expect(clippy::unwrap_used, reason = "a helper of tests fails by panicking")]

pub(crate) mod schema;

use std::path::Path;

use assert_cmd::Command;

/// The binary, run in `folder`, away from any terminal.
pub(crate) fn bench(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.current_dir(folder).env("NO_COLOR", "1");
    command
}

/// Stdout of a run that must end with this code.
#[track_caller]
#[allow(dead_code, reason = "each test binary uses its part of this file")]
pub(crate) fn stdout(command: &mut Command, code: i32) -> String {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert_eq!(output.status.code(), Some(code), "stdout: {out}\nstderr: {err}");
    out
}

/// Stderr of a run that must end with this code.
#[track_caller]
#[allow(dead_code, reason = "each test binary uses its part of this file")]
pub(crate) fn stderr(command: &mut Command, code: i32) -> String {
    let output = command.output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{err}");
    err
}
