//! A tool's result, as MCP sends it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Result of `tools/call`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolResult {
    /// Content blocks, in order.
    pub content: Vec<Content>,
    /// Structured content, where the tool sends it.
    #[serde(rename = "structuredContent", default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// The tool failed.
    #[serde(rename = "isError", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// One content block: text, or anything else kept as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub enum Content {
    /// A text block.
    Text(String),
    /// Image, audio, resource, link or a type of the future.
    Other(Map<String, Value>),
}

impl TryFrom<Map<String, Value>> for Content {
    type Error = String;

    fn try_from(mut block: Map<String, Value>) -> Result<Self, Self::Error> {
        if block.get("type").and_then(Value::as_str) != Some("text") {
            return Ok(Self::Other(block));
        }
        match block.remove("text") {
            Some(Value::String(text)) => Ok(Self::Text(text)),
            _ => Err("a text block without a `text` string".to_owned()),
        }
    }
}

impl From<Content> for Map<String, Value> {
    fn from(content: Content) -> Self {
        match content {
            Content::Text(text) => {
                Self::from_iter([("type".to_owned(), Value::from("text")), ("text".to_owned(), Value::from(text))])
            }
            Content::Other(block) => block,
        }
    }
}

impl ToolResult {
    /// A result of one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text(text.into())], ..Self::default() }
    }

    /// All text blocks, joined by line ends.
    pub fn joined_text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|block| if let Content::Text(text) = block { Some(text.as_str()) } else { None })
            .collect();
        texts.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_blocks_survive_a_round_trip() {
        let json = r#"{"content":[{"type":"text","text":"a"},{"type":"hologram","x":1}],"structuredContent":{"k":2}}"#;
        let result: ToolResult = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&result).unwrap(), json);
        assert_eq!(result.joined_text(), "a");
    }
}
