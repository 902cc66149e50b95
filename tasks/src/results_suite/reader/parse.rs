//! From a tool's text back to rows. Lines that fit no pattern are skipped, so digested texts can be read too.

use serde_json::Value;

use super::rows::{Row, Rows};

fn put(row: &mut Row, column: &str, text: &str) {
    row.insert(column.to_owned(), text.to_owned());
}

/// What stands in `text` behind `before` up to `after`, or to the end where `after` is empty.
fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let tail = text.split_once(before)?.1;
    if after.is_empty() { Some(tail) } else { tail.split_once(after).map(|(found, _)| found) }
}

/// Commits of `git_log`.
pub(super) fn log(text: &str) -> Rows {
    let mut rows: Vec<Row> = Vec::new();
    for line in text.lines() {
        if let Some(hash) = line.strip_prefix("Commit: ") {
            let mut row = Row::new();
            put(&mut row, "hash", hash);
            rows.push(row);
            continue;
        }
        let Some(row) = rows.last_mut() else { continue };
        if let Some(name) = line.strip_prefix("Author: ") {
            put(row, "author", name);
        } else if let Some(date) = line.strip_prefix("Date: ") {
            put(row, "date", date);
            put(row, "day", date.split(' ').next().unwrap_or_default());
        } else if let Some(subject) = line.strip_prefix("Message: ") {
            put(row, "subject", subject);
            if let Some((kind, _)) = subject.split_once(": ") {
                put(row, "type", kind);
            }
        } else if let Some(host) = between(line, "Measured on ", ", ") {
            put(row, "host", host);
            put(row, "ms", between(line, ", ", " ms").unwrap_or_default());
        } else if let Some(code) = between(line, "with error ", " in worker") {
            put(row, "code", code);
        } else if let Some((key, value)) = line.split_once(": ")
            && !key.contains(' ')
        {
            put(row, key, value);
        }
    }
    Rows(rows)
}

/// Added lines of an application log inside a diff.
pub(super) fn app_log(text: &str) -> Rows {
    let mut rows = Vec::new();
    for line in text.lines() {
        let Some((time, rest)) = line.strip_prefix('+').and_then(|line| line.split_once(' ')) else { continue };
        let Some((level, rest)) = rest.split_once('[') else { continue };
        let Some((component, message)) = rest.split_once("] ") else { continue };
        let mut row = Row::new();
        put(&mut row, "time", time);
        put(&mut row, "level", level.trim());
        put(&mut row, "component", component);
        for (column, before, after) in [
            ("req", "req=", " "),
            ("user", "user=", ""),
            ("done", " done in ", " ms"),
            ("retried", " retried after ", " ms"),
            ("rows", " stored ", " rows"),
            ("settings", "settings reloaded from ", ""),
        ] {
            if let Some(found) = between(message, before, after) {
                put(&mut row, column, found);
            }
        }
        if let Some(batch) = message.strip_prefix("batch ").and_then(|tail| tail.split(' ').next()) {
            put(&mut row, "batch", batch);
        }
        if let Some(shard) = between(message, "mismatch in shard ", "") {
            put(&mut row, "shard", shard.split(',').next().unwrap_or_default());
        }
        rows.push(row);
    }
    Rows(rows)
}

/// Added rows of the stock table inside a diff.
pub(super) fn stock(text: &str) -> Rows {
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.strip_prefix('+')?.split(',');
        let mut row = Row::new();
        for column in ["sku", "warehouse", "quantity"] {
            put(&mut row, column, cells.next()?);
        }
        Some(row)
    });
    Rows(rows.collect())
}

/// New values of a diffed TOML file, by section.
pub(super) fn settings(text: &str) -> Rows {
    let mut section = "";
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(name) = between(line, " [", "]") {
            section = name;
        } else if let Some((key, value)) = line.strip_prefix('+').and_then(|line| line.split_once(" = ")) {
            let mut row = Row::new();
            put(&mut row, "section", section);
            put(&mut row, "key", key);
            put(&mut row, "value", value);
            rows.push(row);
        }
    }
    Rows(rows)
}

/// New values of constants, by file.
pub(super) fn changed_values(text: &str) -> Rows {
    by_file(text, |line, row| {
        put(row, "name", between(line, "pub const ", ": ")?);
        put(row, "value", between(line, " = ", ";")?);
        Some(())
    })
}

/// New messages, by file.
pub(super) fn messages(text: &str) -> Rows {
    by_file(text, |line, row| {
        let (key, value) = line.trim().trim_end_matches(',').split_once(": ")?;
        put(row, "key", key.trim_matches('"'));
        put(row, "value", value.trim_matches('"'));
        Some(())
    })
}

fn by_file(text: &str, parse: impl Fn(&str, &mut Row) -> Option<()>) -> Rows {
    let mut path = "";
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("+++ b/") {
            path = name;
        } else if let Some(added) = line.strip_prefix('+') {
            let mut row = Row::new();
            put(&mut row, "path", path);
            rows.extend(parse(added, &mut row).map(|()| row));
        }
    }
    Rows(rows)
}

/// Files of `git_status`.
pub(super) fn status(text: &str) -> Rows {
    let mut list = "";
    let mut rows = Vec::new();
    for line in text.lines() {
        list = match line {
            "Changes to be committed:" => "staged",
            "Changes not staged for commit:" => "unstaged",
            "Untracked files:" => "untracked",
            _ => list,
        };
        let Some(entry) = line.strip_prefix('\t') else { continue };
        let mut row = Row::new();
        put(&mut row, "list", list);
        let path = entry.split_once(':').map_or(entry, |(change, path)| {
            put(&mut row, "change", change);
            path.trim()
        });
        let (path, to) = path.split_once(" -> ").unwrap_or((path, ""));
        put(&mut row, "path", path);
        put(&mut row, "to", to);
        rows.push(row);
    }
    Rows(rows)
}

/// Branches of `git_branch`, the pointer of the remote's head left out.
pub(super) fn branches(text: &str) -> Rows {
    let rows = text.lines().filter(|line| !line.contains(" -> ")).filter_map(|line| {
        let name = line.get(2..)?;
        let whole = name.strip_prefix("remotes/");
        let short = whole.map_or(name, |whole| whole.strip_prefix("origin/").unwrap_or(whole));
        let mut row = Row::new();
        put(&mut row, "remote", if whole.is_some() { "yes" } else { "no" });
        put(&mut row, "whole", whole.unwrap_or(name));
        put(&mut row, "name", short);
        let mut parts = short.split('/').nth(1).unwrap_or_default().split('-');
        put(&mut row, "ticket", &format!("{}-{}", parts.next()?, parts.next().unwrap_or_default()));
        Some(row)
    });
    Rows(rows.collect())
}

/// Records at `pointer` of a JSON text, members of members under dotted names; `None` where it is not JSON any more.
///
/// The first and last number of a `description` stand under `description.first` and `description.last`.
pub(super) fn json(text: &str, pointer: &str) -> Option<Rows> {
    let value: Value = serde_json::from_str(text).ok()?;
    let records = match value.pointer(pointer)? {
        Value::Array(records) => records.as_slice(),
        record => std::slice::from_ref(record),
    };
    let rows = records.iter().map(|record| {
        let mut row = Row::new();
        flatten("", record, &mut row);
        row
    });
    Some(Rows(rows.collect()))
}

fn flatten(path: &str, value: &Value, row: &mut Row) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, member, row);
            }
        }
        Value::String(text) => {
            put(row, path, text);
            if path == "description" {
                let numbers: Vec<&str> =
                    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect();
                if let (Some(first), Some(last)) = (numbers.first(), numbers.last()) {
                    put(row, "description.first", first);
                    put(row, "description.last", last);
                }
            }
        }
        Value::Array(_) | Value::Null => {}
        scalar => put(row, path, &scalar.to_string()),
    }
}
