//! The Berkeley Function-Calling Leaderboard's files: questions with their function lists, and possible answers.
//!
//! Every question brings its own functions. Here all of them are listed together, as one client with one set of servers
//! would show them: functions of one name that are defined differently go to different catalogs (`bfcl`, `bfcl-2`, …),
//! and where such a twin takes the gold's arguments, calling it is right too. The board ignores case and punctuation in
//! strings; here case is ignored where one string is accepted, and a list of accepted values is taken literally.

mod answers;
mod types;

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Call, Imported, Place, Refusal, Request, Source, Summary, finish, malformed};
use crate::{
    catalog::{Catalog, Catalogs, ToolDef},
    error::TasksError,
    mark::without_mark,
};

/// Name of the first catalog.
const SERVER: &str = "bfcl";

#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "the leaderboard's own names")]
struct Question {
    id: String,
    question: Vec<Vec<Message>>,
    function: Vec<Function>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Value,
}

#[derive(Deserialize)]
struct Answer {
    id: String,
    ground_truth: Vec<Map<String, Value>>,
}

/// A question with its place, and whatever answers it.
struct Row {
    place: Place,
    question: Question,
}

/// A question that can be a task: its functions as tools.
struct Parsed {
    utterance: String,
    tools: Vec<Arc<ToolDef>>,
    call: Option<answers::Accepted>,
}

/// Imports questions and answers; which file holds what is told by the members of each row.
///
/// # Errors
/// Only if the functions do not make up a catalog, which would be a bug of this importer: rows are checked one by one.
pub fn import(sources: &[Source]) -> Result<Imported, TasksError> {
    let mut summary = Summary::default();
    let (rows, mut answers) = read(sources, &mut summary);
    let mut servers = Servers::default();
    let mut requests = Vec::new();
    for Row { place, question } in rows {
        let answer = answers.remove(&question.id).map(|(_, answer)| answer);
        summary.answer_rows += usize::from(answer.is_some());
        let mut dropped = Vec::new();
        match parse(&question, answer, &mut dropped) {
            Ok(parsed) => {
                summary.dropped_values.extend(dropped.into_iter().map(|note| place.note(note)));
                requests.push(servers.request(question.id, place, parsed));
            }
            Err(Refusal::Malformed(cause)) => {
                summary.refuse(&place, malformed(format!("{}: {cause}", question.id)));
            }
            Err(Refusal::Unsupported(cause)) => {
                summary.refuse(&place, Refusal::Unsupported(format!("{}: {cause}", question.id)));
            }
        }
    }
    for (id, (place, _)) in answers {
        summary.refuse(&place, malformed(format!("{id}: answers a question that none of the files has")));
    }
    let catalogs = servers.catalogs()?;
    for call in requests.iter_mut().filter_map(|request| request.call.as_mut()) {
        call.twins = twins(call, &catalogs);
    }
    Ok(finish(catalogs, requests, SERVER, summary))
}

/// Questions in order, and answers by id.
fn read(sources: &[Source], summary: &mut Summary) -> (Vec<Row>, BTreeMap<String, (Place, Answer)>) {
    let mut rows: Vec<Row> = Vec::new();
    let mut answers: BTreeMap<String, (Place, Answer)> = BTreeMap::new();
    let mut ids: BTreeMap<String, Place> = BTreeMap::new();
    for source in sources {
        let file: Arc<str> = source.name.as_str().into();
        for (at, line) in without_mark(&source.bytes).split(|&byte| byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            summary.rows += 1;
            let place = Place { file: Arc::clone(&file), line: at + 1 };
            let row: Value = match serde_json::from_slice(line) {
                Ok(row) => row,
                Err(error) => {
                    summary.refuse(&place, malformed(format!("is not JSON: {error}")));
                    continue;
                }
            };
            let kind = |error: serde_json::Error| malformed(format!("is no row of this leaderboard: {error}"));
            if row.get("ground_truth").is_some() {
                match serde_json::from_value::<Answer>(row).map_err(kind) {
                    Ok(answer) => match answers.get(&answer.id) {
                        Some((first, _)) => {
                            let message = format!("{}: was answered in {}:{}", answer.id, first.file, first.line);
                            summary.refuse(&place, malformed(message));
                        }
                        None => drop(answers.insert(answer.id.clone(), (place, answer))),
                    },
                    Err(refusal) => summary.refuse(&place, refusal),
                }
            } else {
                match serde_json::from_value::<Question>(row).map_err(kind) {
                    Ok(question) => {
                        if let Some(first) = ids.get(&question.id) {
                            let message = format!("{}: was asked in {}:{}", question.id, first.file, first.line);
                            summary.refuse(&place, malformed(message));
                        } else {
                            ids.insert(question.id.clone(), place.clone());
                            rows.push(Row { place, question });
                        }
                    }
                    Err(refusal) => summary.refuse(&place, refusal),
                }
            }
        }
    }
    (rows, answers)
}

fn parse(question: &Question, answer: Option<Answer>, dropped: &mut Vec<String>) -> Result<Parsed, Refusal> {
    let utterance = utterance(&question.question)?;
    let tools = tools(&question.function)?;
    let call = match answer {
        Some(answer) => Some(answers::accepted(&answer.ground_truth, &tools, dropped)?),
        None if question.id.contains("irrelevance") => None,
        None => return Err(malformed("has no possible answer in any of the files")),
    };
    Ok(Parsed { utterance, tools, call })
}

fn utterance(turns: &[Vec<Message>]) -> Result<String, Refusal> {
    let [turn] = turns else {
        let message = format!("has {} turns; a task of the tool suite has one", turns.len());
        return Err(Refusal::Unsupported(message));
    };
    let [message] = turn.as_slice() else {
        let roles: Vec<&str> = turn.iter().map(|message| message.role.as_str()).collect();
        let message = format!("its turn has the messages {}; a task has one of the user", roles.join(", "));
        return Err(Refusal::Unsupported(message));
    };
    if message.role != "user" {
        return Err(malformed(format!("its message is by {:?}, not by the user", message.role)));
    }
    if message.content.trim().is_empty() {
        return Err(malformed("says nothing"));
    }
    Ok(message.content.trim().to_owned())
}

/// The functions as tools, through the catalog reader, so that whatever it refuses is refused here.
fn tools(functions: &[Function]) -> Result<Vec<Arc<ToolDef>>, Refusal> {
    let mut listed = Vec::new();
    for function in functions {
        let schema = types::input_schema(&function.parameters)
            .map_err(|cause| malformed(format!("function {}: {cause}", function.name)))?;
        listed.push(json!({ "name": function.name, "description": function.description, "inputSchema": schema }));
    }
    let catalog = Catalog::parse(SERVER, "its function list", catalog_file(&listed).into())
        .map_err(|error| malformed(error.to_string()))?;
    Ok(catalog.tools)
}

fn catalog_file<T: serde::Serialize>(tools: &[T]) -> Vec<u8> {
    let mut file = json!({ "initialize": {}, "tools_list_pages": [{ "tools": tools }] }).to_string();
    file.push('\n');
    file.into_bytes()
}

/// Tools of the same name in other catalogs that take the same arguments.
fn twins(call: &Call, catalogs: &Catalogs) -> Vec<(Arc<str>, Arc<str>)> {
    let same = |catalog: &&Catalog| {
        catalog.server != call.server
            && catalog.tool(&call.tool).is_some_and(|tool| {
                let has =
                    |name: &String| tool.input_schema.pointer("/properties").is_some_and(|all| all.get(name).is_some());
                call.arguments.keys().chain(call.allow.keys()).all(has) && tool.validate(&call.arguments).is_ok()
            })
    };
    catalogs.catalogs.iter().filter(same).map(|catalog| (Arc::clone(&catalog.server), Arc::clone(&call.tool))).collect()
}

/// Catalogs in the making: a definition goes to the first one whose tool of that name is the same, or that has none.
#[derive(Default)]
struct Servers {
    servers: Vec<Vec<Arc<ToolDef>>>,
}

impl Servers {
    fn request(&mut self, id: String, place: Place, parsed: Parsed) -> Request {
        let own: Vec<(Arc<str>, Arc<str>)> =
            parsed.tools.iter().map(|tool| (self.place(tool), Arc::clone(&tool.name))).collect();
        let listed = own.len();
        let call = parsed.call.map(|accepted| {
            let definition = &parsed.tools[accepted.tool];
            Call {
                server: Arc::clone(&own[accepted.tool].0),
                tool: Arc::clone(&definition.name),
                stratum: super::stratum(&accepted.arguments, &definition.input_schema, listed),
                arguments: accepted.arguments,
                matchers: accepted.matchers,
                allow: accepted.allow,
                twins: Vec::new(),
            }
        });
        Request { id, place, utterance: parsed.utterance, call, own }
    }

    /// Name of the catalog that lists this definition.
    fn place(&mut self, tool: &Arc<ToolDef>) -> Arc<str> {
        let fits = |server: &Vec<Arc<ToolDef>>| {
            server.iter().find(|other| other.name == tool.name).is_none_or(|other| other == tool)
        };
        let at = self.servers.iter().position(fits).unwrap_or_else(|| {
            self.servers.push(Vec::new());
            self.servers.len() - 1
        });
        if !self.servers[at].iter().any(|other| other.name == tool.name) {
            self.servers[at].push(Arc::clone(tool));
        }
        server_name(at)
    }

    fn catalogs(&self) -> Result<Catalogs, TasksError> {
        let files = self.servers.iter().enumerate().map(|(at, tools)| {
            let raw: Vec<_> = tools.iter().map(|tool| &tool.raw).collect();
            let name = server_name(at);
            (name.to_string(), format!("{name}.json"), catalog_file(&raw).into())
        });
        Catalogs::from_files(files.collect(), &[])
    }
}

fn server_name(at: usize) -> Arc<str> {
    if at == 0 { SERVER.into() } else { format!("{SERVER}-{}", at + 1).into() }
}
