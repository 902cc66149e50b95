//! One thing found.

use std::{fmt, sync::Arc};

use serde::Serialize;

/// Whether tasks can be made in spite of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Must be changed.
    Error,
    /// Worth a look.
    Warning,
}

/// What kind of thing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The file does not follow the format.
    Syntax,
    /// A pool cannot be built, or is too small.
    Pool,
    /// A slot draws from a pool that is not there.
    UnknownPool,
    /// A text or gold uses a slot that the frame does not have.
    UnknownSlot,
    /// A slot that the text does not use.
    UnusedSlot,
    /// A slot in the gold that the text does not say.
    HiddenSlot,
    /// Two frames of one id.
    DuplicateFrame,
    /// A server that no catalog has.
    UnknownServer,
    /// A tool that its catalog does not list.
    UnknownTool,
    /// A gold argument that the tool's schema does not have.
    UnknownArgument,
    /// A gold that breaks its tool's schema.
    InvalidGold,
    /// A matcher that cannot apply.
    Matcher,
    /// A text that the scaffold left.
    Stub,
    /// A paraphrase that shares a word with the tool's name.
    NameToken,
    /// The text names the server.
    ServerName,
    /// A pool value that equals an enum word, an argument's or a slot's name.
    Collision,
    /// A pool that holds a value twice.
    DuplicateValue,
    /// Two frames of a tool that say nearly the same.
    Similar,
    /// Too few frames.
    MissingFrames,
    /// Equal utterances that want different calls.
    Ambiguous,
    /// A row of the matcher tables that does not hold, or a table that is missing.
    MatcherTable,
}

/// An error or warning about the intents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Whether tasks can be made in spite of it.
    pub severity: Severity,
    /// What kind of thing it is.
    pub kind: FindingKind,
    /// The intent file's name; empty where no file is at fault, such as for a tool without frames.
    pub file: Arc<str>,
    /// Line, counted from 1.
    pub line: Option<usize>,
    /// The frame's full id.
    pub frame: Option<Arc<str>>,
    /// What is wrong and what to change; may go on for several lines where the source is quoted.
    pub message: String,
}

impl Finding {
    pub(crate) fn error(
        kind: FindingKind,
        file: &Arc<str>,
        line: Option<usize>,
        frame: Option<&Arc<str>>,
        message: String,
    ) -> Self {
        Self { severity: Severity::Error, kind, file: Arc::clone(file), line, frame: frame.cloned(), message }
    }

    pub(crate) fn warning(
        kind: FindingKind,
        file: &Arc<str>,
        line: Option<usize>,
        frame: Option<&Arc<str>>,
        message: String,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(kind, file, line, frame, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            f.write_str(&self.file)?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            f.write_str(": ")?;
        }
        if let Some(frame) = &self.frame {
            write!(f, "frame {frame}: ")?;
        }
        f.write_str(&self.message)
    }
}
