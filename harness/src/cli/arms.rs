//! `bench arms`: list the arms, or hold them to their contract.

use super::{
    args::{ArmsAction, ArmsArgs},
    failure::Failure,
    output::Output,
};
use crate::{
    arms::{contract, registry},
    exit,
    inputs::Inputs,
    plan,
};

/// Runs the command.
pub(super) fn run(args: &ArmsArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    match args.action {
        None => list(output),
        Some(ArmsAction::Check) => check(inputs, output),
    }
}

fn list(output: &mut Output) -> Result<u8, Failure> {
    let arms = registry::all();
    if output.json {
        output.document(&arms)?;
        return Ok(exit::OK);
    }
    for arm in arms {
        writeln!(output.product(), "{:<14} +{} trips  {}", arm.id.0, arm.extra_trips, arm.summary)?;
    }
    Ok(exit::OK)
}

/// Breaches of the arm contract by the arms of this list, over the inputs' catalogs.
pub(super) fn breaches(inputs: &Inputs, ids: &[&str]) -> Result<Vec<contract::Finding>, Failure> {
    let seeds = plan::SuiteSeeds::derive(&inputs.protocol, &inputs.protocol.seeds.primary)?;
    let context = plan::arm_context(inputs, &seeds);
    let mut findings = Vec::new();
    for id in ids {
        findings.extend(contract::check(&context, &|context| registry::build(id, context))?);
    }
    Ok(findings)
}

fn check(inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let arms = registry::all();
    let ids: Vec<&str> = arms.iter().map(|arm| arm.id.0.as_str()).collect();
    let findings = breaches(inputs, &ids)?;
    if output.json {
        output.document(&findings)?;
    } else {
        for finding in &findings {
            writeln!(output.product(), "{finding}")?;
        }
        let (arms, tools) = (ids.len(), inputs.catalogs.tool_count());
        if findings.is_empty() {
            writeln!(output.product(), "{arms} arms keep their contract over {tools} tools")?;
        } else {
            writeln!(output.product(), "{} breaches by {arms} arms over {tools} tools", findings.len())?;
        }
    }
    Ok(if findings.is_empty() { exit::OK } else { exit::PLUMBING })
}
