//! What a run leaves behind: manifest, attempts, episodes, surfaces, inputs.
//!
//! ```text
//! <run>/manifest.json  attempts.jsonl  episodes.jsonl  surfaces/<sha256 hex>.json  inputs/…  certificate.json
//! ```
//!
//! The two logs are append-only and have one writer; every other file is written whole. A log line that lacks its end is
//! the torn tail of a run that was killed: [`reader`] cuts or reports it, and the journal of the harness cuts it when it
//! goes on with a live run.

pub mod attempt;
pub mod episode;
mod error;
pub mod manifest;
pub mod reader;
pub mod version;
pub mod whole;
pub mod writer;

pub use attempt::{AttemptLine, DrawId, Opened, Settled, Usage};
pub use episode::{CallRecord, End, EpisodeRecord, Route, Score};
pub use error::RecordError;
pub use manifest::{Build, Deviation, Manifest, ModelIds, RunKind, SuiteRun, Weight};
pub use reader::{Lines, Record, Tail, surface_path};
pub use version::FormatVersion;
pub use whole::Durability;
pub use writer::RecordWriter;

/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// Name of the log of attempts.
pub const ATTEMPTS: &str = "attempts.jsonl";
/// Name of the log of episodes.
pub const EPISODES: &str = "episodes.jsonl";
/// Folder of surfaces.
pub const SURFACES: &str = "surfaces";
/// Folder of inputs.
pub const INPUTS: &str = "inputs";
/// Name of the certificate.
pub const CERTIFICATE: &str = "certificate.json";
