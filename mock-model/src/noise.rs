//! Noise as a pure function of who is asked what: the order and number of requests do not matter.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

/// Parts in a whole of the rates below.
const MILLION: u32 = 1_000_000;

/// Which draw a request is: one turn of one task under one arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw<'a> {
    /// The task's id.
    pub task: &'a str,
    /// The arm's id.
    pub arm: &'a str,
    /// The turn, from 1.
    pub turn: u32,
}

/// Error rates of the protocol's `[mock]` table, in parts per million, drawn per episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rates {
    /// Picks another tool.
    pub wrong_tool_ppm: u32,
    /// Gets an argument wrong.
    pub wrong_arguments_ppm: u32,
    /// Guesses the name of an argument wrong that nothing it saw states. Holds for every behaviour, for it is the
    /// surface's doing.
    pub blind_argument_ppm: u32,
    /// Calls a tool where none fits.
    pub abstain_call_ppm: u32,
    /// Misreads a result.
    pub misread_result_ppm: u32,
    /// Answers from a digest without expanding it.
    pub skips_expand_ppm: u32,
}

/// A planted loss that comes in clusters, each task with the marginal rate `ppm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClusterLoss {
    /// Rate of the loss, in parts per million of tasks.
    pub ppm: u32,
    /// Correlation of two tasks of one cluster, in parts per million.
    pub correlation_ppm: u32,
}

/// What a planted loss takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LossTarget {
    /// Another tool is called: both endpoints lose.
    Selection,
    /// The right tool is called with a wrong argument.
    #[default]
    Arguments,
}

/// Losses planted under one arm, on top of the behaviour's own errors. In the result suite a loss is a wrong answer.
///
/// The parts are drawn apart: with several of them set, the rates add up but for their overlap.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LossPlan {
    /// What is lost.
    pub target: LossTarget,
    /// Rate at which tasks are lost independently, in parts per million.
    pub iid_ppm: u32,
    /// Loss shared within frames.
    pub per_frame: ClusterLoss,
    /// Loss shared within tools.
    pub per_tool: ClusterLoss,
    /// Rates of single frames, by full frame id, in parts per million of their tasks.
    pub frames: BTreeMap<String, u32>,
    /// Rates of single tools, by `server/tool`, in parts per million of their tasks.
    pub tools: BTreeMap<String, u32>,
}

/// All that the model's errors depend on, the draw apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noise {
    /// The protocol's rates.
    pub rates: Rates,
    /// Seed of every draw.
    pub seed: [u8; 32],
    /// Correlation of one task's errors under two arms (`noisy`, `degraded`), in parts per million. At rate `p` two arms
    /// are discordant on `2 p (1 − p) (1 − correlation)` of the tasks.
    pub task_correlation_ppm: u32,
    /// Share of the draws in which `malformed`, `refuses` and `talks` do so, in parts per million.
    pub share_ppm: u32,
    /// Share of the draws in which the second call of `parallel` is another one, in parts per million.
    pub second_distinct_ppm: u32,
    /// Extra loss of `degraded`, in parts per million.
    pub degraded_ppm: u32,
    /// Losses planted by arm.
    pub losses: BTreeMap<String, LossPlan>,
}

impl Noise {
    /// These rates and this seed, the rest as documented for the behaviours: half of the errors are the task's own, a
    /// fifth of the draws is malformed, refused or talked over, a tenth of the second calls differs, and `degraded`
    /// loses five points.
    pub fn new(rates: Rates, seed: [u8; 32]) -> Self {
        Self {
            rates,
            seed,
            task_correlation_ppm: 500_000,
            share_ppm: 200_000,
            second_distinct_ppm: 100_000,
            degraded_ppm: 50_000,
            losses: BTreeMap::new(),
        }
    }
}

/// The draws of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dice<'a> {
    pub(crate) noise: &'a Noise,
    pub(crate) draw: &'a Draw<'a>,
    /// The task's frame, full id.
    pub(crate) frame: &'a str,
    /// The task's tool as `server/tool`; empty for abstain.
    pub(crate) tool: &'a str,
}

impl Dice<'_> {
    /// True with this rate, the same answer in every turn of the episode.
    pub(crate) fn in_episode(&self, purpose: &str, ppm: u32) -> bool {
        self.hit(ppm, &[purpose, "episode", self.draw.task, self.draw.arm])
    }

    /// True with this rate, drawn anew in every turn.
    pub(crate) fn in_turn(&self, purpose: &str, ppm: u32) -> bool {
        self.hit(ppm, &[purpose, "turn", self.draw.task, self.draw.arm, &self.draw.turn.to_string()])
    }

    /// An index below `n`, the same in every turn of the episode; 0 for `n = 0`.
    pub(crate) fn pick(&self, purpose: &str, n: usize) -> usize {
        let word = self.word(&[purpose, "pick", self.draw.task, self.draw.arm]);
        usize::try_from(scale(word, n as u64)).unwrap_or(0)
    }

    /// An error of the model: shared between the arms of a task in part.
    pub(crate) fn shared_by_task(&self, purpose: &str, ppm: u32) -> bool {
        self.correlated(purpose, ppm, self.noise.task_correlation_ppm, &["task", self.draw.task])
    }

    /// An error that all tasks of a frame share under this arm.
    pub(crate) fn shared_by_frame(&self, purpose: &str, ppm: u32) -> bool {
        self.hit(ppm, &[purpose, "frame", self.frame, self.draw.arm])
    }

    /// Whether the arm's loss plan takes this episode, and what.
    pub(crate) fn planted(&self) -> Option<LossTarget> {
        let plan = self.noise.losses.get(self.draw.arm)?;
        let named = |rates: &BTreeMap<String, u32>, name: &str| rates.get(name).copied().unwrap_or(0);
        let frame = ["loss-frame", self.frame, self.draw.arm];
        let tool = ["loss-tool", self.tool, self.draw.arm];
        let lost = self.in_episode("loss", plan.iid_ppm)
            || self.correlated("loss-in-frame", plan.per_frame.ppm, plan.per_frame.correlation_ppm, &frame)
            || self.correlated("loss-in-tool", plan.per_tool.ppm, plan.per_tool.correlation_ppm, &tool)
            || self.in_episode("loss-of-frame", named(&plan.frames, self.frame))
            || self.in_episode("loss-of-tool", named(&plan.tools, self.tool));
        lost.then_some(plan.target)
    }

    /// True with rate `ppm` in every episode. Two episodes of one cluster both copy the cluster's draw with probability
    /// `√ρ · √ρ`, and are independent else: their correlation is `ρ`, whatever the size of the cluster.
    fn correlated(&self, purpose: &str, ppm: u32, correlation_ppm: u32, cluster: &[&str]) -> bool {
        if ppm == 0 {
            return false;
        }
        let root = (u64::from(correlation_ppm) * u64::from(MILLION)).isqrt();
        let copies = self.in_episode(&format!("{purpose}/copies"), u32::try_from(root).unwrap_or(MILLION));
        if copies {
            let mut labels = vec![purpose, "cluster"];
            labels.extend(cluster);
            self.hit(ppm, &labels)
        } else {
            self.in_episode(purpose, ppm)
        }
    }

    fn hit(&self, ppm: u32, labels: &[&str]) -> bool {
        ppm > 0 && scale(self.word(labels), u64::from(MILLION)) < u64::from(ppm)
    }

    /// The first eight bytes of a SHA-256 over the seed and the labels, each behind its length.
    fn word(&self, labels: &[&str]) -> u64 {
        word(&self.noise.seed, labels)
    }
}

pub(crate) fn word(seed: &[u8; 32], labels: &[&str]) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update(seed);
    for label in labels {
        hasher.update((label.len() as u64).to_be_bytes());
        hasher.update(label.as_bytes());
    }
    hasher.finalize().iter().take(8).fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

/// The high word of `word · n`: an index below `n`, biased by less than `n / 2⁶⁴`.
fn scale(word: u64, n: u64) -> u64 {
    ((u128::from(word) * u128::from(n)) >> 64) as u64
}
