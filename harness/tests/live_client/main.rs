//! The live clients, before any run: sockets that misbehave, free requests, keys.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod client;
mod probe;
mod server;
