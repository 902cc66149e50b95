//! Where every number comes from.

use serde::Serialize;

use super::source::Sources;
use crate::certificate::{Certificate, TokenSource};

/// How far a number is from what was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Counted in the record, or stated by the provider.
    Measured,
    /// Follows from measured numbers by a rule that is frozen.
    Computed,
    /// A stand-in for a number that nobody measured.
    Estimated,
}

impl Origin {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Computed => "computed",
            Self::Estimated => "estimated",
        }
    }
}

/// One kind of number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OriginRow {
    /// The numbers.
    pub what: String,
    /// What they are.
    pub origin: Origin,
    /// From what, by what.
    pub how: String,
}

/// Where the numbers of this report come from.
pub(super) fn origins(certificate: Option<&Certificate>, sources: &Sources) -> Vec<OriginRow> {
    let row = |what: &str, origin, how: &str| OriginRow { what: what.to_owned(), origin, how: how.to_owned() };
    let mut all =
        vec![row("flow, ends, turns, calls, routes", Origin::Measured, "lines of episodes.jsonl and attempts.jsonl")];
    let Some(certificate) = certificate else { return all };
    all.extend([
        row(
            "right and wrong",
            Origin::Computed,
            "the recorded calls and answers against golds made from the seed, by fixed matchers; no model judges",
        ),
        row(
            "differences, intervals, p-values, verdicts",
            Origin::Computed,
            "certificate.json: the frozen rule over those counts",
        ),
        row("losses by server and tool", Origin::Computed, "the same counts, missing outcomes in the worst case"),
        row(
            "context tokens",
            Origin::Computed,
            "a public byte-pair encoding (o200k) over what is shown; no provider counts exactly this",
        ),
    ]);
    let provider = certificate.arms.iter().any(|arm| arm.usage.source == TokenSource::Provider);
    all.push(if provider {
        row("tokens of a request", Origin::Measured, "the provider's own usage, as recorded with each response")
    } else {
        row(
            "tokens of a request",
            Origin::Estimated,
            "the scripted model's own count of the wire bytes; no provider saw them",
        )
    });
    if let Some(pricing) = &sources.pricing {
        let origin = if provider { Origin::Computed } else { Origin::Estimated };
        let how = if pricing.billed {
            "those tokens at the prices of the run's own table"
        } else {
            "those tokens at the list prices of the protocol's model, as an example; nothing was billed"
        };
        all.push(row("dollars, three ways", origin, how));
        if pricing.billed {
            all.push(row(
                "dollars as billed",
                Origin::Measured,
                "booked per attempt from the provider's usage; unknown outcomes at their full reservation",
            ));
        }
    }
    all
}
