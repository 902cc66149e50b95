//! What can be wrong with the input of a statistic, and why one can be undefined.

use thiserror::Error;

/// Input that no statistic is defined for.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StatsError {
    /// A table without tasks.
    #[error("a paired table needs at least one task, this one has none")]
    NoTasks,
    /// More tasks than exact sums are computed for.
    #[error("a paired table holds at most {limit} tasks, this one has {found}; split it")]
    TooManyTasks {
        /// Tasks found.
        found: u128,
        /// Largest number allowed.
        limit: u64,
    },
    /// A plan of more tasks than every size near the answer can be tried for.
    #[error(
        "a plan for this needs about {needed} tasks, and plans are computed up to {limit}; take a larger margin, more alpha or less power"
    )]
    PlanTooLarge {
        /// Tasks that are needed, about.
        needed: u64,
        /// Largest number allowed.
        limit: u64,
    },
    /// Discordant pairs beyond the number of tasks.
    #[error("{loss} losses and {gain} gains do not fit into {n} tasks")]
    TooManyDiscordant {
        /// Number of tasks.
        n: u64,
        /// Losses.
        loss: u64,
        /// Gains.
        gain: u64,
    },
    /// A margin that is not a decimal strictly between 0 and 1.
    #[error(
        "margin '{text}' is not a plain decimal strictly between 0 and 1 with at most 9 places; write for example 0.02"
    )]
    Margin {
        /// The text as found.
        text: String,
    },
    /// A one-sided level outside the open interval (0, ½).
    #[error("one-sided alpha {found} is not strictly between 0 and 0.5; write for example 0.05")]
    Alpha {
        /// The value as found.
        found: f64,
    },
    /// A planning assumption that no pair of arms can have.
    #[error(
        "discordance {discordance} and true difference {difference} contradict each other: |difference| <= discordance <= 1 must hold"
    )]
    Truth {
        /// Assumed discordance ψ.
        discordance: f64,
        /// Assumed true difference Δ.
        difference: f64,
    },
    /// A probability or power outside its range.
    #[error("{name} {found} is not a probability strictly between 0 and 1")]
    Probability {
        /// Which quantity.
        name: &'static str,
        /// The value as found.
        found: f64,
    },
    /// Planning at a true difference that lies in the null hypothesis.
    #[error(
        "a true difference of {difference} does not lie above minus the margin {margin}: no number of tasks certifies it"
    )]
    NoSampleSize {
        /// Assumed true difference Δ.
        difference: f64,
        /// Margin δ.
        margin: f64,
    },
    /// A variance between clusters needs two of them.
    #[error("{found} cluster given, a variance between clusters needs at least 2")]
    TooFewClusters {
        /// Clusters found.
        found: usize,
    },
    /// Clusters that do not add up to the table they are said to partition.
    #[error(
        "the {level} add up to n={n}, gain={gain}, loss={loss}, but the table has n={table_n}, gain={table_gain}, loss={table_loss}"
    )]
    ClusterMismatch {
        /// `frames` or `tools`.
        level: &'static str,
        /// Sum of the cluster sizes.
        n: u64,
        /// Sum of gains.
        gain: u64,
        /// Sum of losses.
        loss: u64,
        /// Tasks of the table.
        table_n: u64,
        /// Gains of the table.
        table_gain: u64,
        /// Losses of the table.
        table_loss: u64,
    },
    /// A design-effect floor below one would make a test more liberal than independent tasks.
    #[error("design-effect floor {found} is not a number of at least 1")]
    DeffFloor {
        /// The value as found.
        found: f64,
    },
    /// A resampling of nothing.
    #[error("a bootstrap needs at least one resample, 0 asked for")]
    NoResamples,
    /// Right answers beyond the number of tasks.
    #[error("{right} right answers do not fit into {n} tasks")]
    TooManyRight {
        /// Number of tasks.
        n: u64,
        /// Right answers.
        right: u64,
    },
    /// A multiplicity graph that is none.
    #[error("multiplicity graph is malformed: {cause}")]
    Graph {
        /// What is wrong with it.
        cause: &'static str,
    },
    /// Lists of different lengths that belong together.
    #[error("{found} p-values given for {expected} hypotheses")]
    HypothesisCount {
        /// Number of p-values.
        found: usize,
        /// Number of hypotheses.
        expected: usize,
    },
}

/// Why a statistic of a continuous endpoint has no value. Printed as the reason beside a null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Undefined {
    /// All differences are equal: an exact fact, not a sample.
    #[error("zero variance")]
    ZeroVariance,
    /// Fewer than two pairs or clusters.
    #[error("fewer than two observations")]
    TooFew,
    /// The raw total of the data, or of a resample, is not positive.
    #[error("raw total is zero")]
    ZeroTotal,
    /// An infinite value or a NaN among the data.
    #[error("value is not finite")]
    NotFinite,
    /// No resamples asked for.
    #[error("no resamples")]
    NoResamples,
}
