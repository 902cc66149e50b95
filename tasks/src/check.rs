//! Checking intents against catalogs: every finding names file, line and frame, and says what to change.

mod finding;
mod nearest;

pub use self::finding::{Finding, FindingKind, Severity};
pub(crate) use self::nearest::nearest;
