//! Intents: the frames that people wrote, read strictly. The file format is `intents/README.md`.
//!
//! Whatever is wrong in a file becomes a [`Finding`] that names file, line and frame; reading goes on, so that one run
//! shows everything. Nothing can be generated while an error is left.

mod build;
mod matchers;
mod pools;
pub(crate) mod raw;

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub use self::matchers::{MatcherTemplate, MatchersTemplate};
use crate::{
    catalog::hex,
    check::{Finding, Severity},
    error::TasksError,
    matcher::Matchers,
    slots::{Pool, Row, Share, Template, ValueTemplate},
    task::Stratum,
};

/// How a frame's author sounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Voice {
    /// A terse command.
    Terse,
    /// A polite question.
    Polite,
    /// Ticket text.
    Ticket,
    /// Chat with a typo.
    Typo,
    /// Context first, the request last.
    ContextFirst,
    /// A need that is only implied.
    Indirect,
    /// Non-native phrasing.
    NonNative,
    /// A long message with irrelevant detail.
    Long,
}

/// Why no call is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AbstainReason {
    /// No tool does it.
    NoTool,
    /// A required fact is missing that only the user knows.
    MissingFact,
    /// It is for another product.
    OtherProduct,
    /// Nothing is asked for.
    SmallTalk,
}

/// A slot of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Its name in the frame.
    pub name: Arc<str>,
    /// Where its values come from.
    pub pool: Arc<Pool>,
    /// The part of the pool that is this slot's own.
    pub share: Share,
}

/// A right call with places for slots.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldTemplate {
    /// Catalog name.
    pub server: Arc<str>,
    /// Upstream tool name.
    pub tool: Arc<str>,
    /// Arguments in the order written.
    pub arguments: Vec<(String, ValueTemplate)>,
    /// How they are compared.
    pub matchers: MatchersTemplate,
}

impl GoldTemplate {
    /// The arguments with slots filled in.
    pub fn fill(&self, rows: &[Row<'_>]) -> Map<String, Value> {
        self.arguments.iter().map(|(key, value)| (key.clone(), value.fill(rows))).collect()
    }

    /// The matchers; shared unless slots occur in them.
    pub fn fill_matchers(&self, rows: &[Row<'_>]) -> Arc<Matchers> {
        self.matchers.fill(rows)
    }
}

/// One phrasing with slots, and how the gold follows from them.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// `server/tool/frame`, or `abstain/frame`.
    pub id: Arc<str>,
    /// The catalog; `None` for abstain.
    pub server: Option<Arc<str>>,
    /// The intent's tool; `None` for abstain.
    pub tool: Option<Arc<str>>,
    /// What makes it hard.
    pub stratum: Stratum,
    /// How it sounds.
    pub voice: Voice,
    /// Why no call is right; `None` unless abstain.
    pub reason: Option<AbstainReason>,
    /// Who wrote it.
    pub writer: Arc<str>,
    /// Reserved for pilots and warm-up, never scored.
    pub dev: bool,
    /// What the user says.
    pub text: Template,
    /// Slots in the order written.
    pub slots: Vec<Slot>,
    /// Right calls, the intent's own first; empty for abstain.
    pub gold: Vec<GoldTemplate>,
    /// The intent file's name.
    pub file: Arc<str>,
    /// The line of its `id`.
    pub line: usize,
}

/// One intent file, or one file of matcher tables, as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentFile {
    /// File name.
    pub name: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
}

impl IntentFile {
    /// The files of a list of names and texts, as build scripts write it.
    pub(crate) fn embedded(files: &[(&str, &str)]) -> Vec<Self> {
        files.iter().map(|(name, text)| Self { name: (*name).into(), text: (*text).into() }).collect()
    }

    /// Every `*.toml` of a folder, in no particular order.
    pub(crate) fn of_folder(folder: &Path) -> Result<Vec<Self>, TasksError> {
        let read_error = |path: &Path, source| TasksError::Read { path: path.to_owned(), source };
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(|source| read_error(folder, source))? {
            let path = entry.map_err(|source| read_error(folder, source))?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let text = fs::read_to_string(&path).map_err(|source| read_error(&path, source))?;
                files.push(Self { name: name.into(), text: text.into() });
            }
        }
        Ok(files)
    }
}

/// All intents: files merged in name order.
#[derive(Debug, Clone)]
pub struct Intents {
    files: Vec<IntentFile>,
    frames: Vec<Frame>,
    /// Frame indices by `(server, tool)`, in file order.
    by_tool: BTreeMap<(Arc<str>, Arc<str>), Vec<usize>>,
    abstain: Vec<usize>,
    problems: Vec<Finding>,
}

const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/intents.rs"));

impl Intents {
    /// The intents that are compiled into this crate.
    pub fn embedded() -> Self {
        Self::from_files(IntentFile::embedded(EMBEDDED))
    }

    /// Reads every `*.toml` of `folder`.
    ///
    /// # Errors
    /// Only if the folder or a file cannot be read; what is wrong inside is in [`Intents::problems`].
    pub fn load(folder: &Path) -> Result<Self, TasksError> {
        Ok(Self::from_files(IntentFile::of_folder(folder)?))
    }

    /// Reads intent files from memory, in any order.
    pub fn from_files(mut files: Vec<IntentFile>) -> Self {
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let built = build::build(&files);
        let mut by_tool: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let mut abstain = Vec::new();
        for (index, frame) in built.frames.iter().enumerate() {
            match (&frame.server, &frame.tool) {
                (Some(server), Some(tool)) => {
                    by_tool.entry((Arc::clone(server), Arc::clone(tool))).or_default().push(index);
                }
                _ => abstain.push(index),
            }
        }
        Self { files, frames: built.frames, by_tool, abstain, problems: built.problems }
    }

    /// All frames without errors, in file order, dev frames included.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The files, in name order.
    pub fn files(&self) -> &[IntentFile] {
        &self.files
    }

    /// The frames of one tool, dev frames included.
    pub fn of_tool(&self, server: &str, tool: &str) -> impl Iterator<Item = &Frame> {
        let indices = self.by_tool.get(&(server.into(), tool.into())).map_or(&[][..], Vec::as_slice);
        indices.iter().map(|&index| &self.frames[index])
    }

    /// The frames for which no call is right.
    pub fn abstain(&self) -> impl Iterator<Item = &Frame> {
        self.abstain.iter().map(|&index| &self.frames[index])
    }

    /// `(server, tool)` of every intent, sorted.
    pub fn tools(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.by_tool.keys().map(|(server, tool)| (server, tool))
    }

    /// What was found wrong while reading, before any catalog is looked at.
    pub fn problems(&self) -> &[Finding] {
        &self.problems
    }

    /// SHA-256 over all files in name order: name, zero byte, length (8 bytes, big-endian), text. Lower-case hex.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for file in &self.files {
            hash.update(file.name.as_bytes());
            hash.update([0]);
            hash.update((file.text.len() as u64).to_be_bytes());
            hash.update(file.text.as_bytes());
        }
        hex(&hash.finalize())
    }

    /// Refuses intents with errors.
    pub(crate) fn require_sound(&self) -> Result<(), TasksError> {
        let errors = || self.problems.iter().filter(|finding| finding.severity == Severity::Error);
        match errors().next() {
            None => Ok(()),
            Some(first) => Err(TasksError::Intents { count: errors().count(), first: Box::new(first.clone()) }),
        }
    }
}

#[cfg(test)]
mod tests;
