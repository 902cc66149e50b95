//! JSON-RPC over the stdio of a child process: what capturing a catalog and testing a compressor share.
//!
//! Spoken raw, not through an SDK: an SDK would re-encode what is read, and tolerates what is to be found out. Time and
//! memory are bounded, stderr is drained, and whole process groups are ended.

pub(crate) mod leftovers;
pub(crate) mod message;
pub(crate) mod process;

/// Protocol version that this program asks for as a client, and that the vendored catalogs were captured with.
pub const PROTOCOL_VERSION: &str = "2025-11-25";
