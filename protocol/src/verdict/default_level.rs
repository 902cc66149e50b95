//! What a product may turn on: the executable default rule over a primary and a replication run.

use std::sync::Arc;

use super::{FamilyVerdict, LevelVerdict, Status};
use crate::spec::DefaultRule;

/// The answer of the default rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultLevel {
    /// The level.
    pub level: Arc<str>,
    /// Whether it was earned, or is the fallback.
    pub earned: bool,
}

/// Where a level stands, as far as the rule looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The level.
    pub arm: Arc<str>,
    /// Its verdict.
    pub status: Status,
    /// The label on top.
    pub tool_robust: bool,
}

impl Standing {
    /// All levels of a verdict, in the order of testing.
    pub fn all(verdict: &FamilyVerdict) -> Vec<Self> {
        let of = |level: &LevelVerdict| Self {
            arm: Arc::clone(&level.arm),
            status: level.status,
            tool_robust: level.tool_robust,
        };
        verdict.levels.iter().map(of).collect()
    }
}

/// As [`default_of`], for verdicts that were just reached.
pub fn default_level(rule: &DefaultRule, primary: &FamilyVerdict, replication: Option<&FamilyVerdict>) -> DefaultLevel {
    default_of(rule, &Standing::all(primary), replication.map(Standing::all).as_deref())
}

/// The most aggressive level, in the order of testing, that is certified on the primary run (tool-robust, where the rule
/// asks for it) and certified on the replication run (where the rule asks for one); else the fallback.
pub fn default_of(rule: &DefaultRule, primary: &[Standing], replication: Option<&[Standing]>) -> DefaultLevel {
    let earned = primary.iter().rev().find(|level| {
        level.status == Status::Certified
            && (level.tool_robust || !rule.require_tool_robust)
            && (!rule.require_replication || certified(replication, &level.arm))
    });
    match earned {
        Some(level) => DefaultLevel { level: Arc::clone(&level.arm), earned: true },
        None => DefaultLevel { level: rule.fallback.as_str().into(), earned: false },
    }
}

/// Whether an arm is certified in a run that was made.
pub fn certified(run: Option<&[Standing]>, arm: &str) -> bool {
    run.is_some_and(|run| run.iter().any(|level| &*level.arm == arm && level.status == Status::Certified))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        stats::ExactCache,
        verdict::{
            evaluate,
            fixture::{healthy, rule},
        },
    };

    fn default_rule() -> DefaultRule {
        DefaultRule { fallback: "L0".to_owned(), require_tool_robust: true, require_replication: true }
    }

    fn run() -> FamilyVerdict {
        evaluate(&rule(), &healthy(), &ExactCache::new()).unwrap()
    }

    #[test]
    fn the_most_aggressive_level_certified_on_both_models_is_earned() {
        let seen = default_level(&default_rule(), &run(), Some(&run()));
        assert_eq!((&*seen.level, seen.earned), ("L1", true));
    }

    #[test]
    fn without_a_replication_the_fallback_stays() {
        let seen = default_level(&default_rule(), &run(), None);
        assert_eq!((&*seen.level, seen.earned), ("L0", false));
    }

    #[test]
    fn a_level_that_is_not_tool_robust_gives_way_to_the_one_before() {
        let mut primary = run();
        primary.levels[1].tool_robust = false;
        assert_eq!(&*default_level(&default_rule(), &primary, Some(&run())).level, "L0");
    }
}
