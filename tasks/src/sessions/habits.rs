//! How a user chooses tools: by rank, and in sequences that come back.

use crate::results_suite::draw::Draw;

/// Zipf weights are whole numbers on this scale.
const SCALE: u64 = 1 << 32;
/// Streams of a seed: users' profiles first, sessions behind.
const SESSIONS: u64 = 1 << 32;
/// Items of a frame that sessions take from.
const ITEMS: u64 = 100_000;

/// How users behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// Workflows of a user.
    pub workflows: usize,
    /// Tools of a workflow, at least and at most.
    pub workflow_length: (u64, u64),
    /// Share of requests, outside a workflow, that start one; in parts per thousand.
    pub starts_permille: u64,
    /// Share of requests, inside a workflow, that go on with it; in parts per thousand.
    pub continues_permille: u64,
}

impl Default for Habits {
    fn default() -> Self {
        Self { workflows: 3, workflow_length: (3, 5), starts_permille: 350, continues_permille: 850 }
    }
}

/// A user's profile.
#[derive(Debug, Clone)]
pub(super) struct User {
    seed: [u8; 32],
    habits: Habits,
    /// Tools by rank.
    ranked: Vec<usize>,
    /// Weights of the ranks, summed up to each.
    summed: Vec<u64>,
    workflows: Vec<Vec<usize>>,
}

impl User {
    /// The user of this number, over so many tools.
    pub(super) fn new(seed: [u8; 32], user: u64, tools: usize, habits: Habits) -> Self {
        let mut draw = Draw::new(seed, user);
        let mut ranked: Vec<usize> = (0..tools).collect();
        draw.shuffle(&mut ranked);
        let mut sum = 0;
        let summed = (1..=tools as u64)
            .map(|rank| {
                sum += SCALE / rank;
                sum
            })
            .collect();
        let mut profile = Self { seed, habits, ranked, summed, workflows: Vec::new() };
        let (least, most) = habits.workflow_length;
        for _ in 0..habits.workflows {
            let length = draw.between(least, most);
            let workflow = (0..length).map(|_| profile.pick(&mut draw)).collect();
            profile.workflows.push(workflow);
        }
        profile
    }

    /// A tool by rank.
    fn pick(&self, draw: &mut Draw) -> usize {
        let total = self.summed.last().copied().unwrap_or(1);
        let drawn = draw.between(0, total.saturating_sub(1));
        let rank = self.summed.partition_point(|&sum| sum <= drawn);
        self.ranked.get(rank).copied().unwrap_or(0)
    }

    /// The choices of one session.
    pub(super) fn session(self, index: u64) -> Choices {
        Choices { draw: Draw::new(self.seed, SESSIONS + index), user: self, under_way: None }
    }
}

/// The choices of one session.
pub(super) struct Choices {
    user: User,
    draw: Draw,
    /// The workflow that is under way, and the place reached in it.
    under_way: Option<(usize, usize)>,
}

impl Choices {
    /// The next tool, and whether a workflow led to it.
    pub(super) fn next_tool(&mut self) -> (usize, bool) {
        if let Some((workflow, at)) = self.under_way.take()
            && let Some(&tool) = self.user.workflows[workflow].get(at)
            && self.draw.chance(self.user.habits.continues_permille, 1_000)
        {
            self.under_way = Some((workflow, at + 1));
            return (tool, true);
        }
        if !self.user.workflows.is_empty() && self.draw.chance(self.user.habits.starts_permille, 1_000) {
            let workflow = self.draw.below(self.user.workflows.len());
            self.under_way = Some((workflow, 1));
            return (self.user.workflows[workflow].first().copied().unwrap_or(0), false);
        }
        (self.user.pick(&mut self.draw), false)
    }

    /// An index below `len`.
    pub(super) fn below(&mut self, len: usize) -> usize {
        self.draw.below(len)
    }

    /// An item of a frame.
    pub(super) fn item(&mut self) -> u64 {
        self.draw.between(0, ITEMS - 1)
    }
}
