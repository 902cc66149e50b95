//! Columns of text.

use crate::report::text::line as on_one_line;

/// A column's head and side: numbers stand right, words left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The head.
    pub text: &'static str,
    /// Stands right.
    pub right: bool,
}

/// Left-aligned.
pub const fn word(text: &'static str) -> Head {
    Head { text, right: false }
}

/// Right-aligned.
pub const fn number(text: &'static str) -> Head {
    Head { text, right: true }
}

/// Between columns. One space: the widest table of the built-in arms then is 96 characters wide.
const GAP: &str = " ";

/// The widths of the columns: each is as wide as its widest cell.
fn widths(heads: &[Head], rows: &[Vec<String>]) -> Vec<usize> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([heads[column].text.chars().count()]).max().unwrap_or(0)
    };
    (0..heads.len()).map(width).collect()
}

/// How wide [`render`] makes these rows under these heads, in letters.
pub fn width(heads: &[Head], rows: &[Vec<String>]) -> usize {
    widths(heads, rows).iter().sum::<usize>() + GAP.len() * heads.len().saturating_sub(1)
}

/// Renders rows under their heads, columns as wide as their widest cell. No trailing spaces, and one line per row whatever
/// stands in its cells.
pub fn render(heads: &[Head], rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| on_one_line(cell).into_owned()).collect()).collect();
    let rows = &rows;
    let widths = widths(heads, rows);
    let line = |cells: Vec<&str>| {
        let padded: Vec<String> = cells
            .iter()
            .zip(heads)
            .zip(&widths)
            .map(
                |((cell, head), &width)| if head.right { format!("{cell:>width$}") } else { format!("{cell:<width$}") },
            )
            .collect();
        padded.join(GAP).trim_end().to_owned() + "\n"
    };
    let mut out = line(heads.iter().map(|head| head.text).collect());
    let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
    out.push_str(&rule.join(GAP));
    out.push('\n');
    for row in rows {
        out.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_starts_no_line() {
        let rows = vec![vec!["evil\nraw".to_owned(), "1\t2".to_owned()]];
        let lines: Vec<String> = render(&[word("arm"), number("n")], &rows).lines().map(str::to_owned).collect();
        assert_eq!(lines[2..], ["evil⟨U+000A⟩raw 1⟨U+0009⟩2"]);
    }

    #[test]
    fn words_stand_left_numbers_right_and_lines_have_no_trailing_space() {
        let rows = vec![
            vec!["raw".to_owned(), "7".to_owned(), String::new()],
            vec!["L0".to_owned(), "12".to_owned(), "x".to_owned()],
        ];
        let heads = [word("arm"), number("n"), word("verdict")];
        assert_eq!(width(&heads, &rows), 14);
        insta::assert_snapshot!(render(&heads, &rows), @r"
        arm  n verdict
        ─── ── ───────
        raw  7
        L0  12 x
        ");
    }
}
