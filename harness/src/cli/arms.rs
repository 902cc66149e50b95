//! `bench arms`: list the arms, or hold them to their contract.

use std::cell::Cell;

use bench_results::report::text::line;

use super::{
    args::{ArmsAction, ArmsArgs},
    failure::Failure,
    output::Output,
    progress::Steps,
};
use crate::{
    arms::{
        ArmInfo, Embedding, Tasks, contract,
        registry::{self, Registry},
    },
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
    let arms: Vec<_> = registry::all().into_iter().chain(registry::embedded()).collect();
    if output.json {
        output.document(&arms)?;
        return Ok(exit::OK);
    }
    for arm in arms {
        let affordance = serde_json::to_value(arm.affordance)?;
        let affordance = affordance.as_str().unwrap_or_default();
        writeln!(output.product(), "{:<26} {affordance:<20} +{} trips  {}", arm.id.0, arm.extra_trips, arm.summary)?;
        let mut more = vec![format!("source: {}", arm.source)];
        if !arm.gaps.is_empty() {
            more.push(format!("ours: {}", arm.gaps.join("; ")));
        }
        more.extend(arm.objections(Tasks::Single).into_iter().map(|objection| format!("objection: {objection}")));
        more.extend(place(&arm));
        for line in more {
            writeln!(output.product(), "    {line}")?;
        }
    }
    Ok(exit::OK)
}

/// Where the arm takes a place among others, unless it does everywhere.
fn place(arm: &ArmInfo) -> Option<String> {
    Some(match (arm.embedding, arm.ranks(Tasks::Single), arm.ranks(Tasks::Sessions)) {
        (Some(Embedding::Model(model)), ..) => format!("ranked where the embedder is {model}, else shown"),
        (Some(Embedding::Unnamed), ..) if arm.single_call.is_some() => {
            "ranked in sessions, with an embedder".to_owned()
        }
        (Some(Embedding::Unnamed), ..) => "ranked with an embedder".to_owned(),
        (None, true, _) => return None,
        (None, false, true) => "ranked in sessions, else shown".to_owned(),
        (None, false, false) => "shown, not ranked".to_owned(),
    })
}

/// Breaches of the arm contract by the arms of this list, over the inputs' catalogs.
pub(super) fn breaches(inputs: &Inputs, ids: &[&str], output: &Output) -> Result<Vec<contract::Finding>, Failure> {
    let seeds = plan::SuiteSeeds::derive(&inputs.protocol, &inputs.protocol.seeds.primary)?;
    let context = plan::arm_context(inputs, &seeds);
    let mut findings = Vec::new();
    // Arms are built twice to see whether they come out the same, from materials that are built twice too.
    let registries = [Registry::new(&context)?, Registry::new(&context)?];
    let contract = contract::Contract::new(&context)?;
    let steps = Steps::new(output, "calls", ids.len() * inputs.catalogs.tool_count());
    for id in ids {
        let builds = Cell::new(0);
        let build = |_: &_| {
            builds.set(builds.get() + 1);
            registries[builds.get() % registries.len()].build(id)
        };
        findings.extend(contract.check(&build, &|| steps.step())?);
    }
    Ok(findings)
}

fn check(inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let arms = registry::all();
    let ids: Vec<&str> = arms.iter().map(|arm| arm.id.0.as_str()).collect();
    let findings = breaches(inputs, &ids, output)?;
    if output.json {
        output.document(&findings)?;
    } else {
        for finding in &findings {
            writeln!(output.product(), "{}", line(&finding.to_string()))?;
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
