//! Hostile archives, each refused by name.

use std::{collections::BTreeMap, io::Write as _};

use bench_protocol::digest::Digest;
use flate2::{Compression, write::GzEncoder};
use tar::{Builder, Header};

use super::*;
use crate::bundle::{Options, SCHEMA, pack};

/// An entry: path, kind, content.
type Raw<'a> = (&'a str, EntryType, &'a [u8]);

fn listing(files: &[(&str, &[u8])]) -> Vec<u8> {
    let contents = Contents {
        schema: SCHEMA.to_owned(),
        run: "r1".to_owned(),
        files: files
            .iter()
            .map(|(name, bytes)| {
                ((*name).to_owned(), FileEntry { digest: Digest::of(bytes), bytes: bytes.len() as u64 })
            })
            .collect(),
        withheld: BTreeMap::new(),
        consequences: Vec::new(),
    };
    serde_json::to_vec(&contents).unwrap()
}

/// An archive of these entries, whatever their names: the path's bytes are set past all checks of the library.
fn archive(entries: &[Raw<'_>]) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, kind, content) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        if matches!(kind, EntryType::Symlink | EntryType::Link) {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        tar.append(&header, *content).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

fn unpacked(bytes: &[u8], limits: &Limits) -> Result<Contents, BundleError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.tar.gz");
    fs::write(&path, bytes).unwrap();
    let into = folder.path().join("into");
    fs::create_dir(&into).unwrap();
    let outcome = unpack(&path, &into, limits);
    let beside: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside.len(), 2, "something landed outside: {beside:?}");
    outcome
}

fn refused(entries: &[Raw<'_>]) -> String {
    unpacked(&archive(entries), &Limits::default()).unwrap_err().to_string()
}

const FILE: EntryType = EntryType::Regular;

#[test]
fn a_plain_bundle_comes_back_as_it_went_in_and_is_the_same_bytes_each_time() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("inputs/locks")).unwrap();
    fs::write(folder.path().join("manifest.json"), b"{}").unwrap();
    fs::write(folder.path().join("inputs/locks/a.json"), b"[]").unwrap();
    fs::write(folder.path().join("stranger.txt"), b"not packed").unwrap();
    let extra = BTreeMap::from([("ledger.jsonl".to_owned(), b"line\n".to_vec())]);
    let make = |time| {
        let mut out = Vec::new();
        let contents = pack(folder.path(), "r1", &extra, Options { redact: false, time }, &mut out).unwrap();
        (out, contents)
    };
    let (bytes, contents) = make(0);
    assert_eq!(bytes, make(0).0);
    assert_ne!(bytes, make(1_700_000_000).0, "the time asked for is in it");
    assert_eq!(contents.files.keys().collect::<Vec<_>>(), ["inputs/locks/a.json", "ledger.jsonl", "manifest.json"]);
    assert_eq!(unpacked(&bytes, &Limits::default()).unwrap(), contents);
}

#[test]
fn what_quotes_a_catalog_is_withheld_with_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["inputs/catalogs/git.json", "inputs/protocol.toml", "attempts.jsonl", "certificate.json"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    let contents = pack(folder.path(), "r1", &BTreeMap::new(), Options { redact: true, time: 0 }, Vec::new()).unwrap();
    assert_eq!(contents.files.keys().collect::<Vec<_>>(), ["certificate.json", "inputs/protocol.toml"]);
    assert_eq!(contents.withheld["attempts.jsonl"].digest, Digest::of(b"attempts.jsonl"));
    assert!(contents.withheld.contains_key("inputs/catalogs/git.json") && !contents.consequences.is_empty());
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    let list = listing(&[]);
    for path in ["r1/../../x", "/etc/x", "../x", "r1//x", "x", "r1/inputs/../../../x", "r2/manifest.json", "r1/evil.sh"]
    {
        let why = refused(&[("r1/bundle.json", FILE, &list), (path, FILE, b"x")]);
        assert!(why.contains("path of a record"), "{path}: {why}");
    }
}

#[test]
fn links_folders_devices_and_longer_names_are_refused() {
    let list = listing(&[]);
    for (kind, word) in [
        (EntryType::Symlink, "symbolic link"),
        (EntryType::Link, "hard link"),
        (EntryType::Directory, "folder"),
        (EntryType::Char, "device"),
        (EntryType::Fifo, "device"),
        (EntryType::GNULongName, "extension header"),
        (EntryType::XHeader, "extension header"),
    ] {
        let why = refused(&[("r1/bundle.json", FILE, &list), ("r1/manifest.json", kind, b"")]);
        assert!(why.contains(word), "{kind:?}: {why}");
    }
}

#[test]
fn what_is_not_announced_changed_missing_or_double_is_refused() {
    let list = listing(&[("manifest.json", b"{}")]);
    let contents: Raw<'_> = ("r1/bundle.json", FILE, &list);
    let cases: [(&[Raw<'_>], &str); 7] = [
        (&[contents, ("r1/episodes.jsonl", FILE, b"{}")], "not in bundle.json"),
        (&[contents, ("r1/manifest.json", FILE, b"[]")], "not what bundle.json says"),
        (&[contents, ("r1/manifest.json", FILE, b"{} ")], "not what bundle.json says"),
        (&[contents], "not in the bundle"),
        (&[contents, ("r1/manifest.json", FILE, b"{}"), ("r1/manifest.json", FILE, b"{}")], "twice"),
        (&[("r1/manifest.json", FILE, b"{}"), contents], "must come first"),
        (&[], "no bundle.json"),
    ];
    for (entries, expected) in cases {
        let why = refused(entries);
        assert!(why.contains(expected), "{expected}: {why}");
    }
}

#[test]
fn bombs_end_at_their_limit() {
    let zeros = vec![0; 4 << 20];
    let list = listing(&[("attempts.jsonl", &zeros)]);
    let bytes = archive(&[("r1/bundle.json", FILE, &list), ("r1/attempts.jsonl", FILE, &zeros)]);
    assert!(unpacked(&bytes, &Limits::default()).is_ok(), "four megabytes are no bomb by themselves");
    for limits in
        [Limits { bytes: 1 << 20, ..Limits::default() }, Limits { ratio: 10, ratio_from: 1 << 20, ..Limits::default() }]
    {
        let why = unpacked(&bytes, &limits).unwrap_err().to_string();
        assert!(why.contains("1048576 bytes unpacked"), "{why}");
    }
    let why = unpacked(&bytes, &Limits { entries: 1, ..Limits::default() }).unwrap_err().to_string();
    assert!(why.contains("1 entries"), "{why}");
    let why = unpacked(&bytes, &Limits { contents: 10, ..Limits::default() }).unwrap_err().to_string();
    assert!(why.contains("10 bytes of bundle.json"), "{why}");
}

#[test]
fn only_the_logs_may_be_larger_than_what_is_read_whole() {
    let limits = Limits { file: 10, ..Limits::default() };
    let of = |name: &str| {
        let list = listing(&[(name, b"eleven byte")]);
        unpacked(&archive(&[("r1/bundle.json", FILE, &list), (&format!("r1/{name}"), FILE, b"eleven byte")]), &limits)
    };
    for log in ["attempts.jsonl", "episodes.jsonl"] {
        assert!(of(log).is_ok(), "{log}");
    }
    for whole in ["manifest.json", "certificate.json", "inputs/protocol.toml", "report.html"] {
        let why = of(whole).unwrap_err().to_string();
        assert!(why.contains("has 11 bytes") && why.contains("more than 10"), "{why}");
    }
}

#[test]
fn a_redacted_bundle_that_is_packed_again_withholds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["inputs/catalogs/git.json", "inputs/protocol.toml", "attempts.jsonl"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
    let mut out = Vec::new();
    let first = pack(folder.path(), "r1", &BTreeMap::new(), Options { redact: true, time: 0 }, &mut out).unwrap();
    let (archive, unpacked) = (folder.path().join("b.tar.gz"), tempfile::tempdir().unwrap());
    fs::write(&archive, &out).unwrap();
    unpack(&archive, unpacked.path(), &Limits::default()).unwrap();
    fs::write(unpacked.path().join("attestation.json"), b"{}").unwrap();
    let said = crate::bundle::check(unpacked.path(), &first).unwrap();
    assert!(said.contains("are withheld"), "a signature that was added is checked by itself: {said}");
    for redact in [true, false] {
        let again = pack(unpacked.path(), "r1", &BTreeMap::new(), Options { redact, time: 0 }, Vec::new()).unwrap();
        assert_eq!(again.withheld, first.withheld);
        assert_eq!(again.consequences, first.consequences);
        assert!(again.files.contains_key("attestation.json"));
    }
    fs::write(unpacked.path().join("attempts.jsonl"), b"brought back").unwrap();
    let both = pack(unpacked.path(), "r1", &BTreeMap::new(), Options::default(), Vec::new()).unwrap_err();
    assert!(matches!(both, BundleError::Both { .. }), "{both}");
}

#[test]
fn an_archive_that_is_cut_or_followed_by_something_is_refused() {
    let list = listing(&[("manifest.json", b"{}")]);
    let whole = archive(&[("r1/bundle.json", FILE, &list), ("r1/manifest.json", FILE, b"{}")]);
    assert!(unpacked(&whole, &Limits::default()).is_ok());
    for end in [0, 5, whole.len() / 2, whole.len() - 1] {
        assert!(unpacked(&whole[..end], &Limits::default()).is_err(), "cut at {end} of {}", whole.len());
    }
    let mut longer = whole.clone();
    longer.push(0);
    let why = unpacked(&longer, &Limits::default()).unwrap_err().to_string();
    assert!(why.contains("follows the end of the compressed data"), "{why}");
    let mut inside = GzEncoder::new(Vec::new(), Compression::fast());
    let mut plain = Vec::new();
    GzDecoder::new(whole.as_slice()).read_to_end(&mut plain).unwrap();
    inside.write_all(&plain).unwrap();
    inside.write_all(b"and a second archive").unwrap();
    let why = unpacked(&inside.finish().unwrap(), &Limits::default()).unwrap_err().to_string();
    assert!(why.contains("follows the end of the archive"), "{why}");
}

#[test]
fn no_bytes_whatever_bring_it_down() {
    proptest::proptest!(|(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..600))| {
        assert!(unpacked(&bytes, &Limits::default()).is_err());
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&bytes).unwrap();
        assert!(unpacked(&packed.finish().unwrap(), &Limits::default()).is_err());
    });
}
