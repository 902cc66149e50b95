//! Tasks from a seed: item `i` of a plan at once, without the items before it.

mod permute;
mod plan;
mod sample;

use std::{collections::HashMap, sync::Arc};

use sha2::{Digest, Sha256};

pub use self::{
    permute::Permutation,
    plan::{FrameSet, Plan},
    sample::Sampler,
};
use crate::{
    catalog::{Catalogs, hex},
    error::TasksError,
    intent::{Frame, Intents},
    slots::Row,
    task::{GoldCall, Suite, Task, TaskId},
};

/// Plans up to this many tasks are checked for equal utterances with different golds when the generator is made.
pub const AMBIGUITY_BOUND: u64 = 20_000;

/// A plan's tasks. Memory does not depend on their number.
#[derive(Debug)]
pub struct Generator {
    plan: Plan,
    tool_frames: Vec<PlannedFrame>,
    abstain_frames: Vec<PlannedFrame>,
}

#[derive(Debug)]
struct PlannedFrame {
    frame: Frame,
    sampler: Sampler,
}

impl Generator {
    /// Chooses the plan's frames and keys their slots' permutations.
    ///
    /// Frames come frame-major: the first of every tool in catalog order, then the second of every tool, and so on, so
    /// that every prefix of the tasks is spread over the tools.
    ///
    /// # Errors
    /// If the intents hold errors, a tool has too few frames, the plan asks for tasks of no frame, or (up to
    /// [`AMBIGUITY_BOUND`] tasks) two tasks say the same and want different calls.
    pub fn new(intents: &Intents, catalogs: &Catalogs, seed: [u8; 32], plan: Plan) -> Result<Self, TasksError> {
        intents.require_sound()?;
        let planned = |frame: &Frame| PlannedFrame { frame: frame.clone(), sampler: Sampler::new(frame, &seed) };
        let mut columns = Vec::new();
        if plan.tool_tasks > 0 {
            for (catalog, tool) in catalogs.tools() {
                let frames: Vec<&Frame> = intents
                    .of_tool(&catalog.server, &tool.name)
                    .filter(|frame| plan.frames.takes(frame))
                    .take(plan.frames_per_tool)
                    .collect();
                plan.require(frames.len(), plan.frames_per_tool, || format!("{}/{}", catalog.server, tool.name))?;
                columns.push(frames);
            }
        }
        let deepest = columns.iter().map(Vec::len).max().unwrap_or(0);
        let tool_frames: Vec<_> = (0..deepest)
            .flat_map(|row| columns.iter().filter_map(move |column| column.get(row)))
            .map(|frame| planned(frame))
            .collect();

        let wanted = if plan.abstain_tasks > 0 { plan.abstain_frames } else { 0 };
        let abstain_frames: Vec<_> =
            intents.abstain().filter(|frame| plan.frames.takes(frame)).take(wanted).map(planned).collect();
        plan.require(abstain_frames.len(), wanted, || "abstain".to_owned())?;

        for (tasks, frames, kind) in
            [(plan.tool_tasks, &tool_frames, "tool"), (plan.abstain_tasks, &abstain_frames, "abstain")]
        {
            if tasks > 0 && frames.is_empty() {
                return Err(TasksError::Plan(format!(
                    "asks for {tasks} {kind} tasks, but there is no {kind} frame to make them from"
                )));
            }
        }
        if plan.tool_tasks.checked_add(plan.abstain_tasks).is_none() {
            return Err(TasksError::Plan("asks for more than 2^64 tasks".into()));
        }
        let generator = Self { plan, tool_frames, abstain_frames };
        if generator.len() <= AMBIGUITY_BOUND {
            generator.require_unambiguous()?;
        }
        Ok(generator)
    }

    /// Number of tasks.
    pub fn len(&self) -> u64 {
        self.plan.tool_tasks + self.plan.abstain_tasks
    }

    /// Whether the plan asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The frames in use: tool frames in their order, then abstain frames.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.tool_frames.iter().chain(&self.abstain_frames).map(|planned| &planned.frame)
    }

    /// Task `index` of the plan; `None` beyond its end. The same for every generator of the same inputs.
    pub fn task(&self, index: u64) -> Option<Task> {
        let (planned, item) = self.locate(index)?;
        Some(planned.task(item))
    }

    /// All tasks in order.
    pub fn iter(&self) -> impl Iterator<Item = Task> + '_ {
        (0..self.len()).filter_map(|index| self.task(index))
    }

    /// Item `item` of the `frame`-th frame in [`Generator::frames`] order, for draws with other weights than the
    /// plan's (warm-up traces).
    pub fn frame_task(&self, frame: usize, item: u64) -> Option<Task> {
        self.tool_frames.iter().chain(&self.abstain_frames).nth(frame).map(|planned| planned.task(item))
    }

    /// The frame of task `index`, and the item's number within it.
    fn locate(&self, index: u64) -> Option<(&PlannedFrame, u64)> {
        let (is_abstain, at) = self.plan.spread(index)?;
        let frames = if is_abstain { &self.abstain_frames } else { &self.tool_frames };
        let count = frames.len() as u64;
        #[expect(clippy::cast_possible_truncation, reason = "below a Vec's length")]
        let frame = frames.get(at.checked_rem(count)? as usize)?;
        Some((frame, at / count))
    }

    fn require_unambiguous(&self) -> Result<(), TasksError> {
        // Utterance hash → gold hash and the task met first. Never iterated, so its order reaches nothing.
        let mut seen: HashMap<[u8; 32], ([u8; 32], u64)> = HashMap::new();
        for (index, task) in (0..).zip(self.iter()) {
            let utterance = Sha256::digest(&task.utterance).into();
            let gold: [u8; 32] = Sha256::digest(gold_key(&task.gold)).into();
            let (first_gold, first) = *seen.entry(utterance).or_insert((gold, index));
            if first_gold != gold {
                let first = self.task(first).map(|task| task.frame.to_string()).unwrap_or_default();
                return Err(TasksError::Ambiguous { first, second: task.frame.to_string(), utterance: task.utterance });
            }
        }
        Ok(())
    }
}

/// What two tasks must share to want the same calls: server, tool and arguments of every alternative.
fn gold_key(gold: &[GoldCall]) -> String {
    use std::fmt::Write as _;
    gold.iter().fold(String::new(), |mut key, call| {
        // Writing to a `String` cannot fail.
        let _ = write!(key, "{}\0{}\0{}\0", call.server, call.tool, serde_json::Value::from(call.arguments.clone()));
        key
    })
}

impl PlannedFrame {
    fn task(&self, item: u64) -> Task {
        let frame = &self.frame;
        let draw = self.sampler.draw(item);
        let rows: Vec<Row<'_>> =
            frame.slots.iter().zip(&draw.indices).map(|(slot, &index)| slot.pool.get(index)).collect();
        let gold = frame
            .gold
            .iter()
            .map(|gold| GoldCall {
                server: Arc::clone(&gold.server),
                tool: Arc::clone(&gold.tool),
                arguments: gold.fill(&rows),
                matchers: gold.fill_matchers(&rows),
            })
            .collect();
        Task {
            id: task_id(&frame.id, &draw.indices, draw.round),
            suite: Suite::Tools,
            server: frame.server.clone(),
            tool: frame.tool.clone(),
            frame: Arc::clone(&frame.id),
            stratum: frame.stratum,
            utterance: frame.text.fill(&rows),
            gold,
        }
    }
}

/// `t` and the first 8 bytes, in hex, of SHA-256 over frame id, zero byte, pool indices and round (8 bytes each,
/// little-endian).
fn task_id(frame: &str, indices: &[u64], round: u64) -> TaskId {
    let mut hash = Sha256::new();
    hash.update(frame.as_bytes());
    hash.update([0]);
    for index in indices {
        hash.update(index.to_le_bytes());
    }
    hash.update(round.to_le_bytes());
    TaskId(format!("t{}", hex(&hash.finalize()[..8])))
}

#[cfg(test)]
mod tests;
