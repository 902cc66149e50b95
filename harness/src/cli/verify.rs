//! `bench verify`: recompute a record.

use std::path::PathBuf;

use super::{args::VerifyArgs, failure::Failure, output::Output};
use crate::verify::verify;

/// Runs the command.
pub(super) fn run(args: &VerifyArgs, output: &mut Output) -> Result<u8, Failure> {
    let folder = PathBuf::from(&args.run);
    let folder = if folder.is_dir() { folder } else { args.out.join(&args.run) };
    if !folder.is_dir() {
        return Err(Failure::usage(format!(
            "`{}` is neither a folder nor a run under {}; `bench runs` lists them",
            args.run,
            args.out.display()
        )));
    }
    let report = verify(&folder);
    if output.json {
        output.document(&report)?;
    } else {
        writeln!(output.product(), "record {}", report.run)?;
        for check in &report.checks {
            let word = if check.pass { "pass" } else { "FAIL" };
            writeln!(output.product(), "  {word}  {:<22} {}", check.name, check.evidence)?;
        }
        let failed = report.checks.iter().filter(|check| !check.pass).count();
        if failed == 0 {
            writeln!(output.product(), "verified: all {} checks pass", report.checks.len())?;
        } else {
            writeln!(output.product(), "not verified: {failed} of {} checks fail", report.checks.len())?;
        }
        writeln!(output.product(), "not shown: {}", report.not_shown)?;
    }
    Ok(report.code())
}
