//! One instance of the proxy: the tools it serves, what it has seen, and the list that it last gave.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value, json};

use super::{graph::Graph, shorten::shorten, window::Window, words::words};
use crate::{
    arms::{ArmError, Materials, definitions::shown},
    surface::ShownTool,
};

/// Tools that stay whole.
const WHOLE: usize = 8;
/// Tools up to which a list is left alone.
const FEW: usize = 6;
/// Calls for which a called tool stays revealed.
const REVEALED: u32 = 12;
/// Calls after which a use counts half.
const HALF_LIFE: f64 = 4.0;

/// Weights of the parts of a score.
const AFTER_LAST: f64 = 1.00;
const AFTER_PREVIOUS: f64 = 0.35;
const RECENT: f64 = 0.45;
const SHARE: f64 = 0.30;
const WORDS: f64 = 0.55;
const REVEAL: f64 = 2.00;

/// The tools of an instance in both forms.
pub(super) struct Served {
    tools: Vec<ServedTool>,
    by_position: BTreeMap<usize, usize>,
    /// Whether the server announces changes of its list, which the proxy passes on.
    announces: bool,
}

struct ServedTool {
    /// Its upstream name: the proxy sees no other.
    name: Arc<str>,
    whole: Arc<ShownTool>,
    /// Without schema, where that is smaller.
    cut: Arc<ShownTool>,
    /// Distinct terms of name, description and title.
    terms: Vec<String>,
}

impl Served {
    /// The tools at these positions. Several servers behind one instance announce changes if one of them does.
    pub(super) fn new(materials: &Materials, positions: Vec<usize>) -> Result<Self, ArmError> {
        let mut tools = Vec::with_capacity(positions.len());
        let mut announces = false;
        for &at in &positions {
            let upstream = &materials.tool(at).upstream;
            let whole = Arc::clone(&materials.tool(at).raw);
            let said = upstream.description.as_deref().filter(|text| !text.is_empty()).or(upstream.title.as_deref());
            let short = said.map(shorten);
            let mut bare = Map::new();
            bare.extend(short.iter().map(|text| ("description".to_owned(), Value::from(text.as_str()))));
            bare.insert("inputSchema".to_owned(), json!({ "type": "object" }));
            bare.insert("name".to_owned(), Value::from(&*upstream.name));
            let smaller = Value::Object(bare).to_string().len() < upstream.raw.get().len();
            let cut = if smaller {
                shown(materials.shown(at), short, &json!({ "type": "object" }))?
            } else {
                Arc::clone(&whole)
            };
            let mut terms: Vec<String> =
                [Some(&*upstream.name), upstream.description.as_deref(), upstream.title.as_deref()]
                    .into_iter()
                    .flatten()
                    .flat_map(words)
                    .collect();
            terms.sort_unstable();
            terms.dedup();
            tools.push(ServedTool { name: Arc::clone(&upstream.name), whole, cut, terms });
            let initialize = &materials.catalog(materials.place(at).server).initialize;
            announces |= initialize.pointer("/capabilities/tools/listChanged") == Some(&Value::Bool(true));
        }
        let by_position = positions.into_iter().enumerate().map(|(tool, at)| (at, tool)).collect();
        Ok(Self { tools, by_position, announces })
    }
}

/// One tool's use.
#[derive(Debug, Clone, Copy, Default)]
struct Use {
    calls: u32,
    /// Number of the last call, from 1.
    last: u32,
}

/// A running instance.
pub(super) struct Instance {
    served: Arc<Served>,
    /// Calls so far.
    calls: u32,
    uses: BTreeMap<usize, Use>,
    /// The last tool called and the one before.
    last: [Option<usize>; 2],
    graph: Graph,
    window: Window,
    /// By tool: whether the list given last shows it whole.
    whole: Vec<bool>,
    listed: Vec<Arc<ShownTool>>,
}

impl Instance {
    /// A fresh instance; its first list is ranked by nothing, so upstream order decides.
    pub(super) fn new(served: Arc<Served>) -> Self {
        let mut instance = Self {
            calls: 0,
            uses: BTreeMap::new(),
            last: [None; 2],
            graph: Graph::default(),
            window: Window::default(),
            whole: Vec::new(),
            listed: Vec::new(),
            served,
        };
        instance.list();
        instance
    }

    /// The list given last.
    pub(super) fn listed(&self) -> &[Arc<ShownTool>] {
        &self.listed
    }

    /// The place of the tool at this position among all, where the instance serves it.
    pub(super) fn position(&self, at: usize) -> Option<usize> {
        self.served.by_position.get(&at).copied()
    }

    /// A call passes through; true where the list is given anew because of it.
    pub(super) fn call(&mut self, tool: usize, arguments: &Map<String, Value>) -> bool {
        self.calls += 1;
        if let [Some(last), _] = self.last {
            let served = Arc::clone(&self.served);
            let name = move |tool: usize| served.tools[tool].name.to_string();
            self.graph.add(last, tool, &name);
        }
        self.last = [Some(tool), self.last[0]];
        let of_tool = self.uses.entry(tool).or_default();
        *of_tool = Use { calls: of_tool.calls + 1, last: self.calls };
        let served = Arc::clone(&self.served);
        let mut texts: Vec<&str> = vec![&served.tools[tool].name];
        for (key, value) in arguments {
            texts.push(key);
            strings(value, &mut texts);
        }
        self.window.add(texts);
        let anew = !self.whole[tool] && self.served.announces;
        if anew {
            self.list();
        }
        anew
    }

    /// A successful result passes through.
    pub(super) fn read<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        self.window.add(texts);
    }

    /// Ranks the tools and gives the list: the best ones whole, all in upstream order.
    fn list(&mut self) {
        let tools = &self.served.tools;
        if tools.len() <= FEW {
            self.whole = vec![true; tools.len()];
        } else {
            let scores: Vec<f64> = (0..tools.len()).map(|tool| self.score(tool)).collect();
            let mut order: Vec<usize> = (0..tools.len()).collect();
            order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            self.whole = vec![false; tools.len()];
            order.into_iter().take(WHOLE).for_each(|tool| self.whole[tool] = true);
        }
        let form = |(tool, whole): (&ServedTool, &bool)| Arc::clone(if *whole { &tool.whole } else { &tool.cut });
        self.listed = tools.iter().zip(&self.whole).map(form).collect();
    }

    fn score(&self, tool: usize) -> f64 {
        let after = |from: Option<usize>| from.map_or(0.0, |from| self.graph.share(from, tool));
        let used = self.uses.get(&tool).copied().unwrap_or_default();
        let since = self.calls - used.last;
        let was_used = used.calls > 0;
        let recent = if was_used { (-f64::from(since) / HALF_LIFE).exp2() } else { 0.0 };
        let share = if self.calls > 0 { f64::from(used.calls) / f64::from(self.calls) } else { 0.0 };
        let revealed = f64::from(u8::from(was_used && since <= REVEALED));
        AFTER_LAST * after(self.last[0])
            + AFTER_PREVIOUS * after(self.last[1])
            + RECENT * recent
            + SHARE * share
            + WORDS * self.window.nearness(&self.served.tools[tool].terms)
            + REVEAL * revealed
    }
}

/// All texts in a value, keys included.
pub(super) fn strings<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, texts)),
        Value::Object(members) => {
            for (key, value) in members {
                texts.push(key);
                strings(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
