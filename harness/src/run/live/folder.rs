//! The folder of a live run's record: everything in it but the two logs, which are the journal's.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use bench_protocol::prices::PriceTable;
use bench_results::record::{
    CERTIFICATE, Durability, EPISODES, EpisodeRecord, INPUTS, MANIFEST, Manifest, SURFACES,
    whole::{UNFINISHED, stream_whole, write_whole},
};

use super::terms::{PRICES, SCHEMA, TERMS, Terms};
use crate::{inputs::Inputs, models::SCRIPTED, wire::Wire};

/// Name of the ledger as it was when the run started, below `inputs/`.
pub const LEDGER: &str = "ledger.jsonl";

/// Makes the folder of a new run with its inputs, its terms and its first manifest, all on disk.
pub fn create(
    folder: &Path,
    inputs: &Inputs,
    prices: &PriceTable,
    terms: &Terms,
    manifest: &Manifest,
) -> anyhow::Result<()> {
    anyhow::ensure!(!folder.exists(), "{}: there already is a record", folder.display());
    make(&folder.join(SURFACES))?;
    let mut files = inputs.files()?;
    files.insert(PRICES.to_owned(), prices.to_toml()?.into_bytes().into());
    files.insert(TERMS.to_owned(), with_line_end(serde_json::to_vec_pretty(terms)?).into());
    for (name, bytes) in files {
        let path = folder.join(INPUTS).join(&name);
        if let Some(parent) = path.parent() {
            make(parent)?;
        }
        write_whole(&path, &bytes, Durability::Synced)?;
    }
    write_manifest(folder, manifest)
}

/// Takes away files that a killed process was still writing beside their places. Nobody else may be writing the record.
pub fn sweep(folder: &Path) -> anyhow::Result<()> {
    for folder in [folder.to_owned(), folder.join(SURFACES), folder.join(INPUTS)] {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry.with_context(|| folder.display().to_string())?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name.starts_with(UNFINISHED) {
                fs::remove_file(&path).with_context(|| path.display().to_string())?;
            }
        }
    }
    Ok(())
}

/// Keeps the ledger as it is now beside the inputs.
pub fn keep_ledger(folder: &Path, ledger: &Path) -> anyhow::Result<()> {
    let bytes = read(&ledger.to_owned())?;
    Ok(write_whole(&folder.join(INPUTS).join(LEDGER), &bytes, Durability::Synced)?)
}

/// Writes the manifest, replacing an earlier one.
pub fn write_manifest(folder: &Path, manifest: &Manifest) -> anyhow::Result<()> {
    let bytes = with_line_end(serde_json::to_vec_pretty(manifest)?);
    Ok(write_whole(&folder.join(MANIFEST), &bytes, Durability::Synced)?)
}

/// Puts the scored episodes in the place of the unscored ones, which are on disk until the moment they are replaced. `score`
/// is handed what takes in one after the other; where it fails, the unscored ones stay.
///
/// # Errors
/// Those of `score`, and a file that cannot be written.
pub fn write_episodes<T>(
    folder: &Path,
    score: impl FnOnce(&mut dyn FnMut(&EpisodeRecord)) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let path = folder.join(EPISODES);
    stream_whole(&path, Durability::Synced, |out| {
        let (mut line, mut written) = (Vec::new(), anyhow::Ok(()));
        let scored = score(&mut |episode| {
            if written.is_ok() {
                line.clear();
                written = serde_json::to_writer(&mut line, episode).map_err(anyhow::Error::from).and_then(|()| {
                    line.push(b'\n');
                    Ok(out.write_all(&line)?)
                });
            }
        })?;
        written.with_context(|| path.display().to_string())?;
        Ok(scored)
    })
}

/// Writes the certificate.
pub fn write_certificate(folder: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    Ok(write_whole(&folder.join(CERTIFICATE), bytes, Durability::Synced)?)
}

/// The wire format of a record: that of its terms, or the one that the scripted model is spoken to in.
pub fn wire(folder: &Path) -> anyhow::Result<&'static dyn Wire> {
    Ok(terms(folder)?.map_or(SCRIPTED, |terms| terms.wire).wire())
}

/// The terms of a record; none where it is no live run's.
pub fn terms(folder: &Path) -> anyhow::Result<Option<Terms>> {
    let path = folder.join(INPUTS).join(TERMS);
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = read(&path)?;
    let terms: Terms = serde_json::from_slice(&bytes).with_context(|| path.display().to_string())?;
    anyhow::ensure!(
        terms.schema == SCHEMA,
        "{}: format {} is unknown, this binary reads {SCHEMA}",
        path.display(),
        terms.schema
    );
    Ok(Some(terms))
}

/// The price table of a record.
pub fn prices(folder: &Path) -> anyhow::Result<PriceTable> {
    let path = folder.join(INPUTS).join(PRICES);
    let text = String::from_utf8(read(&path)?).with_context(|| path.display().to_string())?;
    Ok(PriceTable::parse(&text, &path.display().to_string())?)
}

fn read(path: &PathBuf) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}

fn make(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())
}

fn with_line_end(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.push(b'\n');
    bytes
}
