//! The words of a verdict and the reasons for them.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Endpoint, Gate};

/// The verdict on one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every gate passes on every endpoint.
    Certified,
    /// Damage is shown, or a guard fired.
    Failed,
    /// Evaluated, neither certified nor failed.
    Inconclusive,
    /// An earlier level was not certified.
    NotTested,
    /// Incomplete, too much is missing, or the provider refused its surface.
    NotEvaluated,
    /// The run is incomplete or the assay is not sensitive.
    NoVerdict,
}

impl Status {
    /// The word as printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Certified => "certified",
            Self::Failed => "failed",
            Self::Inconclusive => "inconclusive",
            Self::NotTested => "not-tested",
            Self::NotEvaluated => "not-evaluated",
            Self::NoVerdict => "no-verdict",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Why a status is what it is, or a note beside a certificate. Counts only: floats stand in the evidence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reason {
    /// A gate did not pass.
    GateNotPassed {
        /// The endpoint.
        endpoint: Endpoint,
        /// The gate.
        gate: Gate,
    },
    /// The whole interval lies below the margin.
    DamageShown {
        /// The endpoint.
        endpoint: Endpoint,
    },
    /// The harm guard fired.
    HarmGuard {
        /// The broken tools, `server/tool`.
        tools: Vec<Arc<str>>,
    },
    /// The abstain guard fired.
    AbstainGuard {
        /// Abstain tasks that only the reference got right.
        loss: u64,
        /// Abstain tasks that only the arm got right.
        gain: u64,
    },
    /// Too many pairs lack an outcome.
    TooManyMissing {
        /// Pairs that lack one.
        missing: u64,
        /// All pairs.
        pairs: u64,
    },
    /// Planned pairs were never attempted.
    Incomplete {
        /// How many.
        unattempted: u64,
    },
    /// The provider refused the surface in the pre-flight.
    SurfaceRefused {
        /// Its words.
        why: String,
    },
    /// The sequence stopped before this level.
    EarlierLevel {
        /// The level that was not certified.
        arm: Arc<str>,
    },
    /// The p-value does not survive the correction over the family.
    Multiplicity,
    /// Reference or control is incomplete.
    RunIncomplete {
        /// The arm.
        arm: Arc<str>,
        /// Its planned tasks that were never attempted.
        unattempted: u64,
    },
    /// A control of the protocol did not run.
    ControlAbsent {
        /// The control.
        arm: Arc<str>,
    },
    /// Too much is missing in a control.
    ControlNotEvaluated {
        /// The control.
        arm: Arc<str>,
        /// Pairs that lack an outcome.
        missing: u64,
    },
    /// The reference does not reach the floor.
    BelowFloor {
        /// The endpoint.
        endpoint: Endpoint,
        /// Right answers.
        right: u64,
        /// Tasks.
        tasks: u64,
    },
    /// A control that is harmful by design would be certified.
    ControlCertified {
        /// The control.
        arm: Arc<str>,
    },
    /// A control that is harmful by design shows no damage.
    ControlShowsNoDamage {
        /// The control.
        arm: Arc<str>,
    },
    /// The second pass would not be certified, so a failure may be noise.
    NoiseTooHigh {
        /// The second pass.
        arm: Arc<str>,
    },
    /// The two passes of the same thing differ.
    PassesDiffer {
        /// The second pass.
        arm: Arc<str>,
        /// The endpoint.
        endpoint: Endpoint,
    },
    /// Not tool-robust: S1 does not pass.
    ToolClusters {
        /// The endpoint.
        endpoint: Endpoint,
    },
    /// Not tool-robust: S1 is not defined on fewer than two tools.
    TooFewTools {
        /// The endpoint.
        endpoint: Endpoint,
        /// Tools that the tasks are of.
        tools: u64,
    },
    /// Not tool-robust: the gates do not pass on the tasks whose tool is shown differently.
    AffectedTasks {
        /// The endpoint.
        endpoint: Endpoint,
        /// Those tasks.
        tasks: u64,
    },
    /// Not tool-robust: losses beyond the margin are made up for by gains.
    GainsHideLosses {
        /// The endpoint.
        endpoint: Endpoint,
        /// The arm's losses.
        loss: u64,
        /// The second pass' losses, missing outcomes not among them.
        noise_loss: u64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GateNotPassed { endpoint, gate } => write!(f, "{gate} does not pass on {endpoint}"),
            Self::DamageShown { endpoint } => write!(f, "the whole interval lies below the margin on {endpoint}"),
            Self::HarmGuard { tools } => write!(f, "the harm guard fired for {}", tools.join(", ")),
            Self::AbstainGuard { loss, gain } => {
                write!(f, "the abstain guard fired: calls where none is right, {loss} losses and {gain} gains")
            }
            Self::TooManyMissing { missing, pairs } => write!(f, "{missing} of {pairs} pairs lack an outcome"),
            Self::Incomplete { unattempted } => write!(f, "{unattempted} planned pairs were never attempted"),
            Self::SurfaceRefused { why } => write!(f, "the provider refused its surface: {why}"),
            Self::EarlierLevel { arm } => write!(f, "{arm} comes first and was not certified"),
            Self::Multiplicity => f.write_str("its p-value does not survive Holm's correction over the family"),
            Self::RunIncomplete { arm, unattempted } => {
                write!(f, "the run is incomplete: {unattempted} planned tasks of {arm} were never attempted")
            }
            Self::ControlAbsent { arm } => write!(f, "the control {arm} did not run"),
            Self::ControlNotEvaluated { arm, missing } => {
                write!(f, "the control {arm} lacks too many outcomes ({missing})")
            }
            Self::BelowFloor { endpoint, right, tasks } => {
                write!(f, "the reference is right on {right} of {tasks} tasks only ({endpoint}), below the floor")
            }
            Self::ControlCertified { arm } => write!(f, "{arm} is harmful by design and would be certified"),
            Self::ControlShowsNoDamage { arm } => write!(f, "{arm} is harmful by design and shows no damage"),
            Self::NoiseTooHigh { arm } => write!(f, "{arm} itself would not be certified, so the failure may be noise"),
            Self::PassesDiffer { arm, endpoint } => write!(f, "{arm} differs from the first pass on {endpoint}"),
            Self::ToolClusters { endpoint } => write!(f, "S1 (tools as clusters) does not pass on {endpoint}"),
            Self::TooFewTools { endpoint, tools } => {
                write!(f, "S1 (tools as clusters) needs two tools, and the tasks are of {tools} ({endpoint})")
            }
            Self::AffectedTasks { endpoint, tasks } => {
                write!(f, "the gates do not pass on the {tasks} tasks whose tool is shown differently ({endpoint})")
            }
            Self::GainsHideLosses { endpoint, loss, noise_loss } => {
                write!(f, "gains hide losses on {endpoint}: {loss} losses, {noise_loss} by noise alone")
            }
        }
    }
}
