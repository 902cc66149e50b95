//! A session: search on one turn, candidates on the next, promotion by a call.

use std::{collections::VecDeque, sync::Arc};

use bench_results::record::Route;
use serde_json::{Map, Value};

use super::{Ablation, FIND, Inner, K, Scores};
use crate::{
    arms::{ArmSession, CallOutcome, ToolCall, level::unknown, names::Named, peers::replies},
    surface::Surface,
};

/// Things said that context is measured against.
const HEARD: usize = 5;

pub(super) struct Session {
    inner: Arc<Inner>,
    /// Called before, in the order of first calls.
    promoted: Vec<usize>,
    /// Shown in the next request, and only there unless called.
    candidates: Vec<usize>,
    /// Candidates of the request that was answered last.
    callable: Vec<usize>,
    scores: Scores,
    heard: VecDeque<String>,
    surface: Arc<Surface>,
}

impl Session {
    pub(super) fn new(inner: Arc<Inner>) -> Self {
        let surface = inner.surface(&[], &[]);
        Self {
            inner,
            promoted: Vec::new(),
            candidates: Vec::new(),
            callable: Vec::new(),
            scores: Scores::default(),
            heard: VecDeque::new(),
            surface,
        }
    }

    /// What is injected before anybody asks.
    fn injected(&self) -> Vec<usize> {
        if !self.inner.pre || self.heard.is_empty() {
            return Vec::new();
        }
        let said: Vec<&str> = self.heard.iter().map(String::as_str).collect();
        // An embedder that fails injects nothing; the search, which reports it, is still there.
        let Ok(context) = self.inner.space.cosine(&said.join("\n")) else { return Vec::new() };
        let summoned = (0..context.len())
            .filter(|at| !self.inner.archived[*at] && !self.inner.always.contains(at) && !self.promoted.contains(at));
        self.scores.inject(&context, summoned, K, Ablation::Whole)
    }

    fn redraw(&mut self) {
        self.surface = self.inner.surface(&self.promoted, &self.candidates);
    }

    fn find(&mut self, arguments: &Map<String, Value>) -> Result<(String, bool), String> {
        let found = self.inner.nearest(replies::text(arguments, "query")?, &self.promoted, K)?;
        let changed = found != self.candidates;
        self.candidates = found;
        if changed {
            self.redraw();
        }
        let definitions = self.candidates.iter().map(|&at| self.inner.forms[at].definition());
        Ok((replies::array(definitions), changed))
    }

    fn forward(&mut self, at: usize, arguments: &Map<String, Value>) -> CallOutcome {
        let renamed = &self.inner.forms[at].renamed;
        let arguments =
            arguments.iter().map(|(key, value)| (renamed.get(key).unwrap_or(key).clone(), value.clone())).collect();
        self.scores.used(at);
        let always = self.inner.always.contains(&at);
        let promotes = !always && !self.promoted.contains(&at);
        if promotes {
            self.promoted.push(at);
            self.candidates.retain(|&candidate| candidate != at);
            self.redraw();
        }
        let route = if always { Route::Direct } else { Route::Fetched };
        self.inner.materials.forward(at, arguments, route, promotes)
    }
}

impl ArmSession for Session {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    fn informs(&self, name: &str) -> bool {
        name == FIND
    }

    fn hear(&mut self, text: &str) {
        if self.heard.len() == HEARD {
            self.heard.pop_front();
        }
        self.heard.push_back(text.to_owned());
        self.candidates = self.injected();
        self.redraw();
    }

    fn begin_turn(&mut self) {
        self.scores.advance();
        let shown = std::mem::take(&mut self.candidates);
        self.candidates = self.injected();
        if shown != self.candidates {
            self.redraw();
        }
        self.callable = shown;
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        if call.name == FIND {
            return match self.find(&call.arguments) {
                Ok((reply, surface_changed)) => CallOutcome::Meta { reply, is_error: false, surface_changed },
                Err(reply) => CallOutcome::Meta { reply, is_error: true, surface_changed: false },
            };
        }
        let Some(Named::Tool(place)) = self.inner.materials.definitions().names.get(&call.name) else {
            return CallOutcome::Rejected { reply: unknown(&call.name) };
        };
        let at = self.inner.materials.position(place);
        if [&self.inner.always, &self.promoted, &self.callable].iter().any(|shown| shown.contains(&at)) {
            return self.forward(at, &call.arguments);
        }
        CallOutcome::Rejected {
            reply: format!("error: `{}` is not among your tools; call `{FIND}` first, then call it", call.name),
        }
    }
}
