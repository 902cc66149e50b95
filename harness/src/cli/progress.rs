//! One steady progress line on a terminal: done, total, rate, ETA.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::run::events::{Event, Listener};

/// Draws the progress of a run on stderr; draws nothing where that is not wanted.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A progress line, hidden unless `visible`.
    pub(super) fn new(visible: bool) -> Self {
        let target = if visible { ProgressDrawTarget::stderr_with_hz(8) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:24} {human_pos}/{human_len} episodes  {per_sec}  {eta} left")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar }
    }
}

impl Listener for Progress {
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        match event {
            Event::Started { episodes } => self.bar.set_length(*episodes),
            Event::Episode(_) => self.bar.inc(1),
            Event::Finished { .. } => self.bar.finish_and_clear(),
        }
        Ok(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
