//! An attempt that cost more than its reservation, and was accepted all the same: what the record says of it.

use bench_results::record::Deviation;

use crate::meter::{Overrun, Refusal};

/// The deviation that accepts an overrun. It names the attempt and both amounts, so that it accepts no other.
pub fn accepted(overrun: Overrun) -> Deviation {
    Deviation {
        what: "an overrun was accepted".to_owned(),
        why: format!("{}; no outcome had been seen", Refusal::Overrun(overrun)),
    }
}
