//! Requests that somebody else wrote, turned into catalogs and intents.
//!
//! Every row of a source ends up in one of three places, and [`Summary`] counts them: a frame, a row that the tool suite
//! has no form for, with the reason, or a malformed row, with its file and line.

mod bfcl;
mod plain;
mod rivals;
#[cfg(test)]
mod tests;
mod write;

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::Serialize;
use serde_json::{Map, Value};

pub use self::{
    bfcl::import as bfcl,
    plain::{Form, import as plain},
};
use crate::{catalog::Catalogs, intent::IntentFile, task::Stratum};

/// A file to import.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name, as messages say it.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What an import made.
#[derive(Debug)]
pub struct Imported {
    /// The catalogs that the requests are asked over.
    pub catalogs: Catalogs,
    /// The requests as intent files.
    pub intents: Vec<IntentFile>,
    /// What became of every row.
    pub summary: Summary,
}

/// What became of the rows of the sources. `rows` is the sum of the next four.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Rows read, blank lines aside.
    pub rows: usize,
    /// Requests with a right call.
    pub tool_frames: usize,
    /// Requests for which no call is right.
    pub abstain_frames: usize,
    /// Rows that hold accepted answers and were joined with their question.
    pub answer_rows: usize,
    /// Rows that were not imported: `unsupported` and `malformed` together.
    pub left_out: usize,
    /// Different tools.
    pub tools: usize,
    /// Catalogs; more than one where two sources define one name differently.
    pub servers: usize,
    /// Rows that are well-formed, but that the tool suite has no form for.
    pub unsupported: Vec<RowNote>,
    /// Rows that are not what the source's format says.
    pub malformed: Vec<RowNote>,
    /// Accepted values that were dropped since they break the tool's own schema.
    pub dropped_values: Vec<RowNote>,
    /// Requests that some tool of another row fits better by words (BM25 over names and descriptions) than any tool of
    /// their own row: all tools of an import are shown together, so these golds want a reader.
    pub rivals: Vec<RowNote>,
}

/// Something about one row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowNote {
    /// The file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What there is to say.
    pub message: String,
}

impl fmt::Display for RowNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// Where a row stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    file: Arc<str>,
    line: usize,
}

impl Place {
    fn note(&self, message: impl Into<String>) -> RowNote {
        RowNote { file: self.file.to_string(), line: self.line, message: message.into() }
    }
}

/// Why a row becomes no frame.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    /// Not what the format says.
    Malformed(String),
    /// Fine, but no task of the tool suite.
    Unsupported(String),
}

fn malformed(message: impl Into<String>) -> Refusal {
    Refusal::Malformed(message.into())
}

/// A row that became a request.
#[derive(Debug)]
struct Request {
    id: String,
    place: Place,
    utterance: String,
    /// `None`: no call is right.
    call: Option<Call>,
    /// Tools of the row's own list, as `(server, tool)`; empty where the source has no such list.
    own: Vec<(Arc<str>, Arc<str>)>,
}

/// The right call of a request.
#[derive(Debug, Clone)]
struct Call {
    server: Arc<str>,
    tool: Arc<str>,
    stratum: Stratum,
    arguments: Map<String, Value>,
    /// Matchers by argument path.
    matchers: Map<String, Value>,
    /// Arguments that may also be given, with their accepted values.
    allow: Map<String, Value>,
    /// Tools that serve as well with the same arguments.
    twins: Vec<(Arc<str>, Arc<str>)>,
}

impl Summary {
    fn refuse(&mut self, place: &Place, refusal: Refusal) {
        match refusal {
            Refusal::Malformed(message) => self.malformed.push(place.note(message)),
            Refusal::Unsupported(message) => self.unsupported.push(place.note(message)),
        }
    }
}

/// Takes out requests that say the same as an earlier one and want another call, writes the rest, and counts.
fn finish(catalogs: Catalogs, requests: Vec<Request>, writer: &str, mut summary: Summary) -> Imported {
    let mut golds: BTreeMap<String, (String, Vec<Value>)> = BTreeMap::new();
    let mut kept = Vec::new();
    for request in requests {
        let gold: Vec<Value> = request
            .call
            .iter()
            .map(|call| serde_json::json!([&*call.server, &*call.tool, call.arguments.clone()]))
            .collect();
        match golds.get(&request.utterance) {
            Some((first, other)) if *other != gold => {
                let message = format!("{}: says the same as {first}, but wants another call", request.id);
                summary.unsupported.push(request.place.note(message));
                continue;
            }
            Some(_) => {}
            None => drop(golds.insert(request.utterance.clone(), (request.id.clone(), gold))),
        }
        kept.push(request);
    }
    let (intents, unwritable) = write::intents(&kept, writer);
    for (place, message) in unwritable {
        summary.unsupported.push(place.note(message));
        kept.retain(|request| request.place != place);
    }
    summary.tool_frames = kept.iter().filter(|request| request.call.is_some()).count();
    summary.abstain_frames = kept.len() - summary.tool_frames;
    summary.left_out = summary.unsupported.len() + summary.malformed.len();
    summary.tools = catalogs.tool_count();
    summary.servers = catalogs.catalogs.len();
    summary.rivals = rivals::find(&kept, &catalogs);
    Imported { catalogs, intents, summary }
}

/// What makes a call hard, as far as its form tells: arrays of objects, a choice among listed tools, an argument that
/// the schema does not require.
fn stratum(arguments: &Map<String, Value>, schema: &Value, listed: usize) -> Stratum {
    let nested =
        |value: &Value| value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_object));
    let required = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|other| other == name))
    };
    if arguments.values().any(nested) {
        Stratum::Nested
    } else if listed > 1 {
        Stratum::Confusable
    } else if arguments.keys().any(|name| !required(name)) {
        Stratum::Optional
    } else {
        Stratum::Plain
    }
}
