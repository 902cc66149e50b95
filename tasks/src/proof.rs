//! Matcher tables: calls that must be accepted, and near misses that must not, proven on drawn tasks.
//!
//! A table (`matchers/<server>.toml`, format in `matchers/README.md`) says for each tool how a right call may be
//! written otherwise, and which small changes make it wrong and why. Every row is applied to the gold of real tasks of
//! every frame that it fits, and scored as an episode would be. So a matcher that one writer forgot shows up as a frame
//! that refuses what its neighbours accept.

mod judge;
mod raw;
mod variant;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use serde::Serialize;
use serde_json::Map;

use self::raw::{Row, ToolTable};
use crate::{
    catalog::Catalogs,
    check::{Finding, FindingKind},
    error::TasksError,
    generate::{FrameSet, Generator, Plan},
    intent::{IntentFile, Intents},
    task::Task,
};

/// Rows of accepted calls that a tool of two or more arguments needs; with one argument two, without any one, since
/// there a right call has hardly another form.
pub const ACCEPTED_ROWS: usize = 3;
/// Rows of rejected calls that every tool needs.
pub const REJECTED_ROWS: usize = 4;
/// Tasks drawn of each frame.
const DRAWS: u64 = 4;

/// All tables, as read.
#[derive(Debug, Clone)]
pub struct MatcherTables {
    tools: BTreeMap<(Arc<str>, Arc<str>), ToolTable>,
    problems: Vec<Finding>,
}

/// What the tables proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// A row per tool that has frames, by `server/tool`.
    pub tools: BTreeMap<String, ToolProof>,
    /// What did not hold, or is missing.
    #[serde(skip)]
    pub findings: Vec<Finding>,
}

/// The proof of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct ToolProof {
    /// Rows of accepted calls.
    pub accepted: usize,
    /// Rows of rejected calls.
    pub rejected: usize,
    /// Frames that the rows were applied to, dev frames included.
    pub frames: usize,
    /// Calls scored.
    pub calls: usize,
}

const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/matchers.rs"));

impl MatcherTables {
    /// The tables that are compiled into this crate.
    pub fn embedded() -> Self {
        Self::from_files(IntentFile::embedded(EMBEDDED))
    }

    /// Reads every `*.toml` of `folder`.
    ///
    /// # Errors
    /// Only if the folder or a file cannot be read; what is wrong inside is found by [`prove`].
    pub fn load(folder: &Path) -> Result<Self, TasksError> {
        Ok(Self::from_files(IntentFile::of_folder(folder)?))
    }

    /// Whether there is nothing to prove.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.problems.is_empty()
    }

    /// Reads tables from memory, in any order.
    pub fn from_files(mut files: Vec<IntentFile>) -> Self {
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let mut tables = Self { tools: BTreeMap::new(), problems: Vec::new() };
        for file in &files {
            raw::read(file, &mut tables.tools, &mut tables.problems);
        }
        tables
    }
}

/// Applies every row to drawn tasks of every frame that it fits. Frames that could not be read are passed over: `check`
/// reports them.
///
/// # Errors
/// If no tasks can be drawn from the intents.
pub fn prove(
    tables: &MatcherTables,
    intents: &Intents,
    catalogs: &Catalogs,
    seed: [u8; 32],
) -> Result<Proof, TasksError> {
    let mut proof = Proof { tools: BTreeMap::new(), findings: tables.problems.clone() };
    let tasks = draw(intents, catalogs, seed)?;
    for ((server, tool), tasks) in &tasks {
        let name = format!("{server}/{tool}");
        let row = match tables.tools.get(&(Arc::clone(server), Arc::clone(tool))) {
            Some(table) => judge::tool(&name, table, tasks, catalogs, &mut proof.findings),
            None => ToolProof::default(),
        };
        let accepted = ACCEPTED_ROWS.min(1 + arguments(catalogs, server, tool));
        for (kind, have, need) in [("accepted", row.accepted, accepted), ("rejected", row.rejected, REJECTED_ROWS)] {
            if have < need {
                let message = format!("tool {name} has {have} of {need} rows of {kind} calls in the matcher tables");
                proof.findings.push(Finding::error(FindingKind::MatcherTable, &"".into(), None, None, message));
            }
        }
        proof.tools.insert(name, row);
    }
    for ((server, tool), table) in &tables.tools {
        if !tasks.contains_key(&(Arc::clone(server), Arc::clone(tool))) {
            proof.findings.push(table.problem(None, format!("there is no frame for {server}/{tool}; drop its table")));
        }
    }
    Ok(proof)
}

fn arguments(catalogs: &Catalogs, server: &str, tool: &str) -> usize {
    let properties = catalogs.tool(server, tool).and_then(|tool| tool.input_schema.get("properties")?.as_object());
    properties.map_or(0, Map::len)
}

/// Tasks by tool, then by frame, in file order.
type Drawn = BTreeMap<(Arc<str>, Arc<str>), Vec<Vec<Task>>>;

fn draw(intents: &Intents, catalogs: &Catalogs, seed: [u8; 32]) -> Result<Drawn, TasksError> {
    let mut drawn = Drawn::new();
    for frames in [FrameSet::Scored, FrameSet::Dev] {
        let wanted =
            intents.frames().iter().any(|frame| frame.tool.is_some() && frame.dev == (frames == FrameSet::Dev));
        if !wanted {
            continue;
        }
        let plan = Plan {
            tool_tasks: 1,
            abstain_tasks: 0,
            frames_per_tool: usize::MAX,
            abstain_frames: 0,
            frames,
            allow_incomplete: true,
        };
        let generator = Generator::new(intents, catalogs, seed, plan)?;
        for (at, frame) in generator.frames().enumerate() {
            if let (Some(server), Some(tool)) = (&frame.server, &frame.tool) {
                let tasks = (0..DRAWS).filter_map(|item| generator.frame_task(at, item)).collect();
                drawn.entry((Arc::clone(server), Arc::clone(tool))).or_default().push(tasks);
            }
        }
    }
    Ok(drawn)
}

#[cfg(test)]
mod tests;
