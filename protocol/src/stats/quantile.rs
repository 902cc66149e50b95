//! The one quantile convention of all resampling: type 1, the inverse of the distribution function.

/// Cumulative probabilities within this of the level count as having reached it.
pub const QUANTILE_SLACK: f64 = 1e-13;

/// The place, in a sorted sample of `len ≥ 1`, of the least value whose cumulative share is at least `level − 1e-13`.
pub fn type1_index(len: usize, level: f64) -> usize {
    let reached = |i: usize| (i + 1) as f64 / len as f64 >= level - QUANTILE_SLACK;
    let guess = super::number::index(super::number::floor_count(level * len as f64)).min(len.saturating_sub(1));
    // The product may be off by one rounding; the definition decides.
    let mut i = guess.saturating_sub(2);
    while i + 1 < len && !reached(i) {
        i += 1;
    }
    i
}

#[cfg(test)]
mod tests {
    use super::type1_index;

    #[test]
    fn the_place_is_the_first_that_reaches_the_level() {
        for len in [1_usize, 2, 7, 20, 9_999, 10_000] {
            for level in [0.0, 0.025, 0.05, 0.29, 0.5, 0.95, 0.975, 1.0] {
                let expected = (0..len).find(|&i| (i + 1) as f64 / len as f64 >= level - 1e-13).unwrap();
                assert_eq!(type1_index(len, level), expected, "len={len} level={level}");
            }
        }
        assert_eq!(type1_index(10_000, 0.05), 499);
    }
}
