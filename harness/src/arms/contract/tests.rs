use std::collections::BTreeSet;

use bench_results::record::Route;
use bench_tasks::catalog::Catalogs;

use super::*;
use crate::arms::{
    ArmInfo,
    definitions::shown,
    fixtures::{catalogs_of, context, context_of},
    registry,
};

fn findings(context: &ArmContext, id: &str) -> Vec<String> {
    let contract = Contract::new(context).unwrap();
    let found = contract.check(&|context| registry::build(id, context), &|| {}).unwrap();
    found.iter().map(ToString::to_string).collect()
}

/// Everything that catalogs have not been seen to hold, and much of what they have.
pub(crate) fn odd_catalogs() -> Catalogs {
    catalogs_of(&[
        ("empty", json!([])),
        (
            "a_b",
            json!([
                {"name": "x.y", "description": "Does x. Must not be called twice. Really, it is a long story that goes on and on, over many words that tell nothing new at all."},
                {"name": "x/y", "inputSchema": {}},
                {"name": "get_tool_schema", "description": "", "inputSchema": {"type": "object", "properties": {}}},
                {"name": "n".repeat(80), "inputSchema": true},
                {"name": "tree", "description": " Recursive.\n\n\n\nNever deep. ", "inputSchema": {
                    "type": "object",
                    "properties": {"title": {"type": "string", "title": "Title"}, "__proto__": {"$ref": "#/properties/title"}, "children": {"type": "array", "items": {"$ref": "#"}}},
                    "required": ["title", "undescribed"],
                }},
            ]),
        ),
        (
            "a-b",
            json!([{"name": "x_y", "inputSchema": {"anyOf": [{"type": "object"}, false]}}, {"name": "bad", "inputSchema": {"type": 7}}]),
        ),
    ])
}

#[test]
fn every_built_in_arm_keeps_the_contract_over_the_reference_catalogs() {
    let context = context();
    for info in registry::all() {
        assert_eq!(findings(&context, &info.id.0), [""; 0], "{}", info.id);
    }
}

#[test]
fn every_built_in_arm_keeps_the_contract_over_odd_catalogs() {
    let context = context_of(odd_catalogs());
    for info in registry::all() {
        assert_eq!(findings(&context, &info.id.0), [""; 0], "{}", info.id);
    }
}

/// An arm that can break any clause.
struct Broken {
    info: ArmInfo,
    definitions: Arc<Definitions>,
    builds: usize,
    how: How,
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    Well,
    OtherBytes,
    Double,
    Illegal,
    Reversed,
    BadSchema,
    OtherTool,
    OtherArguments,
    Drops,
    Prepends,
    SilentChange,
    Larger,
    TouchesErrors,
    GuessesNames,
}

struct BrokenSession {
    definitions: Arc<Definitions>,
    how: How,
    surface: Arc<Surface>,
    hidden: Option<Arc<ShownTool>>,
}

impl Arm for Broken {
    fn info(&self) -> &ArmInfo {
        &self.info
    }

    fn open(&self, _: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        let mut tools: Vec<_> =
            self.definitions.servers.iter().flat_map(|s| s.tools.iter().map(|tool| tool.lossless.clone())).collect();
        let mut hidden = None;
        let extra = |name: &str, schema| shown(name, None, &schema).unwrap();
        match self.how {
            How::OtherBytes => tools.push(extra(&format!("build-{}", self.builds), json!({}))),
            How::Double => tools.push(tools[0].clone()),
            How::Illegal => tools.push(extra("a.b", json!({}))),
            How::Reversed => tools.reverse(),
            How::BadSchema => tools.push(extra("meta", json!({"type": "nothing"}))),
            How::Larger => tools.push(extra("meta", json!({"type": "object"}))),
            How::Drops | How::Prepends | How::SilentChange => {
                hidden = tools.pop();
                let schema = json!({"properties": {"tool_name": {"type": "string"}}});
                tools[0] = extra("s__get_tool_schema", schema);
            }
            _ => {}
        }
        Ok(Box::new(BrokenSession {
            definitions: self.definitions.clone(),
            how: self.how,
            surface: Arc::new(Surface::new(tools, String::new())),
            hidden,
        }))
    }
}

impl ArmSession for BrokenSession {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn informs(&self, name: &str) -> bool {
        name == "s__get_tool_schema"
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        if call.name == "s__get_tool_schema" {
            let mut tools = self.surface.tools().to_vec();
            let Some(hidden) = self.hidden.take() else {
                return CallOutcome::Meta { reply: String::new(), is_error: true, surface_changed: false };
            };
            if self.how == How::Drops {
                tools.pop();
            }
            let at = if self.how == How::Prepends { 0 } else { tools.len() };
            tools.insert(at, hidden);
            self.surface = Arc::new(Surface::new(tools, String::new()));
            let surface_changed = self.how != How::SilentChange;
            return CallOutcome::Meta { reply: String::new(), is_error: false, surface_changed };
        }
        let place = match self.definitions.names.get(&call.name) {
            Some(Named::Tool(place)) => place,
            None if self.how == How::GuessesNames => Place { server: 0, tool: 0 },
            _ => return CallOutcome::Rejected { reply: "unknown".to_owned() },
        };
        let tool = if self.how == How::OtherTool { 0 } else { place.tool };
        let server = &self.definitions.servers[place.server];
        let arguments = if self.how == How::OtherArguments { Map::new() } else { call.arguments.clone() };
        CallOutcome::Upstream {
            server: server.name.clone(),
            tool: server.tools[tool].upstream.name.clone(),
            arguments,
            route: Route::Direct,
            surface_changed: false,
        }
    }

    fn digest(&mut self, _: &str, _: &str, result: &ToolResult) -> ToolResult {
        if self.how == How::TouchesErrors { ToolResult::text("gone") } else { result.clone() }
    }
}

fn clauses_broken(how: How, waivers: &'static [Waiver]) -> Vec<Clause> {
    let context = context_of(catalogs_of(&[("s", json!([{"name": "a"}, {"name": "b"}, {"name": "c"}]))]));
    let builds = std::cell::Cell::new(0);
    let build = |context: &ArmContext| -> Result<Arc<dyn Arm>, ArmError> {
        builds.set(builds.get() + 1);
        let info = ArmInfo::direct("broken", "", waivers);
        let definitions = Arc::new(Definitions::new(&context.catalogs)?);
        Ok(Arc::new(Broken { info, definitions, builds: builds.get(), how }))
    };
    let clauses: BTreeSet<Clause> = Contract::new(&context)
        .unwrap()
        .check(&build, &|| {})
        .unwrap()
        .into_iter()
        .map(|finding| finding.clause)
        .collect();
    clauses.into_iter().collect()
}

#[test]
fn each_broken_clause_is_found() {
    use Clause::*;
    for (how, clause) in [
        (How::OtherBytes, SameBytes),
        (How::Double, Names),
        (How::Illegal, Names),
        (How::Reversed, Order),
        (How::BadSchema, Schemas),
        (How::OtherTool, Reachable),
        (How::OtherArguments, Reachable),
        (How::Drops, AppendOnly),
        (How::Prepends, AppendOnly),
        (How::SilentChange, AppendOnly),
        (How::Larger, NeverLarger),
        (How::TouchesErrors, ErrorsUntouched),
        (How::GuessesNames, Unknown),
    ] {
        assert!(clauses_broken(how, &[]).contains(&clause), "{clause:?}");
    }
    assert_eq!(clauses_broken(How::Well, &[]), []);
}

#[test]
fn a_waived_clause_is_no_finding() {
    assert_eq!(clauses_broken(How::Reversed, &[Waiver::Order]), []);
    assert_eq!(clauses_broken(How::Larger, &[Waiver::LargerThanL0]), []);
    assert_eq!(clauses_broken(How::OtherArguments, &[Waiver::Unreachable]), []);
}
