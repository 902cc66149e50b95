//! Computing what a lock holds: digests of everything that could change a result.

use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::digest::{Digest, Hasher};
use bench_tasks::{Generator, results_suite::ResultGenerator};
use serde::Serialize;

use crate::{
    arms::{Arm, Scope, registry},
    inputs::Inputs,
    plan::{self, SuiteSeeds},
};

/// The digests of a lock, computed from inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Computed {
    /// Of the canonical protocol.
    pub protocol: Digest,
    /// Of every catalog's bytes, by server.
    pub catalogs: BTreeMap<String, Digest>,
    /// Of all intent files.
    pub intents: Digest,
    /// Of the generated task list of each suite, as JSON Lines.
    pub tasks: BTreeMap<String, Digest>,
    /// Of each system prompt.
    pub prompts: BTreeMap<String, Digest>,
    /// Of every protocol arm's initial surface.
    pub surfaces: BTreeMap<String, Digest>,
}

/// Computes all of a lock's digests. Generates both task lists, so it takes a good part of a second.
pub fn compute(inputs: &Inputs) -> anyhow::Result<Computed> {
    let protocol = &inputs.protocol;
    let seeds = SuiteSeeds::derive(protocol, &protocol.seeds.primary)?;
    let mut tasks = BTreeMap::new();
    let generator =
        Generator::new(&inputs.intents, &inputs.catalogs, seeds.tools, plan::tool_plan(protocol, None))?;
    tasks.insert("tools".to_owned(), lines_digest(generator.iter())?);
    let results = ResultGenerator::new(&inputs.catalogs, seeds.results, protocol.suites.results.tasks)?;
    let mut sources = BTreeSet::new();
    let lines = (0..results.len()).filter_map(|index| results.task(index)).inspect(|task| {
        sources.insert((task.server.to_string(), task.tool.to_string()));
    });
    tasks.insert("results".to_owned(), lines_digest(lines)?);
    let prompts = BTreeMap::from([
        ("tools".to_owned(), Digest::of(protocol.episode.system_prompt.as_bytes())),
        ("results".to_owned(), Digest::of(protocol.episode.results_prompt.as_bytes())),
    ]);
    Ok(Computed {
        protocol: protocol.digest()?,
        catalogs: inputs.catalog_digests(),
        intents: inputs.intents_digest(),
        tasks,
        prompts,
        surfaces: surfaces(inputs, &seeds, &sources)?,
    })
}

/// Initial surface of every arm of the protocol. An arm of the result suite shows one source tool at a time: its digest
/// is taken over the surfaces of all source tools, in name order.
fn surfaces(
    inputs: &Inputs,
    seeds: &SuiteSeeds,
    sources: &BTreeSet<(String, String)>,
) -> anyhow::Result<BTreeMap<String, Digest>> {
    let arms = &inputs.protocol.arms;
    let context = plan::arm_context(inputs, seeds);
    let mut surfaces = BTreeMap::new();
    for id in std::iter::once(&arms.reference).chain(&arms.levels).chain(&arms.controls) {
        let arm = registry::build(id, &context)?;
        surfaces.insert(id.clone(), arm.open(Scope::Catalogs)?.surface().digest().clone());
    }
    for id in std::iter::once(&arms.results_reference).chain(&arms.results).chain(&arms.results_controls) {
        let arm = registry::build(id, &context)?;
        surfaces.insert(id.clone(), over_sources(arm.as_ref(), sources)?);
    }
    Ok(surfaces)
}

fn over_sources(arm: &dyn Arm, sources: &BTreeSet<(String, String)>) -> anyhow::Result<Digest> {
    let mut bytes = Vec::new();
    for (server, tool) in sources {
        let session = arm.open(Scope::Tool { server, tool })?;
        bytes.extend_from_slice(session.surface().digest().as_str().as_bytes());
        bytes.push(b'\n');
    }
    Ok(Digest::of(&bytes))
}

/// Digest of items as JSON Lines, without holding them all.
pub fn lines_digest<T: Serialize>(items: impl Iterator<Item = T>) -> anyhow::Result<Digest> {
    let mut hasher = Hasher::default();
    let mut line = Vec::new();
    for item in items {
        line.clear();
        serde_json::to_writer(&mut line, &item)?;
        line.push(b'\n');
        hasher.update(&line);
    }
    Ok(hasher.finish())
}
