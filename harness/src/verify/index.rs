//! An index of a log of attempts whose order is that of a live run: by draw, with the books added up on the way.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use bench_protocol::digest::{Digest, Hasher};
use bench_results::record::{ATTEMPTS, AttemptLine, DrawId, Opened, Settled, reader::MAX_LINE};

use crate::meter::{Booking, Books, Limits, Meter, Overrun, Settlement};

/// An attempt: its opening, and where its outcome lies.
#[derive(Debug)]
pub(crate) struct Indexed {
    pub(crate) opened: Opened,
    offset: u64,
    bytes: u64,
}

/// A log of attempts by draw.
#[derive(Debug)]
pub(crate) struct Index {
    path: PathBuf,
    draws: BTreeMap<DrawId, Vec<Indexed>>,
    /// Digest of the log as recorded.
    pub(crate) digest: Digest,
    /// The books at its end.
    pub(crate) books: Books,
    /// Attempts that cost more than their reservation.
    pub(crate) overruns: Vec<Overrun>,
    /// Ids of the models that answered.
    pub(crate) models: BTreeSet<String>,
}

impl Index {
    /// Reads the log of a record. The error says which line cannot be and why.
    pub(crate) fn of(folder: &Path) -> Result<Self, String> {
        let path = folder.join(ATTEMPTS);
        let io = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut reader = BufReader::with_capacity(1 << 16, File::open(&path).map_err(io)?);
        let mut hasher = Hasher::default();
        let mut meter = Meter::new(Limits { budget: u64::MAX, per_attempt: None, attempts: None });
        let mut open: BTreeMap<u64, Opened> = BTreeMap::new();
        let mut draws: BTreeMap<DrawId, Vec<Indexed>> = BTreeMap::new();
        let (mut models, mut overruns) = (BTreeSet::new(), Vec::new());
        let (mut line, mut offset, mut bytes) = (0_u64, 0_u64, Vec::new());
        loop {
            bytes.clear();
            let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes).map_err(io)? as u64;
            if read == 0 {
                break;
            }
            line += 1;
            hasher.update(&bytes);
            let wrong = |why: String| format!("{}, line {line}: {why}", path.display());
            if read == MAX_LINE && bytes.last() != Some(&b'\n') {
                return Err(wrong(format!("longer than {MAX_LINE} bytes; no response is")));
            }
            let text = str::from_utf8(&bytes).map_err(|error| wrong(error.to_string()))?;
            let text = text.strip_suffix('\n').ok_or_else(|| wrong("torn, the line has no end".to_owned()))?;
            match AttemptLine::parse(text).map_err(|error| wrong(error.to_string()))? {
                AttemptLine::Opened(opened) => {
                    // An attempt behind an overrun says that the overrun was accepted.
                    meter.accept_overruns();
                    meter.admit(opened.n, opened.reserve).map_err(|refusal| wrong(refusal.to_string()))?;
                    open.insert(opened.n, opened);
                }
                AttemptLine::Settled(settled) => {
                    let Some(opened) = open.remove(&settled.n) else {
                        return Err(wrong(format!("attempt {} is closed twice, or was never opened", settled.n)));
                    };
                    let booking = Booking::of_record(&opened, &settled).map_err(|why| wrong(why.to_owned()))?;
                    let closed = meter.close(settled.n, booking).map_err(|error| wrong(error.to_string()))?;
                    if let Settlement::Overrun(overrun) = closed {
                        overruns.push(overrun);
                    }
                    models.extend(settled.model);
                    draws.entry(opened.draw.clone()).or_default().push(Indexed { opened, offset, bytes: read });
                }
            }
            offset += read;
        }
        if let Some(n) = open.keys().next() {
            return Err(format!("{}: attempt {n} has no outcome", path.display()));
        }
        for tries in draws.values_mut() {
            tries.sort_by_key(|one| one.opened.n);
        }
        Ok(Self { path, draws, digest: hasher.finish(), books: meter.books(), overruns, models })
    }

    /// The books of a record, as far as its log reads: what is under way stands as reserved.
    pub(crate) fn books_of(folder: &Path) -> Books {
        let mut meter = Meter::new(Limits { budget: u64::MAX, per_attempt: None, attempts: None });
        let Ok(file) = File::open(folder.join(ATTEMPTS)) else { return meter.books() };
        let mut open = BTreeMap::new();
        for line in BufReader::with_capacity(1 << 16, file).lines() {
            meter.accept_overruns();
            let Ok(Ok(line)) = line.map(|line| AttemptLine::parse(&line)) else { break };
            match line {
                AttemptLine::Opened(opened) if meter.admit(opened.n, opened.reserve).is_ok() => {
                    open.insert(opened.n, opened);
                }
                AttemptLine::Settled(settled) => {
                    let Some(opened) = open.remove(&settled.n) else { break };
                    let Ok(booking) = Booking::of_record(&opened, &settled) else { break };
                    let _ = meter.close(settled.n, booking);
                }
                AttemptLine::Opened(_) => break,
            }
        }
        meter.books()
    }

    /// The tries of a draw in their order; empty where it was never asked for.
    pub(crate) fn tries(&self, draw: &DrawId) -> &[Indexed] {
        self.draws.get(draw).map_or(&[], Vec::as_slice)
    }

    /// Draws in all.
    pub(crate) fn draws(&self) -> usize {
        self.draws.len()
    }

    /// The outcome of a try, read from disk.
    pub(crate) fn outcome(&self, one: &Indexed) -> Result<Settled, String> {
        let mut line = String::new();
        let read = || -> std::io::Result<String> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(one.offset))?;
            file.take(one.bytes).read_to_string(&mut line)?;
            Ok(line)
        };
        let line = read().map_err(|error| format!("{}: {error}", self.path.display()))?;
        match AttemptLine::parse(&line) {
            Ok(AttemptLine::Settled(settled)) => Ok(settled),
            Ok(AttemptLine::Opened(_)) | Err(_) => {
                Err(format!("{}: it changed while it was read", self.path.display()))
            }
        }
    }
}
