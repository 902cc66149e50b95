//! What is signed about a record: an in-toto statement (v1) with our own predicate, in a DSSE envelope.
//!
//! A signature proves who made a statement and that the files are those it was made about. It does not prove that the
//! statement is true: that is what recomputing is for. The statement holds no clock; its bytes are canonical (RFC 8785),
//! and the name of the signature's algorithm is inside of what is signed, so that nobody can swap it for a weaker one.

use std::fmt;

use bench_protocol::digest::Digest;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::record::{Build, RunKind};

/// Name of the file beside the record.
pub const ATTESTATION: &str = "attestation.json";
/// Format of the file.
pub const SCHEMA: &str = "bench/attestation/1";
/// Type of an in-toto statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// Type of our predicate.
pub const PREDICATE_TYPE: &str = "urn:bench:record-attestation:1";
/// Type of the payload of an envelope.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";
/// The one algorithm of signatures.
pub const ALGORITHM: &str = "ed25519";
/// How a statement becomes bytes.
pub const CANONICAL: &str = "RFC 8785";
/// What a reader must know about every signature.
pub const MEANING: &str = "a signature proves who made this statement and that the files are unchanged, not that the \
                           model really sent these responses";

/// What can go wrong with an attestation.
#[derive(Debug, Error)]
pub enum AttestationError {
    /// Bytes that are none.
    #[error("not an attestation: {0}")]
    Syntax(#[from] serde_json::Error),
    /// Another format.
    #[error("attestation of schema `{0}`; this binary reads `{SCHEMA}`")]
    Schema(String),
    /// The statement is of another type than ours.
    #[error("a statement of type `{statement}` with predicate `{predicate}` is none of ours")]
    Type {
        /// Its type.
        statement: String,
        /// Type of its predicate.
        predicate: String,
    },
    /// The algorithm or canonical form inside the statement is not the one that is used.
    #[error(
        "the statement names algorithm `{algorithm}` and form `{form}`; only `{ALGORITHM}` and `{CANONICAL}` are known"
    )]
    Algorithm {
        /// The algorithm named.
        algorithm: String,
        /// The canonical form named.
        form: String,
    },
    /// The statement's bytes are not canonical, so that two readers may see two statements.
    #[error("the signed bytes are not canonical JSON")]
    NotCanonical,
    /// The canonical form could not be written.
    #[error("writing the statement: {0}")]
    Canonical(String),
}

/// How far somebody stands behind a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assurance {
    /// Whoever ran it signed it.
    SelfAttested,
    /// Somebody else recomputed it from its responses.
    ReVerified,
    /// Somebody else ran it again and names that run.
    Replicated,
}

impl fmt::Display for Assurance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SelfAttested => "self-attested",
            Self::ReVerified => "re-verified",
            Self::Replicated => "replicated",
        })
    }
}

/// One check of the verification that came before the signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckResult {
    /// Its name.
    pub name: String,
    /// `pass` or `note`; nothing that failed is signed.
    pub outcome: String,
    /// What was compared.
    pub evidence: String,
}

/// What is said about the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predicate {
    /// Version of the predicate, 1.
    pub schema: u32,
    /// [`ALGORITHM`].
    pub algorithm: String,
    /// [`CANONICAL`].
    pub canonicalization: String,
    /// Id of the run.
    pub run: String,
    /// What answered.
    pub kind: RunKind,
    /// Whether the run was a confirmatory one.
    pub confirmatory: bool,
    /// The lock it ran under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<Digest>,
    /// How far the signer stands behind it.
    pub assurance: Assurance,
    /// Digest of the certificate of the run that replicated it; `replicated` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replication: Option<Digest>,
    /// The program that verified it.
    pub verifier: Build,
    /// The checks that were made before it was signed.
    pub checks: Vec<CheckResult>,
    /// [`MEANING`].
    pub meaning: String,
}

/// Digests of a subject, under in-toto's names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubjectDigest {
    /// SHA-256, 64 hex digits.
    pub sha256: String,
}

/// A file that the statement is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Path inside the record.
    pub name: String,
    /// Its digest.
    pub digest: SubjectDigest,
}

/// An in-toto statement, v1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// [`STATEMENT_TYPE`].
    #[serde(rename = "_type")]
    pub statement_type: String,
    /// The files, in order of names.
    pub subject: Vec<Subject>,
    /// [`PREDICATE_TYPE`].
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    /// What is said.
    pub predicate: Predicate,
}

impl Statement {
    /// The bytes that are signed.
    ///
    /// # Errors
    /// The canonical form could not be written.
    pub fn bytes(&self) -> Result<Vec<u8>, AttestationError> {
        serde_json_canonicalizer::to_vec(self).map_err(|error| AttestationError::Canonical(error.to_string()))
    }

    /// Reads signed bytes, which must be exactly those that [`Self::bytes`] would write.
    ///
    /// # Errors
    /// Not a statement of ours, another algorithm, or bytes that are not canonical.
    pub fn parse(bytes: &[u8]) -> Result<Self, AttestationError> {
        #[derive(Deserialize)]
        struct Probe {
            #[serde(rename = "_type")]
            statement: String,
            #[serde(rename = "predicateType")]
            predicate: String,
        }
        let Probe { statement, predicate } = serde_json::from_slice(bytes)?;
        if statement != STATEMENT_TYPE || predicate != PREDICATE_TYPE {
            return Err(AttestationError::Type { statement, predicate });
        }
        let parsed: Self = serde_json::from_slice(bytes)?;
        let Predicate { algorithm, canonicalization, .. } = &parsed.predicate;
        if algorithm != ALGORITHM || canonicalization != CANONICAL {
            return Err(AttestationError::Algorithm { algorithm: algorithm.clone(), form: canonicalization.clone() });
        }
        if parsed.bytes()? == bytes { Ok(parsed) } else { Err(AttestationError::NotCanonical) }
    }
}

/// A signature in an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// Names the key: SHA-256 of its 32 public bytes, in hex. A hint, not a proof.
    pub keyid: String,
    /// The signature, base64.
    pub sig: String,
}

/// A DSSE envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// The signed bytes, base64.
    pub payload: String,
    /// [`PAYLOAD_TYPE`].
    #[serde(rename = "payloadType")]
    pub payload_type: String,
    /// Who signed.
    pub signatures: Vec<Signature>,
}

/// The file: one envelope for each statement that somebody made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attestation {
    /// [`SCHEMA`].
    pub schema: String,
    /// The envelopes, oldest first.
    pub envelopes: Vec<Envelope>,
}

impl Attestation {
    /// Reads the file.
    ///
    /// # Errors
    /// Another format, or no attestation.
    pub fn parse(bytes: &[u8]) -> Result<Self, AttestationError> {
        let parsed: Self = serde_json::from_slice(bytes)?;
        if parsed.schema == SCHEMA { Ok(parsed) } else { Err(AttestationError::Schema(parsed.schema)) }
    }
}

/// The pre-authentication encoding of DSSE v1: what is really signed, type and body with their lengths.
pub fn pae(payload_type: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn statement() -> Statement {
        Statement {
            statement_type: STATEMENT_TYPE.to_owned(),
            subject: vec![Subject {
                name: "certificate.json".to_owned(),
                digest: SubjectDigest { sha256: Digest::of(b"{}").hex().to_owned() },
            }],
            predicate_type: PREDICATE_TYPE.to_owned(),
            predicate: Predicate {
                schema: 1,
                algorithm: ALGORITHM.to_owned(),
                canonicalization: CANONICAL.to_owned(),
                run: "r7k2m9xq0".to_owned(),
                kind: RunKind::Live,
                confirmatory: true,
                lock: Some(Digest::of(b"lock")),
                assurance: Assurance::SelfAttested,
                replication: None,
                verifier: Build {
                    version: "0.1.0".to_owned(),
                    commit: None,
                    dirty: None,
                    target: "any".to_owned(),
                    rustc: "any".to_owned(),
                },
                checks: Vec::new(),
                meaning: MEANING.to_owned(),
            },
        }
    }

    #[test]
    fn the_encoding_is_that_of_the_specification() {
        let expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world";
        assert_eq!(pae("http://example.com/HelloWorld", b"hello world"), expected);
        assert_eq!(pae("", b""), b"DSSEv1 0  0 ");
    }

    #[test]
    fn a_statement_reads_back_and_its_bytes_are_these() {
        let bytes = statement().bytes().unwrap();
        assert_eq!(Statement::parse(&bytes).unwrap(), statement());
        let expected = concat!(
            r#"{"_type":"https://in-toto.io/Statement/v1","predicate":{"algorithm":"ed25519","assurance":"self-attested","#,
            r#""canonicalization":"RFC 8785","checks":[],"confirmatory":true,"kind":"live","#,
            r#""lock":"sha256:0c030586945fe504b604ecc2e875c38ede400cd5cd73da9730302162e6b02c6f","#,
            r#""meaning":"a signature proves who made this statement and that the files are unchanged, not that the "#,
            r#"model really sent these responses","run":"r7k2m9xq0","schema":1,"#,
            r#""verifier":{"rustc":"any","target":"any","version":"0.1.0"}},"#,
            r#""predicateType":"urn:bench:record-attestation:1","subject":[{"digest":{"sha256":"#,
            r#""44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"name":"certificate.json"}]}"#,
        );
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn bytes_that_two_readers_could_take_differently_are_refused() {
        let text = String::from_utf8(statement().bytes().unwrap()).unwrap();
        for (from, to) in [("{\"_type\"", "{ \"_type\""), ("\"run\":\"r7k2m9xq0\"", "\"run\":\"\\u00727k2m9xq0\"")] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text);
            assert!(matches!(Statement::parse(changed.as_bytes()), Err(AttestationError::NotCanonical)), "{changed}");
        }
    }

    #[test]
    fn another_algorithm_or_another_kind_of_statement_is_refused() {
        let mut other = statement();
        other.predicate.algorithm = "none".to_owned();
        assert!(matches!(Statement::parse(&other.bytes().unwrap()), Err(AttestationError::Algorithm { .. })));
        let mut other = statement();
        other.predicate_type = "https://slsa.dev/provenance/v1".to_owned();
        assert!(matches!(Statement::parse(&other.bytes().unwrap()), Err(AttestationError::Type { .. })));
        let file = br#"{"schema":"bench/attestation/2","envelopes":[]}"#;
        assert!(matches!(Attestation::parse(file), Err(AttestationError::Schema(_))));
    }
}
