//! Accuracy and cost by position in a session.

use serde::Serialize;

use super::{StepTrace, cache::Classes};
use crate::arms::{ArmInfo, Tasks};

/// One arm's sums.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmSums {
    /// The arm.
    pub arm: String,
    /// Whether it takes a place in a ranking.
    pub ranked: bool,
    /// What its author would object to.
    pub objections: Vec<&'static str>,
    /// By position in the session.
    pub positions: Vec<Position>,
}

/// Sums over the requests at one position, or at several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Position {
    /// Requests.
    pub requests: u64,
    /// Right tool.
    pub selection: u64,
    /// Right tool and arguments.
    pub arguments: u64,
    /// Requests to the model.
    pub turns: u64,
    /// Requests to the model that found their tool list changed, and so the cache broken.
    pub breaks: u64,
    /// Tokens of tool lists at the start of a request.
    pub list_tokens: u64,
    /// Token classes.
    pub classes: Classes,
}

impl Position {
    fn add(&mut self, step: &StepTrace) {
        self.merge(Self {
            requests: 1,
            selection: u64::from(step.record.selection == Some(true)),
            arguments: u64::from(step.record.arguments == Some(true)),
            turns: u64::from(step.record.turns),
            breaks: u64::from(step.breaks),
            list_tokens: step.list_tokens,
            classes: step.classes,
        });
    }

    fn merge(&mut self, other: Self) {
        self.requests += other.requests;
        self.selection += other.selection;
        self.arguments += other.arguments;
        self.turns += other.turns;
        self.breaks += other.breaks;
        self.list_tokens += other.list_tokens;
        self.classes.add(other.classes);
    }

    /// A sum per request; 0 without requests.
    pub fn mean(&self, sum: u64) -> f64 {
        sum as f64 / self.requests.max(1) as f64
    }
}

impl ArmSums {
    /// No requests yet.
    pub fn new(info: &ArmInfo) -> Self {
        let (ranked, objections) = (info.ranks(Tasks::Sessions), info.objections(Tasks::Sessions));
        Self { arm: info.id.0.clone(), ranked, objections, positions: Vec::new() }
    }

    /// Adds a request at a position, from 0.
    pub fn add(&mut self, position: usize, step: &StepTrace) {
        if self.positions.len() <= position {
            self.positions.resize(position + 1, Position::default());
        }
        self.positions[position].add(step);
    }

    /// The sum over some positions.
    pub fn over(&self, positions: std::ops::Range<usize>) -> Position {
        let mut sum = Position::default();
        for &position in self.positions.iter().skip(positions.start).take(positions.len()) {
            sum.merge(position);
        }
        sum
    }
}
