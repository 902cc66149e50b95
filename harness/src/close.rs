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
    verify::{Live, Stage, replay_live},
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
    let family = &prepared.families[0];
    let planned = terms.planned(inputs, family);
    let money = money::of_record(folder, terms)?;
    let mut judge = Judge::of_planned(inputs, prepared, &planned)?;
    let live = Live { reader: &reader, inputs, family, planned: &planned, terms, money: &money, stage: Stage::Closing };
    let certificate = folder::write_episodes(folder, |write| {
        let (replayed, sums) =
            replay_live(&live, &mut judge, &mut |episode| write(&episode)).map_err(anyhow::Error::msg)?;
        for part in [replayed.schedule, replayed.surfaces, replayed.episodes, replayed.books] {
            part.map_err(|why| anyhow::anyhow!("the responses on record do not lead to its episodes: {why}"))?;
        }
        manifest.model.returned = sums.models.into_iter().collect();
        manifest.finished = Some(at);
        manifest.complete = true;
        Ok(judge.conclude(manifest, &money::facts(manifest, terms, sums.books, &sums.digest))?.certificate)
    })?;
    folder::write_certificate(folder, &certificate.bytes()?)?;
    folder::write_manifest(folder, manifest)?;
    Ok(certificate)
}

/// What the ledger says of a closed record.
pub fn digests(folder: &Path) -> anyhow::Result<RecordDigests> {
    let attempts = bundle::entry(&folder.join(ATTEMPTS))?.digest;
    Ok(RecordDigests { attempts, certificate: Digest::of(&Record::open(folder)?.certificate()?) })
}
