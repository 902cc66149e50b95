//! Operating an arm the way a careful model would: by what the schemas of its meta tools ask for, never by its name.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
    sync::Arc,
};

use serde_json::{Map, Value};

use crate::{
    arms::{
        Arm, ArmError, ArmSession, CallOutcome, Scope, ToolCall,
        definitions::Definitions,
        names::{Named, Place},
    },
    surface::{ShownTool, Surface},
};

/// Arguments that name a server.
const SERVERS: [&str; 3] = ["server", "server_name", "family"];
/// Arguments that name a tool, or several in a list.
const TOOLS: [&str; 7] = ["tool_name", "tool", "name", "command_name", "names", "tool_names", "command_names"];

/// Sessions of one arm, operated. What does not hang on the tool that is looked for is looked at once.
pub(super) struct Explorer<'a> {
    arm: &'a dyn Arm,
    definitions: &'a Definitions,
    /// The list at the start of a session, and the upstream tools on it.
    initial: Arc<Surface>,
    shown: HashSet<Place>,
    /// Its meta tools: by server, and those of no single one; and by server the list that serves its tools.
    own: HashMap<usize, Vec<Arc<ShownTool>>>,
    shared: Vec<Arc<ShownTool>>,
    metas: HashMap<usize, Rc<[MetaTool]>>,
    /// Meta tools that ask for a server alone and change nothing for it at the start of a session.
    idle: HashSet<(usize, String)>,
    /// A session in which one call brought out what a server has, and the upstream tools that are shown in it.
    kept: Option<(Box<dyn ArmSession>, HashSet<Place>)>,
}

/// What came of asking for a tool.
struct Asked {
    /// A meta tool said that the surface changed.
    changed: bool,
    /// It was not asked for this tool alone.
    for_all: bool,
}

impl<'a> Explorer<'a> {
    /// An explorer of an arm whose sessions start with this list.
    pub(super) fn new(arm: &'a dyn Arm, definitions: &'a Definitions, initial: Arc<Surface>) -> Self {
        let (mut own, mut shared): (HashMap<usize, Vec<_>>, _) = (HashMap::new(), Vec::new());
        for tool in initial.tools() {
            match definitions.names.get(tool.name()) {
                Some(Named::Tool(_)) => {}
                Some(Named::Meta(server, _)) => own.entry(server).or_default().push(Arc::clone(tool)),
                None => shared.push(Arc::clone(tool)),
            }
        }
        let shown = upstream(&initial, definitions);
        Self { arm, definitions, initial, shown, own, shared, metas: HashMap::new(), idle: HashSet::new(), kept: None }
    }

    /// Calls an upstream tool in a session that has seen no other call: as shown, else after it was asked for, else
    /// through a meta tool that forwards. Where one call brings out what a server has, its other tools are called in the
    /// same session. `None` where there is no way.
    pub(super) fn reach(
        &mut self,
        place: Place,
        arguments: &Map<String, Value>,
    ) -> Result<Option<CallOutcome>, ArmError> {
        let call = || ToolCall { name: self.definitions.names.tool(place).to_owned(), arguments: arguments.clone() };
        if let Some((session, _)) = self.kept.as_mut().filter(|(_, shown)| shown.contains(&place)) {
            session.begin_turn();
            return Ok(Some(session.call(&call())));
        }
        let call = call();
        let mut session = self.arm.open(Scope::Catalogs)?;
        let asked = if self.shown.contains(&place) {
            Asked { changed: false, for_all: false }
        } else {
            self.ask(session.as_mut(), place, true)
        };
        session.begin_turn();
        if self.is_shown(session.surface(), place) {
            let outcome = session.call(&call);
            if asked.changed && asked.for_all {
                let shown = upstream(session.surface(), self.definitions);
                self.kept = Some((session, shown));
            }
            return Ok(Some(outcome));
        }
        let metas = self.metas(session.surface(), place.server);
        let Some(forwarding) = metas.iter().find(|meta| meta.inner.is_some()) else { return Ok(None) };
        let with = forwarding.arguments(self.definitions, place, None, Some(arguments));
        Ok(Some(session.call(&ToolCall { name: forwarding.name.clone(), arguments: with })))
    }

    /// Asks the meta tools that inform for a tool: by its name, and, where a search took the name for something else, by
    /// its description too. True where one of them says that the surface changed.
    pub(super) fn bring_out(&mut self, session: &mut dyn ArmSession, place: Place) -> bool {
        self.ask(session, place, false).changed
    }

    fn ask(&mut self, session: &mut dyn ArmSession, place: Place, fresh: bool) -> Asked {
        let upstream = &self.definitions.tool(place).upstream;
        let words = format!("{} {}", upstream.name, upstream.description.as_deref().unwrap_or_default());
        let mut changed = false;
        let metas = self.metas(session.surface(), place.server);
        let informing = metas.iter().filter(|meta| meta.inner.is_none() && session.informs(&meta.name));
        let informing: Vec<&MetaTool> = informing.collect();
        for meta in informing {
            let for_all = meta.tool.is_none() && meta.query.is_none();
            let idle = (place.server, meta.name.clone());
            if for_all && fresh && !changed && self.idle.contains(&idle) {
                continue;
            }
            for query in [&*upstream.name, &words] {
                session.begin_turn();
                let arguments = meta.arguments(self.definitions, place, Some(query), None);
                let outcome = session.call(&ToolCall { name: meta.name.clone(), arguments });
                let now = matches!(outcome, CallOutcome::Meta { is_error: false, surface_changed: true, .. });
                if for_all && fresh && !changed && !now {
                    self.idle.insert(idle.clone());
                }
                changed |= now;
                if now && self.is_shown(session.surface(), place) {
                    return Asked { changed, for_all };
                }
                // A list that a search leaves alone is left alone by other words too.
                if !now || meta.query.is_none() {
                    break;
                }
            }
        }
        Asked { changed, for_all: false }
    }

    fn is_shown(&self, surface: &Arc<Surface>, place: Place) -> bool {
        if Arc::ptr_eq(surface, &self.initial) {
            return self.shown.contains(&place);
        }
        surface.tool(self.definitions.names.tool(place)).is_some()
    }

    /// The meta tools that serve a server's tools, its own first.
    fn metas(&mut self, surface: &Arc<Surface>, server: usize) -> Rc<[MetaTool]> {
        if !Arc::ptr_eq(surface, &self.initial) {
            return metas(surface.tools(), self.definitions, server).into();
        }
        let listed = || self.own.get(&server).into_iter().flatten().chain(&self.shared);
        let known = self.metas.entry(server).or_insert_with(|| metas(listed(), self.definitions, server).into());
        Rc::clone(known)
    }
}

/// The upstream tools on a list.
fn upstream(surface: &Surface, definitions: &Definitions) -> HashSet<Place> {
    let place = |tool: &Arc<ShownTool>| match definitions.names.get(tool.name()) {
        Some(Named::Tool(place)) => Some(place),
        _ => None,
    };
    surface.tools().iter().filter_map(place).collect()
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

/// The meta tools among these that serve a server's tools, its own first.
fn metas<'t>(
    tools: impl IntoIterator<Item = &'t Arc<ShownTool>>,
    definitions: &Definitions,
    server: usize,
) -> Vec<MetaTool> {
    let mut found: Vec<MetaTool> = Vec::new();
    for tool in tools {
        let own = match definitions.names.get(tool.name()) {
            Some(Named::Tool(_)) => continue,
            Some(Named::Meta(of, _)) if of != server => continue,
            Some(Named::Meta(..)) => true,
            None => false,
        };
        let schema: Value = serde_json::from_str(tool.schema().get()).unwrap_or_default();
        found.extend(MetaTool::read(tool.name(), own, &schema));
    }
    found.sort_by_key(|meta| !meta.own);
    found
}
