//! The log of attempts of a live run, read once from its start to its end: attempts in the order in which they were
//! settled, with the books added up and the log hashed on the way.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use bench_protocol::digest::{Digest, Hasher};
use bench_results::record::{ATTEMPTS, AttemptLine, EpisodeRecord, Lines, Opened, Settled, Tail};

use super::ahead::{Item, Source};
use crate::{
    journal::{EpisodeKey, is_reply},
    meter::{Booking, Books, Limits, Meter, Overrun, Settlement},
};

/// Openings that are kept while they wait for their outcomes. A run has as many as it has requests in flight; what a log
/// holds beyond is read anew.
const OPENINGS: usize = 4_096;

/// An attempt and its outcome.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) opened: Opened,
    pub(crate) settled: Settled,
    lines: Pair,
    bytes: usize,
}

/// Where the two lines of an attempt begin. Numbers count up along the log, so that the order of openings is theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    opened: u64,
    settled: u64,
}

/// An opening whose outcome has not come yet.
#[derive(Debug)]
struct Opening {
    at: u64,
    bytes: usize,
    kept: Option<Box<Opened>>,
}

/// A log of attempts, read up to some line.
#[derive(Debug)]
pub(crate) struct Log {
    lines: Lines<AttemptLine>,
    hasher: Hasher,
    meter: Meter,
    open: BTreeMap<u64, Opening>,
    kept: usize,
    overruns: Vec<Overrun>,
    models: BTreeSet<String>,
}

/// What a whole log comes to.
#[derive(Debug)]
pub(crate) struct Sums {
    /// Digest of the log as recorded.
    pub(crate) digest: Digest,
    /// The books at its end.
    pub(crate) books: Books,
    /// Attempts that cost more than their reservation.
    pub(crate) overruns: Vec<Overrun>,
    /// Ids of the models that answered.
    pub(crate) models: BTreeSet<String>,
}

impl Log {
    /// Opens the log of a record.
    pub(crate) fn open(folder: &Path) -> Result<Self, String> {
        Self::open_to(folder, Tail::Report)
    }

    fn open_to(folder: &Path, tail: Tail) -> Result<Self, String> {
        let lines = Lines::open(folder.join(ATTEMPTS), tail).map_err(|error| error.to_string())?;
        Ok(Self {
            lines,
            hasher: Hasher::default(),
            meter: Meter::new(Limits { budget: u64::MAX, per_attempt: None, attempts: None }),
            open: BTreeMap::new(),
            kept: 0,
            overruns: Vec::new(),
            models: BTreeSet::new(),
        })
    }

    /// The books of a record, as far as its log reads: what is under way stands as reserved.
    pub(crate) fn books_of(folder: &Path) -> Books {
        let Ok(mut log) = Self::open(folder) else { return Books::default() };
        while let Ok(Some(_)) = log.next() {}
        log.meter.books()
    }

    /// The books of a log that may still grow: a last line without its end is not there yet, and what is under way stands as
    /// reserved. The error says which line cannot be and why.
    pub(super) fn so_far(folder: &Path) -> Result<Books, String> {
        let mut log = Self::open_to(folder, Tail::Cut)?;
        while log.advance()?.is_some() {}
        Ok(log.meter.books())
    }

    /// What the log comes to, once it has been read to its end.
    pub(super) fn sums(&self) -> Sums {
        Sums {
            digest: self.hasher.clone().finish(),
            books: self.meter.books(),
            overruns: self.overruns.clone(),
            models: self.models.clone(),
        }
    }

    fn opened(&mut self, opened: Opened) -> Result<(), String> {
        // An attempt behind an overrun says that the overrun was accepted.
        self.meter.accept_overruns();
        self.meter.admit(opened.n, opened.reserve).map_err(|refusal| refusal.to_string())?;
        let (n, keep) = (opened.n, self.kept < OPENINGS);
        self.kept += usize::from(keep);
        let (at, bytes) = (self.lines.offset(), self.lines.bytes().len());
        self.open.insert(n, Opening { at, bytes, kept: keep.then(|| Box::new(opened)) });
        Ok(())
    }

    fn settled(&mut self, settled: Settled) -> Result<Attempt, String> {
        let Some(Opening { at, bytes, kept }) = self.open.remove(&settled.n) else {
            return Err(format!("attempt {} is closed twice, or was never opened", settled.n));
        };
        let opened = match kept {
            Some(kept) => {
                self.kept -= 1;
                *kept
            }
            None => self.opened_at(at)?,
        };
        let booking = Booking::of_record(&opened, &settled).map_err(str::to_owned)?;
        let closed = self.meter.close(settled.n, booking).map_err(|error| error.to_string())?;
        if let Settlement::Overrun(overrun) = closed {
            self.overruns.push(overrun);
        }
        if let Some(model) = settled.model.as_ref().filter(|model| !self.models.contains(*model)) {
            self.models.insert(model.clone());
        }
        let lines = Pair { opened: at, settled: self.lines.offset() };
        Ok(Attempt { opened, settled, lines, bytes: bytes + self.lines.bytes().len() })
    }

    /// The next attempt that is settled; none at the end of the log, whatever is under way there.
    fn advance(&mut self) -> Result<Option<Attempt>, String> {
        while let Some(line) = self.lines.next() {
            let line = line.map_err(|error| error.to_string())?;
            self.hasher.update(self.lines.bytes());
            let read = match line {
                AttemptLine::Opened(opened) => self.opened(opened).map(|()| None),
                AttemptLine::Settled(settled) => self.settled(settled).map(Some),
            };
            let read =
                read.map_err(|why| format!("{}, line {}: {why}", self.lines.path().display(), self.lines.line()));
            if let Some(attempt) = read? {
                return Ok(Some(attempt));
            }
        }
        Ok(None)
    }

    fn opened_at(&mut self, at: u64) -> Result<Opened, String> {
        match self.lines.again(at).map_err(|error| error.to_string())? {
            AttemptLine::Opened(opened) => Ok(opened),
            AttemptLine::Settled(_) => Err("it changed while it was read".to_owned()),
        }
    }
}

impl Source for Log {
    type Item = Attempt;

    /// The next attempt that is settled. The error says which line cannot be and why.
    fn next(&mut self) -> Result<Option<Attempt>, String> {
        if let Some(attempt) = self.advance()? {
            return Ok(Some(attempt));
        }
        match self.open.keys().next() {
            Some(n) => Err(format!("{}: attempt {n} has no outcome", self.lines.path().display())),
            None => Ok(None),
        }
    }

    fn again(&mut self, Pair { opened: at, settled }: Pair) -> Result<Attempt, String> {
        let opened = self.opened_at(at)?;
        match self.lines.again(settled).map_err(|error| error.to_string())? {
            AttemptLine::Settled(outcome) if outcome.n == opened.n => {
                let bytes = outcome.response.as_ref().map_or(0, |response| response.get().len());
                Ok(Attempt { opened, settled: outcome, lines: Pair { opened: at, settled }, bytes })
            }
            _ => Err(format!("{}: it changed while it was read", self.lines.path().display())),
        }
    }
}

impl Item for Attempt {
    type At = Pair;

    fn key(&self) -> EpisodeKey {
        EpisodeKey { task: self.opened.draw.task.clone(), arm: self.opened.draw.arm.clone() }
    }

    fn at(&self) -> Pair {
        self.lines
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    /// Replies are what an episode goes on with; failures before them are of the same turn.
    fn counts(&self) -> bool {
        is_reply(&self.settled)
    }
}

/// An episode's line of the record.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) record: EpisodeRecord,
    at: u64,
    bytes: usize,
}

impl Source for Lines<EpisodeRecord> {
    type Item = Line;

    fn next(&mut self) -> Result<Option<Line>, String> {
        let Some(record) = Iterator::next(self).transpose().map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        Ok(Some(Line { record, at: self.offset(), bytes: self.bytes().len() }))
    }

    fn again(&mut self, at: u64) -> Result<Line, String> {
        let record = Lines::again(self, at).map_err(|error| error.to_string())?;
        Ok(Line { record, at, bytes: 0 })
    }
}

impl Item for Line {
    type At = u64;

    fn key(&self) -> EpisodeKey {
        EpisodeKey { task: self.record.task.clone(), arm: self.record.arm.clone() }
    }

    fn at(&self) -> u64 {
        self.at
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn counts(&self) -> bool {
        true
    }
}
