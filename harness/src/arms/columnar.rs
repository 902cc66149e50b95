//! A JSON array of uniform records as a table: keys once, then one line of cells per record.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// Records that are worth a table, at least.
const MIN_RECORDS: usize = 3;

/// A record's members as sent: order, numbers and nested values untouched.
struct Record<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Record<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Record<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a record")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    members.push((key.0, value));
                }
                Ok(Record(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// The table form of a text that is a JSON array of at least three records with the same keys; `None` for any other.
///
/// A header names rows, columns and the handle, a line names the columns, then comes one line per record. Cells are
/// parted by tabs. A string stands bare where it cannot be mistaken for anything else and in JSON where it could;
/// numbers, booleans, `null` and nested values stand in compact JSON, so every record can be read back from its line.
pub(super) fn table(text: &str, handle: &str) -> Option<String> {
    let text = text.trim();
    if !text.starts_with('[') {
        return None;
    }
    let records: Vec<Record<'_>> = serde_json::from_str(text).ok()?;
    let columns: Vec<&str> = records.first()?.0.iter().map(|(key, _)| key.as_ref()).collect();
    if records.len() < MIN_RECORDS || columns.is_empty() || has_double(&columns) {
        return None;
    }
    let mut out = format!("[table of {} rows, {} columns, handle={handle}]\n", records.len(), columns.len());
    push_line(&mut out, columns.iter().map(|&column| cell(column)));
    for record in &records {
        if record.0.len() != columns.len() {
            return None;
        }
        let cells = columns.iter().enumerate().map(|(position, column)| record.cell(position, column));
        out.push('\n');
        push_line(&mut out, cells.collect::<Option<Vec<_>>>()?.into_iter());
    }
    Some(out)
}

impl Record<'_> {
    /// The cell of a column, which most often stands where it stood in the first record; `None` where it is missing.
    fn cell(&self, position: usize, column: &str) -> Option<String> {
        let (_, value) = self
            .0
            .get(position)
            .filter(|(key, _)| key == column)
            .or_else(|| self.0.iter().find(|(key, _)| key == column))?;
        let json = value.get();
        if json.starts_with('"') {
            return serde_json::from_str::<String>(json).ok().map(|text| cell(&text).into_owned());
        }
        Some(compact(json))
    }
}

fn has_double(columns: &[&str]) -> bool {
    columns.iter().enumerate().any(|(position, column)| columns[..position].contains(column))
}

fn push_line<T: AsRef<str>>(out: &mut String, cells: impl Iterator<Item = T>) {
    for (position, cell) in cells.enumerate() {
        if position > 0 {
            out.push('\t');
        }
        out.push_str(cell.as_ref());
    }
}

/// A string as a cell: bare, or in JSON where a reader could take it for another value or for several cells.
fn cell(text: &str) -> Cow<'_, str> {
    let ambiguous = text.is_empty()
        || text.trim() != text
        || text.contains(char::is_control)
        || text.starts_with(['"', '[', '{'])
        || serde_json::from_str::<&RawValue>(text).is_ok();
    if ambiguous { Cow::Owned(serde_json::Value::from(text).to_string()) } else { Cow::Borrowed(text) }
}

/// JSON without the blanks between its tokens, otherwise as sent.
fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        if in_string || !c.is_ascii_whitespace() {
            out.push(c);
        }
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;

    #[test]
    fn keys_stand_once_and_numbers_as_sent() {
        let text = r#"[ {"id": 1.0, "name": "a b", "ok": true},
                        {"id": 2e1, "name": "", "ok": null},
                        {"name": "12", "id": 3, "ok": false} ]"#;
        let table = table(text, "00c0ffee").unwrap();
        assert_eq!(
            table,
            "[table of 3 rows, 3 columns, handle=00c0ffee]\nid\tname\tok\n1.0\ta b\ttrue\n2e1\t\"\"\tnull\n3\t\"12\"\tfalse"
        );
    }

    #[test]
    fn nested_values_stand_in_compact_json() {
        let text = r#"[{"a":{"b": [1, "x y"]}},{"a":"t\tab"},{"a":[]}]"#;
        assert_eq!(
            table(text, "0").unwrap().lines().skip(2).collect::<Vec<_>>(),
            [r#"{"b":[1,"x y"]}"#, r#""t\tab""#, "[]"]
        );
    }

    #[test]
    fn other_texts_get_no_table() {
        for text in [
            "",
            "[",
            "{}",
            "[1,2,3]",
            r#"[{"a":1},{"a":2}]"#,
            r#"[{"a":1},{"a":2},{"b":3}]"#,
            r#"[{"a":1},{"a":2},{"a":3,"b":4}]"#,
            r#"[{"a":1,"a":2},{"a":2,"a":2},{"a":3,"a":3}]"#,
            "[{},{},{}]",
            r#"[{"a":1},{"a":2},{"a":3}] and more"#,
        ] {
            assert_eq!(table(text, "0"), None, "{text}");
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[ -~\t\né\"\\\\]{0,8}|null|-?[0-9]{1,3}".prop_map(Value::from),
        ];
        scalar.prop_recursive(2, 8, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-z\"\t]{1,3}", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_record_can_be_read_back_from_its_line(
            rows in prop::collection::vec((any_value(), any_value(), any_value()), 3..6),
            pretty in any::<bool>(),
        ) {
            let records: Vec<Value> = rows.iter().map(|(a, b, c)| json!({"a": a, "b,": b, "\t": c})).collect();
            let text = if pretty { serde_json::to_string_pretty(&records) } else { serde_json::to_string(&records) };
            let table = table(&text.unwrap(), "0").unwrap();
            let mut lines = table.lines().skip(1);
            let read = |cell: &str| serde_json::from_str(cell).unwrap_or_else(|_| Value::from(cell));
            let columns: Vec<String> =
                lines.next().unwrap().split('\t').map(|cell| read(cell).as_str().unwrap().to_owned()).collect();
            let back: Vec<Value> = lines
                .map(|line| Value::Object(columns.iter().cloned().zip(line.split('\t').map(read)).collect::<Map<_, _>>()))
                .collect();
            prop_assert_eq!(back, records);
        }
    }
}
