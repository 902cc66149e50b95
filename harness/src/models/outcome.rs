//! What became of an attempt, what it may have cost, and whether it may be repeated.
//!
//! The classes are those of the fact sheet's table "what is billed when something goes wrong", deliberately pessimistic:
//! a status that is not known to be free counts as possibly billed.

use std::time::Duration;

use super::facts::{ErrorBody, Facts};
use crate::wire::Reply;

/// Which books an attempt belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Billing {
    /// The reply's own usage settles it.
    Metered,
    /// Nothing was processed: the reservation is released.
    None,
    /// Customarily free, not documented to be: the reservation is kept until the run ends, and shown apart.
    Suspect,
    /// It may have been billed in full: the reservation is kept.
    Unknown,
}

/// Whether the same draw may be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Yes: nothing can have been billed, or only customarily nothing.
    Free,
    /// Only as often as the protocol allows where something may have been billed.
    Costly,
    /// No: this request will be refused again. Others may work.
    Never,
    /// No: every request will be refused; the run stops.
    Stop,
}

/// What became of one attempt.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// A response that can be read.
    Reply(Box<Answered>),
    /// The request never left.
    NotSent {
        /// Why.
        cause: String,
    },
    /// The provider said no.
    Refused(Refusal),
    /// It may have been processed, and there is no reply.
    Ambiguous(Unclear),
}

/// A response that can be read.
#[derive(Debug, Clone)]
pub struct Answered {
    /// HTTP status.
    pub status: u16,
    /// What the headers say.
    pub facts: Facts,
    /// The body, read.
    pub reply: Reply,
    /// The body, as received: JSON.
    pub body: Vec<u8>,
    /// From the request's first byte to the body's last.
    pub elapsed: Duration,
}

/// A request that the provider did not process.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// HTTP status.
    pub status: u16,
    /// The provider's error type and words.
    pub error: ErrorBody,
    /// What the headers say.
    pub facts: Facts,
    billing: Billing,
    retry: Retry,
}

/// A request whose fate is unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Unclear {
    /// HTTP status, where there was one.
    pub status: Option<u16>,
    /// What went wrong.
    pub cause: Cause,
    /// What the headers say.
    pub facts: Facts,
}

/// Why the fate of a request is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The connection ended after the request had left, before a status came.
    #[error("connection lost after the request had left: {0}")]
    Lost(String),
    /// No answer, or no further byte of it, in time.
    #[error("timed out after {} s", .0.as_secs())]
    TimedOut(Duration),
    /// The body ended early.
    #[error("body cut short: {0}")]
    Cut(String),
    /// The body is larger than anything a model sends.
    #[error("body of more than {0} bytes")]
    TooLarge(usize),
    /// A body that is not said to be JSON: a proxy's or gateway's page.
    #[error("content type `{0}` in place of JSON")]
    ContentType(String),
    /// A compressed body that was not asked for.
    #[error("content encoding `{0}`, which was not asked for")]
    Encoding(String),
    /// JSON of another shape, or none.
    #[error("{0}")]
    Undecodable(String),
    /// An answer that sends the client elsewhere; it is not followed, for the key would follow too.
    #[error("redirected to `{0}`; correct the base URL")]
    Redirect(String),
    /// A status after which the provider may have billed.
    #[error("{0}")]
    Status(ErrorBody),
}

/// Providers differ in what a 429 without `retry-after` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// It is the spend cap: more requests are pointless.
    Anthropic,
    /// It is a rate limit unless its code says otherwise.
    OpenAi,
}

/// Words of a 400 that speaks of the account and not of the request: its balance, its spend limit, itself. Documented for
/// the first, seen in the field for the others; the type is that of any invalid request.
const OF_ACCOUNT: [&str; 3] = ["credit balance", "usage limits", "organization has been disabled"];

/// Codes of a 429 that waiting does not mend.
const EXHAUSTED: [&str; 4] = ["insufficient_quota", "billing_hard_limit_reached", "billing_error", "access_terminated"];

impl Outcome {
    /// The outcome of a response whose status is no success.
    pub fn of_status(dialect: Dialect, status: u16, facts: Facts, error: ErrorBody) -> Self {
        let refused = |billing, retry, facts, error| Self::Refused(Refusal { status, error, facts, billing, retry });
        match status {
            // A 403 speaks of the key, its workspace or the place it is used from: the next request fares alike.
            401..=404 => refused(Billing::None, Retry::Stop, facts, error),
            400 | 413 | 422 => {
                let words = error.message.to_lowercase();
                let account = OF_ACCOUNT.iter().any(|sign| words.contains(sign));
                refused(Billing::None, if account { Retry::Stop } else { Retry::Never }, facts, error)
            }
            429 => {
                let exhausted = error.kind.as_deref().is_some_and(|kind| EXHAUSTED.contains(&kind));
                let capped = dialect == Dialect::Anthropic && facts.retry_after.is_none();
                let stop = exhausted || capped || facts.should_retry == Some(false);
                refused(Billing::None, if stop { Retry::Stop } else { Retry::Free }, facts, error)
            }
            503 | 529 => {
                let never = facts.should_retry == Some(false);
                refused(Billing::Suspect, if never { Retry::Never } else { Retry::Free }, facts, error)
            }
            300..=399 => Self::Ambiguous(Unclear {
                status: Some(status),
                cause: Cause::Redirect(facts.location.clone().unwrap_or_else(|| "nowhere".to_owned())),
                facts,
            }),
            _ => Self::Ambiguous(Unclear { status: Some(status), cause: Cause::Status(error), facts }),
        }
    }

    /// What it may have cost.
    pub fn billing(&self) -> Billing {
        match self {
            Self::Reply(answered) if answered.reply.usage.is_some() => Billing::Metered,
            Self::Reply(_) | Self::Ambiguous(_) => Billing::Unknown,
            Self::NotSent { .. } => Billing::None,
            Self::Refused(refusal) => refusal.billing,
        }
    }

    /// Whether the draw may be asked again; `None` for a reply, which is final whatever it says.
    pub fn retry(&self) -> Option<Retry> {
        match self {
            Self::Reply(_) => None,
            Self::NotSent { .. } => Some(Retry::Free),
            Self::Refused(refusal) => Some(refusal.retry),
            Self::Ambiguous(Unclear { cause: Cause::Redirect(_), .. }) => Some(Retry::Stop),
            Self::Ambiguous(_) => Some(Retry::Costly),
        }
    }

    /// What the headers said, where there was a response.
    pub fn facts(&self) -> Option<&Facts> {
        match self {
            Self::Reply(answered) => Some(&answered.facts),
            Self::NotSent { .. } => None,
            Self::Refused(refusal) => Some(&refusal.facts),
            Self::Ambiguous(unclear) => Some(&unclear.facts),
        }
    }

    /// HTTP status, where there was one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Reply(answered) => Some(answered.status),
            Self::NotSent { .. } => None,
            Self::Refused(refusal) => Some(refusal.status),
            Self::Ambiguous(unclear) => unclear.status,
        }
    }

    /// One line for the record and for people; `None` for a reply.
    pub fn error(&self) -> Option<String> {
        match self {
            Self::Reply(_) => None,
            Self::NotSent { cause } => Some(format!("not sent: {cause}")),
            Self::Refused(refusal) => Some(format!("status {}: {}", refusal.status, refusal.error)),
            Self::Ambiguous(unclear) => Some(match unclear.status {
                Some(status) => format!("status {status}: {}", unclear.cause),
                None => unclear.cause.to_string(),
            }),
        }
    }

    /// True where the provider is short of capacity or the client too fast: fewer requests at a time are called for.
    pub fn is_overload(&self) -> bool {
        matches!(self, Self::Refused(Refusal { status: 429 | 503 | 529, .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Option<Duration> = Some(Duration::from_secs(7));

    fn classes(
        dialect: Dialect,
        status: u16,
        kind: &str,
        retry_after: Option<Duration>,
        should_retry: Option<bool>,
    ) -> (Billing, Retry) {
        let facts = Facts { retry_after, should_retry, ..Facts::default() };
        let error = ErrorBody { kind: Some(kind.to_owned()), message: String::new() };
        let outcome = Outcome::of_status(dialect, status, facts, error);
        assert_eq!(outcome.status(), Some(status));
        assert!(outcome.error().is_some());
        (outcome.billing(), outcome.retry().unwrap())
    }

    #[test]
    fn every_status_has_the_class_of_the_fact_sheet() {
        use Billing::{None as Free, Suspect, Unknown};
        use Dialect::{Anthropic, OpenAi};
        for (dialect, status, kind, wait, hint, expected) in [
            (Anthropic, 400, "invalid_request_error", None, None, (Free, Retry::Never)),
            (Anthropic, 401, "authentication_error", None, None, (Free, Retry::Stop)),
            (Anthropic, 402, "billing_error", None, None, (Free, Retry::Stop)),
            (Anthropic, 403, "permission_error", None, None, (Free, Retry::Stop)),
            (Anthropic, 404, "not_found_error", None, None, (Free, Retry::Stop)),
            (Anthropic, 413, "request_too_large", None, None, (Free, Retry::Never)),
            (OpenAi, 422, "invalid", None, None, (Free, Retry::Never)),
            (Anthropic, 429, "rate_limit_error", WAIT, None, (Free, Retry::Free)),
            (Anthropic, 429, "rate_limit_error", None, None, (Free, Retry::Stop)),
            (Anthropic, 429, "rate_limit_error", WAIT, Some(false), (Free, Retry::Stop)),
            (OpenAi, 429, "rate_limit_exceeded", None, None, (Free, Retry::Free)),
            (OpenAi, 429, "insufficient_quota", WAIT, None, (Free, Retry::Stop)),
            (Anthropic, 529, "overloaded_error", None, None, (Suspect, Retry::Free)),
            (OpenAi, 503, "server_error", None, None, (Suspect, Retry::Free)),
            (OpenAi, 503, "server_error", None, Some(false), (Suspect, Retry::Never)),
            (Anthropic, 500, "api_error", None, Some(true), (Unknown, Retry::Costly)),
            (Anthropic, 504, "timeout_error", None, None, (Unknown, Retry::Costly)),
            (OpenAi, 408, "", None, None, (Unknown, Retry::Costly)),
            (OpenAi, 499, "", None, None, (Unknown, Retry::Costly)),
            (OpenAi, 502, "", None, None, (Unknown, Retry::Costly)),
            (OpenAi, 524, "", None, None, (Unknown, Retry::Costly)),
            (OpenAi, 307, "", None, None, (Unknown, Retry::Stop)),
        ] {
            assert_eq!(classes(dialect, status, kind, wait, hint), expected, "{status} {kind} {wait:?} {hint:?}");
        }
    }

    #[test]
    fn a_400_that_speaks_of_the_account_stops_the_run() {
        for (message, expected) in [
            ("Your credit balance is too low to access the Anthropic API.", Retry::Stop),
            ("You have reached your specified API usage limits.", Retry::Stop),
            ("This organization has been disabled.", Retry::Stop),
            ("tools.3.custom.input_schema: JSON schema is invalid", Retry::Never),
        ] {
            let error = ErrorBody { kind: Some("invalid_request_error".to_owned()), message: message.to_owned() };
            let outcome = Outcome::of_status(Dialect::Anthropic, 400, Facts::default(), error);
            assert_eq!((outcome.billing(), outcome.retry()), (Billing::None, Some(expected)), "{message}");
        }
    }

    #[test]
    fn only_documented_statuses_are_free() {
        let free: Vec<u16> = (300..=599)
            .filter(|&status| classes(Dialect::Anthropic, status, "x", WAIT, None).0 == Billing::None)
            .collect();
        assert_eq!(free, [400, 401, 402, 403, 404, 413, 422, 429]);
    }

    #[test]
    fn a_request_that_never_left_is_free_and_one_without_an_answer_is_not() {
        let outcome = Outcome::NotSent { cause: "refused".into() };
        assert_eq!((outcome.billing(), outcome.retry()), (Billing::None, Some(Retry::Free)));
        let cause = Cause::Lost("reset".into());
        let outcome = Outcome::Ambiguous(Unclear { status: None, cause, facts: Facts::default() });
        assert_eq!((outcome.billing(), outcome.retry()), (Billing::Unknown, Some(Retry::Costly)));
    }
}
