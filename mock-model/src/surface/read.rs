//! Reading and checking a tool list, as the API does.

use std::{collections::HashMap, fmt, sync::OnceLock};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{Tool, ToolList, meta::Meta};
use crate::wire::{error::WireError, request::CacheControl};

/// Longest tool or property name.
const MAX_NAME: usize = 64;

/// A tool on the wire.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    name: Option<String>,
    description: Option<String>,
    #[serde(borrow)]
    input_schema: Option<&'a RawValue>,
    cache_control: Option<CacheControl>,
    #[serde(rename = "strict")]
    _strict: Option<IgnoredAny>,
    #[serde(rename = "defer_loading")]
    _defer_loading: Option<IgnoredAny>,
    #[serde(rename = "allowed_callers")]
    _allowed_callers: Option<IgnoredAny>,
    #[serde(rename = "input_examples")]
    _input_examples: Option<IgnoredAny>,
    #[serde(rename = "eager_input_streaming")]
    _eager_input_streaming: Option<IgnoredAny>,
}

/// What of a schema's top level is looked at.
#[derive(Deserialize)]
struct SchemaHead<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    properties: Members<'a>,
    #[serde(borrow)]
    required: Option<&'a RawValue>,
    #[serde(rename = "oneOf")]
    one_of: Option<IgnoredAny>,
    #[serde(rename = "anyOf")]
    any_of: Option<IgnoredAny>,
    #[serde(rename = "allOf")]
    all_of: Option<IgnoredAny>,
}

/// Members of an object, values unread.
#[derive(Default)]
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

impl ToolList {
    /// Reads a list.
    ///
    /// # Errors
    /// A name that is illegal or there twice, a schema whose `type` is not `object` or that has `oneOf`, `anyOf` or
    /// `allOf` at its top level, an illegal property name: one bad tool fails the whole request.
    pub(crate) fn read(raw: &RawValue) -> Result<Self, WireError> {
        let wire: Vec<WireTool<'_>> =
            serde_json::from_str(raw.get()).map_err(|error| WireError::field("tools", error.to_string()))?;
        let mut by_name = HashMap::with_capacity(wire.len());
        let mut tools = Vec::with_capacity(wire.len());
        let mut marks = Vec::new();
        for (index, tool) in wire.into_iter().enumerate() {
            marks.extend(tool.cache_control.map(|mark| (index, mark.ttl())));
            let tool = check(index, tool)?;
            if by_name.insert(tool.name.clone(), index).is_some() {
                return Err(WireError::field("tools", "Tool names must be unique."));
            }
            tools.push(tool);
        }
        let metas = tools.iter().enumerate().filter_map(|(index, tool)| Meta::of(index, tool)).collect();
        Ok(Self {
            raw: raw.get().into(),
            marks,
            tools,
            by_name,
            metas,
            listed: OnceLock::new(),
            words: OnceLock::new(),
            links: OnceLock::new(),
        })
    }
}

fn check(index: usize, tool: WireTool<'_>) -> Result<Tool, WireError> {
    let at = |field: &str| format!("tools.{index}.custom.{field}");
    if let Some(kind) = tool.kind
        && kind != "custom"
    {
        return Err(WireError::field(
            format!("tools.{index}"),
            format!("the scripted model has no server tool `{kind}`"),
        ));
    }
    let name = tool.name.ok_or_else(|| WireError::field(at("name"), "Field required"))?;
    if !legal(&name, b"_-") {
        return Err(WireError::field(at("name"), "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"));
    }
    let schema = tool.input_schema.ok_or_else(|| WireError::field(at("input_schema"), "Field required"))?;
    let head: SchemaHead<'_> =
        serde_json::from_str(schema.get()).map_err(|error| WireError::field(at("input_schema"), error.to_string()))?;
    match head.kind.map(RawValue::get) {
        None => return Err(WireError::field(at("input_schema.type"), "Field required")),
        Some("\"object\"") => {}
        Some(_) => return Err(WireError::field(at("input_schema.type"), "Input should be 'object'")),
    }
    if head.one_of.is_some() || head.any_of.is_some() || head.all_of.is_some() {
        return Err(WireError::field(
            at("input_schema"),
            "input_schema does not support oneOf, allOf, or anyOf at the top level",
        ));
    }
    if head.properties.0.iter().any(|(name, _)| !legal(name, b"_.-")) {
        return Err(WireError::field(
            at("input_schema.properties"),
            "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
        ));
    }
    let required = match head.required {
        None => Vec::new(),
        Some(raw) => serde_json::from_str(raw.get())
            .map_err(|error| WireError::field(at("input_schema.required"), error.to_string()))?,
    };
    Ok(Tool {
        name,
        description: tool.description.unwrap_or_default(),
        schema: schema.to_owned(),
        properties: head.properties.0.into_iter().map(|(name, raw)| (name, raw.to_owned())).collect(),
        required,
    })
}

fn legal(name: &str, marks: &[u8]) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || marks.contains(&byte))
}
