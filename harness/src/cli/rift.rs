//! `bench rift`: which tools a search by meaning is likely to take for one another.

use super::{args::RiftArgs, failure::Failure, output::Output, retrieval::embedder};
use crate::{
    arms::peers::CardSpace,
    exit,
    inputs::Inputs,
    plan,
    rift::{self, Rift, Risk},
};

/// Runs the command.
pub(super) fn run(args: &RiftArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let seeds = plan::SuiteSeeds::derive(&inputs.protocol, &inputs.protocol.seeds.primary)?;
    let space = match embedder(args.embedder.as_deref())? {
        Some(embedder) => CardSpace::dense(&inputs.catalogs, &embedder)?,
        None => CardSpace::words(&inputs.catalogs),
    };
    let rift = rift::analyse(&inputs.catalogs, &space, &seeds.cards)
        .map_err(|why| Failure::new(exit::RUNTIME, anyhow::anyhow!(why)))?;
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
    let counts: Vec<String> = [Risk::High, Risk::Medium, Risk::Low]
        .iter()
        .map(|&risk| format!("{} {}", rift.count(risk), risk.name()))
        .collect();
    let out = output.product();
    writeln!(
        out,
        "{} clusters of {} tools by risk: {}; {} cards signed and verified.",
        rift.clusters.len(),
        rift.tools,
        counts.join(", "),
        rift.cards.len()
    )?;
    for cluster in rift.clusters.iter().filter(|cluster| cluster.risk != Risk::Low || cluster.members.len() > 1) {
        writeln!(out, "\n{} risk; shared words: {}", cluster.risk.name(), cluster.shared.join(", "))?;
        for member in &cluster.members {
            let rival = member.rival.as_deref().unwrap_or("none");
            writeln!(out, "  {:<44} margin {:>6.3}  next: {rival}", member.tool, member.margin)?;
            if member.regenerate && cluster.members.len() > 1 {
                writeln!(out, "      nothing in its card tells it apart: write the card anew")?;
            }
        }
    }
    Ok(())
}
