//! Unpacking a bundle that anybody may have made: nothing lands outside of the folder, nothing is followed, nothing grows
//! beyond its limit, and every byte is one that the list of contents announces.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader, Read, Write as _},
    path::Path,
    rc::Rc,
};

use bench_protocol::digest::Hasher;
use bench_results::record::{ATTEMPTS, EPISODES};
use flate2::bufread::GzDecoder;
use tar::{Archive, EntryType};

use super::{BundleError, CONTENTS, Contents, FileEntry, layout};

/// What every gzip archive begins with (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What a bundle may come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries.
    pub entries: u64,
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Unpacked bytes to packed ones. Logs shrink some thirty times; a bomb a thousand times.
    pub ratio: u64,
    /// Unpacked bytes below which the ratio is not looked at.
    pub ratio_from: u64,
    /// Bytes of the list of contents.
    pub contents: u64,
    /// Bytes of every other file but the two logs, which are read line by line. The rest is read whole.
    pub file: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 20_000, bytes: 16 << 30, ratio: 200, ratio_from: 64 << 20, contents: 8 << 20, file: 64 << 20 }
    }
}

/// Unpacks a bundle into an empty folder, list of contents included.
///
/// # Errors
/// Anything but a whole bundle within the limits. What was unpacked until then is left in the folder.
pub fn unpack(path: &Path, into: &Path, limits: &Limits) -> Result<Contents, BundleError> {
    let io = |source| BundleError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    let packed = file.metadata().map_err(io)?.len();
    let allowed = limits.bytes.min(packed.saturating_mul(limits.ratio).max(limits.ratio_from));
    let left = Rc::new(Cell::new(allowed));
    let mut unpacker = Unpacker { path, into, limits, allowed, left: Rc::clone(&left), seen: BTreeSet::new() };
    let mut file = BufReader::with_capacity(1 << 16, file);
    if !file.fill_buf().map_err(io)?.starts_with(&GZIP) {
        return Err(BundleError::NoArchive { path: path.to_owned() });
    }
    let capped = Capped { input: GzDecoder::new(file), left };
    let mut archive = Archive::new(capped);
    let contents = unpacker.entries(&mut archive)?;
    unpacker.end(archive.into_inner())?;
    Ok(contents)
}

struct Unpacker<'a> {
    path: &'a Path,
    into: &'a Path,
    limits: &'a Limits,
    allowed: u64,
    left: Rc<Cell<u64>>,
    seen: BTreeSet<String>,
}

impl Unpacker<'_> {
    fn entries<R: Read>(&mut self, archive: &mut Archive<R>) -> Result<Contents, BundleError> {
        let mut contents: Option<Contents> = None;
        let mut due: BTreeMap<String, FileEntry> = BTreeMap::new();
        // Raw: an entry that gives the next one a longer name is an entry of its own, and refused.
        let entries = archive.entries().map_err(|error| self.broken(&error))?.raw(true);
        for (count, entry) in (1_u64..).zip(entries) {
            let mut entry = entry.map_err(|error| self.broken(&error))?;
            if count > self.limits.entries {
                return Err(BundleError::TooMuch { limit: self.limits.entries, what: "entries" });
            }
            let full = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let kind = entry.header().entry_type();
            if kind != EntryType::Regular {
                return Err(BundleError::Kind { name: full.escape_debug().to_string(), kind: word(kind) });
            }
            let (top, name) =
                full.split_once('/').map(|(top, name)| (top.to_owned(), name.to_owned())).ok_or_else(|| {
                    BundleError::Name {
                        name: full.escape_debug().to_string(),
                        why: "it stands outside of the run's folder",
                    }
                })?;
            layout::of_record(&name)?;
            if !self.seen.insert(name.to_ascii_lowercase()) {
                return Err(BundleError::Twice { name });
            }
            match &contents {
                None if name == CONTENTS => {
                    let parsed = self.contents(&mut entry)?;
                    if parsed.run != top {
                        return Err(BundleError::Name { name: full, why: "its folder is not called like the run" });
                    }
                    self.sizes(&parsed)?;
                    due.clone_from(&parsed.files);
                    contents = Some(parsed);
                }
                None => return Err(self.wrong("bundle.json must come first")),
                Some(parsed) if parsed.run != top => {
                    return Err(BundleError::Name { name: full, why: "it stands outside of the run's folder" });
                }
                Some(_) => {
                    let listed = due.remove(&name).ok_or_else(|| BundleError::Unlisted { name: name.clone() })?;
                    self.file(&name, &listed, &mut entry)?;
                }
            }
        }
        if let Some((name, _)) = due.pop_first() {
            return Err(BundleError::Absent { name });
        }
        contents.ok_or_else(|| self.wrong("it holds no bundle.json"))
    }

    fn contents(&self, entry: &mut impl Read) -> Result<Contents, BundleError> {
        let mut bytes = Vec::new();
        let limit = self.limits.contents;
        entry.take(limit + 1).read_to_end(&mut bytes).map_err(|error| self.broken(&error))?;
        if bytes.len() as u64 > limit {
            return Err(BundleError::TooMuch { limit, what: "bytes of bundle.json" });
        }
        let contents = Contents::parse(&bytes)?;
        let path = self.into.join(CONTENTS);
        fs::write(&path, &bytes).map_err(|source| BundleError::Io { path, source })?;
        Ok(contents)
    }

    /// What is read whole must be small enough for that.
    fn sizes(&self, contents: &Contents) -> Result<(), BundleError> {
        let limit = self.limits.file;
        let is_log = |name: &str| [ATTEMPTS, EPISODES].contains(&name);
        match contents.files.iter().find(|(name, entry)| entry.bytes > limit && !is_log(name)) {
            Some((name, entry)) => Err(BundleError::Large { name: name.clone(), bytes: entry.bytes, limit }),
            None => Ok(()),
        }
    }

    /// Writes one file and holds it against what was announced.
    fn file(&self, name: &str, listed: &FileEntry, entry: &mut impl Read) -> Result<(), BundleError> {
        let path = self.into.join(name);
        let io = |source| BundleError::Io { path: path.clone(), source };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(io)?;
        }
        let mut out = OpenOptions::new().write(true).create_new(true).open(&path).map_err(io)?;
        let (mut hasher, mut bytes, mut buffer) = (Hasher::default(), 0_u64, vec![0; 1 << 16]);
        loop {
            let read = entry.read(&mut buffer).map_err(|error| self.broken(&error))?;
            if read == 0 {
                break;
            }
            bytes += read as u64;
            if bytes > listed.bytes {
                return Err(BundleError::Differs { name: name.to_owned() });
            }
            hasher.update(&buffer[..read]);
            out.write_all(&buffer[..read]).map_err(io)?;
        }
        let found = FileEntry { digest: hasher.finish(), bytes };
        if found == *listed { Ok(()) } else { Err(BundleError::Differs { name: name.to_owned() }) }
    }

    /// What follows the last entry: zeros up to the end of the archive, the checksum, and then nothing.
    fn end(&self, mut rest: Capped<GzDecoder<BufReader<File>>>) -> Result<(), BundleError> {
        let mut buffer = [0; 4096];
        loop {
            let read = rest.read(&mut buffer).map_err(|error| self.broken(&error))?;
            if read == 0 {
                break;
            }
            if buffer[..read].iter().any(|&byte| byte != 0) {
                return Err(self.wrong("something follows the end of the archive"));
            }
        }
        let mut packed = rest.input.into_inner();
        match packed.fill_buf() {
            Ok([]) => Ok(()),
            Ok(_) => Err(self.wrong("something follows the end of the compressed data")),
            Err(error) => Err(self.broken(&error)),
        }
    }

    fn broken(&self, error: &io::Error) -> BundleError {
        if self.left.get() == 0 {
            return BundleError::TooMuch { limit: self.allowed, what: "bytes unpacked" };
        }
        self.wrong(&error.to_string())
    }

    fn wrong(&self, what: &str) -> BundleError {
        BundleError::Archive { path: self.path.to_owned(), what: what.to_owned() }
    }
}

/// Gives so many bytes and then an error.
struct Capped<R> {
    input: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(io::Error::other("the limit of unpacked bytes is reached"));
        }
        let wanted = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.input.read(&mut buffer[..wanted])?;
        self.left.set(left - read as u64);
        Ok(read)
    }
}

fn word(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink => "a symbolic link",
        EntryType::Link => "a hard link",
        EntryType::Directory => "a folder",
        EntryType::Char | EntryType::Block | EntryType::Fifo => "a device",
        EntryType::GNULongName | EntryType::GNULongLink | EntryType::XHeader | EntryType::XGlobalHeader => {
            "an extension header"
        }
        _ => "something else",
    }
}

#[cfg(test)]
mod tests;
