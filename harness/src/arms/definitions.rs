//! The catalogs' tools in the forms that several arms share, built once.

use std::{collections::HashMap, sync::Arc};

use bench_tasks::catalog::{Catalog, Catalogs, ToolDef};

use super::{
    ArmError,
    names::{Named, Names, Place},
    similar, tidy,
};
use crate::surface::ShownTool;

/// All catalogs' tools, and the names they are shown under.
#[derive(Debug)]
pub struct Definitions {
    /// Servers, in catalog order.
    pub servers: Vec<Server>,
    /// The table of names.
    pub names: Names,
    by_name: HashMap<Arc<str>, usize>,
}

/// One server's tools.
#[derive(Debug)]
pub struct Server {
    /// Catalog name.
    pub name: Arc<str>,
    /// Tools, in upstream order.
    pub tools: Vec<Tool>,
    by_name: HashMap<Arc<str>, usize>,
}

/// One upstream tool in the forms that arms share.
#[derive(Debug)]
pub struct Tool {
    /// As the server defines it.
    pub upstream: Arc<ToolDef>,
    /// As captured.
    pub raw: Arc<ShownTool>,
    /// In its L0 form; the very same as [`Tool::raw`] where nothing is left out.
    pub lossless: Arc<ShownTool>,
}

impl Definitions {
    /// Builds all forms.
    pub fn new(catalogs: &Catalogs) -> Result<Self, ArmError> {
        let names = Names::new(catalogs);
        let by_name =
            catalogs.catalogs.iter().enumerate().map(|(at, catalog)| (Arc::clone(&catalog.server), at)).collect();
        let servers = catalogs
            .catalogs
            .iter()
            .enumerate()
            .map(|(index, catalog)| Server::new(index, catalog, &names))
            .collect::<Result<_, _>>()?;
        Ok(Self { servers, names, by_name })
    }

    /// Index of the server of this name.
    pub fn server(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The place of an upstream tool.
    pub fn place(&self, server: &str, tool: &str) -> Option<Place> {
        let server = self.server(server)?;
        Some(Place { server, tool: self.servers[server].position(tool)? })
    }

    /// The tool of this name on a server, by its upstream name or the one it is shown under.
    ///
    /// # Errors
    /// What a meta tool answers where there is none, with close names.
    pub(super) fn on_server(&self, server: usize, name: &str) -> Result<Place, String> {
        let own = &self.servers[server];
        if let Some(tool) = own.position(name) {
            return Ok(Place { server, tool });
        }
        if let Some(Named::Tool(place)) = self.names.get(name)
            && place.server == server
        {
            return Ok(place);
        }
        let close = similar::closest(name, own.tools.iter().map(|tool| &*tool.upstream.name));
        let hint = if close.is_empty() { String::new() } else { format!(" Did you mean: {}?", close.join(", ")) };
        Err(format!("error: no tool `{name}` on the `{}` server.{hint}", own.name))
    }

    /// The tool at a place; the place must be one of these catalogs.
    pub fn tool(&self, place: Place) -> &Tool {
        &self.servers[place.server].tools[place.tool]
    }
}

impl Server {
    fn new(index: usize, catalog: &Catalog, names: &Names) -> Result<Self, ArmError> {
        let mut tools = Vec::with_capacity(catalog.tools.len());
        for (position, upstream) in catalog.tools.iter().enumerate() {
            let name = names.tool(Place { server: index, tool: position });
            let raw = shown(name, upstream.description.clone(), &upstream.input_schema)?;
            let description = upstream.description.as_deref().and_then(tidy::description);
            let schema = tidy::schema(&upstream.input_schema, &upstream.name, &tidy::tidy);
            let lossless = shown(name, description, &schema)?;
            let lossless = if lossless.json() == raw.json() { Arc::clone(&raw) } else { lossless };
            tools.push(Tool { upstream: Arc::clone(upstream), raw, lossless });
        }
        let by_name = catalog.tools.iter().enumerate().map(|(at, tool)| (Arc::clone(&tool.name), at)).collect();
        Ok(Self { name: Arc::clone(&catalog.server), tools, by_name })
    }

    /// Index of the tool of this upstream name.
    pub fn position(&self, tool: &str) -> Option<usize> {
        self.by_name.get(tool).copied()
    }
}

/// Builds a shown tool; the error says which.
pub(super) fn shown(
    name: &str,
    description: Option<String>,
    schema: &serde_json::Value,
) -> Result<Arc<ShownTool>, ArmError> {
    ShownTool::new(name.to_owned(), description, schema)
        .map(Arc::new)
        .map_err(|source| ArmError::Definition { tool: name.to_owned(), source })
}
