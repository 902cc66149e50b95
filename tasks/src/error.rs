//! What can go wrong while reading catalogs and intents, and while making tasks.

use std::{io, path::PathBuf};

use crate::check::Finding;

/// An error of this crate. Messages are fragments that name file, place, cause and, where it helps, the next step.
#[derive(Debug, thiserror::Error)]
pub enum TasksError {
    /// A file or folder could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// What was to be read.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A catalog file is not what `tools/list` can send.
    #[error("catalog {file}, {place}: {cause}")]
    Catalog {
        /// The file, as the caller named it.
        file: String,
        /// Line and column, or the tool.
        place: String,
        /// What is wrong.
        cause: String,
    },
    /// A folder holds no catalog at all.
    #[error("no catalog in {}: it needs one JSON file per server, {{\"initialize\": …, \"tools_list_pages\": […]}}", path.display())]
    NoCatalog {
        /// The folder.
        path: PathBuf,
    },
    /// A provenance index is malformed or disagrees with the files beside it.
    #[error("catalog index {file}: {cause}")]
    Index {
        /// The file.
        file: String,
        /// What is wrong.
        cause: String,
    },
    /// The intents hold errors; no task can be made from them.
    #[error("{} in the intents, first: {first}; `bench tasks check` lists them all", plural(*count, "error", "errors"))]
    Intents {
        /// How many errors there are.
        count: usize,
        /// The first of them in file order.
        first: Box<Finding>,
    },
    /// A tool has fewer frames than the plan asks for.
    #[error("tool {tool} has {have} {kind} of the {need} that the plan needs; write more in intents/ or lower the plan", kind = frame_words(*have, *dev))]
    TooFewFrames {
        /// `server/tool`, or `abstain`.
        tool: String,
        /// Frames there are.
        have: usize,
        /// Frames the plan needs.
        need: usize,
        /// Whether dev frames are meant.
        dev: bool,
    },
    /// Two tasks of one plan say the same and want different calls.
    #[error(
        "frames {first} and {second} both say {utterance:?} but want different calls; change one text or its slots"
    )]
    Ambiguous {
        /// The frame met first.
        first: String,
        /// The frame met later.
        second: String,
        /// The common utterance.
        utterance: String,
    },
    /// A plan that cannot be carried out.
    #[error("plan: {0}")]
    Plan(String),
    /// Answers of a reader that don't fit the sheet.
    #[error("audit: {0}")]
    Audit(String),
}

/// `1 error`, `2 errors`.
pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", plural_word(count, one, many))
}

fn plural_word<'a>(count: usize, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

fn frame_words(count: usize, dev: bool) -> &'static str {
    match (dev, count) {
        (false, 1) => "scored frame",
        (false, _) => "scored frames",
        (true, 1) => "dev frame",
        (true, _) => "dev frames",
    }
}
