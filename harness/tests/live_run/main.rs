//! Whole live runs over loopback HTTP, from the command line to a verified certificate.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod ends;
#[path = "../common/forge.rs"]
mod forge;
mod forgery;
mod kills;
mod pilot;
mod refusals;
mod secrets;
mod server;
mod support;
mod tampering;
mod whole;
