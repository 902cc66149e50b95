//! Signing what is said about a record: Ed25519 (RFC 8032) over the DSSE encoding of an in-toto statement.

mod key;

use std::{collections::BTreeMap, fs};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bench_protocol::digest::Digest;
use bench_results::{
    attestation::{
        ALGORITHM, ATTESTATION, Assurance, Attestation, AttestationError, CANONICAL, CheckResult, Envelope, MEANING,
        PAYLOAD_TYPE, PREDICATE_TYPE, Predicate, SCHEMA, STATEMENT_TYPE, Signature, Statement, Subject, SubjectDigest,
        pae,
    },
    record::{Durability, Record, RecordError, SURFACES, whole::write_whole},
};
use thiserror::Error;

pub use key::{KeyError, PublicKey, SecretKey};

use crate::{
    build,
    bundle::{BundleError, layout},
    checks::{Outcome, Report},
};

/// What can go wrong with signing.
#[derive(Debug, Error)]
pub enum SignError {
    /// The attestation is none, or none of ours.
    #[error("{ATTESTATION}: {0}")]
    Attestation(#[from] AttestationError),
    /// The envelope holds another type of payload.
    #[error("{ATTESTATION}: payload of type `{0}`; only `{PAYLOAD_TYPE}` is known")]
    PayloadType(String),
    /// Base64 that is none.
    #[error("{ATTESTATION}: its payload is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// A file of the record could not be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A file that belongs to no record.
    #[error(transparent)]
    Files(#[from] BundleError),
    /// The attestation could not be written as JSON.
    #[error("{ATTESTATION}: {0}")]
    Json(#[from] serde_json::Error),
}

/// What somebody says with a signature, beside the record itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// How far they stand behind it.
    pub assurance: Assurance,
    /// Digest of the replication's certificate.
    pub replication: Option<Digest>,
}

/// The files that a signature is about, with their digests: all of the record but surfaces, which the log of attempts
/// names by digest, and what is made from the record.
///
/// # Errors
/// A file that cannot be read or belongs to no record.
pub fn subjects(record: &Record) -> Result<BTreeMap<String, Digest>, SignError> {
    let surfaces = format!("{SURFACES}/");
    let own = |name: &String| {
        !name.starts_with(&surfaces)
            && ![ATTESTATION, layout::LEDGER].contains(&name.as_str())
            && !layout::is_report(name)
    };
    let mut all = BTreeMap::new();
    for name in layout::files(record.folder())?.into_iter().filter(own) {
        let digest = crate::bundle::entry(&record.folder().join(&name))?.digest;
        all.insert(name, digest);
    }
    Ok(all)
}

/// Signs a record that was verified, and adds the envelope to its attestation.
///
/// # Errors
/// A file that cannot be read or written, or an earlier attestation that is none.
pub fn sign(record: &Record, report: &Report, claim: &Claim, key: &SecretKey) -> Result<Statement, SignError> {
    let manifest = record.manifest();
    let statement = Statement {
        statement_type: STATEMENT_TYPE.to_owned(),
        subject: subjects(record)?
            .into_iter()
            .map(|(name, digest)| Subject { name, digest: SubjectDigest { sha256: digest.hex().to_owned() } })
            .collect(),
        predicate_type: PREDICATE_TYPE.to_owned(),
        predicate: Predicate {
            schema: 1,
            algorithm: ALGORITHM.to_owned(),
            canonicalization: CANONICAL.to_owned(),
            run: manifest.id.clone(),
            kind: manifest.kind,
            confirmatory: manifest.confirmatory,
            lock: manifest.lock.clone(),
            assurance: claim.assurance,
            replication: claim.replication.clone(),
            verifier: build::info(),
            checks: checks(report),
            meaning: MEANING.to_owned(),
        },
    };
    let envelope = seal(&statement.bytes()?, key);
    let path = record.folder().join(ATTESTATION);
    let mut attestation = match fs::read(&path) {
        Ok(bytes) => Attestation::parse(&bytes)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Attestation { schema: SCHEMA.to_owned(), envelopes: Vec::new() }
        }
        Err(source) => return Err(RecordError::Io { path, source }.into()),
    };
    attestation.envelopes.retain(|one| *one != envelope);
    attestation.envelopes.push(envelope);
    let mut bytes = serde_json::to_vec_pretty(&attestation)?;
    bytes.push(b'\n');
    write_whole(&path, &bytes, Durability::Synced)?;
    Ok(statement)
}

/// The checks that a statement lists: of the record, not of earlier signatures on it.
fn checks(report: &Report) -> Vec<CheckResult> {
    report
        .checks
        .iter()
        .filter(|check| check.name != "signature")
        .map(|check| CheckResult {
            name: check.name.to_owned(),
            outcome: if check.outcome == Outcome::Pass { "pass" } else { "note" }.to_owned(),
            evidence: check.evidence.clone(),
        })
        .collect()
}

/// Puts signed bytes into an envelope.
fn seal(payload: &[u8], key: &SecretKey) -> Envelope {
    Envelope {
        payload: STANDARD.encode(payload),
        payload_type: PAYLOAD_TYPE.to_owned(),
        signatures: vec![Signature {
            keyid: key.public().id(),
            sig: STANDARD.encode(key.sign(&pae(PAYLOAD_TYPE, payload))),
        }],
    }
}

/// The statement in an envelope, whoever signed it.
///
/// # Errors
/// Another type of payload, or no statement of ours.
pub fn statement(envelope: &Envelope) -> Result<Statement, SignError> {
    if envelope.payload_type != PAYLOAD_TYPE {
        return Err(SignError::PayloadType(envelope.payload_type.clone()));
    }
    Ok(Statement::parse(&STANDARD.decode(&envelope.payload)?)?)
}

/// Whether one of the signatures in an envelope was made by this key. What a signature says of its key is not believed.
pub fn verified_by(envelope: &Envelope, key: &PublicKey) -> bool {
    let Ok(payload) = STANDARD.decode(&envelope.payload) else { return false };
    let message = pae(&envelope.payload_type, &payload);
    envelope
        .signatures
        .iter()
        .filter_map(|signature| STANDARD.decode(&signature.sig).ok())
        .any(|signature| key.verifies(&message, &signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SecretKey {
        SecretKey::from_seed(&[byte; 32])
    }

    #[test]
    fn an_envelope_is_verified_by_the_key_that_made_it_and_by_no_other() {
        let envelope = seal(b"{\"a\":1}", &key(1));
        assert!(verified_by(&envelope, &key(1).public()));
        assert!(!verified_by(&envelope, &key(2).public()));
        let mut renamed = envelope.clone();
        renamed.signatures[0].keyid = key(2).public().id();
        assert!(!verified_by(&renamed, &key(2).public()), "a name of a key is no signature");
    }

    #[test]
    fn payload_type_and_every_byte_are_under_the_signature() {
        let envelope = seal(b"{\"a\":1}", &key(1));
        let public = key(1).public();
        let mut other = envelope.clone();
        other.payload_type = "text/plain".to_owned();
        assert!(!verified_by(&other, &public));
        let mut other = envelope.clone();
        other.payload = STANDARD.encode(b"{\"a\":2}");
        assert!(!verified_by(&other, &public));
        let mut other = envelope;
        other.signatures[0].sig = STANDARD.encode([0; 64]);
        assert!(!verified_by(&other, &public));
    }

    #[test]
    fn a_payload_of_another_type_is_no_statement() {
        let mut envelope = seal(b"{}", &key(1));
        envelope.payload_type = "text/plain".to_owned();
        assert!(matches!(statement(&envelope), Err(SignError::PayloadType(_))));
        envelope.payload_type = PAYLOAD_TYPE.to_owned();
        assert!(matches!(statement(&envelope), Err(SignError::Attestation(_))));
        envelope.payload = "*".to_owned();
        assert!(matches!(statement(&envelope), Err(SignError::Base64(_))));
    }
}
