//! Can the result suite see a digest that loses? A reader without a language model, with and without the way back.
//!
//! Every result is digested by R's own rules, tool definition included. The reader parses rows and evaluates the
//! question over them (`results_suite`'s second route to the gold). Once it reads only what R shows; once it follows
//! every handle first, through R's own expand tool. A suite on which the first reader is not clearly worse could not
//! tell a model that expands from one that does not.

use std::collections::BTreeMap;

use bench_tasks::results_suite::{ResultGenerator, ResultTask};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    arms::{Arm, ArmSession, CallOutcome, Scope, ToolCall, registry::Registry},
    inputs::Inputs,
    plan::{self, SuiteSeeds},
};

/// Percentage points by which the reader that never expands must lie below the one that does.
pub const BOUND_POINTS: f64 = 20.0;
/// What stands before a handle in a digest.
const HANDLE_MARK: &str = "handle=";
/// Hex digits of a handle.
const HANDLE_DIGITS: usize = 8;

/// How often each reader found the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Found {
    /// Questions.
    pub tasks: u64,
    /// Questions whose result R shows as a digest.
    pub digested: u64,
    /// Right answers of the reader that never expands.
    pub shown: u64,
    /// Right answers of the reader that expands.
    pub expanded: u64,
}

/// The two readers over the protocol's result suite.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rereading {
    /// All questions.
    pub all: Found,
    /// By kind.
    pub kinds: BTreeMap<String, Found>,
    /// Points that the reader that expands is ahead.
    pub points: f64,
    /// Points that are asked for.
    pub bound: f64,
    /// Whether there are enough.
    pub separated: bool,
}

/// Reads every question of the protocol's result suite in both ways; `None` where the catalogs have no tool to ask
/// about.
pub fn measure(inputs: &Inputs) -> anyhow::Result<Option<Rereading>> {
    let protocol = &inputs.protocol;
    let seeds = SuiteSeeds::derive(protocol, &protocol.seeds.primary)?;
    let Ok(suite) = ResultGenerator::new(&inputs.catalogs, seeds.results, protocol.suites.results.tasks) else {
        return Ok(None);
    };
    let Some(id) = protocol.arms.results.first() else { return Ok(None) };
    let arm = Registry::new(&plan::arm_context(inputs, &seeds))?.build(id)?;
    let mut kinds: BTreeMap<String, Found> = BTreeMap::new();
    let mut all = Found::default();
    for (index, task) in (0..).zip(suite.iter()) {
        let (shown, expanded) = texts(arm.as_ref(), &task)?;
        let right = |text: &str| u64::from(suite.reread(index, text).is_some_and(|found| found == task.gold.answer));
        let (on_shown, on_expanded) = (right(&shown), right(&expanded));
        for found in [&mut all, kinds.entry(task.kind.to_string()).or_default()] {
            found.tasks += 1;
            found.digested += u64::from(shown != expanded);
            found.shown += on_shown;
            found.expanded += on_expanded;
        }
    }
    let share = |right: u64| 100.0 * right as f64 / all.tasks.max(1) as f64;
    let points = share(all.expanded) - share(all.shown);
    Ok(Some(Rereading { all, kinds, points, bound: BOUND_POINTS, separated: points >= BOUND_POINTS }))
}

/// What R shows of a task's result, and the same after following its handle.
fn texts(arm: &dyn Arm, task: &ResultTask) -> anyhow::Result<(String, String)> {
    let mut session = arm.open(Scope::Tool { server: &task.server, tool: &task.tool })?;
    let shown = session.digest(&task.server, &task.tool, &task.result).joined_text();
    let expanded = match handle(&shown).and_then(|handle| expand(session.as_mut(), handle)) {
        Some(original) => original,
        None => shown.clone(),
    };
    Ok((shown, expanded))
}

/// The first handle that a digest names.
fn handle(digest: &str) -> Option<&str> {
    let at = digest.find(HANDLE_MARK)? + HANDLE_MARK.len();
    digest.get(at..at + HANDLE_DIGITS)
}

/// The original behind a handle, by the only tool of the session that takes one.
fn expand(session: &mut dyn ArmSession, handle: &str) -> Option<String> {
    let takes_handle = |schema: &str| {
        serde_json::from_str::<Value>(schema).is_ok_and(|schema| schema.pointer("/properties/handle").is_some())
    };
    let name = session.surface().tools().iter().find(|tool| takes_handle(tool.schema().get()))?.name().to_owned();
    let arguments = Map::from_iter([("handle".to_owned(), Value::from(handle))]);
    match session.call(&ToolCall { name, arguments }) {
        CallOutcome::Meta { reply, is_error: false, .. } => Some(reply),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Overrides;

    #[test]
    fn a_reader_that_never_expands_is_clearly_below_one_that_does() {
        let inputs = Inputs::load(&Overrides::default()).unwrap();
        let found = measure(&inputs).unwrap().unwrap();
        // Behind every handle stands the original, so the expanding reader knows all.
        assert_eq!(found.all.expanded, found.all.tasks);
        assert!(found.separated, "{found:?}");
        // Digests are the rule here, and where nothing is digested nothing is lost.
        assert!(2 * found.all.digested > found.all.tasks, "{found:?}");
        for (kind, found) in &found.kinds {
            assert!(found.shown + found.digested >= found.tasks, "{kind}: {found:?}");
        }
    }
}
