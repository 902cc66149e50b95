//! Operating an arm the way a careful model would: by what the schemas of its meta tools ask for, never by its name.

use serde_json::{Map, Value};

use crate::{
    arms::{
        ArmSession, CallOutcome, ToolCall,
        definitions::Definitions,
        names::{Named, Place},
    },
    surface::Surface,
};

/// Arguments that name a server.
const SERVERS: [&str; 3] = ["server", "server_name", "family"];
/// Arguments that name a tool, or several in a list.
const TOOLS: [&str; 7] = ["tool_name", "tool", "name", "command_name", "names", "tool_names", "command_names"];

/// Calls an upstream tool: as shown, else after it was asked for, else through a meta tool that forwards. `None` where
/// there is no way.
pub(super) fn reach(
    session: &mut dyn ArmSession,
    definitions: &Definitions,
    place: Place,
    arguments: &Map<String, Value>,
) -> Option<CallOutcome> {
    let name = definitions.names.tool(place);
    if session.surface().tool(name).is_none() {
        bring_out(session, definitions, place);
    }
    session.begin_turn();
    if session.surface().tool(name).is_some() {
        return Some(session.call(&ToolCall { name: name.to_owned(), arguments: arguments.clone() }));
    }
    let forwarding = metas(session.surface(), definitions, place).into_iter().find(|meta| meta.inner.is_some())?;
    let with = forwarding.arguments(definitions, place, None, Some(arguments));
    Some(session.call(&ToolCall { name: forwarding.name, arguments: with }))
}

/// Asks the meta tools that inform for a tool: by its name, and, where a search took the name for something else, by its
/// description too. True where one of them says that the surface changed.
pub(super) fn bring_out(session: &mut dyn ArmSession, definitions: &Definitions, place: Place) -> bool {
    let name = definitions.names.tool(place);
    let upstream = &definitions.tool(place).upstream;
    let words = format!("{} {}", upstream.name, upstream.description.as_deref().unwrap_or_default());
    let mut changed = false;
    let mut informing = metas(session.surface(), definitions, place);
    informing.retain(|meta| meta.inner.is_none() && session.informs(&meta.name));
    for meta in informing {
        for query in [&*upstream.name, &words] {
            session.begin_turn();
            let arguments = meta.arguments(definitions, place, Some(query), None);
            let outcome = session.call(&ToolCall { name: meta.name.clone(), arguments });
            let now = matches!(outcome, CallOutcome::Meta { is_error: false, surface_changed: true, .. });
            changed |= now;
            if now && session.surface().tool(name).is_some() {
                return true;
            }
            // A list that a search leaves alone is left alone by other words too.
            if !now || meta.query.is_none() {
                break;
            }
        }
    }
    changed
}

/// A meta tool, read off its schema.
struct MetaTool {
    name: String,
    /// It belongs to the wanted tool's server.
    own: bool,
    server: Option<String>,
    /// Its argument that names a tool, and whether that is a list.
    tool: Option<(String, bool)>,
    /// Its argument for words to search by.
    query: Option<String>,
    /// Its argument that takes the tool's arguments, where it forwards.
    inner: Option<String>,
    /// Arguments that ask for schemas.
    flags: Vec<String>,
}

impl MetaTool {
    /// Reads a schema; `None` for a tool that asks for nothing that leads to a tool.
    fn read(name: &str, own: bool, schema: &Value) -> Option<Self> {
        let mut meta =
            Self { name: name.to_owned(), own, server: None, tool: None, query: None, inner: None, flags: Vec::new() };
        let required = |key: &str| {
            schema.get("required").and_then(Value::as_array).is_some_and(|all| all.iter().any(|one| one == key))
        };
        for (key, property) in schema.get("properties").and_then(Value::as_object)? {
            match property.get("type").and_then(Value::as_str) {
                Some("string") if SERVERS.contains(&key.as_str()) => meta.server = Some(key.clone()),
                Some(kind @ ("string" | "array")) if TOOLS.contains(&key.as_str()) => {
                    meta.tool = Some((key.clone(), kind == "array"));
                }
                Some("string") if required(key) && meta.query.is_none() => meta.query = Some(key.clone()),
                Some("object") if meta.inner.is_none() => meta.inner = Some(key.clone()),
                Some("boolean") if key.contains("schema") => meta.flags.push(key.clone()),
                _ => {}
            }
        }
        let leads = meta.tool.is_some() || meta.query.is_some() || meta.server.is_some();
        leads.then_some(meta)
    }

    /// A call of it about the tool at `place`.
    fn arguments(
        &self,
        definitions: &Definitions,
        place: Place,
        query: Option<&str>,
        inner: Option<&Map<String, Value>>,
    ) -> Map<String, Value> {
        let mut arguments = Map::new();
        if let Some(key) = &self.server {
            arguments.insert(key.clone(), Value::from(&*definitions.servers[place.server].name));
        }
        if let Some((key, list)) = &self.tool {
            // Where the server is known, the tool goes by its own name.
            let name = if self.own || self.server.is_some() {
                &*definitions.tool(place).upstream.name
            } else {
                definitions.names.tool(place)
            };
            arguments.insert(key.clone(), if *list { Value::from(vec![name]) } else { Value::from(name) });
        }
        if let (Some(key), Some(query)) = (&self.query, query) {
            arguments.insert(key.clone(), Value::from(query));
        }
        arguments.extend(self.flags.iter().map(|key| (key.clone(), Value::Bool(true))));
        if let (Some(key), Some(inner)) = (&self.inner, inner) {
            arguments.insert(key.clone(), Value::Object(inner.clone()));
        }
        arguments
    }
}

/// The meta tools that serve a tool, its server's own first.
fn metas(surface: &Surface, definitions: &Definitions, place: Place) -> Vec<MetaTool> {
    let mut found: Vec<MetaTool> = Vec::new();
    for tool in surface.tools() {
        let own = match definitions.names.get(tool.name()) {
            Some(Named::Tool(_)) => continue,
            Some(Named::Meta(server, _)) if server != place.server => continue,
            Some(Named::Meta(..)) => true,
            None => false,
        };
        let schema: Value = serde_json::from_str(tool.schema().get()).unwrap_or_default();
        found.extend(MetaTool::read(tool.name(), own, &schema));
    }
    found.sort_by_key(|meta| !meta.own);
    found
}
