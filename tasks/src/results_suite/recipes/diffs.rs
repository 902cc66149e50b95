//! Questions over diffs of things that are not logs: configuration, tables, constants, translations.

use serde_json::json;

use super::{Item, members, nth_largest, tally};
use crate::results_suite::{
    shapes::git::{self, FileDiff, Hunk},
    world::{Repo, World, day},
};

/// Which diff tool it was.
#[derive(Debug, Clone, Copy)]
pub(super) enum DiffTool {
    Unstaged,
    Staged,
    /// Against `origin/main`.
    Target,
}

/// A diff under the heading of its tool.
pub(super) fn item(
    tool: DiffTool,
    files: &[FileDiff],
    repo: &Repo,
    gold: impl Into<String>,
    mut slots: Vec<(&'static str, String)>,
) -> Item {
    slots.push(("repo", repo.path()));
    let (tool, head, arguments) = match tool {
        DiffTool::Unstaged => ("git_diff_unstaged", "Unstaged changes:", json!({ "repo_path": repo.path() })),
        DiffTool::Staged => ("git_diff_staged", "Staged changes:", json!({ "repo_path": repo.path() })),
        DiffTool::Target => {
            ("git_diff", "Diff with origin/main:", json!({ "repo_path": repo.path(), "target": "origin/main" }))
        }
    };
    Item {
        tool,
        arguments: members(arguments),
        text: format!("{head}\n{}", git::diff(files)),
        gold: gold.into(),
        slots,
    }
}

/// A changed file.
pub(super) fn changed(w: &mut World<'_>, path: impl Into<String>, hunks: Vec<Hunk>) -> FileDiff {
    FileDiff { path: path.into(), blobs: (w.draw.hex(7), w.draw.hex(7)), hunks }
}

/// `config/production.toml`: in each of ten sections one key changes, the same few keys again and again.
pub(super) fn setting(w: &mut World<'_>) -> Item {
    let (repo, pools) = (w.repo(), w.pools);
    let sections = w.draw.entries(10, &pools.sections);
    let numbers = w.draw.numbers(20, 11, 950);
    let mut hunks = Vec::new();
    let mut facts = Vec::new();
    for (i, section) in sections.iter().enumerate() {
        let keys = w.draw.entries(4, &pools.settings);
        let (old, new) = (numbers[2 * i], numbers[2 * i + 1]);
        let mut keep = |key: &str| format!(" {key} = {}", w.draw.between(960, 1999));
        let lines = vec![
            format!(" [{section}]"),
            keep(keys[0]),
            keep(keys[1]),
            format!("-{} = {old}", keys[2]),
            format!("+{} = {new}", keys[2]),
            keep(keys[3]),
            " ".to_owned(),
        ];
        hunks.push(Hunk { start: 4 + 14 * i as u64, lines });
        facts.push((section.to_string(), keys[2].to_owned(), new));
    }
    let (section, key, value) = facts[2 + w.draw.below(6)].clone();
    let file = changed(w, "config/production.toml", hunks);
    item(DiffTool::Staged, &[file], &repo, value.to_string(), vec![("section", section), ("key", key)])
}

/// One counted row of `stock/levels.csv`.
struct Stock {
    sku: String,
    warehouse: String,
    quantity: u64,
}

/// Rows added to a stock table of three warehouses, in a diff with context.
fn stock(w: &mut World<'_>, count: usize, high: u64) -> (Vec<Stock>, FileDiff) {
    let pools = w.pools;
    let houses = w.draw.entries(3, &pools.warehouses);
    let numbers = w.draw.numbers(count + 6, 100, 999);
    let quantities = w.draw.numbers(count, 3, high);
    let sku = |w: &mut World<'_>, number: u64| format!("{}-{number}", w.draw.pick(&pools.goods));
    let row = |w: &mut World<'_>, number: u64, quantity: u64| Stock {
        sku: sku(w, number),
        warehouse: houses[w.draw.below(3)].to_owned(),
        quantity,
    };
    let counted = day(w.moment());
    let print = |sign: &str, stock: &Stock, shelf: u64| {
        format!("{sign}{},{},{},shelf {shelf},counted {counted}", stock.sku, stock.warehouse, stock.quantity)
    };
    let added: Vec<Stock> = (0..count).map(|i| row(w, numbers[i], quantities[i])).collect();
    let mut lines = Vec::new();
    for i in 0..3 {
        let kept = row(w, numbers[count + i], 1000 + i as u64);
        lines.push(print(" ", &kept, w.draw.between(1, 60)));
    }
    for stock in &added {
        lines.push(print("+", stock, w.draw.between(1, 60)));
    }
    for i in 3..6 {
        let kept = row(w, numbers[count + i], 1000 + i as u64);
        lines.push(print(" ", &kept, w.draw.between(1, 60)));
    }
    let hunk = Hunk { start: w.draw.between(20, 400), lines };
    (added, changed(w, "stock/levels.csv", vec![hunk]))
}

pub(super) fn stock_sum(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let (rows, file) = stock(w, 18, 60);
    let house = rows[w.draw.below(18)].warehouse.clone();
    let sum: u64 = rows.iter().filter(|row| row.warehouse == house).map(|row| row.quantity).sum();
    item(DiffTool::Unstaged, &[file], &repo, sum.to_string(), vec![("warehouse", house)])
}

pub(super) fn stock_second(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let (rows, file) = stock(w, 22, 900);
    let gold = nth_largest(2, rows.iter().map(|row| (row.quantity, row.sku.clone())));
    item(DiffTool::Unstaged, &[file], &repo, gold, Vec::new())
}

pub(super) fn stock_count(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let (rows, file) = stock(w, 24, 400);
    let house = rows[w.draw.below(24)].warehouse.clone();
    let count = tally(&rows, |row| row.warehouse == house);
    item(DiffTool::Staged, &[file], &repo, count, vec![("warehouse", house)])
}

/// Twelve files whose constants of one name get new values.
pub(super) fn constant(w: &mut World<'_>) -> Item {
    let (repo, pools) = (w.repo(), w.pools);
    let name = w.draw.pick(&pools.constants);
    let stems = w.draw.entries(12, &pools.stems);
    let numbers = w.draw.numbers(24, 11, 399);
    let mut files = Vec::new();
    for (i, stem) in stems.iter().enumerate() {
        let note = w.prose(3);
        let lines = vec![
            format!(" // {}", note[0]),
            format!("-pub const {name}: u32 = {};", numbers[2 * i]),
            format!("+pub const {name}: u32 = {};", numbers[2 * i + 1]),
            " ".to_owned(),
            format!(" // {}", note[1]),
            format!("-pub(crate) fn {stem}_rows(limit: u32) -> Vec<Row> {{"),
            format!("+pub(crate) fn {stem}_rows(limit: u32, page: u32) -> Vec<Row> {{"),
            format!("     // {}", note[2]),
        ];
        let hunk = Hunk { start: w.draw.between(3, 90), lines };
        files.push(changed(w, format!("src/{stem}/limits.rs"), vec![hunk]));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let at = 2 + w.draw.below(8);
    let path = files[at].path.clone();
    let value = stems.iter().position(|stem| path == format!("src/{stem}/limits.rs")).map(|i| numbers[2 * i + 1]);
    let slots = vec![("path", path), ("constant", name.to_owned())];
    item(DiffTool::Target, &files, &repo, value.unwrap_or_default().to_string(), slots)
}

/// New messages in three languages' files, the same keys in each.
pub(super) fn translation(w: &mut World<'_>) -> Item {
    let (repo, pools) = (w.repo(), w.pools);
    let mut locales: Vec<(&String, Vec<(&String, &String)>)> =
        pools.messages.iter().map(|(locale, texts)| (locale, texts.iter().collect())).collect();
    while locales.len() > 3 {
        locales.remove(w.draw.below(locales.len()));
    }
    let gone = w.draw.numbers(3, 0, 11);
    let mut files = Vec::new();
    for (locale, texts) in &mut locales {
        let mut at = 0;
        texts.retain(|_| {
            at += 1;
            !gone.contains(&(at - 1))
        });
        let mut lines = vec![" {".to_owned()];
        lines.extend(texts.iter().map(|(key, text)| format!("+  \"{key}\": \"{text}\",")));
        lines.push("   \"app.name\": \"Stockroom\",".to_owned());
        files.push(changed(w, format!("locales/{locale}.json"), vec![Hunk { start: 1, lines }]));
    }
    let (locale, texts) = &locales[w.draw.below(3)];
    let (key, text) = texts[3 + w.draw.below(6)];
    let slots = vec![("path", format!("locales/{locale}.json")), ("key", key.clone())];
    item(DiffTool::Target, &files, &repo, text, slots)
}
