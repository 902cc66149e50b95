//! Opening an append-only file of lines that a crash may have left with half a line.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
};

use super::JournalError;

/// A torn last line that was moved out of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The file it was cut from.
    pub file: PathBuf,
    /// Where its bytes are now.
    pub kept_in: PathBuf,
    /// How many there are.
    pub bytes: u64,
}

/// Opens a file for appending, made if it is not there, with an exclusive lock that the system gives back when the process
/// ends, however it ends.
pub(crate) fn open_locked(path: &Path) -> Result<File, JournalError> {
    let existed = path.exists();
    let file = OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .open(path)
        .map_err(JournalError::io(path, "opening"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(JournalError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => return Err(JournalError::io(path, "locking")(source)),
    }
    if !existed {
        sync_folder(path)?;
    }
    Ok(file)
}

/// Makes the last line whole: one that only lacks its line feed gets it, one that is torn is first copied to a file of its
/// own and then cut. `whole` says whether bytes are a complete line. No byte is lost at any moment.
pub(crate) fn mend(file: &mut File, path: &Path, whole: impl Fn(&[u8]) -> bool) -> Result<Option<Cut>, JournalError> {
    let length = file.metadata().map_err(JournalError::io(path, "reading"))?.len();
    let start = last_line_start(file, length).map_err(JournalError::io(path, "reading"))?;
    if start == length {
        return Ok(None);
    }
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(start))
        .and_then(|_| file.read_to_end(&mut tail))
        .map_err(JournalError::io(path, "reading"))?;
    if whole(&tail) {
        file.write_all(b"\n")
            .and_then(|()| file.sync_all())
            .map_err(JournalError::io(path, "mending the last line"))?;
        return Ok(None);
    }
    let kept_in = set_aside(path, start, &tail)?;
    file.set_len(start).and_then(|()| file.sync_all()).map_err(JournalError::io(path, "cutting the torn last line"))?;
    Ok(Some(Cut { file: path.to_owned(), kept_in, bytes: length - start }))
}

/// Where the bytes after the last line feed start.
fn last_line_start(file: &mut File, length: u64) -> std::io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let mut end = length;
    let mut buffer = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        buffer.clear();
        file.seek(SeekFrom::Start(start))?;
        std::io::Read::by_ref(file).take(end - start).read_to_end(&mut buffer)?;
        if let Some(at) = buffer.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// Copies torn bytes to a file beside their own, on disk before this returns. A copy from an earlier, interrupted mending
/// is used again; one with other bytes is left alone.
fn set_aside(path: &Path, start: u64, tail: &[u8]) -> Result<PathBuf, JournalError> {
    let mut copies = 1_u32;
    let target = loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".torn-{start}"));
        if copies > 1 {
            name.push(format!("-{copies}"));
        }
        let target = PathBuf::from(name);
        match fs::read(&target) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => break target,
            Ok(bytes) if tail.starts_with(&bytes) => break target,
            Ok(_) => copies += 1,
            Err(error) => return Err(JournalError::io(target, "reading")(error)),
        }
    };
    let write = || {
        let mut copy = File::create(&target)?;
        copy.write_all(tail)?;
        copy.sync_all()
    };
    write().map_err(JournalError::io(&target, "setting a torn line aside"))?;
    sync_folder(&target)?;
    Ok(target)
}

/// Makes a new name in a folder survive a power cut.
pub(crate) fn sync_folder(path: &Path) -> Result<(), JournalError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(JournalError::io(folder, "syncing the folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(line: &[u8]) -> bool {
        line.ends_with(b"}")
    }

    fn mended(content: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, content).unwrap();
        let mut file = open_locked(&path).unwrap();
        let cut = mend(&mut file, &path, whole).unwrap();
        (fs::read(&path).unwrap(), cut.map(|cut| fs::read(cut.kept_in).unwrap()))
    }

    #[test]
    fn only_a_torn_last_line_is_cut_and_its_bytes_are_kept() {
        assert_eq!(mended(b""), (b"".to_vec(), None));
        assert_eq!(mended(b"{1}\n{2}\n"), (b"{1}\n{2}\n".to_vec(), None));
        assert_eq!(mended(b"{1}\n{2"), (b"{1}\n".to_vec(), Some(b"{2".to_vec())));
        assert_eq!(mended(b"{1"), (b"".to_vec(), Some(b"{1".to_vec())));
        assert_eq!(mended(b"{1}\n{2}"), (b"{1}\n{2}\n".to_vec(), None));
        let long = [b"{1}\n".to_vec(), vec![b'x'; 200_000]].concat();
        assert_eq!(mended(&long), (b"{1}\n".to_vec(), Some(vec![b'x'; 200_000])));
    }

    #[test]
    fn a_second_torn_line_at_the_same_place_does_not_replace_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let mut kept = Vec::new();
        for torn in ["{first", "{other"] {
            fs::write(&path, torn).unwrap();
            let mut file = open_locked(&path).unwrap();
            kept.push(mend(&mut file, &path, whole).unwrap().unwrap().kept_in);
        }
        assert_eq!(fs::read(&kept[0]).unwrap(), b"{first");
        assert_eq!(fs::read(&kept[1]).unwrap(), b"{other");
    }

    #[test]
    fn two_writers_cannot_have_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let first = open_locked(&path).unwrap();
        assert!(matches!(open_locked(&path), Err(JournalError::Locked { .. })));
        drop(first);
        assert!(open_locked(&path).is_ok());
    }
}
