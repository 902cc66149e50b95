//! Why an attempt may not leave.

use thiserror::Error;

use super::Overrun;

/// Why an attempt is refused. Nothing has been reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The ceiling.
    #[error(
        "budget reached: {} spent and {} reserved of {}, the next attempt needs up to {}; resume with a higher `--budget-usd`",
        Usd(*spent), Usd(*reserved), Usd(*budget), Usd(*reserve)
    )]
    Budget {
        /// What the attempt would reserve.
        reserve: u64,
        /// Spent so far.
        spent: u64,
        /// Reserved by attempts under way.
        reserved: u64,
        /// The budget.
        budget: u64,
    },
    /// The cap on one attempt.
    #[error("one attempt may reserve {} at most, this one needs up to {}", Usd(*limit), Usd(*reserve))]
    PerAttempt {
        /// What the attempt would reserve.
        reserve: u64,
        /// The cap.
        limit: u64,
    },
    /// The cap on the number of attempts.
    #[error("{limit} attempts were made, as many as this run may make")]
    Attempts {
        /// The cap.
        limit: u64,
    },
    /// An earlier attempt cost more than its reservation.
    #[error(
        "attempt {} was billed {} against a reservation of {}: the bound on its cost does not hold, so no ceiling can be kept; \
         compare the provider's usage page and the price row before going on",
        .0.n, Usd(.0.billed), Usd(.0.reserved)
    )]
    Overrun(Overrun),
    /// Numbers must be handed out in order: a bug of ours.
    #[error("attempt {n} was to be admitted where {expected} is next")]
    Number {
        /// The number.
        n: u64,
        /// The number that is next.
        expected: u64,
    },
}

/// An outcome for an attempt that was never admitted: a bug of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("an outcome for attempt {n}, which was never admitted (next is {next})")]
pub struct UnknownAttempt {
    /// The number.
    pub n: u64,
    /// The number that is next.
    pub next: u64,
}

/// A budget that earlier attempts have already used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a budget of {} is below the {} that this run has already spent; give at least that", Usd(*budget), Usd(*bound))]
pub struct BudgetTooSmall {
    /// The new budget.
    pub budget: u64,
    /// Spent and reserved.
    pub bound: u64,
}

/// Pico-dollars as dollars, exact: cents at least, and as many places as it takes.
struct Usd(u64);

impl std::fmt::Display for Usd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const DOLLAR: u64 = 1_000_000_000_000;
        let places = format!("{:012}", self.0 % DOLLAR);
        let (cents, finer) = places.split_at(2);
        write!(f, "${}.{cents}{}", self.0 / DOLLAR, finer.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_numbers_and_the_next_step() {
        let budget = Refusal::Budget {
            reserve: 85_840_000_001,
            spent: 79_950_000_000_000,
            reserved: 0,
            budget: 80_000_000_000_000,
        };
        insta::assert_snapshot!(budget, @"budget reached: $79.95 spent and $0.00 reserved of $80.00, the next attempt needs up to $0.085840000001; resume with a higher `--budget-usd`");
        let overrun = Refusal::Overrun(Overrun { n: 17, reserved: 34_100_000, billed: 34_100_001 });
        insta::assert_snapshot!(overrun, @"attempt 17 was billed $0.000034100001 against a reservation of $0.0000341: the bound on its cost does not hold, so no ceiling can be kept; compare the provider's usage page and the price row before going on");
        insta::assert_snapshot!(BudgetTooSmall { budget: 1_000_000_000_000, bound: 2_500_000_000_000 }, @"a budget of $1.00 is below the $2.50 that this run has already spent; give at least that");
    }
}
