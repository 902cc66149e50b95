//! The meter: a hard ceiling on what a run can spend, in integer pico-dollars.
//!
//! A pure state machine. Every attempt reserves its worst case before it leaves; its outcome turns the reservation into
//! what it cost. At every step `spent + reserved ≤ budget`, whatever the order of outcomes. Making reservations survive a
//! crash is the journal's work.

mod books;
mod error;

use std::collections::BTreeMap;

use bench_protocol::prices::Tokens;
use bench_results::record::Usage;

pub use books::{Booking, Books};
pub use error::{BudgetTooSmall, Refusal, UnknownAttempt};

/// What a run may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Pico-dollars in all.
    pub budget: u64,
    /// Pico-dollars that one attempt may reserve.
    pub per_attempt: Option<u64>,
    /// Attempts in all: what catches a mistake in a price of zero.
    pub attempts: Option<u64>,
}

/// An attempt that may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    /// Its number.
    pub n: u64,
    /// What stays free after its reservation.
    pub free: u64,
}

/// What an outcome did to the books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// It was booked.
    Booked,
    /// The attempt had been closed before; nothing changed.
    Repeated,
    /// It was booked, and it cost more than it had reserved: our idea of the provider is wrong. Nothing is admitted any more.
    Overrun(Overrun),
}

/// An attempt that cost more than its reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overrun {
    /// Its number.
    pub n: u64,
    /// What it had reserved.
    pub reserved: u64,
    /// What it cost.
    pub billed: u64,
}

/// The meter of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meter {
    limits: Limits,
    books: Books,
    /// Reservations of the attempts that are under way, by number.
    open: BTreeMap<u64, u64>,
    /// Overruns that nobody has accepted: while there is one, nothing is admitted.
    overruns: Vec<Overrun>,
}

impl Meter {
    /// A meter that has spent nothing.
    pub fn new(limits: Limits) -> Self {
        Self { limits, books: Books::default(), open: BTreeMap::new(), overruns: Vec::new() }
    }

    /// The number of the next attempt: they count from 0 in the order of admission.
    pub fn next(&self) -> u64 {
        self.books.attempts
    }

    /// Reserves the worst case of attempt `n`, which must be [`Self::next`]. A refusal changes nothing.
    pub fn admit(&mut self, n: u64, reserve: u64) -> Result<Admitted, Refusal> {
        if let Some(&overrun) = self.overruns.first() {
            return Err(Refusal::Overrun(overrun));
        }
        if n != self.next() {
            return Err(Refusal::Number { n, expected: self.next() });
        }
        if let Some(limit) = self.limits.attempts.filter(|&limit| self.books.attempts >= limit) {
            return Err(Refusal::Attempts { limit });
        }
        if let Some(limit) = self.limits.per_attempt.filter(|&limit| reserve > limit) {
            return Err(Refusal::PerAttempt { reserve, limit });
        }
        let free = self.free().checked_sub(reserve).ok_or(Refusal::Budget {
            reserve,
            spent: self.books.spent,
            reserved: self.books.reserved,
            budget: self.limits.budget,
        })?;
        self.open.insert(n, reserve);
        self.books.attempts += 1;
        self.books.open += 1;
        // Cannot overflow: `spent + reserved` stays within the budget.
        self.books.reserved += reserve;
        Ok(Admitted { n, free })
    }

    /// Closes attempt `n`. Closing it again, however, is [`Settlement::Repeated`]; an attempt that was never admitted is an
    /// error.
    pub fn close(&mut self, n: u64, booking: Booking) -> Result<Settlement, UnknownAttempt> {
        if n >= self.next() {
            return Err(UnknownAttempt { n, next: self.next() });
        }
        let Some(reserved) = self.open.remove(&n) else { return Ok(Settlement::Repeated) };
        let billed = booking.amount(reserved);
        self.books.close(reserved, booking);
        if billed <= reserved {
            return Ok(Settlement::Booked);
        }
        let overrun = Overrun { n, reserved, billed };
        self.overruns.push(overrun);
        Ok(Settlement::Overrun(overrun))
    }

    /// Lets attempts leave again after overruns that somebody has looked at. The next one stops the run again.
    pub fn accept_overruns(&mut self) {
        self.overruns.clear();
    }

    /// What is neither spent nor reserved.
    pub fn free(&self) -> u64 {
        self.limits.budget.saturating_sub(self.books.spent).saturating_sub(self.books.reserved)
    }

    /// The reservation of an attempt that is under way.
    pub fn reservation(&self, n: u64) -> Option<u64> {
        self.open.get(&n).copied()
    }

    /// Numbers of the attempts under way, ascending.
    pub fn open(&self) -> impl Iterator<Item = u64> {
        self.open.keys().copied()
    }

    /// The books.
    pub fn books(&self) -> Books {
        self.books
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Puts new limits in force, as a resumed run may bring them. A budget below what is already bound is refused.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), BudgetTooSmall> {
        let bound = self.books.spent.saturating_add(self.books.reserved);
        if limits.budget < bound {
            return Err(BudgetTooSmall { budget: limits.budget, bound });
        }
        self.limits = limits;
        Ok(())
    }
}

/// Pico-dollars as dollars for people, to the cent, rounded up: `$12.35`. Amounts below a cent show what they are.
pub fn dollars(amount: u64) -> String {
    const CENT: u64 = 10_000_000_000;
    if amount > 0 && amount < CENT {
        return format!("${:.6}", amount as f64 / 1e12);
    }
    let cents = amount.div_ceil(CENT);
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// The token classes of a record as the price table counts them.
pub fn tokens(usage: &Usage) -> Tokens {
    Tokens {
        input: usage.input,
        cache_write_5m: usage.cache_write,
        cache_write_1h: usage.cache_write_1h,
        cache_read: usage.cache_read,
        output: usage.output,
    }
}

#[cfg(test)]
mod tests;
