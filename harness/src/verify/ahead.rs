//! Looking things up by episode in a log whose order is almost that of the schedule.
//!
//! A live run writes as things happen: what it writes of an episode lies as far from the episode's place in the schedule as
//! requests were in flight and asked again. So the log is read once, and only what is ahead of the schedule is held. Where
//! that comes to more than a bound, because an episode was asked again at the end of the run or because somebody shuffled
//! the log, the episode is put off: of what is put off only the places in the log are kept, a few bytes each, and it is
//! read anew when the log has ended.

use std::collections::{BTreeMap, BTreeSet};

use bench_protocol::rng::stream_id;

use crate::journal::EpisodeKey;

/// What is held ahead of the schedule, in bytes of the log. At 64 requests in flight and two kilobytes each, the slowest of
/// them may take a hundred times as long as the others before its episode is put off.
pub(super) const HELD_AT_MOST: usize = 16 << 20;

/// What may be of one episode, in bytes of the log: no run gives as many answers, or is refused as often, for one task.
const EPISODE_AT_MOST: usize = 16 << 20;

/// Bytes that an item takes beyond its own of the log.
const OVERHEAD: usize = 512;

/// Something that a log holds of an episode.
pub(super) trait Item {
    /// Where it lies in the log.
    type At: Copy + Ord;

    /// The episode.
    fn key(&self) -> EpisodeKey;
    /// Where it lies.
    fn at(&self) -> Self::At;
    /// Its size in the log.
    fn bytes(&self) -> usize;
    /// Whether it is one of those that are waited for.
    fn counts(&self) -> bool;
}

/// A log.
pub(super) trait Source {
    /// What it holds.
    type Item: Item;

    /// The next item; `None` at the end. Errors end the log.
    fn next(&mut self) -> Result<Option<Self::Item>, String>;
    /// An item that was read before.
    fn again(&mut self, at: <Self::Item as Item>::At) -> Result<Self::Item, String>;
}

/// What is held of one episode.
#[derive(Debug)]
struct Held<T> {
    items: Vec<T>,
    counted: u64,
    bytes: usize,
}

/// What is kept of an item that is put off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place<At> {
    /// Hash of its episode; whose it is is settled when it is read anew.
    episode: u64,
    at: At,
}

impl<At: Copy + Ord> Place<At> {
    /// Of this item.
    pub(super) fn of(item: &impl Item<At = At>) -> Self {
        Self { episode: hash(&item.key()), at: item.at() }
    }
}

/// What came of a look.
#[derive(Debug)]
pub(super) enum Found<T> {
    /// As much as was asked for, or all that the log holds.
    Items(Vec<T>),
    /// It lies further ahead than is looked: the episode is put off.
    Later,
}

/// A log with what is held of it.
pub(super) struct Ahead<S: Source> {
    log: S,
    at_most: usize,
    held: BTreeMap<EpisodeKey, Held<S::Item>>,
    /// Sum over what is held.
    bytes: usize,
    /// Hashes of the episodes that are put off.
    later: BTreeSet<u64>,
    places: Vec<Place<<S::Item as Item>::At>>,
    /// Which of them were taken since; filled when the log has ended.
    taken: Vec<bool>,
}

impl<S: Source> Ahead<S> {
    /// A log of which at most so many bytes are held.
    pub(super) fn new(log: S, at_most: usize) -> Self {
        Self {
            log,
            at_most,
            held: BTreeMap::new(),
            bytes: 0,
            later: BTreeSet::new(),
            places: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Takes out what the log holds of an episode: items up to the `enough`th that counts, and all that are held.
    pub(super) fn take(&mut self, key: &EpisodeKey, enough: u64) -> Result<Found<S::Item>, String> {
        loop {
            if enough == 0 || self.held.get(key).is_some_and(|held| held.counted >= enough) {
                return Ok(Found::Items(self.release(key)));
            }
            if self.bytes >= self.at_most {
                return Ok(Found::Later);
            }
            match self.log.next()? {
                Some(item) => self.hold(item),
                None => return Ok(Found::Items(self.release(key))),
            }
        }
    }

    /// Puts an episode off, with what was taken of it.
    pub(super) fn put_off(&mut self, key: &EpisodeKey, taken: &[S::Item]) {
        self.later.insert(hash(key));
        let held = self.release(key);
        self.places.extend(taken.iter().chain(&held).map(Place::of));
    }

    /// Puts off what turned out to be too little to go on with: episodes by their hashes, and what was taken of them.
    pub(super) fn put_back(&mut self, episodes: &[u64], taken: Vec<Place<<S::Item as Item>::At>>) {
        self.later.extend(episodes);
        self.places.extend(taken);
        // More of them may have come since.
        let since: Vec<_> = self.held.keys().filter(|key| self.later.contains(&hash(key))).cloned().collect();
        since.iter().for_each(|key| self.put_off(key, &[]));
    }

    /// Reads the log to its end. From here on what was put off can be had.
    pub(super) fn rest(&mut self) -> Result<(), String> {
        while let Some(item) = self.log.next()? {
            if self.bytes < self.at_most {
                self.hold(item);
            } else {
                self.places.push(Place::of(&item));
            }
        }
        self.places.sort_unstable();
        self.taken = vec![false; self.places.len()];
        Ok(())
    }

    /// What was put off of an episode, in the order of the log.
    pub(super) fn later(&mut self, key: &EpisodeKey) -> Result<Vec<S::Item>, String> {
        let episode = hash(key);
        let start = self.places.partition_point(|place| place.episode < episode);
        let mut items = Vec::new();
        let mut bytes = 0;
        for at in start..self.places.len() {
            if self.places[at].episode != episode {
                break;
            }
            let item = self.log.again(self.places[at].at)?;
            if item.key() != *key {
                continue;
            }
            if bytes >= EPISODE_AT_MOST {
                let EpisodeKey { task, arm } = key;
                return Err(format!(
                    "more than {EPISODE_AT_MOST} bytes of a log are of one episode, of task {task} under {arm}"
                ));
            }
            bytes += OVERHEAD + item.bytes();
            self.taken[at] = true;
            items.push(item);
        }
        Ok(items)
    }

    /// How many items nobody took, and one of them.
    pub(super) fn left(&mut self) -> Result<(u64, Option<S::Item>), String> {
        let held: u64 = self.held.values().map(|held| held.items.len() as u64).sum();
        let count = held + self.taken.iter().filter(|&&taken| !taken).count() as u64;
        let first = self.held.pop_first().and_then(|(_, held)| held.items.into_iter().next());
        let put_off = self.taken.iter().position(|taken| !taken).map(|at| self.places[at].at);
        match (first, put_off) {
            (Some(first), _) => Ok((count, Some(first))),
            (None, Some(at)) => Ok((count, Some(self.log.again(at)?))),
            (None, None) => Ok((count, None)),
        }
    }

    /// The log, as far as it was read.
    pub(super) fn log(&self) -> &S {
        &self.log
    }

    fn hold(&mut self, item: S::Item) {
        let key = item.key();
        if !self.later.is_empty() && self.later.contains(&hash(&key)) {
            self.places.push(Place::of(&item));
            return;
        }
        let bytes = OVERHEAD + item.bytes();
        let held = self.held.entry(key).or_insert_with(|| Held { items: Vec::new(), counted: 0, bytes: 0 });
        held.counted += u64::from(item.counts());
        held.bytes += bytes;
        held.items.push(item);
        self.bytes += bytes;
    }

    fn release(&mut self, key: &EpisodeKey) -> Vec<S::Item> {
        let Some(held) = self.held.remove(key) else { return Vec::new() };
        self.bytes -= held.bytes;
        held.items
    }
}

/// What stands for an episode that is put off.
pub(super) fn hash(key: &EpisodeKey) -> u64 {
    stream_id(&format!("{}/{}", key.task, key.arm))
}

#[cfg(test)]
mod tests {
    use bench_protocol::rng::{index, shuffle, stream};
    use bench_tasks::task::TaskId;

    use super::*;

    /// Something of an episode, with its number in the log.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct One {
        episode: u64,
        at: usize,
    }

    struct All {
        log: Vec<u64>,
        next: usize,
    }

    fn episode(number: u64) -> EpisodeKey {
        EpisodeKey { task: TaskId(format!("t{number}")), arm: "raw".into() }
    }

    impl Item for One {
        type At = usize;

        fn key(&self) -> EpisodeKey {
            episode(self.episode)
        }

        fn at(&self) -> usize {
            self.at
        }

        fn bytes(&self) -> usize {
            1_000
        }

        fn counts(&self) -> bool {
            true
        }
    }

    impl Source for All {
        type Item = One;

        fn next(&mut self) -> Result<Option<One>, String> {
            self.next += 1;
            Ok(self.log.get(self.next - 1).map(|&episode| One { episode, at: self.next - 1 }))
        }

        fn again(&mut self, at: usize) -> Result<One, String> {
            Ok(One { episode: self.log[at], at })
        }
    }

    const ITEM: usize = OVERHEAD + 1_000;

    fn ahead(log: Vec<u64>, items: usize) -> Ahead<All> {
        Ahead::new(All { log, next: 0 }, items * ITEM)
    }

    /// What a run of `episodes` with so many in flight writes, each of `turns` requests that take 1 to 4 units of time.
    fn run(episodes: u64, flight: usize, turns: u64, seed: u64) -> Vec<u64> {
        let mut rng = stream([7; 32], seed);
        let mut took = |now: u64| now + 1 + index(&mut rng, 4);
        let mut next = 0..episodes;
        // By when it is answered: the episode, and its turns to come.
        let mut under_way: BTreeSet<(u64, u64, u64)> =
            next.by_ref().take(flight).map(|episode| (took(0), episode, turns - 1)).collect();
        let mut log = Vec::new();
        while let Some((now, episode, left)) = under_way.pop_first() {
            log.push(episode);
            if left > 0 {
                under_way.insert((took(now), episode, left - 1));
            } else if let Some(episode) = next.next() {
                under_way.insert((took(now), episode, turns - 1));
            }
        }
        log
    }

    /// Takes every episode in the order of the schedule, those that are put off at the end; the numbers of the items of
    /// each, how many were put off, and the most bytes that were held.
    fn taken(mut ahead: Ahead<All>, episodes: u64, items: u64) -> (Vec<Vec<usize>>, usize, usize) {
        let mut all = vec![Vec::new(); usize::try_from(episodes).unwrap()];
        let (mut later, mut most) = (Vec::new(), 0);
        let numbers = |items: Vec<One>| items.into_iter().map(|one| one.at).collect();
        for (number, place) in (0..episodes).zip(all.iter_mut()) {
            match ahead.take(&episode(number), items).unwrap() {
                Found::Items(items) => *place = numbers(items),
                Found::Later => {
                    ahead.put_off(&episode(number), &[]);
                    later.push(number);
                }
            }
            most = most.max(ahead.bytes);
        }
        ahead.rest().unwrap();
        most = most.max(ahead.bytes);
        for number in &later {
            all[usize::try_from(*number).unwrap()] = numbers(ahead.later(&episode(*number)).unwrap());
        }
        assert_eq!(ahead.left().unwrap(), (0, None));
        (all, later.len(), most)
    }

    #[test]
    fn an_undisturbed_log_is_held_as_far_as_requests_are_in_flight_whatever_its_length() {
        const TURNS: u64 = 3;
        for flight in [1, 8, 64] {
            // While the slowest episode takes four units a turn, every other one in flight is answered four times a turn.
            let bound = flight * 4 * usize::try_from(TURNS).unwrap() * ITEM;
            for episodes in [100, 1_000, 10_000] {
                let log = run(episodes, flight, TURNS, episodes);
                let (_, put_off, most) = taken(ahead(log, usize::MAX / ITEM), episodes, TURNS);
                assert_eq!(put_off, 0);
                assert!(most <= bound, "{flight} in flight, {episodes} episodes: {most} of {bound}");
            }
        }
    }

    #[test]
    fn a_shuffled_log_is_found_whole_and_no_more_is_held_than_the_bound() {
        let mut log: Vec<u64> = (0..500).flat_map(|episode| [episode; 3]).collect();
        for (seed, held) in [(1, 0), (2, 10), (3, 100), (4, 5_000)] {
            shuffle(&mut stream([9; 32], seed), &mut log);
            let places = |episode| (0..log.len()).filter(|&at| log[at] == episode).collect::<Vec<_>>();
            let expected: Vec<_> = (0..500).map(places).collect();
            let (all, put_off, most) = taken(ahead(log.clone(), held), 500, 3);
            assert_eq!(all, expected, "{held}");
            assert!(most <= held * ITEM, "{held}: {most}");
            assert_eq!(put_off == 0, held == 5_000, "{held}: {put_off}");
        }
    }

    #[test]
    fn what_nobody_takes_is_counted_and_one_of_it_is_shown_also_when_it_was_put_off() {
        for held in [0, 2, 100] {
            let mut ahead = ahead(vec![0, 9, 1, 9, 9], held);
            for number in [0, 1] {
                if matches!(ahead.take(&episode(number), 1).unwrap(), Found::Later) {
                    ahead.put_off(&episode(number), &[]);
                }
            }
            ahead.rest().unwrap();
            ahead.later(&episode(0)).unwrap();
            ahead.later(&episode(1)).unwrap();
            let (count, one) = ahead.left().unwrap();
            assert_eq!((count, one.unwrap().episode), (3, 9), "{held}");
        }
    }

    #[test]
    fn what_was_taken_too_early_is_put_back_with_what_came_since() {
        let mut ahead = ahead(vec![0, 1, 0, 1, 0], 100);
        let Found::Items(early) = ahead.take(&episode(0), 1).unwrap() else { panic!("it is there") };
        ahead.take(&episode(1), 2).unwrap();
        ahead.put_back(&[hash(&episode(0))], early.iter().map(Place::of).collect());
        ahead.rest().unwrap();
        let whole: Vec<usize> = ahead.later(&episode(0)).unwrap().iter().map(|one| one.at).collect();
        assert_eq!(whole, [0, 2, 4]);
        assert_eq!(ahead.left().unwrap(), (0, None));
    }

    #[test]
    fn one_episode_that_is_larger_than_any_is_refused() {
        let mut ahead = ahead(vec![0; EPISODE_AT_MOST / ITEM + 2], 10);
        assert!(matches!(ahead.take(&episode(0), u64::MAX).unwrap(), Found::Later));
        ahead.put_off(&episode(0), &[]);
        ahead.rest().unwrap();
        assert!(ahead.later(&episode(0)).unwrap_err().contains("are of one episode, of task t0 under raw"));
    }
}
