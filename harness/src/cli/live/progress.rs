//! What a person sees of a live run while it runs: one steady line on a terminal, plain lines now and then elsewhere; at
//! the end how long answers took and how many tokens they were. Never an accuracy.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write as _},
    sync::Arc,
    time::{Duration, Instant},
};

use bench_results::report::text::spelled;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::quantiles::Quantiles;
use crate::{
    cli::{
        output::Output,
        progress::{PLAIN, span},
    },
    meter::dollars,
    run::live::events::{Event, Listener, State},
};

/// Failures that are told one by one; a storm of them is only counted.
const TOLD: u32 = 10;

/// The progress of a live run on stderr.
pub(super) struct Progress {
    bar: ProgressBar,
    plain: bool,
    budget: u64,
    start: Instant,
    last: Instant,
    planned: u64,
    /// Episodes on record, and how many of them this part of the run has added.
    done: u64,
    added: u64,
    retries: u64,
    failures: u32,
    /// Spent when this part of the run began.
    spent_before: Option<u64>,
    answers: BTreeMap<Arc<str>, Answers>,
}

#[derive(Default)]
struct Answers {
    ms: Quantiles,
    prompt: Quantiles,
    output: Quantiles,
    /// Answers that state no usage, or none that can be used.
    unstated: u64,
}

impl Progress {
    pub(super) fn new(output: &Output, budget: u64) -> Self {
        let visible = output.progress();
        let target = if visible { ProgressDrawTarget::stderr_with_hz(8) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{bar:16} {msg}") {
            bar.set_style(style);
        }
        let now = Instant::now();
        Self {
            bar,
            plain: !visible && output.talks(),
            budget,
            start: now,
            last: now,
            planned: 0,
            done: 0,
            added: 0,
            retries: 0,
            failures: 0,
            spent_before: None,
            answers: BTreeMap::new(),
        }
    }

    /// `done/planned`, rate, time left, requests in flight, retries, money.
    fn line(&self, state: &State) -> String {
        let seconds = self.start.elapsed().as_secs_f64().max(0.001);
        let rate = self.added as f64 / seconds;
        let left = self.planned.saturating_sub(self.done);
        let eta = if self.added == 0 { "?".to_owned() } else { span(Duration::from_secs_f64(left as f64 / rate)) };
        let books = &state.books;
        let mut line = format!(
            "{}/{} episodes  {rate:.1}/s  {eta} left  {} in flight",
            self.done, self.planned, state.gate.in_flight
        );
        // Writing into a string cannot fail.
        let _ = write!(
            line,
            "  {} retries  {} spent  {} reserved",
            self.retries,
            dollars(books.spent),
            dollars(books.reserved)
        );
        if let Some(projected) = self.projected(books.spent) {
            let _ = write!(line, "  {} projected", dollars(projected));
        }
        let _ = write!(line, " of {}", dollars(self.budget));
        if let Some(held) = state.gate.held {
            let _ = write!(line, "  waiting {}", span(held));
        }
        line
    }

    /// What the run will have cost, if the rest is like what this part has added.
    fn projected(&self, spent: u64) -> Option<u64> {
        let before = self.spent_before.filter(|_| self.added > 0)?;
        let left = u128::from(self.planned.saturating_sub(self.done));
        let rest = u128::from(spent.saturating_sub(before)) * left / u128::from(self.added);
        u64::try_from(u128::from(spent) + rest).ok()
    }

    fn say(&self, line: &str) {
        if self.plain {
            // Talk that cannot be delivered is not worth failing for.
            let _ = writeln!(io::stderr(), "{}", spelled(line));
        } else {
            self.bar.println(spelled(line));
        }
    }

    /// Quantiles of answers, a line per arm.
    pub(super) fn summary(&self) -> String {
        if self.answers.is_empty() {
            return String::new();
        }
        let mut table = format!(
            "{:<14} {:>8}  {:>24}  {:>24}  {:>20}\n",
            "arm", "answers", "ms p50/p90/p99", "prompt tokens p50/p90/p99", "output p50/p90/p99"
        );
        for (arm, answers) in &self.answers {
            let of = |values: &Quantiles| {
                let at = |share| values.at(share).map_or_else(|| "-".to_owned(), |value| value.to_string());
                format!("{}/{}/{}", at(500), at(900), at(990))
            };
            let _ = writeln!(
                table,
                "{arm:<14} {:>8}  {:>24}  {:>24}  {:>20}",
                answers.ms.count(),
                of(&answers.ms),
                of(&answers.prompt),
                of(&answers.output)
            );
        }
        table.push_str(&self.unstated());
        table
    }

    /// What a bill cannot be held against. The books have it, and nobody would look there.
    fn unstated(&self) -> String {
        let all: u64 = self.answers.values().map(|answers| answers.ms.count()).sum();
        let unstated: u64 = self.answers.values().map(|answers| answers.unstated).sum();
        if unstated == 0 {
            return String::new();
        }
        format!(
            "{unstated} of {all} answers state no usage that can be used: each counts as spent in full as it was reserved, and \
             its tokens are in no sum; compare the provider's usage page\n"
        )
    }
}

impl Listener for Progress {
    fn on(&mut self, event: &Event) -> anyhow::Result<()> {
        match event {
            Event::Started { planned, done } => {
                (self.planned, self.done) = (*planned, *done);
                self.bar.set_length(*planned);
                self.bar.set_position(*done);
            }
            Event::Answered { arm, elapsed, usage } => {
                let answers = self.answers.entry(Arc::clone(arm)).or_default();
                answers.ms.add(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
                match usage {
                    Some(usage) => {
                        answers.prompt.add(usage.prompt());
                        answers.output.add(usage.output);
                    }
                    None => answers.unstated += 1,
                }
            }
            Event::Failed { draw, why, again } => {
                self.retries += u64::from(again.is_some());
                self.failures += 1;
                let next =
                    again.map_or_else(|| "left for the end".to_owned(), |wait| format!("again in {}", span(wait)));
                if self.failures <= TOLD {
                    self.say(&format!("task {} under {}, turn {}: {why}; {next}", draw.task, draw.arm, draw.turn));
                }
                if self.failures == TOLD {
                    self.say("further failures are only counted; all are in attempts.jsonl");
                }
            }
            Event::Episode { .. } => {
                self.done += 1;
                self.added += 1;
                self.bar.set_position(self.done);
            }
            Event::Reasking { episodes } => self.say(&format!("asking again for {episodes} missing episodes")),
            Event::Missing { episodes } => self.say(&format!("{episodes} episodes stay without an outcome")),
            Event::Stopping => self.say("stopping: waiting for the requests under way; Ctrl-C once more gives them up"),
            Event::Tick(state) => {
                self.spent_before.get_or_insert(state.books.spent);
                if self.plain && self.last.elapsed() >= PLAIN {
                    self.last = Instant::now();
                    self.say(&self.line(state));
                } else if !self.plain {
                    self.bar.set_message(self.line(state));
                }
            }
            Event::Finished(state) => {
                self.bar.finish_and_clear();
                self.say(&self.line(state));
            }
        }
        Ok(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{meter::Books, models::gate::GateState};

    fn progress() -> Progress {
        let now = Instant::now();
        Progress {
            bar: ProgressBar::hidden(),
            plain: false,
            budget: 80_000_000_000_000,
            start: now,
            last: now,
            planned: 400,
            done: 100,
            added: 100,
            retries: 3,
            failures: 3,
            spent_before: Some(0),
            answers: BTreeMap::new(),
        }
    }

    #[test]
    fn the_line_says_what_people_look_for() {
        let state = State {
            books: Books { spent: 2_500_000_000_000, reserved: 340_000_000_000, ..Books::default() },
            gate: GateState { window: 16, in_flight: 12, held: None },
        };
        let line = progress().line(&state);
        for part in [
            "100/400 episodes",
            "12 in flight",
            "3 retries",
            "$2.50 spent",
            "$0.34 reserved",
            "$10.00 projected of $80.00",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }

    #[test]
    fn the_summary_has_a_line_per_arm_and_no_outcome() {
        let mut seen = progress();
        for ms in [10, 20, 30] {
            let usage = Some(bench_results::record::Usage { input: 100, output: 7, ..Default::default() });
            let event = Event::Answered { arm: "raw".into(), elapsed: Duration::from_millis(ms), usage };
            seen.on(&event).unwrap();
        }
        insta::assert_snapshot!(seen.summary());
    }

    #[test]
    fn answers_without_usage_are_told_in_a_sentence() {
        let mut seen = progress();
        for usage in [None, Some(bench_results::record::Usage::default()), None] {
            seen.on(&Event::Answered { arm: "raw".into(), elapsed: Duration::from_millis(5), usage }).unwrap();
        }
        assert!(seen.summary().contains("\n2 of 3 answers state no usage that can be used"), "{}", seen.summary());
    }
}
