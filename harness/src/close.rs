//! Closing a live run: its responses are replayed as `bench verify` does, the episodes get their scores, the certificate is
//! computed. Until then nobody has seen an outcome. A close that is interrupted is simply done again.

use std::path::Path;

use bench_protocol::digest::Digest;
use bench_results::{
    certificate::Certificate,
    record::{ATTEMPTS, Manifest, Record},
};

use crate::{
    bundle,
    conclude::Judge,
    inputs::Inputs,
    ledger::RecordDigests,
    run::{
        live::{folder, money, terms::Terms},
        prepare::Prepared,
    },
    verify::{Index, Live, Stage, replay_live},
};

/// Scores, judges and completes a record whose episodes are all there. `at` is the time of the close.
pub fn close(
    folder: &Path,
    inputs: &Inputs,
    prepared: &Prepared,
    terms: &Terms,
    manifest: &mut Manifest,
    at: String,
) -> anyhow::Result<Certificate> {
    let reader = Record::open(folder)?;
    let index = Index::of(folder).map_err(anyhow::Error::msg)?;
    let family = &prepared.families[0];
    let planned = terms.planned(inputs, family);
    let money = money::of_record(folder, terms)?;
    let mut judge = Judge::of_planned(inputs, prepared, &planned)?;
    let mut scored = Vec::new();
    let live = Live {
        reader: &reader,
        inputs,
        family,
        planned: &planned,
        terms,
        money: &money,
        index: &index,
        stage: Stage::Closing,
    };
    let replayed = replay_live(&live, &mut judge, &mut |episode| scored.push(episode));
    for part in [replayed.schedule, replayed.surfaces, replayed.episodes, replayed.books] {
        part.map_err(|why| anyhow::anyhow!("the responses on record do not lead to its episodes: {why}"))?;
    }
    manifest.model.returned = index.models.iter().cloned().collect();
    manifest.finished = Some(at);
    manifest.complete = true;
    let certificate = judge.conclude(manifest, &money::facts(manifest, terms, index.books, &index.digest))?.certificate;
    folder::write_episodes(folder, &scored)?;
    folder::write_certificate(folder, &certificate.bytes()?)?;
    folder::write_manifest(folder, manifest)?;
    Ok(certificate)
}

/// What the ledger says of a closed record.
pub fn digests(folder: &Path) -> anyhow::Result<RecordDigests> {
    let attempts = bundle::entry(&folder.join(ATTEMPTS))?.digest;
    Ok(RecordDigests { attempts, certificate: Digest::of(&Record::open(folder)?.certificate()?) })
}
