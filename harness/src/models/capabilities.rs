//! What each model takes: one row per exact id, as data. A field that a model does not take is left out, not sent with a
//! default.

use bench_protocol::spec::Protocol;
use serde::Deserialize;

use super::{BaseUrl, ModelError, Provider};
use crate::{
    surface::Surface,
    wire::{LimitField, Settings},
};

/// The table compiled into the binary.
pub const BUILT_IN: &str = include_str!("../../data/capabilities.toml");

const FILE: &str = "capabilities.toml";

/// The whole table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// Version of the format.
    pub schema: u32,
    /// One row per model.
    pub model: Vec<Row>,
    /// The row of models that are in no table: local ones, behind a base URL that is not the provider's own.
    pub unknown: Vec<Row>,
}

/// What one model takes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Exact id; in the rows for unknown models, `*`.
    pub id: String,
    /// The interface that it is served under.
    pub provider: Provider,
    /// Takes a sampling temperature.
    pub temperature: bool,
    /// Can be made to call a tool.
    pub forced_tool_choice: bool,
    /// How it thinks.
    pub thinking: Thinking,
    /// The name of its output limit.
    pub max_tokens_field: LimitField,
    /// How its prompt cache is asked for.
    pub cache: CacheMode,
    /// Shortest prefix that is cached, in tokens; absent where it does not cache, or nothing is known.
    #[serde(default)]
    pub cache_minimum_tokens: Option<u32>,
    /// Counts of models with another word here are not comparable.
    pub tokenizer: String,
    /// Service tier to ask for; absent: the field is not sent.
    #[serde(default)]
    pub service_tier: Option<String>,
    /// Tool choice and parallel calls may be stated (Chat Completions; Messages always states them).
    #[serde(default)]
    pub tool_choice: bool,
    /// Tools per request at most.
    #[serde(default)]
    pub tools_at_most: Option<usize>,
    /// Where this is from.
    pub source: String,
    /// When it was looked up.
    pub as_of: String,
}

/// How a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Thinking {
    /// Not unless asked to: nothing is sent.
    Off,
    /// Unless told not to: it is told.
    OnByDefault,
    /// Always: nothing is sent, and the output limit covers the thinking.
    Always,
    /// Not known: nothing is sent.
    Unknown,
}

/// How a model's prompt cache is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheMode {
    /// By breakpoints in the request.
    Markers,
    /// It always caches, and writing is free.
    Implicit,
    /// It caches unless told not to, and writing costs.
    ImplicitBilled,
    /// Not at all, or nothing is known: no field is sent.
    None,
}

/// A model's row, and whether it is only the row for unknown models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// The row.
    pub row: Row,
    /// The model is in no table: the fewest fields are sent, and the run says so.
    pub assumed: bool,
}

impl Capabilities {
    /// The table compiled into the binary.
    pub fn built_in() -> Result<Self, ModelError> {
        Self::parse(BUILT_IN, FILE)
    }

    /// Reads a table; `file` stands in messages.
    pub fn parse(text: &str, file: &str) -> Result<Self, ModelError> {
        let wrong = |why: String| ModelError::Table { file: file.to_owned(), why };
        let table: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if table.schema != 1 {
            return Err(wrong(format!("format {} is unknown, this binary reads 1", table.schema)));
        }
        for (position, row) in table.model.iter().enumerate() {
            if table.model[..position].iter().any(|other| other.id == row.id && other.provider == row.provider) {
                return Err(wrong(format!("model `{}` has two rows", row.id)));
            }
        }
        Ok(table)
    }

    /// The row of exactly this model. On the provider's own API a model without a row is refused; elsewhere the
    /// conservative row for unknown models serves.
    pub fn find(&self, provider: Provider, base: &BaseUrl, model: &str) -> Result<Capability, ModelError> {
        let of_provider = |row: &&Row| row.provider == provider;
        if let Some(row) = self.model.iter().filter(of_provider).find(|row| row.id == model) {
            return Ok(Capability { row: row.clone(), assumed: false });
        }
        let unknown = self.unknown.iter().find(of_provider).filter(|_| !provider.is_official(base));
        match unknown {
            Some(row) => Ok(Capability { row: Row { id: model.to_owned(), ..row.clone() }, assumed: true }),
            None => Err(ModelError::NoRow {
                provider: provider.id(),
                model: model.to_owned(),
                nearest: self.nearest(provider, model),
            }),
        }
    }

    /// The id of this provider nearest to a mistyped one.
    pub fn nearest(&self, provider: Provider, model: &str) -> Option<String> {
        nearest(model, self.model.iter().filter(|row| row.provider == provider).map(|row| row.id.as_str()))
    }
}

impl Capability {
    /// The protocol's settings as this model takes them.
    pub fn settings(&self, protocol: &Protocol) -> Settings {
        let row = &self.row;
        let mut settings = Settings::of(protocol);
        settings.model.clone_from(&row.id);
        settings.limit_field = row.max_tokens_field;
        settings.thinking_off = row.thinking == Thinking::OnByDefault;
        settings.service_tier.clone_from(&row.service_tier);
        settings.states_choice = row.tool_choice;
        if !row.temperature {
            settings.temperature = None;
        }
        settings.implicit_cache_off = row.cache == CacheMode::ImplicitBilled && settings.cache.breakpoints.is_empty();
        if row.cache != CacheMode::Markers {
            settings.cache.breakpoints.clear();
        }
        settings
    }

    /// Refuses a surface that this model cannot be shown.
    pub fn check_surface(&self, arm: &str, surface: &Surface) -> Result<(), ModelError> {
        let shown = surface.tools().len();
        match self.row.tools_at_most {
            Some(limit) if shown > limit => {
                Err(ModelError::TooManyTools { model: self.row.id.clone(), arm: arm.to_owned(), shown, limit })
            }
            _ => Ok(()),
        }
    }
}

/// The nearest known id, where at most a third of the letters differ.
pub(super) fn nearest<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let limit = (unknown.chars().count() / 3).max(1);
    known
        .map(|id| (strsim::osa_distance(unknown, id), id))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, id)| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(provider: Provider, base: &str, model: &str) -> Result<Capability, ModelError> {
        Capabilities::built_in().unwrap().find(provider, &BaseUrl::parse(base).unwrap(), model)
    }

    #[test]
    fn every_row_says_where_it_is_from_and_when() {
        for row in Capabilities::built_in().unwrap().model {
            assert!(!row.source.is_empty() && row.as_of.len() == 10 && row.as_of.starts_with("20"), "{}", row.id);
        }
    }

    #[test]
    fn the_protocols_models_have_rows_of_their_own() {
        let protocol = Protocol::built_in().unwrap();
        let primary = find(Provider::Anthropic, Provider::Anthropic.official_url(), &protocol.model.id).unwrap();
        assert!(!primary.assumed);
        let settings = primary.settings(&protocol);
        assert_eq!(
            (settings.temperature.as_deref(), settings.service_tier.as_deref()),
            (Some("0"), Some("standard_only"))
        );
        assert_eq!(settings.cache, protocol.cache);
        let second = find(Provider::OpenAi, Provider::OpenAi.official_url(), &protocol.model.replication_id).unwrap();
        let settings = second.settings(&protocol);
        assert_eq!((settings.temperature, settings.limit_field), (None, LimitField::MaxCompletionTokens));
        assert_eq!(settings.model, protocol.model.replication_id);
    }

    #[test]
    fn fields_that_a_model_refuses_are_left_out() {
        let protocol = Protocol::built_in().unwrap();
        let settings =
            |model| find(Provider::Anthropic, "https://api.anthropic.com", model).unwrap().settings(&protocol);
        assert_eq!(settings("claude-opus-5-5").temperature, None);
        assert!(!settings("claude-opus-5-5").thinking_off);
        assert!(settings("claude-haiku-5-5").thinking_off);
        assert_eq!(settings("claude-sonnet-4-6").temperature.as_deref(), Some("0"));
    }

    #[test]
    fn ids_are_matched_exactly_and_a_typo_is_named() {
        let error = find(Provider::Anthropic, "https://api.anthropic.com", "claude-haiku-4.5").unwrap_err();
        assert!(error.to_string().contains("did you mean `claude-haiku-4-5`?"), "{error}");
        assert!(find(Provider::Anthropic, "https://api.anthropic.com", "claude-fable-5-1-x").is_err());
        assert!(find(Provider::OpenAi, "https://api.openai.com/v1/", "claude-haiku-4-5").is_err());
    }

    #[test]
    fn an_unknown_model_behind_another_address_gets_the_fewest_fields() {
        let protocol = Protocol::built_in().unwrap();
        for provider in [Provider::OpenAi, Provider::Anthropic] {
            let capability = find(provider, "http://127.0.0.1:8080", "smollm2").unwrap();
            assert!(capability.assumed);
            let settings = capability.settings(&protocol);
            assert_eq!(settings.model, "smollm2");
            assert!(
                settings.service_tier.is_none() && !settings.states_choice && settings.cache.breakpoints.is_empty()
            );
        }
        assert!(!find(Provider::Anthropic, "http://127.0.0.1:8080", "claude-haiku-4-5").unwrap().assumed);
    }

    #[test]
    fn tables_with_slips_are_refused_with_the_place() {
        let good = BUILT_IN.to_owned();
        for (text, sign) in [
            (good.replacen("temperature", "temprature", 1), "temprature"),
            (good.replacen("schema = 1", "schema = 2", 1), "format 2"),
            (good.replacen("provider = \"anthropic\"", "provider = \"gemini\"", 1), "no provider is called `gemini`"),
            (good.replacen("\"claude-haiku-4-5\"", "\"claude-haiku-4-5-20251001\"", 1), "two rows"),
        ] {
            let message = Capabilities::parse(&text, "mine.toml").unwrap_err().to_string();
            assert!(message.starts_with("mine.toml: ") && message.contains(sign), "{message}");
        }
    }

    #[test]
    fn a_surface_of_too_many_tools_is_refused_by_number() {
        let tools = (0..129)
            .map(|n| crate::surface::ShownTool::new(format!("t{n}"), None, &serde_json::json!({"type": "object"})))
            .map(|tool| std::sync::Arc::new(tool.unwrap()))
            .collect();
        let surface = Surface::new(tools, String::new());
        let capability = find(Provider::OpenAi, "https://api.openai.com", "gpt-5-mini").unwrap();
        let message = capability.check_surface("raw", &surface).unwrap_err().to_string();
        assert!(message.contains("128") && message.contains("129") && message.contains("raw"), "{message}");
        let local = find(Provider::OpenAi, "http://localhost:1", "x").unwrap();
        assert!(local.check_surface("raw", &surface).is_ok());
    }
}
