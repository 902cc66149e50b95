//! Rows against tasks.

use serde_json::Value;

use super::{Row, ToolProof, ToolTable, raw::Fault};
use crate::{
    catalog::Catalogs,
    check::Finding,
    matcher::{Difference, compare},
    score::{Score, UpstreamCall, score},
    task::{GoldCall, Task},
};

/// Applies a tool's rows to its tasks, frame by frame. The first frame that refutes a row is reported, once per row.
pub(super) fn tool(
    name: &str,
    table: &ToolTable,
    frames: &[Vec<Task>],
    catalogs: &Catalogs,
    findings: &mut Vec<Finding>,
) -> ToolProof {
    let mut proof = ToolProof { accepted: table.accept.len(), rejected: table.reject.len(), ..ToolProof::default() };
    let mut covered = vec![[false; 2]; frames.len()];
    for (kind, rows) in [&table.accept, &table.reject].into_iter().enumerate() {
        for row in rows {
            let mut refuted: Vec<String> = Vec::new();
            let mut fits = false;
            for (tasks, covered) in frames.iter().zip(&mut covered) {
                let Some(frame) = tasks.first().map(|task| short(&task.frame)).filter(|frame| row.is_for(frame)) else {
                    continue;
                };
                let verdicts: Vec<Result<(), String>> =
                    tasks.iter().filter_map(|task| judge(row, task, catalogs)).collect();
                proof.calls += verdicts.len();
                fits |= !verdicts.is_empty();
                covered[kind] |= !verdicts.is_empty();
                if let Some(cause) = verdicts.into_iter().find_map(Result::err) {
                    refuted.push(format!("{frame}: {cause}"));
                }
            }
            findings.extend(
                row.unknown_frames(frames)
                    .map(|frame| table.problem(Some(row), format!("{name} has no frame {frame}; the row names it"))),
            );
            if !fits {
                let message = format!("\"{}\" fits no frame of {name}; drop it or change what it changes", row.why);
                findings.push(table.problem(Some(row), message));
            }
            if !refuted.is_empty() {
                let word = ["must be accepted", "must be rejected"][kind];
                let message = format!("{name}: \"{}\" {word}, but in {}", row.why, refuted.join("; in "));
                findings.push(table.problem(Some(row), message));
            }
        }
    }
    for (tasks, covered) in frames.iter().zip(&covered) {
        for (covered, kind) in covered.iter().zip(["accepted", "rejected"]) {
            if !covered && let Some(task) = tasks.first() {
                findings.push(table.problem(None, format!("no row of {kind} calls fits frame {}", task.frame)));
            }
        }
    }
    proof.frames = frames.len();
    proof
}

/// The frame's own part of its id.
fn short(frame: &str) -> &str {
    frame.rsplit('/').next().unwrap_or(frame)
}

impl Row {
    fn is_for(&self, frame: &str) -> bool {
        let names = |list: &[String]| list.iter().any(|name| name == frame);
        (self.frames.is_empty() || names(&self.frames)) && !names(&self.except)
    }

    /// Frames that the row names and the tool does not have.
    fn unknown_frames<'a>(&'a self, frames: &'a [Vec<Task>]) -> impl Iterator<Item = &'a String> {
        let known = |name: &str| frames.iter().flatten().any(|task| short(&task.frame) == name);
        self.frames.iter().chain(&self.except).filter(move |name| !known(name))
    }
}

/// Whether the row holds for a task; `None` where it does not fit.
fn judge(row: &Row, task: &Task, catalogs: &Catalogs) -> Option<Result<(), String>> {
    let gold = task.gold.first()?;
    let calls = row.variant.calls(gold)?;
    let score = score(task, catalogs, &calls);
    Some(match row.fault {
        None => accepted(&calls, score, gold, catalogs),
        Some(fault) => rejected(fault, &calls, score, gold, catalogs),
    })
}

fn accepted(calls: &[UpstreamCall], score: Score, gold: &GoldCall, catalogs: &Catalogs) -> Result<(), String> {
    if let Some(why) = calls.iter().find_map(|call| invalid(call, catalogs)) {
        return Err(format!("the schema refuses it: {why}"));
    }
    if score.arguments {
        return Ok(());
    }
    let [call, ..] = calls else { return Err("there is no call".into()) };
    Err(match mismatch(call, gold, catalogs) {
        Some((_, text)) => format!("{text} in {}", Value::from(call.arguments.clone())),
        None => format!("{} is not a right tool there", call.tool),
    })
}

fn rejected(
    fault: Fault,
    calls: &[UpstreamCall],
    score: Score,
    gold: &GoldCall,
    catalogs: &Catalogs,
) -> Result<(), String> {
    let shown = || match calls {
        [call, ..] => format!("{} {}", call.tool, Value::from(call.arguments.clone())),
        [] => "no call".to_owned(),
    };
    if score.arguments {
        return Err(format!("{} is accepted", shown()));
    }
    let refused = calls.iter().find_map(|call| invalid(call, catalogs));
    let difference = calls.first().and_then(|call| mismatch(call, gold, catalogs)).map(|(difference, _)| difference);
    let found = match (refused, score.selection, difference) {
        _ if fault == Fault::Calls && !score.selection && calls.len() != 1 => Fault::Calls,
        (_, false, _) => Fault::Tool,
        (Some(_), _, _) => Fault::Invalid,
        (None, true, Some(Difference::Missing)) => Fault::Missing,
        (None, true, Some(Difference::Extra)) => Fault::Extra,
        (None, true, Some(Difference::Length)) => Fault::Length,
        (None, true, _) => Fault::Value,
    };
    if found == fault { Ok(()) } else { Err(format!("{} is wrong for another reason: {}", shown(), found.name())) }
}

fn invalid(call: &UpstreamCall, catalogs: &Catalogs) -> Option<String> {
    catalogs.tool(&call.server, &call.tool)?.validate(&call.arguments).err()
}

/// The first difference from the intent's own gold; `None` for another tool.
fn mismatch(call: &UpstreamCall, gold: &GoldCall, catalogs: &Catalogs) -> Option<(Difference, String)> {
    if (call.server.as_str(), call.tool.as_str()) != (&*gold.server, &*gold.tool) {
        return None;
    }
    let schema = &catalogs.tool(&gold.server, &gold.tool)?.input_schema;
    let mismatch = compare(&gold.arguments, &call.arguments, &gold.matchers, schema).err()?;
    Some((mismatch.what, mismatch.to_string()))
}
