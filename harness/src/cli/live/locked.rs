//! Whether a run looks at tasks that a lock keeps unseen.

use std::collections::BTreeSet;

use bench_protocol::digest::Digest;

use crate::{
    inputs::{Inputs, Overrides},
    plan::SuiteSeeds,
    run::family::{AnyTask, TaskSource},
};

/// The current lock of this program, where one of these tasks is on the lists of its inputs: that of the primary seed, or
/// that of the replication. Overrides that leave the tasks as they are, and parts of the list, show its results all the same.
pub(super) fn looked_at(tasks: &TaskSource) -> anyhow::Result<Option<Digest>> {
    let locked = Inputs::load(&Overrides::default())?;
    let Some(lock) = locked.chain.current() else { return Ok(None) };
    let protocol = &locked.protocol;
    let mut known = BTreeSet::new();
    for seed in [&protocol.seeds.primary, &protocol.seeds.replication] {
        let seeds = SuiteSeeds::derive(protocol, seed)?;
        let all = match tasks {
            TaskSource::Tools(_) => TaskSource::tools(&locked, &seeds, None)?,
            TaskSource::Results(_) => TaskSource::results(&locked, &seeds, protocol.suites.results.tasks)?,
        };
        for task in listed(&all) {
            known.insert(digest(&task)?);
        }
    }
    for task in listed(tasks) {
        if known.contains(&digest(&task)?) {
            return Ok(Some(lock.id().clone()));
        }
    }
    Ok(None)
}

fn listed(tasks: &TaskSource) -> impl Iterator<Item = AnyTask> {
    (0..tasks.len()).filter_map(|index| tasks.task(index))
}

fn digest(task: &AnyTask) -> serde_json::Result<Digest> {
    Ok(Digest::of(&match task {
        AnyTask::Tool(task) => serde_json::to_vec(task)?,
        AnyTask::Result(task) => serde_json::to_vec(task)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_locked_list_is_a_look_at_it_and_a_list_of_another_seed_is_none() {
        let inputs = Inputs::load(&Overrides::default()).unwrap();
        let lock = inputs.chain.current().unwrap().id();
        let tasks = |seed: &str, n| {
            let seeds = SuiteSeeds::derive(&inputs.protocol, seed).unwrap();
            [TaskSource::tools(&inputs, &seeds, Some(n)).unwrap(), TaskSource::results(&inputs, &seeds, n).unwrap()]
        };
        for part in [tasks(&inputs.protocol.seeds.primary, 5), tasks(&inputs.protocol.seeds.replication, 40)] {
            assert!(part.iter().all(|tasks| looked_at(tasks).unwrap().as_ref() == Some(lock)));
        }
        let other = tasks("of nobody", 40);
        assert!(other.iter().all(|tasks| looked_at(tasks).unwrap().is_none()));
    }
}
