//! Reading a journal back: what was spent, what was answered, what is done.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use bench_protocol::digest::Digest;
use bench_results::record::{AttemptLine, DrawId, End, EpisodeRecord, Opened, Settled, Usage};
use bench_tasks::task::TaskId;
use sha2::{Digest as _, Sha256};

use super::JournalError;
use crate::meter::{Booking, Limits, Meter, Overrun, Settlement};

/// Which episode: one task under one arm.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpisodeKey {
    /// The task.
    pub task: TaskId,
    /// The arm.
    pub arm: Arc<str>,
}

/// Which episodes are done. A run may have millions, so each is held as 16 bytes of a digest of its key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Done {
    /// How many of its turns were answered; 0 for an episode that is recorded as missing.
    answered: BTreeMap<u128, u32>,
}

impl Done {
    /// True for an episode that is done.
    pub fn contains(&self, task: &TaskId, arm: &str) -> bool {
        self.answered.contains_key(&digest(task, arm))
    }

    /// True for the draw whose reply was the last of an episode that is done.
    pub fn ends_with(&self, draw: &DrawId) -> bool {
        self.answered.get(&digest(&draw.task, &draw.arm)) == Some(&draw.turn)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.answered.len()
    }

    /// True where none is.
    pub fn is_empty(&self) -> bool {
        self.answered.is_empty()
    }

    /// Notes an episode; false where it is there already.
    fn add(&mut self, record: &EpisodeRecord) -> bool {
        let answered = if record.end == End::Missing { 0 } else { record.turns };
        self.answered.insert(digest(&record.task, &record.arm), answered).is_none()
    }
}

fn digest(task: &TaskId, arm: &str) -> u128 {
    let whole = Sha256::new().chain_update(&task.0).chain_update([0]).chain_update(arm).finalize();
    whole.iter().take(16).fold(0, |number, &byte| number << 8 | u128::from(byte))
}

/// A try of a draw that is closed.
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

/// What became of one draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawState {
    /// Digest of its request, which all its tries share.
    pub request: Digest,
    /// Digest of the surface that it shows.
    pub surface: Digest,
    /// Its tries, in order.
    pub tries: Vec<Try>,
    /// Where its reply lies; a draw that has one is never asked again.
    pub reply: Option<Place>,
}

/// What a journal holds.
#[derive(Debug)]
pub struct Recovered {
    /// Episodes that are done.
    pub episodes: Done,
    /// Draws of episodes that are not done. Replies stay on disk: see [`Self::reply`].
    pub draws: BTreeMap<DrawId, DrawState>,
    /// Attempts that were under way when the run ended. They count as fully spent.
    pub interrupted: Vec<u64>,
    /// Attempts that cost more than their reservation.
    pub overruns: Vec<Overrun>,
    /// Torn last lines that were moved out.
    pub cuts: Vec<super::Cut>,
    attempts_path: PathBuf,
    /// What there was of the log when it was read.
    attempts_bytes: u64,
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
            Ok(AttemptLine::Opened(_)) | Err(_) => Err(changed(path, place.line)),
        }
    }

    /// Hands over every line of the log once more, in its order, as far as it went when the journal was opened.
    ///
    /// # Errors
    /// What `take` fails with, and a log that no longer reads.
    pub fn attempts<E: From<JournalError>>(&self, mut take: impl FnMut(AttemptLine) -> Result<(), E>) -> Result<(), E> {
        let path = &self.attempts_path;
        each_line(path, self.attempts_bytes, |place, line| {
            take(AttemptLine::parse(line).map_err(|_| changed(path, place.line))?)
        })
    }
}

fn changed(path: &Path, line: u64) -> JournalError {
    let why = "the line changed while the run was being resumed".to_owned();
    JournalError::Malformed { path: path.to_owned(), line, why }
}

/// True where an outcome holds a reply that an episode can go on with.
pub fn is_reply(settled: &Settled) -> bool {
    let success = settled.status.is_none_or(|status| (200..300).contains(&status));
    success && settled.error.is_none() && settled.response.is_some()
}

/// Reads the episodes that are done.
pub(super) fn episodes(path: &Path) -> Result<Done, JournalError> {
    let mut done = Done::default();
    each_line(path, u64::MAX, |place, line| {
        let malformed = |why: String| JournalError::Malformed { path: path.to_owned(), line: place.line, why };
        let record: EpisodeRecord = serde_json::from_str(line).map_err(|error| malformed(error.to_string()))?;
        if done.add(&record) {
            return Ok(());
        }
        Err(malformed(format!(
            "task {} under {} is recorded twice (again at byte {})",
            record.task, record.arm, place.offset
        )))
    })?;
    Ok(done)
}

/// Reads the attempts into a meter with the given limits. Attempts without an outcome stay open.
pub(super) fn attempts(path: &Path, episodes: Done, limits: Limits) -> Result<(Meter, Recovered), JournalError> {
    // What happened has happened: it is replayed without a limit, and only then held against the budget.
    let mut meter = Meter::new(Limits { budget: u64::MAX, per_attempt: None, attempts: None });
    let mut open: BTreeMap<u64, Opened> = BTreeMap::new();
    let mut draws: BTreeMap<DrawId, DrawState> = BTreeMap::new();
    let mut overruns = Vec::new();
    let mut take = |place: Place, line: &str| -> Result<(), String> {
        match AttemptLine::parse(line).map_err(|error| error.to_string())? {
            AttemptLine::Opened(opened) => {
                // An attempt behind an overrun says that the overrun was accepted.
                meter.accept_overruns();
                meter.admit(opened.n, opened.reserve).map_err(|refusal| refusal.to_string())?;
                open.insert(opened.n, opened);
            }
            AttemptLine::Settled(settled) => {
                let opened = open
                    .remove(&settled.n)
                    .ok_or_else(|| format!("attempt {} is closed twice, or was never opened", settled.n))?;
                let booking = Booking::of_record(&opened, &settled)?;
                if let Settlement::Overrun(overrun) =
                    meter.close(settled.n, booking).map_err(|error| error.to_string())?
                {
                    overruns.push(overrun);
                }
                remember(&mut draws, &episodes, opened, &settled, place)?;
            }
        }
        Ok(())
    };
    let mut attempts_bytes = 0;
    each_line(path, u64::MAX, |place, line| {
        attempts_bytes = place.offset + place.bytes;
        take(place, line).map_err(|why| JournalError::Malformed { path: path.to_owned(), line: place.line, why })
    })?;
    meter.set_limits(limits)?;
    let interrupted = meter.open().collect();
    for Opened { n, draw, attempt, reserve, request, surface } in open.into_values() {
        let state = draws.entry(draw).or_insert_with(|| DrawState::new(request, surface));
        state.tries.push(Try { n, attempt, billed: reserve, usage: None });
    }
    draws.retain(|draw, _| !episodes.contains(&draw.task, &draw.arm));
    let (cuts, attempts_path) = (Vec::new(), path.to_owned());
    Ok((meter, Recovered { episodes, draws, interrupted, overruns, cuts, attempts_path, attempts_bytes }))
}

impl DrawState {
    fn new(request: Digest, surface: Digest) -> Self {
        Self { request, surface, tries: Vec::new(), reply: None }
    }
}

/// Notes a closed attempt; with the last one of an episode that is done, all of it is forgotten.
fn remember(
    draws: &mut BTreeMap<DrawId, DrawState>,
    done: &Done,
    opened: Opened,
    settled: &Settled,
    place: Place,
) -> Result<(), String> {
    let answered = is_reply(settled);
    let name = format!("task {} under {}, turn {}", opened.draw.task, opened.draw.arm, opened.draw.turn);
    let (request, surface) = (opened.request, opened.surface);
    let known = draws.get(&opened.draw);
    if known.is_some_and(|state| state.request != request || state.surface != surface) {
        return Err(format!("{name} is asked for with two requests that differ"));
    }
    if answered && known.is_none_or(|state| state.reply.is_none()) && done.ends_with(&opened.draw) {
        let mut draw = opened.draw;
        for turn in 1..=draw.turn {
            draw.turn = turn;
            draws.remove(&draw);
        }
        return Ok(());
    }
    let state = draws.entry(opened.draw).or_insert_with(|| DrawState::new(request, surface));
    state.tries.push(Try { n: settled.n, attempt: opened.attempt, billed: settled.billed, usage: settled.usage });
    match (answered, state.reply) {
        (true, Some(_)) => Err(format!("{name} is answered twice")),
        (true, None) => {
            state.reply = Some(place);
            Ok(())
        }
        (false, _) => Ok(()),
    }
}

/// Calls `take` with every line of the first `bytes` of a file and its place, without its line feed.
fn each_line<E: From<JournalError>>(
    path: &Path,
    bytes: u64,
    mut take: impl FnMut(Place, &str) -> Result<(), E>,
) -> Result<(), E> {
    let file = File::open(path).map_err(JournalError::io(path, "opening"))?;
    let mut reader = BufReader::new(file.take(bytes));
    let mut bytes = Vec::new();
    let mut place = Place { offset: 0, bytes: 0, line: 0 };
    loop {
        bytes.clear();
        let read = reader.read_until(b'\n', &mut bytes).map_err(JournalError::io(path, "reading"))?;
        if read == 0 {
            return Ok(());
        }
        place = Place { offset: place.offset + place.bytes, bytes: read as u64, line: place.line + 1 };
        let line = str::from_utf8(&bytes).map_err(|error| JournalError::Malformed {
            path: path.to_owned(),
            line: place.line,
            why: error.to_string(),
        })?;
        take(place, line.strip_suffix('\n').unwrap_or(line))?;
    }
}
