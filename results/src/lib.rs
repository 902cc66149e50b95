//! The record of a run, its analysis, and the certificate computed from it.
//!
//! Nothing here knows a model or a network: what was run is read from the record, what follows from it is recomputed.

pub mod record;
