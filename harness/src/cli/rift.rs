//! `bench rift`: which tools a search by meaning is likely to take for one another.

use super::{args::RiftArgs, failure::Failure, output::Output, progress::Steps, retrieval::embedder};
use crate::{
    arms::peers::CardSpace,
    exit,
    inputs::Inputs,
    plan,
    rift::{self, Member, RISKS, Rift, Risk},
};

/// Runs the command.
pub(super) fn run(args: &RiftArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let seeds = plan::SuiteSeeds::derive(&inputs.protocol, &inputs.protocol.seeds.primary)?;
    let space = match embedder(args.embedder.as_deref())? {
        Some(embedder) => CardSpace::dense(&inputs.catalogs, &embedder)?,
        None => CardSpace::words(&inputs.catalogs),
    };
    // Every tool is looked at twice.
    let steps = Steps::new(output, "looks", 2 * inputs.catalogs.tool_count());
    let rift = rift::analyse(&inputs.catalogs, &space, &seeds.cards, &|| steps.step())
        .map_err(|why| Failure::new(exit::RUNTIME, anyhow::anyhow!(why)))?;
    drop(steps);
    for card in &rift.cards {
        card.verify().map_err(|error| Failure::new(exit::PLUMBING, error))?;
    }
    if output.json {
        output.document(&rift)?;
    } else {
        print(&rift, output)?;
    }
    Ok(exit::OK)
}

fn print(rift: &Rift, output: &mut Output) -> Result<(), Failure> {
    let by_risk = |of: &dyn Fn(Risk) -> usize| {
        RISKS.iter().map(|&risk| format!("{} {}", of(risk), risk.name())).collect::<Vec<_>>().join(", ")
    };
    let several = by_risk(&|risk| rift.several().filter(|cluster| cluster.risk == risk).count());
    let alone = by_risk(&|risk| rift.alone().filter(|(own, _)| *own == risk).count());
    let out = &mut output.product();
    writeln!(
        out,
        "{} clusters of more than one tool by risk: {several}.\n\
         {} of {} tools stand alone, by risk: {alone}. {} cards signed and verified.\n\
         Nearness: {}.\n\
         The thresholds of clusters and risks are ours: none is published.",
        rift.several().count(),
        rift.alone().count(),
        rift.tools,
        rift.cards.len(),
        rift.nearness,
    )?;
    for cluster in rift.several() {
        writeln!(out, "\n{} risk; shared words: {}", cluster.risk.name(), cluster.shared.join(", "))?;
        for member in &cluster.members {
            writeln!(out, "  {}", line(member))?;
            if member.regenerate {
                writeln!(out, "      nothing in its card tells it apart: write the card anew")?;
            }
        }
    }
    for risk in RISKS.into_iter().filter(|&risk| risk != Risk::Low) {
        let at_risk: Vec<&Member> = rift.alone().filter(|(own, _)| *own == risk).map(|(_, member)| member).collect();
        if !at_risk.is_empty() {
            writeln!(out, "\nalone, {} risk:", risk.name())?;
            for member in at_risk {
                writeln!(out, "  {}", line(member))?;
            }
        }
    }
    Ok(())
}

fn line(member: &Member) -> String {
    let rival = member.rival.as_deref().unwrap_or("none");
    format!("{:<44} margin {:>6.3}  next: {rival}", member.tool, member.margin)
}
