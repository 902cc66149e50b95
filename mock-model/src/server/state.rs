//! What all requests share.

use std::{
    io,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::http::HeaderMap;

use super::{
    Options, ServerError,
    cache::PrefixCache,
    headers,
    ledger::{Ledger, Line},
    models::{Format, Models},
    refusal::Refusal,
    script::{Script, Tries},
};
use crate::{model::ScriptedModel, surface::cache::ToolCache};

/// State of a server.
#[derive(Debug)]
pub(super) struct State {
    pub(super) model: ScriptedModel,
    pub(super) models: Models,
    pub(super) script: Script,
    /// Tool lists of chat requests; those of the other format are the model's own.
    pub(super) chat_tools: ToolCache,
    /// Wait before each reply.
    pub(super) delay: Duration,
    /// Requests without a key are served too.
    pub(super) keyless: bool,
    cache: Mutex<PrefixCache>,
    ledger: Mutex<Ledger>,
    tries: Mutex<Tries>,
    started: Instant,
    free: AtomicU64,
    in_flight: AtomicU32,
    peak: AtomicU32,
}

impl State {
    pub(super) fn new(options: Options) -> Result<Self, ServerError> {
        let Options { model, script, ledger, delay, keyless } = options;
        Ok(Self {
            model,
            models: Models::built_in()?,
            script,
            chat_tools: ToolCache::default(),
            delay,
            keyless,
            cache: Mutex::default(),
            ledger: Mutex::new(ledger),
            tries: Mutex::default(),
            started: Instant::now(),
            free: AtomicU64::new(0),
            in_flight: AtomicU32::new(0),
            peak: AtomicU32::new(0),
        })
    }

    /// Checks that a request carries a key, where it needs one.
    pub(super) fn check_key(&self, format: Format, headers: &HeaderMap) -> Result<(), Refusal> {
        if self.keyless { Ok(()) } else { headers::check_key(format, headers) }
    }

    /// Time since the start.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// The prompt cache.
    pub(super) fn cache(&self) -> MutexGuard<'_, PrefixCache> {
        lock(&self.cache)
    }

    /// How often draws were asked.
    pub(super) fn tries(&self) -> MutexGuard<'_, Tries> {
        lock(&self.tries)
    }

    /// Number and id of the next paid request.
    pub(super) fn number(&self) -> (u64, String) {
        let n = lock(&self.ledger).number();
        (n, format!("req_{n:016x}"))
    }

    /// Id of the next free request.
    pub(super) fn free_id(&self) -> String {
        format!("req_free{:012x}", self.free.fetch_add(1, Ordering::Relaxed))
    }

    /// A paid request is being answered for as long as what this returns lives.
    pub(super) fn enter(&self) -> InFlight<'_> {
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(now, Ordering::Relaxed);
        InFlight(self)
    }

    /// Most paid requests that were being answered at a time.
    pub(super) fn peak(&self) -> u32 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Puts a line into the ledger.
    pub(super) fn book(&self, line: &Line<'_>) -> io::Result<()> {
        lock(&self.ledger).append(line)
    }

    /// Pico-dollars charged since the start.
    pub(super) fn billed(&self) -> u64 {
        lock(&self.ledger).billed()
    }
}

/// A paid request that is being answered, or whose client has left before the answer.
#[derive(Debug)]
pub(super) struct InFlight<'a>(&'a State);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A panic in a handler leaves none of these half-changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
