//! Catalogs of real MCP servers, the intents written over them, and the seeded task generator.
//!
//! Everything here is pure: no clock, no network, no environment, no global random. Folders are read by
//! [`catalog`] and [`intent`] only, from a path that is passed in.

pub mod task;
pub mod result;
pub mod results_suite;
