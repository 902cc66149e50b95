//! Live models: clients of the two wire formats, what became of an attempt, when to repeat it, how many at a time.
//!
//! Nothing here knows of budgets, journals or schedules. A client sends one request per attempt and says what is known
//! about its fate ([`Outcome`]); what is booked and whether to ask again is decided by its caller, with the pure rules
//! of [`retry`] and [`limits`].

pub mod capabilities;
pub mod facts;
pub mod gate;
pub mod identity;
pub mod limits;
pub mod outcome;
pub mod retry;

mod anthropic;
mod error;
mod http;
mod key;
mod openai;
mod url;

use std::{future::Future, pin::Pin};

use bench_protocol::spec::Protocol;
use bench_results::record::DrawId;
use clap::ValueEnum;
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};

pub use anthropic::AnthropicModel;
pub use error::ModelError;
pub use http::{BODY_BYTES_AT_MOST, Timeouts};
pub use key::Key;
pub use openai::OpenAiModel;
pub use outcome::{Answered, Billing, Cause, Dialect, Outcome, Refusal, Retry, Unclear};
pub use url::BaseUrl;

use crate::wire::{Request, Wire, anthropic::Anthropic, openai::OpenAi};

/// A future on the heap, so that models of different providers are one type.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One request to a model.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The body, as [`Wire::encode`] wrote it.
    pub body: &'a [u8],
    /// Which draw it asks for. It leaves this machine only towards our own mock server.
    pub draw: &'a DrawId,
}

/// A model behind a wire format.
pub trait Model: Send + Sync {
    /// The format that bodies must be written in.
    fn wire(&self) -> &dyn Wire;

    /// Sends one attempt and waits for what becomes of it. Dropping the future abandons the request, which may then have
    /// been billed: book it as [`Billing::Unknown`].
    fn complete<'a>(&'a self, attempt: Attempt<'a>) -> Pending<'a, Outcome>;

    /// Attempts that one wave should hold: 1 where requests are sent one by one, more where a provider takes batches
    /// (each turn of all episodes is then a wave).
    fn wave_size(&self) -> usize {
        1
    }

    /// Sends a wave and waits for all of it; outcomes stand in the order of the attempts. Without a batch interface all
    /// are in flight at once.
    fn complete_wave<'a>(&'a self, wave: &'a [Attempt<'a>]) -> Pending<'a, Vec<Outcome>> {
        Box::pin(join_all(wave.iter().map(|attempt| self.complete(*attempt))))
    }

    /// Asks, for free, whether the provider serves the model.
    fn probe(&self) -> Pending<'_, Result<Probe, ModelError>>;

    /// The provider's own count of a request's input tokens, for free; `None` where it has no such endpoint for this
    /// format. It also finds surfaces that the provider refuses.
    fn count_tokens<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a, Result<Count, ModelError>>;
}

/// What a free count of a request found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// Input tokens, an estimate of the provider's.
    Tokens(u64),
    /// The provider has no such endpoint.
    Unavailable,
    /// The provider refuses the request, and says why: it would refuse the paid one too.
    Refused {
        /// HTTP status.
        status: u16,
        /// Its words.
        message: String,
    },
}

/// Whether a model is still served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifecycle {
    /// It is.
    Active,
    /// It is, and its end is announced.
    Deprecated,
    /// The server has the model, and says nothing of its life.
    Unstated,
    /// The server has no list of models: the first request will tell.
    Unknown,
}

/// What a provider says of a model. Retired and unknown models are errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The id under which the provider lists it; an alias may list under its dated id.
    pub id: String,
    /// Whether it is still served.
    pub lifecycle: Lifecycle,
    /// Context window, input tokens.
    pub input_tokens_at_most: Option<u64>,
    /// Output tokens per request at most.
    pub output_tokens_at_most: Option<u64>,
}

/// A provider's interface. What hangs on a provider is a method here, so that one more does not compile until all of it
/// is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Provider {
    /// Anthropic Messages.
    Anthropic,
    /// Chat Completions: OpenAI and every compatible server.
    #[value(name = "openai")]
    OpenAi,
}

impl Provider {
    /// The provider of this id.
    ///
    /// # Errors
    /// An id that is no provider's: to guess one would send the wrong bytes, or read them wrongly.
    pub fn of(id: &str) -> Result<Self, ModelError> {
        let all = Self::value_variants();
        all.iter().copied().find(|provider| provider.id() == id).ok_or_else(|| ModelError::Provider {
            id: id.to_owned(),
            known: all.iter().map(|provider| provider.id()).collect::<Vec<_>>().join(", "),
        })
    }

    /// As in `--provider` and in the record.
    pub fn id(self) -> &'static str {
        self.wire().id()
    }

    /// The wire format that it speaks.
    pub fn wire(self) -> &'static dyn Wire {
        match self {
            Self::Anthropic => &Anthropic,
            Self::OpenAi => &OpenAi,
        }
    }

    /// The version of its interface that is asked for in a header, where it has one.
    pub fn api_version(self, protocol: &Protocol) -> Option<&str> {
        match self {
            Self::Anthropic => Some(&protocol.model.api_version),
            Self::OpenAi => None,
        }
    }

    /// Whether a request can write to its cache without asking for it.
    pub fn caches_unasked(self) -> bool {
        match self {
            Self::Anthropic => false,
            Self::OpenAi => true,
        }
    }

    /// Where its own API lives.
    pub fn official_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }

    /// The variable that holds its key unless another is named.
    pub fn key_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi => "OPENAI_API_KEY",
        }
    }

    /// True where the base is the provider's own API, and not a compatible server, gateway or mock.
    pub fn is_official(self, base: &BaseUrl) -> bool {
        BaseUrl::parse(self.official_url()).is_ok_and(|official| official == *base)
    }
}

/// The interface that the scripted model is spoken to in when it answers in this process.
pub const SCRIPTED: Provider = Provider::Anthropic;

impl TryFrom<String> for Provider {
    type Error = ModelError;

    fn try_from(id: String) -> Result<Self, ModelError> {
        Self::of(&id)
    }
}

impl From<Provider> for String {
    fn from(provider: Provider) -> Self {
        provider.id().to_owned()
    }
}

/// Where a model is and how to get to it.
pub struct Endpoint {
    /// The interface it speaks.
    pub provider: Provider,
    /// Where.
    pub base: BaseUrl,
    /// The key; `None` only for servers that want none.
    pub key: Option<Key>,
    /// Exact model id.
    pub model: String,
    /// API version header (Messages).
    pub api_version: String,
    /// Time limits.
    pub timeouts: Timeouts,
    /// The endpoint is our own mock server, which is told the draw of each attempt.
    pub mock: bool,
}

/// A client for an endpoint. No request is sent.
pub fn connect(endpoint: Endpoint) -> Result<Box<dyn Model>, ModelError> {
    if endpoint.key.is_none() && endpoint.provider.is_official(&endpoint.base) {
        return Err(ModelError::NoKey { variable: endpoint.provider.key_variable().to_owned() });
    }
    if endpoint.key.is_some() && endpoint.base.is_plain() && !endpoint.base.is_loopback() {
        return Err(ModelError::BaseUrl {
            url: endpoint.base.as_str().to_owned(),
            why: "the API key would travel unencrypted; use https://, or run without a key".to_owned(),
        });
    }
    Ok(match endpoint.provider {
        Provider::Anthropic => Box::new(AnthropicModel::new(endpoint)?),
        Provider::OpenAi => Box::new(OpenAiModel::new(endpoint)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_has_one_id_on_the_command_line_in_records_and_in_its_wire_format() {
        for &provider in Provider::value_variants() {
            let id = provider.id();
            assert_eq!(Provider::of(id).unwrap(), provider);
            assert_eq!(provider.to_possible_value().unwrap().get_name(), id);
            assert_eq!(serde_json::to_string(&provider).unwrap(), format!("\"{id}\""));
            assert_eq!(serde_json::from_str::<Provider>(&format!("\"{id}\"")).unwrap(), provider);
        }
    }

    #[test]
    fn an_id_that_is_no_providers_is_an_error_that_names_it_and_those_there_are() {
        for error in [
            Provider::of("gemini").unwrap_err().to_string(),
            serde_json::from_str::<Provider>("\"gemini\"").unwrap_err().to_string(),
        ] {
            assert!(error.contains("`gemini`") && error.contains("anthropic, openai"), "{error}");
        }
    }
}
