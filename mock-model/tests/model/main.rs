//! The scripted model from outside: bytes in, bytes out.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod affordances;
mod behaviours;
mod catalogs;
mod noise;
mod results;
mod support;
mod wire;
