//! Refusals in the words and the form of either API.

use serde_json::json;

use super::models::Format;
use crate::wire::error::WireError;

/// Why a request is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// The error's type.
    pub(super) kind: &'static str,
    pub(super) message: String,
    /// The field that is wrong (chat).
    pub(super) param: Option<String>,
    /// The narrower kind (chat).
    pub(super) code: Option<&'static str>,
}

impl Refusal {
    /// 400, with the API's words.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self { status: 400, kind: "invalid_request_error", message: message.into(), param: None, code: None }
    }

    /// 400 for a field of the request.
    pub(super) fn field(path: &str, why: &str) -> Self {
        Self { param: Some(path.to_owned()), ..Self::invalid(format!("{path}: {why}")) }
    }

    /// 400 for a field of a chat request.
    pub(super) fn param(param: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self { param: Some(param.into()), code: Some(code), ..Self::invalid(message) }
    }

    /// What `status` means in this format.
    pub(super) fn of_status(format: Format, status: u16, message: impl Into<String>) -> Self {
        let kind = match (format, status) {
            (Format::Messages, 401) => "authentication_error",
            (Format::Messages, 403) => "permission_error",
            (Format::Messages, 404) => "not_found_error",
            (Format::Messages, 413) => "request_too_large",
            (Format::Messages, 429) => "rate_limit_error",
            (Format::Messages, 504) => "timeout_error",
            (Format::Messages, 503 | 529) => "overloaded_error",
            (Format::Messages, 500..) => "api_error",
            (Format::Chat, 500..) => "server_error",
            (Format::Chat, 429) => "requests",
            _ => "invalid_request_error",
        };
        Self { status, kind, message: message.into(), param: None, code: None }
    }

    /// The same with a narrower kind.
    pub(super) fn coded(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    /// The response body.
    pub(super) fn body(&self, format: Format, request_id: &str) -> Vec<u8> {
        let body = match format {
            Format::Messages => json!({
                "type": "error",
                "error": {"type": self.kind, "message": self.message},
                "request_id": request_id,
            }),
            Format::Chat => json!({
                "error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code},
            }),
        };
        body.to_string().into_bytes()
    }
}

impl From<WireError> for Refusal {
    fn from(error: WireError) -> Self {
        match &error {
            WireError::Body { .. } => Self::invalid(error.to_string()),
            WireError::Field { path, .. } => Self { param: Some(path.clone()), ..Self::invalid(error.to_string()) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_form_of_its_format() {
        let refusal = Refusal::of_status(Format::Messages, 529, "Overloaded");
        let chat = Refusal::of_status(Format::Chat, 429, "Rate limit reached").coded("rate_limit_exceeded");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        insta::assert_snapshot!(
            format!("{}\n{}", text(refusal.body(Format::Messages, "req_1")), text(chat.body(Format::Chat, "req_1"))),
            @r#"
        {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}
        {"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}
        "#
        );
    }
}
