//! The numbers that the verdict rule takes from the protocol.

use super::VerdictError;
use crate::{
    spec::Protocol,
    stats::{Alpha, GateRule, Margin},
};

/// Everything that the rule compares something with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Margin, one-sided level, design-effect floors.
    pub gates: GateRule,
    /// Two-sided level at which two raw passes differ.
    pub noise_alpha: f64,
    /// Least accuracy of the reference on every endpoint, an exact fraction.
    pub assay_floor: Margin,
    /// An arm with a larger share of pairs that lack an outcome is not evaluated, an exact fraction.
    pub missing_limit: Margin,
}

impl Rule {
    /// The rule of a protocol.
    ///
    /// # Errors
    /// [`VerdictError::Rule`] where a value is no proper fraction or the level is no one-sided level.
    pub fn of(protocol: &Protocol) -> Result<Self, VerdictError> {
        let fraction = |text: &str| text.parse().map_err(VerdictError::Rule);
        Ok(Self {
            gates: GateRule {
                margin: protocol.test.margin,
                alpha: Alpha::new(protocol.test.alpha.value()).map_err(VerdictError::Rule)?,
                frame_floor: protocol.test.deff_floor_frames.value(),
                tool_floor: protocol.test.deff_floor_tools.value(),
            },
            noise_alpha: protocol.guards.noise_alpha.value(),
            assay_floor: fraction(protocol.guards.assay_floor.text())?,
            missing_limit: fraction(protocol.guards.infrastructure_missing_limit.text())?,
        })
    }

    /// The margin δ.
    pub fn margin(&self) -> Margin {
        self.gates.margin
    }

    /// The one-sided level α.
    pub fn alpha(&self) -> Alpha {
        self.gates.alpha
    }

    /// Whether so many pairs without an outcome break the run for an arm: strictly more than the limit.
    pub fn too_many_missing(&self, missing: u64, pairs: u64) -> bool {
        exceeds(missing, pairs, self.missing_limit)
    }
}

/// Whether `part/whole > limit`, exact.
pub(crate) fn exceeds(part: u64, whole: u64, limit: Margin) -> bool {
    u128::from(part) * u128::from(limit.den()) > u128::from(limit.num()) * u128::from(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_protocol_gives_the_documented_rule() {
        let rule = Rule::of(&Protocol::built_in().unwrap()).unwrap();
        assert_eq!((rule.margin().num(), rule.margin().den()), (1, 50));
        assert!((rule.alpha().value() - 0.05).abs() < 1e-15);
        assert!((rule.noise_alpha - 0.01).abs() < 1e-15);
        assert_eq!((rule.assay_floor.num(), rule.assay_floor.den()), (7, 10));
    }

    #[test]
    fn exactly_one_percent_missing_is_still_evaluated() {
        let rule = Rule::of(&Protocol::built_in().unwrap()).unwrap();
        assert!(!rule.too_many_missing(10, 1_000));
        assert!(rule.too_many_missing(11, 1_000));
    }
}
