//! Client of Anthropic Messages.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Attempt, Count, Endpoint, Lifecycle, Model, ModelError, Outcome, Pending, Probe, Provider,
    capabilities::Capabilities, http::Http, outcome::Dialect,
};
use crate::wire::{Request, Wire, anthropic::Anthropic};

/// A model of Anthropic, or of a server that speaks its format.
pub struct AnthropicModel {
    http: Http,
    model: String,
}

impl AnthropicModel {
    pub(super) fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let mut headers = HeaderMap::new();
        let version = HeaderValue::from_str(&endpoint.api_version).map_err(|_| ModelError::Client {
            why: format!("`{}` is no API version", endpoint.api_version.escape_debug()),
        })?;
        headers.insert(HeaderName::from_static("anthropic-version"), version);
        // Not `Authorization: Bearer`: with this API version that is for tokens of another kind.
        if let Some(value) = endpoint.key.as_ref().and_then(|key| key.header("")) {
            headers.insert(HeaderName::from_static("x-api-key"), value);
        }
        let http = Http::new(endpoint.base, endpoint.key, headers, endpoint.timeouts, endpoint.mock)?;
        Ok(Self { http, model: endpoint.model })
    }

    async fn ask(&self) -> Result<Probe, ModelError> {
        let base = self.http.base();
        let unusable = |why: String| ModelError::Answer { url: base.as_str().to_owned(), why };
        match self.http.get(&["models", &self.model]).await.free(base)? {
            Ok(body) => {
                let about: About = serde_json::from_slice(&body).map_err(|error| unusable(error.to_string()))?;
                about.probe(&self.model)
            }
            Err((404, _)) => {
                let nearest = Capabilities::built_in()?.nearest(Provider::Anthropic, &self.model);
                Err(ModelError::UnknownModel { model: self.model.clone(), nearest })
            }
            Err((status, error)) => Err(unusable(format!("status {status}: {error}"))),
        }
    }

    async fn count(&self, request: &Request<'_>) -> Result<Count, ModelError> {
        let base = self.http.base();
        let mut body = Vec::new();
        Anthropic::encode_count(request, &mut body);
        match self.http.post(&["messages", "count_tokens"], &body, None).await.free(base)? {
            Ok(body) => serde_json::from_slice(&body)
                .map(|Tokens { input_tokens }| Count::Tokens(input_tokens))
                .map_err(|error| ModelError::Answer { url: base.as_str().to_owned(), why: error.to_string() }),
            Err((404 | 405 | 501, _)) => Ok(Count::Unavailable),
            Err((status @ (400 | 413 | 422), error)) => Ok(Count::Refused { status, message: error.to_string() }),
            Err((status, error)) => {
                Err(ModelError::Answer { url: base.as_str().to_owned(), why: format!("status {status}: {error}") })
            }
        }
    }
}

impl Model for AnthropicModel {
    fn wire(&self) -> &dyn Wire {
        &Anthropic
    }

    fn complete<'a>(&'a self, attempt: Attempt<'a>) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let exchange = self.http.post(&["messages"], attempt.body, Some(attempt.draw)).await;
            exchange.outcome(Dialect::Anthropic, &Anthropic)
        })
    }

    fn probe(&self) -> Pending<'_, Result<Probe, ModelError>> {
        Box::pin(self.ask())
    }

    fn count_tokens<'a>(&'a self, request: &'a Request<'a>) -> Pending<'a, Result<Count, ModelError>> {
        Box::pin(self.count(request))
    }
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: u64,
}

#[derive(Deserialize)]
struct About {
    id: String,
    #[serde(default)]
    max_input_tokens: Option<u64>,
    #[serde(default)]
    max_tokens: Option<u64>,
    /// A word, or an object that holds it; older API versions leave it out.
    #[serde(default)]
    lifecycle: Option<Value>,
}

impl About {
    fn probe(self, asked: &str) -> Result<Probe, ModelError> {
        let word = self.lifecycle.as_ref().and_then(|lifecycle| {
            lifecycle
                .as_str()
                .or_else(|| ["status", "state", "stage"].iter().find_map(|key| lifecycle.get(key)?.as_str()))
        });
        let lifecycle = match word {
            Some("active") => Lifecycle::Active,
            Some("deprecated") => Lifecycle::Deprecated,
            Some("retired") => return Err(ModelError::Retired { model: asked.to_owned() }),
            _ => Lifecycle::Unstated,
        };
        Ok(Probe {
            id: self.id,
            lifecycle,
            input_tokens_at_most: self.max_input_tokens,
            output_tokens_at_most: self.max_tokens,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifecycle_is_read_as_a_word_or_from_an_object() {
        let probe = |lifecycle: &str| {
            let about = format!(r#"{{"id":"m","max_tokens":64000,"lifecycle":{lifecycle},"new":[]}}"#);
            serde_json::from_str::<About>(&about).unwrap().probe("m").map(|probe| probe.lifecycle)
        };
        assert_eq!(probe("\"active\"").unwrap(), Lifecycle::Active);
        assert_eq!(probe(r#"{"status":"deprecated","retires_at":"2027-01-22"}"#).unwrap(), Lifecycle::Deprecated);
        assert_eq!(probe("null").unwrap(), Lifecycle::Unstated);
        assert!(matches!(probe("\"retired\""), Err(ModelError::Retired { .. })));
    }
}
