//! Checking intents against catalogs: every finding names file, line and frame, and says what to change.

mod counts;
mod finding;
mod gold;
mod matchers;
mod nearest;
mod pools;
mod similar;
mod stem;
mod stub;
mod wording;

pub(crate) use self::nearest::nearest;
pub use self::{
    finding::{Finding, FindingKind, Severity},
    similar::{SHARED_RUN, SIMILARITY_BOUND, Words, similarity},
    wording::{is_spoken, leaked_name_words, names_server, points_at_server},
};
use crate::{
    catalog::Catalogs,
    error::TasksError,
    generate::{FrameSet, Generator, Plan},
    intent::Intents,
};

/// How thoroughly to check, and how many frames to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckOptions {
    /// Scored frames that every tool must have.
    pub scored_frames: usize,
    /// Dev frames that every tool must have.
    pub dev_frames: usize,
    /// Scored abstain frames that there must be.
    pub abstain_frames: usize,
    /// Seeded fillings of each frame whose golds are validated, besides the corners.
    pub fillings: u64,
    /// Seed of those fillings.
    pub seed: [u8; 32],
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { scored_frames: 6, dev_frames: 2, abstain_frames: 30, fillings: 16, seed: [0; 32] }
    }
}

/// Everything that is wrong or doubtful, in file and line order; what concerns no file comes first.
pub fn check(intents: &Intents, catalogs: &Catalogs, options: &CheckOptions) -> Vec<Finding> {
    let mut findings = intents.problems().to_vec();
    for frame in intents.frames() {
        gold::check(frame, catalogs, options, &mut findings);
        stub::check(frame, &mut findings);
        wording::check(frame, &mut findings);
    }
    pools::check(intents, catalogs, &mut findings);
    similar::check(intents, &mut findings);
    counts::check(intents, catalogs, options, &mut findings);
    if intents.require_sound().is_ok() {
        ambiguous(intents, catalogs, options, &mut findings);
    }
    findings.sort_by(|a, b| (&a.file, a.line, a.severity).cmp(&(&b.file, b.line, b.severity)));
    findings
}

/// Equal utterances with different golds among a few items of every frame.
fn ambiguous(intents: &Intents, catalogs: &Catalogs, options: &CheckOptions, findings: &mut Vec<Finding>) {
    for frames in [FrameSet::Scored, FrameSet::Dev] {
        let of_set = |abstain: bool| {
            intents
                .frames()
                .iter()
                .filter(|frame| frame.dev == (frames == FrameSet::Dev) && frame.tool.is_none() == abstain)
                .count()
        };
        let plan = Plan {
            tool_tasks: of_set(false) as u64 * 4,
            abstain_tasks: of_set(true) as u64 * 4,
            frames_per_tool: usize::MAX,
            abstain_frames: usize::MAX,
            frames,
            allow_incomplete: true,
        };
        if let Err(error @ TasksError::Ambiguous { .. }) = Generator::new(intents, catalogs, options.seed, plan) {
            findings.push(Finding::error(FindingKind::Ambiguous, &"".into(), None, None, error.to_string()));
        }
    }
}

#[cfg(test)]
mod tests;
