//! Whole files: the old one or the new one, never half of either.

use std::{
    borrow::Cow,
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::Path,
};

use super::RecordError;

/// Whether what was written must survive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Left to the operating system: a mock can be run again.
    None,
    /// Synced to disk where asked and for every whole file: money depends on it.
    Synced,
}

/// How the name of a file begins that is being written and has not taken its place yet.
pub const UNFINISHED: &str = ".writing-";

const BUFFER: usize = 1 << 16;

/// Writes a whole file: beside its place, synced where durability asks for it, then renamed.
///
/// # Errors
///
/// [`RecordError::Io`] with the path that was asked for.
pub fn write_whole(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), RecordError> {
    stream_whole(path, durability, |out| out.write_all(bytes))
        .map_err(|source| RecordError::Io { path: path.to_owned(), source })
}

/// As [`write_whole`], for content that is made while it is written. What `fill` returns is returned; where it fails,
/// nothing has taken the file's place.
///
/// A link is followed, so it stays a link. A place that is no regular file (a device, a pipe, a terminal) is written to
/// as it is: a rename would put a file where the device was.
///
/// # Errors
///
/// Those of `fill`, and those of the file system.
pub fn stream_whole<T, E: From<io::Error>>(
    path: &Path,
    durability: Durability,
    fill: impl FnOnce(&mut dyn Write) -> Result<T, E>,
) -> Result<T, E> {
    if fs::metadata(path).is_ok_and(|place| !place.is_file() && !place.is_dir()) {
        let mut out = BufWriter::with_capacity(BUFFER, OpenOptions::new().write(true).open(path)?);
        let filled = fill(&mut out)?;
        out.flush()?;
        return Ok(filled);
    }
    let path = fs::canonicalize(path).map_or(Cow::Borrowed(path), Cow::Owned);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    let mut out = BufWriter::with_capacity(BUFFER, file);
    let filled = fill(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if durability == Durability::Synced {
        file.as_file().sync_all()?;
    }
    // Temporary files are private; a record is not.
    set_readable(file.as_file())?;
    file.persist(&path).map_err(|error| error.error)?;
    if durability == Durability::Synced {
        File::open(folder)?.sync_all()?;
    }
    Ok(filled)
}

fn set_readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::FileTypeExt as _, fs::symlink};

    use super::*;

    #[test]
    fn a_failure_half_way_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        fs::write(&path, "old").unwrap();
        let failed = stream_whole(&path, Durability::Synced, |out| {
            out.write_all(b"half")?;
            Err::<(), _>(io::Error::other("no more"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "no more");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_a_link_and_its_file_gets_the_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        write_whole(&link, b"new", Durability::None).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn what_is_no_regular_file_is_written_to_and_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        std::thread::scope(|scope| {
            let read = scope.spawn(|| fs::read(&pipe).unwrap());
            write_whole(&pipe, b"bytes", Durability::Synced).unwrap();
            assert_eq!(read.join().unwrap(), b"bytes");
        });
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }
}
