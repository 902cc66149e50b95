//! What can be wrong with episodes that are to be counted.

use std::sync::Arc;

use bench_protocol::stats::StatsError;
use bench_tasks::task::TaskId;
use thiserror::Error;

/// Errors of the analysis.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AnalysisError {
    /// Two tasks of one id.
    #[error("task {id} is listed twice; ids must be unique within a suite")]
    DuplicateTask {
        /// The id.
        id: TaskId,
    },
    /// A task without what its cluster is made of.
    #[error("task {id} has no {what}; a missing cluster key is never made up")]
    MissingKey {
        /// The id.
        id: TaskId,
        /// `frame`, `server` or `tool`.
        what: &'static str,
    },
    /// A task whose affected flags do not fit the arms.
    #[error("task {id} says for {found} arms whether it is affected, the family has {expected}")]
    AffectedCount {
        /// The id.
        id: TaskId,
        /// Flags found.
        found: usize,
        /// Arms of the family.
        expected: usize,
    },
    /// More tasks than indices.
    #[error("{found} tasks are more than an analysis can index")]
    TooManyTasks {
        /// Tasks found.
        found: usize,
    },
    /// A family that can't be counted.
    #[error("the family of `{reference}`: {why}")]
    Family {
        /// Its reference.
        reference: Arc<str>,
        /// What is wrong.
        why: String,
    },
    /// An episode of a task that is not in the suite.
    #[error("episode of task {task} under `{arm}`: no such task in this suite")]
    UnknownTask {
        /// The task.
        task: TaskId,
        /// The arm.
        arm: Arc<str>,
    },
    /// An episode of an arm that is not in the family.
    #[error("episode of task {task} under `{arm}`: no such arm in this family")]
    UnknownArm {
        /// The task.
        task: TaskId,
        /// The arm.
        arm: Arc<str>,
    },
    /// An episode that was not planned.
    #[error("episode of task {task} under `{arm}`: the arm was not planned to run this task")]
    Unplanned {
        /// The task.
        task: TaskId,
        /// The arm.
        arm: Arc<str>,
    },
    /// A second episode of one task under one arm.
    #[error("episode of task {task} under `{arm}` is there twice")]
    Twice {
        /// The task.
        task: TaskId,
        /// The arm.
        arm: Arc<str>,
    },
    /// An episode that is neither scored nor missing.
    #[error("episode of task {task} under `{arm}` is not scored; score the record before it is analysed")]
    Unscored {
        /// The task.
        task: TaskId,
        /// The arm.
        arm: Arc<str>,
    },
    /// Statistics refused the counts of an arm.
    #[error("arm `{arm}`: {source}")]
    Counts {
        /// The arm.
        arm: Arc<str>,
        /// Why.
        source: StatsError,
    },
}
