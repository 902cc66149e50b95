//! Quantiles of many numbers in little memory.

use std::collections::BTreeMap;

/// Counts of numbers, each kept to two significant digits and rounded down: at most 90 entries per power of ten.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Quantiles {
    counts: BTreeMap<u64, u64>,
    count: u64,
}

impl Quantiles {
    pub(super) fn add(&mut self, value: u64) {
        let mut unit = 1;
        while value / unit >= 100 {
            unit *= 10;
        }
        *self.counts.entry(value / unit * unit).or_default() += 1;
        self.count += 1;
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The smallest number that at least `permille` thousandths of all do not exceed; none where there are none.
    pub(super) fn at(&self, permille: u64) -> Option<u64> {
        let rank = (self.count * permille).div_ceil(1_000).max(1);
        let mut seen = 0;
        self.counts.iter().find_map(|(&value, &count)| {
            seen += count;
            (seen >= rank).then_some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Quantiles;

    #[test]
    fn quantiles_are_within_a_tenth_and_memory_is_flat() {
        let mut all = Quantiles::default();
        assert_eq!(all.at(500), None);
        (1..=100_000).for_each(|value| all.add(value));
        assert!(all.counts.len() < 600, "{}", all.counts.len());
        for (permille, exact) in [(500, 50_000), (900, 90_000), (990, 99_000), (1_000, 100_000), (0, 1)] {
            let found = all.at(permille).unwrap();
            assert!(found <= exact && found * 10 >= exact * 9, "{permille}: {found}");
        }
    }
}
