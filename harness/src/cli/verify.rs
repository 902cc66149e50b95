//! `bench verify`: recompute records.

use std::path::Path;

use super::{
    ci::Case,
    failure::Failure,
    output::Output,
    publish::{args::VerifyArgs, record::find},
};
use crate::{
    checks::{Check, Outcome, Report},
    exit,
    sign::PublicKey,
    told::told,
    verify::{Against, verify},
};

/// A ledger that is named must be there: an absent one would read as empty, and look like one that was checked.
pub(super) fn ledger_is_there(ledger: Option<&Path>) -> Result<(), Failure> {
    match ledger {
        Some(path) if !path.is_file() => Err(Failure::new(
            exit::INPUT,
            anyhow::anyhow!("{}: no such file; --ledger names the published list of live runs", path.display()),
        )),
        _ => Ok(()),
    }
}

/// Runs the command. With several records every one is verified, and the first that fails gives the code.
pub(super) fn run(args: &VerifyArgs, output: &mut Output) -> Result<u8, Failure> {
    let mut files = args.ci.open()?;
    let key = args.key.as_deref().map(PublicKey::read).transpose()?;
    ledger_is_there(args.ledger.as_deref())?;
    let against = Against { ledger: args.ledger.clone(), key, lock: args.lock.clone() };
    let mut reports = Vec::new();
    for text in &args.runs {
        let report = match find(text, &args.out) {
            Ok(found) => verify(found.folder(), &against),
            // One that cannot be opened does not keep the others from being verified.
            Err(failure) if args.runs.len() > 1 => unopened(text, &failure),
            Err(failure) => return Err(failure),
        };
        if !output.json {
            print(&report, args.strict, output)?;
        }
        reports.push(report);
    }
    let names: Vec<&str> = reports.iter().map(|report| report.run.as_str()).collect();
    let cases: Vec<Case> = reports.iter().flat_map(|report| cases(report, args.strict, reports.len() > 1)).collect();
    files.write("bench verify", &names.join(", "), &cases)?;
    match reports.as_slice() {
        [report] if output.json => output.document(report)?,
        several if output.json => output.document(&several)?,
        _ => {}
    }
    let code = |report: &Report| Some(report.code(args.strict)).filter(|code| *code != exit::OK);
    Ok(reports.iter().find_map(code).unwrap_or(exit::OK))
}

fn unopened(text: &str, failure: &Failure) -> Report {
    let check = Check { name: "record", outcome: Outcome::Fail, evidence: told(&failure.error), code: failure.code };
    Report { run: text.to_owned(), checks: vec![check], not_shown: Vec::new() }
}

fn print(report: &Report, strict: bool, output: &mut Output) -> Result<(), Failure> {
    let out = &mut output.product();
    writeln!(out, "record {}", report.run)?;
    for check in &report.checks {
        writeln!(out, "  {}  {:<22} {}", check.outcome.word(), check.name, check.evidence)?;
    }
    writeln!(out, "{}", report.headline(strict))?;
    for limit in &report.not_shown {
        writeln!(out, "not shown: {limit}")?;
    }
    Ok(())
}

fn cases(report: &Report, strict: bool, several: bool) -> Vec<Case> {
    let name = |check: &Check| if several { format!("{}: {}", report.run, check.name) } else { check.name.to_owned() };
    report
        .checks
        .iter()
        .map(|check| {
            let pass = check.outcome == Outcome::Pass || check.outcome == Outcome::Note && !strict;
            Case::required(name(check), pass, check.evidence.as_str())
        })
        .collect()
}
