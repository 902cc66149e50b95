//! Client of Chat Completions, OpenAI's and compatible servers'.

use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde::Deserialize;

use super::{
    Attempt, Count, Endpoint, Lifecycle, Model, ModelError, Outcome, Pending, Probe, Provider,
    capabilities::{Capabilities, nearest},
    http::Http,
    outcome::Dialect,
};
use crate::wire::{Request, Wire, openai::OpenAi};

/// A model of OpenAI, or of a server that speaks its format.
pub struct OpenAiModel {
    http: Http,
    model: String,
}

impl OpenAiModel {
    pub(super) fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let mut headers = HeaderMap::new();
        if let Some(value) = endpoint.key.as_ref().and_then(|key| key.header("Bearer ")) {
            headers.insert(AUTHORIZATION, value);
        }
        let http = Http::new(endpoint.base, endpoint.key, headers, endpoint.timeouts, endpoint.mock)?;
        Ok(Self { http, model: endpoint.model })
    }

    /// OpenAI answers for one id; many compatible servers only list what they serve, and some have no list at all.
    async fn ask(&self) -> Result<Probe, ModelError> {
        let base = self.http.base();
        let probe = |lifecycle| Probe {
            id: self.model.clone(),
            lifecycle,
            input_tokens_at_most: None,
            output_tokens_at_most: None,
        };
        if let Ok(body) = self.http.get(&["models", &self.model]).await.free(base)?
            && serde_json::from_slice::<Listed>(&body).is_ok_and(|listed| listed.id == self.model)
        {
            return Ok(probe(Lifecycle::Unstated));
        }
        let Ok(body) = self.http.get(&["models"]).await.free(base)? else { return Ok(probe(Lifecycle::Unknown)) };
        let list: List = serde_json::from_slice(&body)
            .map_err(|error| ModelError::Answer { url: base.as_str().to_owned(), why: error.to_string() })?;
        if list.data.iter().any(|listed| listed.id == self.model) {
            return Ok(probe(Lifecycle::Unstated));
        }
        let near = nearest(&self.model, list.data.iter().map(|listed| listed.id.as_str()));
        // A local server with one model: that is the one meant.
        let only = || (list.data.len() == 1).then(|| list.data[0].id.clone());
        let table = || Capabilities::built_in().ok().and_then(|table| table.nearest(Provider::OpenAi, &self.model));
        let official = Provider::OpenAi.is_official(base);
        let nearest = near.or_else(only).or_else(|| if official { table() } else { None });
        Err(ModelError::UnknownModel { model: self.model.clone(), nearest })
    }
}

impl Model for OpenAiModel {
    fn wire(&self) -> &dyn Wire {
        &OpenAi
    }

    fn complete<'a>(&'a self, attempt: Attempt<'a>) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let exchange = self.http.post(&["chat", "completions"], attempt.body, Some(attempt.draw)).await;
            exchange.outcome(Dialect::OpenAi, &OpenAi)
        })
    }

    fn probe(&self) -> Pending<'_, Result<Probe, ModelError>> {
        Box::pin(self.ask())
    }

    /// The provider counts requests of its other interface only.
    fn count_tokens<'a>(&'a self, _request: &'a Request<'a>) -> Pending<'a, Result<Count, ModelError>> {
        Box::pin(std::future::ready(Ok(Count::Unavailable)))
    }
}

#[derive(Deserialize)]
struct List {
    data: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
}
