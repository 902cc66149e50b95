//! The server over real sockets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod billing;
mod chat;
mod faults;
mod messages;
mod support;
