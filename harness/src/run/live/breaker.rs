//! When failures in a row are an outage, or an account that is refused: the run stops before it has burnt every draw's tries.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::models::{Outcome, Retry};

/// Failures in a row after which a run may stop: more than one draw's tries, fewer than an outage would burn.
const BREAKER: u32 = 20;

/// How long nothing must have been answered. At 16 in flight the first failures of an outage are in a row within a second,
/// and the retry rule has a right to its waits; as many draws that it has given up stop the run at once.
const SILENCE: Duration = Duration::from_secs(2 * 60);

/// Failures in a row over all draws.
#[derive(Debug)]
pub(super) struct Breaker(Mutex<Row>);

#[derive(Debug)]
struct Row {
    /// When a request was last answered, or the run began.
    answered: Instant,
    /// Since then, or since the provider last said no for a reason of its own: requests that failed, and draws given up.
    failures: u32,
    given_up: u32,
    /// Since the last answer: requests that were refused for what they are, and the arms that they were of.
    refusals: u32,
    refused: BTreeSet<Arc<str>>,
    /// Since the last answer: why a request failed, the last one that did.
    last: Option<String>,
}

impl Row {
    fn new(answered: Instant) -> Self {
        Self { answered, failures: 0, given_up: 0, refusals: 0, refused: BTreeSet::new(), last: None }
    }
}

impl Breaker {
    /// A breaker for a run that begins now.
    pub(super) fn new(now: Instant) -> Self {
        Self(Mutex::new(Row::new(now)))
    }

    /// A request was answered.
    pub(super) fn answered(&self, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Row::new(now);
    }

    /// Why a request failed.
    pub(super) fn noted(&self, why: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last = Some(why.to_owned());
    }

    /// Why the last request failed, where none was answered since.
    pub(super) fn last_failure(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last.clone()
    }

    /// Counts an outcome that is no reply; how many there are in a row once they are too many. Being told to slow down is no
    /// failure. Refusals of one arm alone are its own matter: its surface may be what the provider does not take.
    pub(super) fn failed(&self, outcome: &Outcome, arm: &Arc<str>, given_up: bool, now: Instant) -> Option<u32> {
        let mut row = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let overload = outcome.is_overload();
        if !overload && outcome.retry() == Some(Retry::Never) {
            row.refusals += 1;
            row.refused.insert(Arc::clone(arm));
            (row.failures, row.given_up) = (0, 0);
            return (row.refusals >= BREAKER && row.refused.len() > 1).then_some(row.refusals);
        }
        if overload && outcome.status() == Some(429) {
            (row.failures, row.given_up) = (0, 0);
            return None;
        }
        row.failures += 1;
        row.given_up += u32::from(given_up);
        let silent = now.saturating_duration_since(row.answered) >= SILENCE;
        (row.failures >= BREAKER && (silent || row.given_up >= BREAKER)).then_some(row.failures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{
        Dialect,
        facts::{ErrorBody, Facts},
    };

    fn status(status: u16) -> Outcome {
        let facts = Facts { retry_after: Some(Duration::from_secs(1)), ..Facts::default() };
        Outcome::of_status(Dialect::OpenAi, status, facts, ErrorBody::default())
    }

    fn not_sent() -> Outcome {
        Outcome::NotSent { cause: "c".to_owned() }
    }

    /// The first of so many outcomes that trips the breaker, from 1.
    fn trips(breaker: &Breaker, outcome: &Outcome, arms: &[&str], given_up: bool, now: Instant) -> Option<u32> {
        let mut arms = arms.iter().map(|&arm| Arc::from(arm)).cycle();
        (1..=3 * BREAKER).find(|_| breaker.failed(outcome, &arms.next().unwrap(), given_up, now).is_some())
    }

    #[tokio::test]
    async fn an_outage_must_last_or_have_burnt_as_many_draws() {
        let start = Instant::now();
        assert_eq!(trips(&Breaker::new(start), &not_sent(), &["raw"], false, start), None);
        let late = start + SILENCE;
        assert_eq!(trips(&Breaker::new(start), &not_sent(), &["raw"], false, late), Some(BREAKER));
        assert_eq!(trips(&Breaker::new(start), &status(500), &["raw"], true, start), Some(BREAKER));
        let breaker = Breaker::new(start);
        breaker.answered(late);
        assert_eq!(trips(&breaker, &status(503), &["raw"], false, late), None, "something was answered just now");
    }

    #[tokio::test]
    async fn only_failures_in_a_row_count_and_being_told_to_wait_is_none() {
        let start = Instant::now();
        let late = start + SILENCE;
        let breaker = Breaker::new(start);
        let raw: Arc<str> = "raw".into();
        for code in [500, 503, 529].into_iter().cycle().take(BREAKER as usize - 1) {
            assert_eq!(breaker.failed(&status(code), &raw, true, late), None, "{code}");
        }
        assert_eq!(breaker.failed(&status(429), &raw, true, late), None);
        assert_eq!(trips(&breaker, &not_sent(), &["raw"], true, late), Some(BREAKER));
    }

    #[tokio::test]
    async fn refusals_of_several_arms_in_a_row_are_the_accounts_and_those_of_one_are_its_own() {
        let start = Instant::now();
        assert_eq!(trips(&Breaker::new(start), &status(400), &["L2"], true, start), None);
        assert_eq!(trips(&Breaker::new(start), &status(400), &["raw", "L2"], true, start), Some(BREAKER));
        let breaker = Breaker::new(start);
        let refused = |arm: &str| breaker.failed(&status(400), &arm.into(), true, start);
        for _ in 1..BREAKER {
            assert_eq!(refused("L2"), None);
            breaker.failed(&status(429), &"raw".into(), false, start);
        }
        assert_eq!(refused("L3"), Some(BREAKER), "being told to wait does not break the row");
        breaker.answered(start);
        assert_eq!(refused("L3"), None, "an answer does");
    }
}
