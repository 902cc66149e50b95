//! The journal of a run: `attempts.jsonl` and `episodes.jsonl`, append-only, one writer.
//!
//! An attempt is admitted by the meter, written and synced before its request leaves; many that wait share one sync. Its
//! outcome is written after. Whatever kills the process, the journal says what may have been spent, which draws are
//! answered and which episodes are done, so that nothing is lost, asked or paid twice.

mod error;
mod recover;
mod tail;
mod writer;

use std::{
    fs::File,
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
};

use bench_protocol::digest::Digest;
use bench_results::record::{AttemptLine, DrawId, EpisodeRecord, Opened, Settled};
use serde::Serialize;

pub use error::JournalError;
pub use recover::{Done, DrawState, EpisodeKey, Place, Recovered, Try, is_reply};
pub use tail::Cut;
use tail::open_locked;
pub use writer::Durability;
use writer::{Lane, Writer};

pub(crate) use tail::{mend, sync_folder};

use crate::meter::{Booking, Books, Limits, Meter, Settlement};

/// File name of the attempts.
pub const ATTEMPTS: &str = "attempts.jsonl";
/// File name of the episodes.
pub const EPISODES: &str = "episodes.jsonl";

/// What the outcome line of an attempt says that was under way when its process ended.
pub const INTERRUPTED: &str = "the run ended before the outcome was known";

/// What an attempt asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The draw.
    pub draw: DrawId,
    /// Which try of it, from 1.
    pub attempt: u32,
    /// Its worst case in pico-dollars.
    pub reserve: u64,
    /// Digest of the request.
    pub request: Digest,
    /// Digest of the surface that it shows.
    pub surface: Digest,
}

/// The right to write a run, which one process has at a time. It lasts as long as any copy of it, and ends with the process
/// however that ends.
#[derive(Debug, Clone)]
pub struct Hold {
    _locked: Arc<File>,
}

impl Hold {
    /// Takes it without opening the journal.
    pub fn take(folder: &Path) -> Result<Self, JournalError> {
        Ok(Self { _locked: Arc::new(open_locked(&folder.join(ATTEMPTS))?) })
    }
}

/// The journal of one run, and its meter: they change together.
#[derive(Debug)]
pub struct Journal {
    meter: Mutex<Meter>,
    writer: Writer,
    hold: Hold,
}

impl Journal {
    /// Opens the journal in a run's folder, new or old. Locks it against other processes, mends torn last lines, reads what
    /// is there, and books attempts that were under way as fully spent.
    pub fn open(folder: &Path, limits: Limits, durability: Durability) -> Result<(Self, Recovered), JournalError> {
        let (attempts_path, episodes_path) = (folder.join(ATTEMPTS), folder.join(EPISODES));
        let mut attempts = open_locked(&attempts_path)?;
        let mut episodes = open_locked(&episodes_path)?;
        let cuts = [
            mend(&mut attempts, &attempts_path, is_attempt)?,
            mend(&mut episodes, &episodes_path, |line| serde_json::from_slice::<EpisodeRecord>(line).is_ok())?,
        ];
        let done = recover::episodes(&episodes_path)?;
        let (meter, mut recovered) = recover::attempts(&attempts_path, done, limits)?;
        recovered.cuts = cuts.into_iter().flatten().collect();
        // Both handles are one to the system, and so is their lock.
        let locked = attempts.try_clone().map_err(JournalError::io(&attempts_path, "holding the lock"))?;
        let attempts = Lane { file: attempts, path: attempts_path };
        let episodes = Lane { file: episodes, path: episodes_path };
        let writer = Writer::start(attempts, episodes, durability)?;
        let journal = Self { meter: Mutex::new(meter), writer, hold: Hold { _locked: Arc::new(locked) } };
        for &n in &recovered.interrupted {
            journal.close(unknown_outcome(n), Booking::Kept)?;
        }
        Ok((journal, recovered))
    }

    /// Reserves the worst case of an attempt, in the meter and on disk, and gives its number. The request may leave once
    /// this has returned. Where it is dropped before, the reservation stands until [`Self::close`] or the next opening.
    pub async fn admit(&self, asked: Asked) -> Result<u64, JournalError> {
        let (n, synced) = self.enqueue(asked)?;
        synced.await.map_err(|_| self.writer.broken())?;
        Ok(n)
    }

    /// Number, reservation and place in the file are taken under one lock, so that lines stand in the order of numbers.
    fn enqueue(&self, asked: Asked) -> Result<(u64, writer::Synced), JournalError> {
        let mut meter = self.lock()?;
        let n = meter.next();
        let Asked { draw, attempt, reserve, request, surface } = asked;
        let line = line(&Opened { n, draw, attempt, reserve, request, surface })?;
        meter.admit(n, reserve)?;
        Ok((n, self.writer.attempt_and_wait(&line)?))
    }

    /// Writes the outcome of an attempt. `billed` is filled in from the booking, and usage that was not booked is left out
    /// (the response still holds it), so that a reader of the line finds the same booking. A second outcome changes
    /// nothing. An overrun is written like any outcome, and nothing is admitted after it.
    pub fn close(&self, settled: Settled, booking: Booking) -> Result<Settlement, JournalError> {
        let n = settled.n;
        let mut meter = self.lock()?;
        let Some(reserved) = meter.reservation(n) else { return Ok(meter.close(n, booking)?) };
        let usage = match booking {
            Booking::Settled(_) => Some(settled.usage.ok_or(JournalError::Unstated { n })?),
            Booking::Kept | Booking::Suspect | Booking::Released => None,
        };
        let line = line(&Settled { billed: booking.amount(reserved), usage, ..settled })?;
        let settlement = meter.close(n, booking)?;
        self.writer.attempt(&line)?;
        Ok(settlement)
    }

    /// Writes an episode that has ended. Its attempts are on disk before it is.
    pub fn episode(&self, record: &EpisodeRecord) -> Result<(), JournalError> {
        self.writer.episode(&line(record)?)
    }

    /// The right to write this run, for work that goes on when the journal is closed.
    pub fn hold(&self) -> Hold {
        self.hold.clone()
    }

    /// Lets attempts leave again after the overruns on record; see [`Recovered::overruns`].
    pub fn accept_overruns(&self) -> Result<(), JournalError> {
        self.lock()?.accept_overruns();
        Ok(())
    }

    /// The books as they stand.
    pub fn books(&self) -> Result<Books, JournalError> {
        Ok(self.lock()?.books())
    }

    /// Writes and syncs what is queued, and gives the books.
    pub fn finish(self) -> Result<Books, JournalError> {
        let books = self.books()?;
        self.writer.close()?;
        Ok(books)
    }

    /// A panic while the meter was changing leaves books that nobody can trust: no money moves after it.
    fn lock(&self) -> Result<MutexGuard<'_, Meter>, JournalError> {
        self.meter
            .lock()
            .map_err(|_| JournalError::Broken("the meter's books were left half changed by a panic".to_owned()))
    }
}

/// One line of a file: compact JSON and a line feed.
fn line<T: Serialize>(value: &T) -> Result<Vec<u8>, JournalError> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// True where bytes without a line feed are a whole line of attempts all the same.
fn is_attempt(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_ok_and(|line| AttemptLine::parse(line).is_ok())
}

/// The outcome of an attempt that was under way when its process ended.
fn unknown_outcome(n: u64) -> Settled {
    Settled {
        n,
        status: None,
        request_id: None,
        model: None,
        usage: None,
        billed: 0,
        ms: None,
        error: Some(INTERRUPTED.to_owned()),
        response: None,
    }
}

#[cfg(test)]
mod tests;
