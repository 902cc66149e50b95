//! Warming prefixes: a cached prefix can be read once the first response to it has begun, so many first requests at once
//! would all pay for writing it. One goes ahead; the others wait for its answer.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use bench_protocol::{
    digest::Digest,
    spec::{CachePolicy, CacheTtl},
};
use tokio::{
    sync::OwnedMutexGuard,
    time::{Duration, Instant},
};

/// A prefix that was last used this long before its life ends is warmed anew: the request must arrive in time.
const MARGIN: Duration = Duration::from_secs(20);

/// The prefixes of a run, by the digest of the surface: a run has one system prompt.
#[derive(Debug)]
pub(super) struct Prefixes {
    /// How long a prefix stays warm after its last use; none: where no cache is asked for, only the first request goes ahead.
    life: Option<Duration>,
    known: Mutex<BTreeMap<Digest, Arc<Prefix>>>,
}

#[derive(Debug, Default)]
struct Prefix {
    /// Held by whoever warms it.
    turn: Arc<tokio::sync::Mutex<()>>,
    answered: Mutex<Option<Instant>>,
}

/// Leave to send a request with a prefix; holds the others back where it is the first.
#[derive(Debug)]
pub(super) struct Lead {
    prefix: Arc<Prefix>,
    _turn: Option<OwnedMutexGuard<()>>,
}

impl Prefixes {
    pub(super) fn new(policy: &CachePolicy) -> Self {
        let life = match policy.ttl {
            _ if policy.breakpoints.is_empty() => None,
            CacheTtl::FiveMinutes => Some(Duration::from_secs(5 * 60)),
            CacheTtl::OneHour => Some(Duration::from_secs(60 * 60)),
        };
        Self { life: life.map(|life| life.saturating_sub(MARGIN)), known: Mutex::new(BTreeMap::new()) }
    }

    /// Waits until the prefix is warm, or it is this request's turn to warm it. A warmer that fails makes the next one try.
    pub(super) async fn enter(&self, surface: &Digest) -> Lead {
        let prefix = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            match known.get(surface) {
                Some(prefix) => Arc::clone(prefix),
                None => Arc::clone(known.entry(surface.clone()).or_default()),
            }
        };
        if prefix.is_warm(self.life) {
            return Lead { prefix, _turn: None };
        }
        let turn = Arc::clone(&prefix.turn).lock_owned().await;
        let turn = (!prefix.is_warm(self.life)).then_some(turn);
        Lead { prefix, _turn: turn }
    }
}

impl Prefix {
    fn is_warm(&self, life: Option<Duration>) -> bool {
        let answered = *self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.is_some_and(|at| life.is_none_or(|life| at.elapsed() < life))
    }
}

impl Lead {
    /// The request was answered: the prefix is warm from now on.
    pub(super) fn answered(&self) {
        *self.prefix.answered.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use bench_protocol::spec::Breakpoint;

    use super::*;

    fn prefixes() -> Prefixes {
        Prefixes::new(&CachePolicy { breakpoints: vec![Breakpoint::System], ttl: CacheTtl::FiveMinutes })
    }

    async fn waits(prefixes: &Prefixes, surface: &Digest) -> bool {
        tokio::time::timeout(Duration::from_secs(1), prefixes.enter(surface)).await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_goes_ahead_and_the_others_follow_its_answer() {
        let (prefixes, a, b) = (prefixes(), Digest::of(b"a"), Digest::of(b"b"));
        let first = prefixes.enter(&a).await;
        assert!(waits(&prefixes, &a).await);
        let _other = prefixes.enter(&b).await;
        first.answered();
        drop(first);
        let (_x, _y) = (prefixes.enter(&a).await, prefixes.enter(&a).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_warmer_that_fails_hands_the_turn_on() {
        let (prefixes, a) = (prefixes(), Digest::of(b"a"));
        drop(prefixes.enter(&a).await);
        let second = prefixes.enter(&a).await;
        assert!(waits(&prefixes, &a).await);
        drop(second);
    }

    #[tokio::test(start_paused = true)]
    async fn a_prefix_grows_cold_and_is_warmed_again() {
        let (prefixes, a) = (prefixes(), Digest::of(b"a"));
        prefixes.enter(&a).await.answered();
        tokio::time::advance(Duration::from_secs(4 * 60)).await;
        prefixes.enter(&a).await.answered();
        tokio::time::advance(Duration::from_secs(4 * 60)).await;
        let (_x, _y) = (prefixes.enter(&a).await, prefixes.enter(&a).await);
        tokio::time::advance(Duration::from_secs(60)).await;
        let _third = prefixes.enter(&a).await;
        assert!(waits(&prefixes, &a).await);
    }
}
