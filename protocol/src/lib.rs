//! The frozen protocol of `bench`: specification, lock, verdict rule and the statistics behind it.
//!
//! Everything here is pure: no clock, no network, no environment, no global random.

pub mod digest;
mod error;
pub mod spec;

pub use error::ProtocolError;
