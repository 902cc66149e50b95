//! The one-sided level of a test and how a p-value is compared with it.

use serde::{Deserialize, Serialize};

use super::distribution::normal_quantile;
use super::error::StatsError;

/// Half-width of the declared dead band around alpha. Special functions may differ by an ulp between machines; a p-value
/// this close to alpha certifies nowhere, so that a verdict can't depend on the machine.
pub const DEAD_BAND: f64 = 1e-9;

/// A one-sided level in (0, ½). The two-sided interval that decides with it has level `1 − 2·alpha`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Alpha(f64);

impl Alpha {
    /// Checks the range.
    ///
    /// # Errors
    /// [`StatsError::Alpha`] unless `0 < alpha < ½`.
    pub fn new(alpha: f64) -> Result<Self, StatsError> {
        if alpha > 0.0 && alpha < 0.5 { Ok(Self(alpha)) } else { Err(StatsError::Alpha { found: alpha }) }
    }

    /// The level itself.
    pub fn value(self) -> f64 {
        self.0
    }

    /// The standard normal quantile `Φ⁻¹(1 − alpha)`.
    pub fn z(self) -> f64 {
        normal_quantile(1.0 - self.0)
    }

    /// Whether `p` rejects its null hypothesis so clearly that it may count towards a certificate: `p ≤ alpha − 1e-9`.
    /// The dead band always counts as not passed; NaN does not pass either.
    pub fn certifies(self, p: f64) -> bool {
        p <= self.0 - DEAD_BAND
    }
}

impl TryFrom<f64> for Alpha {
    type Error = StatsError;

    fn try_from(alpha: f64) -> Result<Self, StatsError> {
        Self::new(alpha)
    }
}

impl From<Alpha> for f64 {
    fn from(alpha: Alpha) -> Self {
        alpha.0
    }
}

#[cfg(test)]
mod tests {
    use super::{Alpha, DEAD_BAND};

    #[test]
    fn a_level_outside_its_range_is_refused() {
        for bad in [0.0, 0.5, -0.1, 1.0, f64::NAN, f64::INFINITY] {
            assert!(Alpha::new(bad).is_err(), "{bad}");
        }
        assert!(serde_json::from_str::<Alpha>("0.7").is_err());
    }

    #[test]
    fn the_quantiles_of_both_usual_levels_are_exact_to_the_last_digit() {
        let z = |alpha| Alpha::new(alpha).unwrap().z();
        assert!((z(0.05) - 1.644_853_626_951_472_2).abs() < 1e-15);
        assert!((z(0.025) - 1.959_963_984_540_054_5).abs() < 1e-15);
    }

    #[test]
    fn the_dead_band_never_certifies() {
        let alpha = Alpha::new(0.05).unwrap();
        for p in [0.05, 0.05 - 0.5e-9, 0.05 + 0.5e-9] {
            assert!((p - alpha.value()).abs() < DEAD_BAND && !alpha.certifies(p), "{p}");
        }
        assert!(alpha.certifies(0.05 - 2e-9) && !alpha.certifies(0.05 + 2e-9));
        assert!(alpha.certifies(0.0) && !alpha.certifies(f64::NAN));
    }
}
