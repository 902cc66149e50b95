//! Computing what a lock holds: digests of everything that could change a result.

use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::{
    digest::{Digest, Hasher},
    lock::{Drift, LockDigests, drift},
};

use crate::{
    arms::{Arm, ArmError, Scope, registry::Registry},
    inputs::Inputs,
    plan::{self, SuiteSeeds},
    run::family::TaskSource,
};

/// Computes all of a lock's digests. Generates both task lists of the protocol's primary seed.
pub fn compute(inputs: &Inputs) -> anyhow::Result<LockDigests> {
    let protocol = &inputs.protocol;
    let seeds = SuiteSeeds::derive(protocol, &protocol.seeds.primary)?;
    let tools = TaskSource::tools(inputs, &seeds, None)?;
    let results = TaskSource::results(inputs, &seeds, protocol.suites.results.tasks)?;
    let prompts = Digest::of_parts([
        protocol.episode.system_prompt.as_bytes(),
        b"\0",
        protocol.episode.results_prompt.as_bytes(),
    ]);
    let registry = Registry::new(&plan::arm_context(inputs, &seeds))?;
    let mut surfaces = BTreeMap::new();
    for id in plan::tool_arms(protocol) {
        surfaces.insert(id.to_owned(), surface_digest(registry.build(id)?.as_ref(), None)?);
    }
    let sources = results.sources();
    for id in plan::result_arms(protocol) {
        surfaces.insert(id.to_owned(), surface_digest(registry.build(id)?.as_ref(), Some(&sources))?);
    }
    Ok(LockDigests {
        protocol: protocol.digest()?,
        catalogs: inputs.catalog_digests(),
        intents: inputs.intents_digest(),
        tasks: BTreeMap::from([("tools".to_owned(), tools.digest()?), ("results".to_owned(), results.digest()?)]),
        prompts,
        surfaces,
        products: BTreeMap::new(),
    })
}

/// What of the current lock no longer fits the inputs; `None` where there is no lock.
pub fn drift_of(inputs: &Inputs, computed: &LockDigests) -> Option<Vec<Drift>> {
    inputs.chain.current().map(|lock| drift(lock, computed))
}

/// Digest of an arm's initial surface. An arm of the result suite serves one source tool at a time: its digest is taken
/// over the surfaces of all source tools, one line each, in name order.
pub fn surface_digest(arm: &dyn Arm, sources: Option<&BTreeSet<(String, String)>>) -> Result<Digest, ArmError> {
    let Some(sources) = sources else {
        return Ok(arm.open(Scope::Catalogs)?.surface().digest().clone());
    };
    let mut hasher = Hasher::default();
    for (server, tool) in sources {
        let session = arm.open(Scope::Tool { server, tool })?;
        hasher.update(session.surface().digest().as_str().as_bytes());
        hasher.update(b"\n");
    }
    Ok(hasher.finish())
}
