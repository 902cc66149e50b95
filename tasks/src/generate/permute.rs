//! A keyed permutation of `0..n` in constant memory.

use rand::RngCore as _;

const ROUNDS: usize = 6;

/// A permutation of `0..n`: a balanced Feistel network (Luby and Rackoff, 1988) over the next even power of two, with
/// cycle walking (Black and Rogaway, 2002) back into the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// Draws the keys of a permutation of `0..len` from `random`, one `next_u64` per round.
    pub fn new(len: u64, random: &mut rand_chacha::ChaCha8Rng) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        let mut keys = [0; ROUNDS];
        for key in &mut keys {
            *key = random.next_u64();
        }
        Self { len, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// The image of `at`, which must be below the length.
    pub fn apply(&self, at: u64) -> u64 {
        debug_assert!(at < self.len);
        // The network permutes at most 4 · len numbers, so the walk takes four steps on average, and it always ends:
        // it follows a cycle that `at` itself, which is in range, lies on.
        let mut value = self.network(at);
        while value >= self.len {
            value = self.network(value);
        }
        value
    }

    fn network(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        (left << self.half_bits) | right
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014).
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    proptest! {
        #[test]
        fn every_number_is_hit_once(len in 1u64..3000, seed in any::<[u8; 32]>()) {
            let permutation = Permutation::new(len, &mut ChaCha8Rng::from_seed(seed));
            let images: BTreeSet<u64> = (0..len).map(|at| permutation.apply(at)).collect();
            prop_assert_eq!(images.len() as u64, len);
            prop_assert!(images.into_iter().all(|image| image < len));
        }
    }

    #[test]
    fn the_largest_range_works() {
        let permutation = Permutation::new(u64::MAX, &mut ChaCha8Rng::from_seed([1; 32]));
        let images: BTreeSet<u64> = [0, 1, u64::MAX - 1].into_iter().map(|at| permutation.apply(at)).collect();
        assert_eq!(images.len(), 3);
    }

    #[test]
    fn golden_values_of_the_frozen_stream() {
        let mut random = ChaCha8Rng::from_seed([7; 32]);
        random.set_stream(42);
        let permutation = Permutation::new(1000, &mut random);
        let images: Vec<u64> = (0..6).map(|at| permutation.apply(at)).collect();
        insta::assert_json_snapshot!(images);
    }
}
