//! What a replay finds: differences by what they are about, and the totals where there are none.

use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::digest::Digest;
use bench_results::record::{EpisodeRecord, Record};

/// Differences that are spelled out; the rest is counted.
const SHOWN: usize = 3;

/// What a replay found, by kind; the error texts name the first places.
pub(crate) struct Replayed {
    pub(crate) schedule: Result<String, String>,
    pub(crate) surfaces: Result<String, String>,
    pub(crate) episodes: Result<String, String>,
    pub(crate) books: Result<String, String>,
    pub(crate) attempts: u64,
    /// Ids of the models that answered.
    pub(crate) models: BTreeSet<String>,
    /// Why episodes have no outcome.
    pub(crate) missing: Missing,
}

impl Replayed {
    /// Of a record whose logs cannot be opened.
    pub(super) fn unread(why: &str) -> Self {
        let error = || Err(why.to_owned());
        Self {
            schedule: error(),
            surfaces: error(),
            episodes: error(),
            books: error(),
            attempts: 0,
            models: BTreeSet::new(),
            missing: Missing::default(),
        }
    }
}

/// Episodes without an outcome.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    /// How many, by what their attempts say.
    pub(crate) explained: BTreeMap<String, u64>,
    /// One of which no attempt says why.
    pub(crate) unexplained: Option<String>,
}

/// What a difference is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Schedule,
    Surfaces,
    Scores,
    Books,
}

/// Differences of one kind.
#[derive(Default)]
struct Differences {
    count: u64,
    first: Vec<String>,
}

impl Differences {
    fn add(&mut self, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < SHOWN {
            self.first.push(what());
        }
    }

    fn outcome(self, good: impl FnOnce() -> String) -> Result<String, String> {
        match self.count {
            0 => Ok(good()),
            1 => Err(self.first.join("; ")),
            many => Err(format!("{many} differences; {}", self.first.join("; "))),
        }
    }
}

/// What is found while a record is replayed, in the order in which it is found.
pub(super) struct Findings<'a> {
    reader: &'a Record,
    /// Surfaces that attempts show.
    shown: BTreeSet<Digest>,
    schedule: Differences,
    surfaces: Differences,
    scores: Differences,
    books: Differences,
}

/// What a replay comes to.
pub(super) struct Totals {
    pub(super) episodes: u64,
    pub(super) attempts: u64,
    pub(super) models: BTreeSet<String>,
    pub(super) missing: Missing,
    /// How the episodes stand in the schedule, where nothing differs.
    pub(super) in_schedule: &'static str,
}

impl<'a> Findings<'a> {
    pub(super) fn new(reader: &'a Record) -> Self {
        Self {
            reader,
            shown: BTreeSet::new(),
            schedule: Differences::default(),
            surfaces: Differences::default(),
            scores: Differences::default(),
            books: Differences::default(),
        }
    }

    /// Counts a difference; `what` is asked for where it is one of those that are spelled out.
    pub(super) fn add(&mut self, part: Part, what: impl FnOnce() -> String) {
        match part {
            Part::Schedule => self.schedule.add(what),
            Part::Surfaces => self.surfaces.add(what),
            Part::Scores => self.scores.add(what),
            Part::Books => self.books.add(what),
        }
    }

    /// Whether no attempt has shown this surface yet.
    pub(super) fn is_new(&self, digest: &Digest) -> bool {
        !self.shown.contains(digest)
    }

    /// An attempt shows this surface, which the record must keep.
    pub(super) fn shows(&mut self, digest: Digest) {
        if self.shown.contains(&digest) {
            return;
        }
        if let Err(error) = self.reader.surface(&digest) {
            self.surfaces.add(|| error.to_string());
        }
        self.shown.insert(digest);
    }

    /// What was found in all; `money` says what the books come to, where nothing differs.
    pub(super) fn outcome(mut self, totals: Totals, money: impl FnOnce() -> String) -> Replayed {
        self.strays();
        let Totals { episodes, attempts, models, missing, in_schedule } = totals;
        let surfaces = self.shown.len();
        Replayed {
            schedule: self.schedule.outcome(|| format!("{episodes} episodes, {in_schedule}")),
            surfaces: self
                .surfaces
                .outcome(|| format!("{attempts} requests rebuilt, {surfaces} surfaces re-made from their arms")),
            episodes: self.scores.outcome(|| format!("{episodes} episodes re-run from their responses and re-scored")),
            books: self.books.outcome(|| format!("{attempts} attempts numbered without a gap{}", money())),
            attempts,
            models,
            missing,
        }
    }

    /// Surfaces that are kept, and no attempt shows them.
    fn strays(&mut self) {
        match self.reader.surfaces() {
            Ok(kept) => {
                let shown: BTreeSet<&str> = self.shown.iter().map(Digest::as_str).collect();
                for stray in kept.iter().filter(|name| !shown.contains(name.as_str())) {
                    self.surfaces.add(|| format!("surface {stray} is kept, but no attempt shows it"));
                }
            }
            Err(error) => self.surfaces.add(|| error.to_string()),
        }
    }
}

/// Names the first field in which two lines differ.
pub(super) fn difference(recorded: &EpisodeRecord, made: &EpisodeRecord) -> String {
    let value = |line| serde_json::to_value(line).unwrap_or_default();
    super::certificate::first_difference("", &value(recorded), &value(made)).unwrap_or_else(|| "differs".to_owned())
}
