//! Why a run ends before its plan does, and how everybody hears of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::overrun::Beyond;
use crate::{
    journal::JournalError,
    meter::{Overrun, Refusal},
    models::identity::Surprise,
};

/// Why a run ended early. All of it can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// The ceiling, or another limit of the meter.
    #[error(transparent)]
    Meter(Refusal),
    /// The ceiling, and what led up to it were failures: more money would buy more of them.
    #[error("{refusal}, once requests are answered again: the last one failed so: {last}")]
    Wasted {
        /// What the meter said.
        refusal: Refusal,
        /// The last failure.
        last: String,
    },
    /// The provider will refuse every further request, or asks for a wait that is none.
    #[error("the provider serves this run no longer: {why}; {next}")]
    Provider {
        /// What it said.
        why: String,
        /// What whoever runs this can do about it.
        next: &'static str,
    },
    /// Another model, tier or place than what was asked and priced.
    #[error(transparent)]
    Surprise(#[from] Surprise),
    /// More tokens were billed than the request can hold.
    #[error("{0}; compare the provider's usage page before going on")]
    Bound(Beyond),
    /// An attempt cost more than its reservation.
    #[error("{}", Refusal::Overrun(*.0))]
    Overrun(Overrun),
    /// Nothing but failures for a while.
    #[error(
        "{failures} requests in a row failed, the last one so: {last}; resume once the provider or the network is well"
    )]
    Breaker {
        /// Failures in a row.
        failures: u32,
        /// The last of them.
        last: String,
    },
    /// More of an arm has no outcome than the protocol bears.
    #[error(
        "{missing} of {planned} episodes of `{arm}` have no outcome and asking again brought nothing, which is more than the \
         protocol bears; resume once the cause is gone, or have them recorded as missing with --accept-missing"
    )]
    Missing {
        /// The arm of which the largest share is missing.
        arm: Arc<str>,
        /// Its episodes without an outcome.
        missing: u64,
        /// Its episodes.
        planned: u64,
    },
    /// The record cannot be written.
    #[error(transparent)]
    Journal(JournalError),
    /// Something that is no matter of the provider: an arm that does not open, a record that does not read.
    #[error("{0}")]
    Fault(String),
}

impl Stop {
    /// The provider serves this run no longer, and said so with this status, where it said anything.
    pub(super) fn provider(why: String, status: Option<u16>) -> Self {
        let next = match status {
            Some(401 | 403) => "check the key, its workspace and whether it may use the model",
            Some(404) => "check whether the model is still served under this id",
            Some(400 | 402 | 413 | 422 | 429) => "check the balance and the limits of the account, or wait for them",
            Some(300..=399) => "a run keeps the base URL that it was started with",
            _ => "look at the provider's status page, and wait",
        };
        Self::Provider { why, next }
    }
}

impl From<JournalError> for Stop {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Refused(refusal) => Self::Meter(refusal),
            other => Self::Journal(other),
        }
    }
}

/// The brake of a run: pulled once, heard by all.
#[derive(Debug)]
pub(super) struct Brake {
    reason: Mutex<Option<Stop>>,
    pulled: watch::Sender<bool>,
}

impl Brake {
    pub(super) fn new() -> Self {
        Self { reason: Mutex::new(None), pulled: watch::Sender::new(false) }
    }

    /// Stops the run: no request leaves any more, those under way are awaited. The first reason is the run's.
    pub(super) fn pull(&self, why: Stop) {
        self.lock().get_or_insert(why);
        self.pulled.send_replace(true);
    }

    pub(super) fn is_pulled(&self) -> bool {
        *self.pulled.borrow()
    }

    /// Resolves once the brake is pulled.
    pub(super) async fn heard(&self) {
        // The sender lives as long as this does, so that the wait cannot fail.
        let _ = self.pulled.subscribe().wait_for(|pulled| *pulled).await;
    }

    /// The reason, where there is one.
    pub(super) fn take(&self) -> Option<Stop> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Stop>> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_is_kept_and_everybody_hears() {
        let brake = Brake::new();
        assert!(!brake.is_pulled());
        brake.pull(Stop::provider("no key".to_owned(), Some(401)));
        brake.pull(Stop::Interrupted);
        brake.heard().await;
        assert!(matches!(brake.take(), Some(Stop::Provider { .. })));
    }

    #[test]
    fn whoever_is_refused_hears_what_to_look_at() {
        for (status, next) in [
            (Some(401), "check the key"),
            (Some(403), "check the key"),
            (Some(404), "whether the model is still served"),
            (Some(402), "balance"),
            (Some(429), "wait for them"),
            (Some(302), "base URL"),
            (Some(529), "status page"),
            (None, "status page"),
        ] {
            let said = Stop::provider("status".to_owned(), status).to_string();
            assert!(said.contains(next), "{status:?}: {said}");
        }
    }
}
