//! `speakeasy-lex-reimpl`: Speakeasy's dynamic toolsets, a search for names, schemas on request, one tool that calls.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use bench_tasks::lexical::tokens;
use serde_json::json;

use super::{
    Build, Materials, Ranker,
    desk::{Answer, Desk, DeskArm, meta},
    info,
    ranking::{among, first},
    replies,
    space::Space,
};
use crate::arms::{Affordance, Arm, ArmError, ArmInfo, Embedding, ToolCall};

const SEARCH: &str = "search_tools";
const DESCRIBE: &str = "describe_tools";
const EXECUTE: &str = "execute_tool";
/// Tools per search, and schemas per request at most.
const K: usize = 5;
/// Words that a server's line in the overview has.
const OVERVIEW_WORDS: usize = 6;

/// What is ours in both variants.
const HITS: &str = "five hits per search";
const OVERVIEW: &str = "what the category overview says";
const INPUTS: &str = "exact inputs of the three tools";

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    let lex = ArmInfo {
        objection: Some("built for an embedding model: a word match understates it"),
        ranked: false,
        gaps: &[
            "TF-IDF cosine over name and description in place of an unnamed embedding model",
            HITS,
            OVERVIEW,
            INPUTS,
        ],
        ..arm("speakeasy-lex-reimpl", "search for names by TF-IDF, then their schemas, called through one tool")
    };
    vec![(lex, |info, materials| build(info, materials, false))]
}

/// The arm that needs an embedder.
pub(super) fn embedded() -> (ArmInfo, Build) {
    let arm = ArmInfo {
        embedding: Some(Embedding::Unnamed),
        ranked: false,
        gaps: &["which embedding model, and what it reads of a tool", HITS, OVERVIEW, INPUTS],
        ..arm("speakeasy-emb-reimpl", "search for names by embedding, then their schemas, called through one tool")
    };
    (arm, |info, materials| build(info, materials, true))
}

fn arm(id: &str, summary: &'static str) -> ArmInfo {
    info(id, summary, "Speakeasy dynamic toolsets, blog and docs", Affordance::SearchSchemaInvoke, 2)
}

fn build(info: ArmInfo, materials: &Materials, dense: bool) -> Result<Arc<dyn Arm>, ArmError> {
    let text = || json!({ "type": "string" });
    let list = || json!({ "type": "array", "items": { "type": "string" } });
    let shown = vec![
        meta(
            SEARCH,
            format!(
                "Finds tools by what they do: names and short descriptions. Then `{DESCRIBE}` gives schemas and `{EXECUTE}` \
                 calls. `tags` keeps to some servers. There are:\n{}",
                overview(materials)
            ),
            &[("query", text(), true), ("tags", list(), false)],
        )?,
        meta(DESCRIBE, format!("Gives the schemas of up to {K} tools by name."), &[("names", list(), true)])?,
        meta(
            EXECUTE,
            format!("Calls a tool, with arguments that fit the schema that `{DESCRIBE}` gives."),
            &[("name", text(), true), ("arguments", json!({ "type": "object" }), true)],
        )?,
    ];
    Ok(DeskArm::build(
        info,
        Arc::new(Speakeasy { materials: materials.clone(), space: materials.space(dense)? }),
        shown,
    ))
}

/// A line per server: its number of tools and the most frequent words of their names, ties by word.
fn overview(materials: &Materials) -> String {
    let lines = materials.definitions().servers.iter().map(|server| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for token in server.tools.iter().flat_map(|tool| tokens(&tool.upstream.name)) {
            *counts.entry(token).or_default() += 1;
        }
        let mut words: Vec<(Reverse<usize>, String)> =
            counts.into_iter().map(|(word, count)| (Reverse(count), word)).collect();
        words.sort();
        let words: Vec<String> = words.into_iter().take(OVERVIEW_WORDS).map(|(_, word)| word).collect();
        format!("{} ({} tools): {}", server.name, server.tools.len(), words.join(", "))
    });
    lines.collect::<Vec<_>>().join("\n")
}

struct Speakeasy {
    materials: Materials,
    space: Space,
}

impl Speakeasy {
    fn call(&self, call: &ToolCall) -> Result<Answer, String> {
        let known = |name: &str| self.materials.find(name).ok_or_else(|| self.materials.no_tool(name));
        match call.name.as_str() {
            SEARCH => {
                let scores = self.space.cosine(replies::text(&call.arguments, "query")?)?;
                let found = if replies::given(&call.arguments, "tags").is_none() {
                    first(&scores, K)
                } else {
                    let tags = replies::texts(&call.arguments, "tags")?;
                    among(
                        &scores,
                        (0..self.materials.len()).filter(|&at| tags.contains(&&**self.materials.server(at))),
                        K,
                    )
                };
                let hit = |at| {
                    let purpose = replies::first_sentence(&self.materials, at);
                    replies::object(self.materials.shown(at), purpose.as_deref(), None, &[])
                };
                Ok(Answer::Says(replies::array(found.into_iter().map(hit))))
            }
            DESCRIBE => {
                let names = replies::texts(&call.arguments, "names")?;
                if names.len() > K {
                    return Err(format!("error: at most {K} names at a time"));
                }
                let found: Vec<usize> = names.into_iter().map(known).collect::<Result<_, _>>()?;
                Ok(Answer::Says(replies::array(
                    found.into_iter().map(|at| replies::definition(&self.materials, at, &[])),
                )))
            }
            _ => {
                let at = known(replies::text(&call.arguments, "name")?)?;
                Ok(Answer::Forwards(at, replies::inner(&call.arguments, "arguments")))
            }
        }
    }
}

impl Ranker for Speakeasy {
    fn rank(&self, query: &str, k: usize) -> Result<Vec<usize>, String> {
        Ok(first(&self.space.cosine(query)?, k))
    }

    fn shortlist(&self) -> usize {
        K
    }
}

impl Desk for Speakeasy {
    fn materials(&self) -> &Materials {
        &self.materials
    }

    fn informs(&self, name: &str) -> bool {
        [SEARCH, DESCRIBE].contains(&name)
    }

    fn answer(&self, call: &ToolCall) -> Option<Result<Answer, String>> {
        (call.name == EXECUTE || self.informs(&call.name)).then(|| self.call(call))
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
        fixtures::{call, context, some},
        registry,
    };

    #[test]
    fn surface_over_two_servers() {
        insta::assert_snapshot!(some("speakeasy-lex-reimpl", &["memory", "time"]));
    }

    #[test]
    fn a_search_names_a_description_defines_and_tags_keep_to_servers() {
        let mut session = registry::build("speakeasy-lex-reimpl", &context()).unwrap().open(Scope::Catalogs).unwrap();
        let mut says = |name: &str, arguments| match session.call(&call(name, arguments)) {
            CallOutcome::Meta { reply, .. } => reply,
            other => panic!("{other:?}"),
        };
        let found = says(SEARCH, json!({ "query": "show the commit logs" }));
        assert!(found.starts_with(r#"[{"name":"git__git_log","description":"Shows the commit logs"}"#), "{found}");
        let found = says(SEARCH, json!({ "query": "show the commit logs", "tags": ["time"] }));
        assert_eq!(found.matches("\"name\":\"time__").count(), 2, "{found}");
        for nothing in [json!([]), json!(null), json!("")] {
            let found = says(SEARCH, json!({ "query": "show the commit logs", "tags": nothing }));
            assert!(found.starts_with(r#"[{"name":"git__git_log""#), "{nothing}: {found}");
        }
        let schemas = says(DESCRIBE, json!({ "names": ["git__git_log", "time__convert_time"] }));
        assert_eq!(schemas.matches("\"inputSchema\"").count(), 2, "{schemas}");
        assert!(says(DESCRIBE, json!({ "names": ["a", "b", "c", "d", "e", "f"] })).contains("at most 5"));
    }
}
