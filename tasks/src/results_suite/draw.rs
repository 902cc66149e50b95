//! Integer draws from one stream of ChaCha8: the only randomness of the suite.

use std::{collections::BTreeSet, fmt::Write as _};

use rand::{RngCore as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// A seeded source of indices, numbers, choices and hex digits.
#[derive(Debug)]
pub(crate) struct Draw {
    random: ChaCha8Rng,
}

impl Draw {
    /// The stream `stream` of `seed`.
    pub(crate) fn new(seed: [u8; 32], stream: u64) -> Self {
        let mut random = ChaCha8Rng::from_seed(seed);
        random.set_stream(stream);
        Self { random }
    }

    /// An index below `len`; 0 where `len` is 0.
    pub(crate) fn below(&mut self, len: usize) -> usize {
        let drawn = (u128::from(self.random.next_u64()) * len as u128) >> 64;
        usize::try_from(drawn).unwrap_or(0)
    }

    /// A number of `low..=high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        let width = u128::from(high.saturating_sub(low)) + 1;
        let drawn = (u128::from(self.random.next_u64()) * width) >> 64;
        low + u64::try_from(drawn).unwrap_or(0)
    }

    /// True in `hits` of `of` draws.
    pub(crate) fn chance(&mut self, hits: u64, of: u64) -> bool {
        self.between(1, of) <= hits
    }

    /// One entry of `list`, which is never empty (pools are checked when they are read).
    pub(crate) fn pick<'a>(&mut self, list: &'a [String]) -> &'a str {
        let at = self.below(list.len());
        list.get(at).map_or("", String::as_str)
    }

    /// `count` different numbers of `low..=high`, in drawn order; the range must hold that many.
    pub(crate) fn numbers(&mut self, count: usize, low: u64, high: u64) -> Vec<u64> {
        debug_assert!(high - low + 1 >= count as u64);
        self.distinct(count, |draw| draw.between(low, high))
    }

    /// `count` different entries of `list`, in drawn order; all of them where `list` is shorter.
    pub(crate) fn entries<'a>(&mut self, count: usize, list: &'a [String]) -> Vec<&'a str> {
        let mut all: Vec<&str> = list.iter().map(String::as_str).collect();
        self.shuffle(&mut all);
        all.truncate(count);
        all
    }

    /// `count` different values of `make`, which must be able to make that many.
    pub(crate) fn distinct<T: Ord + Clone>(&mut self, count: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut seen = BTreeSet::new();
        let mut list = Vec::with_capacity(count);
        while list.len() < count {
            let value = make(self);
            if seen.insert(value.clone()) {
                list.push(value);
            }
        }
        list
    }

    /// Fisher and Yates, from the end.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            let j = self.below(i + 1);
            list.swap(i, j);
        }
    }

    /// `digits` lower-case hex digits.
    pub(crate) fn hex(&mut self, digits: usize) -> String {
        let mut text = String::with_capacity(digits + 16);
        while text.len() < digits {
            let _ = write!(text, "{:016x}", self.random.next_u64());
        }
        text.truncate(digits);
        text
    }

    /// `digits` letters and digits as GitHub's node ids use them.
    pub(crate) fn base62(&mut self, digits: usize) -> String {
        const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        (0..digits).map(|_| char::from(ALPHABET[self.below(ALPHABET.len())])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_frozen() {
        let mut draw = Draw::new([7; 32], 3);
        let drawn = (draw.below(1000), draw.between(5, 9), draw.hex(8), draw.base62(6));
        assert_eq!(drawn, (126, 7, "4144e9b3".to_owned(), "dbWXuE".to_owned()));
    }

    #[test]
    fn numbers_differ_and_stay_in_range() {
        let mut numbers = Draw::new([1; 32], 0).numbers(5, 10, 14);
        numbers.sort_unstable();
        assert_eq!(numbers, [10, 11, 12, 13, 14]);
    }
}
