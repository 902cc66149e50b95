//! Pools of slot values, read by index: a product of parts is never written out.

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use super::{Place, ValueTemplate};

/// One entry of a pool: a value per column.
pub type Row<'a> = Cow<'a, [Value]>;

/// A typed pool of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    /// Its name in the intent file; for an unnamed part, the part's name.
    pub name: Arc<str>,
    /// Column names; a pool of plain values has one column without a name.
    pub columns: Vec<Arc<str>>,
    len: u64,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Rows(Vec<Vec<Value>>),
    Range { from: i64 },
    Product { parts: Vec<Arc<Pool>>, columns: Vec<ValueTemplate> },
}

impl Pool {
    /// A pool of rows. The caller has checked that every row has one value per column.
    pub(crate) fn rows(name: &str, columns: Vec<Arc<str>>, rows: Vec<Vec<Value>>) -> Self {
        Self { name: name.into(), columns, len: rows.len() as u64, kind: Kind::Rows(rows) }
    }

    /// The integers `from..=to`.
    pub(crate) fn range(name: &str, from: i64, to: i64) -> Result<Self, String> {
        let len = i128::from(to) - i128::from(from) + 1;
        let len = u64::try_from(len)
            .ok()
            .filter(|&len| len > 0)
            .ok_or_else(|| format!("the range {from} to {to} is empty or too long"))?;
        Ok(Self { name: name.into(), columns: vec!["".into()], len, kind: Kind::Range { from } })
    }

    /// The product of `parts`, the last varying fastest, written through one template per column.
    pub(crate) fn product(
        name: &str,
        columns: Vec<Arc<str>>,
        templates: Vec<ValueTemplate>,
        parts: Vec<Arc<Pool>>,
    ) -> Result<Self, String> {
        let len = parts
            .iter()
            .try_fold(1u64, |len, part| len.checked_mul(part.len))
            .ok_or("the product of its parts exceeds 2^64; shorten a part")?;
        Ok(Self { name: name.into(), columns, len, kind: Kind::Product { parts, columns: templates } })
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry at `index`, counted modulo the pool's length.
    ///
    /// # Panics
    /// On an empty pool; intents with one are refused on load.
    pub fn get(&self, index: u64) -> Row<'_> {
        let mut index = index % self.len;
        match &self.kind {
            // The remainder is below the number of rows.
            #[expect(clippy::cast_possible_truncation, reason = "below a Vec's length")]
            Kind::Rows(rows) => Cow::Borrowed(&rows[index as usize]),
            Kind::Range { from } => Cow::Owned(vec![Value::from(from.wrapping_add_unsigned(index))]),
            Kind::Product { parts, columns } => {
                let mut digits = vec![0; parts.len()];
                for (digit, part) in digits.iter_mut().zip(parts).rev() {
                    *digit = index % part.len;
                    index /= part.len;
                }
                let rows: Vec<Row<'_>> = digits.iter().zip(parts).map(|(&digit, part)| part.get(digit)).collect();
                Cow::Owned(columns.iter().map(|template| template.fill(&rows)).collect())
            }
        }
    }

    /// The parts of a product; empty for other pools.
    pub fn parts(&self) -> &[Arc<Pool>] {
        match &self.kind {
            Kind::Product { parts, .. } => parts,
            Kind::Rows(_) | Kind::Range { .. } => &[],
        }
    }

    /// The place of `{name}` or `{name.column}` for the slot or part `name` at `slot` that draws from this pool.
    pub(crate) fn place(&self, slot: usize, name: &str, column: Option<&str>) -> Result<Place, String> {
        let named: Vec<&str> =
            self.columns.iter().map(|column| &**column).filter(|column| !column.is_empty()).collect();
        let found = match column {
            Some(wanted) => named.iter().position(|column| *column == wanted),
            None if self.columns.len() == 1 => Some(0),
            // `{d}` of a pool with the columns d and two is its column d.
            None => named.iter().position(|column| *column == name),
        };
        found.map(|column| Place { slot, column }).ok_or_else(|| {
            let pool = &self.name;
            let forms: Vec<String> = named.iter().map(|column| format!("{{{name}.{column}}}")).collect();
            match column {
                Some(column) if named.is_empty() => {
                    format!("pool {pool} has no columns, so {{{name}.{column}}} must be {{{name}}}")
                }
                Some(column) => format!("pool {pool} has no column {column}; write {}", forms.join(" or ")),
                None => format!("pool {pool} has several columns, so {{{name}}} must be {}", forms.join(" or ")),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_product_counts_with_its_last_part_fastest() {
        let kinds = Arc::new(Pool::rows("kind", vec!["".into()], vec![vec![json!("feature")], vec![json!("fix")]]));
        let numbers = Arc::new(Pool::range("n", 10, 12).unwrap());
        let resolve = |name: &str, column: Option<&str>| {
            if name == "kind" { kinds.place(0, name, column) } else { numbers.place(1, name, column) }
        };
        let templates = vec![
            ValueTemplate::parse(&json!("{kind}-{n}"), &resolve).unwrap(),
            ValueTemplate::parse(&json!("{n}"), &resolve).unwrap(),
        ];
        let pool = Pool::product(
            "branch",
            vec!["say".into(), "n".into()],
            templates,
            vec![Arc::clone(&kinds), Arc::clone(&numbers)],
        )
        .unwrap();
        assert_eq!(pool.len(), 6);
        let all: Vec<String> = (0..6).map(|index| Value::from(pool.get(index).to_vec()).to_string()).collect();
        assert_eq!(
            all,
            [
                r#"["feature-10",10]"#,
                r#"["feature-11",11]"#,
                r#"["feature-12",12]"#,
                r#"["fix-10",10]"#,
                r#"["fix-11",11]"#,
                r#"["fix-12",12]"#
            ]
        );
    }

    #[test]
    fn ranges_reach_the_ends_of_the_integers() {
        let pool = Pool::range("n", i64::MIN, i64::MAX - 1).unwrap();
        assert_eq!(pool.get(0)[0], json!(i64::MIN));
        assert_eq!(pool.get(pool.len() - 1)[0], json!(i64::MAX - 1));
        assert!(Pool::range("n", 2, 1).is_err());
        assert!(Pool::range("n", i64::MIN, i64::MAX).is_err());
    }

    #[test]
    fn a_column_is_needed_where_there_are_several() {
        let pool = Pool::rows("city", vec!["say".into(), "zone".into()], vec![]);
        assert_eq!(
            pool.place(0, "city", None).unwrap_err(),
            "pool city has several columns, so {city} must be {city.say} or {city.zone}"
        );
        assert_eq!(pool.place(0, "say", None).unwrap(), Place { slot: 0, column: 0 });
        assert!(pool.place(0, "city", Some("zones")).unwrap_err().contains("no column zones"));
    }
}
