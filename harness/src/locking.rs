//! Computing what a lock holds: digests of everything that could change a result.

mod fresh;

use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::{
    digest::{Digest, Hasher},
    lock::{Drift, LockDigests, drift},
};

use crate::{
    arms::{Arm, ArmError, Scope, registry::Registry},
    inputs::Inputs,
    plan::{self, SuiteSeeds},
    run::{
        family::TaskSource,
        prepare::{RESULTS, TOOLS},
    },
};

pub use fresh::{StaleLock, fresh};

/// Computes all of a lock's digests. Generates the task lists of both suites for the protocol's primary and replication
/// seeds.
pub fn compute(inputs: &Inputs) -> anyhow::Result<LockDigests> {
    let protocol = &inputs.protocol;
    let seeds = SuiteSeeds::derive(protocol, &protocol.seeds.primary)?;
    let tools = TaskSource::tools(inputs, &seeds, None)?;
    let results = TaskSource::results(inputs, &seeds, protocol.suites.results.tasks)?;
    let again = SuiteSeeds::derive(protocol, &protocol.seeds.replication)?;
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
        tasks: BTreeMap::from([(TOOLS.to_owned(), tools.digest()?), (RESULTS.to_owned(), results.digest()?)]),
        replication_tasks: BTreeMap::from([
            (TOOLS.to_owned(), TaskSource::tools(inputs, &again, None)?.digest()?),
            (RESULTS.to_owned(), TaskSource::results(inputs, &again, protocol.suites.results.tasks)?.digest()?),
        ]),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        inputs::Overrides,
        run::prepare::{Prepared, RunSpec},
    };

    #[test]
    fn the_replication_run_has_other_tasks_under_the_very_arms_that_the_lock_holds() {
        let inputs = Inputs::load(&Overrides::default()).unwrap();
        let locked = compute(&inputs).unwrap();
        let spec = RunSpec::of(&inputs, &inputs.protocol.seeds.replication, &[], None).unwrap();
        let prepared = Prepared::new(&inputs, &spec).unwrap();
        for family in &prepared.families {
            let sources = family.tasks.sources();
            let sources = (!sources.is_empty()).then_some(&sources);
            for arm in &family.arms {
                let id = &arm.info().id.0;
                assert_eq!(surface_digest(arm.as_ref(), sources).unwrap(), locked.surfaces[id], "{id}");
            }
            let suite = if family.kind.has_tools() { TOOLS } else { RESULTS };
            assert_eq!(family.tasks.digest().unwrap(), locked.replication_tasks[suite]);
            assert_ne!(locked.replication_tasks[suite], locked.tasks[suite]);
        }
    }
}
