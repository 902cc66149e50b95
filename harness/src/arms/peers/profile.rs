//! `profile-*-reimpl`: ai-memory's profiles, a core of tools at the start and the other families on request.

use std::{cmp::Reverse, sync::Arc};

use bench_results::record::Route;
use serde_json::{Value, json};

use super::{
    Build, Materials,
    desk::{all_catalogs, meta},
    info, replies,
};
use crate::{
    arms::{
        Affordance, Arm, ArmError, ArmInfo, ArmSession, CallOutcome, Scope, ToolCall, Waiver, level::unknown,
        names::Named,
    },
    surface::{ShownTool, Surface},
};

const CAPABILITIES: &str = "capabilities";
/// Tools of the core profile.
const CORE: usize = 5;

/// What is loaded, and what loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Profile {
    /// The core, and a family once its schemas were asked for.
    Core,
    /// The core alone.
    Static,
    /// Everything.
    Full,
}

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    let arm = |id, summary, affordance, trips| ArmInfo {
        gaps: &[
            "a family is a server",
            "the core is the five most used tools of a warm-up trace over the servers (no traffic is published)",
        ],
        ..info(id, summary, "ai-memory profiles RFC, generalised; public source of 2026-05-07", affordance, trips)
    };
    let on_request = Affordance::IndexSchemaDirect;
    vec![
        (
            arm(
                "profile-core-reimpl",
                "five tools, and a family's others once their schemas are asked for",
                on_request,
                2,
            ),
            |info, materials| build(info, materials, Profile::Core),
        ),
        (
            ArmInfo {
                objection: Some("a host that cannot register tools: the lower bound, not the design"),
                ranked: false,
                waivers: &[Waiver::LargerThanL0, Waiver::Unreachable],
                ..arm("profile-core-static-reimpl", "five tools; the others need a restart", on_request, 0)
            },
            |info, materials| build(info, materials, Profile::Static),
        ),
        (
            arm("profile-full-reimpl", "all tools, and the tool that tells of them", Affordance::Direct, 0),
            |info, materials| build(info, materials, Profile::Full),
        ),
    ]
}

fn build(info: ArmInfo, materials: &Materials, profile: Profile) -> Result<Arc<dyn Arm>, ArmError> {
    let servers: Vec<&str> = materials.definitions().servers.iter().map(|server| &*server.name).collect();
    let capabilities = meta(
        CAPABILITIES,
        "Tells which families of tools there are and which are loaded. With `family`, its tools; with `include_schema` \
         too, their definitions, which brings them among your tools.",
        &[
            ("family", json!({ "type": "string", "enum": servers }), false),
            ("include_schema", json!({ "type": "boolean", "default": false }), false),
        ],
    )?;
    let mut loaded = vec![profile == Profile::Full; materials.len()];
    for at in core(materials) {
        loaded[at] = true;
    }
    let initial = Arc::new(surface(materials, &capabilities, &loaded, &[]));
    let inner = Inner { materials: materials.clone(), profile, capabilities, loaded, initial };
    Ok(Arc::new(ProfileArm { info, inner: Arc::new(inner) }))
}

/// The most used tools of the warm-up trace, ties by position.
fn core(materials: &Materials) -> Vec<usize> {
    let mut used: Vec<(Reverse<u32>, usize)> =
        (0..materials.len()).map(|at| (Reverse(materials.uses(at)), at)).filter(|(uses, _)| uses.0 > 0).collect();
    used.sort_unstable();
    used.into_iter().take(CORE).map(|(_, at)| at).collect()
}

/// The meta tool, then every server's loaded tools in upstream order, those of families that were brought in last.
fn surface(materials: &Materials, capabilities: &Arc<ShownTool>, loaded: &[bool], families: &[usize]) -> Surface {
    let mut tools = vec![Arc::clone(capabilities)];
    for server in 0..materials.servers() {
        let of = |wanted: bool| materials.of_server(server).filter(move |&at| loaded[at] == wanted);
        tools.extend(of(true).map(|at| Arc::clone(&materials.tool(at).raw)));
        if families.contains(&server) {
            tools.extend(of(false).map(|at| Arc::clone(&materials.tool(at).raw)));
        }
    }
    Surface::new(tools, String::new())
}

struct ProfileArm {
    info: ArmInfo,
    inner: Arc<Inner>,
}

struct Inner {
    materials: Materials,
    profile: Profile,
    capabilities: Arc<ShownTool>,
    /// By position: whether the profile holds the tool.
    loaded: Vec<bool>,
    initial: Arc<Surface>,
}

impl Arm for ProfileArm {
    fn info(&self) -> &ArmInfo {
        &self.info
    }

    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        all_catalogs(&self.info, scope)?;
        let surface = Arc::clone(&self.inner.initial);
        Ok(Box::new(ProfileSession { inner: Arc::clone(&self.inner), families: Vec::new(), surface }))
    }
}

struct ProfileSession {
    inner: Arc<Inner>,
    /// Families that were brought in.
    families: Vec<usize>,
    surface: Arc<Surface>,
}

impl ProfileSession {
    fn is_loaded(&self, at: usize) -> bool {
        self.inner.loaded[at] || self.families.contains(&self.inner.materials.place(at).server)
    }

    /// The reply, and whether the surface changed.
    fn tell(&mut self, call: &ToolCall) -> Result<(String, bool), String> {
        let materials = &self.inner.materials;
        if replies::given(&call.arguments, "family").is_none() {
            let families = (0..materials.servers()).map(|server| {
                let tools: Vec<&str> = materials.of_server(server).map(|at| materials.shown(at)).collect();
                let loaded = materials.of_server(server).all(|at| self.is_loaded(at));
                let name = &*materials.definitions().servers[server].name;
                json!({ "family": name, "tool_count": tools.len(), "loaded": loaded, "tools": tools }).to_string()
            });
            return Ok((replies::array(families), false));
        }
        let name = replies::text(&call.arguments, "family")?;
        let family = materials.server_named(name).ok_or_else(|| materials.no_server(name))?;
        let tools = materials.of_server(family);
        if call.arguments.get("include_schema").and_then(Value::as_bool) != Some(true) {
            let names: Vec<&str> = tools.map(|at| materials.shown(at)).collect();
            return Ok((json!({ "family": name, "tools": names }).to_string(), false));
        }
        let definitions = replies::array(tools.clone().map(|at| replies::definition(materials, at, &[])));
        let news = self.inner.profile == Profile::Core && !tools.clone().all(|at| self.is_loaded(at));
        if news {
            self.families.push(family);
            let Inner { materials, capabilities, loaded, .. } = &*self.inner;
            self.surface = Arc::new(surface(materials, capabilities, loaded, &self.families));
        }
        Ok((definitions, news))
    }
}

impl ArmSession for ProfileSession {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn informs(&self, name: &str) -> bool {
        name == CAPABILITIES
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        if call.name == CAPABILITIES {
            return match self.tell(call) {
                Ok((reply, surface_changed)) => CallOutcome::Meta { reply, is_error: false, surface_changed },
                Err(reply) => CallOutcome::Meta { reply, is_error: true, surface_changed: false },
            };
        }
        let materials = &self.inner.materials;
        let Some(Named::Tool(place)) = materials.definitions().names.get(&call.name) else {
            return CallOutcome::Rejected { reply: unknown(&call.name) };
        };
        let at = materials.position(place);
        if self.is_loaded(at) {
            let route = if self.inner.loaded[at] { Route::Direct } else { Route::Fetched };
            return materials.forward(at, call.arguments.clone(), route, false);
        }
        let family = materials.server(at);
        let remedy = match self.inner.profile {
            Profile::Static => format!("restart with the profile `{family}` to use it"),
            Profile::Core | Profile::Full => {
                format!("call `{CAPABILITIES}` with family `{family}` and include_schema true first")
            }
        };
        CallOutcome::Rejected {
            reply: format!("error: `{}` is of the family `{family}`, which is not loaded; {remedy}", call.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::{
        fixtures::{call, context, some},
        registry,
    };

    fn open(id: &str) -> Box<dyn ArmSession> {
        registry::build(id, &context()).unwrap().open(Scope::Catalogs).unwrap()
    }

    fn family(name: &str) -> ToolCall {
        call(CAPABILITIES, json!({ "family": name, "include_schema": true }))
    }

    #[test]
    fn surfaces_over_two_servers() {
        for profile in ["core", "full"] {
            let id = format!("profile-{profile}-reimpl");
            insta::assert_snapshot!(format!("surface_{profile}"), some(&id, &["memory", "time"]));
        }
        assert_eq!(some("profile-core-static-reimpl", &["time"]), some("profile-core-reimpl", &["time"]));
    }

    #[test]
    fn the_core_is_the_five_most_used_tools() {
        // In the test's trace the first tool of every server is used nine times.
        let session = open("profile-core-reimpl");
        let names: Vec<&str> = session.surface().tools().iter().map(|tool| tool.name()).collect();
        assert_eq!(names.len(), 1 + CORE);
        assert_eq!(names[1], "everything__echo");
    }

    #[test]
    fn a_family_joins_the_list_once_and_its_tools_can_be_called() {
        let mut session = open("profile-core-reimpl");
        let hidden = call("git__git_log", json!({}));
        let CallOutcome::Rejected { reply } = session.call(&hidden) else { panic!() };
        assert!(reply.contains("family `git` and include_schema true"), "{reply}");
        for expected in [true, false] {
            let CallOutcome::Meta { reply, surface_changed, .. } = session.call(&family("git")) else { panic!() };
            assert_eq!(surface_changed, expected);
            assert_eq!(reply.matches("\"inputSchema\"").count(), 12);
        }
        assert!(matches!(session.call(&hidden), CallOutcome::Upstream { route: Route::Fetched, .. }));
    }

    #[test]
    fn without_registration_a_described_tool_stays_out_of_reach() {
        let mut session = open("profile-core-static-reimpl");
        assert!(matches!(session.call(&family("git")), CallOutcome::Meta { surface_changed: false, .. }));
        let CallOutcome::Rejected { reply } = session.call(&call("git__git_log", json!({}))) else { panic!() };
        assert!(reply.contains("restart"), "{reply}");
    }

    #[test]
    fn without_arguments_all_families_are_told() {
        let CallOutcome::Meta { reply, .. } = open("profile-core-reimpl").call(&call(CAPABILITIES, json!({}))) else {
            panic!()
        };
        for nothing in [json!(null), json!("")] {
            let outcome = open("profile-core-reimpl").call(&call(CAPABILITIES, json!({ "family": nothing })));
            assert!(matches!(outcome, CallOutcome::Meta { reply: same, .. } if same == reply));
        }
        let told: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!(told.as_array().unwrap().len(), 8);
        assert_eq!(
            told[7],
            json!({"family": "time", "tool_count": 2, "loaded": false, "tools": ["time__get_current_time", "time__convert_time"]})
        );
    }
}
