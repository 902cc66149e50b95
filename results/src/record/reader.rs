//! Reading a record: one line at a time, so that memory does not grow with the run. Errors name file and line.

use std::{
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    marker::PhantomData,
    path::{Path, PathBuf},
};

use bench_protocol::digest::Digest;
use serde::Deserialize;

use super::{
    ATTEMPTS, AttemptLine, CERTIFICATE, EPISODES, EpisodeRecord, FormatVersion, INPUTS, MANIFEST, Manifest,
    RecordError, SURFACES, writer::inside,
};

/// Longest line that is read, in bytes: a response body is limited well below it.
pub const MAX_LINE: u64 = 64 << 20;

/// What to do with a last line that lacks its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// Leave it out, as opening the record for writing would.
    Cut,
    /// Report it as an error.
    Report,
}

/// A record on disk.
#[derive(Debug, Clone)]
pub struct Record {
    folder: PathBuf,
    manifest: Manifest,
}

#[derive(Deserialize)]
struct SchemaProbe {
    schema: u64,
}

impl Record {
    /// Opens a record: reads its manifest, whose format comes first.
    ///
    /// # Errors
    /// [`RecordError::Version`] for another format, before anything else is read.
    pub fn open(folder: &Path) -> Result<Self, RecordError> {
        let path = folder.join(MANIFEST);
        let bytes = read(&path)?;
        let json = |source| RecordError::Json { path: path.clone(), source };
        let probe: SchemaProbe = serde_json::from_slice(&bytes).map_err(json)?;
        if !FormatVersion::reads(probe.schema) {
            return Err(RecordError::Version { path, found: probe.schema, supported: FormatVersion::NUMBER });
        }
        let manifest = serde_json::from_slice(&bytes).map_err(json)?;
        Ok(Self { folder: folder.to_owned(), manifest })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Folder of the inputs.
    pub fn inputs(&self) -> PathBuf {
        self.folder.join(INPUTS)
    }

    /// Bytes of an input.
    pub fn input(&self, name: &str) -> Result<Vec<u8>, RecordError> {
        read(&self.inputs().join(inside(name)?))
    }

    /// The attempts, in order.
    pub fn attempts(&self, tail: Tail) -> Result<Lines<AttemptLine>, RecordError> {
        Lines::open(self.folder.join(ATTEMPTS), tail)
    }

    /// The episodes, in order.
    pub fn episodes(&self, tail: Tail) -> Result<Lines<EpisodeRecord>, RecordError> {
        Lines::open(self.folder.join(EPISODES), tail)
    }

    /// Bytes of a surface, checked against the digest.
    ///
    /// # Errors
    /// [`RecordError::Surface`] where they are others.
    pub fn surface(&self, digest: &Digest) -> Result<Vec<u8>, RecordError> {
        let path = surface_path(&self.folder, digest);
        let bytes = read(&path)?;
        let found = Digest::of(&bytes);
        if found == *digest { Ok(bytes) } else { Err(RecordError::Surface { path, found }) }
    }

    /// Digests of all kept surfaces, in order. Other files in the folder are an error: a record holds nothing unexplained.
    pub fn surfaces(&self) -> Result<Vec<String>, RecordError> {
        let folder = self.folder.join(SURFACES);
        let at = |source| RecordError::Io { path: folder.clone(), source };
        let mut all = Vec::new();
        for entry in fs::read_dir(&folder).map_err(at)? {
            let name = entry.map_err(at)?.file_name().to_string_lossy().into_owned();
            let Some(hex) = name.strip_suffix(".json") else {
                return Err(RecordError::Escapes { name: format!("{SURFACES}/{name}") });
            };
            all.push(format!("sha256:{hex}"));
        }
        all.sort();
        Ok(all)
    }

    /// Bytes of the certificate.
    pub fn certificate(&self) -> Result<Vec<u8>, RecordError> {
        read(&self.folder.join(CERTIFICATE))
    }
}

/// Where a record keeps the bytes of a surface.
pub fn surface_path(folder: &Path, digest: &Digest) -> PathBuf {
    folder.join(SURFACES).join(format!("{}.json", digest.hex()))
}

fn read(path: &Path) -> Result<Vec<u8>, RecordError> {
    fs::read(path).map_err(|source| RecordError::Io { path: path.to_owned(), source })
}

/// A kind of line.
pub trait Line: Sized {
    /// Reads one line.
    fn parse(line: &str) -> Result<Self, serde_json::Error>;
}

impl Line for AttemptLine {
    fn parse(line: &str) -> Result<Self, serde_json::Error> {
        Self::parse(line)
    }
}

impl Line for EpisodeRecord {
    fn parse(line: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line)
    }
}

/// The lines of a log, in order. After an error there are no more.
#[derive(Debug)]
pub struct Lines<T> {
    path: PathBuf,
    input: BufReader<File>,
    /// Opened once a line is read anew.
    second: Option<File>,
    tail: Tail,
    line: u64,
    offset: u64,
    buffer: Vec<u8>,
    ended: bool,
    kind: PhantomData<T>,
}

/// What is read at once where a single line is read anew, in bytes.
const SINGLE: usize = 1 << 12;

impl<T: Line> Lines<T> {
    /// The lines of the log at this path.
    ///
    /// # Errors
    /// [`RecordError::Io`] where it cannot be opened.
    pub fn open(path: PathBuf, tail: Tail) -> Result<Self, RecordError> {
        let file = File::open(&path).map_err(|source| RecordError::Io { path: path.clone(), source })?;
        Ok(Self {
            path,
            input: BufReader::with_capacity(1 << 16, file),
            second: None,
            tail,
            line: 0,
            offset: 0,
            buffer: Vec::new(),
            ended: false,
            kind: PhantomData,
        })
    }

    /// Number of the line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the line that was read last begins, in bytes from the start of the log.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The bytes of the line that was read last, its end included.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// Reads the line anew that begins at this offset; what comes next in order stays what it was.
    ///
    /// # Errors
    /// [`RecordError::Changed`] where no such line is there any more.
    pub fn again(&mut self, offset: u64) -> Result<T, RecordError> {
        let io = |source| RecordError::Io { path: self.path.clone(), source };
        let mut file = match self.second.take() {
            Some(file) => file,
            None => File::open(&self.path).map_err(io)?,
        };
        file.seek(SeekFrom::Start(offset)).map_err(io)?;
        let mut bytes = Vec::new();
        BufReader::with_capacity(SINGLE, &file).take(MAX_LINE).read_until(b'\n', &mut bytes).map_err(io)?;
        self.second = Some(file);
        let line = bytes.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
        line.and_then(|line| T::parse(line).ok()).ok_or_else(|| RecordError::Changed { path: self.path.clone() })
    }

    fn read_line(&mut self) -> io::Result<usize> {
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        self.input.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.buffer)
    }

    fn advance(&mut self) -> Result<Option<T>, RecordError> {
        let read = self.read_line().map_err(|source| RecordError::Io { path: self.path.clone(), source })?;
        if read == 0 {
            return Ok(None);
        }
        self.line += 1;
        let (path, line) = (|| self.path.clone(), self.line);
        if self.buffer.last() != Some(&b'\n') {
            if self.buffer.len() as u64 >= MAX_LINE {
                return Err(RecordError::TooLong { path: path(), line, limit: MAX_LINE });
            }
            return match self.tail {
                Tail::Cut => Ok(None),
                Tail::Report => Err(RecordError::Torn { path: path(), line }),
            };
        }
        let text = std::str::from_utf8(&self.buffer).map_err(|_| RecordError::NotUtf8 { path: path(), line })?;
        T::parse(text.trim_end_matches('\n')).map(Some).map_err(|source| RecordError::Line {
            path: path(),
            line,
            source,
        })
    }
}

impl<T: Line> Iterator for Lines<T> {
    type Item = Result<T, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::{RecordWriter, episode::tests::episode, manifest::tests::manifest};

    fn record(episodes: &[u8]) -> (tempfile::TempDir, Record) {
        let folder = tempfile::tempdir().unwrap();
        let writer = RecordWriter::create(folder.path()).unwrap();
        writer.manifest(&manifest()).unwrap();
        drop(writer);
        fs::write(folder.path().join(EPISODES), episodes).unwrap();
        let record = Record::open(folder.path()).unwrap();
        (folder, record)
    }

    fn line() -> String {
        serde_json::to_string(&episode("t0000000000000001", "raw", true)).unwrap() + "\n"
    }

    #[test]
    fn a_torn_last_line_is_cut_or_reported_as_asked() {
        let text = line() + &line()[..40];
        let (_folder, record) = record(text.as_bytes());
        assert_eq!(record.episodes(Tail::Cut).unwrap().collect::<Result<Vec<_>, _>>().unwrap().len(), 1);
        let error = record.episodes(Tail::Report).unwrap().find_map(Result::err).unwrap();
        assert!(matches!(error, RecordError::Torn { line: 2, .. }), "{error}");
    }

    #[test]
    fn a_malformed_line_in_the_middle_is_an_error_with_file_and_line_in_either_mode() {
        let text = line() + "{\"task\":1}\n" + &line();
        let (_folder, record) = record(text.as_bytes());
        for tail in [Tail::Cut, Tail::Report] {
            let mut lines = record.episodes(tail).unwrap();
            assert!(lines.next().unwrap().is_ok());
            let message = lines.next().unwrap().unwrap_err().to_string();
            assert!(message.contains("episodes.jsonl, line 2"), "{message}");
            assert!(lines.next().is_none(), "after an error there are no more");
        }
    }

    #[test]
    fn a_line_reads_anew_from_where_it_began_and_does_not_disturb_the_order() {
        let text = line() + &line() + &line();
        let (folder, record) = record(text.as_bytes());
        let mut lines = record.episodes(Tail::Report).unwrap();
        let mut offsets = Vec::new();
        while let Some(read) = lines.next() {
            offsets.push(lines.offset());
            assert_eq!(lines.bytes(), line().as_bytes());
            assert_eq!(lines.again(offsets[0]).unwrap(), read.unwrap());
        }
        assert_eq!(offsets, [0, line().len() as u64, 2 * line().len() as u64]);
        assert!(matches!(lines.again(1), Err(RecordError::Changed { .. })));
        fs::write(folder.path().join(EPISODES), "{}").unwrap();
        assert!(matches!(lines.again(0), Err(RecordError::Changed { .. })));
    }

    #[test]
    fn another_format_is_refused_before_anything_else_is_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(MANIFEST), r#"{"schema":7,"future":true}"#).unwrap();
        let error = Record::open(folder.path()).unwrap_err();
        assert!(matches!(error, RecordError::Version { found: 7, supported: 1, .. }), "{error}");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let (_folder, record) = record(&bytes);
            for tail in [Tail::Cut, Tail::Report] {
                for outcome in record.episodes(tail).unwrap() {
                    drop(outcome);
                }
                for outcome in Lines::<AttemptLine>::open(record.folder().join(EPISODES), tail).unwrap() {
                    drop(outcome);
                }
            }
        }
    }
}
