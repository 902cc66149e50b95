//! Refusals, in the words and the form of the API.

use serde_json::json;
use thiserror::Error;

/// Why a request is refused. The API answers each of these with status 400.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WireError {
    /// The body is no JSON, or not of the request's shape.
    #[error("the request body is not valid: {why}")]
    Body {
        /// What the reader says, with line and column.
        why: String,
    },
    /// A field is missing, or its value is not allowed.
    #[error("{path}: {why}")]
    Field {
        /// Where, as `messages.2.content.0`.
        path: String,
        /// What is wrong.
        why: String,
    },
}

impl WireError {
    pub(crate) fn field(path: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Field { path: path.into(), why: why.into() }
    }

    /// HTTP status that the API gives.
    pub fn status(&self) -> u16 {
        match self {
            Self::Body { .. } | Self::Field { .. } => 400,
        }
    }

    /// The API's error object, as bytes of a response body.
    pub fn body(&self) -> Vec<u8> {
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": self.to_string()}})
            .to_string()
            .into_bytes()
    }
}
