//! Whole live runs over loopback HTTP, from the command line to a verified certificate.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod ends;
mod kills;
mod pilot;
mod refusals;
mod secrets;
mod server;
mod support;
mod tampering;
mod whole;
