//! What a request costs, in whole pico-dollars: token classes by prices per token.

use serde::{Deserialize, Serialize};

/// Pico-dollars per token of each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Price {
    input: u64,
    write_5m: u64,
    write_1h: u64,
    read: u64,
    output: u64,
}

/// Prices of the whole request once its prompt is longer than `above` tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LongPrice {
    above: u64,
    input: u64,
    write_5m: u64,
    write_1h: u64,
    read: u64,
    output: u64,
}

/// Token classes of a request, each token in one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(super) struct Tokens {
    /// Input at the plain rate.
    pub(super) input: u64,
    /// Written to the cache for five minutes (or the format's own time).
    pub(super) cache_write: u64,
    /// Written to the cache for an hour.
    pub(super) cache_write_1h: u64,
    /// Read from the cache.
    pub(super) cache_read: u64,
    /// Output.
    pub(super) output: u64,
}

impl Tokens {
    /// All input, whatever its class.
    pub(super) fn prompt(&self) -> u64 {
        self.input + self.cache_write + self.cache_write_1h + self.cache_read
    }

    /// What they cost, in pico-dollars. Requests are bounded by the body limit, so the sum stays far below 2⁶⁴.
    pub(super) fn cost(&self, price: &Price, long: Option<&LongPrice>) -> u64 {
        let price = match long {
            Some(long) if self.prompt() > long.above => &Price {
                input: long.input,
                write_5m: long.write_5m,
                write_1h: long.write_1h,
                read: long.read,
                output: long.output,
            },
            _ => price,
        };
        [
            (self.input, price.input),
            (self.cache_write, price.write_5m),
            (self.cache_write_1h, price.write_1h),
            (self.cache_read, price.read),
            (self.output, price.output),
        ]
        .into_iter()
        .fold(0, |sum: u64, (tokens, rate)| sum.saturating_add(tokens.saturating_mul(rate)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::models::{Format, Models};

    fn cost(model: &str, tokens: Tokens) -> u64 {
        let models = Models::built_in().unwrap();
        let (_, model) = models.find(Format::Messages, model).unwrap();
        tokens.cost(&model.price, model.long.as_ref())
    }

    #[test]
    fn every_class_has_its_price() {
        let tokens = Tokens { input: 3, cache_write: 4, cache_write_1h: 5, cache_read: 6, output: 7 };
        assert_eq!(cost("claude-haiku-4-5", tokens), 3_000_000 + 5_000_000 + 10_000_000 + 600_000 + 35_000_000);
    }

    #[test]
    fn a_long_prompt_costs_more_as_a_whole_and_the_cache_counts_to_its_length() {
        let at =
            |cache_read| cost("claude-haiku-5-5", Tokens { input: 60_000, cache_read, output: 1, ..Tokens::default() });
        assert_eq!(at(40_000), 60_000 * 100_000 + 40_000 * 10_000 + 500_000);
        assert_eq!(at(40_001), 60_000 * 500_000 + 40_001 * 50_000 + 2_500_000);
    }
}
