//! Reading a price file strictly: what is wrong is named with file, line and row.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{Price, PriceError, SCHEMA};

/// The file's shape.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    #[serde(default)]
    price: Vec<Spanned<Price>>,
}

/// What a row starts with.
const HEADER: &str = "[[price]]";

/// The rows of a file, by model id.
pub(super) fn rows(text: &str, file: &str) -> Result<BTreeMap<String, Price>, PriceError> {
    let malformed = |offset: usize, message: String| PriceError::Malformed {
        file: file.to_owned(),
        line: line_at(text, offset),
        row: row_at(text, offset),
        message,
    };
    let parsed: File = toml::from_str(text).map_err(|source| {
        let offset = source.span().map_or(0, |span| span.start);
        malformed(offset, source.message().replace('\n', ", "))
    })?;
    if parsed.schema != SCHEMA {
        return Err(malformed(0, format!("format {} is unknown, this program reads {SCHEMA}", parsed.schema)));
    }
    let mut rows = BTreeMap::new();
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for (position, row) in parsed.price.into_iter().enumerate() {
        let start = row.span().start;
        let price = row.into_inner();
        price.check().map_err(|why| malformed(start, why))?;
        let line = line_at(text, start);
        if let Some(&first) = lines.get(&price.model) {
            return Err(PriceError::Double {
                file: file.to_owned(),
                line,
                row: position + 1,
                model: price.model,
                first,
            });
        }
        lines.insert(price.model.clone(), line);
        rows.insert(price.model.clone(), price);
    }
    Ok(rows)
}

/// Line of a byte offset, from 1.
fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}

/// The row that holds a byte offset, in words; empty before the first row.
fn row_at(text: &str, offset: usize) -> String {
    let line = line_at(text, offset);
    let headers: Vec<usize> = text
        .lines()
        .enumerate()
        .filter(|(_, text)| text.trim_start().starts_with(HEADER))
        .map(|(at, _)| at + 1)
        .collect();
    let number = headers.iter().filter(|&&header| header <= line).count();
    let Some(&header) = number.checked_sub(1).and_then(|at| headers.get(at)) else { return String::new() };
    let model = text
        .lines()
        .skip(header)
        .take_while(|line| !line.trim_start().starts_with(HEADER))
        .find_map(|line| line.trim_start().strip_prefix("model")?.trim_start().strip_prefix('='))
        .map(|value| format!(" ({})", value.trim()))
        .unwrap_or_default();
    format!(", row {number}{model}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"schema = 1

[[price]]
provider = "local"
model = "one"
status = "active"
valid_from = "2026-01-01"
as_of = "2026-01-02"
source = "own"
input = "0.5"
cache_write_5m = "0.5"
cache_write_1h = "0.5"
cache_read = "0.1"
output = "1"

[[price]]
provider = "local"
model = "two"
status = "active"
valid_from = "2026-01-01"
as_of = "2026-01-02"
source = "own"
input = "0"
cache_write_5m = "0"
cache_write_1h = "0"
cache_read = "0"
output = "0"
"#;

    fn error_of(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        rows(&GOOD.replacen(from, to, 1), "own.toml").unwrap_err().to_string()
    }

    #[test]
    fn a_good_file_is_read() {
        assert_eq!(rows(GOOD, "own.toml").unwrap().len(), 2);
        assert!(rows("schema = 1", "empty.toml").unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_with_file_line_and_row() {
        let errors = [
            error_of("input = \"0\"", "input = \"-1\""),
            error_of("input = \"0\"", "input = -1"),
            error_of("input = \"0\"", "input = 1.5"),
            error_of("input = \"0\"\n", ""),
            error_of("input = \"0\"", "input = \"0\"\nimput = \"0\""),
            error_of("model = \"two\"", "model = \"one\""),
            error_of("as_of = \"2026-01-02\"", "as_of = \"2025-12-31\""),
            error_of("valid_from = \"2026-01-01\"", "valid_from = \"soon\""),
            error_of("source = \"own\"", "source = \"\""),
            error_of("schema = 1", "schema = 2"),
            error_of("schema = 1", "schema = 1\nprices = 3"),
            error_of("output = \"1\"", "output = \"1\"\n[price.long_context]\nthreshold = 5"),
            error_of("[[price]]", "[[price"),
        ];
        insta::assert_snapshot!(errors.join("\n"));
    }
}
