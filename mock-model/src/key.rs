//! The answer key: what is right, found by the SHA-256 of the user's words.

use std::{collections::HashMap, sync::Arc};

use bench_tasks::{results_suite::ResultTask, task::Task};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// SHA-256 of a user text.
type TextHash = [u8; 32];

/// What is right for each user text.
///
/// Only looked up, never iterated, so a hash map's order reaches no output.
#[derive(Debug, Clone, Default)]
pub struct AnswerKey {
    entries: HashMap<TextHash, Entry>,
}

/// What is right for one user text.
#[derive(Debug, Clone)]
pub(crate) enum Entry {
    /// A task of the tool suite that one call serves.
    Call {
        /// The frame's full id.
        frame: Arc<str>,
        /// The right call; of several the intent's own.
        call: RightCall,
    },
    /// A task of the tool suite that no call serves.
    Abstain {
        /// The frame's full id.
        frame: Arc<str>,
    },
    /// A task of the result suite.
    Answer {
        /// The frame's full id.
        frame: Arc<str>,
        /// `server/tool` of the result.
        tool: String,
        /// The kind of question.
        kind: Arc<str>,
        /// The right answer.
        answer: String,
    },
}

/// One right call.
#[derive(Debug, Clone)]
pub(crate) struct RightCall {
    pub(crate) server: Arc<str>,
    pub(crate) tool: Arc<str>,
    pub(crate) arguments: Map<String, Value>,
}

impl AnswerKey {
    /// The key to tasks of the tool suite.
    pub fn of_tasks<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> Self {
        let entries = tasks.into_iter().map(|task| {
            let frame = Arc::clone(&task.frame);
            let entry = match task.gold.first() {
                None => Entry::Abstain { frame },
                Some(gold) => Entry::Call {
                    frame,
                    call: RightCall {
                        server: Arc::clone(&gold.server),
                        tool: Arc::clone(&gold.tool),
                        arguments: gold.arguments.clone(),
                    },
                },
            };
            (hash(&task.utterance), entry)
        });
        Self { entries: entries.collect() }
    }

    /// The key to tasks of the result suite.
    pub fn of_results<'t>(tasks: impl IntoIterator<Item = &'t ResultTask>) -> Self {
        let entries = tasks.into_iter().map(|task| {
            let entry = Entry::Answer {
                frame: Arc::clone(&task.frame),
                tool: format!("{}/{}", task.server, task.tool),
                kind: Arc::clone(&task.kind),
                answer: task.gold.answer.clone(),
            };
            (hash(&task.utterance), entry)
        });
        Self { entries: entries.collect() }
    }

    /// Both keys in one; where both know a text, `other` wins.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.entries.extend(other.entries);
        self
    }

    /// Number of user texts that the key knows.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True where the key knows none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn look_up(&self, text: &str) -> Option<&Entry> {
        self.entries.get(&hash(text))
    }
}

fn hash(text: &str) -> TextHash {
    Sha256::digest(text.as_bytes()).into()
}
