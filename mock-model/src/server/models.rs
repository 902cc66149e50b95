//! The models that the server serves, and what each takes and costs: data, read once.

use serde::Deserialize;

use super::bill::{LongPrice, Price};

/// The table compiled into this crate.
const TABLE: &str = include_str!("../../data/models.toml");

/// The wire format that a model is asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Chat Completions.
    Chat,
}

/// Whether a model is still served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Lifecycle {
    Active,
    Deprecated,
    Retired,
}

impl Lifecycle {
    /// As model objects say it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deprecated => "deprecated",
            Self::Retired => "retired",
        }
    }
}

/// Which sampling temperatures a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Temperature {
    /// Any in the format's range.
    Free,
    /// Only 1, which is the default.
    One,
    /// The field is refused, and so are `top_p` and `top_k`.
    Refused,
}

/// How a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Thinks {
    /// Not at all.
    Off,
    /// When given a budget.
    Budget,
    /// Adaptively; can be switched off, takes no budget.
    Adaptive,
    /// Always.
    Always,
}

/// How a model's prompt cache works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CacheKind {
    /// By breakpoints in the request.
    Marked,
    /// By itself; writes are free.
    Implicit,
    /// By itself unless told not to; writes are billed.
    ImplicitBilled,
    /// There is none.
    None,
}

/// One model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "one flag per field of a request that a model may not take")]
pub(super) struct Model {
    /// Exact id, under which it answers.
    pub(super) id: String,
    /// Other ids that it can be asked by.
    #[serde(default)]
    aliases: Vec<String>,
    pub(super) format: Format,
    /// For people.
    pub(super) name: String,
    /// Day of its release, `YYYY-MM-DD`.
    pub(super) created: String,
    pub(super) lifecycle: Lifecycle,
    /// It is served without a key, as local servers do.
    #[serde(default)]
    pub(super) keyless: bool,
    /// Input tokens at most.
    pub(super) context: u64,
    /// Output tokens per request at most.
    pub(super) max_output: u64,
    pub(super) temperature: Temperature,
    /// `top_p` is taken beside a temperature.
    #[serde(default = "yes")]
    pub(super) top_p_with_temperature: bool,
    /// It can be made to call a tool.
    pub(super) forced_choice: bool,
    /// The conversation may end with the assistant's turn.
    pub(super) prefill: bool,
    pub(super) thinking: Thinks,
    /// It takes an effort.
    pub(super) effort: bool,
    /// It takes `max_tokens` (chat; else only `max_completion_tokens`).
    #[serde(default = "yes")]
    pub(super) old_limit_field: bool,
    pub(super) cache: CacheKind,
    /// Tokens below which nothing is cached.
    #[serde(default)]
    pub(super) cache_minimum: u64,
    /// Tokens that a tool list adds: with tool choice `auto` or `none`, and with a forced one.
    pub(super) overhead: [u64; 2],
    pub(super) price: Price,
    /// Prices of prompts that are longer than some number of tokens.
    #[serde(default)]
    pub(super) long: Option<LongPrice>,
}

fn yes() -> bool {
    true
}

/// All models, in the order of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Models {
    #[serde(rename = "schema")]
    _schema: u32,
    #[serde(rename = "model")]
    rows: Vec<Model>,
}

impl Models {
    /// The table compiled into this crate.
    ///
    /// # Errors
    /// The reader's message with line and column; a test reads the table, so a build that passes it has none.
    pub(super) fn built_in() -> Result<Self, toml::de::Error> {
        toml::from_str(TABLE)
    }

    /// The model of this exact id or alias, with its place; retired ones are not served.
    pub(super) fn find(&self, format: Format, id: &str) -> Option<(usize, &Model)> {
        self.rows.iter().enumerate().find(|(_, model)| {
            model.format == format
                && model.lifecycle != Lifecycle::Retired
                && (model.id == id || model.aliases.iter().any(|alias| alias == id))
        })
    }

    /// Models of a format that are served.
    pub(super) fn of(&self, format: Format) -> impl Iterator<Item = &Model> {
        self.rows.iter().filter(move |model| model.format == format && model.lifecycle != Lifecycle::Retired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_readable_and_its_ids_are_unique() {
        let models = Models::built_in().unwrap();
        let mut ids: Vec<&str> = models
            .rows
            .iter()
            .flat_map(|model| std::iter::once(&model.id).chain(&model.aliases))
            .map(String::as_str)
            .collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((ids.len(), models.rows.iter().all(|model| model.created.len() == 10)), (all, true));
    }

    #[test]
    fn an_alias_is_the_model_and_a_retired_one_is_not_served() {
        let models = Models::built_in().unwrap();
        let found = |id| models.find(Format::Messages, id).map(|(_, model)| model.id.as_str());
        assert_eq!(found("claude-haiku-4-5"), Some("claude-haiku-4-5-20251001"));
        assert_eq!((found("claude-haiku"), found("gpt-5-mini"), found("claude-opus-4-1-20250805")), (None, None, None));
    }
}
