//! What can be wrong with counts that a verdict is asked for.

use std::sync::Arc;

use thiserror::Error;

use super::Endpoint;
use crate::stats::StatsError;

/// Input that the verdict rule is not defined for.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum VerdictError {
    /// The rule itself is out of range.
    #[error("the protocol's verdict rule: {0}")]
    Rule(StatsError),
    /// Statistics refused the counts of an arm.
    #[error("arm `{arm}`, endpoint `{endpoint}`: {source}")]
    Counts {
        /// The arm.
        arm: Arc<str>,
        /// The endpoint.
        endpoint: Endpoint,
        /// Why.
        source: StatsError,
    },
    /// An arm was not counted on an endpoint that the rule needs.
    #[error("arm `{arm}` has no counts on endpoint `{endpoint}`; count every endpoint of the family")]
    NotCounted {
        /// The arm.
        arm: Arc<str>,
        /// The endpoint.
        endpoint: Endpoint,
    },
    /// Frames and tools that do not hold the same pairs.
    #[error(
        "arm `{arm}`, endpoint `{endpoint}`: frames hold {frames} pairs, tools hold {tools}; both must partition the same tasks"
    )]
    Partition {
        /// The arm.
        arm: Arc<str>,
        /// The endpoint.
        endpoint: Endpoint,
        /// Pairs over all frames.
        frames: u64,
        /// Pairs over all tools.
        tools: u64,
    },
}
