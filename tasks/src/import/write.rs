//! Requests as intent files: a file per server, then one for those without a right call.

use std::fmt::Write as _;

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Call, Place, Request};
use crate::intent::IntentFile;

/// The files, and the requests that the format cannot hold, with the reason.
pub(super) fn intents(requests: &[Request], writer: &str) -> (Vec<IntentFile>, Vec<(Place, String)>) {
    let mut files = Vec::new();
    let mut unwritable = Vec::new();
    let mut servers: Vec<&Arc<str>> = Vec::new();
    for call in requests.iter().filter_map(|request| request.call.as_ref()) {
        if !servers.contains(&&call.server) {
            servers.push(&call.server);
        }
    }
    for server in servers {
        let mut text = header(writer) + &format!("server = {}\nwriter = {}\n", quoted(server), quoted(writer));
        let mut tools: Vec<&Arc<str>> = Vec::new();
        let of_server: Vec<(&Request, &Call)> = requests
            .iter()
            .filter_map(|request| Some((request, request.call.as_ref()?)))
            .filter(|(_, call)| call.server == *server)
            .collect();
        for (_, call) in &of_server {
            if !tools.contains(&&call.tool) {
                tools.push(&call.tool);
            }
        }
        for tool in tools {
            let _ = write!(text, "\n[[intent]]\ntool = {}\n", quoted(tool));
            for (request, call) in of_server.iter().filter(|(_, call)| call.tool == *tool) {
                match frame(request, call) {
                    Ok(frame) => text += &frame,
                    Err(cause) => unwritable.push((request.place.clone(), format!("{}: {cause}", request.id))),
                }
            }
        }
        files.push(IntentFile { name: format!("{server}-import.toml").into(), text: text.into() });
    }
    let abstain: Vec<&Request> = requests.iter().filter(|request| request.call.is_none()).collect();
    if !abstain.is_empty() {
        let mut text = header(writer) + &format!("suite = \"abstain\"\nwriter = {}\n", quoted(writer));
        for request in abstain {
            let _ = write!(
                text,
                "\n[[frame]]\nid = {}\nreason = \"no-tool\"\nvoice = \"{}\"\ntext = {}\n",
                quoted(&request.id),
                voice(&request.utterance),
                quoted(&escaped(&request.utterance))
            );
        }
        files.push(IntentFile { name: "abstain-import.toml".into(), text: text.into() });
    }
    (files, unwritable)
}

fn header(writer: &str) -> String {
    format!(
        "# Imported ({writer}). Strata and voices are guessed from the form of the rows; the golds are the source's.\n"
    )
}

fn frame(request: &Request, call: &Call) -> Result<String, String> {
    let mut frame = format!(
        "\n[[intent.frame]]\nid = {}\nstratum = \"{}\"\nvoice = \"{}\"\ntext = {}\ngold = {}\n",
        quoted(&request.id),
        call.stratum.name(),
        voice(&request.utterance),
        quoted(&escaped(&request.utterance)),
        table(&call.arguments)?
    );
    for (key, members) in [("match", &call.matchers), ("allow", &call.allow)] {
        if !members.is_empty() {
            let _ = writeln!(frame, "{key} = {}", table(members)?);
        }
    }
    if !call.twins.is_empty() {
        let arguments = table(&call.arguments)?;
        let allow = if call.allow.is_empty() { String::new() } else { format!(", allow = {}", table(&call.allow)?) };
        frame += "also = [\n";
        for (server, tool) in &call.twins {
            let _ = writeln!(
                frame,
                "  {{ server = {}, tool = {}, arguments = {arguments}{allow} }},",
                quoted(server),
                quoted(tool)
            );
        }
        frame += "]\n";
    }
    Ok(frame)
}

/// A guess: the voice is a label that no score depends on.
fn voice(utterance: &str) -> &'static str {
    if utterance.chars().count() > 300 {
        "long"
    } else if utterance.trim_end().ends_with('?') {
        "polite"
    } else {
        "terse"
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Literal braces, as intents write them.
fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// An inline table with every string's braces escaped, for whatever a frame reads as a template.
fn table(members: &Map<String, Value>) -> Result<String, String> {
    Ok(toml::Value::Table(toml_members(members)?).to_string())
}

fn toml_members(members: &Map<String, Value>) -> Result<toml::Table, String> {
    members.iter().map(|(key, value)| Ok((key.clone(), toml_value(value)?))).collect()
}

fn toml_value(value: &Value) -> Result<toml::Value, String> {
    Ok(match value {
        Value::Null => return Err("holds null, which an intent file has no form for".to_owned()),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => integer.into(),
            (None, Some(float)) if !number.is_u64() => float.into(),
            _ => return Err(format!("holds {number}, which is too large for an intent file")),
        },
        Value::String(text) => escaped(text).into(),
        Value::Array(items) => toml::Value::Array(items.iter().map(toml_value).collect::<Result<_, _>>()?),
        Value::Object(members) => toml::Value::Table(toml_members(members)?),
    })
}
