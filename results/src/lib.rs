//! The record of a run, its analysis, and the certificate computed from it.
//!
//! Nothing here knows a model or a network: what was run is read from the record, what follows from it is recomputed.
//! The way of the data is `record → analysis → certificate → table and report`, one direction, no loops.

pub mod analysis;
pub mod attestation;
pub mod certificate;
pub mod reanalysis;
pub mod record;
pub mod report;
pub mod table;
