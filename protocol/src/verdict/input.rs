//! What the verdict rule is given: counts, and nothing that could be re-derived from them.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{PairCells, VerdictError};

/// What is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Endpoint {
    /// The right tool: co-primary of the tool suite.
    Selection,
    /// The right tool with right arguments: co-primary of the tool suite.
    Arguments,
    /// The right answer: primary of the result suite.
    Answer,
    /// The first upstream call is right: key secondary, and what `names-only` must be bad at.
    FirstCall,
    /// As arguments, calls that only look first are forgiven: a sensitivity.
    LookFirst,
}

impl Endpoint {
    /// Its name in tables and certificates.
    pub fn name(self) -> &'static str {
        match self {
            Self::Selection => "selection",
            Self::Arguments => "arguments",
            Self::Answer => "answer",
            Self::FirstCall => "first-call",
            Self::LookFirst => "look-first",
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Pairs that belong together: a frame, or a tool (`server/tool`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: Arc<str>,
    /// Its pairs.
    pub cells: PairCells,
}

/// One endpoint of one arm against its reference.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointInput {
    /// All pairs, by frame, in name order.
    pub frames: Vec<Cluster>,
    /// All pairs, by tool, in name order.
    pub tools: Vec<Cluster>,
    /// The pairs whose gold tool the arm shows differently from the reference, by frame.
    pub affected_frames: Vec<Cluster>,
}

impl EndpointInput {
    /// All pairs together.
    pub fn total(&self) -> PairCells {
        sum(&self.frames)
    }
}

/// Adds clusters up.
pub(crate) fn sum(clusters: &[Cluster]) -> PairCells {
    let mut total = PairCells::default();
    for cluster in clusters {
        total.add(&cluster.cells);
    }
    total
}

/// One arm against its reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmInput {
    /// The arm.
    pub arm: Arc<str>,
    /// What it was counted on.
    pub endpoints: BTreeMap<Endpoint, EndpointInput>,
    /// Pairs of abstain tasks, where the family has such.
    pub abstain: Option<PairCells>,
    /// Planned pairs of which one side was never attempted. They are in no other count.
    pub unattempted: u64,
    /// Why the provider refused the arm's surface in the pre-flight.
    pub refused: Option<String>,
}

impl ArmInput {
    /// The counts on an endpoint.
    ///
    /// # Errors
    /// [`VerdictError::NotCounted`].
    pub fn endpoint(&self, endpoint: Endpoint) -> Result<&EndpointInput, VerdictError> {
        self.endpoints.get(&endpoint).ok_or_else(|| VerdictError::NotCounted { arm: Arc::clone(&self.arm), endpoint })
    }

    /// Pairs that lack an outcome and all pairs: a pair lacks it on every endpoint or on none.
    pub fn missing(&self) -> (u64, u64) {
        let mut pairs = self.endpoints.values().next().map(EndpointInput::total).unwrap_or_default();
        if let Some(abstain) = &self.abstain {
            pairs.add(abstain);
        }
        (pairs.missing(), pairs.n())
    }
}

/// What a family's reference did on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceInput {
    /// The arm.
    pub arm: Arc<str>,
    /// Right answers per endpoint; a missing outcome is none.
    pub right: BTreeMap<Endpoint, u64>,
    /// Tasks in n (abstain tasks are not).
    pub tasks: u64,
    /// Planned tasks, abstain tasks included, that were never attempted.
    pub unattempted: u64,
}

/// The two families of a protocol, and that of external products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FamilyKind {
    /// Levels against raw, in a fixed sequence, with guards and the tool-robust label.
    Levels,
    /// External compressors against raw, by Holm, with guards and the tool-robust label.
    Products,
    /// R against its own raw, on answers alone.
    Results,
}

impl FamilyKind {
    /// The endpoints that must all hold.
    pub fn endpoints(self) -> &'static [Endpoint] {
        match self {
            Self::Levels | Self::Products => &[Endpoint::Selection, Endpoint::Arguments],
            Self::Results => &[Endpoint::Answer],
        }
    }

    /// Whether the harm guard, the abstain guard and the tool-robust label apply.
    pub fn has_tools(self) -> bool {
        self != Self::Results
    }
}

/// A family's counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyInput {
    /// Which family.
    pub kind: FamilyKind,
    /// The reference on its own.
    pub reference: ReferenceInput,
    /// What is tested, in the order of testing.
    pub levels: Vec<ArmInput>,
    /// The second pass of the same thing: the noise floor.
    pub again: Option<ArmInput>,
    /// Controls that must not be certified.
    pub must_not_certify: Vec<ArmInput>,
    /// Controls that must show damage on [`Endpoint::FirstCall`].
    pub must_show_damage: Vec<ArmInput>,
    /// Controls that the protocol demands; one that did not run voids the assay.
    pub required_controls: Vec<Arc<str>>,
}

impl FamilyInput {
    /// All controls that ran.
    pub fn controls(&self) -> impl Iterator<Item = &ArmInput> {
        self.again.iter().chain(&self.must_not_certify).chain(&self.must_show_damage)
    }
}
