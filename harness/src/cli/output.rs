//! Where commands print: stdout is the product, stderr the talk.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::{
    args::{Color, GlobalArgs},
    failure::Failure,
};

/// Output of a command.
pub(super) struct Output {
    out: Box<dyn Write>,
    quiet: bool,
    color: bool,
    /// Print one JSON document instead of tables.
    pub(super) json: bool,
}

/// The verdict word of a table row, and how it looks.
fn style_of(line: &str) -> Option<(&'static str, Style)> {
    const WORDS: [(&str, AnsiColor); 11] = [
        ("would certify", AnsiColor::Green),
        ("certified", AnsiColor::Green),
        ("agrees", AnsiColor::Green),
        ("NOT CAUGHT", AnsiColor::Red),
        ("caught", AnsiColor::Green),
        ("NO DAMAGE SEEN", AnsiColor::Red),
        ("damage seen", AnsiColor::Green),
        ("TOO NOISY", AnsiColor::Red),
        ("too few tasks", AnsiColor::Yellow),
        ("fail", AnsiColor::Red),
        ("inconclusive", AnsiColor::Yellow),
    ];
    let (word, color) = WORDS.into_iter().find(|(word, _)| line.contains(word))?;
    Some((word, Style::new().fg_color(Some(color.into())).bold()))
}

impl Output {
    /// Output as the arguments and the environment ask for.
    pub(super) fn new(global: &GlobalArgs) -> Self {
        let color = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        Self {
            color,
            out: Box::new(io::BufWriter::with_capacity(1 << 16, io::stdout().lock())),
            quiet: global.quiet,
            json: global.json,
        }
    }

    /// The stream of the product.
    pub(super) fn product(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// A table on the product's stream, its verdict words coloured where colours may be used; they read without.
    pub(super) fn table(&mut self, table: &str) -> Result<(), Failure> {
        for line in table.lines() {
            let painted = style_of(line).filter(|_| self.color).and_then(|(word, style)| {
                let (before, after) = line.rsplit_once(word)?;
                Some(format!("{before}{style}{word}{style:#}{after}"))
            });
            writeln!(self.out, "{}", painted.as_deref().unwrap_or(line))?;
        }
        Ok(())
    }

    /// One JSON document, pretty, on the product's stream.
    pub(super) fn document(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.out, value)?;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    /// A line of talk on stderr, unless quiet.
    pub(super) fn talk(&self, line: &str) {
        if !self.quiet {
            // Talk that cannot be delivered is not worth failing for.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// A line that is said even where talk is not wanted: why the program ends as it does.
    pub(super) fn warn(line: &str) {
        let _ = writeln!(io::stderr(), "{line}");
    }

    /// True where talk is wanted.
    pub(super) fn talks(&self) -> bool {
        !self.quiet
    }

    /// True where progress may be drawn.
    pub(super) fn progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Delivers what is buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
