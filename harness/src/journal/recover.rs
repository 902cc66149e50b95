//! Reading a journal back: what was spent, what was answered, what is done.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use bench_results::record::{AttemptLine, DrawId, EpisodeRecord, Opened, Settled, Usage};
use bench_tasks::task::TaskId;

use super::JournalError;
use crate::meter::{Booking, Limits, Meter};

/// Which episode: one task under one arm.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpisodeKey {
    /// The task.
    pub task: TaskId,
    /// The arm.
    pub arm: Arc<str>,
}

/// An attempt of an unfinished episode that is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Try {
    /// Its number.
    pub n: u64,
    /// Which try of its draw it was, from 1.
    pub attempt: u32,
    /// Pico-dollars booked for it.
    pub billed: u64,
    /// Tokens, where stated.
    pub usage: Option<Usage>,
}

/// Where a line lies in `attempts.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    offset: u64,
    bytes: u64,
    line: u64,
}

/// What became of one draw of an unfinished episode.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DrawState {
    /// Its tries, in order.
    pub tries: Vec<Try>,
    /// Where its reply lies; a draw that has one is never asked again.
    pub reply: Option<Place>,
}

/// What a journal holds.
#[derive(Debug)]
pub struct Recovered {
    /// Episodes that are done.
    pub episodes: BTreeSet<EpisodeKey>,
    /// Draws of episodes that are not done. Replies stay on disk: see [`Self::reply`].
    pub draws: BTreeMap<DrawId, DrawState>,
    /// Attempts that were under way when the run ended. They count as fully spent.
    pub interrupted: Vec<u64>,
    /// Torn last lines that were moved out.
    pub cuts: Vec<super::Cut>,
    attempts_path: PathBuf,
}

impl Recovered {
    /// The reply of a draw, read from disk; `None` where it has none and must be asked for.
    pub fn reply(&self, draw: &DrawId) -> Result<Option<Settled>, JournalError> {
        let Some(place) = self.draws.get(draw).and_then(|state| state.reply) else { return Ok(None) };
        let path = &self.attempts_path;
        let mut line = String::new();
        File::open(path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(place.offset))?;
                file.take(place.bytes).read_to_string(&mut line)
            })
            .map_err(JournalError::io(path, "reading"))?;
        match AttemptLine::parse(&line) {
            Ok(AttemptLine::Settled(settled)) => Ok(Some(settled)),
            Ok(AttemptLine::Opened(_)) | Err(_) => Err(JournalError::Malformed {
                path: path.clone(),
                line: place.line,
                why: "the line changed while the run was being resumed".to_owned(),
            }),
        }
    }
}

/// True where an outcome holds a reply that an episode can go on with.
pub fn is_reply(settled: &Settled) -> bool {
    let success = settled.status.is_none_or(|status| (200..300).contains(&status));
    success && settled.error.is_none() && settled.response.is_some()
}

/// Reads the episodes that are done.
pub(super) fn episodes(path: &Path) -> Result<BTreeSet<EpisodeKey>, JournalError> {
    let mut done = BTreeSet::new();
    each_line(path, |place, line| {
        let record: EpisodeRecord = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let key = EpisodeKey { task: record.task, arm: record.arm };
        if done.contains(&key) {
            return Err(format!(
                "task {} under {} is recorded twice (again at byte {})",
                key.task, key.arm, place.offset
            ));
        }
        done.insert(key);
        Ok(())
    })?;
    Ok(done)
}

/// Reads the attempts into a meter with the given limits. Attempts without an outcome stay open.
pub(super) fn attempts(
    path: &Path,
    episodes: BTreeSet<EpisodeKey>,
    limits: Limits,
) -> Result<(Meter, Recovered), JournalError> {
    // What happened has happened: it is replayed without a limit, and only then held against the budget.
    let mut meter = Meter::new(Limits { budget: u64::MAX, per_attempt: None, attempts: None });
    let mut open: BTreeMap<u64, Opened> = BTreeMap::new();
    let mut draws: BTreeMap<DrawId, DrawState> = BTreeMap::new();
    each_line(path, |place, line| {
        match AttemptLine::parse(line).map_err(|error| error.to_string())? {
            AttemptLine::Opened(opened) => {
                meter.admit(opened.n, opened.reserve).map_err(|refusal| refusal.to_string())?;
                open.insert(opened.n, opened);
            }
            AttemptLine::Settled(settled) => {
                let opened = open
                    .remove(&settled.n)
                    .ok_or_else(|| format!("attempt {} is closed twice, or was never opened", settled.n))?;
                let booking = Booking::of_record(&opened, &settled)?;
                meter.close(settled.n, booking).map_err(|error| error.to_string())?;
                remember(&mut draws, &episodes, opened, &settled, place)?;
            }
        }
        Ok(())
    })?;
    meter.set_limits(limits)?;
    let interrupted = meter.open().collect();
    for opened in open.into_values() {
        if !episodes.contains(&key_of(&opened.draw)) {
            let state = draws.entry(opened.draw).or_default();
            state.tries.push(Try { n: opened.n, attempt: opened.attempt, billed: opened.reserve, usage: None });
        }
    }
    Ok((meter, Recovered { episodes, draws, interrupted, cuts: Vec::new(), attempts_path: path.to_owned() }))
}

/// Notes a closed attempt, unless its episode is done: then nobody will ask for it again.
fn remember(
    draws: &mut BTreeMap<DrawId, DrawState>,
    episodes: &BTreeSet<EpisodeKey>,
    opened: Opened,
    settled: &Settled,
    place: Place,
) -> Result<(), String> {
    if episodes.contains(&key_of(&opened.draw)) {
        return Ok(());
    }
    let answered = is_reply(settled);
    let again =
        format!("task {} under {}, turn {} is answered twice", opened.draw.task, opened.draw.arm, opened.draw.turn);
    let state = draws.entry(opened.draw).or_default();
    state.tries.push(Try { n: settled.n, attempt: opened.attempt, billed: settled.billed, usage: settled.usage });
    match (answered, state.reply) {
        (true, Some(_)) => Err(again),
        (true, None) => {
            state.reply = Some(place);
            Ok(())
        }
        (false, _) => Ok(()),
    }
}

fn key_of(draw: &DrawId) -> EpisodeKey {
    EpisodeKey { task: draw.task.clone(), arm: Arc::clone(&draw.arm) }
}

/// Calls `take` with every line and its place, without its line feed; what it returns as an error gets file and line.
fn each_line(path: &Path, mut take: impl FnMut(Place, &str) -> Result<(), String>) -> Result<(), JournalError> {
    let mut reader = BufReader::new(File::open(path).map_err(JournalError::io(path, "opening"))?);
    let mut bytes = Vec::new();
    let mut place = Place { offset: 0, bytes: 0, line: 0 };
    loop {
        bytes.clear();
        let read = reader.read_until(b'\n', &mut bytes).map_err(JournalError::io(path, "reading"))?;
        if read == 0 {
            return Ok(());
        }
        place = Place { offset: place.offset + place.bytes, bytes: read as u64, line: place.line + 1 };
        let malformed = |why: String| JournalError::Malformed { path: path.to_owned(), line: place.line, why };
        let line = str::from_utf8(&bytes).map_err(|error| malformed(error.to_string()))?;
        take(place, line.strip_suffix('\n').unwrap_or(line)).map_err(malformed)?;
    }
}
