//! Operating characteristics of the *whole* rule, by simulation on nested tasks (task in frame in tool).
//!
//! A trial draws the outcomes of every pass (raw, the second raw pass, the controls, the levels), then decides as
//! [`crate::verdict`] does: gates G1 to G3 on both endpoints, harm guard, abstain guard, noise, assay sensitivity, missing
//! outcomes in the worst case, fixed sequence. The gates are precomputed regions, so a trial costs microseconds; a test
//! holds the short cut against the executable rule itself.
//!
//! | file | question |
//! |---|---|
//! | [`layout`] | how many tasks in how many frames and tools |
//! | [`scenario`] | what is assumed about a model and a level, the grid of a protocol |
//! | `nested` | how correlated outcomes are drawn |
//! | `pairs` | what a pass against raw counts |
//! | `decision` | the rule over such counts |
//! | `trial` | one run, and its replication |
//! | [`run`] | many of them, on any number of threads |
//! | [`table`] | the rows that a lock, a certificate and a reader are given |
//!
//! Randomness is [`crate::rng`] alone, one stream per trial. Draws compare integers, results are counts: the same bytes at
//! any number of threads and on every machine.

mod decision;
mod error;
pub mod fit;
pub mod layout;
mod nested;
mod pairs;
pub mod run;
pub mod scenario;
pub mod table;
mod trial;

#[cfg(test)]
mod against_rule;

pub use error::SimulateError;
pub use fit::UnfitTable;
pub use layout::Layout;
pub use run::{Rates, Simulator, Spread};
pub use scenario::{Claim, Scenario, Truths};
pub use table::{Outlook, Row, SimulationTable};
