//! `mcpdiet*-reimpl`: mcp-diet, a transparent proxy that shows its best ranked tools whole and the others cut.

mod graph;
mod instance;
mod shorten;
mod window;
mod words;

use std::sync::Arc;

use bench_results::record::Route;
use bench_tasks::result::{Content, ToolResult};

use self::instance::{Instance, Served};
use super::{Build, Materials, desk::all_catalogs, info};
use crate::{
    arms::{
        Affordance, Arm, ArmError, ArmInfo, ArmSession, CallOutcome, Scope, ToolCall, Waiver, level::unknown,
        names::Named,
    },
    surface::{ShownTool, Surface},
};

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    let arm = |id: &str, summary| ArmInfo {
        gaps: &["the 55 stop words", "requests other than calls feed nothing"],
        single_call: Some("a fresh session knows no use, so the first eight tools stay whole: see the sessions suite"),
        waivers: &[Waiver::LargerThanL0, Waiver::Removes],
        ..info(id, summary, "mcp-diet, paper; public source (f8c8f5a), observed", Affordance::Direct, 0)
    };
    vec![
        (
            arm("mcpdiet-reimpl", "per server, eight tools whole and the others cut to a line without schema"),
            |info, materials| {
                let groups = (0..materials.servers()).map(|server| materials.of_server(server).collect());
                build(info, materials, groups.collect())
            },
        ),
        (
            arm("mcpdiet-agg-reimpl", "as mcpdiet, one instance over all servers: eight tools whole in all"),
            |info, materials| build(info, materials, vec![(0..materials.len()).collect()]),
        ),
    ]
}

/// One instance per group of tools, given by position.
fn build(info: ArmInfo, materials: &Materials, groups: Vec<Vec<usize>>) -> Result<Arc<dyn Arm>, ArmError> {
    let mut served = Vec::with_capacity(groups.len());
    for group in groups {
        served.push(Arc::new(Served::new(materials, group)?));
    }
    let initial =
        Arc::new(surface(served.iter().map(|served| Instance::new(Arc::clone(served))).collect::<Vec<_>>().iter()));
    Ok(Arc::new(McpDiet { info, inner: Arc::new(Inner { materials: materials.clone(), served, initial }) }))
}

/// The instances' lists one after another.
fn surface<'i>(instances: impl Iterator<Item = &'i Instance>) -> Surface {
    let tools: Vec<Arc<ShownTool>> = instances.flat_map(|instance| instance.listed().to_vec()).collect();
    Surface::new(tools, String::new())
}

struct McpDiet {
    info: ArmInfo,
    inner: Arc<Inner>,
}

struct Inner {
    materials: Materials,
    served: Vec<Arc<Served>>,
    initial: Arc<Surface>,
}

impl Arm for McpDiet {
    fn info(&self) -> &ArmInfo {
        &self.info
    }

    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        all_catalogs(&self.info, scope)?;
        Ok(Box::new(DietSession {
            instances: self.inner.served.iter().map(|served| Instance::new(Arc::clone(served))).collect(),
            surface: Arc::clone(&self.inner.initial),
            inner: Arc::clone(&self.inner),
        }))
    }
}

fn text(content: &Content) -> Option<&str> {
    match content {
        Content::Text(text) => Some(text),
        Content::Other(_) => None,
    }
}

struct DietSession {
    inner: Arc<Inner>,
    instances: Vec<Instance>,
    surface: Arc<Surface>,
}

impl DietSession {
    /// The instance that serves a position, and the tool's place in it.
    fn serving(&mut self, at: usize) -> Option<(&mut Instance, usize)> {
        self.instances.iter_mut().find_map(|instance| instance.position(at).map(|place| (instance, place)))
    }
}

impl ArmSession for DietSession {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn informs(&self, _: &str) -> bool {
        false
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        let inner = Arc::clone(&self.inner);
        let materials = &inner.materials;
        let Some(Named::Tool(place)) = materials.definitions().names.get(&call.name) else {
            return CallOutcome::Rejected { reply: unknown(&call.name) };
        };
        let at = materials.position(place);
        let listed_anew = self.serving(at).is_some_and(|(instance, tool)| instance.call(tool, &call.arguments));
        if listed_anew {
            self.surface = Arc::new(surface(self.instances.iter()));
        }
        materials.forward(at, call.arguments.clone(), Route::Direct, listed_anew)
    }

    fn digest(&mut self, server: &str, tool: &str, result: &ToolResult) -> ToolResult {
        let place = self.inner.materials.definitions().place(server, tool);
        if let Some(place) = place.filter(|_| !result.is_error) {
            let at = self.inner.materials.position(place);
            if let Some((instance, _)) = self.serving(at) {
                let mut texts: Vec<&str> = result.content.iter().filter_map(text).collect();
                if let Some(structured) = &result.structured {
                    instance::strings(structured, &mut texts);
                }
                instance.read(texts);
            }
        }
        result.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::arms::{
        fixtures::{call, context, some},
        registry,
    };

    fn open(id: &str) -> Box<dyn ArmSession> {
        registry::build(id, &context()).unwrap().open(Scope::Catalogs).unwrap()
    }

    fn cut(session: &dyn ArmSession, server: &str) -> Vec<bool> {
        let tools = session.surface().tools().iter().filter(|tool| tool.name().starts_with(&format!("{server}__")));
        tools.map(|tool| tool.schema().get() == r#"{"type":"object"}"#).collect()
    }

    #[test]
    fn surfaces_over_two_servers() {
        for id in ["mcpdiet-reimpl", "mcpdiet-agg-reimpl"] {
            insta::assert_snapshot!(format!("surface_{id}"), some(id, &["memory", "time"]));
        }
    }

    #[test]
    fn a_fresh_session_shows_the_first_eight_of_a_server_whole() {
        let session = open("mcpdiet-reimpl");
        assert_eq!(cut(session.as_ref(), "git"), [[false; 8].as_slice(), &[true; 4]].concat());
        // Too few to be worth it.
        assert_eq!(cut(session.as_ref(), "time"), [false; 2]);
        let of_all: usize =
            ["everything", "fetch", "filesystem", "git", "github", "memory", "sequential-thinking", "time"]
                .iter()
                .map(|server| cut(session.as_ref(), server).iter().filter(|cut| !**cut).count())
                .sum();
        // Eight each of five servers, all of the three small ones: as observed, 44 of 81 on a variant of the catalogs.
        assert_eq!(of_all, 44);
        let agg = open("mcpdiet-agg-reimpl");
        assert_eq!(
            agg.surface().tools().iter().filter(|tool| tool.schema().get() != r#"{"type":"object"}"#).count(),
            8
        );
    }

    #[test]
    fn a_call_reveals_its_tool_and_another_gives_way_where_the_server_announces_changes() {
        let mut session = open("mcpdiet-reimpl");
        let last = session.surface().tools().iter().rev().find(|tool| tool.name().starts_with("filesystem__")).unwrap();
        let name = last.name().to_owned();
        let outcome = session.call(&call(&name, json!({ "path": "/x" })));
        assert!(matches!(outcome, CallOutcome::Upstream { surface_changed: true, .. }), "{outcome:?}");
        let shown = cut(session.as_ref(), "filesystem");
        assert!(!shown[shown.len() - 1]);
        assert_eq!(shown.iter().filter(|cut| !**cut).count(), 8);
    }

    #[test]
    fn a_server_that_announces_no_changes_keeps_its_list() {
        let mut session = open("mcpdiet-reimpl");
        let before = session.surface().digest().clone();
        let outcome = session.call(&call("git__git_branch", json!({})));
        assert!(matches!(outcome, CallOutcome::Upstream { surface_changed: false, .. }), "{outcome:?}");
        assert_eq!(*session.surface().digest(), before);
    }
}
