//! Compressors that run as processes of their own: any MCP server that stands in front of others, tested over stdio.
//!
//! ```text
//! model ◄─► bench (MCP client) ◄─stdio─► compressor under test ◄─stdio─► bench replay-server (verbatim catalog)
//! ```
//!
//! Scoring takes what reached the replay server, since what a compressor says of a call may be wrong. A process that was
//! called is replaced after the episode, in the background; only where its entry says that nothing is left in it is it
//! kept. Whatever a process does ends in bounded time and memory, as a [`Fault`] by name.

mod arm;
mod block;
mod client;
mod entry;
mod fault;
mod inspect;
mod launch;
mod log;
mod pool;
mod session;
mod timing;

pub use self::{
    arm::{ExternalArm, ExternalError, NotStarted},
    client::Limits,
    entry::{Config, Entry, EntryError, Ready, Serves},
    fault::{Fault, Finding, Findings, Oddity},
    launch::Upstream,
    timing::{Quantiles, Timing},
};
