//! Scoring and judging a record again under other rules.

use anyhow::Context as _;
use bench_results::{
    certificate::Certificate,
    record::{EpisodeRecord, Manifest, Record},
};

use super::{Live, Stage, offline, replay_live};
use crate::{
    conclude::{Facts, Judge},
    inputs::Inputs,
    run::{
        live::{folder, money},
        prepare::{Prepared, RunSpec},
    },
};

/// What came out.
pub struct Rescored {
    /// The certificate under the other rules.
    pub certificate: Certificate,
    /// Differences between recorded and re-made episodes: none, where the scorer is still the same.
    pub changed: String,
}

/// Replays a record from its own inputs, so that its tasks are its own, and judges it by the rules of `rules`.
///
/// # Errors
/// A record that can no longer be replayed: its responses don't lead through its schedule any more.
pub fn rescore(reader: &Record, rules: &Inputs, manifest: &Manifest) -> anyhow::Result<Rescored> {
    let own = Inputs::of_record(&reader.inputs())?;
    let spec = RunSpec::of_manifest(manifest);
    let prepared = Prepared::new(&own, &spec)?;
    // Tasks, arms and catalogs stay those of the run; margin, level, guards and floors are the others'.
    let judged = Inputs { protocol: rules.protocol.clone(), protocol_text: rules.protocol_text.clone(), ..own.clone() };
    let (certificate, changed) = match folder::terms(reader.folder())? {
        None => {
            let mut judge = Judge::new(&judged, &prepared)?;
            let replayed = offline::replay(reader, &own, &prepared, &mut judge);
            replayed.schedule.map_err(anyhow::Error::msg).context("its schedule")?;
            let facts = Facts { attempts: replayed.attempts, ..Facts::default() };
            (judge.conclude(manifest, &facts)?.certificate, replayed.episodes)
        }
        Some(terms) => {
            let family = prepared.families.first().context("the manifest names no suite")?;
            let planned = terms.planned(&own, family);
            let mut judge = Judge::of_planned(&judged, &prepared, &planned)?;
            let money = money::of_record(reader.folder(), &terms)?;
            let live = Live {
                reader,
                inputs: &own,
                family,
                planned: &planned,
                terms: &terms,
                money: &money,
                stage: Stage::Closed,
            };
            let (replayed, sums) =
                replay_live(&live, &mut judge, &mut |_: EpisodeRecord| {}).map_err(anyhow::Error::msg)?;
            replayed.schedule.map_err(anyhow::Error::msg).context("its schedule")?;
            (
                judge.conclude(manifest, &money::facts(manifest, &terms, sums.books, &sums.digest))?.certificate,
                replayed.episodes,
            )
        }
    };
    let changed = changed.map_or_else(|differences| differences, |_| "none".to_owned());
    Ok(Rescored { certificate, changed })
}
