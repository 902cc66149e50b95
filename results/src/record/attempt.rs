//! Attempts: one request to a model each, retries counted separately.

use std::sync::Arc;

use bench_protocol::digest::Digest;
use bench_tasks::task::TaskId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Which draw of the model a request is: retries of one turn share it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawId {
    /// The task.
    pub task: TaskId,
    /// The arm.
    pub arm: Arc<str>,
    /// Turn within the episode, from 1.
    pub turn: u32,
}

/// Token classes of one attempt, each counted once: the prompt is the sum of all but the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Input tokens at the plain rate.
    pub input: u64,
    /// Input tokens written to the cache for five minutes.
    pub cache_write: u64,
    /// Input tokens written to the cache for an hour.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Output tokens, thinking included.
    pub output: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's skip_serializing_if passes a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl Usage {
    /// Adds another attempt's tokens.
    pub fn add(&mut self, other: Self) {
        self.input += other.input;
        self.cache_write += other.cache_write;
        self.cache_write_1h += other.cache_write_1h;
        self.cache_read += other.cache_read;
        self.output += other.output;
    }

    /// All input tokens, whatever their rate.
    pub fn prompt(&self) -> u64 {
        self.input + self.cache_write + self.cache_write_1h + self.cache_read
    }
}

/// One line of `attempts.jsonl`: an attempt opens before its request leaves and settles when its outcome is known.
#[derive(Debug, Clone)]
pub enum AttemptLine {
    /// It leaves.
    Opened(Opened),
    /// Its outcome.
    Settled(Settled),
}

/// Tells the two kinds of line apart: only an opening line has a draw.
#[derive(Deserialize)]
struct Probe {
    #[serde(default)]
    draw: Option<serde::de::IgnoredAny>,
}

impl AttemptLine {
    /// Reads one line.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        let probe: Probe = serde_json::from_str(line)?;
        if probe.draw.is_some() {
            serde_json::from_str(line).map(Self::Opened)
        } else {
            serde_json::from_str(line).map(Self::Settled)
        }
    }
}

/// An attempt that leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opened {
    /// Number of the attempt in this run, from 0.
    pub n: u64,
    /// Which draw it asks for.
    pub draw: DrawId,
    /// Try, from 1.
    #[serde(rename = "try")]
    pub attempt: u32,
    /// Reserved worst case in pico-dollars.
    pub reserve: u64,
    /// Digest that names the request (tool list replaced by its surface's digest).
    pub request: Digest,
    /// Digest of the surface it shows.
    pub surface: Digest,
}

/// The outcome of an attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settled {
    /// Number of the attempt.
    pub n: u64,
    /// HTTP status; absent where no response came, and for a mock in process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The provider's request id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Model id that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Billed tokens, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Pico-dollars booked for it.
    pub billed: u64,
    /// Milliseconds until the whole response was there; live runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Why there is no response, or why it is none that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The response body as received, where it is JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Box<RawValue>>,
}
