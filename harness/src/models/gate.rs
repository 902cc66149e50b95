//! Waiting for leave to send a request: [`Limits`] on the clock of the runtime.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::{
    sync::Notify,
    time::{Duration, Instant, sleep_until},
};

use super::limits::{Admission, Limits, Signal, Ticket};

/// A gate that lets as many requests through as the provider bears.
#[derive(Debug)]
pub struct Gate {
    limits: Mutex<Limits>,
    changed: Notify,
    start: Instant,
}

/// Leave to send one request. Dropping it without [`Pass::done`] hands it back silently.
#[derive(Debug)]
pub struct Pass<'a> {
    gate: &'a Gate,
    ticket: Ticket,
    signal: Signal,
}

/// How the gate stands, for progress lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateState {
    /// Requests that may be in flight.
    pub window: u32,
    /// Requests in flight.
    pub in_flight: u32,
    /// How long nothing may leave, where that is so.
    pub held: Option<Duration>,
}

impl Gate {
    /// A gate for at most this many requests at a time.
    pub fn new(most: u32) -> Self {
        Self { limits: Mutex::new(Limits::new(most)), changed: Notify::new(), start: Instant::now() }
    }

    /// Waits for leave. Cancelling the wait loses nothing.
    pub async fn enter(&self) -> Pass<'_> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Listens before asking, so that a change between the two is not missed.
            changed.as_mut().enable();
            let admission = self.lock().leave(self.start.elapsed());
            match admission {
                Admission::Go(ticket) => return Pass { gate: self, ticket, signal: Signal::Silent },
                Admission::Full => changed.await,
                Admission::Until(time) => sleep_until(self.start + time).await,
            }
        }
    }

    /// How it stands.
    pub fn state(&self) -> GateState {
        let limits = self.lock();
        let held = limits.hold_until().saturating_sub(self.start.elapsed());
        GateState { window: limits.window(), in_flight: limits.in_flight(), held: (!held.is_zero()).then_some(held) }
    }

    fn lock(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// The request is done, and this is what it says about capacity.
    pub fn done(mut self, signal: impl Into<Signal>) {
        self.signal = signal.into();
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let now = self.gate.start.elapsed();
        self.gate.lock().done(now, &self.ticket, self.signal);
        self.gate.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use super::*;

    const SERVED: Signal = Signal::Served { headroom: None };

    #[tokio::test(start_paused = true)]
    async fn retry_after_is_waited_for_by_everybody() {
        let gate = Gate::new(4);
        let wait = Duration::from_secs(20);
        gate.enter().await.done(Signal::Overload { retry_after: Some(wait) });
        assert_eq!(gate.state().held, Some(wait));
        let before = Instant::now();
        let _ = gate.enter().await;
        assert_eq!(before.elapsed(), wait);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_pass_and_a_cancelled_wait_leave_nothing_behind() {
        let gate = Gate::new(1);
        let pass = gate.enter().await;
        assert!(tokio::time::timeout(Duration::from_secs(1), gate.enter()).await.is_err());
        drop(pass);
        let _ = gate.enter().await;
        assert_eq!(gate.state(), GateState { window: 1, in_flight: 0, held: None });
    }

    #[tokio::test(start_paused = true)]
    async fn everybody_gets_through_and_never_more_than_the_most_at_a_time() {
        let gate = Arc::new(Gate::new(8));
        let (now, peak) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..300_u64 {
            let (gate, now, peak) = (Arc::clone(&gate), Arc::clone(&now), Arc::clone(&peak));
            tasks.spawn(async move {
                let pass = gate.enter().await;
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(10 + number % 7)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                pass.done(if number % 50 == 49 { Signal::Overload { retry_after: None } } else { SERVED });
            });
        }
        let mut through = 0;
        while let Some(result) = tasks.join_next().await {
            result.unwrap();
            through += 1;
        }
        assert_eq!(through, 300);
        assert_eq!(peak.load(Ordering::SeqCst), 8);
        assert_eq!(gate.state().in_flight, 0);
    }
}
