//! What a request can cost at worst, and what it did cost: integer arithmetic, rounded up.
//!
//! The bound on tokens is that of byte-level tokenizers, at least one byte per token, over the whole request body plus
//! what a server adds by itself. It is loose and sound; a loose bound costs concurrency near the ceiling, not money.

use super::{CostError, Price, Rates};
use crate::spec::{CachePolicy, CacheTtl};

/// Tokens that a server may add to any prompt: its tool prompt (804 where published) and framing.
const OVERHEAD: u64 = 2_000;
/// Tokens that a server may add for each tool when it renders the list anew.
const PER_TOOL: u64 = 64;
/// Tokens that a server may add for each message.
const PER_MESSAGE: u64 = 16;

/// The most tokens that a request can be billed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Input tokens of all classes together.
    pub input: u64,
    /// Output tokens, thinking included.
    pub output: u64,
}

impl Bound {
    /// The bound for a body of this many bytes. It holds only where the body is the whole prompt: no stored prompts, files,
    /// links, images or tools that run at the provider.
    pub fn of_request(body_bytes: usize, tools: usize, messages: usize, max_tokens: u32) -> Self {
        // A usize has at most 64 bits; a sum that does not fit saturates, and no budget admits it.
        let [bytes, tools, messages] = [body_bytes, tools, messages].map(|n| u64::try_from(n).unwrap_or(u64::MAX));
        let overhead = OVERHEAD
            .saturating_add(PER_TOOL.saturating_mul(tools))
            .saturating_add(PER_MESSAGE.saturating_mul(messages));
        Self { input: bytes.saturating_add(overhead), output: u64::from(max_tokens) }
    }

    /// True where billed tokens stay within the bound. Where they don't, our idea of the provider is wrong, whatever the
    /// amount: the run must stop.
    pub fn holds(&self, tokens: &Tokens) -> bool {
        tokens.prompt() <= u128::from(self.input) && tokens.output <= self.output
    }
}

/// Billed tokens by class, each counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Plain input.
    pub input: u64,
    /// Written to the cache for a short while.
    pub cache_write_5m: u64,
    /// Written to the cache for long.
    pub cache_write_1h: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Output.
    pub output: u64,
}

impl Tokens {
    /// Input tokens of all classes.
    pub fn prompt(&self) -> u128 {
        [self.input, self.cache_write_5m, self.cache_write_1h, self.cache_read].map(u128::from).iter().sum()
    }
}

/// Which cache writes a request can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheWrites {
    /// None: the provider caches only where it is asked to, and it is not.
    None,
    /// Short ones.
    FiveMinutes,
    /// Long ones, and short ones.
    OneHour,
    /// Any: the provider caches as it sees fit.
    Implicit,
}

impl CacheWrites {
    /// What a provider can write under a policy; `unasked` says that it also writes without a breakpoint.
    pub fn of(unasked: bool, policy: &CachePolicy) -> Self {
        match policy.ttl {
            _ if unasked => Self::Implicit,
            _ if policy.breakpoints.is_empty() => Self::None,
            CacheTtl::FiveMinutes => Self::FiveMinutes,
            CacheTtl::OneHour => Self::OneHour,
        }
    }
}

/// Where inference runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Geo {
    /// Anywhere, as the provider or the response says.
    Global,
    /// Bound to a region, or unknown, which is priced alike.
    Regional,
}

/// The most that a request can cost, in pico-dollars.
///
/// All input at the dearest rate that the policy permits, all output used, the long-context tier as soon as the bound could
/// reach it, a tenth on top where a region is not ruled out.
pub fn reserve(bound: Bound, price: &Price, writes: CacheWrites, geo: Geo) -> Result<u64, CostError> {
    let (base, reached) = (price.base(), price.rates(u128::from(bound.input)));
    let input = dearest_input(base, writes).max(dearest_input(reached, writes));
    let output = base.output.max(reached.output).pico_dollars();
    total([(bound.input, input), (bound.output, output)], price, geo)
}

/// What a request cost, in pico-dollars.
pub fn settle(tokens: &Tokens, price: &Price, geo: Geo) -> Result<u64, CostError> {
    let rates = price.rates(tokens.prompt());
    let classes = [
        (tokens.input, rates.input),
        (tokens.cache_write_5m, rates.cache_write_5m),
        (tokens.cache_write_1h, rates.cache_write_1h),
        (tokens.cache_read, rates.cache_read),
        (tokens.output, rates.output),
    ];
    total(classes.map(|(tokens, rate)| (tokens, rate.pico_dollars())), price, geo)
}

fn dearest_input(rates: Rates, writes: CacheWrites) -> u64 {
    let plain = rates.input.max(rates.cache_read);
    let dearest = match writes {
        CacheWrites::None => plain,
        CacheWrites::FiveMinutes => plain.max(rates.cache_write_5m),
        CacheWrites::OneHour | CacheWrites::Implicit => plain.max(rates.cache_write_5m).max(rates.cache_write_1h),
    };
    dearest.pico_dollars()
}

/// Sum of tokens × rate, a tenth added where it applies, rounded up once. A rate has at most 40 bits, so that no product
/// or sum leaves 128 bits.
fn total<const N: usize>(classes: [(u64, u64); N], price: &Price, geo: Geo) -> Result<u64, CostError> {
    let sum: u128 = classes.iter().map(|&(tokens, rate)| u128::from(tokens) * u128::from(rate)).sum();
    let tenths = if price.geo && geo == Geo::Regional { 11 } else { 10 };
    u64::try_from((sum * tenths).div_ceil(10)).map_err(|_| CostError::Overflow)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{prices::PriceTable, spec::Breakpoint};

    fn price(model: &str) -> Price {
        PriceTable::built_in().unwrap().row(model).unwrap().clone()
    }

    /// The worked example of the fact sheet: 60,000 bytes, 40 tools, 1 message, 1,024 output tokens, Haiku 4.5.
    #[test]
    fn the_worked_example_comes_out_to_the_pico_dollar() {
        let haiku = price("claude-haiku-4-5-20251001");
        let bound = Bound::of_request(60_000, 40, 1, 1_024);
        assert_eq!(bound.input, 64_576);
        assert_eq!(reserve(bound, &haiku, CacheWrites::FiveMinutes, Geo::Regional), Ok(85_840_000_000));
        assert_eq!(reserve(bound, &haiku, CacheWrites::OneHour, Geo::Regional), Ok(129_152_000_000 + 5_120_000_000));
        let cold = Tokens { cache_write_5m: 15_000, output: 80, ..Tokens::default() };
        assert_eq!(settle(&cold, &haiku, Geo::Global), Ok(19_150_000_000));
        let warm = Tokens { cache_read: 15_000, output: 80, ..Tokens::default() };
        assert_eq!(settle(&warm, &haiku, Geo::Global), Ok(1_900_000_000));
    }

    #[test]
    fn a_policy_without_breakpoints_rules_writes_out_only_where_none_is_unasked() {
        let policy = |breakpoints: &[Breakpoint], ttl| CachePolicy { breakpoints: breakpoints.to_vec(), ttl };
        for (unasked, breakpoints, ttl, expected) in [
            (false, [].as_slice(), CacheTtl::OneHour, CacheWrites::None),
            (false, &[Breakpoint::System], CacheTtl::FiveMinutes, CacheWrites::FiveMinutes),
            (false, &[Breakpoint::System], CacheTtl::OneHour, CacheWrites::OneHour),
            (true, &[], CacheTtl::FiveMinutes, CacheWrites::Implicit),
            (true, &[Breakpoint::System], CacheTtl::FiveMinutes, CacheWrites::Implicit),
        ] {
            assert_eq!(CacheWrites::of(unasked, &policy(breakpoints, ttl)), expected, "{breakpoints:?}");
        }
    }

    #[test]
    fn one_token_over_the_threshold_reprices_the_whole_request() {
        let haiku = price("claude-haiku-5-5");
        let at = Tokens { input: 99_000, cache_read: 1_000, output: 10, ..Tokens::default() };
        let over = Tokens { cache_read: 1_001, ..at };
        assert_eq!(settle(&at, &haiku, Geo::Global), Ok(99_000 * 100_000 + 1_000 * 10_000 + 10 * 500_000));
        assert_eq!(settle(&over, &haiku, Geo::Global), Ok(99_000 * 500_000 + 1_001 * 50_000 + 10 * 2_500_000));
    }

    #[test]
    fn a_region_costs_a_tenth_more_where_the_row_says_so() {
        let tokens = Tokens { input: 3, output: 1, ..Tokens::default() };
        let (opus, haiku) = (price("claude-opus-5"), price("claude-haiku-4-5-20251001"));
        assert_eq!(settle(&tokens, &opus, Geo::Global), Ok(40_000_000));
        assert_eq!(settle(&tokens, &opus, Geo::Regional), Ok(44_000_000));
        assert_eq!(settle(&tokens, &haiku, Geo::Regional), settle(&tokens, &haiku, Geo::Global));
    }

    #[test]
    fn a_tenth_of_an_odd_pico_dollar_is_rounded_up() {
        let mut odd = price("claude-opus-5");
        odd.input = super::super::Rate::parse("0.000001").unwrap();
        let one = Tokens { input: 1, ..Tokens::default() };
        assert_eq!(settle(&one, &odd, Geo::Regional), Ok(2));
    }

    #[test]
    fn what_does_not_fit_is_refused_and_never_wraps() {
        let haiku = price("claude-haiku-4-5-20251001");
        let huge = Tokens { input: u64::MAX, cache_write_1h: u64::MAX, output: u64::MAX, ..Tokens::default() };
        assert_eq!(settle(&huge, &haiku, Geo::Regional), Err(CostError::Overflow));
        let bound = Bound::of_request(usize::MAX, usize::MAX, 1, u32::MAX);
        assert_eq!(reserve(bound, &haiku, CacheWrites::None, Geo::Global), Err(CostError::Overflow));
    }

    fn any_price() -> impl Strategy<Value = Price> {
        let table = PriceTable::built_in().unwrap();
        let rows: Vec<Price> = table.rows().cloned().collect();
        proptest::sample::select(rows)
    }

    /// Splits `total` at three cuts in parts per thousand.
    fn split(total: u64, mut cuts: [u64; 3]) -> [u64; 4] {
        cuts.sort_unstable();
        let [a, b, c] = cuts.map(|cut| total * cut / 1_000);
        [a, b - a, c - b, total - c]
    }

    proptest! {
        #[test]
        fn no_usage_within_the_bound_costs_more_than_was_reserved(
            price in any_price(),
            bytes in 0_usize..600_000,
            tools in 0_usize..200,
            messages in 1_usize..20,
            max_tokens in 0_u32..10_000,
            prompt_share in 0_u64..=1_000,
            output_share in 0_u64..=1_000,
            cuts in any::<[u16; 3]>().prop_map(|cuts| cuts.map(|cut| u64::from(cut % 1_001))),
            writes in proptest::sample::select(vec![CacheWrites::None, CacheWrites::FiveMinutes, CacheWrites::OneHour, CacheWrites::Implicit]),
        ) {
            let bound = Bound::of_request(bytes, tools, messages, max_tokens);
            let [input, short, long, cache_read] = split(bound.input * prompt_share / 1_000, cuts);
            let output = bound.output * output_share / 1_000;
            // A class that the policy rules out counts as plain input.
            let tokens = match writes {
                CacheWrites::None => Tokens { input: input + short + long, cache_read, output, ..Tokens::default() },
                CacheWrites::FiveMinutes => Tokens { input: input + long, cache_write_5m: short, cache_read, output, ..Tokens::default() },
                CacheWrites::OneHour | CacheWrites::Implicit => Tokens { input, cache_write_5m: short, cache_write_1h: long, cache_read, output },
            };
            prop_assert!(bound.holds(&tokens));
            let reserved = reserve(bound, &price, writes, Geo::Regional).unwrap();
            for geo in [Geo::Global, Geo::Regional] {
                prop_assert!(settle(&tokens, &price, geo).unwrap() <= reserved);
            }
        }
    }

    #[test]
    fn a_token_beyond_the_bound_is_noticed_whatever_it_costs() {
        let bound = Bound::of_request(100, 1, 1, 10);
        let within = Tokens { cache_read: bound.input, output: 10, ..Tokens::default() };
        assert!(bound.holds(&within));
        assert!(!bound.holds(&Tokens { input: 1, ..within }));
        assert!(!bound.holds(&Tokens { output: 11, ..within }));
    }
}
