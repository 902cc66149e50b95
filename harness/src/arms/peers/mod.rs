//! Compressors of other authors, re-implemented from their published descriptions, and three archetypes that are nobody's.
//!
//! What a description leaves open is resolved here and named in the arm's own info: such a number is ours and never the
//! author's alone. Wording of meta tools is ours everywhere.

mod archetypes;
mod atlassian;
mod cartograph;
mod desk;
mod lazy_hier;
mod mcpdiet;
mod profile;
mod ranking;
mod replies;
mod retrieve;
mod speakeasy;
mod stacklok;
mod toolsearch;
pub mod uimcp;

pub use cartograph::{CardError, CardSpace, SignedCard};
pub use ranking::Ranker;

use super::{
    Affordance, ArmId, ArmInfo, Waiver,
    materials::{Build, Materials},
    space,
};

/// Every peer, in the order in which they are printed.
pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    [
        archetypes::all(),
        uimcp::all(),
        mcpdiet::all(),
        cartograph::all(),
        profile::all(),
        atlassian::all(),
        toolsearch::all(),
        retrieve::all(),
        speakeasy::all(),
        stacklok::all(),
        lazy_hier::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The peers that need an embedder.
pub(super) fn embedded() -> Vec<(ArmInfo, Build)> {
    vec![uimcp::embedded(), cartograph::embedded(), speakeasy::embedded(), stacklok::embedded()]
}

/// Clauses that no peer promises: none of them looks at L0's size.
const WAIVERS: &[Waiver] = &[Waiver::LargerThanL0];

/// What the author of a re-implementation says of it whose package is compared as well.
const REAL_ONE: &str = "its own package runs here (peers/arms.toml): that row is ranked, this one is shown";

/// Info of a peer whose every choice is published, or nobody's.
fn info(id: &str, summary: &'static str, source: &'static str, affordance: Affordance, extra_trips: u32) -> ArmInfo {
    ArmInfo { id: ArmId(id.to_owned()), source, affordance, extra_trips, ..ArmInfo::direct(id, summary, WAIVERS) }
}
