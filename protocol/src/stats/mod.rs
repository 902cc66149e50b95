//! The statistics behind a verdict, as pure functions of counts.
//!
//! The estimand is Δ = P(right, compressed) − P(right, raw) over the same tasks. A *loss* is a task that raw gets right
//! and the compressed arm gets wrong, a *gain* the reverse; every sign in this module follows from these two words. The
//! one-sided level `alpha` is a parameter throughout: two-sided intervals have level `1 − 2·alpha`.
//!
//! | gate | module | what it is |
//! |---|---|---|
//! | G1 | [`score`], [`exact`] | Tango/Nam score test and the exact unconditional guard on it |
//! | G2 | [`bootstrap`] | exact multinomial bootstrap |
//! | G3, S1 | [`clusters`] | score test deflated by the design effect of frames, of tools |
//!
//! [`gates`] puts them together, [`report`] prints everything known about one table, [`power`], [`sample_size`] and
//! [`region`] plan and simulate, [`multiplicity`] orders the claims.

pub mod binomial;
pub mod bootstrap;
pub mod boundary;
pub mod cluster_bootstrap;
pub mod clusters;
mod conditional;
pub mod continuous;
pub mod distribution;
mod error;
pub mod exact;
pub mod gates;
pub mod interval;
pub mod level;
pub mod margin;
pub mod mcnemar;
pub mod multiplicity;
pub mod newcombe;
mod number;
pub mod power;
pub mod quantile;
pub mod region;
pub mod report;
pub mod sample_size;
pub mod score;
pub mod single;
pub mod table;
pub mod tost;
pub mod worst_case;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod published;

pub use error::{StatsError, Undefined};
pub use exact::ExactCache;
pub use gates::{GateRule, Gates};
pub use interval::Interval;
pub use level::Alpha;
pub use margin::Margin;
pub use report::TableReport;
pub use table::{PairedCounts, PairedTable};
