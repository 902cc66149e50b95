//! One instance of the proxy: the tools it serves, what it has seen, and the list that it last gave.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    ops::Range,
    sync::Arc,
};

use serde_json::{Map, Value, json};

use super::{
    graph::Graph,
    shorten::shorten,
    window::{Window, nearness},
    words::words,
};
use crate::{
    arms::{ArmError, Materials, definitions::shown, peers::ranking::first},
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
    /// The tools that have a term in name, description or title, in order. Only looked up, never iterated.
    having: HashMap<String, Vec<usize>>,
    /// Whether the server announces changes of its list, which the proxy passes on.
    announces: bool,
}

struct ServedTool {
    /// Its upstream name: the proxy sees no other.
    name: Arc<str>,
    whole: Arc<ShownTool>,
    /// Without schema, where that is smaller.
    cut: Arc<ShownTool>,
}

impl Served {
    /// The tools at these positions. Several servers behind one instance announce changes if one of them does.
    pub(super) fn new(materials: &Materials, positions: Range<usize>) -> Result<Self, ArmError> {
        let mut tools = Vec::with_capacity(positions.len());
        let mut having: HashMap<String, Vec<usize>> = HashMap::new();
        let mut announces = false;
        for (tool, at) in positions.enumerate() {
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
            let texts = [Some(&*upstream.name), upstream.description.as_deref(), upstream.title.as_deref()];
            for term in texts.into_iter().flatten().flat_map(words).collect::<BTreeSet<String>>() {
                having.entry(term).or_default().push(tool);
            }
            tools.push(ServedTool { name: Arc::clone(&upstream.name), whole, cut });
            let initialize = &materials.catalog(materials.place(at).server).initialize;
            announces |= initialize.pointer("/capabilities/tools/listChanged") == Some(&Value::Bool(true));
        }
        Ok(Self { tools, having, announces })
    }

    /// A list with these tools whole, all of them in upstream order.
    pub(super) fn list(&self, whole: Whole) -> impl Iterator<Item = Arc<ShownTool>> {
        let form =
            move |(at, tool): (usize, &ServedTool)| Arc::clone(if whole.has(at) { &tool.whole } else { &tool.cut });
        self.tools.iter().enumerate().map(form)
    }

    /// The tools that a list shows whole which is ranked by nothing: upstream order decides.
    pub(super) fn first(&self) -> Whole {
        if self.tools.len() <= FEW { Whole::All } else { Whole::These((0..WHOLE.min(self.tools.len())).collect()) }
    }
}

/// Which tools a list shows whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whole {
    All,
    These(BTreeSet<usize>),
}

impl Whole {
    fn has(&self, tool: usize) -> bool {
        match self {
            Self::All => true,
            Self::These(tools) => tools.contains(&tool),
        }
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
    /// What the list given last shows whole.
    whole: Whole,
}

impl Instance {
    /// A fresh instance.
    pub(super) fn new(served: Arc<Served>) -> Self {
        Self {
            calls: 0,
            uses: BTreeMap::new(),
            last: [None; 2],
            graph: Graph::default(),
            window: Window::default(),
            whole: served.first(),
            served,
        }
    }

    /// The list given last.
    pub(super) fn listed(&self) -> impl Iterator<Item = Arc<ShownTool>> {
        self.served.list(self.whole.clone())
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
        let anew = !self.whole.has(tool) && self.served.announces;
        if anew {
            self.whole = self.ranked();
        }
        anew
    }

    /// A successful result passes through.
    pub(super) fn read<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        self.window.add(texts);
    }

    /// The tools that rank best, ties in upstream order.
    fn ranked(&self) -> Whole {
        let count = self.served.tools.len();
        if count <= FEW {
            return Whole::All;
        }
        // Weights of what was said lately, summed in the order of terms.
        let mut said = vec![0.0; count];
        for (term, weight) in self.window.terms() {
            for &tool in self.served.having.get(term).into_iter().flatten() {
                said[tool] += weight;
            }
        }
        // Of most tools nothing else is known.
        let mut scores: Vec<f64> = said.iter().map(|&said| WORDS * nearness(said)).collect();
        let known =
            self.last.iter().flatten().flat_map(|&from| self.graph.after(from)).chain(self.uses.keys().copied());
        for tool in known {
            scores[tool] = self.score(tool, said[tool]);
        }
        Whole::These(first(&scores, WHOLE).into_iter().collect())
    }

    /// `said` are the weights of its terms in what was said lately.
    fn score(&self, tool: usize, said: f64) -> f64 {
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
            + WORDS * nearness(said)
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
