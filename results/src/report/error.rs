//! What can go wrong with a report.

use bench_protocol::prices::CostError;
use bench_tasks::task::TaskId;
use thiserror::Error;

use crate::{certificate::CertificateError, record::RecordError};

/// Errors of building and writing reports.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The record can't be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The certificate can't be read.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// A line names a task that the inputs do not make.
    #[error("the record names task {0}, which its inputs do not make; `bench verify` says more")]
    UnknownTask(TaskId),
    /// A line names an arm that was not planned.
    #[error("the record names arm `{0}`, which its manifest does not; `bench verify` says more")]
    UnknownArm(String),
    /// An attempt is closed that was never opened.
    #[error("attempt {0} is closed twice, or was never opened; `bench verify` says more")]
    StrayAttempt(u64),
    /// Tokens that no price can be put on.
    #[error("pricing the tokens of task {task}: {source}")]
    Cost {
        /// The task.
        task: TaskId,
        /// The cause.
        source: CostError,
    },
    /// A chart could not be drawn.
    #[error("drawing a chart: {0}")]
    Plot(String),
    /// A table could not be written.
    #[error("writing a table: {0}")]
    Csv(#[from] csv::Error),
    /// The output could not be written.
    #[error("writing the report: {0}")]
    Io(#[from] std::io::Error),
    /// The document could not be written as JSON.
    #[error("writing the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
