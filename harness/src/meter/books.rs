//! The books of a run: sums of what became of its attempts.

use bench_results::record::{Opened, Settled};
use serde::Serialize;

/// What becomes of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Booking {
    /// The response states its usage, which comes to this.
    Settled(u64),
    /// Something may have been billed, nobody knows: the full reservation counts as spent.
    Kept,
    /// As `Kept`, where providers customarily bill nothing (503, 529): shown apart.
    Suspect,
    /// The request surely was not processed: nothing is spent.
    Released,
}

impl Booking {
    /// Pico-dollars booked as spent.
    pub fn amount(self, reserved: u64) -> u64 {
        match self {
            Self::Settled(billed) => billed,
            Self::Kept | Self::Suspect => reserved,
            Self::Released => 0,
        }
    }

    /// How a line of the record was booked; the error says what does not fit. Where nothing was reserved and no usage is
    /// stated, as with a model that is free, every outcome reads as released: the amounts are the same.
    pub fn of_record(opened: &Opened, settled: &Settled) -> Result<Self, &'static str> {
        match settled {
            Settled { usage: Some(_), billed, .. } => Ok(Self::Settled(*billed)),
            Settled { billed: 0, .. } => Ok(Self::Released),
            Settled { billed, .. } if *billed != opened.reserve => {
                Err("no usage is stated, and what is booked is neither nothing nor the reservation")
            }
            Settled { status: Some(503 | 529), .. } => Ok(Self::Suspect),
            Settled { .. } => Ok(Self::Kept),
        }
    }
}

/// Sums over the attempts of a run, in pico-dollars where they are money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Books {
    /// Attempts admitted so far.
    pub attempts: u64,
    /// Attempts under way.
    pub open: u64,
    /// Reserved for the attempts under way.
    pub reserved: u64,
    /// Spent: the sum of the next three.
    pub spent: u64,
    /// Spent by usage that a response states.
    pub settled: u64,
    /// Kept because the outcome is unknown.
    pub kept: u64,
    /// Kept although customarily not billed.
    pub suspect: u64,
    /// Attempts whose outcome is unknown.
    pub kept_attempts: u64,
    /// Attempts that are kept although customarily not billed.
    pub suspect_attempts: u64,
    /// Attempts that were not processed.
    pub released_attempts: u64,
}

impl Books {
    /// Moves one reservation to where it belongs. Sums saturate: only an overrun can bring them there, and after an overrun
    /// nothing is admitted.
    pub(super) fn close(&mut self, reserved: u64, booking: Booking) {
        self.open -= 1;
        self.reserved -= reserved;
        let amount = booking.amount(reserved);
        self.spent = self.spent.saturating_add(amount);
        match booking {
            Booking::Settled(_) => self.settled = self.settled.saturating_add(amount),
            Booking::Kept => {
                self.kept += amount;
                self.kept_attempts += 1;
            }
            Booking::Suspect => {
                self.suspect += amount;
                self.suspect_attempts += 1;
            }
            Booking::Released => self.released_attempts += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use bench_protocol::digest::Digest;
    use bench_results::record::{DrawId, Usage};
    use bench_tasks::task::TaskId;

    use super::*;

    #[test]
    fn a_line_of_the_record_says_how_it_was_booked() {
        let draw = DrawId { task: TaskId("t0".to_owned()), arm: "raw".into(), turn: 1 };
        let digest = Digest::of(b"");
        let opened = Opened { n: 0, draw, attempt: 1, reserve: 70, request: digest.clone(), surface: digest };
        let line = |status, usage, billed| Settled {
            n: 0,
            status,
            request_id: None,
            model: None,
            usage,
            billed,
            ms: None,
            error: None,
            response: None,
        };
        for (status, usage, billed, expected) in [
            (Some(200), Some(Usage::default()), 7, Ok(Booking::Settled(7))),
            (Some(200), None, 70, Ok(Booking::Kept)),
            (Some(429), None, 0, Ok(Booking::Released)),
            (Some(529), None, 70, Ok(Booking::Suspect)),
            (Some(503), None, 70, Ok(Booking::Suspect)),
            (Some(500), None, 70, Ok(Booking::Kept)),
            (None, None, 70, Ok(Booking::Kept)),
        ] {
            assert_eq!(Booking::of_record(&opened, &line(status, usage, billed)), expected);
        }
        assert!(Booking::of_record(&opened, &line(None, None, 69)).is_err());
    }
}
