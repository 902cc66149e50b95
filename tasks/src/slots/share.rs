//! Sharing one pool among the slots that draw from it, so that no value repeats within a tool.

/// The part of a pool that one slot draws from: `offset`, `offset + stride`, …, `len` entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// First index.
    pub offset: u64,
    /// Distance between indices.
    pub stride: u64,
    /// Number of entries.
    pub len: u64,
}

impl Share {
    /// Pool index of the `at`-th entry, `at < len`.
    pub fn index(&self, at: u64) -> u64 {
        self.offset + self.stride * at
    }

    fn residue(offset: u64, stride: u64, pool: u64) -> Self {
        Self { offset, stride, len: (pool - offset).div_ceil(stride) }
    }
}

/// Shares a pool of `pool` entries among slots, given the frame of each slot in order (equal numbers: one frame).
///
/// Every slot gets the indices of one residue class modulo the number of slots: shares are disjoint. A pool with fewer
/// entries than slots (a true enumeration) is shared within each frame only: frames use the same values, the slots of
/// one frame still differ.
///
/// Returns `None` if even one frame has more slots than the pool has entries.
pub fn share_out(pool: u64, frame_of_slot: &[usize]) -> Option<Vec<Share>> {
    let slots = frame_of_slot.len() as u64;
    if pool >= slots {
        return Some((0..slots).map(|slot| Share::residue(slot, slots, pool)).collect());
    }
    // Position of each slot among its frame's slots.
    let positions: Vec<u64> = frame_of_slot
        .iter()
        .enumerate()
        .map(|(at, frame)| frame_of_slot[..at].iter().filter(|other| *other == frame).count() as u64)
        .collect();
    let classes = positions.iter().max()? + 1;
    (classes <= pool).then(|| positions.into_iter().map(|position| Share::residue(position, classes, pool)).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shares_are_disjoint_and_cover_the_pool(pool in 1u64..400, slots in 1usize..40) {
            prop_assume!(pool >= slots as u64);
            let frames: Vec<usize> = (0..slots).map(|slot| slot / 2).collect();
            let all: Vec<u64> = share_out(pool, &frames).unwrap().iter().flat_map(|share| (0..share.len).map(|at| share.index(at)).collect::<Vec<_>>()).collect();
            prop_assert_eq!(all.len() as u64, pool);
            prop_assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), (0..pool).collect::<BTreeSet<_>>());
        }

        #[test]
        fn in_a_small_pool_the_slots_of_one_frame_still_differ(pool in 2u64..6, frames in 4usize..10) {
            let frame_of_slot: Vec<usize> = (0..frames).flat_map(|frame| [frame, frame]).collect();
            for pair in share_out(pool, &frame_of_slot).unwrap().chunks(2) {
                prop_assert!(pair.iter().all(|share| share.len >= 1 && share.index(share.len - 1) < pool));
                prop_assert!(pair[0].offset != pair[1].offset && pair[0].stride == pair[1].stride);
            }
        }
    }

    #[test]
    fn a_frame_with_more_slots_than_values_gets_no_share() {
        assert_eq!(share_out(1, &[0, 0]), None);
        assert!(share_out(1, &[0, 1]).is_some());
    }
}
