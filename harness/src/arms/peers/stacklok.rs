//! `stacklok-*-reimpl`: Stacklok's tool optimizer, `find_tool` half by meaning and half by words, and `call_tool`.

mod fts;

use std::sync::Arc;

use serde_json::json;

use self::fts::FullText;
use super::{
    Build, Materials, Ranker,
    desk::{Answer, Desk, DeskArm, meta},
    info,
    ranking::{first, top},
    replies,
    space::Space,
};
use crate::arms::{Affordance, Arm, ArmError, ArmInfo, Embedding, ToolCall};

const FIND: &str = "find_tool";
const CALL: &str = "call_tool";
/// Tools per search.
const K: usize = 8;

/// What is ours in several variants.
const FULL_TEXT: &str = "full text scored by BM25 over Porter stems, not by SQLite itself";
const HALVES: &str = "which of the two inputs each half reads";
const REPLIES: &str = "scores and token metrics are left out of replies";

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    let fts = ArmInfo {
        objection: Some("its own fallback, without the embeddings that it is meant to run with"),
        ranked: false,
        gaps: &[FULL_TEXT, "the word search reads the keywords, or the description where there are none", REPLIES],
        ..arm("stacklok-fts-reimpl", "a full-text search for eight definitions, called through one tool")
    };
    let lex = ArmInfo {
        objection: Some("built for an embedding model: a word match understates it"),
        ranked: false,
        gaps: &["TF-IDF cosine in place of bge-small-en-v1.5", FULL_TEXT, HALVES, REPLIES],
        ..arm("stacklok-lex-reimpl", "four hits by TF-IDF, four by full text, called through one tool")
    };
    vec![
        (fts, |info, materials| build(info, materials, None)),
        (lex, |info, materials| build(info, materials, Some(materials.space(false)?))),
    ]
}

/// The arm that needs an embedder.
pub(super) fn embedded() -> (ArmInfo, Build) {
    let arm = ArmInfo {
        embedding: Some(Embedding::Model("bge-small-en-v1.5")),
        ranked: false,
        gaps: &[
            "the embedder that is given, in place of bge-small-en-v1.5 where it is another",
            FULL_TEXT,
            HALVES,
            REPLIES,
        ],
        ..arm("stacklok-emb-reimpl", "four hits by embedding, four by full text, called through one tool")
    };
    (arm, |info, materials| build(info, materials, Some(materials.space(true)?)))
}

fn arm(id: &str, summary: &'static str) -> ArmInfo {
    info(id, summary, "Stacklok optimizer, docs; public source", Affordance::SearchInvoke, 1)
}

fn build(info: ArmInfo, materials: &Materials, space: Option<Space>) -> Result<Arc<dyn Arm>, ArmError> {
    let shown = vec![
        meta(
            FIND,
            format!(
                "Finds tools: say what the tool should do, and give keywords if you can. You get up to {K} definitions; call \
                 one with `{CALL}`."
            ),
            &[
                ("tool_description", json!({ "type": "string" }), true),
                ("tool_keywords", json!({ "type": "array", "items": { "type": "string" } }), false),
            ],
        )?,
        meta(
            CALL,
            format!("Calls a tool that `{FIND}` found, by its name."),
            &[("tool_name", json!({ "type": "string" }), true), ("parameters", json!({ "type": "object" }), true)],
        )?,
    ];
    let text = FullText::new((0..materials.len()).map(|at| [materials.name(at), materials.description(at)]));
    Ok(DeskArm::build(info, Arc::new(Stacklok { materials: materials.clone(), text, space }), shown))
}

struct Stacklok {
    materials: Materials,
    text: FullText,
    space: Option<Space>,
}

impl Stacklok {
    /// Hits by meaning first, then hits by words that are not among them, `k` in all.
    fn find(&self, description: &str, keywords: &str, k: usize) -> Result<Vec<usize>, String> {
        let by_words = |k| top(&self.text.scores(keywords), k);
        let Some(space) = &self.space else { return Ok(by_words(k)) };
        let half = k.div_ceil(2);
        let mut found = first(&space.cosine(description)?, half);
        for at in by_words(k - half) {
            if !found.contains(&at) {
                found.push(at);
            }
        }
        Ok(found)
    }

    fn call(&self, call: &ToolCall) -> Result<Answer, String> {
        if call.name == CALL {
            let name = replies::text(&call.arguments, "tool_name")?;
            let at = self.materials.find(name).ok_or_else(|| self.materials.no_tool(name))?;
            return Ok(Answer::Forwards(at, replies::inner(&call.arguments, "parameters")));
        }
        let description = replies::text(&call.arguments, "tool_description")?;
        let keywords = match replies::given(&call.arguments, "tool_keywords") {
            None => String::new(),
            Some(_) => replies::texts(&call.arguments, "tool_keywords")?.join(" "),
        };
        let keywords = if keywords.is_empty() { description } else { &keywords };
        let found = self.find(description, keywords, K)?;
        let tools = replies::array(found.into_iter().map(|at| replies::definition(&self.materials, at, &[])));
        Ok(Answer::Says(format!("{{\"tools\":{tools}}}")))
    }
}

impl Ranker for Stacklok {
    fn rank(&self, query: &str, k: usize) -> Result<Vec<usize>, String> {
        self.find(query, query, k)
    }

    fn shortlist(&self) -> usize {
        K
    }
}

impl Desk for Stacklok {
    fn materials(&self) -> &Materials {
        &self.materials
    }

    fn informs(&self, name: &str) -> bool {
        name == FIND
    }

    fn answer(&self, call: &ToolCall) -> Option<Result<Answer, String>> {
        [FIND, CALL].contains(&call.name.as_str()).then(|| self.call(call))
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
        let fts = some("stacklok-fts-reimpl", &["memory", "time"]);
        assert_eq!(fts, some("stacklok-lex-reimpl", &["memory", "time"]));
        insta::assert_snapshot!(fts);
    }

    #[test]
    fn the_meaning_half_stands_first_and_words_add_what_is_new() {
        let context = context();
        let rank = |id: &str, k| {
            let arm = registry::build(id, &context).unwrap();
            arm.ranker().unwrap().rank("show commit history of a repository", k).unwrap()
        };
        let (words, both) = (rank("stacklok-fts-reimpl", 4), rank("stacklok-lex-reimpl", 8));
        assert_eq!(words.len(), 4);
        assert!((4..=8).contains(&both.len()));
        assert!(words.iter().all(|at| both.contains(at)));
    }

    #[test]
    fn keywords_take_the_place_of_the_description_in_the_word_search() {
        let mut session = registry::build("stacklok-fts-reimpl", &context()).unwrap().open(Scope::Catalogs).unwrap();
        let arguments =
            json!({ "tool_description": "nothing that is there xyzzy", "tool_keywords": ["timezone", "convert"] });
        let CallOutcome::Meta { reply, .. } = session.call(&call(FIND, arguments)) else { panic!() };
        assert!(reply.starts_with(r#"{"tools":[{"name":"time__convert_time""#), "{reply}");
    }
}
