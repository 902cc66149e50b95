//! Attempts that were billed more than they could be, and were accepted all the same: what the record says of them.

use bench_protocol::prices::Bound;
use bench_results::record::{Deviation, Usage};

use crate::meter::{self, Overrun, Refusal};

/// An attempt that was billed more tokens than its request can hold. It may cost less than was reserved for it all the same;
/// what reservations rest on does not hold then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "attempt {n} was billed {input} input and {output} output tokens, more than its request can hold ({most_input} and \
     {most_output})"
)]
pub struct Beyond {
    /// The attempt.
    n: u64,
    /// Input tokens of all classes.
    input: u128,
    /// Output tokens.
    output: u64,
    /// The bound on input.
    most_input: u64,
    /// The bound on output.
    most_output: u64,
}

impl Beyond {
    /// Of an attempt with this usage, if it is beyond its bound.
    pub fn of(n: u64, usage: &Usage, bound: Bound) -> Option<Self> {
        let tokens = meter::tokens(usage);
        let (input, output) = (tokens.prompt(), tokens.output);
        let beyond = Self { n, input, output, most_input: bound.input, most_output: bound.output };
        (!bound.holds(&tokens)).then_some(beyond)
    }

    /// The deviation that accepts it, and no other.
    pub fn accepted(self) -> Deviation {
        Deviation { what: "an overrun was accepted".to_owned(), why: self.to_string() }
    }
}

/// The deviation that accepts an overrun. It names the attempt and both amounts, so that it accepts no other.
pub fn accepted(overrun: Overrun) -> Deviation {
    Deviation { what: "an overrun was accepted".to_owned(), why: Refusal::Overrun(overrun).to_string() }
}
