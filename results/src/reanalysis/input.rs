//! Counts that somebody published, each with a mark that says where it is from.

use std::sync::Arc;

use bench_protocol::{
    stats::{Alpha, Margin, StatsError},
    verdict::Endpoint,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Format of the file.
pub(super) const SCHEMA: &str = "bench/published-counts/1";

/// Where a number is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// It stands so in the source.
    Published,
    /// It follows from what stands there, by arithmetic alone.
    Computed,
    /// It was concluded, and may be wrong.
    Inferred,
}

impl Mark {
    /// As printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Computed => "computed",
            Self::Inferred => "inferred",
        }
    }
}

/// A number and its mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The number.
    pub value: u64,
    /// Where it is from.
    pub mark: Mark,
    /// How, where that is not plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How tasks hang together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Templates {
    /// Number of templates that the tasks were made from.
    pub count: Count,
    /// The endpoints that it holds for.
    pub endpoints: Vec<Endpoint>,
    /// What is assumed of their sizes.
    pub sizes: String,
}

/// One arm on one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    /// The arm.
    pub arm: Arc<str>,
    /// The endpoint.
    pub endpoint: Endpoint,
    /// Tasks.
    pub n: Count,
    /// Right under the reference.
    pub raw_right: Count,
    /// Right under the arm.
    pub arm_right: Count,
    /// Losses, where published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Count>,
    /// Gains, where published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Count>,
}

/// The file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedCounts {
    /// [`SCHEMA`].
    pub schema: String,
    /// Whose counts.
    pub title: String,
    /// Where they were read.
    pub source: String,
    /// Margin δ that the source tested against.
    pub margin: String,
    /// Its one-sided alpha.
    pub alpha: String,
    /// How tasks hang together, where known.
    pub templates: Vec<Templates>,
    /// The tables.
    pub tables: Vec<PublishedTable>,
    /// What a reader must know.
    pub remarks: Vec<String>,
}

/// What can be wrong with published counts.
#[derive(Debug, Error)]
pub enum CountsError {
    /// Not a file of counts.
    #[error("not published counts: {0}")]
    Syntax(#[from] serde_json::Error),
    /// Another format.
    #[error("published counts of schema `{0}`; this binary reads `{SCHEMA}`")]
    Schema(String),
    /// Margin or alpha are no numbers that can be tested with.
    #[error("margin or alpha: {0}")]
    Rule(String),
    /// Losses and gains don't lead from one margin to the other.
    #[error("{arm} on {endpoint}: {raw} right less {loss} losses plus {gain} gains are not {right}")]
    Contradiction {
        /// The arm.
        arm: Arc<str>,
        /// The endpoint.
        endpoint: Endpoint,
        /// Right under the reference.
        raw: u64,
        /// Losses.
        loss: u64,
        /// Gains.
        gain: u64,
        /// Right under the arm.
        right: u64,
    },
    /// Templates that cannot be.
    #[error("{arm}: {n} tasks cannot come from {count} templates; between 2 and {n} can be read")]
    Templates {
        /// The arm.
        arm: Arc<str>,
        /// Templates.
        count: u64,
        /// Tasks.
        n: u64,
    },
    /// Counts that are no table.
    #[error("{arm}: {source}")]
    Stats {
        /// The arm.
        arm: Arc<str>,
        /// Why.
        source: StatsError,
    },
}

impl PublishedCounts {
    /// Reads a file.
    ///
    /// # Errors
    /// Another format, or no such file.
    pub fn parse(bytes: &[u8]) -> Result<Self, CountsError> {
        let parsed: Self = serde_json::from_slice(bench_tasks::without_mark(bytes))?;
        if parsed.schema == SCHEMA { Ok(parsed) } else { Err(CountsError::Schema(parsed.schema)) }
    }

    pub(super) fn rule(&self) -> Result<(Margin, Alpha), CountsError> {
        let margin: Margin = self.margin.parse().map_err(|error: StatsError| CountsError::Rule(error.to_string()))?;
        let alpha: f64 = self.alpha.parse().map_err(|_| CountsError::Rule(format!("`{}` is no number", self.alpha)))?;
        Ok((margin, Alpha::new(alpha).map_err(|error| CountsError::Rule(error.to_string()))?))
    }

    /// Templates behind a table, where known.
    pub(super) fn templates(&self, table: &PublishedTable) -> Result<Option<u64>, CountsError> {
        let known = self.templates.iter().find(|all| all.endpoints.contains(&table.endpoint));
        match known.map(|all| all.count.value) {
            Some(count) if !(2..=table.n.value).contains(&count) => {
                Err(CountsError::Templates { arm: Arc::clone(&table.arm), count, n: table.n.value })
            }
            count => Ok(count),
        }
    }
}

impl PublishedTable {
    /// Losses and gains must lead from one margin to the other.
    pub(super) fn check(&self) -> Result<(), CountsError> {
        let (Some(loss), Some(gain)) = (&self.loss, &self.gain) else { return Ok(()) };
        let (raw, right, loss, gain) = (self.raw_right.value, self.arm_right.value, loss.value, gain.value);
        if raw.checked_add(gain).and_then(|sum| sum.checked_sub(loss)) == Some(right) {
            return Ok(());
        }
        Err(CountsError::Contradiction { arm: Arc::clone(&self.arm), endpoint: self.endpoint, raw, loss, gain, right })
    }
}
