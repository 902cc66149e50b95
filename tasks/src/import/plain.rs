//! Tables of requests over catalogs that are already there: CSV or JSON Lines with `utterance, server, tool, arguments`.
//!
//! `server` and `tool` empty means that no call is right. `arguments` is a JSON object; empty means none.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Call, Imported, Place, Refusal, Request, Source, Summary, finish, malformed, stratum};
use crate::{catalog::Catalogs, check::nearest, mark::without_mark};

const COLUMNS: [&str; 4] = ["utterance", "server", "tool", "arguments"];

/// The form of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Comma-separated values with a header line (RFC 4180).
    Csv,
    /// One JSON object per line.
    JsonLines,
}

/// One row, its four fields still text or JSON.
#[derive(Default)]
struct Row {
    utterance: String,
    server: String,
    tool: String,
    arguments: Map<String, Value>,
}

/// Imports requests over `catalogs`; `writer` names who wrote them.
pub fn import(form: Form, sources: &[Source], catalogs: &Catalogs, writer: &str) -> Imported {
    let mut summary = Summary::default();
    let mut requests = Vec::new();
    for source in sources {
        let file: Arc<str> = source.name.as_str().into();
        let stem = std::path::Path::new(&source.name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let rows = match form {
            Form::Csv => csv_rows(&source.bytes),
            Form::JsonLines => json_rows(&source.bytes),
        };
        for (line, row) in rows {
            summary.rows += 1;
            let place = Place { file: Arc::clone(&file), line };
            match row.and_then(|row| request(row, format!("{stem}-{line}"), place.clone(), catalogs)) {
                Ok(request) => requests.push(request),
                Err(refusal) => summary.refuse(&place, refusal),
            }
        }
    }
    finish(catalogs.clone(), requests, writer, summary)
}

type Rows = Vec<(usize, Result<Row, Refusal>)>;

fn csv_rows(bytes: &[u8]) -> Rows {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let columns = match reader.headers().map_err(|error| error.to_string()).and_then(columns) {
        Ok(columns) => columns,
        Err(cause) => return vec![(1, Err(malformed(cause)))],
    };
    let mut rows = Vec::new();
    let mut last_line = 1;
    for record in reader.records() {
        match record {
            Ok(record) => {
                last_line = record.position().map_or(last_line, line_of);
                rows.push((last_line, csv_row(&record, &columns)));
            }
            Err(error) => {
                last_line = error.position().map_or(last_line, line_of);
                rows.push((last_line, Err(malformed(error.to_string()))));
            }
        }
    }
    rows
}

fn line_of(position: &csv::Position) -> usize {
    usize::try_from(position.line()).unwrap_or(usize::MAX)
}

/// Where each of [`COLUMNS`] stands in the header, and how many columns it has.
fn columns(header: &csv::StringRecord) -> Result<([usize; 4], usize), String> {
    let names: Vec<&str> = header.iter().map(|name| name.trim().trim_start_matches('\u{feff}')).collect();
    if let Some(unknown) = names.iter().find(|name| !COLUMNS.contains(name)) {
        let hint = nearest(unknown, COLUMNS.into_iter()).map(|known| format!("; did you mean {known}?"));
        return Err(format!(
            "unknown column {unknown:?}{}; the columns are {}",
            hint.unwrap_or_default(),
            COLUMNS.join(", ")
        ));
    }
    let mut places = [0; 4];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        *place = names
            .iter()
            .position(|name| *name == column)
            .ok_or_else(|| format!("the header has no column {column}; it needs {}", COLUMNS.join(", ")))?;
    }
    Ok((places, names.len()))
}

fn csv_row(record: &csv::StringRecord, (places, width): &([usize; 4], usize)) -> Result<Row, Refusal> {
    if record.len() != *width {
        return Err(malformed(format!(
            "has {} fields where the header has {width}; quote fields that hold commas, and double quotes inside",
            record.len()
        )));
    }
    let field = |at: usize| record.get(places[at]).unwrap_or_default().trim();
    let arguments = match field(3) {
        "" => Map::new(),
        text => serde_json::from_str(text)
            .map_err(|error| malformed(format!("arguments are not a JSON object: {error}: {text}")))?,
    };
    Ok(Row { utterance: field(0).into(), server: field(1).into(), tool: field(2).into(), arguments })
}

fn json_rows(bytes: &[u8]) -> Rows {
    let lines = without_mark(bytes).split(|&byte| byte == b'\n').enumerate();
    lines
        .filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace))
        .map(|(at, line)| (at + 1, json_row(line)))
        .collect()
}

fn json_row(line: &[u8]) -> Result<Row, Refusal> {
    let members: Map<String, Value> =
        serde_json::from_slice(line).map_err(|error| malformed(format!("is not a JSON object: {error}")))?;
    let mut row = Row::default();
    for (key, value) in members {
        match (key.as_str(), value) {
            ("utterance", Value::String(text)) => row.utterance = text.trim().into(),
            ("server", Value::String(text)) => row.server = text,
            ("tool", Value::String(text)) => row.tool = text,
            ("arguments", Value::Object(arguments)) => row.arguments = arguments,
            ("server" | "tool" | "arguments", Value::Null) => {}
            ("arguments", other) => return Err(malformed(format!("arguments are not an object: {other}"))),
            ("utterance" | "server" | "tool", other) => {
                return Err(malformed(format!("{key} is not a string: {other}")));
            }
            (unknown, _) => {
                let hint = nearest(unknown, COLUMNS.into_iter()).map(|known| format!("; did you mean {known}?"));
                return Err(malformed(format!(
                    "unknown member {unknown:?}{}; the members are {}",
                    hint.unwrap_or_default(),
                    COLUMNS.join(", ")
                )));
            }
        }
    }
    Ok(row)
}

fn request(row: Row, id: String, place: Place, catalogs: &Catalogs) -> Result<Request, Refusal> {
    if row.utterance.is_empty() {
        return Err(malformed("has no utterance"));
    }
    let call = match (row.server.as_str(), row.tool.as_str()) {
        ("", "") if row.arguments.is_empty() => None,
        ("", "") => return Err(malformed("has arguments, but no server and tool")),
        ("", _) => return Err(malformed("has a tool, but no server")),
        (_, "") => return Err(malformed("has a server, but no tool; leave both empty if no call is right")),
        (server, tool) => Some(call(server, tool, row.arguments, catalogs)?),
    };
    Ok(Request { id, place, utterance: row.utterance, call, own: Vec::new() })
}

fn call(server: &str, tool: &str, arguments: Map<String, Value>, catalogs: &Catalogs) -> Result<Call, Refusal> {
    let hint = |unknown: &str, known: Vec<&str>| {
        nearest(unknown, known.into_iter()).map(|known| format!("; did you mean {known}?")).unwrap_or_default()
    };
    let catalog = catalogs.get(server).ok_or_else(|| {
        let known = catalogs.catalogs.iter().map(|catalog| &*catalog.server).collect();
        malformed(format!("there is no catalog {server}{}", hint(server, known)))
    })?;
    let definition = catalog.tool(tool).ok_or_else(|| {
        let known = catalog.tools.iter().map(|tool| &*tool.name).collect();
        malformed(format!("catalog {server} lists no tool {tool}{}", hint(tool, known)))
    })?;
    if let Some(properties) = definition.input_schema.get("properties").and_then(Value::as_object)
        && let Some(unknown) = arguments.keys().find(|name| !properties.contains_key(*name))
    {
        let known = properties.keys().map(String::as_str).collect();
        return Err(malformed(format!("{tool} has no argument {unknown}{}", hint(unknown, known))));
    }
    definition
        .validate(&arguments)
        .map_err(|why| malformed(format!("the arguments break the schema of {tool}: {why}")))?;
    Ok(Call {
        server: Arc::clone(&catalog.server),
        tool: Arc::clone(&definition.name),
        stratum: stratum(&arguments, &definition.input_schema, 1),
        arguments,
        matchers: Map::new(),
        allow: Map::new(),
        twins: Vec::new(),
    })
}
