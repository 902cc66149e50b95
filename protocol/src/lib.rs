//! The frozen protocol of `bench`: specification, lock, verdict rule and the statistics behind it.
//!
//! Everything here is pure: no clock, no network, no environment, no global random.

pub mod digest;
mod error;
pub mod rng;
pub mod spec;
pub mod stats;

pub use error::ProtocolError;
