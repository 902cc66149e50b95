//! `retrieve-bm25-reimpl`: mcpproxy-go's `retrieve_tools`, a boosted word search with definitions, called by a wrapper.

use std::sync::Arc;

use bench_tasks::lexical::{Index, tokens};
use regex::Regex;
use serde_json::{Value, json};

use super::{
    Build, Materials, Ranker,
    desk::{Answer, Desk, DeskArm, meta},
    info,
    ranking::top,
    replies,
};
use crate::arms::{Affordance, Arm, ArmError, ArmInfo, ToolCall, names::Named};

const RETRIEVE: &str = "retrieve_tools";
const DESCRIBE: &str = "describe_tool";
const CALL: &str = "call_tool";
/// Tools per search, by default and at most.
const LIMIT: usize = 15;
const MAX_LIMIT: usize = 100;
/// Names per description at most.
const MAX_NAMES: usize = 5;
/// Weight of a match in name, full name, description and parameters together.
const SEARCHABLE: f64 = 1.5;
/// Boosts where the query is the name, is the full name, starts the name, stands in the name.
const EXACT: f64 = 5.0;
const EXACT_FULL: f64 = 4.0;
const PREFIX: f64 = 3.0;
const WILDCARD: f64 = 2.5;

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    let retrieve = ArmInfo {
        gaps: &[
            "boosts are added to BM25 scores (the library's own scoring is not specified)",
            "one tool that calls in place of three permission variants",
            "management tools, profiles and code execution are left out",
        ],
        objection: Some("its own set of 45 tools, recall@5 0.68, is not this suite"),
        ..info(
            "retrieve-bm25-reimpl",
            "a boosted word search with up to fifteen definitions, called through one tool",
            "mcpproxy-go retrieve_tools, docs; public source of 2026 (20a3e509)",
            Affordance::SearchInvoke,
            1,
        )
    };
    vec![(retrieve, build)]
}

fn build(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let text = || json!({ "type": "string" });
    let list = || json!({ "type": "array", "items": { "type": "string" } });
    let shown = vec![
        meta(
            RETRIEVE,
            format!("Finds tools by words, with their definitions. Do this first; then call one with `{CALL}`."),
            &[
                ("query", text(), true),
                ("limit", json!({ "type": "integer", "default": LIMIT, "minimum": 1, "maximum": MAX_LIMIT }), false),
            ],
        )?,
        meta(
            DESCRIBE,
            format!("Gives the definitions of up to {MAX_NAMES} tools by name."),
            &[("names", list(), true)],
        )?,
        meta(
            CALL,
            format!("Calls a tool that `{RETRIEVE}` found. `args` are its arguments, by its schema."),
            &[("name", text(), true), ("args", json!({ "type": "object" }), false)],
        )?,
    ];
    let searchable = |at: usize| {
        let schema = materials.tool(at).upstream.input_schema.to_string();
        let parts = [materials.name(at), materials.shown(at), materials.description(at), &schema];
        parts.iter().flat_map(|part| tokens(part)).collect::<Vec<_>>()
    };
    let desk = Retrieve {
        materials: materials.clone(),
        names: NameIndex::new(materials),
        searchable: Index::new((0..materials.len()).map(searchable)),
        descriptions: Index::new((0..materials.len()).map(|at| tokens(materials.description(at)))),
    };
    Ok(DeskArm::build(info, Arc::new(desk), shown))
}

struct Retrieve {
    materials: Materials,
    names: NameIndex,
    searchable: Index,
    descriptions: Index,
}

impl Retrieve {
    fn scores(&self, query: &str) -> Vec<f64> {
        let words = tokens(query);
        let mut scores = self.searchable.bm25(&words);
        for (score, description) in scores.iter_mut().zip(self.descriptions.bm25(&words)) {
            *score = SEARCHABLE * *score + description;
        }
        for (at, boost) in self.boosts(query) {
            scores[at] += boost;
        }
        scores
    }

    /// What the query adds to a tool's score because of its name; a tool may come up more than once.
    fn boosts(&self, query: &str) -> Vec<(usize, f64)> {
        let mut boosts: Vec<(usize, f64)> = Vec::new();
        for at in self.names.starting_with(query) {
            boosts.extend((self.materials.name(at) == query).then_some((at, EXACT)));
            boosts.extend((!query.is_empty()).then_some((at, PREFIX)));
        }
        if let Some(Named::Tool(place)) = self.materials.definitions().names.get(query) {
            boosts.push((self.materials.position(place), EXACT_FULL));
        }
        if query.contains('_') {
            boosts.extend(self.names.holding(query).into_iter().map(|at| (at, WILDCARD)));
        }
        boosts
    }

    fn call(&self, call: &ToolCall) -> Result<Answer, String> {
        let known = |name: &str| self.materials.find(name).ok_or_else(|| self.materials.no_tool(name));
        match call.name.as_str() {
            RETRIEVE => {
                let scores = self.scores(replies::text(&call.arguments, "query")?);
                let limit = replies::number(&call.arguments, "limit", LIMIT, 1..=MAX_LIMIT);
                let entry = |at: usize| {
                    let more = [
                        // Four digits tell apart what is apart, and look the same everywhere.
                        ("score", json!((scores[at] * 1e4).round() / 1e4)),
                        ("server", Value::from(&**self.materials.server(at))),
                    ];
                    replies::definition(&self.materials, at, &more)
                };
                Ok(Answer::Says(replies::array(top(&scores, limit).into_iter().map(entry))))
            }
            DESCRIBE => {
                let names = replies::texts(&call.arguments, "names")?;
                if names.len() > MAX_NAMES {
                    return Err(format!("error: at most {MAX_NAMES} names at a time"));
                }
                let found: Vec<usize> = names.into_iter().map(known).collect::<Result<_, _>>()?;
                let entries = found.into_iter().map(|at| replies::definition(&self.materials, at, &[]));
                Ok(Answer::Says(replies::array(entries)))
            }
            _ => {
                let at = known(replies::text(&call.arguments, "name")?)?;
                Ok(Answer::Forwards(at, replies::inner(&call.arguments, "args")))
            }
        }
    }
}

/// The names of all tools, to be searched without looking at each.
struct NameIndex {
    /// One after another, in catalog order.
    text: String,
    /// Where each begins in the text, and one past the end.
    starts: Vec<usize>,
    /// Positions by name.
    sorted: Vec<usize>,
}

impl NameIndex {
    fn new(materials: &Materials) -> Self {
        let (mut text, mut starts) = (String::new(), vec![0]);
        for at in 0..materials.len() {
            text.push_str(materials.name(at));
            starts.push(text.len());
        }
        let mut index = Self { text, starts, sorted: Vec::new() };
        let mut sorted: Vec<usize> = (0..materials.len()).collect();
        sorted.sort_unstable_by(|&a, &b| index.name(a).cmp(index.name(b)).then(a.cmp(&b)));
        index.sorted = sorted;
        index
    }

    fn name(&self, at: usize) -> &str {
        &self.text[self.starts[at]..self.starts[at + 1]]
    }

    /// Positions of the tools whose names start so.
    fn starting_with(&self, prefix: &str) -> impl Iterator<Item = usize> {
        let first = self.sorted.partition_point(|&at| self.name(at) < prefix);
        self.sorted[first..].iter().copied().take_while(move |&at| self.name(at).starts_with(prefix))
    }

    /// Positions of the tools whose names hold a text, which is not empty, in rising order.
    fn holding(&self, text: &str) -> Vec<usize> {
        // Looking for a literal, the engine compares many bytes at a time; names are short, so that it pays to pass over
        // all of them at once.
        let Ok(literal) = Regex::new(&regex::escape(text)) else { return Vec::new() };
        let mut found: Vec<usize> = Vec::new();
        let mut from = 0;
        while let Some(hit) = literal.find_at(&self.text, from) {
            let at = self.starts.partition_point(|&start| start <= hit.start()) - 1;
            if hit.end() <= self.starts[at + 1] {
                found.push(at);
                from = self.starts[at + 1];
            } else {
                // It reaches into the next name: that one may hold it by itself.
                from = hit.start() + self.text[hit.start()..].chars().next().map_or(1, char::len_utf8);
            }
        }
        found
    }
}

impl Ranker for Retrieve {
    fn rank(&self, query: &str, k: usize) -> Result<Vec<usize>, String> {
        Ok(top(&self.scores(query), k))
    }

    fn shortlist(&self) -> usize {
        LIMIT
    }
}

impl Desk for Retrieve {
    fn materials(&self) -> &Materials {
        &self.materials
    }

    fn informs(&self, name: &str) -> bool {
        [RETRIEVE, DESCRIBE].contains(&name)
    }

    fn answer(&self, call: &ToolCall) -> Option<Result<Answer, String>> {
        (call.name == CALL || self.informs(&call.name)).then(|| self.call(call))
    }

    fn ranker(&self) -> Option<&dyn Ranker> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::{
        CallOutcome, Scope,
        fixtures::{call, catalogs_of, context, context_of, some},
        registry,
    };

    const ID: &str = "retrieve-bm25-reimpl";

    #[test]
    fn surface_over_two_servers() {
        insta::assert_snapshot!(some(ID, &["memory", "time"]));
    }

    #[test]
    fn the_limit_bounds_the_entries_and_entries_say_server_and_score() {
        let mut session = registry::build(ID, &context()).unwrap().open(Scope::Catalogs).unwrap();
        let mut found = |arguments| match session.call(&call(RETRIEVE, arguments)) {
            CallOutcome::Meta { reply, .. } => serde_json::from_str::<Vec<Value>>(&reply).unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!(found(json!({ "query": "file" })).len(), LIMIT);
        assert_eq!(found(json!({ "query": "file", "limit": 3 })).len(), 3);
        let first = &found(json!({ "query": "git_log" }))[0];
        assert_eq!((first["name"].as_str(), first["server"].as_str()), (Some("git__git_log"), Some("git")));
        assert!(first["score"].as_f64().unwrap() > EXACT + PREFIX + WILDCARD);
    }

    #[test]
    fn a_query_that_is_the_name_is_boosted_over_longer_names() {
        let arm = registry::build(ID, &context()).unwrap();
        let context = context();
        let names: Vec<&str> = context.catalogs.tools().map(|(_, tool)| &*tool.name).collect();
        let ranked = arm.ranker().unwrap().rank("git_diff", 2).unwrap();
        assert_eq!(names[ranked[0]], "git_diff");
    }

    #[test]
    fn boosts_are_those_of_looking_at_every_name() {
        let tools = |names: &[&str]| Value::Array(names.iter().map(|name| json!({ "name": name })).collect());
        let catalogs = catalogs_of(&[
            ("a", tools(&["get_a", "get_", "a_get", "é_get_a"])),
            ("b", tools(&["get_a", "_a_a", "t_a", "x"])),
        ]);
        let context = context_of(catalogs);
        let registry = registry::Registry::new(&context).unwrap();
        let materials = registry.materials();
        let desk = Retrieve {
            materials: materials.clone(),
            names: NameIndex::new(materials),
            searchable: Index::default(),
            descriptions: Index::default(),
        };
        for query in ["get_a", "get_", "get", "_a", "_a_a", "a__get_a", "b__x", "é_", "_get", "x", "y_", ""] {
            let expected: Vec<f64> = (0..materials.len())
                .map(|at| {
                    let name = materials.name(at);
                    let cases = [
                        (query == name, EXACT),
                        (query == materials.shown(at), EXACT_FULL),
                        (!query.is_empty() && name.starts_with(query), PREFIX),
                        (query.contains('_') && name.contains(query), WILDCARD),
                    ];
                    cases.iter().filter(|(holds, _)| *holds).map(|(_, boost)| boost).sum()
                })
                .collect();
            let mut boosts = vec![0.0; materials.len()];
            desk.boosts(query).into_iter().for_each(|(at, boost)| boosts[at] += boost);
            assert_eq!(boosts, expected, "{query}");
        }
    }
}
