//! Computing what a lock holds: digests of everything that could change a result.

use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::{
    digest::{Digest, Hasher},
    lock::{Drift, Lock, LockDigests, drift},
};
use thiserror::Error;

use crate::{
    arms::{Arm, ArmError, Scope, registry::Registry},
    inputs::Inputs,
    ledger::{self, RunId},
    plan::{self, SuiteSeeds},
    run::{
        family::TaskSource,
        prepare::{RESULTS, TOOLS},
    },
};

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

/// Why a lock would not be a fresh one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StaleLock {
    /// The ledger knows of a look, the lock would say that there was none.
    #[error(
        "run {run} looked at tasks of this chain of locks at {at}, as the ledger says: freeze with --data-seen yes, and with new seeds in the protocol"
    )]
    Denied {
        /// The run.
        run: RunId,
        /// When it started.
        at: String,
    },
    /// Something that has been looked at is used again.
    #[error(
        "run {run} looked at tasks of this chain of locks at {at}, and {what} would be used again: change both texts under [seeds] in the protocol"
    )]
    Reused {
        /// The run.
        run: RunId,
        /// When it started.
        at: String,
        /// What is used again.
        what: String,
    },
}

/// Refuses a lock that hides a look at its tasks or at those of an earlier lock. After a look, whatever was chosen may
/// have been chosen for what was seen; only tasks that nobody has seen can still tell.
///
/// # Errors
/// [`StaleLock`].
pub fn fresh(
    ledger: &ledger::Chain,
    inputs: &Inputs,
    computed: &LockDigests,
    data_seen: bool,
) -> Result<(), StaleLock> {
    let locks: BTreeSet<&Digest> = inputs.chain.history().map(Lock::id).collect();
    let Some(look) = ledger.first_look(&locks, &computed.task_lists().collect()) else { return Ok(()) };
    let (run, at) = (look.run.clone(), look.at.clone());
    if !data_seen {
        return Err(StaleLock::Denied { run, at });
    }
    let seeds = &inputs.protocol.seeds;
    for lock in inputs.chain.history() {
        let known = lock.body().seeds.iter().flat_map(|seeds| [&seeds.primary, &seeds.replication]);
        let known: BTreeSet<&String> = known.collect();
        if let Some(text) = [&seeds.primary, &seeds.replication].into_iter().find(|text| known.contains(text)) {
            let what = format!("the seed `{text}` of lock {}", lock.id());
            return Err(StaleLock::Reused { run, at, what });
        }
        let known: BTreeSet<&Digest> = lock.digests().task_lists().collect();
        if computed.task_lists().any(|list| known.contains(list)) {
            let what = format!("a task list of lock {}", lock.id());
            return Err(StaleLock::Reused { run, at, what });
        }
    }
    match ledger.first_look(&BTreeSet::new(), &computed.task_lists().collect()) {
        Some(_) => Err(StaleLock::Reused { run, at, what: "a task list that it asked".to_owned() }),
        None => Ok(()),
    }
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
    use std::sync::Arc;

    use bench_protocol::lock::{Chain, LockBody, SCHEMA};

    use super::*;
    use crate::{
        inputs::Overrides,
        ledger::{Event, Kind, Run},
        run::prepare::{Prepared, RunSpec},
    };

    const AT: &str = "2026-11-29T12:00:00Z";

    fn looked(lock: &Digest, tasks: Option<&Digest>) -> ledger::Chain {
        let run = Run {
            id: RunId::parse("r00000000").unwrap(),
            lock: lock.clone(),
            tasks: tasks.cloned(),
            model: "m".to_owned(),
            family: "levels".to_owned(),
            kind: Kind::Exploratory,
            arms: vec!["raw".to_owned()],
            budget: 1,
            prices: Digest::of(b"prices"),
        };
        let mut chain = ledger::Chain::default();
        chain.push(chain.next(AT, Event::Started, &run).unwrap()).unwrap();
        chain
    }

    #[test]
    fn a_lock_after_a_look_says_so_and_has_new_seeds() {
        let mut inputs = Inputs::load(&Overrides::default()).unwrap();
        let computed = compute(&inputs).unwrap();
        let body = LockBody {
            schema: SCHEMA,
            parent: inputs.chain.current().map(|lock| lock.id().clone()),
            reason: "with seeds".to_owned(),
            data_seen: false,
            seeds: Some(inputs.protocol.seeds.clone()),
            digests: computed.clone(),
            operating_characteristics: None,
        };
        let lock = Lock::new(body).unwrap();
        inputs.chain = Arc::new(inputs.chain.with(lock.clone()).unwrap());
        let none = Digest::of(b"none");
        let under_lock = looked(lock.id(), None);
        assert_eq!(fresh(&ledger::Chain::default(), &inputs, &computed, false), Ok(()));
        assert_eq!(fresh(&looked(&none, Some(&none)), &inputs, &computed, false), Ok(()));
        assert!(matches!(fresh(&under_lock, &inputs, &computed, false), Err(StaleLock::Denied { .. })));
        let reused = |inputs: &Inputs, computed: &LockDigests, ledger: &ledger::Chain| match fresh(
            ledger, inputs, computed, true,
        ) {
            Err(StaleLock::Reused { what, .. }) => what,
            other => format!("{other:?}"),
        };
        assert!(reused(&inputs, &computed, &under_lock).contains("the seed `bench/"));

        let with_seeds = |primary: &str, replication: &str| {
            let mut protocol = (*inputs.protocol).clone();
            (protocol.seeds.primary, protocol.seeds.replication) = (primary.to_owned(), replication.to_owned());
            let inputs = Inputs { protocol: Arc::new(protocol), ..inputs.clone() };
            let computed = compute(&inputs).unwrap();
            (inputs, computed)
        };
        let seeds = inputs.protocol.seeds.clone();
        // The old primary seed as the new replication's is an old one.
        let (swapped, lists) = with_seeds("new", &seeds.primary);
        assert!(reused(&swapped, &lists, &under_lock).contains("the seed"));
        let (renewed, lists) = with_seeds("new", "newer");
        assert_eq!(fresh(&under_lock, &renewed, &lists, true), Ok(()));
        // Tasks that were asked without any lock have been seen all the same.
        let unlocked = looked(&none, Some(&lists.tasks[TOOLS]));
        assert!(matches!(fresh(&unlocked, &renewed, &lists, false), Err(StaleLock::Denied { .. })));
        assert!(reused(&renewed, &lists, &unlocked).contains("task list that it asked"));
        // A lock from before seeds were kept tells by its task lists.
        let early = Lock::new(LockBody { parent: None, seeds: None, ..lock.body().clone() }).unwrap();
        let ledger = looked(early.id(), None);
        inputs.chain = Arc::new(Chain::default().with(early).unwrap());
        assert!(reused(&inputs, &computed, &ledger).contains("a task list of lock"));
    }

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
