//! Where commands print: stdout is the product, stderr the talk.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use super::{
    args::{Color, GlobalArgs},
    failure::Failure,
};

/// Output of a command.
pub struct Output {
    out: Box<dyn Write>,
    quiet: bool,
    /// Print one JSON document instead of tables.
    pub json: bool,
    /// Colours may be used on stdout.
    pub color: bool,
}

impl Output {
    /// Output as the arguments and the environment ask for.
    pub fn new(global: &GlobalArgs) -> Self {
        let color = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            }
        };
        Self {
            out: Box::new(io::BufWriter::with_capacity(1 << 16, io::stdout().lock())),
            quiet: global.quiet,
            json: global.json,
            color,
        }
    }

    /// The stream of the product.
    pub fn product(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// One JSON document, pretty, on the product's stream.
    pub fn document(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.out, value)?;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    /// A line of talk on stderr, unless quiet.
    pub fn talk(&self, line: &str) {
        if !self.quiet {
            // Talk that cannot be delivered is not worth failing for.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// True where progress may be drawn.
    pub fn progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Delivers what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
