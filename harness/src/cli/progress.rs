//! One steady progress line on a terminal: done, total, rate, ETA. Elsewhere plain lines now and then, for work that may
//! take long and says nothing else.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::output::Output;
use crate::run::events::{Event, Listener};

/// Pause between plain lines.
pub(super) const PLAIN: Duration = Duration::from_secs(15);

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

/// The progress of work that sends no events, step by step.
pub(super) struct Steps {
    bar: ProgressBar,
    plain: bool,
    /// What a step is, in the plural.
    what: &'static str,
    total: u64,
    start: Instant,
    last: Cell<Instant>,
    done: Cell<u64>,
}

impl Steps {
    /// So many steps to do.
    pub(super) fn new(output: &Output, what: &'static str, total: usize) -> Self {
        let visible = output.progress();
        let target = if visible { ProgressDrawTarget::stderr_with_hz(8) } else { ProgressDrawTarget::hidden() };
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let bar = ProgressBar::with_draw_target(Some(total), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {human_pos}/{human_len} {msg}  {per_sec}  {eta} left")
        {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(250));
        let now = Instant::now();
        let plain = !visible && output.talks();
        Self { bar, plain, what, total, start: now, last: Cell::new(now), done: Cell::new(0) }
    }

    /// One step is done.
    pub(super) fn step(&self) {
        self.bar.inc(1);
        self.done.set(self.done.get() + 1);
        if self.plain && self.last.get().elapsed() >= PLAIN {
            self.last.set(Instant::now());
            Output::warn(&line(self.done.get(), self.total, self.what, self.start.elapsed()));
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// `done/total steps  rate  time left`.
fn line(done: u64, total: u64, what: &str, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
    let left = Duration::try_from_secs_f64(total.saturating_sub(done) as f64 / rate).unwrap_or(Duration::MAX);
    format!("{done}/{total} {what}  {rate:.1}/s  {} left", span(left))
}

/// A span of time for people: `7 s`, `3 min`, `2 h 5 min`.
pub(super) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=89 => format!("{} s", seconds.max(1)),
        90..=5_399 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_people_write_them() {
        let shown: Vec<String> = [0, 7, 89, 90, 600, 7_500].map(Duration::from_secs).map(span).into();
        assert_eq!(shown, ["1 s", "7 s", "89 s", "2 min", "10 min", "2 h 5 min"]);
    }

    #[test]
    fn a_plain_line_says_how_far_how_fast_and_how_long() {
        assert_eq!(line(300, 1_200, "calls", Duration::from_secs(15)), "300/1200 calls  20.0/s  45 s left");
        assert!(line(0, 10, "calls", Duration::from_secs(15)).starts_with("0/10 calls"));
    }
}
