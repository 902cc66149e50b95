//! The exact tool list and instructions that an arm shows at one moment.

use std::sync::{Arc, OnceLock};

use bench_protocol::digest::Digest;
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use crate::tokens;

/// One tool as the model is shown it.
///
/// The neutral form is the compact JSON object `{"name", "description"?, "input_schema"}`, key order kept; it is also
/// what sizes are measured on.
#[derive(Debug)]
pub struct ShownTool {
    name: String,
    description: Option<String>,
    schema: Box<RawValue>,
    json: Box<str>,
    wire: OnceLock<Box<str>>,
    tokens: OnceLock<usize>,
}

#[derive(Serialize)]
struct Neutral<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    input_schema: &'a RawValue,
}

impl ShownTool {
    /// A tool of this name, description and schema. The schema is written compactly, its key order kept.
    pub fn new(name: String, description: Option<String>, schema: &Value) -> Result<Self, serde_json::Error> {
        let schema = serde_json::value::to_raw_value(schema)?;
        let json = serde_json::to_string(&Neutral {
            name: &name,
            description: description.as_deref(),
            input_schema: &schema,
        })?;
        Ok(Self {
            name,
            description,
            schema,
            json: json.into_boxed_str(),
            wire: OnceLock::new(),
            tokens: OnceLock::new(),
        })
    }

    /// The name shown, legal for every provider.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description shown.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The schema shown, as compact JSON.
    pub fn schema(&self) -> &RawValue {
        &self.schema
    }

    /// The neutral form, as compact JSON.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// o200k tokens of the neutral form, counted once: counting is what costs most of building an arm.
    pub fn tokens(&self) -> usize {
        *self.tokens.get_or_init(|| tokens::tokens(&self.json))
    }

    /// A provider's form of this tool, built once. A run speaks one wire format, so one slot is enough.
    pub fn wire(&self, build: impl FnOnce(&Self) -> String) -> &str {
        self.wire.get_or_init(|| build(self).into_boxed_str())
    }
}

/// A list of tools in order, and the instructions that come with it.
#[derive(Debug)]
pub struct Surface {
    tools: Vec<Arc<ShownTool>>,
    instructions: String,
    digest: OnceLock<Digest>,
    wire: OnceLock<Arc<str>>,
}

impl Surface {
    /// A surface of these tools, in this order.
    pub fn new(tools: Vec<Arc<ShownTool>>, instructions: String) -> Self {
        Self { tools, instructions, digest: OnceLock::new(), wire: OnceLock::new() }
    }

    /// The tools, in order.
    pub fn tools(&self) -> &[Arc<ShownTool>] {
        &self.tools
    }

    /// Text that the arm adds to the system prompt; empty for most.
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// Bytes of the neutral form: what the record keeps and the digest is taken over.
    pub fn bytes(&self) -> Vec<u8> {
        let size: usize = self.tools.iter().map(|tool| tool.json().len() + 1).sum();
        let mut out = Vec::with_capacity(size + self.instructions.len() + 48);
        out.extend_from_slice(b"{\"instructions\":");
        out.extend_from_slice(Value::from(self.instructions.as_str()).to_string().as_bytes());
        out.extend_from_slice(b",\"tools\":[");
        for (position, tool) in self.tools.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            out.extend_from_slice(tool.json().as_bytes());
        }
        out.extend_from_slice(b"]}");
        out
    }

    /// SHA-256 of [`Self::bytes`], computed once.
    pub fn digest(&self) -> &Digest {
        self.digest.get_or_init(|| Digest::of(&self.bytes()))
    }

    /// A provider's form of the whole list (a JSON array), built once.
    pub fn wire(&self, build: impl FnOnce(&ShownTool) -> String + Copy) -> &Arc<str> {
        self.wire.get_or_init(|| {
            let mut out = String::from("[");
            for (position, tool) in self.tools.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                out.push_str(tool.wire(build));
            }
            out.push(']');
            out.into()
        })
    }

    /// The tool shown under this name.
    pub fn tool(&self, name: &str) -> Option<&Arc<ShownTool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }
}
