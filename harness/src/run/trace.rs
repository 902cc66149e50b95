//! What one episode leaves behind, before it is written to a record.

use std::sync::Arc;

use bench_protocol::digest::Digest;
use bench_results::record::{DrawId, EpisodeRecord, Usage};
use serde_json::value::RawValue;

use crate::surface::Surface;

/// One attempt of an episode of an offline run.
#[derive(Debug)]
pub struct AttemptTrace {
    /// Which draw it asked for.
    pub draw: DrawId,
    /// Digest that names the request.
    pub request: Digest,
    /// The surface it showed.
    pub surface: Arc<Surface>,
    /// Token classes that the response states.
    pub usage: Option<Usage>,
    /// Model id that answered.
    pub model: String,
    /// The response as received.
    pub response: Box<RawValue>,
}

/// One episode: its attempts and its line of the record.
#[derive(Debug)]
pub struct EpisodeTrace {
    /// Attempts, in order.
    pub attempts: Vec<AttemptTrace>,
    /// The record line, scored.
    pub record: EpisodeRecord,
}
