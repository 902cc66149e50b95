//! The noise floor: the same thing a second time, against its first pass.
//!
//! If the rule would not certify it, the assay is too noisy to call a level failed. Missing outcomes must not bring that
//! about: the excuse needs that neither extreme reading of them is certified. Only if the two passes really differ (exact
//! two-sided McNemar) are certificates void, too: then something drifted.

use std::sync::Arc;

use super::{
    ArmInput, Endpoint, EndpointEvidence, FamilyInput, Imputation, Reason, Rule, VerdictError,
    assay::{has_pairs, weigh_all},
};
use crate::stats::{ExactCache, level::DEAD_BAND, mcnemar::mcnemar};

/// What the second pass says.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// The second pass.
    pub arm: Arc<str>,
    /// Its evidence against the first, missing outcomes in the worst case.
    pub endpoints: Vec<EndpointEvidence>,
    /// Whether the rule would certify it on that evidence.
    pub certified: bool,
    /// Whether the rule would certify it neither in the worst case nor in the best: noise alone, and no missing outcome,
    /// keeps it from a certificate.
    pub too_noisy: bool,
    /// Two-sided exact p, by endpoint; the smaller of the two extreme readings of missing outcomes.
    pub p_differ: Vec<(Endpoint, f64)>,
    /// Endpoints on which the passes differ.
    pub differ: Vec<Endpoint>,
}

impl Noise {
    /// Why a failure may be noise.
    pub(crate) fn excuse(&self) -> Option<Reason> {
        self.too_noisy.then(|| Reason::NoiseTooHigh { arm: Arc::clone(&self.arm) })
    }

    /// Why certificates are void.
    pub(crate) fn voids(&self) -> Vec<Reason> {
        self.differ.iter().map(|&endpoint| Reason::PassesDiffer { arm: Arc::clone(&self.arm), endpoint }).collect()
    }
}

/// Judges the second pass; none where it did not run.
///
/// # Errors
/// As [`super::evidence::weigh`].
pub fn noise(rule: &Rule, family: &FamilyInput, exact: &ExactCache) -> Result<Option<Noise>, VerdictError> {
    let Some(again) = family.again.as_ref().filter(|again| has_pairs(again)) else { return Ok(None) };
    let endpoints = weigh_all(rule, family, again, Imputation::WorstCase, exact)?;
    let p_differ = p_differ(family, again)?;
    let differ =
        p_differ.iter().filter(|(_, p)| *p < rule.noise_alpha + DEAD_BAND).map(|&(endpoint, _)| endpoint).collect();
    let passes = |endpoints: &[EndpointEvidence]| endpoints.iter().all(|endpoint| endpoint.gates.pass());
    let certified = passes(&endpoints);
    let too_noisy = !certified && !passes(&weigh_all(rule, family, again, Imputation::BestCase, exact)?);
    Ok(Some(Noise { arm: Arc::clone(&again.arm), endpoints, certified, too_noisy, p_differ, differ }))
}

fn p_differ(family: &FamilyInput, again: &ArmInput) -> Result<Vec<(Endpoint, f64)>, VerdictError> {
    let mut all = Vec::new();
    for &endpoint in family.kind.endpoints() {
        let cells = again.endpoint(endpoint)?.total();
        let extremes =
            [Imputation::WorstCase, Imputation::BestCase].into_iter().filter_map(|imputation| cells.counts(imputation));
        let p = extremes.map(|counts| mcnemar(counts.gain(), counts.loss()).two_sided).fold(1.0, f64::min);
        all.push((endpoint, p));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{
        Mark,
        fixture::{arm, cells, endpoint, healthy, rule},
    };

    fn seen(loss: u64, gain: u64) -> Noise {
        let mut input = healthy();
        input.again = Some(arm("raw-again", &endpoint(1_000, 20, cells(1_000 - loss - gain, loss, gain, 0))));
        noise(&rule(), &input, &ExactCache::new()).unwrap().unwrap()
    }

    #[test]
    fn ordinary_flips_are_certified_and_do_not_differ() {
        let noise = seen(10, 12);
        assert!(noise.certified && noise.differ.is_empty());
    }

    #[test]
    fn many_even_flips_are_too_noisy_but_no_difference() {
        let noise = seen(120, 118);
        assert!(!noise.certified && noise.differ.is_empty());
        assert!(noise.excuse().is_some());
    }

    #[test]
    fn missing_outcomes_are_no_noise_that_excuses_a_failure() {
        // Eight losses are certified; with eight missing outcomes read as losses, too, they would not be.
        let mut table = cells(984, 8, 0, 0);
        table.count_many(Mark::Right, Mark::Missing, 8);
        let mut input = healthy();
        input.again = Some(arm("raw-again", &endpoint(1_000, 20, table)));
        let noise = noise(&rule(), &input, &ExactCache::new()).unwrap().unwrap();
        assert!(!noise.certified && noise.excuse().is_none());
    }

    #[test]
    fn passes_differ_in_either_direction() {
        // Two-sided exact p of 8:0 is 2/256 = 0.0078, of 7:0 it is 0.0156.
        assert_eq!(seen(0, 8).differ, [Endpoint::Selection, Endpoint::Arguments]);
        assert_eq!(seen(8, 0).differ.len(), 2);
        assert!(seen(7, 0).differ.is_empty());
    }
}
