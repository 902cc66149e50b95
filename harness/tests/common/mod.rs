//! What the tests of the binary share.

use std::path::Path;

use assert_cmd::Command;

/// The binary, run in `folder`, away from any terminal.
pub fn bench(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.current_dir(folder).env("NO_COLOR", "1");
    command
}

/// Stdout of a run that must end with this code.
#[track_caller]
pub fn stdout(command: &mut Command, code: i32) -> String {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert_eq!(output.status.code(), Some(code), "stdout: {out}\nstderr: {err}");
    out
}

/// Stderr of a run that must end with this code.
#[track_caller]
pub fn stderr(command: &mut Command, code: i32) -> String {
    let output = command.output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{err}");
    err
}

/// The only run below `out`.
#[track_caller]
pub fn only_run(out: &Path) -> std::path::PathBuf {
    let runs: Vec<_> = std::fs::read_dir(out).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}
