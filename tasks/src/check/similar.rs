//! Frames of one tool that say nearly the same.

use std::collections::BTreeSet;

use super::{Finding, FindingKind};
use crate::intent::{Frame, Intents};

/// Two frames of a tool may not share a run of this many words, a slot counting as one.
pub const SHARED_RUN: usize = 8;
/// Two frames of a tool must stay below this similarity.
pub const SIMILARITY_BOUND: f64 = 0.5;
/// Similarity compares runs of this many words.
const GRAM: usize = 3;

/// A frame's text as words, every slot one word of its own kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(Vec<String>);

impl Words {
    /// The words of a frame's text in lower case.
    pub fn of(frame: &Frame) -> Self {
        let text = frame.text.literal(" \0 ");
        Self(
            text.split(|c: char| !c.is_alphanumeric() && c != '\0')
                .filter(|word| !word.is_empty())
                .map(str::to_lowercase)
                .collect(),
        )
    }

    fn grams(&self, size: usize) -> BTreeSet<&[String]> {
        self.0.windows(size.clamp(1, self.0.len().max(1))).collect()
    }

    /// The first run of [`SHARED_RUN`] words that both have. A run that is mostly slots says little and does not count.
    fn shared_run(&self, other: &Self) -> Option<String> {
        if self.0.len() < SHARED_RUN || other.0.len() < SHARED_RUN {
            return None;
        }
        let runs = other.grams(SHARED_RUN);
        let wordy = |run: &[String]| 2 * run.iter().filter(|word| *word != "\0").count() > SHARED_RUN;
        let run = self.0.windows(SHARED_RUN).find(|run| wordy(run) && runs.contains(run))?;
        Some(run.join(" ").replace('\0', "{}"))
    }
}

/// Jaccard similarity of the sets of three-word runs.
pub fn similarity(a: &Words, b: &Words) -> f64 {
    let (a, b) = (a.grams(GRAM), b.grams(GRAM));
    let shared = a.intersection(&b).count();
    let either = a.len() + b.len() - shared;
    if either == 0 { 0.0 } else { shared as f64 / either as f64 }
}

pub(super) fn check(intents: &Intents, findings: &mut Vec<Finding>) {
    let groups = intents.tools().map(|(server, tool)| intents.of_tool(server, tool).collect::<Vec<_>>());
    for group in groups.chain([intents.abstain().collect()]) {
        let words: Vec<Words> = group.iter().map(|frame| Words::of(frame)).collect();
        for (later, frame) in group.iter().enumerate() {
            for (earlier, other) in group[..later].iter().enumerate() {
                let run = words[later].shared_run(&words[earlier]);
                let similarity = similarity(&words[later], &words[earlier]);
                let how = match run {
                    Some(run) => format!("shares the words \"{run}\" with {}", other.id),
                    None if similarity >= SIMILARITY_BOUND => format!(
                        "is too similar to {} ({similarity:.2} of their three-word runs; below {SIMILARITY_BOUND} is asked)",
                        other.id
                    ),
                    None => continue,
                };
                let message = format!("{how}; word one of them differently");
                findings.push(Finding::error(
                    FindingKind::Similar,
                    &frame.file,
                    Some(frame.line),
                    Some(&frame.id),
                    message,
                ));
            }
        }
    }
}
