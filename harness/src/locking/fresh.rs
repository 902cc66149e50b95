//! Whether a lock would be a fresh one: over tasks that nobody has looked at, or honest about a look.

use std::collections::BTreeSet;

use bench_protocol::{
    digest::Digest,
    lock::{Lock, LockDigests},
};
use thiserror::Error;

use crate::{
    inputs::Inputs,
    ledger::{self, RunId},
};

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bench_protocol::lock::{Chain, LockBody, SCHEMA};

    use super::*;
    use crate::{
        inputs::Overrides,
        ledger::{Event, Kind, Run},
        locking::compute,
        run::prepare::TOOLS,
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
        chain.push(chain.next(AT, Event::Started, &run, None).unwrap()).unwrap();
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
}
