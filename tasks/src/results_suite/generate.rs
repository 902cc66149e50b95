//! Items from a seed: item `i` at once, without the items before it.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{
    ResultGold, ResultTask, answer,
    draw::Draw,
    pools::Pools,
    reader,
    recipes::{Item, RECIPES, Recipe},
    wording::Wordings,
    world::World,
};
use crate::{
    catalog::{Catalogs, hex},
    error::TasksError,
    result::ToolResult,
    task::{Suite, TaskId},
};

/// Step between the voices of one recipe's frames; coprime to the number of voices, which a test holds fast.
const VOICE_STEP: usize = 17;
/// Step between the first voices of neighbouring recipes.
const VOICE_SHIFT: usize = 5;
/// How often an item is drawn again when its answer happens to stand in its question.
const TRIES: usize = 16;

/// The result suite of a seed.
///
/// Frames come recipe by recipe: every block of [`ResultGenerator::recipes`] items asks each recipe once, each block in
/// other voices, so that every prefix is spread over the kinds. Frames repeat, with new records, only after
/// [`ResultGenerator::frames`] items; up to there all utterances differ as well.
#[derive(Debug)]
pub struct ResultGenerator {
    seed: [u8; 32],
    len: u64,
    pools: Pools,
    wordings: Wordings,
}

/// Where an item stands: recipe, voice, and how often its frame came before.
struct Place {
    at: usize,
    recipe: &'static Recipe,
    voice: usize,
    round: u64,
}

impl ResultGenerator {
    /// A suite of `n` items over the source tools of `catalogs`.
    ///
    /// # Errors
    /// If a source tool is missing from `catalogs` or has an output schema, which R exempts.
    pub fn new(catalogs: &Catalogs, seed: [u8; 32], n: u64) -> Result<Self, TasksError> {
        for (server, tool) in SOURCES {
            let Some(def) = catalogs.tool(server, tool) else {
                return Err(TasksError::Plan(format!(
                    "the result suite needs {server}/{tool}, which the catalogs lack; use the vendored catalogs"
                )));
            };
            if def.output_schema.is_some() {
                return Err(TasksError::Plan(format!(
                    "the result suite uses {server}/{tool}, but it declares an output schema, so R passes it through"
                )));
            }
        }
        Ok(Self { seed, len: n, pools: Pools::embedded()?, wordings: Wordings::embedded()? })
    }

    /// Number of items.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of recipes, that is pairs of kind and format.
    pub fn recipes(&self) -> u64 {
        RECIPES.len() as u64
    }

    /// Number of distinct frames there are, used or not.
    pub fn frames(&self) -> u64 {
        self.recipes() * self.wordings.voices() as u64
    }

    /// Item `i`, counted from 0. Items from [`ResultGenerator::len`] on exist as well, and are not part of the suite.
    pub fn task(&self, i: u64) -> ResultTask {
        let place = self.place(i);
        let frame = self.frame_id(&place);
        let (item, utterance) = self.make(&place, &frame);
        let mut hash = Sha256::new();
        for part in [&*frame, &utterance, &item.text, &item.gold] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        ResultTask {
            id: TaskId(format!("t{}", hex(&hash.finalize()[..8]))),
            suite: Suite::Results,
            server: server_of(item.tool).into(),
            tool: item.tool.into(),
            frame,
            kind: place.recipe.kind.name().into(),
            utterance,
            arguments: item.arguments,
            result: ToolResult::text(item.text),
            gold: ResultGold { answer: item.gold },
        }
    }

    /// All items in order.
    pub fn iter(&self) -> impl Iterator<Item = ResultTask> + '_ {
        (0..self.len).map(|i| self.task(i))
    }

    /// What a reader without a language model finds in `text` as the answer to item `i`: it parses rows by the source's
    /// format and evaluates the question over them. On the undigested result that is the gold, by a second route.
    pub fn reread(&self, i: u64, text: &str) -> Option<String> {
        let place = self.place(i);
        let (item, _) = self.make(&place, &self.frame_id(&place));
        reader::read(place.recipe.kind, place.recipe.format, &item.slots, text)
    }

    fn place(&self, i: u64) -> Place {
        let (recipes, voices) = (self.recipes(), self.wordings.voices() as u64);
        let (block, at) = (i / recipes, usize::try_from(i % recipes).unwrap_or(0));
        let (round, turn) = (block / voices, usize::try_from(block % voices).unwrap_or(0));
        let voice = (at * VOICE_SHIFT + turn * VOICE_STEP) % self.wordings.voices();
        Place { at, recipe: &RECIPES[at], voice, round }
    }

    fn frame_id(&self, place: &Place) -> Arc<str> {
        let Recipe { kind, format, .. } = place.recipe;
        format!("results/{}/{format}/{}", kind.name(), self.wordings.voice_id(place.voice)).into()
    }

    /// Draws records and question until the answer does not stand in the question.
    fn make(&self, place: &Place, frame: &str) -> (Item, String) {
        let digest = Sha256::digest([frame.as_bytes(), &[0], &place.round.to_le_bytes()].concat());
        let stream = digest.iter().take(8).rev().fold(0, |stream, byte| stream << 8 | u64::from(*byte));
        let mut world = World { draw: Draw::new(self.seed, stream), pools: &self.pools };
        let mut tries = 0;
        loop {
            let item = (place.recipe.make)(&mut world);
            let utterance = self.wordings.word(place.at, place.voice, &item.slots, &mut world.draw, &self.pools);
            tries += 1;
            if tries == TRIES || item.gold == "none" || !stands_in(&item.gold, &utterance) {
                return (item, utterance);
            }
        }
    }
}

/// Source tools by server. None is named like a reader, declares an output schema, or is said to return file contents.
pub(super) const SOURCES: [(&str, &str); 16] = [
    ("git", "git_branch"),
    ("git", "git_diff"),
    ("git", "git_diff_staged"),
    ("git", "git_diff_unstaged"),
    ("git", "git_log"),
    ("git", "git_status"),
    ("github", "get_issue"),
    ("github", "get_pull_request"),
    ("github", "get_pull_request_comments"),
    ("github", "get_pull_request_files"),
    ("github", "get_pull_request_reviews"),
    ("github", "get_pull_request_status"),
    ("github", "list_commits"),
    ("github", "list_issues"),
    ("github", "search_repositories"),
    ("github", "search_users"),
];

fn server_of(tool: &str) -> &'static str {
    if tool.starts_with("git_") { "git" } else { "github" }
}

/// Whether `gold` stands in `text` between characters that are no letters or digits, after normalisation.
pub(super) fn stands_in(gold: &str, text: &str) -> bool {
    let (gold, text) = (answer::normalise(gold), answer::normalise(text));
    text.match_indices(&gold).any(|(at, found)| {
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        edge(text[..at].chars().next_back()) && edge(text[at + found.len()..].chars().next())
    })
}
