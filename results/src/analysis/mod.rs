//! From episodes to counts: everything that the verdict rule and the certificate need, in one pass over a record.
//!
//! Episodes come in any order. What is kept per task and arm is one byte; everything else is sums.

mod accumulate;
mod cost;
mod effort;
mod error;
mod flow;
mod noise;
mod outcome;
mod pilot;
mod spec;
mod tables;
mod task_table;

#[cfg(test)]
pub(crate) mod fixture;

pub use accumulate::Accumulator;
pub use cost::{CostTotals, PairedCost, RatioEstimate};
pub use effort::Effort;
pub use error::AnalysisError;
pub use flow::Flow;
pub use noise::{Drift, FlipRate, flip_rates};
pub use pilot::{Declaration, Pilot, PilotAccuracy, PilotArm};
pub use spec::{ArmSpec, FamilySpec, Reporting, Role};
pub(crate) use tables::strictest;
pub use tables::{Analysis, ArmAnalysis, PinnedSplit, Rate, TaskCounts};
pub use task_table::{TaskMeta, TaskTable};
