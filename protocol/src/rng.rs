//! The frozen random layer: every bit of randomness that reaches a hash comes through here.
//!
//! Only `ChaCha8Rng::{from_seed, set_stream, next_u64}` is used. Ranges, shuffles and distributions of the `rand`
//! family change their values between minor versions, so the two helpers that are needed are written out and frozen.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use sha2::{Digest, Sha256};

/// A 256-bit seed.
pub type Seed = [u8; 32];

/// The generator of one stream of a seed. Streams of one seed are independent: give each (arm, endpoint, purpose) its
/// own, see [`stream_id`], and parallelise over streams, never over one generator.
pub fn stream(seed: Seed, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::from_seed(seed);
    rng.set_stream(stream);
    rng
}

/// A draw from `0..n`: the high word of `next_u64 · n`, one call of the generator per draw. The bias is below `n / 2⁶⁴`.
/// For `n = 0` the result is 0, which is an index of nothing: callers draw from what is not empty.
pub fn index(rng: &mut ChaCha8Rng, n: u64) -> u64 {
    let wide = u128::from(rng.next_u64()) * u128::from(n);
    (wide >> 64) as u64
}

/// Fisher–Yates from the last place to the second: `i = n−1..1`, `j = index(i + 1)`, swap.
pub fn shuffle<T>(rng: &mut ChaCha8Rng, items: &mut [T]) {
    for i in (1..items.len()).rev() {
        let j = index(rng, i as u64 + 1);
        // `j ≤ i`, an index that already is a usize.
        items.swap(i, usize::try_from(j).unwrap_or(i));
    }
}

/// The seed of one purpose: SHA-256 of the protocol's canonical bytes, a zero byte and the purpose.
pub fn derive_seed(protocol_canonical_bytes: &[u8], purpose: &str) -> Seed {
    Sha256::new()
        .chain_update(protocol_canonical_bytes)
        .chain_update([0])
        .chain_update(purpose.as_bytes())
        .finalize()
        .into()
}

/// The stream number of a label: the first eight bytes of its SHA-256, big-endian.
pub fn stream_id(label: &str) -> u64 {
    let digest: Seed = Sha256::digest(label.as_bytes()).into();
    digest.iter().take(8).fold(0, |id, &byte| (id << 8) | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::{derive_seed, index, shuffle, stream, stream_id};

    #[test]
    fn a_shuffle_is_a_permutation_and_depends_on_seed_and_stream_alone() {
        let shuffled = |seed, id| {
            let mut items: Vec<u32> = (0..50).collect();
            shuffle(&mut stream([seed; 32], id), &mut items);
            items
        };
        let first = shuffled(7, 1);
        assert_eq!(first, shuffled(7, 1));
        assert_ne!(first, shuffled(7, 2));
        assert_ne!(first, shuffled(8, 1));
        let mut sorted = first;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn a_shuffle_of_three_reaches_every_order_about_equally_often() {
        let mut rng = stream([1; 32], 0);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            shuffle(&mut rng, &mut items);
            *seen.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&count| (850..1_150).contains(&count)), "{seen:?}");
    }

    #[test]
    fn draws_stay_below_their_bound_at_both_ends_of_the_range() {
        let mut rng = stream([3; 32], 9);
        assert!((0..1_000).all(|_| index(&mut rng, 1) == 0));
        assert!((0..1_000).all(|_| index(&mut rng, 7) < 7));
        assert!((0..1_000).all(|_| index(&mut rng, u64::MAX) < u64::MAX));
    }

    #[test]
    fn a_seed_separates_protocol_and_purpose() {
        assert_ne!(derive_seed(b"ab", "c"), derive_seed(b"a", "bc"));
        assert_ne!(derive_seed(b"p", "tasks"), derive_seed(b"p", "schedule"));
        // SHA-256 of 70 00 71.
        assert_eq!(derive_seed(b"p", "q")[..4], [0x59, 0x4d, 0x71, 0x70]);
    }

    #[test]
    fn a_stream_id_is_the_big_endian_head_of_a_known_digest() {
        // SHA-256("abc") starts with ba7816bf 8f01cfea (FIPS 180-4, example B.1).
        assert_eq!(stream_id("abc"), 0xba78_16bf_8f01_cfea);
    }
}
