//! JSON-RPC 2.0 messages as they stand on a line.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

/// JSON-RPC's code for a line that is no JSON.
pub(crate) const PARSE_ERROR: i32 = -32700;
/// JSON-RPC's code for a message that is no request.
pub(crate) const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC's code for a method that is not there.
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC's code for parameters that a method does not take.
pub(crate) const INVALID_PARAMS: i32 = -32602;

/// Names of methods.
pub(crate) const INITIALIZE: &str = "initialize";
/// Sent once the answer to `initialize` was read.
pub(crate) const INITIALIZED: &str = "notifications/initialized";
/// Lists tools, a page at a time.
pub(crate) const LIST: &str = "tools/list";
/// Calls a tool.
pub(crate) const CALL: &str = "tools/call";
/// Asks whether the other side is there.
pub(crate) const PING: &str = "ping";
/// Says that the tool list is another one now.
pub(crate) const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// A message of either side, its values unread. An id may be a number or a string.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    /// Absent in a notification.
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    /// Absent in an answer.
    #[serde(borrow)]
    pub(crate) method: Option<Cow<'a, str>>,
    /// Parameters of a request or notification.
    #[serde(borrow)]
    pub(crate) params: Option<&'a RawValue>,
    /// Result of an answer.
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    /// Error of an answer.
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
}

/// One page of `tools/list`, its tools unread.
#[derive(Debug, Deserialize)]
pub(crate) struct Page<'a> {
    /// A list, if the server keeps to the protocol.
    #[serde(borrow)]
    pub(crate) tools: &'a RawValue,
    #[serde(borrow, rename = "nextCursor")]
    next_cursor: Option<&'a RawValue>,
}

impl<'a> Page<'a> {
    /// Reads a page.
    ///
    /// # Errors
    /// Why it is no page, in words that complete "the answer to tools/list is wrong: …".
    pub(crate) fn read(result: &'a RawValue) -> Result<Self, String> {
        let page: Self = serde_json::from_str(result.get()).map_err(|error| error.to_string())?;
        if page.tools.get().starts_with('[') { Ok(page) } else { Err("its tools are not a list".to_owned()) }
    }

    /// The cursor of the page after this one. An empty or `null` one says that there is none, as servers in the wild use
    /// it.
    ///
    /// # Errors
    /// A cursor that is no string.
    pub(crate) fn next(&self) -> Result<Option<String>, String> {
        let Some(cursor) = self.next_cursor else { return Ok(None) };
        let cursor: Option<String> =
            serde_json::from_str(cursor.get()).map_err(|_| format!("nextCursor {cursor} is not a string"))?;
        Ok(cursor.filter(|cursor| !cursor.is_empty()))
    }
}

/// A request.
pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A notification without parameters.
pub(crate) fn notification(method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": method })
}

/// The parameters of `initialize` as this program asks, with these capabilities.
pub(crate) fn initialize(capabilities: &Value) -> Value {
    let client = json!({ "name": "bench", "version": env!("CARGO_PKG_VERSION") });
    json!({ "protocolVersion": super::PROTOCOL_VERSION, "capabilities": capabilities, "clientInfo": client })
}

/// An answer whose result is written as it stands.
pub(crate) fn result(id: &RawValue, result: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
}

/// An answer that reports an error.
pub(crate) fn error(id: &RawValue, code: i32, message: &str) -> String {
    let message = Value::from(message);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}}}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Result<Option<String>, String> {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        Page::read(&raw)?.next()
    }

    #[test]
    fn an_empty_or_null_cursor_ends_the_list_and_another_type_is_an_error() {
        assert_eq!(page(r#"{"tools":[],"nextCursor":"b"}"#), Ok(Some("b".to_owned())));
        for last in [r#"{"tools":[]}"#, r#"{"tools":[],"nextCursor":""}"#, r#"{"tools":[],"nextCursor":null}"#] {
            assert_eq!(page(last), Ok(None), "{last}");
        }
        assert_eq!(page(r#"{"tools":[],"nextCursor":3}"#), Err("nextCursor 3 is not a string".to_owned()));
        assert_eq!(page(r#"{"tools":{}}"#), Err("its tools are not a list".to_owned()));
    }

    #[test]
    fn an_id_is_answered_as_it_was_sent() {
        for id in ["7", "\"a-1\"", "12345678901234567890123"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            let message: Message<'_> = serde_json::from_str(&line).unwrap();
            let answer = result(message.id.unwrap(), "{}");
            assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
    }
}
