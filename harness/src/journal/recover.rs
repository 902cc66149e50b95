//! Reading a journal back: what was spent, what was answered, what is done.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
};

use bench_protocol::digest::Digest;
use bench_results::record::{AttemptLine, DrawId, EpisodeRecord, Opened, Settled, Usage};
use bench_tasks::task::TaskId;

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
    pub episodes: BTreeSet<EpisodeKey>,
    /// Draws that were asked for. Replies stay on disk: see [`Self::reply`].
    pub draws: BTreeMap<DrawId, DrawState>,
    /// Attempts that were under way when the run ended. They count as fully spent.
    pub interrupted: Vec<u64>,
    /// Attempts that cost more than their reservation.
    pub overruns: Vec<Overrun>,
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
    let mut overruns = Vec::new();
    each_line(path, |place, line| {
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
                remember(&mut draws, opened, &settled, place)?;
            }
        }
        Ok(())
    })?;
    meter.set_limits(limits)?;
    let interrupted = meter.open().collect();
    for Opened { n, draw, attempt, reserve, request, surface } in open.into_values() {
        let state = draws.entry(draw).or_insert_with(|| DrawState::new(request, surface));
        state.tries.push(Try { n, attempt, billed: reserve, usage: None });
    }
    Ok((meter, Recovered { episodes, draws, interrupted, overruns, cuts: Vec::new(), attempts_path: path.to_owned() }))
}

impl DrawState {
    fn new(request: Digest, surface: Digest) -> Self {
        Self { request, surface, tries: Vec::new(), reply: None }
    }
}

/// Notes a closed attempt.
fn remember(
    draws: &mut BTreeMap<DrawId, DrawState>,
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
