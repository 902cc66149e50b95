//! The file format as serde reads it, and readable errors for what it refuses.

use std::collections::BTreeMap;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use toml::{Spanned, Table};

use super::{AbstainReason, Voice};
use crate::{check::nearest, task::Stratum};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    pub server: Option<String>,
    pub suite: Option<Spanned<String>>,
    pub writer: String,
    #[serde(default)]
    pub pools: BTreeMap<String, Spanned<RawPool>>,
    #[serde(default)]
    pub intent: Vec<RawIntent>,
    #[serde(default)]
    pub frame: Vec<RawAbstain>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawIntent {
    pub tool: Spanned<String>,
    #[serde(default, rename = "match")]
    pub matchers: Table,
    /// Arguments that may be added in every frame whose gold does not have them.
    #[serde(default)]
    pub allow: Table,
    #[serde(default)]
    pub frame: Vec<RawFrame>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFrame {
    pub id: Spanned<String>,
    pub stratum: Stratum,
    pub voice: Voice,
    pub text: String,
    #[serde(default)]
    pub slots: Table,
    #[serde(default)]
    pub gold: Table,
    #[serde(default)]
    pub dev: bool,
    #[serde(default, rename = "match")]
    pub matchers: Table,
    #[serde(default)]
    pub allow: Table,
    #[serde(default)]
    pub also: Vec<RawAlso>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAlso {
    pub tool: String,
    /// Another server than the file's.
    pub server: Option<String>,
    #[serde(default)]
    pub arguments: Table,
    #[serde(default, rename = "match")]
    pub matchers: Table,
    #[serde(default)]
    pub allow: Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawAbstain {
    pub id: Spanned<String>,
    pub reason: AbstainReason,
    pub voice: Voice,
    pub text: String,
    #[serde(default)]
    pub slots: Table,
    #[serde(default)]
    pub dev: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPool {
    pub values: Option<Vec<toml::Value>>,
    pub columns: Option<Vec<String>>,
    pub rows: Option<Vec<Vec<toml::Value>>>,
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub template: Option<toml::Value>,
    pub parts: Option<Table>,
}

/// A refused file: where, and what to change.
pub(crate) struct ParseError {
    pub line: Option<usize>,
    pub message: String,
}

pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, ParseError> {
    toml::from_str(text).map_err(|error| {
        let message = with_suggestion(error.message());
        let Some(span) = error.span() else {
            return ParseError { line: None, message };
        };
        let start = span.start.min(text.len());
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_text = text[line_start..].lines().next().unwrap_or_default();
        let column = text[line_start..start].chars().count();
        let width =
            text[start..span.end.clamp(start, text.len())].lines().next().unwrap_or_default().chars().count().max(1);
        let message = format!("{message}\n    {line_text}\n    {}{}", " ".repeat(column), "^".repeat(width));
        ParseError { line: Some(line_of(text, start)), message }
    })
}

/// Line of a byte offset, counted from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].split(|&byte| byte == b'\n').count()
}

/// Adds "did you mean" to serde's ``unknown field `x`, expected one of `a`, `b` ``.
fn with_suggestion(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let known_kind = message.starts_with("unknown field") || message.starts_with("unknown variant");
    let suggestion = known_kind.then(|| quoted.next()).flatten().and_then(|unknown| nearest(unknown, quoted));
    match suggestion {
        Some(known) => format!("{message}; did you mean `{known}`?"),
        None => message.to_owned(),
    }
}

/// A TOML value as JSON.
///
/// # Errors
/// For what JSON does not have: dates, infinities.
pub(crate) fn json(value: &toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => Value::from(text.as_str()),
        toml::Value::Integer(number) => Value::from(*number),
        toml::Value::Float(number) => Value::Number(
            serde_json::Number::from_f64(*number).ok_or_else(|| format!("{number} is not a JSON number"))?,
        ),
        toml::Value::Boolean(flag) => Value::from(*flag),
        toml::Value::Datetime(date) => {
            return Err(format!("{date} is a TOML date; put it in quotes"));
        }
        toml::Value::Array(items) => items.iter().map(json).collect::<Result<_, _>>()?,
        toml::Value::Table(table) => Value::Object(
            table.iter().map(|(key, value)| Ok((key.clone(), json(value)?))).collect::<Result<_, String>>()?,
        ),
    })
}
