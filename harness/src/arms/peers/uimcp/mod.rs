//! `uimcp*-reimpl`: UIMCP, which sits inside the agent and injects few tools per turn.

mod distil;
mod score;
mod session;
mod worthiness;

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use serde_json::json;

use self::session::Session;
use super::{Build, Materials, Ranker, desk::all_catalogs, desk::meta, info, ranking::among, replies, space::Space};
use crate::{
    arms::{Affordance, Arm, ArmError, ArmInfo, ArmSession, Embedding, Scope, Waiver, definitions::shown},
    surface::{ShownTool, Surface},
};

pub use self::score::{Ablation, Scores};

/// The meta tool.
pub(super) const FIND: &str = "tools_find";
/// Tools per search, and tools injected beforehand at most.
pub(super) const K: usize = 5;
/// Tools that are always injected beside the meta tool.
const ALWAYS: usize = 2;

/// Which parts of the system are at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "parts that are at work or not, in any combination")]
struct Parts {
    /// Tools above a threshold are injected before anybody asks.
    pre: bool,
    /// Tools that are not worth their place are archived.
    worth: bool,
    /// Definitions are distilled.
    distil: bool,
    /// Context is measured by an embedder.
    dense: bool,
}

/// What is ours in several variants.
const LEX: &str = "TF-IDF cosine in place of an unnamed embedding model";
const DENSE: &str = "the embedder that is given, in place of an unnamed model; it reads name and description";
const ALWAYS_GAP: &str = "the two tools that are always there are the most used of a warm-up trace over the servers";
const CANDIDATES: &str = "candidates that are not called last for one request";
const SUCCESS: &str = "every forwarded call counts as successful";
const REPLY: &str =
    "the search replies with definitions and no scores; a tool that is not shown is refused in our words";
const INJECTION: &str = "threshold 1.20 and five tools for injection beforehand";
const HEARING: &str = "context is the last five things that the user said: what the model said is not heard";
const WORTH: &str = "worthiness: parameters are top-level ones, length is in characters, words are cut our way, tools are taken in catalog \
     order, no factor is less than 0";
const RENAMING: &str =
    "distiller: calls are mapped back to the real argument names, a name that another argument has is not given again";
const SOURCE: &str = "UIMCP, paper";
const WAIVERS: &[Waiver] = &[Waiver::LargerThanL0, Waiver::Removes, Waiver::Unreachable];
const SINGLE: Option<&str> =
    Some("promotion and recency, its point, do nothing in a single call: see the sessions suite");
const UNDERSTATED: Option<&str> = Some("built for an embedding model: a word match understates it");

pub(super) fn all() -> Vec<(ArmInfo, Build)> {
    let arm = |id: &str, summary| ArmInfo {
        gaps: &[LEX, ALWAYS_GAP, CANDIDATES, SUCCESS, REPLY],
        objection: UNDERSTATED,
        single_call: SINGLE,
        ranked: false,
        waivers: WAIVERS,
        hears: true,
        ..info(id, summary, SOURCE, Affordance::SearchDirect, 1)
    };
    vec![
        (arm("uimcp-reimpl", "two tools and a search whose five hits are there for one request"), |info, materials| {
            build(info, materials, Parts::default())
        }),
        (
            ArmInfo {
                gaps: &[LEX, ALWAYS_GAP, INJECTION, HEARING, CANDIDATES, SUCCESS, REPLY],
                ..arm("uimcp-pre-reimpl", "as uimcp, and tools injected by what the user says")
            },
            |info, materials| build(info, materials, Parts { pre: true, ..Parts::default() }),
        ),
        (
            ArmInfo {
                objection: Some(
                    "its worthiness rule drops most tools of these servers: shown for the rule, not the system",
                ),
                gaps: &[LEX, ALWAYS_GAP, CANDIDATES, SUCCESS, REPLY, WORTH, RENAMING],
                ..arm("uimcp-opt-reimpl", "as uimcp, after its optimizer has dropped and distilled tools")
            },
            |info, materials| build(info, materials, Parts { worth: true, distil: true, ..Parts::default() }),
        ),
        (
            ArmInfo {
                gaps: &[LEX, ALWAYS_GAP, CANDIDATES, SUCCESS, REPLY, RENAMING],
                ..arm("uimcp-distil-reimpl", "as uimcp, over distilled definitions")
            },
            |info, materials| build(info, materials, Parts { distil: true, ..Parts::default() }),
        ),
    ]
}

/// The arm that needs an embedder.
pub(super) fn embedded() -> (ArmInfo, Build) {
    let arm = ArmInfo {
        gaps: &[DENSE, ALWAYS_GAP, CANDIDATES, SUCCESS, REPLY],
        single_call: SINGLE,
        embedding: Some(Embedding::Unnamed),
        ranked: false,
        waivers: WAIVERS,
        hears: true,
        ..info(
            "uimcp-emb-reimpl",
            "two tools and a search by embedding whose five hits are there for one request",
            SOURCE,
            Affordance::SearchDirect,
            1,
        )
    };
    (arm, |info, materials| build(info, materials, Parts { dense: true, ..Parts::default() }))
}

fn build(info: ArmInfo, materials: &Materials, parts: Parts) -> Result<Arc<dyn Arm>, ArmError> {
    let find = meta(
        FIND,
        "Finds tools that you do not see. Most tools are not among yours until you search for them here: describe what you \
         need, and the five that fit best join your tools for your next answer.",
        &[("query", json!({ "type": "string" }), true)],
    )?;
    let archived = if parts.worth { worthiness::archived(materials) } else { vec![false; materials.len()] };
    let mut forms = Vec::with_capacity(materials.len());
    for at in 0..materials.len() {
        forms.push(if parts.distil { Form::distilled(materials, at)? } else { Form::plain(materials, at) });
    }
    let always = always(materials, &archived);
    let space = materials.space(parts.dense)?;
    Ok(Arc::new(Uimcp {
        info,
        inner: Arc::new(Inner { materials: materials.clone(), find, forms, archived, always, space, pre: parts.pre }),
    }))
}

/// The most used tools of the warm-up trace, in catalog order; ties by position.
fn always(materials: &Materials, archived: &[bool]) -> Vec<usize> {
    let uses = |at: usize| (Reverse(materials.uses(at)), at);
    let mut used: Vec<(Reverse<u32>, usize)> =
        (0..materials.len()).filter(|&at| !archived[at] && materials.uses(at) > 0).map(uses).collect();
    used.sort_unstable();
    let mut always: Vec<usize> = used.into_iter().take(ALWAYS).map(|(_, at)| at).collect();
    always.sort_unstable();
    always
}

/// A tool as it is injected.
struct Form {
    shown: Arc<ShownTool>,
    /// Argument names as shown, and what they are upstream; only those that differ.
    renamed: BTreeMap<String, String>,
}

impl Form {
    fn plain(materials: &Materials, at: usize) -> Self {
        Self { shown: Arc::clone(&materials.tool(at).raw), renamed: BTreeMap::new() }
    }

    fn distilled(materials: &Materials, at: usize) -> Result<Self, ArmError> {
        let upstream = &materials.tool(at).upstream;
        let description = upstream.description.as_deref().map(distil::description);
        let (schema, renamed) = distil::schema(&upstream.input_schema);
        Ok(Self { shown: shown(materials.shown(at), description, &schema)?, renamed })
    }

    fn definition(&self) -> String {
        replies::object(self.shown.name(), self.shown.description(), Some(self.shown.schema()), &[])
    }
}

struct Uimcp {
    info: ArmInfo,
    inner: Arc<Inner>,
}

/// What the sessions of an arm share.
struct Inner {
    materials: Materials,
    find: Arc<ShownTool>,
    forms: Vec<Form>,
    archived: Vec<bool>,
    always: Vec<usize>,
    space: Space,
    pre: bool,
}

impl Inner {
    /// What is shown: the tools that are always there, the meta tool, promoted ones in the order of their first calls,
    /// then this request's candidates in rank order.
    fn surface(&self, promoted: &[usize], candidates: &[usize]) -> Arc<Surface> {
        let form = |at: &usize| Arc::clone(&self.forms[*at].shown);
        let mut tools: Vec<Arc<ShownTool>> = self.always.iter().map(form).collect();
        tools.push(Arc::clone(&self.find));
        tools.extend(promoted.iter().chain(candidates).map(form));
        Arc::new(Surface::new(tools, String::new()))
    }

    /// The `k` summoned tools nearest to a text: all but those archived, always there or promoted.
    fn nearest(&self, text: &str, promoted: &[usize], k: usize) -> Result<Vec<usize>, String> {
        let cosines = self.space.cosine(text)?;
        let summoned = |at: &usize| !self.archived[*at] && !self.always.contains(at) && !promoted.contains(at);
        Ok(among(&cosines, (0..self.materials.len()).filter(summoned), k))
    }
}

impl Arm for Uimcp {
    fn info(&self) -> &ArmInfo {
        &self.info
    }

    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        all_catalogs(&self.info, scope)?;
        Ok(Box::new(Session::new(Arc::clone(&self.inner))))
    }

    fn ranker(&self) -> Option<&dyn Ranker> {
        Some(&*self.inner)
    }
}

impl Ranker for Inner {
    /// The tools that are always there need no search: here they take part in it.
    fn rank(&self, query: &str, k: usize) -> Result<Vec<usize>, String> {
        let cosines = self.space.cosine(query)?;
        Ok(among(&cosines, (0..self.materials.len()).filter(|&at| !self.archived[at]), k))
    }

    fn shortlist(&self) -> usize {
        K
    }
}

#[cfg(test)]
mod tests;
