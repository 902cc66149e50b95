//! The blind audit: sheets of utterances without golds, and what readers' answers say about the golds.
//!
//! A reader sees an utterance and the raw catalogs, nothing else. Agreement of a reader of the writers' own kind is an
//! upper bound.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::{
    catalog::{Catalogs, hex},
    error::TasksError,
    generate::{FrameSet, Generator, Plan},
    intent::Intents,
    score::{UpstreamCall, score},
    task::{Stratum, Task},
};

/// One line of a sheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SheetItem {
    /// Number on the sheet: says nothing of the frame.
    pub item: String,
    /// What the user says.
    pub utterance: String,
}

/// One line of a reader's answers: the call that the utterance asks for, or no tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Number on the sheet.
    pub item: String,
    /// Catalog name; absent or null for "no tool".
    #[serde(default)]
    pub server: Option<String>,
    /// Tool name; absent or null for "no tool".
    #[serde(default)]
    pub tool: Option<String>,
    /// Arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// What the reader remarks.
    #[serde(default)]
    pub note: Option<String>,
}

/// Counts of agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Agreement {
    /// Items read.
    pub read: u64,
    /// Same tool as the gold.
    pub tool: u64,
    /// Same tool and accepted arguments.
    pub call: u64,
}

/// An item that a reader answered otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disagreement {
    /// Number on the sheet.
    pub item: String,
    /// The frame.
    pub frame: Arc<str>,
    /// The utterance.
    pub utterance: String,
    /// The gold's alternatives.
    pub gold: Vec<Value>,
    /// What the reader would call.
    pub answer: Value,
    /// The reader's remark.
    pub note: Option<String>,
}

/// What an audit says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditReport {
    /// Over all items read.
    pub all: Agreement,
    /// By tool, `server/tool` or `abstain`.
    pub by_tool: BTreeMap<String, Agreement>,
    /// By stratum.
    pub by_stratum: BTreeMap<Stratum, Agreement>,
    /// Cohen's kappa of reader and gold on the choice of tool (Cohen, 1960); `None` where both name one label only.
    pub kappa: Option<f64>,
    /// Items of the sheet without an answer.
    pub unread: Vec<String>,
    /// Items answered otherwise.
    pub disagreements: Vec<Disagreement>,
}

/// One task per frame, scored and dev alike, in a seeded order that hides frames.
///
/// # Errors
/// As [`Generator::new`].
pub fn items(intents: &Intents, catalogs: &Catalogs, seed: [u8; 32]) -> Result<Vec<(SheetItem, Task)>, TasksError> {
    let mut tasks = Vec::new();
    for frames in [FrameSet::Scored, FrameSet::Dev] {
        let has = |abstain: bool| {
            intents
                .frames()
                .iter()
                .any(|frame| frame.tool.is_none() == abstain && frame.dev == (frames == FrameSet::Dev))
        };
        let plan = Plan {
            tool_tasks: u64::from(has(false)),
            abstain_tasks: u64::from(has(true)),
            frames_per_tool: usize::MAX,
            abstain_frames: usize::MAX,
            frames,
            allow_incomplete: true,
        };
        let generator = Generator::new(intents, catalogs, seed, plan)?;
        let count = generator.frames().count();
        tasks.extend((0..count).filter_map(|frame| generator.frame_task(frame, 0)));
    }
    let mut keyed: Vec<(String, Task)> = tasks
        .into_iter()
        .map(|task| {
            let hash = Sha256::new().chain_update(seed).chain_update(task.frame.as_bytes()).finalize();
            (hex(&hash[..5]), task)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(keyed.into_iter().map(|(item, task)| (SheetItem { item, utterance: task.utterance.clone() }, task)).collect())
}

/// Holds answers against the golds of the sheet made from the same seed.
///
/// # Errors
/// An answer that names an item twice, or one that is not on the sheet.
pub fn judge(items: &[(SheetItem, Task)], catalogs: &Catalogs, answers: &[Answer]) -> Result<AuditReport, TasksError> {
    let known: BTreeSet<&str> = items.iter().map(|(item, _)| item.item.as_str()).collect();
    let mut by_item: BTreeMap<&str, &Answer> = BTreeMap::new();
    for answer in answers {
        if !known.contains(answer.item.as_str()) {
            return Err(TasksError::Audit(format!("item `{}` is not on the sheet of this seed", answer.item)));
        }
        if by_item.insert(&answer.item, answer).is_some() {
            return Err(TasksError::Audit(format!("item `{}` is answered twice", answer.item)));
        }
    }
    let mut report = AuditReport {
        all: Agreement::default(),
        by_tool: BTreeMap::new(),
        by_stratum: BTreeMap::new(),
        kappa: None,
        unread: Vec::new(),
        disagreements: Vec::new(),
    };
    let mut labels: BTreeMap<(String, String), u64> = BTreeMap::new();
    for (item, task) in items {
        let Some(answer) = by_item.get(item.item.as_str()) else {
            report.unread.push(item.item.clone());
            continue;
        };
        let calls: Vec<UpstreamCall> = match (&answer.server, &answer.tool) {
            (Some(server), Some(tool)) => {
                vec![UpstreamCall { server: server.clone(), tool: tool.clone(), arguments: answer.arguments.clone() }]
            }
            _ => Vec::new(),
        };
        let score = score(task, catalogs, &calls);
        let own = label(task.server.as_deref(), task.tool.as_deref());
        // A reader who chose one of the accepted tools agrees on the label.
        let theirs =
            if score.selection { own.clone() } else { label(answer.server.as_deref(), answer.tool.as_deref()) };
        for agreement in [
            &mut report.all,
            report.by_tool.entry(own.clone()).or_default(),
            report.by_stratum.entry(task.stratum).or_default(),
        ] {
            agreement.read += 1;
            agreement.tool += u64::from(score.selection);
            agreement.call += u64::from(score.arguments);
        }
        *labels.entry((own, theirs)).or_default() += 1;
        if !score.arguments {
            report.disagreements.push(Disagreement {
                item: item.item.clone(),
                frame: Arc::clone(&task.frame),
                utterance: task.utterance.clone(),
                gold: task.gold.iter().map(|gold| serde_json::json!({"server": gold.server, "tool": gold.tool, "arguments": gold.arguments})).collect(),
                answer: serde_json::json!({"server": answer.server, "tool": answer.tool, "arguments": answer.arguments}),
                note: answer.note.clone(),
            });
        }
    }
    report.kappa = kappa(&labels);
    Ok(report)
}

fn label(server: Option<&str>, tool: Option<&str>) -> String {
    match (server, tool) {
        (Some(server), Some(tool)) => format!("{server}/{tool}"),
        _ => "abstain".to_owned(),
    }
}

/// Cohen's kappa, (observed − expected)/(1 − expected) (Cohen, 1960, Educ Psychol Meas 20:37).
fn kappa(labels: &BTreeMap<(String, String), u64>) -> Option<f64> {
    let n: u64 = labels.values().sum();
    let mut rows: BTreeMap<&str, u64> = BTreeMap::new();
    let mut columns: BTreeMap<&str, u64> = BTreeMap::new();
    let mut same = 0;
    for ((own, theirs), count) in labels {
        *rows.entry(own).or_default() += count;
        *columns.entry(theirs).or_default() += count;
        same += if own == theirs { *count } else { 0 };
    }
    let chance: u128 =
        rows.iter().map(|(name, count)| u128::from(*count) * u128::from(columns.get(name).copied().unwrap_or(0))).sum();
    if n == 0 {
        return None;
    }
    let observed = same as f64 / n as f64;
    let expected = chance as f64 / (n as f64 * n as f64);
    (expected < 1.0).then(|| (observed - expected) / (1.0 - expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_of_a_worked_example() {
        // 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: observed 0.7, expected 0.5.
        let labels = BTreeMap::from([
            (("y".to_owned(), "y".to_owned()), 20),
            (("y".to_owned(), "n".to_owned()), 5),
            (("n".to_owned(), "y".to_owned()), 10),
            (("n".to_owned(), "n".to_owned()), 15),
        ]);
        assert!((kappa(&labels).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(kappa(&BTreeMap::new()), None);
    }

    #[test]
    fn a_reader_who_answers_with_the_golds_agrees_everywhere() {
        let catalogs = Catalogs::vendored().unwrap();
        let items = items(&Intents::embedded(), &catalogs, [7; 32]).unwrap();
        let answers: Vec<Answer> = items
            .iter()
            .map(|(item, task)| {
                let gold = task.gold.first();
                Answer {
                    item: item.item.clone(),
                    server: gold.map(|gold| gold.server.to_string()),
                    tool: gold.map(|gold| gold.tool.to_string()),
                    arguments: gold.map(|gold| gold.arguments.clone()).unwrap_or_default(),
                    note: None,
                }
            })
            .collect();
        let report = judge(&items, &catalogs, &answers).unwrap();
        assert_eq!(report.all.call, items.len() as u64);
        assert!(report.disagreements.is_empty() && report.unread.is_empty());
        assert!((report.kappa.unwrap() - 1.0).abs() < 1e-12);
        assert!(judge(&items, &catalogs, &[answers[0].clone(), answers[0].clone()]).is_err());
    }
}
