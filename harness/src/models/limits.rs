//! How many requests may be in flight: additive increase, multiplicative decrease (Chiu and Jain, 1989), with a fast
//! start as in congestion control (Jacobson, 1988), held back by what rate-limit headers say.
//!
//! A pure state machine: time comes in as the span since the run began.

use std::time::Duration;

use super::outcome::Outcome;

/// Requests in flight at the start: providers punish sharp ramps even below the limit.
const START: u32 = 4;

/// Below this headroom (parts per thousand of the emptiest bucket) the window does not grow.
const TIGHT: u16 = 100;

/// Pause where a bucket is empty: buckets refill within a minute, so a twentieth of it is back by then.
const EMPTY: Duration = Duration::from_secs(3);

/// Pause after an overload that names no time.
const OVERLOAD: Duration = Duration::from_secs(1);

/// The window is counted in fractions of a request, fine enough for a window of thousands to grow.
const UNIT: u32 = 1 << 20;

/// What a finished attempt says about the provider's capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// It was served.
    Served {
        /// Headroom of the emptiest rate-limit bucket, parts per thousand.
        headroom: Option<u16>,
    },
    /// Too many requests, or too few machines.
    Overload {
        /// The wait the provider asks for.
        retry_after: Option<Duration>,
    },
    /// It failed in a way that says nothing about capacity.
    Silent,
}

impl From<&Outcome> for Signal {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            _ if outcome.is_overload() => {
                Self::Overload { retry_after: outcome.facts().and_then(|facts| facts.retry_after) }
            }
            Outcome::Reply(answered) => Self::Served { headroom: answered.facts.headroom },
            _ => Self::Silent,
        }
    }
}

/// Leave to send one request.
#[derive(Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Decreases of the window before it left.
    decreases: u64,
}

/// Whether a request may leave now.
#[derive(Debug, PartialEq, Eq)]
pub enum Admission {
    /// Yes; the ticket is handed back when it is done.
    Go(Ticket),
    /// When another one is done.
    Full,
    /// Not before this time.
    Until(Duration),
}

/// The window of requests in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    most: u32,
    window: u32,
    /// Below this the window doubles, above it grows by one per window.
    threshold: u32,
    in_flight: u32,
    decreases: u64,
    hold_until: Duration,
}

impl Limits {
    /// At most `most` requests in flight, at least one.
    pub fn new(most: u32) -> Self {
        // One below what the fractions can hold, so that a step never overflows.
        let most = most.clamp(1, u32::MAX / UNIT - 1);
        let window = START.min(most) * UNIT;
        Self { most, window, threshold: most * UNIT, in_flight: 0, decreases: 0, hold_until: Duration::ZERO }
    }

    /// Asks to send a request.
    pub fn leave(&mut self, now: Duration) -> Admission {
        if now < self.hold_until {
            return Admission::Until(self.hold_until);
        }
        if self.in_flight >= self.window() {
            return Admission::Full;
        }
        self.in_flight += 1;
        Admission::Go(Ticket { decreases: self.decreases })
    }

    /// Takes back the ticket of a request that is done.
    pub fn done(&mut self, now: Duration, ticket: &Ticket, signal: Signal) {
        // A window that is not used has not been shown to be sound.
        let used = 2 * u64::from(self.in_flight) >= u64::from(self.window());
        self.in_flight = self.in_flight.saturating_sub(1);
        match signal {
            Signal::Silent => {}
            Signal::Served { headroom } => {
                if headroom == Some(0) {
                    self.hold(now + EMPTY);
                }
                if used && headroom.is_none_or(|headroom| headroom >= TIGHT) {
                    let step = if self.window < self.threshold { UNIT } else { UNIT / self.window() };
                    self.window = (self.window + step).min(self.most * UNIT);
                }
            }
            Signal::Overload { retry_after } => {
                self.hold(now.saturating_add(retry_after.unwrap_or(OVERLOAD)));
                // Requests that left before the last decrease say nothing about the window after it.
                if ticket.decreases == self.decreases {
                    self.decreases += 1;
                    self.window = (self.window / 2).max(UNIT);
                    self.threshold = self.window;
                }
            }
        }
    }

    /// Requests that may be in flight now.
    pub fn window(&self) -> u32 {
        self.window / UNIT
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Until when nothing may leave; in the past where nothing is held.
    pub fn hold_until(&self) -> Duration {
        self.hold_until
    }

    fn hold(&mut self, until: Duration) {
        self.hold_until = self.hold_until.max(until);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SERVED: Signal = Signal::Served { headroom: None };
    const NOW: Duration = Duration::from_secs(100);

    fn go(limits: &mut Limits, now: Duration) -> Ticket {
        match limits.leave(now) {
            Admission::Go(ticket) => ticket,
            other => panic!("{other:?}"),
        }
    }

    fn fill(limits: &mut Limits, now: Duration) -> Vec<Ticket> {
        let mut tickets = Vec::new();
        while let Admission::Go(ticket) = limits.leave(now) {
            tickets.push(ticket);
        }
        tickets
    }

    /// One window's worth of requests, all served.
    fn round(limits: &mut Limits, signal: Signal) {
        for ticket in fill(limits, NOW) {
            limits.done(NOW, &ticket, signal);
            let _ = fill(limits, NOW);
        }
        while limits.in_flight() > 0 {
            limits.done(NOW, &Ticket { decreases: u64::MAX }, Signal::Silent);
        }
    }

    #[test]
    fn the_window_doubles_until_the_first_overload_and_never_exceeds_the_most() {
        let mut limits = Limits::new(20);
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(limits.window());
            round(&mut limits, SERVED);
        }
        assert_eq!(seen, [4, 8, 16, 20]);
        assert_eq!(Limits::new(0).window(), 1);
    }

    #[test]
    fn an_overload_halves_the_window_once_and_growth_is_then_by_one() {
        let mut limits = Limits::new(64);
        for _ in 0..4 {
            round(&mut limits, SERVED);
        }
        assert_eq!(limits.window(), 64);
        let tickets = fill(&mut limits, NOW);
        for ticket in &tickets {
            limits.done(NOW, ticket, Signal::Overload { retry_after: None });
        }
        assert_eq!(limits.window(), 32);
        let later = NOW + OVERLOAD;
        assert_eq!(limits.leave(NOW), Admission::Until(later));
        let tickets = fill(&mut limits, later);
        assert_eq!(tickets.len(), 32);
        for ticket in &tickets {
            assert_eq!(limits.window(), 32);
            limits.done(later, ticket, SERVED);
            let _ = limits.leave(later);
        }
        assert_eq!(limits.window(), 33);
    }

    #[test]
    fn retry_after_holds_everybody_and_the_longest_wins() {
        let mut limits = Limits::new(8);
        let (a, b) = (go(&mut limits, NOW), go(&mut limits, NOW));
        limits.done(NOW, &a, Signal::Overload { retry_after: Some(Duration::from_secs(30)) });
        limits.done(NOW, &b, Signal::Overload { retry_after: Some(Duration::from_secs(5)) });
        assert_eq!(limits.leave(NOW), Admission::Until(NOW + Duration::from_secs(30)));
        let _ = go(&mut limits, NOW + Duration::from_secs(30));
    }

    #[test]
    fn a_tight_bucket_stops_growth_and_an_empty_one_makes_a_pause() {
        let mut limits = Limits::new(64);
        round(&mut limits, Signal::Served { headroom: Some(TIGHT - 1) });
        assert_eq!(limits.window(), START);
        let ticket = go(&mut limits, NOW);
        limits.done(NOW, &ticket, Signal::Served { headroom: Some(0) });
        assert_eq!(limits.leave(NOW), Admission::Until(NOW + EMPTY));
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut limits = Limits::new(64);
        for _ in 0..100 {
            let ticket = go(&mut limits, NOW);
            limits.done(NOW, &ticket, SERVED);
        }
        assert_eq!(limits.window(), START);
    }

    proptest! {
        #[test]
        fn in_flight_never_exceeds_the_window_it_left_under_and_the_window_stays_in_bounds(
            most in 1_u32..80,
            steps in proptest::collection::vec((0_u8..5, 0_u64..4000), 1..400),
        ) {
            let mut limits = Limits::new(most);
            let mut now = Duration::ZERO;
            let mut open: Vec<Ticket> = Vec::new();
            for (step, value) in steps {
                let signal = match step {
                    0 | 1 => {
                        if let Admission::Go(ticket) = limits.leave(now) {
                            open.push(ticket);
                            prop_assert!(limits.in_flight() <= limits.window());
                        }
                        continue;
                    }
                    2 => Signal::Served { headroom: u16::try_from(value).ok().filter(|share| *share <= 1000) },
                    3 => Signal::Overload { retry_after: (value % 2 == 0).then(|| Duration::from_millis(value)) },
                    _ => Signal::Silent,
                };
                now += Duration::from_millis(value);
                if let Some(ticket) = open.pop() {
                    limits.done(now, &ticket, signal);
                }
                prop_assert_eq!(limits.in_flight() as usize, open.len());
                prop_assert!((1..=most).contains(&limits.window()));
            }
        }
    }
}
