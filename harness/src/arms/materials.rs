//! What arms are built from: the definitions and the context, and for those that search the tools of all catalogs in
//! one row with an index over their words.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use bench_results::record::Route;
use bench_tasks::{
    catalog::Catalog,
    lexical::{Index, tokens, tool_tokens},
};
use serde_json::{Map, Value};

use super::{
    Arm, ArmContext, ArmError, ArmInfo, CallOutcome,
    definitions::{Definitions, Tool},
    embed::Embedder,
    names::{Named, Place},
    similar,
    space::Space,
};

/// How an arm is built; it takes the info that the registry has for it.
pub(super) type Build = fn(ArmInfo, &Materials) -> Result<Arc<dyn Arm>, ArmError>;

/// All upstream tools in catalog order, by position, and what several arms derive from them.
#[derive(Clone)]
pub struct Materials {
    definitions: Arc<Definitions>,
    context: Arc<ArmContext>,
    places: Arc<[Place]>,
    /// Position of every server's first tool, and one past the last tool.
    starts: Arc<[usize]>,
    index: Arc<OnceLock<Arc<Index>>>,
    embedder: Option<Arc<dyn Embedder>>,
}

impl Materials {
    /// The materials of these definitions.
    pub(super) fn new(definitions: Arc<Definitions>, context: ArmContext) -> Self {
        let mut places = Vec::new();
        let mut starts = Vec::with_capacity(definitions.servers.len() + 1);
        for (server, own) in definitions.servers.iter().enumerate() {
            starts.push(places.len());
            places.extend((0..own.tools.len()).map(|tool| Place { server, tool }));
        }
        starts.push(places.len());
        Self {
            definitions,
            context: Arc::new(context),
            places: places.into(),
            starts: starts.into(),
            index: Arc::default(),
            embedder: None,
        }
    }

    /// The same with an embedder, for the arms that need one.
    pub(super) fn set_embedder(&mut self, embedder: Arc<dyn Embedder>) {
        self.embedder = Some(embedder);
    }

    /// The definitions themselves.
    pub(super) fn definitions(&self) -> &Arc<Definitions> {
        &self.definitions
    }

    /// What all arms are built from.
    pub(super) fn context(&self) -> &ArmContext {
        &self.context
    }

    /// Number of tools.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Number of servers.
    pub(super) fn servers(&self) -> usize {
        self.definitions.servers.len()
    }

    /// Positions of a server's tools.
    pub(super) fn of_server(&self, server: usize) -> Range<usize> {
        self.starts[server]..self.starts[server + 1]
    }

    /// The place of the tool at a position below [`Self::len`].
    pub(super) fn place(&self, at: usize) -> Place {
        self.places[at]
    }

    /// The position of a place.
    pub(super) fn position(&self, place: Place) -> usize {
        self.starts[place.server] + place.tool
    }

    /// The tool at a position.
    pub(super) fn tool(&self, at: usize) -> &Tool {
        self.definitions.tool(self.place(at))
    }

    /// Upstream name of the tool at a position.
    pub(super) fn name(&self, at: usize) -> &str {
        &self.tool(at).upstream.name
    }

    /// Upstream description of the tool at a position; empty where there is none.
    pub(super) fn description(&self, at: usize) -> &str {
        self.tool(at).upstream.description.as_deref().unwrap_or_default()
    }

    /// The name that the tool at a position is shown under.
    pub(super) fn shown(&self, at: usize) -> &str {
        self.definitions.names.tool(self.place(at))
    }

    /// Name of the server of the tool at a position.
    pub(super) fn server(&self, at: usize) -> &Arc<str> {
        &self.definitions.servers[self.place(at).server].name
    }

    /// The server of this name, by index.
    pub(super) fn server_named(&self, name: &str) -> Option<usize> {
        self.definitions.server(name)
    }

    /// The tool of this name: as it is shown, else by its upstream name where one server alone has it.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        if let Some(Named::Tool(place)) = self.definitions.names.get(name) {
            return Some(self.position(place));
        }
        let mut having = self
            .definitions
            .servers
            .iter()
            .enumerate()
            .filter_map(|(server, own)| own.position(name).map(|tool| Place { server, tool }));
        having.next().filter(|_| having.next().is_none()).map(|place| self.position(place))
    }

    /// The tool of this name on a server, upstream or as shown.
    pub(super) fn find_on(&self, server: usize, name: &str) -> Result<usize, String> {
        self.definitions.on_server(server, name).map(|place| self.position(place))
    }

    /// What to answer where no tool has this name.
    pub(super) fn no_tool(&self, name: &str) -> String {
        let close = similar::closest(name, (0..self.len()).map(|at| self.shown(at)));
        let hint = if close.is_empty() { String::new() } else { format!(" Did you mean: {}?", close.join(", ")) };
        format!("error: no tool `{name}`.{hint}")
    }

    /// What to answer where no server has this name.
    pub(super) fn no_server(&self, name: &str) -> String {
        let names: Vec<&str> = self.definitions.servers.iter().map(|server| &*server.name).collect();
        format!("error: no server `{name}`; there are: {}", names.join(", "))
    }

    /// A call that goes on to the tool at a position.
    pub(super) fn forward(
        &self,
        at: usize,
        arguments: Map<String, Value>,
        route: Route,
        surface_changed: bool,
    ) -> CallOutcome {
        CallOutcome::Upstream {
            server: Arc::clone(self.server(at)),
            tool: Arc::clone(&self.tool(at).upstream.name),
            arguments,
            route,
            surface_changed,
        }
    }

    /// The index over every tool's name and description, built when it is first asked for.
    pub(super) fn index(&self) -> &Arc<Index> {
        self.index.get_or_init(|| {
            let document = |at| tool_tokens(self.name(at), self.tool(at).upstream.description.as_deref());
            Arc::new(Index::new((0..self.len()).map(document)))
        })
    }

    /// The catalog of a server.
    pub(super) fn catalog(&self, server: usize) -> &Catalog {
        &self.context.catalogs.catalogs[server]
    }

    /// Every tool's name and description as documents of a space: by words, or by the embedder.
    pub(super) fn space(&self, dense: bool) -> Result<Space, ArmError> {
        if !dense {
            return Ok(Space::Words(Arc::clone(self.index())));
        }
        let texts: Vec<String> = (0..self.len())
            .map(|at| format!("name: {} description: {}", self.name(at), self.description(at)))
            .collect();
        Space::dense(&texts, self.embedder()?)
    }

    /// Nearness of every tool's name and description to a text, by words.
    pub fn context_of(&self, text: &str) -> Vec<f64> {
        self.index().cosine(&tokens(text))
    }

    /// Whether there is an embedder.
    pub(super) fn has_embedder(&self) -> bool {
        self.embedder.is_some()
    }

    /// What the embedder calls its model; none where there is no embedder.
    pub fn embedding_model(&self) -> Option<&str> {
        self.embedder.as_ref().map(|embedder| embedder.model())
    }

    /// An arm's info as it stands with the embedder that there is.
    pub(super) fn standing(&self, info: ArmInfo) -> ArmInfo {
        match self.embedding_model() {
            Some(model) => info.with_model(model),
            None => info,
        }
    }

    /// The embedder.
    ///
    /// # Errors
    /// Where none was given.
    pub(super) fn embedder(&self) -> Result<&Arc<dyn Embedder>, ArmError> {
        self.embedder.as_ref().ok_or(ArmError::NoEmbedder)
    }

    /// Uses of the tool at a position in the warm-up trace.
    pub(super) fn uses(&self, at: usize) -> u32 {
        let uses = self.context.warm_up.uses.get(&**self.server(at));
        uses.and_then(|uses| uses.get(self.name(at))).copied().unwrap_or(0)
    }
}
