//! A catalog as it is given out: captured bytes, page by page, and what is needed to answer calls.

use std::{collections::BTreeMap, sync::Arc};

use bench_tasks::catalog::{Catalog, Catalogs, ToolDef};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{ReplayError, canned};
use crate::{
    arms::names::{Names, Place},
    stdio::{PROTOCOL_VERSION, message::Page},
};

/// What is replayed.
pub(super) struct Replayed {
    /// Catalog name; of several together `all`.
    pub(super) name: Arc<str>,
    /// Result of `initialize`, as captured.
    pub(super) initialize: Box<RawValue>,
    /// Results of `tools/list`, each with the cursor of the page after it.
    pages: Vec<(String, Option<String>)>,
    tools: BTreeMap<String, ReplayedTool>,
}

/// A tool that can be called.
pub(super) struct ReplayedTool {
    pub(super) server: Arc<str>,
    pub(super) definition: Arc<ToolDef>,
    /// The canned result.
    pub(super) result: String,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    initialize: Option<&'a RawValue>,
    #[serde(borrow)]
    tools_list_pages: Vec<&'a RawValue>,
}

impl Replayed {
    /// One catalog under its own names.
    pub(super) fn one(catalog: &Catalog) -> Result<Self, ReplayError> {
        let wrong = |source| ReplayError::Catalog { server: catalog.server.to_string(), source };
        let file: File<'_> = serde_json::from_slice(&catalog.bytes).map_err(wrong)?;
        let initialize = match file.initialize {
            Some(captured) => one_line(captured)?,
            None => made_up(&catalog.server, None)?,
        };
        let mut pages = Vec::with_capacity(file.tools_list_pages.len());
        for captured in file.tools_list_pages {
            // A cursor of a strange type was never followed when this was captured.
            let next = Page::read(captured).and_then(|page| page.next()).unwrap_or_default();
            pages.push((one_line(captured)?.get().to_owned(), next));
        }
        let tools = catalog.tools.iter().map(|tool| (tool.name.to_string(), replayed(&catalog.server, tool)));
        Ok(Self { name: Arc::clone(&catalog.server), initialize, pages, tools: tools.collect() })
    }

    /// All catalogs as one server of one page, tools under the names that every arm shows them by.
    pub(super) fn all(catalogs: &Catalogs) -> Result<Self, ReplayError> {
        let names = Names::new(catalogs);
        let (mut shown, mut tools) = (Vec::new(), BTreeMap::new());
        for (catalog, server) in catalogs.catalogs.iter().zip(0..) {
            for (definition, tool) in catalog.tools.iter().zip(0..) {
                let name = names.tool(Place { server, tool }).to_owned();
                let wrong = |source| ReplayError::Catalog { server: catalog.server.to_string(), source };
                let mut renamed: Map<String, Value> = serde_json::from_str(definition.raw.get()).map_err(wrong)?;
                renamed.insert("name".to_owned(), name.as_str().into());
                shown.push(Value::Object(renamed));
                tools.insert(name, replayed(&catalog.server, definition));
            }
        }
        let instructions: Vec<String> = catalogs
            .catalogs
            .iter()
            .filter_map(|catalog| Some(format!("[{}] {}", catalog.server, catalog.instructions.as_ref()?)))
            .collect();
        let instructions = (!instructions.is_empty()).then(|| instructions.join("\n\n"));
        let page = (json!({ "tools": shown }).to_string(), None);
        Ok(Self { name: "all".into(), initialize: made_up("all", instructions)?, pages: vec![page], tools })
    }

    /// The page that a cursor names; the first without one.
    pub(super) fn page(&self, cursor: Option<&str>) -> Option<&str> {
        let Some(cursor) = cursor else {
            return Some(self.pages.first().map_or(r#"{"tools":[]}"#, |(page, _)| page));
        };
        let before = self.pages.iter().position(|(_, next)| next.as_deref() == Some(cursor))?;
        self.pages.get(before + 1).map(|(page, _)| page.as_str())
    }

    /// The tool of this name.
    pub(super) fn tool(&self, name: &str) -> Option<&ReplayedTool> {
        self.tools.get(name)
    }
}

fn replayed(server: &Arc<str>, definition: &Arc<ToolDef>) -> ReplayedTool {
    ReplayedTool {
        server: Arc::clone(server),
        definition: Arc::clone(definition),
        result: canned::result(definition.output_schema.as_ref()).to_string(),
    }
}

/// The captured bytes, which must fit on a line. Line ends stand between tokens only, so they can be left out.
fn one_line(captured: &RawValue) -> Result<Box<RawValue>, ReplayError> {
    if !captured.get().contains(['\n', '\r']) {
        return Ok(captured.to_owned());
    }
    let text: String = captured.get().chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
    RawValue::from_string(text).map_err(|source| ReplayError::Catalog { server: "initialize".to_owned(), source })
}

/// An `initialize` result where none was captured.
fn made_up(server: &str, instructions: Option<String>) -> Result<Box<RawValue>, ReplayError> {
    let mut result = json!({
        "protocolVersion": PROTOCOL_VERSION,
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": { "name": server, "version": env!("CARGO_PKG_VERSION") },
    });
    if let Some(instructions) = instructions {
        result["instructions"] = instructions.into();
    }
    serde_json::value::to_raw_value(&result)
        .map_err(|source| ReplayError::Catalog { server: server.to_owned(), source })
}
