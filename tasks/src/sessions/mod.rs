//! Sessions: many requests of one user, one after another, with the habits that single-call tasks cannot show.
//!
//! A user has a profile, a ranking of all tools by which the tools of single requests are drawn (Zipf 1949: the weight of
//! rank r is 1/r), and a few workflows, sequences of tools that come back. A request either goes on with the workflow
//! that is under way, starts one, or stands alone. Every request is a task of the tool suite: same frames, same golds.

mod habits;

use std::sync::Arc;

pub use self::habits::Habits;
use self::habits::User;
use crate::{
    generate::Generator,
    task::{GoldCall, Task, TaskId},
};

/// What sessions are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionPlan {
    /// Requests of a session.
    pub length: usize,
    /// Users; session `i` is of user `i mod users`.
    pub users: u64,
    /// How users behave.
    pub habits: Habits,
}

impl Default for SessionPlan {
    fn default() -> Self {
        Self { length: 20, users: 25, habits: Habits::default() }
    }
}

/// One session.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its number.
    pub index: u64,
    /// Whose it is.
    pub user: u64,
    /// Its requests, in order.
    pub steps: Vec<Step>,
}

/// One request of a session.
#[derive(Debug, Clone)]
pub struct Step {
    /// What is asked.
    pub task: Task,
    /// Whether its tool follows from a workflow that is under way.
    pub continues: bool,
}

/// A plan's sessions over the frames of a generator; any of them without the ones before it.
#[derive(Debug)]
pub struct Sessions<'g> {
    generator: &'g Generator,
    plan: SessionPlan,
    seed: [u8; 32],
    /// Frames by tool, for tools that have any; tools in the order of their first frames.
    tools: Vec<Vec<usize>>,
}

impl<'g> Sessions<'g> {
    /// Sessions over the frames with a right call; `None` where there is none.
    pub fn new(generator: &'g Generator, seed: [u8; 32], plan: SessionPlan) -> Option<Self> {
        let mut tools: Vec<Vec<usize>> = Vec::new();
        let mut names: Vec<(Arc<str>, Arc<str>)> = Vec::new();
        for (at, frame) in generator.frames().enumerate() {
            let (Some(server), Some(tool), false) = (&frame.server, &frame.tool, frame.gold.is_empty()) else {
                continue;
            };
            let name = (Arc::clone(server), Arc::clone(tool));
            if let Some(known) = names.iter().position(|known| *known == name) {
                tools[known].push(at);
            } else {
                names.push(name);
                tools.push(vec![at]);
            }
        }
        (!tools.is_empty() && plan.length > 0 && plan.users > 0).then_some(Self { generator, plan, seed, tools })
    }

    /// The session of this number.
    pub fn session(&self, index: u64) -> Session {
        let user = index % self.plan.users;
        let mut habits = User::new(self.seed, user, self.tools.len(), self.plan.habits).session(index);
        let mut steps = Vec::with_capacity(self.plan.length);
        let mut seen: Vec<String> = Vec::with_capacity(self.plan.length);
        while steps.len() < self.plan.length {
            let (tool, continues) = habits.next_tool();
            let frames = &self.tools[tool];
            let frame = frames[habits.below(frames.len())];
            // Items far apart, so that two sessions rarely say the same.
            let Some(mut task) = self.generator.frame_task(frame, habits.item()) else { break };
            // A request that was made before in this session is made again, as users do, but keys and records tell
            // requests apart by their words.
            if seen.contains(&task.utterance) {
                task.utterance = format!("Again: {}", task.utterance);
                if seen.contains(&task.utterance) {
                    continue;
                }
            }
            // Nor may two of them be one task to whoever draws by its id.
            task.id = TaskId(format!("{}-s{index}-{}", task.id, steps.len() + 1));
            seen.push(task.utterance.clone());
            steps.push(Step { task, continues });
        }
        Session { index, user, steps }
    }
}

impl Session {
    /// The right call of a step, the intent's own.
    pub fn gold(&self, step: usize) -> Option<&GoldCall> {
        self.steps.get(step)?.task.gold.first()
    }
}

#[cfg(test)]
mod tests;
