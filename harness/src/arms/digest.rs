//! R: large text results as digests, and the exact original on request.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use bench_protocol::digest::Digest;
use bench_tasks::result::{Content, ToolResult};
use serde_json::{Map, Value, json};

use super::{
    Affordance, Arm, ArmError, ArmId, ArmInfo, ArmSession, CallOutcome, LEVELS_SOURCE, Scope, ToolCall, Waiver,
    block::Block,
    columnar,
    definitions::{Definitions, shown},
    keep, lazy,
    level::{LevelArm, LevelSession},
    materials::Materials,
    names::{MetaKind, Named},
    raw,
};
use crate::{surface::Surface, tokens};

/// Texts below this many o200k tokens are never digested.
const MIN_TOKENS: usize = 200;
/// Lines kept at the start and at the end of a text.
const HEAD: usize = 3;
const TAIL: usize = 1;
/// Load-bearing lines of one shape that are kept, at most.
const MAX_OF_A_SHAPE: u32 = 2;
/// Hex digits of a handle.
const HANDLE_DIGITS: usize = 8;
/// Argument of the expand meta tool.
const HANDLE: &str = "handle";

/// Info of an arm with digested results. It waives what raw does: its list is raw's, and one tool more per server.
pub(super) fn info(id: &str, summary: &'static str) -> ArmInfo {
    let direct = ArmInfo::direct(id, summary, &[Waiver::LargerThanL0]);
    ArmInfo { affordance: Affordance::Digest, source: LEVELS_SOURCE, ..direct }
}

/// Info of R on top of a level.
pub(super) fn info_over(id: &str, level: &ArmInfo) -> ArmInfo {
    ArmInfo {
        id: ArmId(id.to_owned()),
        summary: "R on top of the level: lazy definitions and digested results",
        waivers: &[Waiver::LargerThanL0, Waiver::Order],
        ..level.clone()
    }
}

/// R.
pub(super) fn build(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    Ok(Arc::new(DigestArm::new(info, Arc::clone(materials.definitions()), true)?))
}

/// R without its way back.
pub(super) fn build_without_expand(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    Ok(Arc::new(DigestArm::new(info, Arc::clone(materials.definitions()), false)?))
}

/// R on top of L2.
pub(super) fn build_over_lazy(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let definitions = materials.definitions();
    Ok(Arc::new(DigestArm::over(info, Arc::clone(definitions), lazy::blocks(definitions)?)?))
}

/// R on top of L3.
pub(super) fn build_over_pinned(info: ArmInfo, materials: &Materials) -> Result<Arc<dyn Arm>, ArmError> {
    let definitions = materials.definitions();
    let blocks = lazy::pinned_blocks(definitions, materials.context())?;
    Ok(Arc::new(DigestArm::over(info, Arc::clone(definitions), blocks)?))
}

/// R, or R without its way back.
struct DigestArm {
    base: LevelArm,
    expands: bool,
}

impl DigestArm {
    /// R on top of a level: its blocks, with an expand tool in each.
    fn over(
        info: ArmInfo,
        definitions: Arc<Definitions>,
        (mut blocks, fallbacks): (Vec<Block>, BTreeMap<String, String>),
    ) -> Result<Self, ArmError> {
        for (server, block) in blocks.iter_mut().enumerate() {
            add_expand(block, &definitions, server)?;
        }
        Ok(Self { base: LevelArm::new(info, definitions, blocks, fallbacks), expands: true })
    }

    /// The arm; without `expands` nothing leads back to an original.
    fn new(info: ArmInfo, definitions: Arc<Definitions>, expands: bool) -> Result<Self, ArmError> {
        let mut blocks = raw::blocks(&definitions);
        if expands {
            for (server, block) in blocks.iter_mut().enumerate() {
                add_expand(block, &definitions, server)?;
            }
        }
        Ok(Self { base: LevelArm::direct(info, definitions, blocks), expands })
    }
}

fn add_expand(block: &mut Block, definitions: &Definitions, server: usize) -> Result<(), ArmError> {
    let description = format!(
        "Long results of `{}` tools are shortened: lines are left out, or records stand in a table. Where a result names a \
         handle, call this with it for the exact original.",
        definitions.servers[server].name
    );
    let schema = json!({
        "type": "object",
        "properties": { HANDLE: { "type": "string", "pattern": "^[0-9a-f]{8}$" } },
        "required": [HANDLE],
    });
    block.shown.push(shown(definitions.names.meta(server, MetaKind::Expand), Some(description), &schema)?);
    Ok(())
}

impl Arm for DigestArm {
    fn info(&self) -> &ArmInfo {
        self.base.info()
    }

    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        Ok(Box::new(DigestSession {
            base: self.base.session(scope)?,
            expands: self.expands,
            originals: HashMap::new(),
        }))
    }

    fn fallbacks(&self) -> BTreeMap<String, String> {
        self.base.fallbacks()
    }
}

struct DigestSession {
    base: LevelSession,
    expands: bool,
    /// By server and handle: originals of this session.
    originals: HashMap<(usize, String), String>,
}

impl DigestSession {
    fn expand(&self, server: usize, arguments: &Map<String, Value>) -> CallOutcome {
        let handle = arguments.get(HANDLE).and_then(Value::as_str).unwrap_or_default();
        let (reply, is_error) = if let Some(original) = self.originals.get(&(server, handle.to_owned())) {
            (original.clone(), false)
        } else {
            let server = &self.base.definitions().servers[server].name;
            (format!("error: no result of `{server}` in this session has the handle `{handle}`"), true)
        };
        CallOutcome::Meta { reply, is_error, surface_changed: false }
    }

    /// The digest of one text block; `None` where the text stays as it is.
    fn digest_text(&mut self, server: usize, text: &str) -> Option<String> {
        if !tokens::has_tokens(text, MIN_TOKENS) {
            return None;
        }
        let handle = handle(text);
        let digest = columnar::table(text, &handle).or_else(|| lines(text, &handle))?;
        if !tokens::has_tokens(text, tokens::tokens(&digest) + 1) {
            return None;
        }
        // Two originals under one handle could not be told apart: the second stays whole.
        let original = self.originals.entry((server, handle)).or_insert_with(|| text.to_owned());
        (original == text).then_some(digest)
    }
}

impl ArmSession for DigestSession {
    fn surface(&self) -> &Arc<Surface> {
        self.base.surface()
    }

    fn informs(&self, name: &str) -> bool {
        let expand = matches!(self.base.definitions().names.get(name), Some(Named::Meta(_, MetaKind::Expand)));
        (self.expands && expand) || self.base.informs(name)
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        match self.base.definitions().names.get(&call.name) {
            Some(Named::Meta(server, MetaKind::Expand)) if self.expands => self.expand(server, &call.arguments),
            _ => self.base.call(call),
        }
    }

    fn digest(&mut self, server: &str, tool: &str, result: &ToolResult) -> ToolResult {
        let mut shown = result.clone();
        let Some(place) = self.base.definitions().place(server, tool) else { return shown };
        let exempt = keep::is_exempt(&self.base.definitions().tool(place).upstream);
        if exempt || result.is_error || result.structured.is_some() {
            return shown;
        }
        for block in &mut shown.content {
            if let Content::Text(text) = block
                && let Some(digest) = self.digest_text(place.server, text)
            {
                *text = digest;
            }
        }
        shown
    }
}

/// The first hex digits of a text's SHA-256.
fn handle(text: &str) -> String {
    Digest::of(text.as_bytes()).hex()[..HANDLE_DIGITS].to_owned()
}

/// The first lines, the last and the load-bearing ones, each gap a marker; `None` where nothing would be left out.
fn lines(text: &str, handle: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(TAIL);
    let mut of_a_shape: HashMap<String, u32> = HashMap::new();
    let kept: Vec<bool> = lines
        .iter()
        .enumerate()
        .map(|(position, line)| {
            let bears = keep::is_load_bearing(line) && {
                let seen = of_a_shape.entry(keep::shape(line)).or_default();
                *seen += 1;
                *seen <= MAX_OF_A_SHAPE
            };
            bears || position < HEAD || position >= last
        })
        .collect();
    let mut out: Vec<String> = Vec::new();
    let mut dropped = false;
    let mut position = 0;
    while position < lines.len() {
        let gap = kept[position..].iter().take_while(|&&kept| !kept).count();
        let missing = &lines[position..position + gap];
        let marker = format!("[{gap} {} left out, handle={handle}]", if gap == 1 { "line" } else { "lines" });
        if missing.iter().map(|line| line.len() + 1).sum::<usize>() > marker.len() + 1 {
            out.push(marker);
            dropped = true;
        } else {
            // A gap that its marker would not shorten is no gap.
            out.extend(missing.iter().map(|&line| line.to_owned()));
        }
        position += gap;
        if let Some(line) = lines.get(position) {
            out.push((*line).to_owned());
            position += 1;
        }
    }
    dropped.then(|| out.join("\n"))
}

#[cfg(test)]
mod tests;
