//! `bench sign`: verify a record, then say so under one's own key.

use bench_protocol::digest::Digest;
use bench_results::{attestation::Assurance, record::Record};

use super::{
    args::{AssuranceArg, SignArgs},
    record::find,
};
use crate::{
    cli::{failure::Failure, output::Output},
    exit,
    sign::{Claim, SecretKey, SignError, sign},
    verify::{Against, verify},
};

impl From<SignError> for Failure {
    fn from(error: SignError) -> Self {
        Self::new(exit::INPUT, error)
    }
}

/// Runs the command.
pub(in crate::cli) fn run(args: &SignArgs, output: &mut Output) -> Result<u8, Failure> {
    let Some(key) = &args.key else {
        return Err(Failure::usage(
            "signing takes your secret key: `bench key new` makes one, bench.key for you alone and bench.key.pub for \
             everybody; then add --key bench.key",
        ));
    };
    let key = SecretKey::read(key)?;
    let found = args.record.find()?;
    if found.is_bundle() {
        return Err(Failure::usage("a bundle is not changed: unpack it, sign the folder, and bundle that"));
    }
    let record = open(found.folder())?;
    let replication =
        args.replication.as_deref().map(|text| replication(&record, text, &args.record.out)).transpose()?;
    let report = verify(found.folder(), &Against::default());
    if let Some(failed) = report.failures(false).next() {
        let error = anyhow::anyhow!("nothing is signed: {} fails: {}", failed.name, failed.evidence);
        return Err(Failure::new(failed.code, error));
    }
    if args.assurance != AssuranceArg::SelfAttested && !report.recomputed() {
        let why = "nothing is signed: the certificate cannot be recomputed from what this record withholds, and whoever \
                   says re-verified or replicated has done so";
        return Err(Failure::new(exit::VERIFY_CERTIFICATE, anyhow::anyhow!(why)));
    }
    let assurance = match args.assurance {
        AssuranceArg::SelfAttested => Assurance::SelfAttested,
        AssuranceArg::ReVerified => Assurance::ReVerified,
        AssuranceArg::Replicated => Assurance::Replicated,
    };
    let statement = sign(&record, &report, &Claim { assurance, replication }, &key)?;
    if output.json {
        output.document(&statement)?;
    } else {
        let name = &statement.predicate.run;
        let id = key.public().id();
        writeln!(output.product(), "{name}: {} files signed as {assurance} by key {id}", statement.subject.len())?;
    }
    Ok(exit::OK)
}

/// Digest of the certificate of a run that verifies, of the same protocol, that is another run.
fn replication(record: &Record, text: &str, out: &std::path::Path) -> Result<Digest, Failure> {
    let found = find(text, out)?;
    let report = verify(found.folder(), &Against::default());
    if let Some(failed) = report.failures(false).next() {
        let error = anyhow::anyhow!("the replication does not verify: {}: {}", failed.name, failed.evidence);
        return Err(Failure::new(failed.code, error));
    }
    if !report.recomputed() {
        let why = "the replication's certificate cannot be recomputed from what it withholds";
        return Err(Failure::new(exit::VERIFY_CERTIFICATE, anyhow::anyhow!(why)));
    }
    let other = open(found.folder())?;
    if other.manifest().id == record.manifest().id {
        return Err(Failure::usage("a run does not replicate itself"));
    }
    let protocol = |record: &Record| record.input("protocol.toml").map_err(|error| Failure::new(exit::INPUT, error));
    if protocol(record)? != protocol(&other)? {
        return Err(Failure::usage("the replication ran under another protocol"));
    }
    let bytes = other.certificate().map_err(|error| Failure::new(exit::INPUT, error))?;
    Ok(Digest::of(&bytes))
}

fn open(folder: &std::path::Path) -> Result<Record, Failure> {
    Record::open(folder).map_err(|error| Failure::new(exit::INPUT, error))
}
