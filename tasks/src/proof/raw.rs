//! The tables' file format, read strictly.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::Value;
use toml::{Spanned, Table};

use super::variant::{ExtraCall, Variant};
use crate::{
    check::{Finding, FindingKind},
    intent::{IntentFile, raw},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    server: String,
    #[serde(default)]
    tool: Vec<RawTool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTool {
    name: Spanned<String>,
    #[serde(default)]
    accept: Vec<Spanned<RawRow>>,
    #[serde(default)]
    reject: Vec<Spanned<RawRow>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRow {
    why: String,
    fault: Option<Fault>,
    #[serde(default)]
    frames: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    set: Table,
    #[serde(default)]
    add: Table,
    #[serde(default)]
    null: Vec<String>,
    #[serde(default)]
    replace: BTreeMap<String, [String; 2]>,
    #[serde(default)]
    drop: Vec<String>,
    #[serde(default)]
    reverse: Vec<String>,
    #[serde(default)]
    float: Vec<String>,
    #[serde(default)]
    text: Vec<String>,
    #[serde(default)]
    bump: Vec<String>,
    #[serde(default)]
    reorder: bool,
    #[serde(default)]
    twice: bool,
    #[serde(default)]
    none: bool,
    server: Option<String>,
    tool: Option<String>,
    with: Option<RawCall>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCall {
    server: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    arguments: Table,
}

/// Why a call is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fault {
    /// An argument that the request asks for is left out.
    Missing,
    /// An argument that it does not ask for is given.
    Extra,
    /// An argument has another value.
    Value,
    /// A list has another number of elements.
    Length,
    /// The tool's own schema refuses the arguments.
    Invalid,
    /// Another tool.
    Tool,
    /// No call, or several different ones.
    Calls,
}

impl Fault {
    /// Its name, as the tables write it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Extra => "extra",
            Self::Value => "value",
            Self::Length => "length",
            Self::Invalid => "invalid",
            Self::Tool => "tool",
            Self::Calls => "calls",
        }
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// Why the call is as good, or wrong.
    pub why: String,
    /// What is wrong with it; `None` in a row of accepted calls.
    pub fault: Option<Fault>,
    /// Frames (the last part of their id) that the row is for; empty: all that it fits.
    pub frames: Vec<String>,
    /// Frames that it is not for.
    pub except: Vec<String>,
    /// How the call is made from the gold.
    pub variant: Variant,
    /// Line in the file.
    pub line: usize,
}

/// The rows of one tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolTable {
    /// Rows of calls that must be accepted.
    pub accept: Vec<Row>,
    /// Rows of calls that must be rejected.
    pub reject: Vec<Row>,
    /// Name of the file, with its folder.
    file: Arc<str>,
    line: usize,
}

impl ToolTable {
    /// A finding at a row, or at the tool's name.
    pub(super) fn problem(&self, row: Option<&Row>, message: String) -> Finding {
        let line = row.map_or(self.line, |row| row.line);
        Finding::error(FindingKind::MatcherTable, &self.file, Some(line), None, message)
    }
}

/// Reads one file into `tools`.
pub(super) fn read(
    file: &IntentFile,
    tools: &mut BTreeMap<(Arc<str>, Arc<str>), ToolTable>,
    problems: &mut Vec<Finding>,
) {
    let name: Arc<str> = format!("matchers/{}", file.name).into();
    let mut problem =
        |line, message| problems.push(Finding::error(FindingKind::MatcherTable, &name, line, None, message));
    let parsed: RawFile = match raw::parse(&file.text) {
        Ok(parsed) => parsed,
        Err(error) => return problem(error.line, error.message),
    };
    for tool in parsed.tool {
        let line = raw::line_of(&file.text, tool.name.span().start);
        let mut table = ToolTable { accept: Vec::new(), reject: Vec::new(), file: Arc::clone(&name), line };
        for (rows, wants_fault, into) in
            [(tool.accept, false, &mut table.accept), (tool.reject, true, &mut table.reject)]
        {
            for spanned in rows {
                let line = raw::line_of(&file.text, spanned.span().start);
                match row(spanned.into_inner(), wants_fault, line) {
                    Ok(row) => into.push(row),
                    Err(message) => problem(Some(line), message),
                }
            }
        }
        let key = (parsed.server.as_str().into(), tool.name.get_ref().as_str().into());
        if tools.insert(key, table).is_some() {
            problem(Some(line), format!("{} has a table already; put the rows together", tool.name.get_ref()));
        }
    }
}

fn row(row: RawRow, wants_fault: bool, line: usize) -> Result<Row, String> {
    match (row.fault, wants_fault) {
        (None, true) => {
            return Err("a rejected call needs a fault: missing, extra, value, length, invalid, tool or calls".into());
        }
        (Some(_), false) => return Err("an accepted call has no fault; move the row to reject".into()),
        _ => {}
    }
    let variant = Variant {
        set: values(&row.set)?,
        add: values(&row.add)?,
        null: row.null,
        replace: row.replace.into_iter().map(|(place, [from, to])| (place, from, to)).collect(),
        drop: row.drop,
        reverse: row.reverse,
        float: row.float,
        text: row.text,
        bump: row.bump,
        reorder: row.reorder,
        twice: row.twice,
        none: row.none,
        server: row.server,
        tool: row.tool,
        with: match row.with {
            Some(call) => Some(ExtraCall { server: call.server, tool: call.tool, arguments: values(&call.arguments)? }),
            None => None,
        },
    };
    Ok(Row { why: row.why, fault: row.fault, frames: row.frames, except: row.except, variant, line })
}

fn values(table: &Table) -> Result<Vec<(String, Value)>, String> {
    table.iter().map(|(place, value)| Ok((place.clone(), raw::json(value)?))).collect()
}
