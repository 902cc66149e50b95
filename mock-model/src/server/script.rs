//! Fault scripts: which requests are struck by what. The format is described in `docs/mock-server.md`.

use std::{collections::HashMap, time::Duration};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::{
    draw::OwnedDraw,
    fault::{Bill, Fault, FaultKind, Wait},
};
use crate::noise::word;

/// Rates are in parts of this.
const MILLION: u32 = 1_000_000;

/// A fault script, checked.
#[derive(Debug, Clone, Default)]
pub struct Script {
    seed: [u8; 32],
    rules: Vec<Rule>,
}

/// Why a script is no script.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScriptError {
    /// No TOML, or fields that are none.
    #[error("{0}")]
    Toml(String),
    /// A format that this version does not know.
    #[error("schema {0} is unknown; this version reads schema 1")]
    Schema(u32),
    /// A fault that makes no sense.
    #[error("fault {place} (`{kind}`): {why}")]
    Fault {
        /// Its place in the file, from 1.
        place: usize,
        /// Its kind.
        kind: FaultKind,
        /// What is wrong, and what to write instead.
        why: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    #[serde(default)]
    seed: String,
    #[serde(default)]
    fault: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kind: FaultKind,
    #[serde(default)]
    billed: Option<bool>,
    #[serde(default)]
    rate_ppm: Option<u32>,
    #[serde(default)]
    nth: Vec<u64>,
    #[serde(default)]
    draws: Vec<String>,
    #[serde(default)]
    tries: Option<u32>,
    #[serde(default)]
    wait_ms: Option<u64>,
}

#[derive(Debug, Clone)]
struct Rule {
    fault: Fault,
    rate_ppm: u32,
    nth: Vec<u64>,
    draws: Vec<String>,
    /// Tries of a draw that can be struck.
    tries: u32,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Anything unknown, missing or contradictory, with its place.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let file: File = toml::from_str(text).map_err(|error| ScriptError::Toml(error.to_string()))?;
        if file.schema != 1 {
            return Err(ScriptError::Schema(file.schema));
        }
        let rules = file.fault.into_iter().enumerate().map(|(index, entry)| entry.rule(index + 1));
        Ok(Self { seed: Sha256::digest(file.seed.as_bytes()).into(), rules: rules.collect::<Result<_, _>>()? })
    }

    /// True where nothing can be struck.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The fault that strikes the `n`-th request (from 1), which is the `attempt`-th (from 1) of its draw: the first rule
    /// that fits.
    pub(super) fn choose(&self, n: u64, draw: &OwnedDraw, attempt: u32) -> Option<Fault> {
        self.rules
            .iter()
            .enumerate()
            .find(|(index, rule)| self.fits(*index, rule, n, draw, attempt))
            .map(|(_, r)| r.fault)
    }

    fn fits(&self, index: usize, rule: &Rule, n: u64, draw: &OwnedDraw, attempt: u32) -> bool {
        if attempt > rule.tries {
            return false;
        }
        if rule.nth.contains(&n) || rule.draws.iter().any(|name| draw.is(name)) {
            return true;
        }
        let (index, turn, attempt) = (index.to_string(), draw.turn.to_string(), attempt.to_string());
        let mut labels = vec!["fault", index.as_str(), &draw.task, &draw.arm, &turn];
        if !rule.fault.kind.alters_content() {
            labels.push(&attempt);
        }
        rule.rate_ppm > 0 && word(&self.seed, &labels) % u64::from(MILLION) < u64::from(rule.rate_ppm)
    }
}

impl Entry {
    fn rule(self, place: usize) -> Result<Rule, ScriptError> {
        let kind = self.kind;
        let wrong = |why| Err(ScriptError::Fault { place, kind, why });
        let rate_ppm = self.rate_ppm.unwrap_or(0);
        if rate_ppm > MILLION {
            return wrong("`rate_ppm` is in parts per million, 1000000 at most");
        }
        if rate_ppm == 0 && self.nth.is_empty() && self.draws.is_empty() {
            return wrong("it strikes nothing; give `rate_ppm`, `nth` or `draws`");
        }
        if self.nth.contains(&0) {
            return wrong("`nth` counts from 1");
        }
        if self.draws.iter().any(|name| OwnedDraw::parse(name).is_none()) {
            return wrong("a draw reads `TASK/ARM/TURN`");
        }
        if self.tries == Some(0) {
            return wrong("`tries` counts from 1; leave it out for all");
        }
        if kind.alters_content() && self.tries.is_some() {
            return wrong("it alters what a draw ends with, so it strikes every try; leave `tries` out");
        }
        let billed = match (kind.bill(), self.billed) {
            (Bill::Never, None | Some(false)) => false,
            (Bill::Never, Some(true)) => return wrong("it is never billed; leave `billed` out"),
            (Bill::Always, None | Some(true)) => true,
            (Bill::Always, Some(false)) => return wrong("it is billed as its reply says; leave `billed` out"),
            (Bill::Stated, Some(billed)) => billed,
            (Bill::Stated, None) => return wrong("say whether it is billed: `billed = true` or `billed = false`"),
        };
        let wait = match (kind.wait(), self.wait_ms) {
            (Wait::None, Some(_)) => return wrong("it has no wait; leave `wait_ms` out"),
            (_, Some(wait)) => Some(Duration::from_millis(wait)),
            (Wait::Default(default), None) => Some(default),
            (Wait::None | Wait::Optional, None) => None,
        };
        let tries = self.tries.unwrap_or(u32::MAX);
        Ok(Rule { fault: Fault { kind, billed, wait }, rate_ppm, nth: self.nth, draws: self.draws, tries })
    }
}

/// How often each draw has been asked. One small entry per draw, and none where no script needs it.
#[derive(Debug, Default)]
pub(super) struct Tries(HashMap<OwnedDraw, u32>);

impl Tries {
    /// Counts a request; its number among those of its draw, from 1.
    pub(super) fn count(&mut self, draw: &OwnedDraw) -> u32 {
        if let Some(tries) = self.0.get_mut(draw) {
            *tries = tries.saturating_add(1);
            return *tries;
        }
        self.0.insert(draw.clone(), 1);
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(task: &str) -> OwnedDraw {
        OwnedDraw { task: task.to_owned(), arm: "L2".to_owned(), turn: 1 }
    }

    fn script(faults: &str) -> Script {
        Script::parse(&format!("schema = 1\nseed = \"s\"\n{faults}")).unwrap()
    }

    #[test]
    fn exact_places_are_struck_and_no_others() {
        let script =
            script("[[fault]]\nkind = \"overloaded\"\nbilled = false\nnth = [3]\ndraws = [\"t7/L2/1\"]\ntries = 2");
        let struck = |n, task, attempt| script.choose(n, &draw(task), attempt).is_some();
        assert!(struck(3, "t1", 1) && struck(9, "t7", 1) && struck(9, "t7", 2));
        assert!(!struck(2, "t1", 1) && !struck(9, "t7", 3) && !struck(9, "t1", 1));
    }

    #[test]
    fn a_rate_strikes_its_share_and_the_same_requests_each_time() {
        let rule = script("[[fault]]\nkind = \"reset\"\nbilled = true\nrate_ppm = 250000");
        let struck: Vec<bool> = (0..4_000).map(|n| rule.choose(n + 1, &draw(&format!("t{n}")), 1).is_some()).collect();
        let share = struck.iter().filter(|&&hit| hit).count();
        // Four standard deviations of a binomial of 4,000 at a quarter.
        assert!((1_000_usize).abs_diff(share) < 110, "{share}");
        let again: Vec<bool> = (0..4_000).map(|n| rule.choose(9, &draw(&format!("t{n}")), 1).is_some()).collect();
        assert_eq!(struck, again);
        let second = (0..4_000).filter(|n| rule.choose(9, &draw(&format!("t{n}")), 2).is_some());
        assert!(second.zip(0..).any(|(task, _)| !struck[task]), "a second try is drawn anew");
    }

    #[test]
    fn what_alters_content_strikes_every_try_or_none() {
        let rule = script("[[fault]]\nkind = \"refusal\"\nrate_ppm = 500000");
        for n in 0..200 {
            let at = |attempt| rule.choose(1, &draw(&format!("t{n}")), attempt);
            assert_eq!(at(1), at(2));
        }
    }

    #[test]
    fn the_first_rule_that_fits_wins() {
        let both = script("[[fault]]\nkind = \"refusal\"\nnth = [1]\n[[fault]]\nkind = \"spend-cap\"\nnth = [1, 2]");
        let kind = |n| both.choose(n, &draw("t"), 1).map(|fault| fault.kind);
        assert_eq!((kind(1), kind(2), kind(3)), (Some(FaultKind::Refusal), Some(FaultKind::SpendCap), None));
    }

    #[test]
    fn slips_are_refused_with_their_place() {
        let entries = [
            "kind = \"refusal\"",
            "kind = \"reset\"\nnth = [1]",
            "kind = \"rate-limited\"\nnth = [1]\nbilled = true",
            "kind = \"refusal\"\nnth = [1]\nbilled = false",
            "kind = \"refusal\"\nnth = [1]\ntries = 1",
            "kind = \"spend-cap\"\nnth = [1]\nwait_ms = 5",
            "kind = \"spend-cap\"\nnth = [0]",
            "kind = \"spend-cap\"\nnth = [1]\ntries = 0",
            "kind = \"spend-cap\"\ndraws = [\"t1\"]",
            "kind = \"spend-cap\"\nrate_ppm = 1000001",
            "kind = \"spendcap\"\nnth = [1]",
            "kind = \"spend-cap\"\nnht = [1]",
        ];
        let mut refusals = vec![Script::parse("schema = 2").unwrap_err().to_string()];
        refusals.extend(
            entries.map(|entry| Script::parse(&format!("schema = 1\n[[fault]]\n{entry}")).unwrap_err().to_string()),
        );
        insta::assert_snapshot!(refusals.join("\n"));
    }
}
