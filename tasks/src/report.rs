//! What the intents cover, as figures: the table behind `bench tasks report`.

mod difficulty;
mod keywords;

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;

pub use self::difficulty::{Confusion, Difficulty, Ranks, difficulty};

use crate::{
    catalog::Catalogs,
    check::{SIMILARITY_BOUND, Words, leaked_name_words, names_server, similarity},
    intent::{AbstainReason, Frame, Intents, Voice},
    task::Stratum,
};

/// Pairs listed in [`IntentReport::nearest`].
const NEAREST: usize = 20;

/// Frames and how they are spread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IntentReport {
    /// Frames that are scored, abstain frames included.
    pub scored_frames: usize,
    /// Frames reserved for pilots and warm-up.
    pub dev_frames: usize,
    /// A row per tool of the catalogs, in catalog order; then one for abstain.
    pub tools: Vec<ToolCoverage>,
    /// Scored frames by stratum.
    pub strata: BTreeMap<Stratum, usize>,
    /// Scored frames by voice.
    pub voices: BTreeMap<Voice, usize>,
    /// Scored abstain frames by reason.
    pub abstain_reasons: BTreeMap<AbstainReason, usize>,
    /// Frames by writer, dev frames included.
    pub writers: BTreeMap<Arc<str>, usize>,
    /// The most similar pairs of frames within a tool, the most similar first.
    pub nearest: Vec<NearPair>,
    /// The bound that pairs must stay below.
    pub similarity_bound: f64,
    /// Scored frames whose literal text says a word of its tool's name, outside the paraphrase stratum.
    pub name_leaks: BTreeMap<Stratum, usize>,
    /// Scored frames whose literal text names their server.
    pub server_names: usize,
    /// Scored frames by schema keyword that their gold arguments exercise, such as `type:array` or `enum`.
    pub keywords: BTreeMap<String, usize>,
    /// Keywords of the catalogs' input schemas that no scored frame exercises.
    pub unexercised: Vec<String>,
    /// Arguments of the catalogs that no scored frame gives, as `server/tool: argument`.
    pub unused_arguments: Vec<String>,
}

/// The frames of one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolCoverage {
    /// `server/tool`, or `abstain`.
    pub tool: String,
    /// Scored frames.
    pub scored: usize,
    /// Dev frames.
    pub dev: usize,
    /// Scored frames by stratum.
    pub strata: BTreeMap<Stratum, usize>,
    /// Number of writers of scored frames.
    pub writers: usize,
    /// The fewest values that a slot of a scored frame has for itself: items of a frame beyond that repeat a value.
    pub smallest_share: Option<u64>,
    /// The fewest different tasks that a scored frame can make, at most 2^64 − 1.
    pub fewest_tasks: Option<u64>,
}

/// Two frames of one tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearPair {
    /// The earlier frame.
    pub first: Arc<str>,
    /// The later frame.
    pub second: Arc<str>,
    /// Jaccard similarity of their three-word runs.
    pub similarity: f64,
}

/// Reports on all frames that were read without error.
pub fn report(intents: &Intents, catalogs: &Catalogs) -> IntentReport {
    let scored: Vec<&Frame> = intents.frames().iter().filter(|frame| !frame.dev).collect();
    let mut tools: Vec<ToolCoverage> = Vec::new();
    let mut nearest = Vec::new();
    for (catalog, tool) in catalogs.tools() {
        let frames: Vec<&Frame> = intents.of_tool(&catalog.server, &tool.name).collect();
        nearest.extend(pairs(&frames));
        tools.push(coverage(format!("{}/{}", catalog.server, tool.name), &frames));
    }
    let abstain: Vec<&Frame> = intents.abstain().collect();
    nearest.extend(pairs(&abstain));
    tools.push(coverage("abstain".into(), &abstain));
    // Stable, so equal pairs keep the catalogs' order.
    nearest.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    nearest.truncate(NEAREST);

    let literal = |frame: &Frame| frame.text.literal(" ");
    let leaks = scored.iter().filter(|frame| {
        frame.stratum != Stratum::Paraphrase
            && frame.tool.as_ref().is_some_and(|tool| !leaked_name_words(tool, &literal(frame)).is_empty())
    });
    let named = |frame: &&&Frame| frame.server.as_ref().is_some_and(|server| names_server(server, &literal(frame)));
    let exercised = keywords::exercised(&scored, catalogs);
    IntentReport {
        scored_frames: scored.len(),
        dev_frames: intents.frames().len() - scored.len(),
        strata: count(scored.iter().map(|frame| frame.stratum)),
        voices: count(scored.iter().map(|frame| frame.voice)),
        abstain_reasons: count(scored.iter().filter_map(|frame| frame.reason)),
        writers: count(intents.frames().iter().map(|frame| Arc::clone(&frame.writer))),
        name_leaks: count(leaks.map(|frame| frame.stratum)),
        server_names: scored.iter().filter(named).count(),
        unexercised: keywords::of_catalogs(catalogs)
            .into_iter()
            .filter(|keyword| !exercised.contains_key(keyword))
            .collect(),
        unused_arguments: keywords::unused_arguments(&scored, catalogs),
        keywords: exercised,
        similarity_bound: SIMILARITY_BOUND,
        tools,
        nearest,
    }
}

fn coverage(tool: String, frames: &[&Frame]) -> ToolCoverage {
    let scored: Vec<&&Frame> = frames.iter().filter(|frame| !frame.dev).collect();
    let writers = count(scored.iter().map(|frame| &frame.writer)).len();
    let combinations =
        |frame: &&&Frame| frame.slots.iter().fold(1u64, |product, slot| product.saturating_mul(slot.share.len));
    ToolCoverage {
        tool,
        scored: scored.len(),
        dev: frames.len() - scored.len(),
        strata: count(scored.iter().map(|frame| frame.stratum)),
        writers,
        smallest_share: scored.iter().flat_map(|frame| &frame.slots).map(|slot| slot.share.len).min(),
        fewest_tasks: scored.iter().map(combinations).min(),
    }
}

fn pairs(frames: &[&Frame]) -> Vec<NearPair> {
    let words: Vec<Words> = frames.iter().map(|frame| Words::of(frame)).collect();
    let mut pairs = Vec::new();
    for (later, frame) in frames.iter().enumerate() {
        for (earlier, other) in frames[..later].iter().enumerate() {
            let similarity = similarity(&words[later], &words[earlier]);
            if similarity > 0.0 {
                pairs.push(NearPair { first: Arc::clone(&other.id), second: Arc::clone(&frame.id), similarity });
            }
        }
    }
    pairs
}

fn count<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, usize> {
    keys.fold(BTreeMap::new(), |mut counts, key| {
        *counts.entry(key).or_default() += 1;
        counts
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intent::IntentFile;

    #[test]
    fn a_small_suite_is_counted() {
        let text = r#"
server = "git"
writer = "w1"
[pools.repo]
values = ["/srv/a", "/srv/b", "/srv/c"]
[pools.n]
from = 1
to = 40
[[intent]]
tool = "git_log"
[[intent.frame]]
id = "a"
stratum = "optional"
voice = "terse"
text = "git log of {repo}, only {n} entries"
slots = { repo = "repo", n = "n" }
gold = { repo_path = "{repo}", max_count = "{n}" }
[[intent.frame]]
id = "b"
stratum = "plain"
voice = "polite"
text = "Which commits does {repo} have?"
slots = { repo = "repo" }
gold = { repo_path = "{repo}" }
dev = true
"#;
        let intents = Intents::from_files(vec![IntentFile { name: "git.toml".into(), text: text.into() }]);
        let report = report(&intents, &Catalogs::vendored().unwrap());
        assert_eq!((report.scored_frames, report.dev_frames, report.server_names), (1, 1, 1));
        assert_eq!(report.name_leaks, BTreeMap::from([(Stratum::Optional, 1)]));
        assert_eq!(report.keywords.get("type:integer"), Some(&1));
        let row = report.tools.iter().find(|row| row.tool == "git/git_log").unwrap();
        assert_eq!((row.scored, row.dev, row.smallest_share, row.fewest_tasks), (1, 1, Some(2), Some(80)));
        assert!(report.unused_arguments.contains(&"git/git_log: start_timestamp".to_owned()));
        assert!(!report.unused_arguments.contains(&"git/git_log: max_count".to_owned()));
    }
}
