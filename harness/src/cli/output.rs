//! Where commands print: stdout is the product, stderr the talk.

use std::{
    fmt,
    io::{self, IsTerminal, Write},
};

use anstyle::{AnsiColor, Style};
use bench_results::report::text::spelled;
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

    /// The stream of a product that is read by people: what a stranger's text hides is spelled out in it.
    pub(super) fn product(&mut self) -> Prose<'_> {
        Prose(&mut self.out)
    }

    /// The stream of a product that is bytes: a document, an archive, what a model was shown.
    pub(super) fn bytes(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// A table on the product's stream, its verdict words coloured where colours may be used; they read without.
    pub(super) fn table(&mut self, table: &str) -> Result<(), Failure> {
        for line in spelled(table).lines() {
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
            let _ = writeln!(io::stderr(), "{}", spelled(line));
        }
    }

    /// A line that is said even where talk is not wanted: why the program ends as it does.
    pub(super) fn warn(line: &str) {
        let _ = writeln!(io::stderr(), "{}", spelled(line));
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

/// A stream that spells out what its text hides. Formatted text arrives in whole pieces; what is not text is replaced.
pub(super) struct Prose<'a>(&'a mut dyn Write);

impl Prose<'_> {
    /// What `write!` calls; in reach without the trait.
    pub(super) fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        Write::write_fmt(self, text)
    }
}

impl Write for Prose<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(spelled(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_escape_sequences_are_spelled_out() {
        let mut out = Vec::new();
        let [name, text] = ["\u{1b}[31mred", "\u{202e}turned\u{0}\u{9b}"];
        writeln!(Prose(&mut out), "{name}: {text}\tfine").unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "⟨U+001B⟩[31mred: ⟨U+202E⟩turned⟨U+0000⟩⟨U+009B⟩\tfine\n");
    }
}
