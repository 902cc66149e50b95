//! One row of the price table.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Day, Rate};

/// Whether a model can still be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Served.
    Active,
    /// Served, superseded.
    Legacy,
    /// No longer served.
    Retired,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Active => "active",
            Self::Legacy => "legacy",
            Self::Retired => "retired",
        })
    }
}

/// Prices per token of the five classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Plain input.
    pub input: Rate,
    /// Input written to the cache for a short while (five minutes; where a provider knows one kind of write, that one).
    pub cache_write_5m: Rate,
    /// Input written to the cache for long.
    pub cache_write_1h: Rate,
    /// Input read from the cache.
    pub cache_read: Rate,
    /// Output.
    pub output: Rate,
}

/// Prices of requests with a long prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongContext {
    /// The tier holds for the whole request once its prompt has more tokens than this.
    pub threshold: u64,
    /// As [`Rates::input`].
    pub input: Rate,
    /// As [`Rates::cache_write_5m`].
    pub cache_write_5m: Rate,
    /// As [`Rates::cache_write_1h`].
    pub cache_write_1h: Rate,
    /// As [`Rates::cache_read`].
    pub cache_read: Rate,
    /// As [`Rates::output`].
    pub output: Rate,
}

/// The prices of one model, with where they come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Who sells it: `anthropic`, `openai`, `local`, …
    pub provider: String,
    /// Exact model id.
    pub model: String,
    /// Whether it can still be asked.
    pub status: Status,
    /// First day of these prices.
    pub valid_from: Day,
    /// When they were read.
    pub as_of: Day,
    /// Where they were read.
    pub source: String,
    /// A tenth is added where inference is bound to a region.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub geo: bool,
    /// As [`Rates::input`].
    pub input: Rate,
    /// As [`Rates::cache_write_5m`].
    pub cache_write_5m: Rate,
    /// As [`Rates::cache_write_1h`].
    pub cache_write_1h: Rate,
    /// As [`Rates::cache_read`].
    pub cache_read: Rate,
    /// As [`Rates::output`].
    pub output: Rate,
    /// Dearer prices of long prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_context: Option<LongContext>,
}

impl Price {
    /// The prices of a prompt that is not long.
    pub fn base(&self) -> Rates {
        Rates {
            input: self.input,
            cache_write_5m: self.cache_write_5m,
            cache_write_1h: self.cache_write_1h,
            cache_read: self.cache_read,
            output: self.output,
        }
    }

    /// The prices of a request whose prompt has this many tokens, cached ones included.
    pub fn rates(&self, prompt_tokens: u128) -> Rates {
        match &self.long_context {
            Some(long) if prompt_tokens > u128::from(long.threshold) => long.rates(),
            _ => self.base(),
        }
    }

    /// True where nothing this model does can cost anything.
    pub fn is_free(&self) -> bool {
        let free = |rates: Rates| rates == Rates::FREE;
        free(self.base()) && self.long_context.as_ref().is_none_or(|long| free(long.rates()))
    }

    /// What a row must keep beyond its shape.
    pub(super) fn check(&self) -> Result<(), String> {
        for (key, text) in [("provider", &self.provider), ("model", &self.model), ("source", &self.source)] {
            if text.trim().is_empty() || text.trim() != text.as_str() {
                return Err(format!("`{key}` is empty or has spaces around it"));
            }
        }
        if self.as_of < self.valid_from {
            return Err(format!(
                "`as_of` {} is before `valid_from` {}: a price is read while it holds",
                self.as_of, self.valid_from
            ));
        }
        match &self.long_context {
            Some(long) if long.threshold == 0 => Err("`threshold` is 0: then these are the only prices".to_owned()),
            _ => Ok(()),
        }
    }
}

impl Rates {
    const FREE: Self = Self {
        input: Rate::FREE,
        cache_write_5m: Rate::FREE,
        cache_write_1h: Rate::FREE,
        cache_read: Rate::FREE,
        output: Rate::FREE,
    };
}

impl LongContext {
    /// The prices of the tier.
    pub fn rates(&self) -> Rates {
        Rates {
            input: self.input,
            cache_write_5m: self.cache_write_5m,
            cache_write_1h: self.cache_write_1h,
            cache_read: self.cache_read,
            output: self.output,
        }
    }
}
