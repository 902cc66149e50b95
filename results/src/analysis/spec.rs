//! What is to be counted: arms, their roles, and what each is compared with.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bench_protocol::{
    controls::{NAMES_ONLY, PLANTED_LOSS, R_AGAIN, R_NO_EXPAND, RAW_AGAIN},
    rng::Seed,
    spec::Protocol,
    stats::Alpha,
    verdict::FamilyKind,
};
use serde::{Deserialize, Serialize};

use super::AnalysisError;

/// What an arm is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// What everything is compared with.
    Reference,
    /// Tested.
    Level,
    /// The same thing a second time.
    Again,
    /// A control that must not be certified.
    MustNotCertify,
    /// A control that must show damage.
    MustShowDamage,
    /// Measured beside the reference and not tested: comparisons have such arms, certificates have none.
    Shown,
}

/// One arm of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmSpec {
    /// Its name.
    pub id: Arc<str>,
    /// What it is there for.
    pub role: Role,
    /// The arm it is compared with; none for the reference.
    pub baseline: Option<Arc<str>>,
    /// Indices of the tasks it was planned to run; none means all.
    pub subset: Option<BTreeSet<u64>>,
    /// Tools, `server/tool`, that it shows in full from the start; the difference is split by them.
    pub pinned: Option<BTreeSet<Arc<str>>>,
    /// Why the provider refused its surface in the pre-flight.
    pub refused: Option<String>,
}

/// One family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilySpec {
    /// Which family.
    pub kind: FamilyKind,
    /// Its arms; the flags of [`super::TaskMeta::affected`] are in this order.
    pub arms: Vec<ArmSpec>,
    /// Controls that the protocol demands, whether they ran or not.
    pub required_controls: Vec<Arc<str>>,
}

/// How the estimates that don't gate are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reporting {
    /// One-sided level; intervals have level `1 − 2·alpha`.
    pub alpha: Alpha,
    /// Resamples of the cluster bootstraps.
    pub resamples: u32,
    /// Their seed; each arm, endpoint and purpose has a stream of its own.
    pub seed: Seed,
}

impl FamilySpec {
    /// The levels of a protocol with their reference and controls, as far as they are among the arms that ran.
    ///
    /// # Errors
    /// A control that is none of levels.
    pub fn levels(protocol: &Protocol, ran: &[&str]) -> Result<Self, AnalysisError> {
        let arms = &protocol.arms;
        let reference = arms.reference.as_str();
        let role = |id: &str| match id {
            RAW_AGAIN => Some(Role::Again),
            PLANTED_LOSS => Some(Role::MustNotCertify),
            NAMES_ONLY => Some(Role::MustShowDamage),
            _ => None,
        };
        let mut listed = vec![(reference, Role::Reference, None)];
        listed.extend(arms.levels.iter().map(|id| (id.as_str(), Role::Level, Some(reference))));
        for id in &arms.controls {
            let role = role(id).ok_or_else(|| unknown(id, reference, &[RAW_AGAIN, PLANTED_LOSS, NAMES_ONLY]))?;
            listed.push((id, role, Some(reference)));
        }
        Ok(Self::of(FamilyKind::Levels, listed, ran, &arms.controls))
    }

    /// R with its reference and controls, as far as they are among the arms that ran. `R-again` is compared with R, the
    /// others with R's own raw.
    ///
    /// # Errors
    /// A control that is none of R.
    pub fn results(protocol: &Protocol, ran: &[&str]) -> Result<Self, AnalysisError> {
        let arms = &protocol.arms;
        let reference = arms.results_reference.as_str();
        let first = arms.results.first().map(String::as_str);
        let role = |id: &str| match id {
            R_AGAIN => Some((Role::Again, first)),
            R_NO_EXPAND => Some((Role::MustNotCertify, Some(reference))),
            _ => None,
        };
        let mut listed = vec![(reference, Role::Reference, None)];
        listed.extend(arms.results.iter().map(|id| (id.as_str(), Role::Level, Some(reference))));
        for id in &arms.results_controls {
            let (role, baseline) = role(id).ok_or_else(|| unknown(id, reference, &[R_AGAIN, R_NO_EXPAND]))?;
            listed.push((id, role, baseline));
        }
        Ok(Self::of(FamilyKind::Results, listed, ran, &arms.results_controls))
    }

    fn of<'a>(
        kind: FamilyKind,
        listed: Vec<(&'a str, Role, Option<&'a str>)>,
        ran: &[&str],
        controls: &[String],
    ) -> Self {
        let arms = listed
            .into_iter()
            .filter(|(id, _, _)| ran.contains(id))
            .map(|(id, role, baseline)| ArmSpec {
                id: id.into(),
                role,
                baseline: baseline.map(Arc::from),
                subset: None,
                pinned: None,
                refused: None,
            })
            .collect();
        Self { kind, arms, required_controls: controls.iter().map(|id| Arc::from(id.as_str())).collect() }
    }

    /// The place of the reference.
    pub(super) fn reference(&self) -> Option<usize> {
        self.arms.iter().position(|arm| arm.role == Role::Reference)
    }

    /// Checks that the arms fit together; returns the place of each arm's baseline.
    pub(super) fn baselines(&self) -> Result<Vec<Option<usize>>, AnalysisError> {
        let reference = self.arms.iter().find(|arm| arm.role == Role::Reference);
        let name = reference.map_or_else(|| Arc::from("?"), |arm| Arc::clone(&arm.id));
        let refuse = |why: String| Err(AnalysisError::Family { reference: Arc::clone(&name), why });
        if self.arms.iter().filter(|arm| arm.role == Role::Reference).count() != 1 {
            return refuse("there must be exactly one reference".to_owned());
        }
        let places: BTreeMap<&str, usize> = self.arms.iter().enumerate().map(|(at, arm)| (&*arm.id, at)).collect();
        if places.len() != self.arms.len() {
            return refuse("an arm is named twice".to_owned());
        }
        let mut all = Vec::new();
        for arm in &self.arms {
            match (&arm.baseline, arm.role) {
                (None, Role::Reference) => all.push(None),
                (Some(baseline), role) if role != Role::Reference => match places.get(&**baseline) {
                    Some(&place) => all.push(Some(place)),
                    None => return refuse(format!("`{}` is compared with `{baseline}`, which did not run", arm.id)),
                },
                _ => return refuse(format!("`{}` must be compared with exactly one other arm", arm.id)),
            }
        }
        Ok(all)
    }
}

/// A control whose part nobody has said: to guess one would decide what its outcome means.
fn unknown(control: &str, reference: &str, known: &[&str]) -> AnalysisError {
    AnalysisError::Family {
        reference: reference.into(),
        why: format!(
            "`{control}` is no control that it knows; list some of {} in the protocol's [arms]",
            known.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_of_the_built_in_protocol_has_its_part() {
        let protocol = Protocol::built_in().unwrap();
        let roles = |spec: FamilySpec| -> Vec<(String, Role)> {
            spec.arms.into_iter().map(|arm| (arm.id.to_string(), arm.role)).collect()
        };
        let ran = ["raw", "raw-again", "planted-loss", "names-only", "results-raw", "R", "R-again", "R-no-expand"];
        let levels = roles(FamilySpec::levels(&protocol, &ran).unwrap());
        assert_eq!(
            levels[1..],
            [
                (RAW_AGAIN.to_owned(), Role::Again),
                (PLANTED_LOSS.to_owned(), Role::MustNotCertify),
                (NAMES_ONLY.to_owned(), Role::MustShowDamage)
            ]
        );
        let results = roles(FamilySpec::results(&protocol, &ran).unwrap());
        assert_eq!(results[2..], [(R_AGAIN.to_owned(), Role::Again), (R_NO_EXPAND.to_owned(), Role::MustNotCertify)]);
    }

    #[test]
    fn a_control_that_nobody_gave_a_part_is_an_error_that_names_it() {
        let mut protocol = Protocol::built_in().unwrap();
        protocol.arms.controls.push("L0".to_owned());
        protocol.arms.results_controls.push(NAMES_ONLY.to_owned());
        let levels = FamilySpec::levels(&protocol, &["raw"]).unwrap_err().to_string();
        assert!(levels.contains("`L0` is no control") && levels.contains(RAW_AGAIN), "{levels}");
        let results = FamilySpec::results(&protocol, &["results-raw"]).unwrap_err().to_string();
        assert!(results.contains("`names-only` is no control") && results.contains(R_AGAIN), "{results}");
    }
}
