//! Whether and when a draw is asked again. One layer decides this, so that every attempt is reserved and journaled.

use std::time::Duration;

use bench_protocol::{rng, spec::Missing};
use bench_results::record::DrawId;

use super::outcome::{Outcome, Retry};

/// A longer wait than this is no hiccup: the run stops, and is resumed later.
pub const WAIT_AT_MOST: Duration = Duration::from_secs(15 * 60);

/// First wait and longest wait where the request was not processed.
const SHORT: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// The same where the provider is overloaded.
const LONG: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(120));

/// How often one draw may be asked, tries in all and not repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryRule {
    /// Where nothing can have been billed.
    pub tries_not_billed: u32,
    /// Where something may have been billed.
    pub tries_maybe_billed: u32,
}

impl From<&Missing> for RetryRule {
    fn from(rule: &Missing) -> Self {
        Self { tries_not_billed: rule.tries_not_billed, tries_maybe_billed: rule.tries_maybe_billed }
    }
}

/// Failed tries of one draw so far, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tries {
    /// Nothing was billed.
    pub not_billed: u32,
    /// Something may have been billed.
    pub maybe_billed: u32,
}

/// What to do next with a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It has its reply.
    Done,
    /// Ask again after this time, with a reservation of its own.
    Again(Duration),
    /// Leave it missing; it may be re-asked at the end.
    Missing,
    /// Stop the run: every further request would fare alike.
    Stop,
}

impl RetryRule {
    /// Counts the outcome of a try of this draw and decides.
    ///
    /// Tries where something may have been billed are counted apart: with one such try allowed, an ambiguous failure is
    /// never repeated on the spot, however many free tries are left.
    pub fn next(self, draw: &DrawId, tries: &mut Tries, outcome: &Outcome) -> Next {
        let Some(retry) = outcome.retry() else { return Next::Done };
        let more = match retry {
            Retry::Free => {
                tries.not_billed += 1;
                tries.not_billed < self.tries_not_billed
            }
            Retry::Costly => {
                tries.maybe_billed += 1;
                tries.maybe_billed < self.tries_maybe_billed
            }
            Retry::Never => return Next::Missing,
            Retry::Stop => return Next::Stop,
        };
        if !more {
            return Next::Missing;
        }
        let long = matches!(outcome.status(), Some(503 | 529)) || retry == Retry::Costly;
        let asked = outcome.facts().and_then(|facts| facts.retry_after);
        let wait = wait(draw, tries.not_billed + tries.maybe_billed, asked, if long { LONG } else { SHORT });
        if wait > WAIT_AT_MOST { Next::Stop } else { Next::Again(wait) }
    }
}

/// The wait after the given number of failed tries: exponential, or what the provider asks for; spread by a quarter, so
/// that draws that failed together do not come back together. A function of the draw and the try: a resumed run waits
/// as the undisturbed one does.
fn wait(draw: &DrawId, failed: u32, asked: Option<Duration>, (first, longest): (Duration, Duration)) -> Duration {
    let mut rng =
        rng::stream([0; 32], rng::stream_id(&format!("wait/{}/{}/{}/{failed}", draw.task, draw.arm, draw.turn)));
    // Parts per thousand of a quarter.
    let spread = u32::try_from(rng::index(&mut rng, 1001)).unwrap_or(0);
    let quarter = |time: Duration| time / 4000 * spread;
    if let Some(asked) = asked {
        // Never earlier than asked.
        return asked.saturating_add(quarter(asked.max(first)));
    }
    let doubled = first.saturating_mul(1 << failed.saturating_sub(1).min(16)).min(longest);
    doubled.saturating_sub(quarter(doubled))
}

#[cfg(test)]
mod tests {
    use bench_protocol::spec::Protocol;

    use super::*;
    use crate::models::{
        facts::{ErrorBody, Facts},
        outcome::{Cause, Dialect, Unclear},
    };

    const RULE: RetryRule = RetryRule { tries_not_billed: 5, tries_maybe_billed: 1 };

    fn draw(turn: u32) -> DrawId {
        serde_json::from_value(serde_json::json!({"task": "t1", "arm": "L2", "turn": turn})).unwrap()
    }

    fn status(status: u16, retry_after: Option<u64>) -> Outcome {
        let facts = Facts { retry_after: retry_after.map(Duration::from_secs), ..Facts::default() };
        Outcome::of_status(Dialect::OpenAi, status, facts, ErrorBody::default())
    }

    fn lost() -> Outcome {
        Outcome::Ambiguous(Unclear { status: None, cause: Cause::Lost("reset".into()), facts: Facts::default() })
    }

    /// Outcomes of one failure repeated until the draw is given up.
    fn until_given_up(rule: RetryRule, outcome: &Outcome) -> (Vec<Duration>, Next) {
        let mut tries = Tries::default();
        let mut waits = Vec::new();
        loop {
            match rule.next(&draw(1), &mut tries, outcome) {
                Next::Again(wait) => waits.push(wait),
                end => return (waits, end),
            }
        }
    }

    #[test]
    fn the_protocols_rule_is_five_free_tries_and_one_that_may_be_billed() {
        assert_eq!(RetryRule::from(&Protocol::built_in().unwrap().missing), RULE);
    }

    #[test]
    fn free_failures_are_tried_five_times_in_all_and_costly_ones_once() {
        for outcome in
            [Outcome::NotSent { cause: "c".into() }, status(429, Some(1)), status(529, None), status(503, None)]
        {
            let (waits, end) = until_given_up(RULE, &outcome);
            assert_eq!((waits.len(), end), (4, Next::Missing));
        }
        for outcome in [lost(), status(500, None), status(504, None)] {
            assert_eq!(until_given_up(RULE, &outcome), (Vec::new(), Next::Missing));
        }
    }

    #[test]
    fn one_costly_try_ends_a_draw_whatever_free_tries_are_left() {
        let mut tries = Tries::default();
        assert!(matches!(RULE.next(&draw(1), &mut tries, &status(429, Some(1))), Next::Again(_)));
        assert_eq!(RULE.next(&draw(1), &mut tries, &lost()), Next::Missing);
        assert_eq!(tries, Tries { not_billed: 1, maybe_billed: 1 });
    }

    #[test]
    fn a_second_costly_try_is_granted_only_by_the_rule_and_zero_means_none() {
        let (waits, _) = until_given_up(RetryRule { tries_maybe_billed: 2, ..RULE }, &lost());
        assert_eq!(waits.len(), 1);
        let none = RetryRule { tries_not_billed: 0, tries_maybe_billed: 0 };
        for outcome in [lost(), status(429, Some(1))] {
            assert_eq!(until_given_up(none, &outcome), (Vec::new(), Next::Missing));
        }
    }

    #[test]
    fn refusals_end_the_draw_or_the_run() {
        assert_eq!(until_given_up(RULE, &status(400, None)).1, Next::Missing);
        for code in [401, 402, 404, 301] {
            assert_eq!(until_given_up(RULE, &status(code, None)), (Vec::new(), Next::Stop), "{code}");
        }
    }

    #[test]
    fn a_wait_is_never_shorter_than_asked_and_an_endless_one_stops_the_run() {
        for seconds in [0, 1, 60, 600] {
            let (waits, _) = until_given_up(RULE, &status(429, Some(seconds)));
            let asked = Duration::from_secs(seconds);
            assert!(waits.iter().all(|&wait| wait >= asked && wait <= asked * 5 / 4 + Duration::from_millis(125)));
        }
        assert_eq!(until_given_up(RULE, &status(429, Some(3600))), (Vec::new(), Next::Stop));
        assert_eq!(until_given_up(RULE, &status(429, Some(u64::MAX))), (Vec::new(), Next::Stop));
    }

    #[test]
    fn waits_double_are_spread_and_depend_on_the_draw_alone() {
        let rule = RetryRule { tries_not_billed: 12, ..RULE };
        let (waits, _) = until_given_up(rule, &Outcome::NotSent { cause: "c".into() });
        for (wait, full) in waits.iter().zip([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
            let full = Duration::from_millis(full);
            assert!(*wait <= full && *wait >= full * 3 / 4, "{wait:?} of {full:?}");
        }
        assert_eq!(waits, until_given_up(rule, &Outcome::NotSent { cause: "d".into() }).0);
        let other = |turn| RULE.next(&draw(turn), &mut Tries::default(), &status(429, Some(8)));
        assert_ne!(other(1), other(2));
        let long = RULE.next(&draw(1), &mut Tries::default(), &status(529, None));
        assert!(matches!(long, Next::Again(wait) if wait >= LONG.0 * 3 / 4));
    }
}
