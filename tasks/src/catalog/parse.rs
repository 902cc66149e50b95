//! From bytes to tool definitions, with the place of whatever is wrong.

use std::{collections::HashMap, sync::Arc};

use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use super::ToolDef;
use crate::error::TasksError;

pub(super) struct Parsed {
    pub initialize: Value,
    pub tools: Vec<Arc<ToolDef>>,
    pub pages: usize,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default)]
    initialize: Option<&'a RawValue>,
    #[serde(borrow)]
    tools_list_pages: Vec<Page<'a>>,
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<Parsed, TasksError> {
    let source = Source { file, bytes };
    let text = str::from_utf8(bytes).map_err(|error| {
        source.error_at(error.valid_up_to(), "is not UTF-8 from here on; save the server's bytes as they are".into())
    })?;
    // What people save may begin with a byte order mark, which is no part of what the server sent.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let wrapper: File<'_> = serde_json::from_str(text).map_err(|error| {
        let expected = "expected {\"initialize\": …, \"tools_list_pages\": [{\"tools\": […]}, …]}";
        source.error(
            format!("line {} column {}", error.line(), error.column()),
            format!("{}; {expected}", without_place(&error)),
        )
    })?;
    let initialize = match wrapper.initialize {
        Some(raw) => source.value(raw, "initialize")?,
        None => Value::Null,
    };
    let mut tools: Vec<Arc<ToolDef>> = Vec::new();
    let mut seen: HashMap<Arc<str>, usize> = HashMap::new();
    for raw in wrapper.tools_list_pages.iter().flat_map(|page| &page.tools) {
        let tool = source.tool(raw, tools.len())?;
        if let Some(first) = seen.insert(Arc::clone(&tool.name), tools.len()) {
            let place = source.place(raw, &format!("tool {}", tools.len()));
            let cause = format!("is named {:?} like tool {first}; a server must not list a name twice", tool.name);
            return Err(source.error(place, cause));
        }
        tools.push(Arc::new(tool));
    }
    Ok(Parsed { initialize, tools, pages: wrapper.tools_list_pages.len() })
}

struct Source<'a> {
    file: &'a str,
    bytes: &'a [u8],
}

impl Source<'_> {
    fn tool(&self, raw: &RawValue, index: usize) -> Result<ToolDef, TasksError> {
        let Value::Object(mut members) = self.value(raw, &format!("tool {index}"))? else {
            return Err(self.error(self.place(raw, &format!("tool {index}")), "is not a JSON object".into()));
        };
        let fail = |label: &str, cause: String| self.error(self.place(raw, label), cause);
        let name: Arc<str> = match members.get("name") {
            Some(Value::String(name)) if !name.is_empty() => name.as_str().into(),
            Some(Value::String(_)) => {
                return Err(fail(&format!("tool {index}"), "has an empty name".into()));
            }
            Some(other) => {
                return Err(fail(
                    &format!("tool {index}"),
                    format!("has {} for a name; it must be a string", kind(other)),
                ));
            }
            None => return Err(fail(&format!("tool {index}"), "has no \"name\"".into())),
        };
        if let Some(why) = unprintable(&name) {
            return Err(fail(&format!("tool {index}"), format!("has a name with {why}")));
        }
        let label = format!("tool {index} ({name})");
        let input_schema = match members.remove("inputSchema") {
            Some(schema @ (Value::Object(_) | Value::Bool(_))) => schema,
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(other) => {
                return Err(fail(
                    &label,
                    format!("has {} for \"inputSchema\"; it must be an object or a boolean", kind(&other)),
                ));
            }
        };
        let mut text = |key: &str| match members.remove(key) {
            Some(Value::String(text)) => Ok(Some(text)),
            None | Some(Value::Null) => Ok(None),
            Some(other) => Err(fail(&label, format!("has {} for {key:?}; it must be a string", kind(&other)))),
        };
        Ok(ToolDef {
            title: text("title")?,
            description: text("description")?,
            output_schema: members.remove("outputSchema").filter(|schema| !schema.is_null()),
            annotations: members.remove("annotations").filter(|annotations| !annotations.is_null()),
            name,
            input_schema,
            raw: raw.to_owned(),
            validator: std::sync::OnceLock::new(),
        })
    }

    fn value(&self, raw: &RawValue, label: &str) -> Result<Value, TasksError> {
        serde_json::from_str(raw.get()).map_err(|error| {
            // Its line and column count from the start of the member; turn them into the file's.
            let within: usize = raw.get().split_inclusive('\n').take(error.line() - 1).map(str::len).sum();
            let at = self.offset(raw) + within + error.column().saturating_sub(1);
            let (line, column) = self.line_and_column(at);
            self.error(format!("{label}, line {line} column {column}"), without_place(&error))
        })
    }

    /// Byte offset of a borrowed member in the file.
    fn offset(&self, raw: &RawValue) -> usize {
        (raw.get().as_ptr() as usize).saturating_sub(self.bytes.as_ptr() as usize).min(self.bytes.len())
    }

    fn place(&self, raw: &RawValue, label: &str) -> String {
        let (line, column) = self.line_and_column(self.offset(raw));
        format!("{label}, line {line} column {column}")
    }

    fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = &self.bytes[..at.min(self.bytes.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        (before.split(|&byte| byte == b'\n').count(), at - line_start + 1)
    }

    fn error_at(&self, at: usize, cause: String) -> TasksError {
        let (line, column) = self.line_and_column(at);
        self.error(format!("line {line} column {column}"), cause)
    }

    fn error(&self, place: String, cause: String) -> TasksError {
        TasksError::Catalog { file: self.file.to_owned(), place, cause }
    }
}

/// What makes a name unfit to be printed: it would look like another line of a table, or turn what stands beside it.
pub(super) fn unprintable(name: &str) -> Option<String> {
    let control = name.chars().find(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))?;
    Some(format!(
        "the control character U+{:04X}; names are letters, digits, `_`, `-` and `.` in MCP, so give it another one",
        u32::from(control)
    ))
}

/// `serde_json` appends its own place, which may count from the wrong start.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
