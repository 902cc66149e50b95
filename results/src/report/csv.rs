//! Tidy tables straight from a record: one row per episode, one row per attempt. Columns are described in `docs/csv.md`.

use std::{collections::BTreeMap, io::Write};

use bench_tasks::task::TaskId;

use super::{
    error::ReportError,
    source::{Sources, TaskFacts},
    text::{tame, word},
};
use crate::record::{AttemptLine, EpisodeRecord, Opened, Record, Settled, Tail, Usage};

/// Columns of the table of episodes.
pub const EPISODE_COLUMNS: [&str; 28] = [
    "run",
    "family",
    "task",
    "server",
    "tool",
    "stratum",
    "arm",
    "turns",
    "calls",
    "invalid_calls",
    "meta_calls",
    "rejected_calls",
    "end",
    "route",
    "called_server",
    "called_tool",
    "called_arguments",
    "answer",
    "selection",
    "arguments",
    "first_call_ok",
    "look_first_ok",
    "input_tokens",
    "cache_write_tokens",
    "cache_read_tokens",
    "output_tokens",
    "billed_pico_dollars",
    "surface",
];

/// Columns of the table of attempts.
pub const ATTEMPT_COLUMNS: [&str; 19] = [
    "run",
    "attempt",
    "task",
    "arm",
    "turn",
    "try",
    "surface",
    "request",
    "reserved_pico_dollars",
    "status",
    "request_id",
    "model",
    "error",
    "milliseconds",
    "input_tokens",
    "cache_write_tokens",
    "cache_read_tokens",
    "output_tokens",
    "billed_pico_dollars",
];

/// Characters of a cell.
const CELL: usize = 4_000;

/// A cell of foreign text: bounded, and no formula for a spreadsheet. Numbers stay numbers.
fn cell(text: &str) -> String {
    let tamed = tame(text, CELL);
    let formula = tamed.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && tamed.parse::<f64>().is_err();
    if formula { format!("'{tamed}") } else { tamed }
}

fn number(value: impl Into<u64>) -> String {
    value.into().to_string()
}

fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn tokens(usage: Option<Usage>) -> [String; 4] {
    let Some(usage) = usage else { return [const { String::new() }; 4] };
    [usage.input, usage.cache_write + usage.cache_write_1h, usage.cache_read, usage.output].map(number)
}

/// Writes one row per episode, in the order of the record. An open run has no outcomes: their columns are empty.
///
/// # Errors
/// The record can't be read, or `out` not written.
pub fn episodes(record: &Record, sources: &Sources, out: impl Write) -> Result<(), ReportError> {
    let facts: BTreeMap<&TaskId, &TaskFacts> = sources.tasks.iter().map(|task| (&task.id, task)).collect();
    let families: BTreeMap<&str, String> = sources.planned.iter().map(|one| (&*one.arm, word(&one.family))).collect();
    let manifest = record.manifest();
    let mut table = csv::Writer::from_writer(out);
    table.write_record(EPISODE_COLUMNS)?;
    for episode in record.episodes(Tail::Cut)? {
        let episode = episode?;
        let task = facts.get(&episode.task).ok_or_else(|| ReportError::UnknownTask(episode.task.clone()))?;
        let family = families.get(&*episode.arm).map_or("", String::as_str);
        table.write_record(episode_row(&manifest.id, family, task, &episode, manifest.complete))?;
    }
    table.flush()?;
    Ok(())
}

fn episode_row(run: &str, family: &str, task: &TaskFacts, episode: &EpisodeRecord, closed: bool) -> Vec<String> {
    let deciding = episode.calls.iter().find(|call| call.valid);
    let invalid = episode.calls.iter().filter(|call| !call.valid).count();
    // Calls that were wrong are an outcome, too.
    let known = |count: u64| if closed { number(count) } else { String::new() };
    let name = |part: Option<&std::sync::Arc<str>>| part.map(|part| cell(part)).unwrap_or_default();
    let mut row = vec![
        cell(run),
        family.to_owned(),
        cell(&episode.task.0),
        name(task.server.as_ref()),
        name(task.tool.as_ref()),
        cell(&task.stratum),
        cell(&episode.arm),
        number(episode.turns),
        number(episode.calls.len() as u64),
        known(invalid as u64),
        number(episode.meta_calls),
        known(episode.rejected_calls.into()),
    ];
    let outcome = [
        word(&episode.end),
        deciding.map(|call| word(&call.route)).unwrap_or_default(),
        name(deciding.map(|call| &call.server)),
        name(deciding.map(|call| &call.tool)),
        deciding.map(|call| cell(&serde_json::Value::from(call.arguments.clone()).to_string())).unwrap_or_default(),
        episode.answer.as_deref().map(cell).unwrap_or_default(),
        optional(episode.selection),
        optional(episode.arguments),
        optional(episode.first_call_ok),
        optional(episode.look_first_ok),
    ];
    row.extend(outcome.into_iter().map(|cell| if closed { cell } else { String::new() }));
    row.extend(tokens(Some(episode.usage)));
    row.extend([number(episode.billed), episode.surface.to_string()]);
    row
}

/// Writes one row per attempt, in the order in which they ended; those without an outcome stand last, in their order.
///
/// # Errors
/// The record can't be read, or `out` not written.
pub fn attempts(record: &Record, out: impl Write) -> Result<(), ReportError> {
    let run = &record.manifest().id;
    let mut table = csv::Writer::from_writer(out);
    table.write_record(ATTEMPT_COLUMNS)?;
    let mut open: BTreeMap<u64, Opened> = BTreeMap::new();
    for line in record.attempts(Tail::Cut)? {
        match line? {
            AttemptLine::Opened(opened) => {
                open.insert(opened.n, opened);
            }
            AttemptLine::Settled(settled) => {
                let opened = open.remove(&settled.n).ok_or(ReportError::StrayAttempt(settled.n))?;
                table.write_record(attempt_row(run, &opened, Some(&settled)))?;
            }
        }
    }
    for opened in open.values() {
        table.write_record(attempt_row(run, opened, None))?;
    }
    table.flush()?;
    Ok(())
}

fn attempt_row(run: &str, opened: &Opened, settled: Option<&Settled>) -> Vec<String> {
    let text = |value: Option<&String>| value.map(|value| cell(value)).unwrap_or_default();
    let mut row = vec![
        cell(run),
        number(opened.n),
        cell(&opened.draw.task.0),
        cell(&opened.draw.arm),
        number(opened.draw.turn),
        number(opened.attempt),
        opened.surface.to_string(),
        opened.request.to_string(),
        number(opened.reserve),
        optional(settled.and_then(|settled| settled.status)),
        text(settled.and_then(|settled| settled.request_id.as_ref())),
        text(settled.and_then(|settled| settled.model.as_ref())),
        text(settled.and_then(|settled| settled.error.as_ref())),
        optional(settled.and_then(|settled| settled.ms)),
    ];
    row.extend(tokens(settled.and_then(|settled| settled.usage)));
    row.push(optional(settled.map(|settled| settled.billed)));
    row
}

/// A table as text, for tests and small runs.
#[cfg(test)]
fn to_text(write: impl FnOnce(&mut Vec<u8>) -> Result<(), ReportError>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture;

    #[test]
    fn formulas_are_defused_and_numbers_stay() {
        assert_eq!(
            ["=1+1", "-5", "+2.5", "@x", "-x", "plain"].map(cell),
            ["'=1+1", "-5", "+2.5", "'@x", "'-x", "plain"]
        );
    }

    #[test]
    fn every_row_has_every_column() {
        let run = fixture::run(60, true);
        for text in [to_text(|out| episodes(&run.record, &run.sources, out)), to_text(|out| attempts(&run.record, out))]
        {
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let columns = reader.headers().unwrap().len();
            let rows: Vec<_> = reader.records().collect::<Result<_, _>>().unwrap();
            assert_eq!(rows.len(), 360);
            assert!(rows.iter().all(|row| row.len() == columns));
        }
    }

    #[test]
    fn an_open_run_shows_no_outcome_in_any_row() {
        let run = fixture::run(60, false);
        let text = to_text(|out| episodes(&run.record, &run.sources, out));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        for row in reader.records() {
            let row = row.unwrap();
            assert!((12..22).all(|column| row[column].is_empty()), "{row:?}");
            assert!(!row[22].is_empty(), "tokens are no outcome");
        }
    }

    #[test]
    fn the_documented_columns_are_those_that_are_written() {
        let docs = include_str!("../../../docs/csv.md");
        let documented: Vec<&str> =
            docs.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name)).collect();
        let written: Vec<&str> = EPISODE_COLUMNS.into_iter().chain(ATTEMPT_COLUMNS).collect();
        assert_eq!(documented, written);
    }
}
