//! `toolsearch-*-reimpl`: Anthropic's tool search with deferred loading, emulated on the client's side for any model.

use std::sync::Arc;

use bench_results::record::Route;
use bench_tasks::lexical::{Index, tokens};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value, json};

use super::{
    Build, Materials, Ranker,
    desk::{all_catalogs, meta},
    info,
    ranking::top,
    replies,
};
use crate::{
    arms::{
        Affordance, Arm, ArmError, ArmInfo, ArmSession, CallOutcome, Scope, ToolCall, Waiver, level::unknown,
        names::Named,
    },
    surface::{ShownTool, Surface},
};

const SEARCH: &str = "tool_search_tool";
/// Tools per search.
const K: usize = 5;
/// Characters of a pattern at most.
const MAX_PATTERN: usize = 200;

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    let arm = |id: &str, summary, gaps| ArmInfo {
        gaps,
        // What no search surfaces cannot be called.
        waivers: &[Waiver::LargerThanL0, Waiver::Unreachable],
        ..info(id, summary, "Anthropic tool search and defer_loading, API docs", Affordance::SearchDirect, 1)
    };
    vec![
        (
            arm(
                "toolsearch-bm25-reimpl",
                "all tools deferred; a word search brings five at a time among the tools",
                &["BM25 parameters", "searches run in a request of their own, not inside one", "no hot tools"],
            ),
            |info, materials| build(info, materials, false),
        ),
        (
            ArmInfo {
                objection: Some("its patterns are the model's craft: a scripted model's say nothing of them"),
                ranked: false,
                ..arm(
                    "toolsearch-regex-reimpl",
                    "all tools deferred; a pattern brings the first five that match among the tools",
                    &[
                        "patterns without look-around and back references",
                        "searches run in a request of their own, not inside one",
                        "no hot tools",
                    ],
                )
            },
            |info, materials| build(info, materials, true),
        ),
    ]
}

fn build(info: ArmInfo, materials: &Materials, regex: bool) -> Result<Arc<dyn Arm>, ArmError> {
    let fields: Vec<[String; 4]> = (0..materials.len()).map(|at| fields(materials, at)).collect();
    let (engine, search) = if regex {
        let about = format!(
            "Searches names, descriptions and arguments of {} tools that are not loaded yet with a case-sensitive regular \
             expression of at most {MAX_PATTERN} characters. The first {K} that match join your tools.",
            materials.len()
        );
        let shown = meta(SEARCH, about, &[("pattern", json!({ "type": "string" }), true)])?;
        (Engine::Regex(fields), shown)
    } else {
        let about = format!(
            "Searches names, descriptions and arguments of {} tools that are not loaded yet by words. The best {K} join \
             your tools.",
            materials.len()
        );
        let shown = meta(SEARCH, about, &[("query", json!({ "type": "string" }), true)])?;
        let documents = fields.iter().map(|fields| fields.iter().flat_map(|text| tokens(text)).collect::<Vec<_>>());
        (Engine::Bm25(Words(Index::new(documents))), shown)
    };
    let initial = Arc::new(Surface::new(vec![Arc::clone(&search)], String::new()));
    let inner = Inner { materials: materials.clone(), engine, search, initial };
    Ok(Arc::new(ToolSearch { info, inner: Arc::new(inner) }))
}

/// Name as shown, description, argument names, argument descriptions.
fn fields(materials: &Materials, at: usize) -> [String; 4] {
    let empty = Map::new();
    let properties = materials.tool(at).upstream.input_schema.get("properties").and_then(Value::as_object);
    let properties = properties.unwrap_or(&empty);
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    let told: Vec<&str> =
        properties.values().filter_map(|schema| schema.get("description").and_then(Value::as_str)).collect();
    [materials.shown(at).to_owned(), materials.description(at).to_owned(), names.join("\n"), told.join("\n")]
}

enum Engine {
    Bm25(Words),
    Regex(Vec<[String; 4]>),
}

/// The word search, which takes a user's words as they are.
struct Words(Index);

impl Engine {
    fn search(&self, query: &str, k: usize) -> Result<Vec<usize>, String> {
        match self {
            Self::Bm25(words) => words.rank(query, k),
            Self::Regex(fields) => {
                let pattern = compile(query)?;
                let hits = |at: &usize| fields[*at].iter().any(|text| pattern.is_match(text));
                Ok((0..fields.len()).filter(hits).take(k).collect())
            }
        }
    }
}

fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.chars().count() > MAX_PATTERN {
        return Err(format!("error: pattern_too_long: at most {MAX_PATTERN} characters"));
    }
    RegexBuilder::new(pattern).build().map_err(|error| format!("error: invalid_pattern: {error}"))
}

struct ToolSearch {
    info: ArmInfo,
    inner: Arc<Inner>,
}

struct Inner {
    materials: Materials,
    engine: Engine,
    search: Arc<ShownTool>,
    initial: Arc<Surface>,
}

impl Arm for ToolSearch {
    fn info(&self) -> &ArmInfo {
        &self.info
    }

    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        all_catalogs(&self.info, scope)?;
        let surface = Arc::clone(&self.inner.initial);
        Ok(Box::new(SearchSession { inner: Arc::clone(&self.inner), found: Vec::new(), surface }))
    }

    /// A user's words are no pattern: what a pattern finds is the merit of who wrote it, so that search is not measured.
    fn ranker(&self) -> Option<&dyn Ranker> {
        match &self.inner.engine {
            Engine::Bm25(words) => Some(words),
            Engine::Regex(_) => None,
        }
    }
}

impl Ranker for Words {
    fn rank(&self, query: &str, k: usize) -> Result<Vec<usize>, String> {
        Ok(top(&self.0.bm25(&tokens(query)), k))
    }

    fn shortlist(&self) -> usize {
        K
    }
}

struct SearchSession {
    inner: Arc<Inner>,
    /// In order of discovery.
    found: Vec<usize>,
    surface: Arc<Surface>,
}

impl SearchSession {
    fn search(&mut self, arguments: &Map<String, Value>) -> Result<(String, bool), String> {
        let key = if matches!(self.inner.engine, Engine::Regex(_)) { "pattern" } else { "query" };
        let hits = self.inner.engine.search(replies::text(arguments, key)?, K)?;
        let before = self.found.len();
        for &at in &hits {
            if !self.found.contains(&at) {
                self.found.push(at);
            }
        }
        let materials = &self.inner.materials;
        let news = self.found.len() > before;
        if news {
            let tools = self.found.iter().map(|&at| Arc::clone(&materials.tool(at).raw));
            let tools = [Arc::clone(&self.inner.search)].into_iter().chain(tools).collect();
            self.surface = Arc::new(Surface::new(tools, String::new()));
        }
        Ok((replies::array(hits.into_iter().map(|at| replies::definition(materials, at, &[]))), news))
    }
}

impl ArmSession for SearchSession {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn informs(&self, name: &str) -> bool {
        name == SEARCH
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        if call.name == SEARCH {
            return match self.search(&call.arguments) {
                Ok((reply, surface_changed)) => CallOutcome::Meta { reply, is_error: false, surface_changed },
                Err(reply) => CallOutcome::Meta { reply, is_error: true, surface_changed: false },
            };
        }
        let materials = &self.inner.materials;
        match materials.definitions().names.get(&call.name) {
            Some(Named::Tool(place)) if self.found.contains(&materials.position(place)) => {
                materials.forward(materials.position(place), call.arguments.clone(), Route::Fetched, false)
            }
            Some(Named::Tool(_)) => CallOutcome::Rejected {
                reply: format!("error: `{}` is not loaded; find it with `{SEARCH}` first", call.name),
            },
            _ => CallOutcome::Rejected { reply: unknown(&call.name) },
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

    fn names(session: &dyn ArmSession) -> Vec<&str> {
        session.surface().tools().iter().map(|tool| tool.name()).collect()
    }

    #[test]
    fn surfaces_over_two_servers() {
        for kind in ["bm25", "regex"] {
            insta::assert_snapshot!(
                format!("surface_{kind}"),
                some(&format!("toolsearch-{kind}-reimpl"), &["memory", "time"])
            );
        }
    }

    #[test]
    fn what_is_found_joins_the_list_in_order_of_discovery_and_stays() {
        let mut session = open("toolsearch-regex-reimpl");
        let search = |pattern: &str| call(SEARCH, json!({ "pattern": pattern }));
        assert!(matches!(session.call(&call("git__git_log", json!({}))), CallOutcome::Rejected { .. }));
        session.call(&search("^time__convert"));
        session.call(&search("^git__git_log$|^time__convert"));
        assert_eq!(names(session.as_ref()), [SEARCH, "time__convert_time", "git__git_log"]);
        assert!(matches!(
            session.call(&search("^git__git_log$")),
            CallOutcome::Meta { surface_changed: false, is_error: false, .. }
        ));
        assert!(matches!(
            session.call(&call("git__git_log", json!({}))),
            CallOutcome::Upstream { route: Route::Fetched, .. }
        ));
    }

    #[test]
    fn a_pattern_takes_the_first_five_in_catalog_order_and_respects_case() {
        let mut session = open("toolsearch-regex-reimpl");
        session.call(&call(SEARCH, json!({ "pattern": "." })));
        assert_eq!(names(session.as_ref()).len(), 6);
        assert!(names(session.as_ref())[1..].iter().all(|name| name.starts_with("everything__")));
        let CallOutcome::Meta { reply, .. } = session.call(&call(SEARCH, json!({ "pattern": "GIT_LOG" }))) else {
            panic!()
        };
        assert_eq!(reply, "[]");
    }

    #[test]
    fn bad_patterns_are_named() {
        let mut session = open("toolsearch-regex-reimpl");
        for (pattern, code) in [("x".repeat(201), "pattern_too_long"), ("(?=x)".to_owned(), "invalid_pattern")] {
            let outcome = session.call(&call(SEARCH, json!({ "pattern": pattern })));
            let CallOutcome::Meta { reply, is_error: true, .. } = outcome else { panic!("{outcome:?}") };
            assert!(reply.contains(code), "{reply}");
        }
    }

    #[test]
    fn every_reference_tool_is_found_by_its_own_name() {
        let context = context();
        let arm = registry::build("toolsearch-bm25-reimpl", &context).unwrap();
        for (position, (_, tool)) in context.catalogs.tools().enumerate() {
            let found = arm.ranker().unwrap().rank(&tool.name, K).unwrap();
            assert!(found.contains(&position), "{}", tool.name);
        }
    }
}
