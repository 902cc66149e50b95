//! Work on all cores whose results come in the order of what was worked on.

use std::{
    any::Any,
    collections::BTreeMap,
    num::NonZeroUsize,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

/// Episodes that are handed over at a time.
pub(super) const BATCH: usize = 32;

/// Bytes of the logs that are handed over at a time, but for the last episode.
pub(super) const BATCH_BYTES: usize = 1 << 20;

/// As many threads as there are cores.
pub(super) fn all_cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// As [`in_order`], of items that are made in batches: what came out is handed to `take` one by one. Once that breaks no
/// more are made, and what is under way is dropped. The work is lent a buffer.
pub(super) fn batches<T: Send, R: Send>(
    threads: NonZeroUsize,
    mut make: impl FnMut() -> Option<Vec<T>> + Send,
    work: impl Fn(T, &mut Vec<u8>) -> R + Sync,
    mut take: impl FnMut(R) -> ControlFlow<()>,
) {
    let enough = AtomicBool::new(false);
    let make = || if enough.load(Ordering::Relaxed) { None } else { make() };
    let work = |batch: Vec<T>| {
        let mut buffer = Vec::new();
        batch.into_iter().map(|item| work(item, &mut buffer)).collect::<Vec<_>>()
    };
    in_order(threads, make, work, |batch| {
        if !enough.load(Ordering::Relaxed) && batch.into_iter().try_for_each(&mut take).is_break() {
            enough.store(true, Ordering::Relaxed);
        }
    });
}

/// Makes items on a thread of its own until there are none, works on them on `threads` others, and hands what came out to
/// `take` on this one, in the order in which the items were made. At most twice as many items as threads, and two, are
/// under way at any moment.
fn in_order<T: Send, R: Send>(
    threads: NonZeroUsize,
    mut make: impl FnMut() -> Option<T> + Send,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R),
) {
    let most = 2 * threads.get() + 2;
    let (give_back, leave) = mpsc::sync_channel(most);
    for _ in 0..most {
        // As many fit as there are; nobody has taken any yet.
        let _ = give_back.send(());
    }
    let (made, items) = mpsc::sync_channel::<(u64, T)>(most);
    let (done, results) = mpsc::channel::<(u64, Result<R, Box<dyn Any + Send>>)>();
    let items = Mutex::new(items);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0.. {
                if leave.recv().is_err() {
                    break;
                }
                let Some(item) = make() else { break };
                if made.send((number, item)).is_err() {
                    break;
                }
            }
        });
        for _ in 0..threads.get() {
            let (items, work, done) = (&items, &work, done.clone());
            scope.spawn(move || {
                loop {
                    let next = items.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((number, item)) = next else { break };
                    let result = catch_unwind(AssertUnwindSafe(|| work(item)));
                    if done.send((number, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(done);
        // Dropped when a panic is passed on from here: whoever waits for leave ends then, and so does everybody else.
        let give_back = give_back;
        let mut waiting = BTreeMap::new();
        let mut due = 0_u64;
        for (number, result) in results {
            waiting.insert(number, result);
            while let Some(result) = waiting.remove(&due) {
                take(result.unwrap_or_else(|panic| resume_unwind(panic)));
                due += 1;
                let _ = give_back.send(());
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use super::*;

    const THREADS: NonZeroUsize = NonZeroUsize::new(3).unwrap();

    #[test]
    fn results_come_in_order_however_long_each_takes() {
        let mut next = 0..100_u64;
        let mut all = Vec::new();
        let work = |item: u64| {
            thread::sleep(Duration::from_micros(item * 37 % 400));
            item * item
        };
        in_order(THREADS, || next.next(), work, |result| all.push(result));
        assert_eq!(all, (0..100).map(|item| item * item).collect::<Vec<_>>());
    }

    #[test]
    fn no_more_is_under_way_than_the_bound_however_slow_the_taker_is() {
        let (made, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut most = 0;
        let make = || {
            let number = made.fetch_add(1, Ordering::SeqCst);
            (number < 60).then_some(())
        };
        in_order(
            THREADS,
            make,
            |()| (),
            |()| {
                thread::sleep(Duration::from_millis(1));
                most = most.max(made.load(Ordering::SeqCst) - taken.load(Ordering::SeqCst));
                taken.fetch_add(1, Ordering::SeqCst);
            },
        );
        assert!(most <= 2 * THREADS.get() + 3, "{most}");
        assert_eq!(taken.into_inner(), 60);
    }

    #[test]
    fn what_comes_of_batches_is_taken_one_by_one_until_there_is_enough() {
        let (mut made, mut all) = (0_u64, Vec::new());
        let make = || {
            made += 1;
            Some(vec![10 * made, 10 * made + 1])
        };
        let take = |result| {
            all.push(result);
            if result == 51 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        batches(THREADS, make, |item, _| item, take);
        assert_eq!(all, [10, 11, 20, 21, 30, 31, 40, 41, 50, 51]);
        assert!(made <= 5 + 2 * THREADS.get() as u64 + 2, "{made} batches were made");
    }

    #[test]
    fn a_panic_of_the_work_is_passed_on_and_holds_nobody_up() {
        let mut next = 0..1_000_u64;
        let run = || in_order(THREADS, || next.next(), |item| assert_ne!(item, 5), |()| ());
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    }
}
