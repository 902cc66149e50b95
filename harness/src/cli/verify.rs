//! `bench verify`: recompute a record.

use super::{
    failure::Failure,
    output::Output,
    publish::{args::VerifyArgs, ci::Case},
};
use crate::{
    sign::PublicKey,
    verify::{Against, Outcome, Report, verify},
};

/// Runs the command.
pub(super) fn run(args: &VerifyArgs, output: &mut Output) -> Result<u8, Failure> {
    let mut files = args.ci.open()?;
    let key = args.key.as_deref().map(PublicKey::read).transpose()?;
    let found = args.record.find()?;
    let report = verify(found.folder(), &Against { ledger: args.ledger.clone(), key });
    files.write("bench verify", &report.run, &cases(&report, args.strict))?;
    if output.json {
        output.document(&report)?;
    } else {
        print(&report, args.strict, output)?;
    }
    Ok(report.code(args.strict))
}

fn print(report: &Report, strict: bool, output: &mut Output) -> Result<(), Failure> {
    let out = output.product();
    writeln!(out, "record {}", report.run)?;
    for check in &report.checks {
        writeln!(out, "  {}  {:<22} {}", check.outcome.word(), check.name, check.evidence)?;
    }
    let (all, failed, notes) = (report.checks.len(), report.failures(strict).count(), report.notes());
    match (failed, notes) {
        (0, 0) => writeln!(out, "verified: all {all} checks pass")?,
        (0, _) => writeln!(out, "verified: {} of {all} checks pass, {notes} noted, none fails", all - notes)?,
        _ => writeln!(out, "not verified: {failed} of {all} checks fail")?,
    }
    for limit in &report.not_shown {
        writeln!(out, "not shown: {limit}")?;
    }
    Ok(())
}

fn cases(report: &Report, strict: bool) -> Vec<Case> {
    report
        .checks
        .iter()
        .map(|check| Case {
            name: check.name.to_owned(),
            pass: check.outcome == Outcome::Pass || check.outcome == Outcome::Note && !strict,
            text: check.evidence.clone(),
        })
        .collect()
}
