//! The meter against a model of itself that forgets nothing.

use proptest::prelude::*;

use super::*;

impl Meter {
    /// [`Self::close`] with what the response's usage comes to.
    fn settle(&mut self, n: u64, billed: u64) -> Result<Settlement, UnknownAttempt> {
        self.close(n, Booking::Settled(billed))
    }

    /// [`Self::close`] for an outcome that nobody knows.
    fn keep(&mut self, n: u64) -> Result<Settlement, UnknownAttempt> {
        self.close(n, Booking::Kept)
    }
}

fn limits(budget: u64) -> Limits {
    Limits { budget, per_attempt: None, attempts: None }
}

#[test]
fn concurrent_reservations_never_pass_the_budget_together() {
    let mut meter = Meter::new(limits(100));
    assert_eq!(meter.admit(0, 60), Ok(Admitted { n: 0, free: 40 }));
    assert_eq!(meter.admit(1, 41), Err(Refusal::Budget { reserve: 41, spent: 0, reserved: 60, budget: 100 }));
    assert_eq!(meter.admit(1, 40), Ok(Admitted { n: 1, free: 0 }));
    assert_eq!(meter.settle(0, 10), Ok(Settlement::Booked));
    assert_eq!(meter.admit(2, 50), Ok(Admitted { n: 2, free: 0 }));
}

#[test]
fn an_unknown_outcome_keeps_its_full_reservation_and_a_refused_request_costs_nothing() {
    let mut meter = Meter::new(limits(100));
    for n in 0..3 {
        meter.admit(n, 30).unwrap();
    }
    meter.keep(0).unwrap();
    meter.close(1, Booking::Released).unwrap();
    meter.close(2, Booking::Suspect).unwrap();
    let books = meter.books();
    assert_eq!((books.spent, books.kept, books.suspect, books.reserved), (60, 30, 30, 0));
    assert_eq!((books.kept_attempts, books.suspect_attempts, books.released_attempts), (1, 1, 1));
}

#[test]
fn an_outcome_counts_once_however_often_it_arrives() {
    let mut meter = Meter::new(limits(100));
    meter.admit(0, 30).unwrap();
    assert_eq!(meter.settle(0, 20), Ok(Settlement::Booked));
    for again in [meter.settle(0, 20), meter.settle(0, 25), meter.keep(0), meter.close(0, Booking::Released)] {
        assert_eq!(again, Ok(Settlement::Repeated));
    }
    assert_eq!(meter.books().spent, 20);
    assert_eq!(meter.settle(1, 1), Err(UnknownAttempt { n: 1, next: 1 }));
}

#[test]
fn usage_beyond_its_reservation_is_booked_in_full_and_stops_the_run() {
    let mut meter = Meter::new(limits(100));
    meter.admit(0, 30).unwrap();
    meter.admit(1, 30).unwrap();
    let overrun = Overrun { n: 0, reserved: 30, billed: 31 };
    assert_eq!(meter.settle(0, 31), Ok(Settlement::Overrun(overrun)));
    assert_eq!(meter.admit(2, 0), Err(Refusal::Overrun(overrun)));
    assert_eq!(meter.settle(1, 5), Ok(Settlement::Booked));
    assert_eq!(meter.books().spent, 36);
    meter.accept_overruns();
    meter.admit(2, 10).unwrap();
    let second = Overrun { n: 2, reserved: 10, billed: 11 };
    assert_eq!(meter.settle(2, 11), Ok(Settlement::Overrun(second)));
    assert_eq!(meter.admit(3, 0), Err(Refusal::Overrun(second)));
}

#[test]
fn caps_refuse_at_their_limit_and_not_before() {
    let mut meter = Meter::new(Limits { budget: 100, per_attempt: Some(10), attempts: Some(2) });
    assert_eq!(meter.admit(0, 11), Err(Refusal::PerAttempt { reserve: 11, limit: 10 }));
    meter.admit(0, 10).unwrap();
    meter.admit(1, 0).unwrap();
    assert_eq!(meter.admit(2, 0), Err(Refusal::Attempts { limit: 2 }));
}

#[test]
fn a_budget_of_zero_admits_what_is_free_and_nothing_else() {
    let mut meter = Meter::new(limits(0));
    assert!(meter.admit(0, 1).is_err());
    assert!(meter.admit(0, 0).is_ok());
}

#[test]
fn a_resumed_run_may_raise_its_budget_and_not_fall_below_what_is_spent() {
    let mut meter = Meter::new(limits(100));
    meter.admit(0, 70).unwrap();
    meter.keep(0).unwrap();
    assert_eq!(meter.set_limits(limits(69)), Err(BudgetTooSmall { budget: 69, bound: 70 }));
    meter.set_limits(limits(200)).unwrap();
    assert_eq!(meter.free(), 130);
}

/// One thing that happens to a meter.
#[derive(Debug, Clone)]
enum Step {
    Admit(u64),
    /// Closes the attempt whose number is this modulo the attempts so far; the share of its reservation is in per mille.
    Settle(u64, u64),
    Keep(u64),
    Suspect(u64),
    Release(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u64..400).prop_map(Step::Admit),
        1 => Just(Step::Admit(u64::MAX)),
        4 => (any::<u64>(), 0_u64..=1_000).prop_map(|(n, share)| Step::Settle(n, share)),
        1 => any::<u64>().prop_map(Step::Keep),
        1 => any::<u64>().prop_map(Step::Suspect),
        1 => any::<u64>().prop_map(Step::Release),
    ]
}

/// An attempt as the reference remembers it: what it reserved, and what became of it.
type Remembered = (u64, Option<(Booking, u64)>);

proptest! {
    #[test]
    fn spent_and_reserved_stay_within_the_budget_whatever_the_order(
        budget in prop_oneof![0_u64..3_000, Just(u64::MAX)],
        steps in proptest::collection::vec(step(), 0..120),
    ) {
        let mut meter = Meter::new(limits(budget));
        let mut history: Vec<Remembered> = Vec::new();
        for step in steps {
            let (number, booking) = match step {
                Step::Admit(reserve) => {
                    let bound: u128 = history.iter().map(|(reserve, end)| u128::from(end.map_or(*reserve, |(_, amount)| amount))).sum();
                    let fits = bound + u128::from(reserve) <= u128::from(budget);
                    let admitted = meter.admit(history.len() as u64, reserve);
                    prop_assert_eq!(admitted.is_ok(), fits);
                    if fits {
                        history.push((reserve, None));
                    }
                    continue;
                }
                _ if history.is_empty() => continue,
                Step::Settle(n, share) => {
                    let n = n % history.len() as u64;
                    let reserve = history[usize::try_from(n).unwrap()].0;
                    let billed = u64::try_from(u128::from(reserve) * u128::from(share) / 1_000).unwrap();
                    (n, Booking::Settled(billed))
                }
                Step::Keep(n) => (n % history.len() as u64, Booking::Kept),
                Step::Suspect(n) => (n % history.len() as u64, Booking::Suspect),
                Step::Release(n) => (n % history.len() as u64, Booking::Released),
            };
            let (reserve, end) = &mut history[usize::try_from(number).unwrap()];
            let expected = if end.is_none() { Settlement::Booked } else { Settlement::Repeated };
            prop_assert_eq!(meter.close(number, booking), Ok(expected));
            end.get_or_insert((booking, booking.amount(*reserve)));

            let books = meter.books();
            prop_assert!(u128::from(books.spent) + u128::from(books.reserved) <= u128::from(budget));
            prop_assert_eq!(books, reference_books(&history));
            let open: Vec<u64> = (0..).zip(&history).filter(|(_, (_, end))| end.is_none()).map(|(n, _)| n).collect();
            prop_assert_eq!(meter.open().collect::<Vec<_>>(), open);
        }
    }
}

fn reference_books(history: &[Remembered]) -> Books {
    let sum = |pick: fn(&Remembered) -> Option<u64>| history.iter().filter_map(pick).sum::<u64>();
    let count = |pick: fn(&Remembered) -> bool| history.iter().filter(|attempt| pick(attempt)).count() as u64;
    Books {
        attempts: history.len() as u64,
        open: count(|(_, end)| end.is_none()),
        reserved: sum(|(reserve, end)| end.is_none().then_some(*reserve)),
        spent: sum(|(_, end)| end.map(|(_, amount)| amount)),
        settled: sum(|(_, end)| {
            end.and_then(|(booking, amount)| matches!(booking, Booking::Settled(_)).then_some(amount))
        }),
        kept: sum(|(_, end)| end.and_then(|(booking, amount)| (booking == Booking::Kept).then_some(amount))),
        suspect: sum(|(_, end)| end.and_then(|(booking, amount)| (booking == Booking::Suspect).then_some(amount))),
        kept_attempts: count(|(_, end)| matches!(end, Some((Booking::Kept, _)))),
        suspect_attempts: count(|(_, end)| matches!(end, Some((Booking::Suspect, _)))),
        released_attempts: count(|(_, end)| matches!(end, Some((Booking::Released, _)))),
    }
}
