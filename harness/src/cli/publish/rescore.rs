//! `bench rescore`: an old record under the rules in force now, for nothing. What comes out is post hoc and says so.

use bench_results::{
    certificate::Certificate,
    record::Deviation,
    table::{self, Planned, status_word},
};
use serde_json::json;

use super::{args::RescoreArgs, record::complete};
use crate::{
    cli::{failure::Failure, output::Output},
    exit,
    inputs::Inputs,
    verify::rescore,
};

/// Said of every certificate that is made after its run.
const POST_HOC: &str = "post hoc";

/// Runs the command. `inputs` are those in force: built in, or overridden.
pub(in crate::cli) fn run(args: &RescoreArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let found = args.record.find()?;
    let record = complete(found.folder())?;
    let mut manifest = record.manifest().clone();
    let recorded = record.certificate().ok().and_then(|bytes| Certificate::parse(&bytes).ok());
    manifest.confirmatory = false;
    manifest.deviations.push(Deviation {
        what: POST_HOC.to_owned(),
        why: "its responses were scored and judged again, after its outcome was known, by the rules in force now"
            .to_owned(),
    });
    let rescored = rescore(&record, inputs, &manifest).map_err(|error| Failure::new(exit::INPUT, error))?;
    if output.json {
        output.document(&json!({
            "post_hoc": true,
            "run": manifest.id,
            "rule": inputs.protocol.digest()?,
            "recorded_rule": recorded.map(|certificate| certificate.protocol),
            "changed_episodes": rescored.changed,
            "certificate": rescored.certificate,
        }))?;
        return Ok(exit::OK);
    }
    let out = &mut output.product();
    writeln!(
        out,
        "POST HOC: run {} scored and judged again under other rules. This is no verdict of that run.",
        manifest.id
    )?;
    writeln!(out, "episodes whose score changed: {}", rescored.changed)?;
    writeln!(out)?;
    let planned = Planned::of(&inputs.protocol);
    output.table(&table::table(&rescored.certificate, planned))?;
    let out = &mut output.product();
    writeln!(out)?;
    for sentence in table::sentences(&rescored.certificate, planned) {
        writeln!(out, "post hoc: {sentence}")?;
    }
    for level in &rescored.certificate.levels {
        let before = recorded.as_ref().and_then(|old| {
            let before = old.levels.iter().find(|one| one.arm == level.arm)?;
            Some((before.status, old.weight()))
        });
        if let Some((status, weight)) = before.filter(|(status, _)| *status != level.status) {
            let now = status_word(level.status, rescored.certificate.weight());
            writeln!(out, "changed: {} was {}; now: {now}", level.arm, status_word(status, weight))?;
        }
    }
    Ok(exit::OK)
}
