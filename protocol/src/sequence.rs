//! The order of testing: which claims of a family may be made, given which hold on their own.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::stats::{Alpha, StatsError, multiplicity::Graph};

/// How the claims of a family share one error rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Each claim at full α, in the given order, up to the first that does not hold.
    FixedSequence,
    /// Holm's step-down procedure.
    Holm,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FixedSequence => "fixed-sequence",
            Self::Holm => "holm",
        })
    }
}

/// A claim on its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// The largest p of its gates over its endpoints; none where it was not evaluated.
    pub p: Option<f64>,
    /// Whether it holds: gates, guards and controls together.
    pub holds: bool,
}

/// A claim in its family.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ordered {
    /// Adjusted p; none where the claim was not reached or not evaluated.
    pub adjusted: Option<f64>,
    /// Place of the earlier claim that stopped the sequence before this one.
    pub stopped_by: Option<usize>,
    /// Whether the claim may be made.
    pub allowed: bool,
}

/// Orders the claims of a family.
///
/// A claim that does not hold for another reason than its p (a guard fired, its p is none) passes nothing on.
///
/// # Errors
/// A p outside [0, 1].
pub fn order(rule: Order, claims: &[Claim], alpha: Alpha) -> Result<Vec<Ordered>, StatsError> {
    match rule {
        Order::FixedSequence => {
            let graph = Graph::fixed_sequence(claims.len());
            let adjusted = graph.adjusted(&claims.iter().map(|claim| claim.p).collect::<Vec<_>>())?;
            let stop = claims.iter().position(|claim| !claim.holds);
            Ok(claims
                .iter()
                .zip(adjusted)
                .enumerate()
                .map(|(place, (claim, adjusted))| {
                    let stopped_by = stop.filter(|&stop| stop < place);
                    Ordered {
                        adjusted: adjusted.filter(|_| stopped_by.is_none()),
                        stopped_by,
                        allowed: claim.holds && stopped_by.is_none(),
                    }
                })
                .collect())
        }
        Order::Holm => {
            let graph = Graph::holm(claims.len());
            // What a guard refused is as good as not rejected: its weight stays where it is.
            let p: Vec<Option<f64>> =
                claims.iter().map(|claim| claim.p.map(|p| if claim.holds { p } else { 1.0 })).collect();
            let adjusted = graph.adjusted(&p)?;
            Ok(claims
                .iter()
                .zip(adjusted)
                .map(|(claim, adjusted)| Ordered {
                    adjusted,
                    stopped_by: None,
                    allowed: claim.holds && adjusted.is_some_and(|p| alpha.certifies(p)),
                })
                .collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alpha() -> Alpha {
        Alpha::new(0.05).unwrap()
    }

    fn claims(all: &[(f64, bool)]) -> Vec<Claim> {
        all.iter().map(|&(p, holds)| Claim { p: Some(p), holds }).collect()
    }

    #[test]
    fn the_sequence_stops_at_the_first_claim_that_does_not_hold() {
        let ordered =
            order(Order::FixedSequence, &claims(&[(0.01, true), (0.2, false), (0.001, true)]), alpha()).unwrap();
        assert_eq!(ordered.iter().map(|o| o.allowed).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(ordered.iter().map(|o| o.stopped_by).collect::<Vec<_>>(), [None, None, Some(1)]);
        assert_eq!(ordered[2].adjusted, None);
    }

    #[test]
    fn a_guard_stops_the_sequence_although_the_p_is_small() {
        let ordered = order(Order::FixedSequence, &claims(&[(0.001, false), (0.001, true)]), alpha()).unwrap();
        assert_eq!(ordered[1].stopped_by, Some(0));
    }

    #[test]
    fn in_a_sequence_the_adjusted_p_is_the_largest_so_far() {
        let ordered = order(Order::FixedSequence, &claims(&[(0.04, true), (0.01, true)]), alpha()).unwrap();
        assert!((ordered[1].adjusted.unwrap() - 0.04).abs() < 1e-15);
    }

    #[test]
    fn holm_needs_alpha_over_k_first_and_no_claim_stops_another() {
        let ordered = order(Order::Holm, &claims(&[(0.04, true), (0.02, true)]), alpha()).unwrap();
        assert_eq!(ordered.iter().map(|o| o.allowed).collect::<Vec<_>>(), [true, true]);
        let ordered = order(Order::Holm, &claims(&[(0.04, true), (0.03, true)]), alpha()).unwrap();
        assert_eq!(ordered.iter().map(|o| o.allowed).collect::<Vec<_>>(), [false, false]);
    }

    #[test]
    fn a_claim_that_a_guard_refused_hands_on_no_weight_in_holm() {
        let ordered = order(Order::Holm, &claims(&[(0.04, true), (0.001, false)]), alpha()).unwrap();
        assert_eq!(ordered.iter().map(|o| o.allowed).collect::<Vec<_>>(), [false, false]);
    }
}
