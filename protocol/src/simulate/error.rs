//! What can't be simulated.

use thiserror::Error;

use crate::{ProtocolError, stats::StatsError, verdict::VerdictError};

/// A scenario, layout or rule that no simulation is defined for.
#[derive(Debug, Error)]
pub enum SimulateError {
    /// Sizes that are no nested layout.
    #[error(
        "layout: {what}; tools, frames per tool and tasks per frame must be at least 1, and there must be 2 frames and at most 1,000,000 tasks"
    )]
    Layout {
        /// What is wrong.
        what: String,
    },
    /// Assumptions that contradict each other.
    #[error("scenario `{scenario}`: {what}")]
    Scenario {
        /// The scenario.
        scenario: String,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// A file that is no table of a simulation.
    #[error("{file}: not the output of `bench simulate --json`: {source}")]
    Table {
        /// The file.
        file: String,
        /// What is wrong, and where.
        source: serde_json::Error,
    },
    /// The statistics refuse a value.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// The protocol's rule is out of range.
    #[error(transparent)]
    Rule(#[from] VerdictError),
    /// The protocol could not be put into its canonical form, from which seeds are derived.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
}
