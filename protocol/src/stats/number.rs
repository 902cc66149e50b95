//! The few conversions between counts and floats, each with the reason why it is exact.

/// An index for a count. Counts are at most [`super::table::MAX_TASKS`], which fits a `usize` of 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "counts are at most 10^9, below 2^32")]
pub(crate) fn index(count: u64) -> usize {
    count as usize
}

/// `⌊x⌋` as a count; 0 below 0 and for NaN.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float casts saturate; only counts come here"
)]
pub(crate) fn floor_count(x: f64) -> u64 {
    x.floor() as u64
}

/// `⌈x⌉` as a count; 0 below 0 and for NaN.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float casts saturate; only counts come here"
)]
pub(crate) fn ceil_count(x: f64) -> u64 {
    x.ceil() as u64
}

/// `⌈a / 2⌉` for a signed `a`, 0 where that is negative.
pub(crate) fn half_up(a: i64) -> u64 {
    (a + 1).div_euclid(2).max(0).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::{ceil_count, floor_count, half_up};

    #[test]
    fn conversions_saturate_at_zero_and_round_the_right_way() {
        assert_eq!([floor_count(2.9), floor_count(-1.0), floor_count(f64::NAN)], [2, 0, 0]);
        assert_eq!([ceil_count(2.1), ceil_count(3.0), ceil_count(-0.5)], [3, 3, 0]);
        assert_eq!([half_up(-3), half_up(-1), half_up(0), half_up(1), half_up(2), half_up(3)], [0, 0, 0, 1, 1, 2]);
    }
}
