//! Making a bundle.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Read, Write},
    path::Path,
};

use bench_protocol::digest::{Digest, Hasher};
use flate2::{Compression, GzBuilder, write::GzEncoder};
use tar::{Builder, EntryType, Header};

use super::{BundleError, CONTENTS, Contents, FileEntry, SCHEMA, layout};

/// How to make one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Withhold the catalogs and all that quotes them.
    pub redact: bool,
    /// Time of every entry, in seconds since 1970.
    pub time: u32,
}

/// What no longer follows where catalogs are withheld.
const CONSEQUENCES: [&str; 3] = [
    "tasks, surfaces, requests, responses, scores, books and the certificate itself cannot be recomputed",
    "what is left: lock and protocol, ledger, signatures, and that the certificate's own numbers add up",
    "server and tool names still stand in manifest and certificate",
];

/// Packs the record in a folder, and `extra` files beside it. Returns the list of contents.
///
/// # Errors
/// A file that cannot be read or written, changes meanwhile, or belongs to no record.
pub fn pack(
    folder: &Path,
    run: &str,
    extra: &BTreeMap<String, Vec<u8>>,
    options: Options,
    out: impl Write,
) -> Result<Contents, BundleError> {
    layout::plain(run)?;
    // What an earlier bundle withheld is still not here.
    let earlier = super::contents(folder)?.map(|earlier| earlier.withheld).unwrap_or_default();
    let mut contents = Contents {
        schema: SCHEMA.to_owned(),
        run: run.to_owned(),
        files: BTreeMap::new(),
        withheld: earlier,
        consequences: Vec::new(),
    };
    for name in layout::files(folder)? {
        let entry = entry(&folder.join(&name))?;
        if contents.withheld.contains_key(&name) {
            return Err(BundleError::Both { name });
        }
        let list =
            if options.redact && layout::quotes_catalogs(&name) { &mut contents.withheld } else { &mut contents.files };
        list.insert(name, entry);
    }
    for (name, bytes) in extra {
        layout::of_record(name)?;
        contents.files.insert(name.clone(), FileEntry { digest: Digest::of(bytes), bytes: bytes.len() as u64 });
    }
    if !contents.withheld.is_empty() {
        contents.consequences = CONSEQUENCES.map(str::to_owned).to_vec();
    }
    let archive = |source: io::Error| BundleError::Out { run: run.to_owned(), source };
    // An unknown operating system: the header says nothing of where it was made.
    let gzip = GzBuilder::new().mtime(options.time).operating_system(255).write(out, Compression::new(6));
    let mut tar = Builder::new(gzip);
    let mut list = serde_json::to_vec_pretty(&contents).map_err(BundleError::Contents)?;
    list.push(b'\n');
    append(&mut tar, run, CONTENTS, list.len() as u64, options.time, list.as_slice()).map_err(archive)?;
    for (name, entry) in &contents.files {
        if let Some(bytes) = extra.get(name) {
            append(&mut tar, run, name, entry.bytes, options.time, bytes.as_slice()).map_err(archive)?;
            continue;
        }
        let path = folder.join(name);
        let file = File::open(&path).map_err(|source| BundleError::Io { path, source })?;
        let mut hashed = Hashed { input: BufReader::new(file), hasher: Hasher::default() };
        append(&mut tar, run, name, entry.bytes, options.time, hashed.by_ref().take(entry.bytes)).map_err(archive)?;
        if hashed.hasher.finish() != entry.digest {
            return Err(BundleError::Changed { name: name.clone() });
        }
    }
    let mut out = tar.into_inner().and_then(GzEncoder::finish).map_err(archive)?;
    out.flush().map_err(archive)?;
    Ok(contents)
}

fn append<W: Write>(
    tar: &mut Builder<W>,
    run: &str,
    name: &str,
    bytes: u64,
    time: u32,
    data: impl Read,
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_path(format!("{run}/{name}"))?;
    header.set_entry_type(EntryType::Regular);
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(u64::from(time));
    header.set_cksum();
    tar.append(&header, data)
}

/// Digest and length of a file.
pub(crate) fn entry(path: &Path) -> Result<FileEntry, BundleError> {
    let io = |source| BundleError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io)?;
    let (mut hasher, mut bytes, mut buffer) = (Hasher::default(), 0, vec![0; 1 << 16]);
    loop {
        let read = file.read(&mut buffer).map_err(io)?;
        if read == 0 {
            return Ok(FileEntry { digest: hasher.finish(), bytes });
        }
        hasher.update(&buffer[..read]);
        bytes += read as u64;
    }
}

/// Takes the digest of what is read through it.
struct Hashed<R> {
    input: R,
    hasher: Hasher,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.hasher.update(&buffer[..read]);
        Ok(read)
    }
}
