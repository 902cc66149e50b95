//! Paths and methods, and the answers that cost nothing.

use axum::http::{HeaderMap, Method};
use serde_json::{Value, json};

use super::{
    headers,
    models::{Format, Model},
    refusal::Refusal,
    state::State,
};

/// Where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route<'p> {
    /// A paid request.
    Paid(Format),
    /// `POST /v1/messages/count_tokens`.
    Count,
    /// `GET /v1/models`.
    Models(Format),
    /// `GET /v1/models/{id}`.
    Model(Format, &'p str),
    /// A path with another method.
    WrongMethod(Format),
    /// No such path.
    Unknown(Format),
}

impl<'p> Route<'p> {
    pub(super) fn of(method: &Method, path: &'p str, headers: &HeaderMap) -> Self {
        let spoken = if headers::speaks_messages(headers) { Format::Messages } else { Format::Chat };
        let (route, wanted) = match path.strip_prefix("/v1/").unwrap_or_default() {
            "messages" => (Self::Paid(Format::Messages), Method::POST),
            "messages/count_tokens" => (Self::Count, Method::POST),
            "chat/completions" => (Self::Paid(Format::Chat), Method::POST),
            "models" => (Self::Models(spoken), Method::GET),
            other => match other.strip_prefix("models/") {
                Some(id) if !id.is_empty() => (Self::Model(spoken, id), Method::GET),
                _ => return Self::Unknown(spoken),
            },
        };
        if *method == wanted { route } else { Self::WrongMethod(route.format()) }
    }

    /// The format that its answer is in.
    pub(super) fn format(self) -> Format {
        match self {
            Self::Count => Format::Messages,
            Self::Paid(format)
            | Self::Models(format)
            | Self::Model(format, _)
            | Self::WrongMethod(format)
            | Self::Unknown(format) => format,
        }
    }
}

/// All models of a format.
pub(super) fn models(state: &State, format: Format, headers: &HeaderMap) -> Result<Vec<u8>, Refusal> {
    check(state, format, headers)?;
    let data: Vec<Value> = state.models.of(format).map(|model| object(format, model)).collect();
    let id = |model: Option<&Value>| model.map(|model| model["id"].clone());
    let list = match format {
        Format::Messages => {
            json!({"first_id": id(data.first()), "last_id": id(data.last()), "has_more": false, "data": data})
        }
        Format::Chat => json!({"object": "list", "data": data}),
    };
    Ok(list.to_string().into_bytes())
}

/// One model.
pub(super) fn model(state: &State, format: Format, id: &str, headers: &HeaderMap) -> Result<Vec<u8>, Refusal> {
    check(state, format, headers)?;
    match state.models.find(format, id) {
        Some((_, model)) => Ok(object(format, model).to_string().into_bytes()),
        None => Err(unknown_model(format, id)),
    }
}

/// 404 for a model that is not served.
pub(super) fn unknown_model(format: Format, id: &str) -> Refusal {
    match format {
        Format::Messages => Refusal::of_status(format, 404, format!("model: {id}")),
        Format::Chat => {
            let message = format!("The model `{id}` does not exist or you do not have access to it.");
            Refusal::of_status(format, 404, message).coded("model_not_found")
        }
    }
}

fn check(state: &State, format: Format, headers: &HeaderMap) -> Result<(), Refusal> {
    if format == Format::Messages {
        headers::check_version(headers)?;
        return state.check_key(format, headers);
    }
    Ok(())
}

fn object(format: Format, model: &Model) -> Value {
    match format {
        Format::Messages => json!({
            "type": "model",
            "id": model.id,
            "display_name": model.name,
            "created_at": format!("{}T00:00:00Z", model.created),
            "max_input_tokens": model.context,
            "max_tokens": model.max_output,
            "lifecycle": model.lifecycle.word(),
        }),
        Format::Chat => json!({"object": "model", "id": model.id, "created": 0, "owned_by": "bench"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_paths_are_told_apart_by_their_headers() {
        let mut headers = HeaderMap::new();
        assert_eq!(Route::of(&Method::GET, "/v1/models/a/b", &headers), Route::Model(Format::Chat, "a/b"));
        assert_eq!(Route::of(&Method::GET, "/v1/messages", &headers), Route::WrongMethod(Format::Messages));
        assert_eq!(Route::of(&Method::POST, "/messages", &headers), Route::Unknown(Format::Chat));
        headers.insert("anthropic-version", axum::http::HeaderValue::from_static("2023-06-01"));
        assert_eq!(Route::of(&Method::GET, "/v1/models", &headers), Route::Models(Format::Messages));
        assert_eq!(Route::of(&Method::POST, "/v1/responses", &headers), Route::Unknown(Format::Messages));
    }
}
