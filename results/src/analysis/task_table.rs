//! The tasks of a suite as the analysis needs them: names once, a few bytes per task.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bench_protocol::rng::stream_id;
use bench_tasks::task::TaskId;

use super::AnalysisError;

/// What the caller says of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskMeta {
    /// Identity.
    pub id: TaskId,
    /// Its place in the suite, from 0.
    pub index: u64,
    /// The gold tool's catalog; none for abstain.
    pub server: Option<Arc<str>>,
    /// The gold tool; none for abstain.
    pub tool: Option<Arc<str>>,
    /// Its frame.
    pub frame: Arc<str>,
    /// Its stratum, or the kind of a result task.
    pub stratum: Arc<str>,
    /// By arm of the family, in its order: whether the arm shows the gold tool differently from the reference.
    pub affected: Vec<bool>,
}

/// Names in order and, per task, which of them is meant.
#[derive(Debug, Clone, Default)]
pub(super) struct Key {
    pub(super) names: Vec<Arc<str>>,
    of_task: Vec<u32>,
}

/// Stands for "none" in [`Key::of_task`].
const NONE: u32 = u32::MAX;

impl Key {
    pub(super) fn of(&self, task: usize) -> Option<usize> {
        Some(self.of_task[task]).filter(|&name| name != NONE).map(|name| name as usize)
    }

    /// Names get the numbers of their order, so that clusters come out in name order.
    fn new(values: &[Option<Arc<str>>]) -> Self {
        let distinct: BTreeSet<&Arc<str>> = values.iter().flatten().collect();
        let places: BTreeMap<&Arc<str>, u32> = distinct.iter().copied().zip(0..).collect();
        let of_task = values.iter().map(|value| value.as_ref().map_or(NONE, |name| places[name])).collect();
        Self { names: distinct.into_iter().cloned().collect(), of_task }
    }
}

/// The tasks of a suite.
#[derive(Debug, Clone)]
pub struct TaskTable {
    /// Hash of the id, then index, in hash order.
    by_id: Vec<(u64, u32)>,
    /// Index in the suite, by place.
    pub(super) index: Vec<u64>,
    pub(super) frames: Key,
    /// `server/tool`.
    pub(super) tools: Key,
    pub(super) servers: Key,
    pub(super) strata: Key,
    /// One bit per arm.
    affected: Vec<u64>,
}

impl TaskTable {
    /// Takes the tasks of a suite in, for a family of so many arms.
    ///
    /// # Errors
    /// An id twice, an empty frame, a tool without server or the reverse, flags that don't fit the arms.
    pub fn new(tasks: impl IntoIterator<Item = TaskMeta>, arms: usize) -> Result<Self, AnalysisError> {
        let mut by_id = Vec::new();
        let (mut index, mut affected) = (Vec::new(), Vec::new());
        let (mut frames, mut tools, mut servers, mut strata) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        // One shared text per tool, whatever the number of tasks.
        let mut labels: BTreeMap<(Arc<str>, Arc<str>), Arc<str>> = BTreeMap::new();
        for task in tasks {
            if task.affected.len() != arms || arms > 64 {
                return Err(AnalysisError::AffectedCount { id: task.id, found: task.affected.len(), expected: arms });
            }
            let missing = |what| AnalysisError::MissingKey { id: task.id.clone(), what };
            if task.frame.is_empty() {
                return Err(missing("frame"));
            }
            let tool = match (&task.server, &task.tool) {
                (Some(server), Some(tool)) => {
                    let label = labels
                        .entry((Arc::clone(server), Arc::clone(tool)))
                        .or_insert_with(|| format!("{server}/{tool}").into());
                    Some(Arc::clone(label))
                }
                (None, None) => None,
                (None, Some(_)) => return Err(missing("server")),
                (Some(_), None) => return Err(missing("tool")),
            };
            let place = u32::try_from(index.len()).map_err(|_| AnalysisError::TooManyTasks { found: index.len() })?;
            by_id.push((stream_id(&task.id.0), place, task.id));
            index.push(task.index);
            affected.push(task.affected.iter().enumerate().fold(0, |bits, (arm, &on)| bits | (u64::from(on) << arm)));
            frames.push(Some(task.frame));
            tools.push(tool);
            servers.push(task.server);
            strata.push(Some(task.stratum));
        }
        by_id.sort_unstable();
        if let Some(pair) = by_id.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(AnalysisError::DuplicateTask { id: pair[1].2.clone() });
        }
        Ok(Self {
            by_id: by_id.into_iter().map(|(hash, place, _)| (hash, place)).collect(),
            index,
            frames: Key::new(&frames),
            tools: Key::new(&tools),
            servers: Key::new(&servers),
            strata: Key::new(&strata),
            affected,
        })
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// True where there is no task.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The place of a task.
    pub(super) fn place(&self, id: &TaskId) -> Option<usize> {
        let hash = stream_id(&id.0);
        let at = self.by_id.binary_search_by_key(&hash, |&(hash, _)| hash).ok()?;
        Some(self.by_id[at].1 as usize)
    }

    /// Whether an arm shows this task's tool differently.
    pub(super) fn affected(&self, task: usize, arm: usize) -> bool {
        self.affected[task] >> arm & 1 == 1
    }

    /// Whether no call is right.
    pub(super) fn abstains(&self, task: usize) -> bool {
        self.tools.of(task).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::meta;

    #[test]
    fn a_task_listed_twice_is_an_error() {
        let twice = TaskTable::new([meta(0, 1), meta(0, 1)], 1);
        assert!(matches!(twice, Err(AnalysisError::DuplicateTask { .. })));
    }

    #[test]
    fn a_tool_without_its_server_is_an_error_never_a_default() {
        let mut task = meta(0, 1);
        task.server = None;
        assert!(matches!(TaskTable::new([task], 1), Err(AnalysisError::MissingKey { what: "server", .. })));
    }

    #[test]
    fn every_task_is_found_by_its_id_and_no_other() {
        let table = TaskTable::new((0..500).map(|i| meta(i, 1)), 1).unwrap();
        for i in 0..500 {
            assert_eq!(table.place(&meta(i, 1).id), Some(usize::try_from(i).unwrap()));
        }
        assert_eq!(table.place(&TaskId("t".to_owned())), None);
    }
}
