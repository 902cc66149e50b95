//! Where commands print: stdout is the product, stderr the talk.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use super::{args::GlobalArgs, failure::Failure};

/// Output of a command.
pub(super) struct Output {
    out: Box<dyn Write>,
    quiet: bool,
    /// Print one JSON document instead of tables.
    pub(super) json: bool,
}

impl Output {
    /// Output as the arguments and the environment ask for.
    pub(super) fn new(global: &GlobalArgs) -> Self {
        Self {
            out: Box::new(io::BufWriter::with_capacity(1 << 16, io::stdout().lock())),
            quiet: global.quiet,
            json: global.json,
        }
    }

    /// The stream of the product.
    pub(super) fn product(&mut self) -> &mut dyn Write {
        &mut self.out
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

    /// True where progress may be drawn.
    pub(super) fn progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Delivers what is buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
