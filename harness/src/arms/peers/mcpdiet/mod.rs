//! `mcpdiet*-reimpl`: mcp-diet, a transparent proxy that shows its best ranked tools whole and the others cut.

mod graph;
mod instance;
mod shorten;
mod window;
mod words;

use std::{cell::OnceCell, collections::BTreeMap, ops::Range, sync::Arc};

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
                build(info, materials, (0..materials.servers()).map(|server| materials.of_server(server)))
            },
        ),
        (
            arm("mcpdiet-agg-reimpl", "as mcpdiet, one instance over all servers: eight tools whole in all"),
            |info, materials| build(info, materials, std::iter::once(0..materials.len())),
        ),
    ]
}

/// One instance per group of tools, given by position: all of them, one group after another.
fn build(
    info: ArmInfo,
    materials: &Materials,
    groups: impl Iterator<Item = Range<usize>>,
) -> Result<Arc<dyn Arm>, ArmError> {
    let (mut served, mut starts) = (Vec::new(), Vec::new());
    for group in groups {
        starts.push(group.start);
        served.push(Arc::new(Served::new(materials, group)?));
    }
    let initial: Vec<Arc<ShownTool>> = served.iter().flat_map(|served| served.list(served.first())).collect();
    let initial = Arc::new(Surface::new(initial, String::new()));
    Ok(Arc::new(McpDiet { info, inner: Arc::new(Inner { materials: materials.clone(), served, starts, initial }) }))
}

struct McpDiet {
    info: ArmInfo,
    inner: Arc<Inner>,
}

struct Inner {
    materials: Materials,
    served: Vec<Arc<Served>>,
    /// Position of each group's first tool.
    starts: Vec<usize>,
    initial: Arc<Surface>,
}

impl Arm for McpDiet {
    fn info(&self) -> &ArmInfo {
        &self.info
    }

    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        all_catalogs(&self.info, scope)?;
        Ok(Box::new(DietSession {
            instances: BTreeMap::new(),
            surface: OnceCell::from(Arc::clone(&self.inner.initial)),
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
    /// Those that have seen something, by group.
    instances: BTreeMap<usize, Instance>,
    /// Put together when it is looked at.
    surface: OnceCell<Arc<Surface>>,
}

impl DietSession {
    /// The instance that serves a position, and the tool's place in it.
    fn serving(&mut self, at: usize) -> (&mut Instance, usize) {
        // Groups without tools start where the next one does.
        let group = self.inner.starts.partition_point(|&start| start <= at) - 1;
        let instance =
            self.instances.entry(group).or_insert_with(|| Instance::new(Arc::clone(&self.inner.served[group])));
        (instance, at - self.inner.starts[group])
    }

    /// The instances' lists one after another.
    fn listed(&self) -> Surface {
        let mut tools: Vec<Arc<ShownTool>> = Vec::with_capacity(self.inner.materials.len());
        for (group, served) in self.inner.served.iter().enumerate() {
            match self.instances.get(&group) {
                Some(instance) => tools.extend(instance.listed()),
                None => tools.extend(served.list(served.first())),
            }
        }
        Surface::new(tools, String::new())
    }
}

impl ArmSession for DietSession {
    fn surface(&self) -> &Arc<Surface> {
        self.surface.get_or_init(|| Arc::new(self.listed()))
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
        let (instance, tool) = self.serving(at);
        let listed_anew = instance.call(tool, &call.arguments);
        if listed_anew {
            self.surface = OnceCell::new();
        }
        materials.forward(at, call.arguments.clone(), Route::Direct, listed_anew)
    }

    fn digest(&mut self, server: &str, tool: &str, result: &ToolResult) -> ToolResult {
        let place = self.inner.materials.definitions().place(server, tool);
        if let Some(place) = place.filter(|_| !result.is_error) {
            let at = self.inner.materials.position(place);
            let mut texts: Vec<&str> = result.content.iter().filter_map(text).collect();
            if let Some(structured) = &result.structured {
                instance::strings(structured, &mut texts);
            }
            self.serving(at).0.read(texts);
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
