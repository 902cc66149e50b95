//! Rows of named texts, and what can be asked of them.

use std::collections::BTreeMap;

/// One row: column to text.
pub(super) type Row = BTreeMap<String, String>;

/// Some rows, in the order of the text.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows(pub(super) Vec<Row>);

impl Rows {
    fn keep(mut self, fit: impl Fn(&Row) -> bool) -> Self {
        self.0.retain(fit);
        self
    }

    /// Rows whose `column` is `value`.
    pub(super) fn is(self, column: &str, value: &str) -> Self {
        self.keep(|row| row.get(column).is_some_and(|text| text == value))
    }

    /// Rows whose `column` starts with `value`.
    pub(super) fn starts(self, column: &str, value: &str) -> Self {
        self.keep(|row| row.get(column).is_some_and(|text| text.starts_with(value)))
    }

    /// Rows whose `column` ends with `value`.
    pub(super) fn ends(self, column: &str, value: &str) -> Self {
        self.keep(|row| row.get(column).is_some_and(|text| text.ends_with(value)))
    }

    /// Rows that have a `column`.
    pub(super) fn having(self, column: &str) -> Self {
        self.keep(|row| row.contains_key(column))
    }

    /// `column` of the only row that has it; `None` if there are none or several.
    pub(super) fn only(self, column: &str) -> Option<String> {
        let mut found = self.0.into_iter().filter_map(|mut row| row.remove(column));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The first `chars` of `column` of the only row, or `none` without rows.
    pub(super) fn only_or_none(self, column: &str, chars: usize) -> Option<String> {
        if self.0.is_empty() {
            return Some("none".to_owned());
        }
        self.only(column).map(|text| text.chars().take(chars).collect())
    }

    /// Number of rows.
    #[expect(clippy::unnecessary_wraps, reason = "one type for all that can be asked")]
    pub(super) fn count(self) -> Option<String> {
        Some(self.0.len().to_string())
    }

    /// Sum of `column`; `None` where no row has it or one holds no number.
    pub(super) fn sum(self, column: &str) -> Option<String> {
        let numbers: Option<Vec<u64>> =
            self.0.iter().filter_map(|row| row.get(column)).map(|text| text.parse().ok()).collect();
        numbers.filter(|numbers| !numbers.is_empty()).map(|numbers| numbers.iter().sum::<u64>().to_string())
    }

    /// `give` of the row whose number `by` is second largest.
    pub(super) fn second(self, by: &str, give: &str) -> Option<String> {
        let mut rows: Vec<(u64, String)> =
            self.0.into_iter().filter_map(|mut row| Some((row.get(by)?.parse().ok()?, row.remove(give)?))).collect();
        rows.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        rows.into_iter().nth(1).map(|(_, name)| name)
    }

    /// `give` of the row whose text `by` comes first.
    pub(super) fn first(self, by: &str, give: &str) -> Option<String> {
        let rows = self.0.into_iter().filter_map(|mut row| Some((row.get(by)?.clone(), row.remove(give)?)));
        rows.min().map(|(_, name)| name)
    }

    /// `give` of the row whose text `by` comes last.
    pub(super) fn last(self, by: &str, give: &str) -> Option<String> {
        let rows = self.0.into_iter().filter_map(|mut row| Some((row.get(by)?.clone(), row.remove(give)?)));
        rows.max().map(|(_, name)| name)
    }
}
