//! Writing the record of an offline run: two append-only logs behind one writer, everything else as whole files.

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write as _},
    path::{Component, Path, PathBuf},
};

use bench_protocol::digest::Digest;
use serde::Serialize;

use super::{
    ATTEMPTS, CERTIFICATE, Durability, EPISODES, EpisodeRecord, INPUTS, MANIFEST, Manifest, Opened, RecordError,
    SURFACES, Settled, reader::surface_path, whole::write_whole,
};

const BUFFER: usize = 1 << 18;

/// An append-only log of JSON lines.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    out: BufWriter<File>,
    line: Vec<u8>,
}

impl Log {
    fn create(path: PathBuf) -> Result<Self, RecordError> {
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = file.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => RecordError::Exists { path: path.clone() },
            _ => RecordError::Io { path: path.clone(), source },
        })?;
        // Until the record is whole, so that whoever would replace it finds out. The file is new, so nobody else has a lock
        // on it; where the file system knows none, the run goes on without.
        let _ = file.try_lock();
        Ok(Self { path, out: BufWriter::with_capacity(BUFFER, file), line: Vec::new() })
    }

    fn append<T: Serialize>(&mut self, value: &T) -> Result<(), RecordError> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, value)
            .map_err(|source| RecordError::Encode { path: self.path.clone(), source })?;
        self.line.push(b'\n');
        self.out.write_all(&self.line).map_err(|source| RecordError::Io { path: self.path.clone(), source })
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        self.out.flush().map_err(|source| RecordError::Io { path: self.path.clone(), source })
    }
}

/// The one writer of an offline run's record. Nothing is synced: such a run costs nothing and can be had again. The logs
/// of a live run are its journal, which the harness writes.
#[derive(Debug)]
pub struct RecordWriter {
    folder: PathBuf,
    attempts: Log,
    episodes: Log,
    surfaces: BTreeSet<Digest>,
}

impl RecordWriter {
    /// Starts a record in a folder that is made where it is not there and holds no record yet.
    ///
    /// # Errors
    /// [`RecordError::Exists`] where there is one, or the folder can't be written.
    pub fn create(folder: &Path) -> Result<Self, RecordError> {
        make(&folder.join(SURFACES))?;
        make(&folder.join(INPUTS))?;
        Ok(Self {
            folder: folder.to_owned(),
            attempts: Log::create(folder.join(ATTEMPTS))?,
            episodes: Log::create(folder.join(EPISODES))?,
            surfaces: BTreeSet::new(),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Appends an attempt that is about to leave.
    pub fn open_attempt(&mut self, line: &Opened) -> Result<(), RecordError> {
        self.attempts.append(line)
    }

    /// Appends the outcome of an attempt.
    pub fn settle(&mut self, line: &Settled) -> Result<(), RecordError> {
        self.attempts.append(line)
    }

    /// Appends an episode that has ended.
    pub fn episode(&mut self, line: &EpisodeRecord) -> Result<(), RecordError> {
        self.episodes.append(line)
    }

    /// Keeps a surface's bytes once, under their digest.
    pub fn surface(&mut self, digest: &Digest, bytes: &[u8]) -> Result<(), RecordError> {
        if self.surfaces.contains(digest) {
            return Ok(());
        }
        let path = surface_path(&self.folder, digest);
        if !path.exists() {
            write_whole(&path, bytes, Durability::None)?;
        }
        self.surfaces.insert(digest.clone());
        Ok(())
    }

    /// Whether a surface is kept already, so that its bytes need not be built.
    pub fn has_surface(&self, digest: &Digest) -> bool {
        self.surfaces.contains(digest)
    }

    /// Keeps an input under `inputs/`; `name` is a plain relative path.
    ///
    /// # Errors
    /// [`RecordError::Escapes`] where the name leads elsewhere.
    pub fn input(&self, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
        let path = self.folder.join(INPUTS).join(inside(name)?);
        if let Some(parent) = path.parent() {
            make(parent)?;
        }
        write_whole(&path, bytes, Durability::None)
    }

    /// Writes the manifest, replacing an earlier one.
    pub fn manifest(&self, manifest: &Manifest) -> Result<(), RecordError> {
        let path = self.folder.join(MANIFEST);
        let mut bytes =
            serde_json::to_vec_pretty(manifest).map_err(|source| RecordError::Encode { path: path.clone(), source })?;
        bytes.push(b'\n');
        write_whole(&path, &bytes, Durability::None)
    }

    /// Writes the certificate's bytes, replacing an earlier one.
    pub fn certificate(&self, bytes: &[u8]) -> Result<(), RecordError> {
        write_whole(&self.folder.join(CERTIFICATE), bytes, Durability::None)
    }

    /// Hands all lines to the operating system.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        self.attempts.flush()?;
        self.episodes.flush()
    }
}

impl Drop for RecordWriter {
    /// What was appended reaches the file also where a run ends early; errors were reported by an explicit flush.
    fn drop(&mut self) {
        let _best_effort = self.flush();
    }
}

fn make(folder: &Path) -> Result<(), RecordError> {
    fs::create_dir_all(folder).map_err(|source| RecordError::Io { path: folder.to_owned(), source })
}

/// A name as a path that stays inside: no root, no `..`, not empty.
pub(crate) fn inside(name: &str) -> Result<&Path, RecordError> {
    let path = Path::new(name);
    let plain = !name.is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)));
    if plain { Ok(path) } else { Err(RecordError::Escapes { name: name.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Record, Tail, episode::tests::episode, manifest::tests::manifest};

    fn written(lines: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = RecordWriter::create(folder.path()).unwrap();
        writer.manifest(&manifest()).unwrap();
        for _ in 0..lines {
            writer.episode(&episode("t0000000000000001", "raw", true)).unwrap();
        }
        folder
    }

    #[test]
    fn what_was_written_reads_back() {
        let folder = written(3);
        let record = Record::open(folder.path()).unwrap();
        assert_eq!(record.manifest(), &manifest());
        let episodes: Vec<_> = record.episodes(Tail::Report).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(episodes, vec![episode("t0000000000000001", "raw", true); 3]);
    }

    #[test]
    fn a_second_record_in_one_folder_is_refused() {
        let folder = written(1);
        assert!(matches!(RecordWriter::create(folder.path()), Err(RecordError::Exists { .. })));
    }

    #[test]
    fn a_surface_is_kept_once_and_checked_on_reading() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = RecordWriter::create(folder.path()).unwrap();
        writer.manifest(&manifest()).unwrap();
        let digest = Digest::of(b"{}");
        writer.surface(&digest, b"{}").unwrap();
        writer.surface(&digest, b"{}").unwrap();
        let record = Record::open(folder.path()).unwrap();
        assert_eq!(record.surface(&digest).unwrap(), b"{}");
        fs::write(folder.path().join(SURFACES).join(format!("{}.json", digest.hex())), b"[]").unwrap();
        assert!(matches!(record.surface(&digest), Err(RecordError::Surface { .. })));
    }

    #[test]
    fn names_that_leave_the_record_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let writer = RecordWriter::create(folder.path()).unwrap();
        for name in ["../x", "/x", "a/../../x", "", "./x"] {
            assert!(matches!(writer.input(name, b""), Err(RecordError::Escapes { .. })), "{name}");
        }
        writer.input("catalogs/git.json", b"{}").unwrap();
    }
}
