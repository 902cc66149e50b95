//! `cartograph-*-reimpl` and `jaccard-k5-reimpl`: Cartograph's three tools in front of signed cards, and its baseline.

mod card;
mod retrieval;
mod space;

use std::sync::Arc;

use bench_protocol::digest::Digest;
use bench_tasks::lexical::tokens;
use serde_json::{Value, json};

pub use self::{
    card::{CardError, SignedCard},
    space::CardSpace,
};

use self::{
    card::{Card, Wording},
    retrieval::TwoStage,
};
use super::{
    Build, Materials, Ranker,
    desk::{Answer, Desk, DeskArm, meta},
    info,
    ranking::first,
    replies,
};
use crate::arms::{Affordance, Arm, ArmError, ArmInfo, Embedding, ToolCall};

const DISCOVER: &str = "discover";
const STATUS: &str = "status";
const CALL: &str = "call";
/// Tools per search, by default and at most.
const K: usize = 5;
const MAX_K: usize = 20;

/// What a shortlist entry says of a tool's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Schema,
    Signature,
}

/// How tools are searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// In two stages, by words.
    Words,
    /// In two stages, by an embedder.
    Dense,
    /// In one stage, by shared words of publishers' texts.
    Jaccard,
}

/// The model that Cartograph embeds with.
const MODEL: &str = "all-MiniLM-L6-v2";
/// What is ours in several variants.
const INPUTS: &str = "inputs of the three tools";
const TEMPLATE: &str = "the template that cards are written by";
const STAGES: &str = "how many servers the first stage keeps, and what their centroids are made of";
const SCHEMAS: &str = "shortlist entries carry schemas (the published size suggests less)";
const LEX: &str = "TF-IDF cosine in place of all-MiniLM-L6-v2";
const DENSE: &str = "the embedder that is given, in place of all-MiniLM-L6-v2 where it is another";
const SIGNATURES: &str = "shortlist entries carry signatures (what they carry is not published)";
const PROSE: &str =
    "summaries are the publishers' first sentences, which its cards never hold; capabilities are by our template";
const WORDS: &str = "how texts are cut into words";

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    let lex = |id: &str, summary, gaps| ArmInfo {
        objection: Some("built for MiniLM: a word match understates it"),
        ranked: false,
        ..arm(id, summary, gaps)
    };
    vec![
        (
            lex(
                "cartograph-lex-reimpl",
                "cards, servers then tools by TF-IDF, five with schemas",
                &[LEX, INPUTS, TEMPLATE, STAGES, SCHEMAS],
            ),
            |info, materials| build(info, materials, Wording::Bootstrap, Detail::Schema, Method::Words),
        ),
        (
            lex(
                "cartograph-brief-reimpl",
                "as cartograph-lex, five with signatures in place of schemas",
                &[LEX, INPUTS, TEMPLATE, STAGES, SIGNATURES],
            ),
            |info, materials| build(info, materials, Wording::Bootstrap, Detail::Signature, Method::Words),
        ),
        (
            lex(
                "cartograph-desc-reimpl",
                "as cartograph-lex, cards say what the publisher says",
                &[LEX, INPUTS, PROSE, STAGES, SCHEMAS],
            ),
            |info, materials| build(info, materials, Wording::Publisher, Detail::Schema, Method::Words),
        ),
        (
            ArmInfo {
                objection: Some("its paper's baseline, not its method"),
                ranked: false,
                ..arm(
                    "jaccard-k5-reimpl",
                    "the same three tools, five by shared words of name and description",
                    &[WORDS, INPUTS, TEMPLATE, SCHEMAS],
                )
            },
            |info, materials| build(info, materials, Wording::Bootstrap, Detail::Schema, Method::Jaccard),
        ),
    ]
}

/// The arm that needs an embedder.
pub(super) fn embedded() -> (ArmInfo, Build) {
    let arm = ArmInfo {
        embedding: Some(Embedding::Model(MODEL)),
        ranked: false,
        ..arm(
            "cartograph-emb-reimpl",
            "cards, servers then tools by embedding, five with schemas",
            &[DENSE, INPUTS, TEMPLATE, STAGES, SCHEMAS],
        )
    };
    (arm, |info, materials| build(info, materials, Wording::Bootstrap, Detail::Schema, Method::Dense))
}

fn arm(id: &str, summary: &'static str, gaps: &'static [&'static str]) -> ArmInfo {
    ArmInfo { gaps, ..info(id, summary, "Cartograph, a published summary", Affordance::SearchInvoke, 1) }
}

fn build(
    info: ArmInfo,
    materials: &Materials,
    wording: Wording,
    detail: Detail,
    search: Method,
) -> Result<Arc<dyn Arm>, ArmError> {
    let text = || json!({ "type": "string" });
    let shown = vec![
        meta(
            DISCOVER,
            format!("Finds the tools that fit a task. Do this first; then call one with `{CALL}`."),
            &[
                ("task", text(), true),
                ("k", json!({ "type": "integer", "default": K, "minimum": 1, "maximum": MAX_K }), false),
            ],
        )?,
        meta(STATUS, "Tells which servers there are, or which tools one has.", &[("server", text(), false)])?,
        meta(
            CALL,
            format!("Calls a tool that `{DISCOVER}` found."),
            &[("server", text(), true), ("tool", text(), true), ("arguments", json!({ "type": "object" }), true)],
        )?,
    ];
    let catalogs = &materials.context().catalogs;
    let CardSpace { cards, space, .. } = match search {
        Method::Dense => CardSpace::dense(catalogs, materials.embedder()?)?,
        Method::Words | Method::Jaccard => CardSpace::worded(catalogs, wording),
    };
    let search = if search == Method::Jaccard {
        Search::Jaccard
    } else {
        Search::TwoStage(TwoStage::new(space, (0..materials.servers()).map(|server| materials.of_server(server))))
    };
    let ids = cards.iter().map(card_id).collect();
    Ok(DeskArm::build(info, Arc::new(Cartograph { materials: materials.clone(), cards, ids, search, detail }), shown))
}

enum Search {
    TwoStage(TwoStage),
    Jaccard,
}

struct Cartograph {
    materials: Materials,
    cards: Vec<Card>,
    /// By card.
    ids: Vec<String>,
    search: Search,
    detail: Detail,
}

impl Cartograph {
    fn entry(&self, at: usize) -> String {
        let place = self.materials.place(at);
        let (card, tool) = (&self.cards[place.server], self.materials.tool(at));
        let summary = &card.tools[place.tool].summary;
        let how = match self.detail {
            Detail::Schema => format!("\"inputSchema\":{}", tool.raw.schema()),
            Detail::Signature => format!("\"signature\":{}", Value::from(card.tools[place.tool].signature())),
        };
        format!(
            "{{\"server\":{},\"tool\":{},\"summary\":{},{how},\"card_id\":{}}}",
            Value::from(&*card.server),
            Value::from(self.materials.name(at)),
            Value::from(summary.as_str()),
            Value::from(self.ids[place.server].as_str()),
        )
    }

    fn call(&self, call: &ToolCall) -> Result<Answer, String> {
        let arguments = &call.arguments;
        let named = |name: &str| self.materials.server_named(name).ok_or_else(|| self.materials.no_server(name));
        match call.name.as_str() {
            DISCOVER => {
                let k = replies::number(arguments, "k", K, 1..=MAX_K);
                let found = self.rank(replies::text(arguments, "task")?, k)?;
                Ok(Answer::Says(replies::array(found.into_iter().map(|at| self.entry(at)))))
            }
            STATUS if replies::given(arguments, "server").is_some() => {
                let server = named(replies::text(arguments, "server")?)?;
                let names: Vec<&str> = self.materials.of_server(server).map(|at| self.materials.name(at)).collect();
                Ok(Answer::Says(names.join("\n")))
            }
            STATUS => {
                let lines = self.cards.iter().map(|card| format!("{}: {} tools", card.server, card.tools.len()));
                Ok(Answer::Says(lines.collect::<Vec<_>>().join("\n")))
            }
            _ => {
                let server = named(replies::text(arguments, "server")?)?;
                let at = self.materials.find_on(server, replies::text(arguments, "tool")?)?;
                Ok(Answer::Forwards(at, replies::inner(arguments, "arguments")))
            }
        }
    }
}

/// The head of the digest of a card's body.
fn card_id(card: &Card) -> String {
    Digest::of(card.body().as_bytes()).hex()[..12].to_owned()
}

impl Ranker for Cartograph {
    fn rank(&self, query: &str, k: usize) -> Result<Vec<usize>, String> {
        match &self.search {
            Search::TwoStage(search) => search.rank(query, k),
            Search::Jaccard => Ok(first(&self.materials.index().jaccard(&tokens(query)), k)),
        }
    }

    fn shortlist(&self) -> usize {
        K
    }
}

impl Desk for Cartograph {
    fn materials(&self) -> &Materials {
        &self.materials
    }

    fn informs(&self, name: &str) -> bool {
        [DISCOVER, STATUS].contains(&name)
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
        ArmSession, CallOutcome, Scope,
        fixtures::{call, context, some},
        registry,
    };

    fn open(id: &str) -> Box<dyn ArmSession> {
        registry::build(id, &context()).unwrap().open(Scope::Catalogs).unwrap()
    }

    fn discover(session: &mut dyn ArmSession, arguments: Value) -> Vec<Value> {
        match session.call(&call(DISCOVER, arguments)) {
            CallOutcome::Meta { reply, is_error: false, .. } => serde_json::from_str(&reply).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_four_show_the_same_three_tools() {
        let surface = some("cartograph-lex-reimpl", &["memory", "time"]);
        for id in ["cartograph-brief-reimpl", "cartograph-desc-reimpl", "jaccard-k5-reimpl"] {
            assert_eq!(some(id, &["git"]), surface);
        }
        insta::assert_snapshot!(surface);
    }

    #[test]
    fn a_shortlist_has_five_entries_or_as_many_as_asked() {
        for id in ["cartograph-lex-reimpl", "cartograph-brief-reimpl", "cartograph-desc-reimpl", "jaccard-k5-reimpl"] {
            let mut session = open(id);
            assert_eq!(discover(session.as_mut(), json!({ "task": "show the log of a repository" })).len(), K);
            assert_eq!(discover(session.as_mut(), json!({ "task": "x", "k": 99 })).len(), MAX_K);
        }
    }

    #[test]
    fn entries_of_each_variant() {
        let first = |id: &str| discover(open(id).as_mut(), json!({ "task": "convert time between timezones", "k": 1 }));
        insta::assert_json_snapshot!("entry_lex", first("cartograph-lex-reimpl"));
        insta::assert_json_snapshot!("entry_brief", first("cartograph-brief-reimpl"));
        insta::assert_json_snapshot!("entry_desc", first("cartograph-desc-reimpl"));
    }

    #[test]
    fn an_unknown_tool_gets_the_servers_nearest_names() {
        let mut session = open("cartograph-lex-reimpl");
        let arguments = json!({ "server": "git", "tool": "git_lgo", "arguments": {} });
        let CallOutcome::Meta { reply, is_error: true, .. } = session.call(&call(CALL, arguments)) else { panic!() };
        assert!(reply.contains("Did you mean: git_log"), "{reply}");
        let CallOutcome::Meta { reply, .. } = session.call(&call(STATUS, json!({ "server": "time" }))) else {
            panic!()
        };
        assert_eq!(reply, "get_current_time\nconvert_time");
        let CallOutcome::Meta { reply, .. } = session.call(&call(STATUS, json!({ "server": "" }))) else { panic!() };
        assert!(reply.ends_with("\ntime: 2 tools"), "{reply}");
    }
}
