//! The result of a comparison, as it is printed and exported.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{
    stats::{Interval, StatsError, mcnemar::mcnemar, multiplicity::Graph},
    verdict::Status,
};
use serde::Serialize;

use super::{Absent, cost::Dollars};
use crate::external::{Finding, Timing};

/// A comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Version of this document.
    pub schema: u32,
    /// What this is evidence of.
    pub says: &'static str,
    /// Behaviour of the scripted model.
    pub mock: String,
    /// Tasks that some tool serves.
    pub tasks: u64,
    /// Servers that those tasks are of: the first tasks are not of all.
    pub task_servers: u64,
    /// Servers that the catalogs have.
    pub servers: u64,
    /// Tasks that none serves.
    pub abstain_tasks: u64,
    /// Seed text.
    pub seed: String,
    /// Level of all intervals.
    pub level: f64,
    /// Model whose prices are used, and the day they are of. Tokens are the scripted model's: four bytes each.
    pub priced_as: (String, String),
    /// The embedding model of the arms that need one; none where no embedder was given.
    pub embedder: Option<String>,
    /// The arms, the reference first.
    pub arms: Vec<ArmRow>,
    /// Accuracy against dollars, over ranked arms: those that no other beats in one without losing in the other.
    pub pareto: Vec<Point>,
    /// Ranked arm against ranked arm. Exploratory.
    pub exploratory_pairs: Vec<Pair>,
    /// Arms that are not installed.
    pub absent: Vec<Absent>,
    /// Arms that did not start: nothing was measured.
    pub not_started: Vec<Absent>,
}

impl ArmRow {
    /// Whether it was given up: what it cost is of the few tasks that it got.
    pub fn given_up(&self) -> bool {
        self.external.as_ref().is_some_and(|external| external.given_up.is_some())
    }
}

impl Comparison {
    /// Whether every compressor that is there came up for every server.
    pub fn all_started(&self) -> bool {
        let came_up = |row: &ArmRow| row.external.as_ref().is_none_or(|external| external.not_started.is_empty());
        self.not_started.is_empty() && self.arms.iter().all(came_up)
    }
}

/// A share of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Right.
    pub right: u64,
    /// Of so many.
    pub n: u64,
}

impl Share {
    /// In percent; 0 of nothing.
    pub fn percent(self) -> f64 {
        if self.n == 0 { 0.0 } else { 100.0 * self.right as f64 / self.n as f64 }
    }
}

/// One arm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmRow {
    /// Its name.
    pub arm: String,
    /// Whether it takes a place in a ranking, or is only shown.
    pub ranked: bool,
    /// What its published description leaves open and is resolved here.
    pub gaps: &'static [&'static str],
    /// What its author would object to.
    pub objections: Vec<&'static str>,
    /// Right tool.
    pub selection: Share,
    /// Right tool and arguments.
    pub arguments: Share,
    /// Against the reference; none for itself.
    pub against: Option<Against>,
    /// The test against the reference; none for itself, and none for an arm that is only shown.
    pub test: Option<Test>,
    /// Tools with losses, most first.
    pub losses: Vec<ToolLoss>,
    /// Tools shown with the first request, on average: an arm that hears the user shows what it makes of it. None where
    /// no request was made.
    pub tools: Option<f64>,
    /// o200k tokens of surface and instructions with the first request, on average.
    pub tokens_at_start: Option<f64>,
    /// Mean input tokens of the request that decided, at four bytes a token; none where none decided.
    pub tokens_at_decision: Option<f64>,
    /// Model requests beyond one, per task.
    pub extra_trips: f64,
    /// Upstream calls that break the tool's own schema, per thousand tasks.
    pub invalid_calls_per_thousand: f64,
    /// Calls that the arm refused, per thousand tasks.
    pub rejected_calls_per_thousand: f64,
    /// Episodes that ended as the arm's fault.
    pub arm_faults: u64,
    /// Episodes without an outcome because the harness failed. They are in no share and no cost; only the test counts
    /// them, at worst, as the protocol has it.
    pub missing: u64,
    /// Estimated dollars, every input token at the plain rate.
    pub dollars_uncached: Dollars,
    /// Estimated dollars, the prefix read from a warm cache where it is long enough.
    pub dollars_warm: Dollars,
    /// A compressor from outside through which the scripted model decided nothing at all: what it says of the model, it does
    /// not say of the compressor, so it is neither tested nor ranked.
    pub not_driven: bool,
    /// What is known of a compressor from outside.
    pub external: Option<ExternalRow>,
}

/// An arm beside the reference, on tool and arguments.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Against {
    /// Share of tasks, arm minus reference.
    pub difference: f64,
    /// Score interval.
    pub interval: Interval,
    /// Tasks that only the reference got right.
    pub loss: u64,
    /// Tasks that only the arm got right.
    pub gain: u64,
}

/// A ranked arm's test against the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Test {
    /// The largest p over gates and endpoints; none where it was not evaluated.
    pub p: Option<f64>,
    /// The same by Holm over all ranked arms.
    pub p_holm: Option<f64>,
    /// What a live run with these counts would be told.
    pub status: Status,
    /// Why.
    pub reasons: Vec<String>,
}

/// Losses of one tool, on tool and arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolLoss {
    /// `server/tool`.
    pub tool: Arc<str>,
    /// Tasks that only the reference got right.
    pub loss: u64,
    /// Tasks that only the arm got right.
    pub gain: u64,
    /// Its tasks.
    pub tasks: u64,
}

/// A compressor from outside.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExternalRow {
    /// Package.
    pub package: Option<String>,
    /// Exact version.
    pub version: Option<String>,
    /// One warm process serves all episodes.
    pub stateless: bool,
    /// How long it takes.
    pub timing: Timing,
    /// What was found, by kind.
    pub findings: BTreeMap<&'static str, Finding>,
    /// Why it was given up.
    pub given_up: Option<String>,
    /// Servers that it did not come up for, whose tools no task could reach.
    pub not_started: Vec<Down>,
    /// What its author would want to be read beside its numbers.
    pub note: Option<String>,
}

/// Servers that a compressor did not come up for, of one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Down {
    /// The servers, in catalog order.
    pub servers: Vec<Arc<str>>,
    /// Why.
    pub why: String,
}

/// A place in the Pareto view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The arm.
    pub arm: String,
    /// Right tool and arguments, in percent.
    pub arguments_percent: f64,
    /// Estimated dollars per thousand tasks, uncached.
    pub dollars: f64,
    /// An arm that is at least as good in both and better in one.
    pub beaten_by: Option<String>,
}

/// One arm against another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The one.
    pub arm: String,
    /// The other.
    pub against: String,
    /// Tasks that only the other got right.
    pub loss: u64,
    /// Tasks that only the one got right.
    pub gain: u64,
    /// Exact two-sided `McNemar` p.
    pub p: f64,
    /// By Holm over all pairs.
    pub p_holm: f64,
}

/// The Pareto view of ranked arms, cheapest first. An arm that was given up cost nothing because it did nothing: it has no
/// place here.
pub(super) fn pareto(arms: &[ArmRow]) -> Vec<Point> {
    let mut points: Vec<Point> = arms
        .iter()
        .filter(|row| row.ranked && !row.given_up())
        .map(|row| Point {
            arm: row.arm.clone(),
            arguments_percent: row.arguments.percent(),
            dollars: row.dollars_uncached.per_thousand_tasks,
            beaten_by: None,
        })
        .collect();
    points.sort_by(|a, b| a.dollars.total_cmp(&b.dollars).then(b.arguments_percent.total_cmp(&a.arguments_percent)));
    for at in 0..points.len() {
        let own = &points[at];
        let beats = |other: &&Point| {
            other.dollars <= own.dollars
                && other.arguments_percent >= own.arguments_percent
                && (other.dollars < own.dollars || other.arguments_percent > own.arguments_percent)
        };
        let by = points.iter().find(beats).map(|other| other.arm.clone());
        points[at].beaten_by = by;
    }
    points
}

/// Every arm against every later one, from outcomes by task; a task that one of them has no outcome of counts for
/// neither.
pub(super) fn pairs(arms: &[(&str, &[Option<bool>])]) -> Result<Vec<Pair>, StatsError> {
    let mut pairs = Vec::new();
    for (place, (arm, own)) in arms.iter().enumerate() {
        for (against, other) in arms.iter().skip(place + 1) {
            let count = |want: (bool, bool)| {
                own.iter().zip(*other).filter(|(a, b)| (**a, **b) == (Some(want.0), Some(want.1))).count() as u64
            };
            let (gain, loss) = (count((true, false)), count((false, true)));
            let p = mcnemar(gain, loss).two_sided;
            let (arm, against) = ((*arm).to_owned(), (*against).to_owned());
            pairs.push(Pair { arm, against, loss, gain, p, p_holm: 1.0 });
        }
    }
    let p: Vec<Option<f64>> = pairs.iter().map(|pair| Some(pair.p.min(1.0))).collect();
    for (pair, adjusted) in pairs.iter_mut().zip(Graph::holm(p.len()).adjusted(&p)?) {
        pair.p_holm = adjusted.unwrap_or(1.0);
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_count_what_only_one_got_right() {
        // The last two tasks have no outcome on one side: they count for neither.
        let own = [1, 1, 0, 1, 1, -1].map(|bit| (bit >= 0).then_some(bit == 1));
        let other = [1, 0, 1, 0, -1, 0].map(|bit| (bit >= 0).then_some(bit == 1));
        let pairs = pairs(&[("a", &own), ("b", &other)]).unwrap();
        assert_eq!((pairs.len(), pairs[0].gain, pairs[0].loss), (1, 2, 1));
        assert!((pairs[0].p - 1.0).abs() < 1e-12 && (pairs[0].p_holm - 1.0).abs() < 1e-12);
    }
}
