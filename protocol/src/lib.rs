//! The frozen protocol of `bench`: specification, lock, verdict rule and the statistics behind it.
//!
//! Everything here is pure: no clock, no network, no environment, no global random.

pub mod controls;
pub mod digest;
mod error;
pub mod lock;
pub mod plan;
pub mod prices;
pub mod rng;
pub mod sequence;
pub mod simulate;
pub mod spec;
pub mod stats;
pub mod verdict;

pub use error::ProtocolError;
