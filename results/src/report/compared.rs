//! Which arms are compared with which.

use super::{gather::Gathered, text::word};
use crate::{analysis::Role, certificate::Certificate};

/// An arm and what it is compared with, by their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compared {
    pub(super) family: String,
    pub(super) name: String,
    pub(super) against: String,
    pub(super) arm: usize,
    pub(super) reference: usize,
    pub(super) level: bool,
}

/// Every arm that has a reference, in the order of the certificate.
pub(super) fn compared(certificate: &Certificate, seen: &Gathered<'_>) -> Vec<Compared> {
    certificate
        .arms
        .iter()
        .filter_map(|report| {
            let baseline = report.baseline.as_ref()?;
            Some(Compared {
                family: word(&report.family),
                name: super::text::tame(&report.arm, 64),
                against: super::text::tame(baseline, 64),
                arm: seen.arm(&report.arm)?,
                reference: seen.arm(baseline)?,
                level: report.role == Role::Level,
            })
        })
        .collect()
}
