//! The executable verdict rule: pure functions from counts to typed statuses.
//!
//! A *family* is tested together: the levels against `raw`, or R against its own raw. Its input is what was counted
//! ([`input`]), its output a [`FamilyVerdict`] with the evidence behind every word. One subject per file:
//!
//! | file | question |
//! |---|---|
//! | [`outcome`] | what is a pair, and what stands in for a missing outcome |
//! | [`evidence`] | do the gates pass on one endpoint, is damage shown |
//! | [`harm`], [`abstain`] | is a single tool broken, does the arm call where none should be called |
//! | [`robust`] | does the claim extend to other tools |
//! | [`sensitivity`] | does the verdict hang on missing outcomes |
//! | [`assay`], [`noise`] | can this run tell good from bad at all |
//! | [`family`] | the order of testing and the final word |
//! | [`default_level`] | what a product may turn on |

pub mod abstain;
pub mod assay;
pub mod default_level;
mod error;
pub mod evidence;
pub mod family;
pub mod harm;
pub mod input;
pub mod noise;
pub mod outcome;
pub mod robust;
mod rule;
pub mod sensitivity;
mod status;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;

pub use error::VerdictError;
pub use evidence::EndpointEvidence;
pub use family::{FamilyVerdict, LevelVerdict, evaluate};
pub use input::{ArmInput, Cluster, Endpoint, EndpointInput, FamilyInput, FamilyKind, ReferenceInput};
pub use outcome::{Imputation, Mark, PairCells};
pub use rule::Rule;
pub use status::{Reason, Status};

pub use crate::stats::gates::Gate;
