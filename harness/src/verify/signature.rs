//! The attestation: signatures over digests of the record's files.

use bench_protocol::digest::Digest;
use bench_results::{
    attestation::{ATTESTATION, Attestation, Statement},
    record::Record,
};

use crate::checks::{Found, Report};
use crate::{
    exit,
    sign::{self, PublicKey},
};

/// Checks what is signed. A record without a signature passes, unless a key was given.
pub(super) fn check(report: &mut Report, reader: &Record, key: Option<&PublicKey>) {
    const NAME: &str = "signature";
    let path = reader.folder().join(ATTESTATION);
    if !path.is_file() {
        match key {
            Some(key) => {
                report.add(NAME, exit::VERIFY_LEDGER, Err(format!("not signed; key {} was asked for", key.id())));
            }
            None => report.note(NAME, exit::VERIFY_LEDGER, "not signed"),
        }
        return;
    }
    match (attested(reader), key) {
        (Err(why), _) => report.add(NAME, exit::VERIFY_LEDGER, Err(why)),
        (Ok(signed), Some(key)) => report.add(NAME, exit::VERIFY_LEDGER, signed_by(reader, &signed, key)),
        (Ok(signed), None) => {
            let who: Vec<String> = signed.iter().map(|(ids, one)| said(ids, one)).collect();
            let why = format!(
                "its files are those that were signed; whose keys these are is not checked without --key: {}",
                who.join("; ")
            );
            report.note(NAME, exit::VERIFY_LEDGER, why);
        }
    }
}

/// All statements with the ids of the keys that signed them; each must fit the files that are here.
fn attested(reader: &Record) -> Result<Vec<(Vec<String>, Statement)>, String> {
    let bytes = std::fs::read(reader.folder().join(ATTESTATION)).map_err(|error| format!("{ATTESTATION}: {error}"))?;
    let attestation = Attestation::parse(&bytes).map_err(|error| format!("{ATTESTATION}: {error}"))?;
    let mut all = Vec::new();
    for envelope in &attestation.envelopes {
        let statement = sign::statement(envelope).map_err(|error| error.to_string())?;
        files_are(reader, &statement)?;
        let ids = envelope.signatures.iter().map(|signature| signature.keyid.clone()).collect();
        all.push((ids, statement));
    }
    Ok(all)
}

/// Every file that was signed is here with the same bytes, and the record's own files are all among them.
fn files_are(reader: &Record, statement: &Statement) -> Result<(), String> {
    let here = sign::subjects(reader).map_err(|error| error.to_string())?;
    let withheld = crate::bundle::contents(reader.folder()).ok().flatten().map(|all| all.withheld).unwrap_or_default();
    for subject in &statement.subject {
        let signed = &subject.digest.sha256;
        let found = here.get(&subject.name).or_else(|| withheld.get(&subject.name).map(|entry| &entry.digest));
        match found {
            Some(found) if found.hex() == signed => {}
            Some(found) => return Err(format!("{} was signed as {signed}, here it is {}", subject.name, found.hex())),
            None => return Err(format!("{} was signed and is not here", subject.name)),
        }
    }
    let unsigned: Option<(&String, &Digest)> =
        here.iter().find(|(name, _)| !statement.subject.iter().any(|subject| subject.name == **name));
    unsigned.map_or(Ok(()), |(name, _)| Err(format!("{name} is here and was not signed")))
}

fn signed_by(reader: &Record, signed: &[(Vec<String>, Statement)], key: &PublicKey) -> Found {
    let bytes = std::fs::read(reader.folder().join(ATTESTATION)).map_err(|error| format!("{ATTESTATION}: {error}"))?;
    let attestation = Attestation::parse(&bytes).map_err(|error| format!("{ATTESTATION}: {error}"))?;
    let mut said_by_key = Vec::new();
    for (envelope, (ids, statement)) in attestation.envelopes.iter().zip(signed) {
        if sign::verified_by(envelope, key) {
            said_by_key.push(said(&[key.id()], statement));
        } else if ids.contains(&key.id()) {
            return Err(format!("a signature names key {}, which did not make it", key.id()));
        }
    }
    if said_by_key.is_empty() {
        let others: Vec<String> = signed.iter().flat_map(|(ids, _)| ids.clone()).collect();
        return Err(format!("not signed by key {}; signed by {}", key.id(), others.join(", ")));
    }
    Ok(said_by_key.join("; "))
}

fn said(ids: &[String], statement: &Statement) -> String {
    let short: Vec<&str> = ids.iter().map(|id| id.get(..16).unwrap_or(id)).collect();
    let predicate = &statement.predicate;
    format!("{} by key {}, {} checks listed", predicate.assurance, short.join(", "), predicate.checks.len())
}
