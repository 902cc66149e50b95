//! The server's own books: what it billed for each paid request, on file before the reply leaves.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
};

use serde::Serialize;
use thiserror::Error;

use super::bill::Tokens;

/// What the client can know about the bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Client {
    /// A whole reply states the usage.
    Usage,
    /// The status is documented to be free.
    Free,
    /// Nothing: it may have been billed or not.
    Nothing,
}

/// One line of the file.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    /// Number of the request, from 1, counted over the life of the file.
    pub(super) n: u64,
    /// As in the response's header.
    pub(super) request_id: &'a str,
    /// `TASK/ARM/TURN`; absent where the request was refused before it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) draw: Option<String>,
    /// The model's exact id; absent where the request was refused before it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    /// HTTP status; absent where none is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    /// The fault that was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<String>,
    /// Tokens of the request as it was processed; absent where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Tokens>,
    /// What the client can know.
    pub(super) client: Client,
    /// What the usage that the reply states adds up to, in pico-dollars; absent where the client sees none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stated: Option<u64>,
    /// What is charged, in pico-dollars.
    pub(super) billed: u64,
}

/// Why there is no ledger.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The file cannot be opened, read or written.
    #[error("{}: {source}; name a file that can be written", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The last line has no end.
    #[error("{}: the last line is torn; move the file away, or cut the line off", path.display())]
    Torn {
        /// The file.
        path: PathBuf,
    },
}

/// The file, open for appending. Without one, requests are only numbered and summed up.
#[derive(Debug, Default)]
pub struct Ledger {
    file: Option<File>,
    lines: u64,
    billed: u64,
}

impl Ledger {
    /// Opens or creates the file; numbers continue behind its last line.
    ///
    /// # Errors
    /// A file that cannot be read or written, or whose last line is torn.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        let wrong = |source| LedgerError::Io { path: path.to_owned(), source };
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(wrong)?;
        let mut reader = BufReader::new(&file);
        let (mut lines, mut line) = (0, Vec::new());
        while reader.read_until(b'\n', &mut line).map_err(wrong)? > 0 {
            if line.last() != Some(&b'\n') {
                return Err(LedgerError::Torn { path: path.to_owned() });
            }
            lines += 1;
            line.clear();
        }
        Ok(Self { file: Some(file), lines, billed: 0 })
    }

    /// Numbers the next request.
    pub(super) fn number(&mut self) -> u64 {
        self.lines += 1;
        self.lines
    }

    /// Appends a line with a single write, past any buffer of this process: it outlives the process's death.
    pub(super) fn append(&mut self, line: &Line<'_>) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            let mut bytes = serde_json::to_vec(line)?;
            bytes.push(b'\n');
            file.write_all(&bytes)?;
        }
        self.billed = self.billed.saturating_add(line.billed);
        Ok(())
    }

    /// Pico-dollars charged since it was opened.
    pub(super) fn billed(&self) -> u64 {
        self.billed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: u64) -> Line<'static> {
        Line {
            n,
            request_id: "req_1",
            draw: None,
            model: None,
            status: Some(429),
            fault: None,
            usage: None,
            client: Client::Free,
            stated: None,
            billed: 5,
        }
    }

    #[test]
    fn numbers_go_on_behind_the_last_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for expected in 1..4 {
            let mut ledger = Ledger::open(file.path()).unwrap();
            let n = ledger.number();
            assert_eq!(n, expected);
            ledger.append(&line(n)).unwrap();
            assert_eq!(ledger.billed(), 5);
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(
            text.lines().next(),
            Some(r#"{"n":1,"request_id":"req_1","status":429,"client":"free","billed":5}"#)
        );
    }

    #[test]
    fn a_torn_line_is_refused_and_left_alone() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "{\"n\":1}\n{\"n\"").unwrap();
        assert!(matches!(Ledger::open(file.path()), Err(LedgerError::Torn { .. })));
        assert_eq!(std::fs::read(file.path()).unwrap().len(), 12);
    }
}
