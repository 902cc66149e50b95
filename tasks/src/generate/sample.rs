//! Which pool entries the items of a frame take.
//!
//! Let a frame have slots with shares of sizes `N_1 … N_k`, `L = lcm(N_1, …, N_k)`, `g_1 = 1` and
//! `g_s = gcd(lcm(N_1, …, N_{s−1}), N_s)`. Item `j` lies in block `p = ⌊j / L⌋`, whose shifts are the digits of `p` in
//! the mixed radix `(g_2, …, g_k)`, the first digit fastest, and `shift_1 = 0`. Slot `s` takes entry
//! `perm_s((j + shift_s) mod N_s)`.
//!
//! The map from items to combinations is one-to-one over all `N_1 ⋯ N_k` items: if items `j, j'` agree in slot 1, then
//! `j ≡ j' (mod N_1)`; agreeing in slot 2 as well gives `shift_2 ≡ shift_2' (mod g_2)`, so the shifts are equal, being
//! below `g_2`, and `j ≡ j'` modulo `lcm(N_1, N_2)`; and so on up to `L`, with equal `p`. And there are `L · g_2 ⋯ g_k = N_1 ⋯ N_k` items.
//! Within a block, any `N_s` items in a row take `N_s` different values in slot `s`.

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use super::Permutation;
use crate::{intent::Frame, slots::Share};

/// Draws a frame's items.
#[derive(Debug, Clone)]
pub struct Sampler {
    slots: Vec<SlotSampler>,
    /// `L`, at most 2^64: no item reaches a second block beyond that.
    block: u128,
    /// Number of combinations, at most 2^64.
    combinations: u128,
}

#[derive(Debug, Clone)]
struct SlotSampler {
    share: Share,
    /// `g_s`.
    radix: u128,
    permutation: Permutation,
}

/// What an item takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// Pool index per slot.
    pub indices: Vec<u64>,
    /// How often all combinations were used up before.
    pub round: u64,
}

/// Items are numbered by u64, so larger products need not be told apart.
const CAP: u128 = 1 << 64;

impl Sampler {
    /// Keys each slot's permutation from the seed, with the stream given by the first 8 bytes (little-endian) of
    /// SHA-256 over frame id, zero byte and slot name.
    pub fn new(frame: &Frame, seed: &[u8; 32]) -> Self {
        let slots = frame.slots.iter().map(|slot| {
            let mut random = ChaCha8Rng::from_seed(*seed);
            random.set_stream(stream(&frame.id, &slot.name));
            (slot.share, Permutation::new(slot.share.len, &mut random))
        });
        Self::from_shares(slots)
    }

    fn from_shares(shares: impl Iterator<Item = (Share, Permutation)>) -> Self {
        let (mut block, mut combinations) = (1u128, 1u128);
        let slots = shares
            .map(|(share, permutation)| {
                let len = u128::from(share.len);
                // A block at the cap is never left, so its radix is never asked for.
                let radix = gcd(block, len);
                block = (block / radix * len).min(CAP);
                combinations = (combinations * len).min(CAP);
                SlotSampler { share, radix, permutation }
            })
            .collect();
        Self { slots, block, combinations }
    }

    /// Number of different combinations, at most 2^64.
    pub fn combinations(&self) -> u128 {
        self.combinations
    }

    /// What item `item` takes.
    #[expect(clippy::cast_possible_truncation, reason = "remainders of u64 lengths, and a quotient of a u64")]
    pub fn draw(&self, item: u64) -> Draw {
        let round = u128::from(item) / self.combinations;
        let item = u128::from(item) % self.combinations;
        let mut digits = item / self.block;
        let indices = self
            .slots
            .iter()
            .map(|slot| {
                let shift = digits % slot.radix;
                digits /= slot.radix;
                let at = (item + shift) % u128::from(slot.share.len);
                slot.share.index(slot.permutation.apply(at as u64))
            })
            .collect();
        Draw { indices, round: round as u64 }
    }
}

fn stream(frame: &str, slot: &str) -> u64 {
    let hash = Sha256::new().chain_update(frame.as_bytes()).chain_update([0]).chain_update(slot.as_bytes()).finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(first)
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn sampler(lens: &[u64], seed: [u8; 32]) -> Sampler {
        let mut random = ChaCha8Rng::from_seed(seed);
        Sampler::from_shares(
            lens.iter()
                .map(|&len| (Share { offset: 0, stride: 1, len }, Permutation::new(len, &mut random)))
                .collect::<Vec<_>>()
                .into_iter(),
        )
    }

    proptest! {
        #[test]
        fn every_combination_comes_once_before_any_comes_twice(lens in prop::collection::vec(1u64..13, 0..5), seed in any::<[u8; 32]>()) {
            let sampler = sampler(&lens, seed);
            let product: u64 = lens.iter().product();
            prop_assert_eq!(sampler.combinations(), u128::from(product));
            let all: BTreeSet<Vec<u64>> = (0..product).map(|item| sampler.draw(item).indices).collect();
            prop_assert_eq!(all.len() as u64, product);
            prop_assert_eq!(sampler.draw(product - 1).round, 0);
            prop_assert_eq!(&sampler.draw(product), &Draw { round: 1, ..sampler.draw(0) });
        }

        #[test]
        fn a_slot_repeats_no_value_for_as_many_items_as_it_has(lens in prop::collection::vec(1u64..40, 1..4), seed in any::<[u8; 32]>(), start in 0u64..100_000) {
            let sampler = sampler(&lens, seed);
            let block = u64::try_from(sampler.block).unwrap();
            for (slot, &len) in lens.iter().enumerate() {
                // Any window inside one block.
                let start = start % (block - len + 1);
                let values: BTreeSet<u64> = (start..start + len).map(|item| sampler.draw(item).indices[slot]).collect();
                prop_assert_eq!(values.len() as u64, len);
            }
        }
    }

    #[test]
    fn products_beyond_the_items_do_not_overflow() {
        let sampler = sampler(&[u64::MAX, u64::MAX - 1, 1 << 63], [3; 32]);
        assert_eq!(sampler.draw(u64::MAX).round, 0);
        assert_ne!(sampler.draw(0).indices, sampler.draw(u64::MAX).indices);
    }

    #[test]
    fn golden_indices_of_the_frozen_stream() {
        assert_eq!(
            stream("git/git_log/last-n", "repo"),
            u64::from_le_bytes(Sha256::digest(b"git/git_log/last-n\0repo")[..8].try_into().unwrap())
        );
        let mut random = ChaCha8Rng::from_seed([9; 32]);
        random.set_stream(stream("git/git_log/last-n", "repo"));
        let permutation = Permutation::new(360, &mut random);
        insta::assert_json_snapshot!((0..8).map(|at| permutation.apply(at)).collect::<Vec<_>>());
    }
}
