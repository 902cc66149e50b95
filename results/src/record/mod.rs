//! What a run leaves behind: manifest, attempts, episodes.

pub mod attempt;
pub mod episode;

pub use attempt::{AttemptLine, DrawId, Opened, Settled, Usage};
pub use episode::{CallRecord, End, EpisodeRecord, Route, Score};
