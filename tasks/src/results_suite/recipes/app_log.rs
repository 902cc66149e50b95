//! Questions over an application's log, which reaches a git tool because the log is tracked as a fixture.

use super::{
    Item,
    diffs::{DiffTool, changed, item},
    nth_largest, tally,
};
use crate::results_suite::{
    shapes::git::Hunk,
    world::{World, iso},
};

/// One line: level, component, message.
#[derive(Debug, Clone)]
struct Line {
    level: &'static str,
    component: String,
    message: String,
}

/// A run's log while it is being invented.
struct Log {
    components: Vec<String>,
    lines: Vec<Line>,
}

impl Log {
    /// `noise` lines that no question is about.
    fn new(w: &mut World<'_>, noise: usize) -> Self {
        let pools = w.pools;
        let components: Vec<String> = w.draw.entries(5, &pools.components).into_iter().map(str::to_owned).collect();
        let mut log = Self { components, lines: Vec::new() };
        for _ in 0..noise {
            let (component, level) = (log.component(w), if w.draw.chance(1, 4) { "DEBUG" } else { "INFO" });
            let message = match w.draw.below(4) {
                0 => format!("heartbeat from {}", w.draw.pick(&pools.hosts)),
                1 => format!("cursor moved to {}", w.draw.between(10_000, 99_999)),
                2 => format!("pool holds {} idle connections", w.draw.between(2, 40)),
                _ => format!("lease renewed for {}", w.draw.pick(&pools.sections)),
            };
            log.add(level, &component, message);
        }
        log
    }

    fn component(&self, w: &mut World<'_>) -> String {
        self.components[w.draw.below(self.components.len())].clone()
    }

    fn add(&mut self, level: &'static str, component: &str, message: String) {
        self.lines.push(Line { level, component: component.to_owned(), message });
    }

    /// Shuffles the lines, dates them and puts them into a diff of a tracked log.
    fn finish(mut self, w: &mut World<'_>, gold: impl Into<String>, slots: Vec<(&'static str, String)>) -> Item {
        w.draw.shuffle(&mut self.lines);
        self.finish_in_order(w, gold, slots)
    }

    fn finish_in_order(self, w: &mut World<'_>, gold: impl Into<String>, slots: Vec<(&'static str, String)>) -> Item {
        let repo = w.repo();
        let mut when = w.moment();
        let mut lines = Vec::new();
        for i in 0..3 {
            when += w.draw.between(1, 20);
            lines.push(format!(" {} DEBUG [{}] warm-up step {i}", iso(when), self.components[0]));
        }
        for Line { level, component, message } in self.lines {
            when += w.draw.between(1, 40);
            lines.push(format!("+{} {level:<5} [{component}] {message}", iso(when)));
        }
        let hunk = Hunk { start: w.draw.between(40, 900), lines };
        let file = changed(w, "fixtures/nightly.log", vec![hunk]);
        item(DiffTool::Unstaged, &[file], &repo, gold, slots)
    }
}

/// Request ids, six hex digits each.
fn requests(w: &mut World<'_>, count: usize) -> Vec<String> {
    w.draw.distinct(count, |draw| draw.hex(6))
}

pub(super) fn error_shard(w: &mut World<'_>) -> Item {
    let mut log = Log::new(w, 26);
    let shards = w.draw.numbers(3, 11, 96);
    for (i, shard) in shards.iter().enumerate() {
        let blocks = w.draw.between(2, 9);
        let component = log.components[i].clone();
        log.add("ERROR", &component, format!("checksum mismatch in shard {shard}, {blocks} blocks skipped"));
    }
    let component = log.components[0].clone();
    log.finish(w, shards[0].to_string(), vec![("component", component)])
}

pub(super) fn reloaded_settings(w: &mut World<'_>) -> Item {
    let mut log = Log::new(w, 28);
    let pools = w.pools;
    let paths = w.draw.distinct(3, |draw| format!("/etc/{}/limits-{}.toml", draw.pick(&pools.repos), draw.hex(4)));
    for (i, path) in paths.iter().enumerate() {
        let component = log.components[i].clone();
        log.add("INFO", &component, format!("settings reloaded from {path}"));
    }
    // Not at the ends, which a digest keeps.
    w.draw.shuffle(&mut log.lines);
    log.lines.rotate_left(w.draw.below(5));
    let quiet = ["DEBUG", "INFO"].map(|level| (level, log.component(w)));
    for (level, component) in quiet {
        log.add(level, &component, "tick".to_owned());
    }
    let component = log.components[0].clone();
    log.finish_in_order(w, paths[0].clone(), vec![("component", component)])
}

pub(super) fn count_warnings(w: &mut World<'_>) -> Item {
    let mut log = Log::new(w, 22);
    let component = log.component(w);
    for i in 0..10 + w.draw.below(4) {
        let from = if i % 2 == 0 { component.clone() } else { log.component(w) };
        let ms = w.draw.between(100, 900);
        let id = w.draw.hex(6);
        log.add("WARN", &from, format!("req={id} retried after {ms} ms"));
    }
    let count = tally(&log.lines, |line| line.level == "WARN" && line.component == component);
    log.finish(w, count, vec![("component", component)])
}

pub(super) fn sum_of_rows(w: &mut World<'_>) -> Item {
    let mut log = Log::new(w, 20);
    let batches = w.draw.numbers(12, 100, 999);
    let wanted = log.components[0].clone();
    let mut sum = 0;
    for (i, batch) in batches.iter().enumerate() {
        let rows = w.draw.between(11, 99);
        let component = if i < 5 { wanted.clone() } else { log.components[1 + w.draw.below(4)].clone() };
        sum += if component == wanted { rows } else { 0 };
        log.add("INFO", &component, format!("batch {batch} stored {rows} rows"));
    }
    log.finish(w, sum.to_string(), vec![("component", wanted)])
}

/// The user asked for appears in one item of four.
pub(super) fn absent_user(w: &mut World<'_>) -> Item {
    let mut log = Log::new(w, 18);
    let (people, ids) = (w.people(13), requests(w, 12));
    for (person, id) in people.iter().zip(&ids) {
        let component = log.component(w);
        log.add("INFO", &component, format!("req={id} accepted from user={}", person.login));
    }
    let (who, gold) = if w.draw.chance(1, 4) { (&people[4], ids[4].clone()) } else { (&people[12], "none".to_owned()) };
    let slots = vec![("user", who.login.clone())];
    log.finish(w, gold, slots)
}

pub(super) fn second_slowest(w: &mut World<'_>) -> Item {
    let mut log = Log::new(w, 18);
    let (ids, times) = (requests(w, 14), w.draw.numbers(14, 105, 4900));
    for (id, ms) in ids.iter().zip(&times) {
        let component = log.component(w);
        log.add("INFO", &component, format!("req={id} done in {ms} ms"));
    }
    let gold = nth_largest(2, times.into_iter().zip(ids));
    log.finish(w, gold, Vec::new())
}

/// The user stands on one line and the time on another, joined by the request.
pub(super) fn time_of_user(w: &mut World<'_>) -> Item {
    let mut log = Log::new(w, 12);
    let (people, ids, times) = (w.people(10), requests(w, 10), w.draw.numbers(10, 105, 4900));
    let mut accepted = Vec::new();
    let mut done = Vec::new();
    for ((person, id), ms) in people.iter().zip(&ids).zip(&times) {
        let component = log.component(w);
        let line = |message| Line { level: "INFO", component: component.clone(), message };
        accepted.push(line(format!("req={id} accepted from user={}", person.login)));
        done.push(line(format!("req={id} done in {ms} ms")));
    }
    w.draw.shuffle(&mut done);
    let mut noise = std::mem::take(&mut log.lines);
    log.lines.extend(noise.drain(..6));
    log.lines.extend(accepted);
    log.lines.extend(noise.drain(..3));
    log.lines.extend(done);
    log.lines.extend(noise);
    let at = w.draw.below(10);
    log.finish_in_order(w, times[at].to_string(), vec![("user", people[at].login.clone())])
}

/// Batch numbers that contain one another.
pub(super) fn rows_of_batch(w: &mut World<'_>) -> Item {
    let mut log = Log::new(w, 16);
    let (a, b) = (w.draw.between(1, 8), w.draw.between(1, 8));
    let base = 10 * a + b;
    let mut batches = vec![base, 10 * base, 10 * base + 9, 100 + base, 900 + base, 9000 + base, 10 * b + 9, 100 * base];
    batches.sort_unstable();
    batches.dedup();
    let rows = w.draw.numbers(batches.len(), 201, 799);
    for (batch, rows) in batches.iter().zip(&rows) {
        let component = log.component(w);
        log.add("INFO", &component, format!("batch {batch} stored {rows} rows"));
    }
    let gold = batches.iter().zip(&rows).find(|(batch, _)| **batch == base).map(|(_, rows)| *rows);
    log.finish(w, gold.unwrap_or_default().to_string(), vec![("batch", base.to_string())])
}

pub(super) fn last_retry(w: &mut World<'_>) -> Item {
    let mut log = Log::new(w, 20);
    let ids = requests(w, 12);
    let wanted = log.components[0].clone();
    for (i, id) in ids.iter().enumerate() {
        let ms = w.draw.between(100, 900);
        let component = if i < 4 { wanted.clone() } else { log.components[1 + w.draw.below(4)].clone() };
        log.add("WARN", &component, format!("req={id} retried after {ms} ms"));
    }
    w.draw.shuffle(&mut log.lines);
    let last = log.lines.iter().rfind(|line| line.level == "WARN" && line.component == wanted);
    let gold = last.and_then(|line| line.message.get(4..10)).unwrap_or_default().to_owned();
    log.finish_in_order(w, gold, vec![("component", wanted)])
}
