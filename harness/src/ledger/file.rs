//! The ledger's file: one canonical line per entry, on disk before anything rests on it.

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

use super::{Chain, Entry, Event, LedgerError, RecordDigests, Run};
use crate::journal::{JournalError, mend, sync_folder};

/// A ledger file, which need not exist yet. It is locked only while an entry is added: runs of different models may be
/// under way at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    path: PathBuf,
}

impl Ledger {
    /// The ledger at this path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Reads and verifies the chain. A file that is not there is an empty ledger; a torn last line is an entry that was
    /// never acknowledged, and is not part of it.
    pub fn read(&self) -> Result<Chain, LedgerError> {
        match fs::read(&self.path) {
            Ok(bytes) => parse(&bytes, &self.path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Chain::default()),
            Err(error) => Err(JournalError::io(&self.path, "reading")(error).into()),
        }
    }

    /// As [`Self::read`], of a copy: it was written whole, so that one that is not there, or whose end is torn, is damaged.
    pub fn read_copy(&self) -> Result<Chain, LedgerError> {
        let bytes = fs::read(&self.path).map_err(JournalError::io(&self.path, "reading"))?;
        if bytes.last().is_some_and(|&last| last != b'\n') {
            let line = bytes.split(|&byte| byte == b'\n').count() as u64;
            let why = "its end is torn, the last line has no end".to_owned();
            return Err(LedgerError::Line { path: self.path.clone(), line, why });
        }
        parse(&bytes, &self.path)
    }

    /// Adds an entry, on disk when this returns. Rules are checked and the entry is written under one lock, so that of two
    /// runs that start at once only one can be the first look.
    pub fn append(&self, at: &str, event: Event, run: &Run) -> Result<Entry, LedgerError> {
        self.add(at, event, run, None)
    }

    /// As [`Self::append`], for a run that is complete, with the digests of its record.
    pub fn finish(&self, at: &str, run: &Run, record: &RecordDigests) -> Result<Entry, LedgerError> {
        self.add(at, Event::Finished, run, Some(record))
    }

    fn add(&self, at: &str, event: Event, run: &Run, record: Option<&RecordDigests>) -> Result<Entry, LedgerError> {
        let mut file = self.open_and_lock()?;
        mend(&mut file, &self.path, is_entry)?;
        let chain = self.read()?;
        let entry = chain.next(at, event, run, record)?;
        let mut line = entry.canonical().map_err(JournalError::from)?;
        line.push(b'\n');
        file.write_all(&line)
            .and_then(|()| file.sync_all())
            .map_err(JournalError::io(&self.path, "adding an entry"))?;
        sync_folder(&self.path)?;
        Ok(entry)
    }

    fn open_and_lock(&self) -> Result<File, JournalError> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(JournalError::io(folder, "making the folder of the ledger"))?;
        }
        let file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(&self.path)
            .map_err(JournalError::io(&self.path, "opening"))?;
        // Held for one line: whoever has it is soon done.
        file.lock().map_err(JournalError::io(&self.path, "locking"))?;
        Ok(file)
    }
}

fn is_entry(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Entry>(bytes)
        .is_ok_and(|entry| entry.canonical().is_ok_and(|canonical| canonical == bytes))
}

fn parse(bytes: &[u8], path: &Path) -> Result<Chain, LedgerError> {
    let mut chain = Chain::default();
    for (line, bytes) in (1_u64..).zip(bytes.split_inclusive(|&byte| byte == b'\n')) {
        let wrong = |why: String| LedgerError::Line { path: path.to_owned(), line, why };
        let whole = bytes.strip_suffix(b"\n");
        let bytes = whole.unwrap_or(bytes);
        if whole.is_none() && !is_entry(bytes) {
            break;
        }
        let entry: Entry = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        let canonical = entry.canonical().map_err(|error| wrong(error.to_string()))?;
        if canonical != bytes {
            return Err(wrong("the bytes are not those that were hashed".to_owned()));
        }
        chain.push(entry).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(chain)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use bench_protocol::digest::Digest;

    use super::*;
    use crate::ledger::{ChainError, Kind, RunId};

    const AT: &str = "2026-11-29T12:00:00Z";

    fn run(id: &str, kind: Kind) -> Run {
        Run {
            id: RunId::parse(id).unwrap(),
            lock: Digest::of(b"lock"),
            tasks: None,
            model: "m".to_owned(),
            family: "levels".to_owned(),
            kind,
            arms: vec!["raw".to_owned()],
            budget: u64::MAX,
            prices: Digest::of(b"prices"),
        }
    }

    #[test]
    fn what_was_appended_is_read_back_and_an_absent_file_is_an_empty_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::at(folder.path().join("results/ledger.jsonl"));
        assert_eq!(ledger.read().unwrap(), Chain::default());
        let undertaking = run("r00000000", Kind::Confirmatory);
        let started = ledger.append(AT, Event::Started, &undertaking).unwrap();
        let finished = ledger.append(AT, Event::Finished, &undertaking).unwrap();
        let chain = ledger.read().unwrap();
        assert_eq!(chain.entries(), [started, finished.clone()]);
        assert_eq!(chain.head(), Some(&finished.digest().unwrap()));
        assert_eq!(chain.entries()[0].budget, u64::MAX);
    }

    #[test]
    fn of_many_first_looks_at_once_exactly_one_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::at(folder.path().join("ledger.jsonl"));
        let taken = thread::scope(|scope| {
            let racers: Vec<_> = (0..8)
                .map(|racer| {
                    let ledger = ledger.clone();
                    scope.spawn(move || {
                        ledger.append(AT, Event::Started, &run(&format!("r0000000{racer}"), Kind::Confirmatory))
                    })
                })
                .collect();
            racers.into_iter().filter_map(|racer| racer.join().unwrap().ok()).count()
        });
        assert_eq!(taken, 1);
        assert_eq!(ledger.read().unwrap().entries().len(), 1);
    }

    #[test]
    fn a_refused_entry_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        let ledger = Ledger::at(&path);
        ledger.append(AT, Event::Started, &run("r00000000", Kind::Confirmatory)).unwrap();
        let before = fs::read(&path).unwrap();
        let refused = ledger.append(AT, Event::Started, &run("r11111111", Kind::Confirmatory));
        assert!(matches!(refused, Err(LedgerError::Refused(ChainError::SecondLook { .. }))));
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_torn_last_line_is_no_entry_and_the_next_append_mends_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        let ledger = Ledger::at(&path);
        let undertaking = run("r00000000", Kind::Exploratory);
        ledger.append(AT, Event::Started, &undertaking).unwrap();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, [whole.as_slice(), br#"{"arms":["ra"#].concat()).unwrap();
        assert_eq!(ledger.read().unwrap().entries().len(), 1);
        ledger.append(AT, Event::Finished, &undertaking).unwrap();
        assert_eq!(ledger.read().unwrap().entries().len(), 2);
    }

    #[test]
    fn a_copy_may_be_neither_torn_nor_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        let ledger = Ledger::at(&path);
        assert!(matches!(ledger.read_copy(), Err(LedgerError::File(_))));
        ledger.append(AT, Event::Started, &run("r00000000", Kind::Exploratory)).unwrap();
        assert_eq!(ledger.read_copy().unwrap(), ledger.read().unwrap());
        let whole = fs::read(&path).unwrap();
        for torn in [whole.strip_suffix(b"\n").unwrap().to_vec(), [whole.as_slice(), b"{"].concat()] {
            fs::write(&path, torn).unwrap();
            let error = ledger.read_copy().unwrap_err().to_string();
            assert!(error.contains("torn"), "{error}");
        }
    }

    #[test]
    fn a_changed_ledger_is_refused_with_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        let ledger = Ledger::at(&path);
        let undertaking = run("r00000000", Kind::Exploratory);
        for event in [Event::Started, Event::Stopped, Event::Finished] {
            ledger.append(AT, event, &undertaking).unwrap();
        }
        let good = fs::read_to_string(&path).unwrap();
        for (from, to, line) in [
            ("\"stopped\"", "\"abandoned\"", 3),
            ("{\"arms\"", "{ \"arms\"", 1),
            ("\"n\":1", "\"n\":2", 2),
            ("\"event\":\"stopped\"", "\"evnt\":\"stopped\"", 2),
        ] {
            fs::write(&path, good.replacen(from, to, 1)).unwrap();
            let error = ledger.read().unwrap_err().to_string();
            assert!(error.contains(&format!("ledger.jsonl: line {line}: ")), "{error}");
        }
    }
}
