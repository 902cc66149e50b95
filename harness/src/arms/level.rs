//! The engine behind raw, L0 to L3 and names-only: one list per server, some tools of it hidden at first, and the meta
//! tools that bring them out.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use bench_results::record::Route;
use serde_json::{Map, Value};

use super::{
    Arm, ArmError, ArmInfo, ArmSession, CallOutcome, Scope, ToolCall,
    block::Block,
    definitions::Definitions,
    names::{MetaKind, Named, Place},
    schema_tool::{self, ARGUMENTS, TOOL_NAME},
};
use crate::surface::Surface;

/// Surfaces with unlocked tools that an arm keeps at most; single-call sessions unlock one tool, so few come up.
const MAX_SURFACES: usize = 512;

/// An arm made of one block per server.
pub(super) struct LevelArm {
    info: ArmInfo,
    inner: Arc<Inner>,
    fallbacks: BTreeMap<String, String>,
}

/// What the sessions of an arm share.
struct Inner {
    definitions: Arc<Definitions>,
    blocks: Vec<Block>,
    initial: Arc<Surface>,
    /// By unlocked tools, servers in order, in each its tools in the order of unlocking.
    unlocked: Mutex<HashMap<Vec<Place>, Arc<Surface>>>,
    /// Surfaces of one tool alone, by server and tool; empty where the arm does not serve that scope.
    single: Vec<Vec<OnceLock<Arc<Surface>>>>,
}

impl LevelArm {
    /// An arm that serves all catalogs.
    pub(super) fn new(
        info: ArmInfo,
        definitions: Arc<Definitions>,
        blocks: Vec<Block>,
        fallbacks: BTreeMap<String, String>,
    ) -> Self {
        let tools = blocks.iter().flat_map(|block| block.shown.iter().cloned()).collect();
        let initial = Arc::new(Surface::new(tools, String::new()));
        let inner = Inner { definitions, blocks, initial, unlocked: Mutex::default(), single: Vec::new() };
        Self { info, inner: Arc::new(inner), fallbacks }
    }

    /// An arm that shows every tool from the start, and so can serve one tool alone too. Meta tools stand last in a
    /// block and accompany the tool.
    pub(super) fn direct(info: ArmInfo, definitions: Arc<Definitions>, blocks: Vec<Block>) -> Self {
        let single =
            definitions.servers.iter().map(|server| server.tools.iter().map(|_| OnceLock::new()).collect()).collect();
        let mut arm = Self::new(info, definitions, blocks, BTreeMap::new());
        if let Some(inner) = Arc::get_mut(&mut arm.inner) {
            inner.single = single;
        }
        arm
    }

    /// A session with its own type, for arms that wrap it.
    pub(super) fn session(&self, scope: Scope<'_>) -> Result<LevelSession, ArmError> {
        let (surface, only) = match scope {
            Scope::Catalogs => (Arc::clone(&self.inner.initial), None),
            Scope::Tool { server, tool } => {
                let fail = |why: String| ArmError::Scope { id: self.info.id.0.clone(), why };
                let place = self
                    .inner
                    .definitions
                    .place(server, tool)
                    .ok_or_else(|| fail(format!("no tool `{tool}` in the catalog of `{server}`")))?;
                let surface = self
                    .inner
                    .single(place)
                    .ok_or_else(|| fail("serves all catalogs, not one tool alone".to_owned()))?;
                (surface, Some(place))
            }
        };
        Ok(LevelSession { inner: Arc::clone(&self.inner), surface, unlocked: Vec::new(), only })
    }
}

impl Arm for LevelArm {
    fn info(&self) -> &ArmInfo {
        &self.info
    }

    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        Ok(Box::new(self.session(scope)?))
    }

    fn fallbacks(&self) -> BTreeMap<String, String> {
        self.fallbacks.clone()
    }
}

impl Inner {
    fn single(&self, place: Place) -> Option<Arc<Surface>> {
        let surface = self.single.get(place.server)?.get(place.tool)?.get_or_init(|| {
            let shown = &self.blocks[place.server].shown;
            let metas = shown.len() - self.definitions.servers[place.server].tools.len();
            let tools = [&shown[place.tool]].into_iter().chain(&shown[shown.len() - metas..]).cloned().collect();
            Arc::new(Surface::new(tools, String::new()))
        });
        Some(Arc::clone(surface))
    }

    fn with_unlocked(&self, unlocked: &[Place]) -> Arc<Surface> {
        let mut key = unlocked.to_vec();
        // Stable: within a server the order of unlocking stays.
        key.sort_by_key(|place| place.server);
        let mut surfaces = self.unlocked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(surface) = surfaces.get(&key) {
            return Arc::clone(surface);
        }
        let mut tools = Vec::with_capacity(self.initial.tools().len() + key.len());
        for (server, block) in self.blocks.iter().enumerate() {
            tools.extend(block.shown.iter().cloned());
            let own = key.iter().filter(|place| place.server == server);
            tools.extend(own.map(|&place| Arc::clone(&self.definitions.tool(place).lossless)));
        }
        let surface = Arc::new(Surface::new(tools, String::new()));
        if surfaces.len() < MAX_SURFACES {
            surfaces.insert(key, Arc::clone(&surface));
        }
        surface
    }

    fn hides(&self, place: Place) -> bool {
        self.blocks[place.server].hidden.binary_search(&place.tool).is_ok()
    }

    fn offers(&self, server: usize, kind: MetaKind) -> bool {
        self.blocks[server].metas.contains(&kind)
    }
}

/// A session of such an arm.
pub(super) struct LevelSession {
    inner: Arc<Inner>,
    surface: Arc<Surface>,
    /// Hidden tools that have come out, in the order of unlocking.
    unlocked: Vec<Place>,
    /// The one tool that is served, where the scope says so.
    only: Option<Place>,
}

impl LevelSession {
    /// What the definitions are built from.
    pub(super) fn definitions(&self) -> &Definitions {
        &self.inner.definitions
    }

    /// Brings a hidden tool out; false where it already is.
    fn unlock(&mut self, place: Place) -> bool {
        if !self.inner.hides(place) || self.unlocked.contains(&place) {
            return false;
        }
        self.unlocked.push(place);
        self.surface = self.inner.with_unlocked(&self.unlocked);
        true
    }

    fn forward(&mut self, place: Place, arguments: Map<String, Value>, invoked: bool) -> CallOutcome {
        let route = if invoked {
            Route::Invoked
        } else if !self.inner.hides(place) {
            Route::Direct
        } else if self.unlocked.contains(&place) {
            Route::Fetched
        } else {
            Route::Guessed
        };
        let surface_changed = self.unlock(place);
        let server = &self.inner.definitions.servers[place.server];
        CallOutcome::Upstream {
            server: Arc::clone(&server.name),
            tool: Arc::clone(&server.tools[place.tool].upstream.name),
            arguments,
            route,
            surface_changed,
        }
    }

    /// The tool that a meta tool of this server is asked about, or what to answer.
    fn asked_for(&self, server: usize, arguments: &Map<String, Value>) -> Result<Place, String> {
        let Some(name) = arguments.get(TOOL_NAME).and_then(Value::as_str) else {
            return Err(format!("error: `{TOOL_NAME}` must be the name of a tool"));
        };
        self.inner.definitions.on_server(server, name)
    }
}

impl ArmSession for LevelSession {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn informs(&self, name: &str) -> bool {
        matches!(self.inner.definitions.names.get(name), Some(Named::Meta(server, MetaKind::Schema))
            if self.inner.offers(server, MetaKind::Schema))
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        match self.inner.definitions.names.get(&call.name) {
            Some(Named::Tool(place)) if self.only.is_none_or(|only| only == place) => {
                self.forward(place, call.arguments.clone(), false)
            }
            Some(Named::Meta(server, kind)) if self.only.is_none() && self.inner.offers(server, kind) => {
                let place = match self.asked_for(server, &call.arguments) {
                    Ok(place) => place,
                    Err(reply) => return CallOutcome::Meta { reply, is_error: true, surface_changed: false },
                };
                if kind == MetaKind::Invoke {
                    // As the described proxy does it: whatever is no object reaches the server as no arguments.
                    let arguments = call.arguments.get(ARGUMENTS).and_then(Value::as_object).cloned();
                    return self.forward(place, arguments.unwrap_or_default(), true);
                }
                let surface_changed = self.unlock(place);
                let unlocked = self.inner.hides(place);
                let reply = schema_tool::schema_text(&self.inner.definitions, place, unlocked);
                CallOutcome::Meta { reply, is_error: false, surface_changed }
            }
            _ => CallOutcome::Rejected { reply: unknown(&call.name) },
        }
    }
}

/// What a client answers to a name that nobody serves; the same under every arm.
pub(super) fn unknown(name: &str) -> String {
    format!("error: unknown tool: {name}")
}
