//! Catalogs of real MCP servers, the intents written over them, and the seeded task generator.
//!
//! Everything here is pure: no clock, no network, no environment, no global random. Folders are read by
//! [`catalog`] and [`intent`] only, from a path that is passed in.
//!
//! ```
//! use bench_tasks::{Catalogs, FrameSet, Generator, Intents, Plan};
//!
//! # fn main() -> Result<(), bench_tasks::TasksError> {
//! let catalogs = Catalogs::vendored()?;
//! let plan = Plan { tool_tasks: 100, abstain_tasks: 5, frames_per_tool: 1, abstain_frames: 5, frames: FrameSet::Scored, allow_incomplete: true };
//! if let Ok(generator) = Generator::new(&Intents::embedded(), &catalogs, [0; 32], plan) {
//!     assert_eq!(generator.iter().count() as u64, generator.len());
//! }
//! # Ok(())
//! # }
//! ```

pub mod audit;
pub mod catalog;
pub mod check;
pub mod error;
pub mod generate;
pub mod import;
pub mod intent;
pub mod lexical;
mod mark;
pub mod matcher;
pub mod proof;
pub mod report;
pub mod result;
pub mod results_suite;
pub mod scaffold;
pub mod score;
pub mod sessions;
pub mod slots;
pub mod task;

pub use crate::{
    catalog::{Catalog, Catalogs, Provenance, ToolDef},
    check::{CheckOptions, Finding, FindingKind, Severity, check},
    error::TasksError,
    generate::{FrameSet, Generator, Plan},
    intent::{Frame, Intents},
    mark::without_mark,
    matcher::{Matcher, Matchers},
    score::{Score, UpstreamCall},
    task::{GoldCall, Stratum, Suite, Task, TaskId},
};
