//! One episode with a compressor: calls go to its processes, outcomes come from the replay server's log.

use std::{collections::HashSet, sync::Arc, time::Instant};

use bench_results::record::Route;

use super::{
    arm::Shared,
    block::Block,
    client::Answer,
    fault::{Fault, Oddity},
    inspect,
    pool::Live,
};
use crate::{
    arms::{ArmSession, CallOutcome, SessionFault, ToolCall, names},
    replay_server::Reached,
    surface::Surface,
};

/// What a model reads where the compressor failed; the episode ends with it.
const FAILED: &str = "error: the server failed";

/// A session; its processes are taken when they are first needed.
pub(super) struct ExternalSession {
    shared: Arc<Shared>,
    surface: Arc<Surface>,
    blocks: Vec<Arc<Block>>,
    /// Processes that this session called, by slot.
    lives: Vec<Option<Live>>,
    reply: Option<(String, bool)>,
    fault: Option<SessionFault>,
}

/// Where a call goes.
struct Target {
    slot: usize,
    /// The tool's own name.
    own: String,
    /// It stands on the surface now.
    is_shown: bool,
}

impl ExternalSession {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            surface: Arc::clone(&shared.surface),
            blocks: shared.slots.iter().map(|slot| Arc::clone(&slot.block)).collect(),
            lives: shared.slots.iter().map(|_| None).collect(),
            reply: None,
            fault: shared.given_up().map(|fault| blame(&fault)),
            shared,
        }
    }

    /// Finds the slot by the shown name. What is not shown is guessed at: it goes, under the name behind the label, to the
    /// process of that label, as a client would pass it on.
    fn target(&self, shown: &str) -> Option<Target> {
        for (slot, block) in self.blocks.iter().enumerate() {
            if let Some(own) = block.own(shown) {
                return Some(Target { slot, own: own.to_owned(), is_shown: true });
            }
        }
        self.shared.slots.iter().enumerate().filter(|(_, at)| at.is_up).find_map(|(slot, at)| {
            let own = match &at.label {
                Some(label) => behind(label, shown)?,
                None => shown,
            };
            Some(Target { slot, own: own.to_owned(), is_shown: false })
        })
    }

    fn try_call(&mut self, call: &ToolCall) -> Result<CallOutcome, Fault> {
        let Some(target) = self.target(&call.name) else {
            return Ok(CallOutcome::Rejected { reply: format!("unknown tool: {}", call.name) });
        };
        let mut live = match self.lives[target.slot].take() {
            Some(live) => live,
            None => self.take(target.slot)?,
        };
        let called = self.call_live(&mut live, &target, call);
        let slot = &self.shared.slots[target.slot];
        match called {
            Ok(outcome) => {
                self.shared.went_through();
                if self.shared.entry.stateless {
                    slot.pool.give_back(live);
                } else {
                    self.lives[target.slot] = Some(live);
                }
                Ok(outcome)
            }
            Err(fault) => {
                slot.pool.retire(live);
                Err(fault)
            }
        }
    }

    /// A fresh process. What it lists should be what the first one listed, which is what the model was shown.
    fn take(&self, at: usize) -> Result<Live, Fault> {
        let slot = &self.shared.slots[at];
        let live = slot.pool.take()?;
        if !self.shared.entry.stateless {
            self.shared.timings.start(live.started_in);
        }
        if live.tools != slot.tools {
            let name = slot.server.as_deref().unwrap_or("all servers");
            self.shared.findings.oddity(Oddity::UnstableList, || format!("for {name}"));
        }
        Ok(live)
    }

    fn call_live(&mut self, live: &mut Live, target: &Target, call: &ToolCall) -> Result<CallOutcome, Fault> {
        let log = |error: std::io::Error| Fault::Harness { cause: format!("the replay server's log: {error}") };
        let findings = &self.shared.findings;
        if !live.log.take().map_err(log)?.is_empty() {
            findings.oddity(Oddity::LateCall, || format!("before a call of {}", target.own));
        }
        let begun = Instant::now();
        let answer = live.client.call(&target.own, &call.arguments)?;
        self.shared.timings.call(begun.elapsed());
        let reached = live.log.take().map_err(log)?;
        if answer.cut {
            findings.oddity(Oddity::ReplyCut, || format!("of {}", target.own));
        }
        let surface_changed = self.relist(live, target.slot)?;
        let mut reached = reached.into_iter();
        match (reached.next(), reached.len()) {
            (None, _) => Ok(self.not_forwarded(target, answer, surface_changed)),
            (Some(reached), 0) => Ok(self.forwarded(target, call, reached, answer, surface_changed)),
            (Some(_), more) => Err(Fault::ForwardedSeveral { tool: target.own.clone(), times: more + 1 }),
        }
    }

    fn not_forwarded(&self, target: &Target, answer: Answer, surface_changed: bool) -> CallOutcome {
        let Answer { text: reply, is_error, .. } = answer;
        let server = self.shared.slots[target.slot].server.as_deref();
        let denoted = inspect::denoted(&target.own, server, &self.shared.catalogs);
        if is_error {
            let said: String = reply.chars().take(200).collect();
            self.shared.findings.oddity(Oddity::Refused, || format!("{}: {said}", target.own));
        }
        if denoted.is_some() && is_error {
            // An upstream tool under its own name: the arm did not let the call through.
            return CallOutcome::Rejected { reply };
        }
        if denoted.is_some() {
            self.shared.findings.oddity(Oddity::AnsweredItself, || {
                format!("{} was answered, and nothing reached the server", target.own)
            });
        }
        CallOutcome::Meta { reply, is_error, surface_changed }
    }

    fn forwarded(
        &mut self,
        target: &Target,
        call: &ToolCall,
        reached: Reached,
        answer: Answer,
        surface_changed: bool,
    ) -> CallOutcome {
        let slot = &self.shared.slots[target.slot];
        let denoted = inspect::denoted(&target.own, slot.server.as_deref(), &self.shared.catalogs);
        let direct = denoted.is_some();
        for (kind, what) in
            inspect::forwarding(denoted.as_ref(), slot.server.as_deref(), call, &reached, &self.shared.catalogs)
        {
            self.shared.findings.oddity(kind, || what);
        }
        let route = match (direct, target.is_shown) {
            (_, false) => Route::Guessed,
            (false, true) => Route::Invoked,
            (true, true) if self.shared.surface.tool(&call.name).is_some() => Route::Direct,
            (true, true) => Route::Fetched,
        };
        self.reply = Some((answer.text, answer.is_error));
        CallOutcome::Upstream {
            server: reached.server,
            tool: reached.tool,
            arguments: reached.arguments,
            route,
            surface_changed,
        }
    }

    /// Takes the list again where a change was announced; whether the surface is another one now.
    fn relist(&mut self, live: &mut Live, at: usize) -> Result<bool, Fault> {
        let slot = &self.shared.slots[at];
        if !live.client.list_changed(slot.settle)? {
            return Ok(false);
        }
        let listed = live.client.list(Instant::now() + self.shared.limits.call, slot.settle)?;
        let others = self.blocks.iter().enumerate().filter(|(other, _)| *other != at);
        let mut taken: HashSet<String> =
            others.flat_map(|(_, block)| block.tools.iter().map(|tool| tool.name().to_owned())).collect();
        let block = Block::new(slot.label.as_deref(), &listed, &mut taken)?;
        let same = block.tools.iter().map(|tool| tool.json()).eq(self.blocks[at].tools.iter().map(|tool| tool.json()));
        if same {
            return Ok(false);
        }
        self.blocks[at] = Arc::new(block);
        let tools = self.blocks.iter().flat_map(|block| block.tools.iter().cloned()).collect();
        self.surface = Arc::new(Surface::new(tools, self.shared.instructions.clone()));
        Ok(true)
    }
}

/// What stands behind a label in a shown name, where it begins with that label as names write it.
fn behind<'n>(label: &str, shown: &'n str) -> Option<&'n str> {
    shown.strip_prefix(&names::legal(label, ""))
}

/// Whose fault it is, for the episode.
fn blame(fault: &Fault) -> SessionFault {
    if fault.is_ours() { SessionFault::Harness(fault.to_string()) } else { SessionFault::Arm(fault.to_string()) }
}

impl ArmSession for ExternalSession {
    fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    /// Nobody says which tools of a compressor only inform, so calls are made in the order in which the model makes them.
    fn informs(&self, _name: &str) -> bool {
        false
    }

    fn call(&mut self, call: &ToolCall) -> CallOutcome {
        self.reply = None;
        if self.fault.is_none() {
            match self.try_call(call) {
                Ok(outcome) => return outcome,
                Err(fault) => {
                    self.shared.fault(&fault);
                    self.fault = Some(blame(&fault));
                }
            }
        }
        CallOutcome::Rejected { reply: FAILED.to_owned() }
    }

    fn upstream_reply(&mut self) -> Option<(String, bool)> {
        self.reply.take()
    }

    fn fault(&self) -> Option<&SessionFault> {
        self.fault.as_ref()
    }
}

impl Drop for ExternalSession {
    fn drop(&mut self) {
        for (slot, live) in self.shared.slots.iter().zip(&mut self.lives) {
            if let Some(live) = live.take() {
                slot.pool.retire(live);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_is_understood_by_the_label_as_it_is_shown() {
        assert_eq!(behind("git", "git__git_log"), Some("git_log"));
        let shown = names::legal("my proxy@1.2", "git_log");
        assert_eq!(behind("my proxy@1.2", &shown), Some("git_log"), "{shown}");
        assert_eq!(behind("git", "github__git_log"), None);
    }
}
