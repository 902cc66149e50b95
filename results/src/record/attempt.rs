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

/// Bytes in which the draw of an opening line begins, as it is written: behind a number.
const LEAD: usize = 32;

/// Tells the two kinds of line apart: only an opening line has a draw.
#[derive(Deserialize)]
struct Probe {
    #[serde(default)]
    draw: Option<serde::de::IgnoredAny>,
}

impl AttemptLine {
    /// Reads one line.
    ///
    /// # Errors
    /// A line that is neither kind, or holds a field that its kind does not have.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        // Both kinds are closed and share no reading of one line: what reads as the kind that it looks like is of that kind,
        // and only what does not is looked at twice.
        let looks_opened = line.get(..LEAD).unwrap_or(line).contains("\"draw\"");
        let read = if looks_opened {
            serde_json::from_str(line).map(Self::Opened)
        } else {
            serde_json::from_str(line).map(Self::Settled)
        };
        read.or_else(|_| Self::probe(line))
    }

    fn probe(line: &str) -> Result<Self, serde_json::Error> {
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

#[cfg(test)]
mod tests {
    use super::AttemptLine;

    const DRAW: &str = r#"{"task":"t1","arm":"raw","turn":1}"#;

    fn opened(order: [&str; 2]) -> String {
        let digest = format!("\"sha256:{}\"", "0".repeat(64));
        let fields = order.map(|name| match name {
            "draw" => format!("\"draw\":{DRAW}"),
            _ => "\"n\":1".to_owned(),
        });
        format!(r#"{{{},"try":1,"reserve":2,"request":{digest},"surface":{digest}}}"#, fields.join(","))
    }

    #[test]
    fn a_line_is_of_its_kind_wherever_its_fields_stand() {
        for order in [["n", "draw"], ["draw", "n"]] {
            assert!(matches!(AttemptLine::parse(&opened(order)), Ok(AttemptLine::Opened(_))), "{order:?}");
        }
        let digest = format!("\"sha256:{}\"", "0".repeat(64));
        let late = format!(r#"{{"n":1,"try":1,"reserve":2,"request":{digest},"surface":{digest},"draw":{DRAW}}}"#);
        assert!(matches!(AttemptLine::parse(&late), Ok(AttemptLine::Opened(_))));
        // A response may hold the word.
        let settled = r#"{"n":1,"billed":0,"response":{"draw":1}}"#;
        assert!(matches!(AttemptLine::parse(settled), Ok(AttemptLine::Settled(_))));
        let early = r#"{"response":{"draw":1},"n":1,"billed":0}"#;
        assert!(matches!(AttemptLine::parse(early), Ok(AttemptLine::Settled(_))));
    }

    #[test]
    fn a_line_of_both_kinds_is_of_none() {
        let both = opened(["n", "draw"]).replacen("\"try\"", "\"billed\":0,\"try\"", 1);
        let error = AttemptLine::parse(&both).unwrap_err().to_string();
        assert!(error.contains("unknown field `billed`"), "{error}");
        let error = AttemptLine::parse(&format!(r#"{{"n":1,"billed":0,"draw":{DRAW}}}"#)).unwrap_err().to_string();
        assert!(error.contains("unknown field `billed`"), "{error}");
    }
}
