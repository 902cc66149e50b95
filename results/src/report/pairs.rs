//! Discordant pairs side by side: what each model saw and did.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    compared::Compared,
    gather::{Gathered, Kept},
    heat::pair,
    source::{CallText, Scenes, Step},
    text::{tame, word},
};
use crate::record::EpisodeRecord;

/// Losses of a level that are shown whole, then gains; controls show fewer.
const LEVEL: (usize, usize) = (8, 4);
/// The same for a control.
const CONTROL: (usize, usize) = (2, 1);
/// Steps of an episode that are shown.
const STEPS: usize = 10;
/// Characters of an utterance.
const UTTERANCE: usize = 1_200;
/// Characters of arguments, of a text of the model, or of an answer that it read.
const BODY: usize = 900;

/// Discordant pairs of one arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArmPairs {
    /// Its family.
    pub family: String,
    /// The arm.
    pub arm: String,
    /// What it is compared with.
    pub against: String,
    /// Pairs that only the reference got right, abstain tasks included.
    pub losses: u64,
    /// Pairs that only the arm got right, abstain tasks included.
    pub gains: u64,
    /// Those shown whole.
    pub shown: Vec<PairView>,
}

/// One discordant pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PairView {
    /// Right under the reference alone; else under the arm alone.
    pub loss: bool,
    /// The task.
    pub task: String,
    /// `server/tool` asked for; none where no tool serves the request.
    pub tool: Option<String>,
    /// Stratum, or kind.
    pub stratum: String,
    /// What the user said.
    pub utterance: String,
    /// What would have been right; empty where no call is.
    pub gold: Vec<String>,
    /// The reference's episode.
    pub reference: SideView,
    /// The arm's episode.
    pub arm: SideView,
}

/// One episode of a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SideView {
    /// Whether it counts as right.
    pub right: bool,
    /// How it ended.
    pub end: String,
    /// Digest of the surface that it began with.
    pub surface: String,
    /// Requests that were answered.
    pub turns: u32,
    /// What the model did and read, in order.
    pub steps: Vec<Step>,
    /// Steps that are not shown.
    pub steps_left_out: u64,
}

/// A chosen pair, by places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    compared: usize,
    task: usize,
    loss: bool,
}

/// Discordant pairs of every compared arm, and those that are to be shown.
pub(super) struct Choices {
    counts: Vec<(u64, u64)>,
    pub(super) chosen: Vec<Choice>,
}

impl Choices {
    /// Counts, and chooses: one pair of each tool before a second one of any, in the order of tasks.
    pub(super) fn of(seen: &Gathered<'_>, compared: &[Compared]) -> Self {
        let mut all = Self { counts: Vec::new(), chosen: Vec::new() };
        for (at, one) in compared.iter().enumerate() {
            let (mut losses, mut gains) = (Vec::new(), Vec::new());
            for task in 0..seen.tasks.len() {
                match pair(seen.outcome(one.reference, task), seen.outcome(one.arm, task)) {
                    Some((true, false)) => losses.push(task),
                    Some((false, true)) => gains.push(task),
                    _ => {}
                }
            }
            all.counts.push((losses.len() as u64, gains.len() as u64));
            let most = if one.level { LEVEL } else { CONTROL };
            for (tasks, most, loss) in [(losses, most.0, true), (gains, most.1, false)] {
                let chosen = spread(&tasks, |task| seen.tool(task), most);
                all.chosen.extend(chosen.into_iter().map(|task| Choice { compared: at, task, loss }));
            }
        }
        all
    }

    /// The episodes that are needed, as places of arm and task.
    pub(super) fn episodes(&self, compared: &[Compared]) -> std::collections::BTreeSet<(usize, usize)> {
        self.chosen
            .iter()
            .flat_map(|choice| {
                let one = &compared[choice.compared];
                [(one.reference, choice.task), (one.arm, choice.task)]
            })
            .collect()
    }

    /// The pairs as they are shown.
    pub(super) fn views(
        &self,
        seen: &Gathered<'_>,
        compared: &[Compared],
        kept: &Kept,
        scenes: &dyn Scenes,
    ) -> Vec<ArmPairs> {
        let of_arm = |(at, one): (usize, &Compared)| ArmPairs {
            family: one.family.clone(),
            arm: one.name.clone(),
            against: one.against.clone(),
            losses: self.counts[at].0,
            gains: self.counts[at].1,
            shown: self
                .chosen
                .iter()
                .filter(|choice| choice.compared == at)
                .filter_map(|choice| view(*choice, seen, one, kept, scenes))
                .collect(),
        };
        compared.iter().enumerate().map(of_arm).collect()
    }
}

fn spread(tasks: &[usize], key: impl Fn(usize) -> usize, most: usize) -> Vec<usize> {
    let mut times: BTreeMap<usize, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, usize)> = tasks
        .iter()
        .map(|&task| {
            let seen = times.entry(key(task)).or_default();
            *seen += 1;
            (*seen, task)
        })
        .collect();
    ranked.sort_unstable();
    ranked.truncate(most);
    ranked.into_iter().map(|(_, task)| task).collect()
}

fn view(choice: Choice, seen: &Gathered<'_>, one: &Compared, kept: &Kept, scenes: &dyn Scenes) -> Option<PairView> {
    let facts = &seen.tasks[choice.task];
    let text = scenes.task(&facts.id)?;
    let side = |arm: usize| {
        let episode = kept.episodes.get(&(arm, choice.task))?;
        let responses = kept.responses.get(&(arm, choice.task));
        let responses: Vec<_> = responses.into_iter().flat_map(BTreeMap::values).cloned().collect();
        Some(side(episode, scenes.steps(&facts.id, &seen.planned[arm].arm, &responses)))
    };
    Some(PairView {
        loss: choice.loss,
        task: tame(&facts.id.0, 64),
        tool: seen.tools.get(seen.tool(choice.task)).map(|tool| tame(tool, 120)),
        stratum: tame(&facts.stratum, 64),
        utterance: tame(&text.utterance, UTTERANCE),
        gold: text.gold.iter().take(4).map(|gold| tame(gold, BODY)).collect(),
        reference: side(one.reference)?,
        arm: side(one.arm)?,
    })
}

fn side(episode: &EpisodeRecord, steps: Vec<Step>) -> SideView {
    let left_out = steps.len().saturating_sub(STEPS) as u64;
    SideView {
        right: episode.arguments.unwrap_or(false),
        end: word(&episode.end),
        surface: episode.surface.hex().chars().take(12).collect(),
        turns: episode.turns,
        steps: steps.into_iter().take(STEPS).map(bounded).collect(),
        steps_left_out: left_out,
    }
}

fn bounded(step: Step) -> Step {
    match step {
        Step::Model { text, calls } => Step::Model {
            text: tame(&text, BODY),
            calls: calls
                .into_iter()
                .take(STEPS)
                .map(|call| CallText { name: tame(&call.name, 128), arguments: tame(&call.arguments, BODY) })
                .collect(),
        },
        Step::Answer { text, error } => Step::Answer { text: tame(&text, BODY), error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_shown_once_before_any_is_shown_twice() {
        // Tasks 0 to 5 ask for tool 0, task 9 for tool 1.
        let tasks = [0, 1, 2, 3, 4, 5, 9];
        assert_eq!(spread(&tasks, |task| usize::from(task == 9), 3), [0, 9, 1]);
        assert_eq!(spread(&tasks, |_| 0, 2), [0, 1]);
    }
}
