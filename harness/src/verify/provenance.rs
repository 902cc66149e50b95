//! Where the catalogs come from: the index that a record keeps beside them, held against what its certificate binds.

use std::collections::BTreeMap;

use bench_protocol::digest::Digest;
use bench_results::{certificate::Certificate, record::Record};

use crate::{checks::Report, exit, inputs::Inputs};

const NAME: &str = "provenance";

/// Whether a certificate is older than the binding: it names catalogs, and binds the origin of none.
pub(super) fn is_older(certificate: &Certificate) -> bool {
    certificate.catalogs.values().all(|catalog| catalog.provenance.is_none())
}

/// Takes out of a recomputed certificate what an older one does not bind.
pub(super) fn unbound(mut certificate: Certificate) -> Certificate {
    for catalog in certificate.catalogs.values_mut() {
        catalog.provenance = None;
    }
    certificate
}

/// Makes the check. A certificate that cannot be read is named by the checks of the certificate.
pub(super) fn check(report: &mut Report, reader: &Record, inputs: &Inputs) {
    let Ok(Ok(certificate)) = reader.certificate().map(|bytes| Certificate::parse(&bytes)) else { return };
    let known = match inputs.provenance_digests() {
        Ok(known) => known,
        Err(error) => return report.add(NAME, exit::VERIFY_INPUTS, Err(error.to_string())),
    };
    if is_older(&certificate) && !known.is_empty() {
        let why = format!(
            "not bound: the certificate is older than this binding, so that date, source and integrity of {} catalogs are only \
             what the index beside them says",
            known.len()
        );
        return report.note(NAME, exit::VERIFY_INPUTS, why);
    }
    let bound: BTreeMap<&String, &Digest> =
        certificate.catalogs.iter().filter_map(|(server, one)| Some((server, one.provenance.as_ref()?))).collect();
    let changed: Vec<&str> = inputs
        .catalogs
        .catalogs
        .iter()
        .map(|catalog| &*catalog.server)
        .filter(|server| known.get(*server) != bound.get(&(*server).to_owned()).copied())
        .collect();
    let found = match (changed.as_slice(), known.len()) {
        ([], 0) => Ok("nothing is known of where the catalogs come from".to_owned()),
        ([], count) => {
            Ok(format!("date, source and integrity of {count} catalogs are those that the certificate binds"))
        }
        (servers, _) => Err(format!(
            "catalogs/index.json says something else than the certificate binds of the origin of {}",
            servers.join(", ")
        )),
    };
    report.add(NAME, exit::VERIFY_INPUTS, found);
}
