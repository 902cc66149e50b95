//! The protocol file: every choice that could bend a result, parsed strictly.

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::{Deserialize, Serialize, de::Error as _};
use thiserror::Error;

use crate::{
    ProtocolError,
    digest::Digest,
    stats::Margin,
    verdict::{Endpoint, FamilyKind},
};

/// The protocol compiled into the binary.
pub const BUILT_IN: &str = include_str!("../protocol.toml");

/// A decimal number kept as its text, so that hashes and tests never depend on float printing.
#[derive(Debug, Clone, PartialEq)]
pub struct Decimal {
    text: String,
    value: f64,
}

impl Decimal {
    /// Its value.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Its text, as written in the protocol.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Decimal {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A text that is no plain decimal.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is not a plain decimal such as \"0.02\"")]
pub struct DecimalError {
    /// The text.
    pub text: String,
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
        match text.parse::<f64>() {
            Ok(value) if plain && value.is_finite() => Ok(Self { text: text.to_owned(), value }),
            _ => Err(DecimalError { text: text.to_owned() }),
        }
    }
}

/// The whole protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Version of this file's format.
    pub schema: u32,
    /// Name of the protocol.
    pub name: String,
    /// Sample sizes and frames.
    pub suites: Suites,
    /// Texts from which all random streams are derived.
    pub seeds: Seeds,
    /// Arms and their order.
    pub arms: Arms,
    /// Endpoints per suite.
    pub endpoints: Endpoints,
    /// Margin, level and the tests.
    pub test: TestRule,
    /// Planning assumptions.
    pub power: PowerPlan,
    /// Guards that can fail or void a verdict.
    pub guards: Guards,
    /// Missing data and retries.
    pub missing: Missing,
    /// The rules of one episode.
    pub episode: EpisodeRule,
    /// The model of a confirmatory run.
    pub model: ModelSpec,
    /// Prompt-cache policy.
    pub cache: CachePolicy,
    /// The warm-up trace of history-driven arms.
    pub warm_up: WarmUpSpec,
    /// What a product may turn on.
    pub default_rule: DefaultRule,
    /// Noise of the scripted model.
    pub mock: MockNoise,
}

/// Sample sizes per suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suites {
    /// The tool suite.
    pub tools: ToolSuite,
    /// The result suite.
    pub results: ResultSuite,
}

/// The tool suite's sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSuite {
    /// Catalogs, in name order.
    pub servers: Vec<String>,
    /// Scored frames per tool.
    pub frames_per_tool: u32,
    /// Tasks drawn from each frame.
    pub tasks_per_frame: u32,
    /// Tool tasks in all: tools × frames × tasks per frame.
    pub tool_tasks: u64,
    /// Abstain frames.
    pub abstain_frames: u32,
    /// Abstain tasks, on top of the tool tasks.
    pub abstain_tasks: u64,
    /// The strata in use.
    pub strata: Vec<String>,
}

/// The result suite's size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultSuite {
    /// Items, one per frame.
    pub tasks: u64,
}

/// Seed texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// Of the primary run.
    pub primary: String,
    /// Of the replication run.
    pub replication: String,
}

/// Arms and their roles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arms {
    /// What every level is compared with.
    pub reference: String,
    /// Levels in the order of testing.
    pub levels: Vec<String>,
    /// Controls of the tool suite.
    pub controls: Vec<String>,
    /// Tool tasks that names-only sees in a live run.
    pub names_only_live_tasks: u64,
    /// The reference of the result suite.
    pub results_reference: String,
    /// Arms of the result suite.
    pub results: Vec<String>,
    /// Controls of the result suite.
    pub results_controls: Vec<String>,
}

/// Endpoints per suite: those that the rule tests, and no others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoints {
    /// Co-primaries of the tool suite.
    pub tools: Vec<Endpoint>,
    /// Of the result suite.
    pub results: Vec<Endpoint>,
}

/// Margin, level, tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestRule {
    /// Non-inferiority margin δ, absolute.
    pub margin: Margin,
    /// One-sided level α.
    pub alpha: Decimal,
    /// Least design effect of the frame-clustered gate G3.
    pub deff_floor_frames: Decimal,
    /// Least design effect of the tool-clustered statistic S1.
    pub deff_floor_tools: Decimal,
    /// Resamples of the reported cluster bootstrap.
    pub cluster_bootstrap_resamples: u32,
    /// How the levels share one error rate.
    pub multiplicity_levels: LevelOrder,
    /// How external products share one error rate.
    pub multiplicity_products: ProductOrder,
}

/// How the levels share one error rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelOrder {
    /// Each level only after the one before it was certified.
    FixedSequence,
}

/// How external products share one error rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProductOrder {
    /// Holm's step-down procedure.
    Holm,
}

/// Planning assumptions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerPlan {
    /// Assumed discordance ψ of the tool suite.
    pub discordance: Decimal,
    /// Assumed true difference Δ.
    pub difference: Decimal,
    /// Power wanted per co-primary.
    pub target_per_endpoint: Decimal,
    /// Assumed correlation of tasks within a frame.
    pub rho_frame: Decimal,
    /// Assumed discordance of the result suite.
    pub results_discordance: Decimal,
    /// Power wanted for R.
    pub results_target: Decimal,
    /// True where the sizes do not reach the targets: such a protocol serves plumbing and exploratory runs.
    pub underpowered: bool,
}

/// Guards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guards {
    /// Least accuracy of raw on every endpoint.
    pub assay_floor: Decimal,
    /// Two-sided level at which two raw passes differ.
    pub noise_alpha: Decimal,
    /// The harm guard.
    pub harm: HarmTest,
    /// The abstain guard.
    pub abstain: AbstainTest,
    /// planted-loss rejects this many margins of all sessions.
    pub planted_loss_margins: u32,
    /// An arm with a larger share of infrastructure-missing pairs is not evaluated.
    pub infrastructure_missing_limit: Decimal,
}

/// The test of the harm guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HarmTest {
    /// One-sided exact McNemar test per tool, by Holm over tools.
    McnemarPerToolHolm,
}

/// The test of the abstain guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AbstainTest {
    /// One-sided exact McNemar test over abstain tasks.
    McnemarExact,
}

/// Missing data and retries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// The primary imputation.
    pub rule: MissingRule,
    /// Missing episodes are re-asked until fewer than this share are missing.
    pub reask_until_below: Decimal,
    /// Printed sensitivities: all that there are.
    pub sensitivities: Vec<MissingReading>,
    /// Tries where nothing can have been billed.
    pub tries_not_billed: u32,
    /// Tries where something may have been billed.
    pub tries_maybe_billed: u32,
}

/// The primary imputation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingRule {
    /// Arm missing = wrong, reference missing = right.
    WorstCase,
}

impl MissingRule {
    /// Its name, as written in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::WorstCase => "worst-case",
        }
    }
}

/// A reading of missing outcomes that is printed beside the primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingReading {
    /// Pairs that lack an outcome are left out.
    CompletePairs,
    /// Missing is wrong on both sides.
    BothWrong,
    /// How many of the arm's missing outcomes would have to be wrong to lose the verdict.
    TippingPoint,
}

impl MissingReading {
    /// All of them, in the order of printing.
    pub const ALL: [Self; 3] = [Self::CompletePairs, Self::BothWrong, Self::TippingPoint];
}

/// The rules of one episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeRule {
    /// Model requests per episode at most.
    pub max_turns: u32,
    /// Invalid upstream calls that are answered with an error; one more ends the episode as wrong.
    pub invalid_calls_answered: u32,
    /// Whether the model may call several tools in one response.
    pub parallel_calls: bool,
    /// System prompt of the tool suite, the same in every arm.
    pub system_prompt: String,
    /// System prompt of the result suite.
    pub results_prompt: String,
    /// `server/tool` of read-only tools that the look-first sensitivity forgives.
    pub look_first: Vec<String>,
}

/// The model of a confirmatory run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// `anthropic` or `openai`.
    pub provider: String,
    /// Exact model id.
    pub id: String,
    /// API version header.
    pub api_version: String,
    /// Output tokens per request at most.
    pub max_tokens: u32,
    /// Sampling temperature, sent where the model takes one.
    pub temperature: Decimal,
    /// Model of the replication run.
    pub replication_id: String,
    /// Its provider.
    pub replication_provider: String,
}

/// Prompt-cache policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CachePolicy {
    /// Where breakpoints stand; `system` covers tools and system prompt. Empty: no caching asked for.
    pub breakpoints: Vec<Breakpoint>,
    /// Time to live of an entry.
    pub ttl: CacheTtl,
}

/// A place for a prompt-cache breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Breakpoint {
    /// After the system prompt: tools and system prompt are one prefix.
    System,
}

/// Time to live of a cache entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheTtl {
    /// Five minutes.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// One hour.
    #[serde(rename = "1h")]
    OneHour,
}

/// The warm-up trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmUpSpec {
    /// Calls in the trace.
    pub calls: u32,
    /// Exponent of the Zipf law over tool ranks within a server.
    pub zipf_exponent: u32,
    /// Pinned tools per server at most.
    pub pins_per_server: u32,
    /// Uses that a pinned tool has at least.
    pub pin_min_uses: u32,
}

/// What a product may turn on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefaultRule {
    /// The level where nothing better is certified.
    pub fallback: String,
    /// Whether the level must be tool-robust on the primary model.
    pub require_tool_robust: bool,
    /// Whether the level must be certified on the replication model.
    pub require_replication: bool,
}

/// Noise of the scripted model `noisy`, in parts per million of episodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MockNoise {
    /// Picks another tool.
    pub wrong_tool_ppm: u32,
    /// Gets an argument wrong.
    pub wrong_arguments_ppm: u32,
    /// Guesses an argument name that no schema it saw states.
    pub blind_argument_ppm: u32,
    /// Calls a tool where none fits.
    pub abstain_call_ppm: u32,
    /// Misreads a result.
    pub misread_result_ppm: u32,
    /// Answers from a digest without expanding it.
    pub skips_expand_ppm: u32,
}

impl Protocol {
    /// The protocol compiled into the binary.
    pub fn built_in() -> Result<Self, ProtocolError> {
        Self::parse(BUILT_IN, "protocol.toml")
    }

    /// Parses a protocol file; `name` stands in messages. Unknown keys are errors that point at the key.
    pub fn parse(text: &str, name: &str) -> Result<Self, ProtocolError> {
        let protocol: Self = toml::from_str(text)
            .map_err(|source| ProtocolError::Syntax { file: name.to_owned(), message: source.to_string() })?;
        protocol.validate().map_err(|(key, why)| ProtocolError::Value { file: name.to_owned(), key, why })?;
        Ok(protocol)
    }

    /// Canonical bytes (RFC 8785) of the protocol.
    pub fn canonical(&self) -> Result<Vec<u8>, ProtocolError> {
        serde_json_canonicalizer::to_vec(self).map_err(|source| ProtocolError::Canonical(source.to_string()))
    }

    /// SHA-256 of the canonical bytes.
    pub fn digest(&self) -> Result<Digest, ProtocolError> {
        Ok(Digest::of(&self.canonical()?))
    }

    fn validate(&self) -> Result<(), (&'static str, String)> {
        let unit = |key, d: &Decimal| {
            if d.value() > 0.0 && d.value() < 1.0 { Ok(()) } else { Err((key, format!("{d} is not between 0 and 1"))) }
        };
        if self.schema != 1 {
            return Err(("schema", format!("format {} is unknown, this binary reads 1", self.schema)));
        }
        unit("test.alpha", &self.test.alpha)?;
        if self.test.alpha.value() >= 0.5 {
            return Err(("test.alpha", "a one-sided level of 0.5 or more certifies anything".to_owned()));
        }
        let margin = self.test.margin.value();
        if !(margin > 0.0 && margin < 1.0) {
            return Err(("test.margin", format!("{} is not between 0 and 1", self.test.margin)));
        }
        unit("guards.assay_floor", &self.guards.assay_floor)?;
        unit("guards.noise_alpha", &self.guards.noise_alpha)?;
        unit("guards.infrastructure_missing_limit", &self.guards.infrastructure_missing_limit)?;
        unit("missing.reask_until_below", &self.missing.reask_until_below)?;
        for (key, floor) in [
            ("test.deff_floor_frames", &self.test.deff_floor_frames),
            ("test.deff_floor_tools", &self.test.deff_floor_tools),
        ] {
            if floor.value() < 1.0 {
                return Err((
                    key,
                    format!("a design-effect floor of {floor} would make the test more liberal than independence"),
                ));
            }
        }
        if self.episode.max_turns == 0 {
            return Err(("episode.max_turns", "an episode needs at least one turn".to_owned()));
        }
        let all: Vec<&String> = std::iter::once(&self.arms.reference)
            .chain(&self.arms.levels)
            .chain(&self.arms.controls)
            .chain(std::iter::once(&self.arms.results_reference))
            .chain(&self.arms.results)
            .chain(&self.arms.results_controls)
            .collect();
        let distinct: BTreeSet<&String> = all.iter().copied().collect();
        if distinct.len() != all.len() {
            return Err(("arms", "an arm is named twice".to_owned()));
        }
        if !self.suites.tools.servers.is_sorted() {
            return Err(("suites.tools.servers", "the servers are not in name order".to_owned()));
        }
        for (key, found, kind) in [
            ("endpoints.tools", &self.endpoints.tools, FamilyKind::Levels),
            ("endpoints.results", &self.endpoints.results, FamilyKind::Results),
        ] {
            if found != kind.endpoints() {
                let tested: Vec<&str> = kind.endpoints().iter().map(|endpoint| endpoint.name()).collect();
                return Err((key, format!("the rule tests {}, in this order", tested.join(", "))));
            }
        }
        if self.missing.sensitivities != MissingReading::ALL {
            return Err((
                "missing.sensitivities",
                "complete-pairs, both-wrong and tipping-point are printed, in this order".to_owned(),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_protocol_parses_and_its_canonical_bytes_round_trip() {
        let protocol = Protocol::built_in().unwrap();
        let canonical = protocol.canonical().unwrap();
        let back: Protocol = serde_json::from_slice(&canonical).unwrap();
        assert_eq!(back, protocol);
    }

    #[test]
    fn unknown_key_is_an_error_that_points_at_it() {
        let text = BUILT_IN.replace("alpha = \"0.05\"", "alpha = \"0.05\"\nalhpa = \"0.05\"");
        let message = Protocol::parse(&text, "p.toml").unwrap_err().to_string();
        assert!(message.contains("alhpa") && message.contains("p.toml"), "{message}");
    }

    #[test]
    fn a_choice_that_the_rule_does_not_follow_is_refused() {
        for (from, to, sign) in [
            ("multiplicity_levels = \"fixed-sequence\"", "multiplicity_levels = \"holm\"", "fixed-sequence"),
            ("multiplicity_products = \"holm\"", "multiplicity_products = \"none\"", "holm"),
            ("harm = \"mcnemar-per-tool-holm\"", "harm = \"none\"", "mcnemar-per-tool-holm"),
            ("abstain = \"mcnemar-exact\"", "abstain = \"none\"", "mcnemar-exact"),
            ("rule = \"worst-case\"", "rule = \"complete-pairs\"", "worst-case"),
            ("sensitivities = [\"complete-pairs\", ", "sensitivities = [", "missing.sensitivities"),
            ("tools = [\"selection\", \"arguments\"]", "tools = [\"arguments\"]", "endpoints.tools"),
            ("results = [\"answer\"]", "results = [\"selection\"]", "endpoints.results"),
        ] {
            assert!(BUILT_IN.contains(from), "{from}");
            let message = Protocol::parse(&BUILT_IN.replacen(from, to, 1), "p.toml").unwrap_err().to_string();
            assert!(message.contains("p.toml") && message.contains(sign), "{to}: {message}");
        }
    }

    #[test]
    fn digest_changes_with_every_value_and_not_with_layout() {
        let base = Protocol::built_in().unwrap().digest().unwrap();
        let spaced = BUILT_IN.replace("schema = 1", "\n\nschema   =   1");
        assert_eq!(Protocol::parse(&spaced, "p").unwrap().digest().unwrap(), base);
        let other = BUILT_IN.replace("max_turns = 8", "max_turns = 7");
        assert_ne!(Protocol::parse(&other, "p").unwrap().digest().unwrap(), base);
    }
}
