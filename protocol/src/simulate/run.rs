//! Many trials on any number of threads: counts that depend on seed and scenario alone.

use std::{num::NonZeroUsize, thread};

use serde::{Deserialize, Serialize};

use super::{
    Layout, Scenario, SimulateError, Truths,
    decision::Decision,
    trial::{Passes, Scratch, judge},
};
use crate::{
    rng::{Seed, derive_seed, stream},
    spec::Protocol,
    verdict::{Rule, Status},
};

/// A simulator of one protocol: the rule precomputed for its layout.
#[derive(Debug, Clone)]
pub struct Simulator {
    layout: Layout,
    decision: Decision,
    canonical: Vec<u8>,
    seed: String,
    planted_loss: f64,
    require_tool_robust: bool,
    require_replication: bool,
}

/// What a run of trials counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rates {
    /// Trials.
    pub replicates: u64,
    /// By level: certified.
    pub certified: Vec<u64>,
    /// By level: certified and tool-robust.
    pub tool_robust: Vec<u64>,
    /// By level: failed.
    pub failed: Vec<u64>,
    /// By level: chosen by the default rule. The rest stays with the fallback unearned.
    pub default: Vec<u64>,
    /// By level: gates pass on selection, on arguments, on both; before guards, assay and order.
    pub endpoints: Vec<[u64; 3]>,
    /// Assay not sensitive.
    pub no_verdict: u64,
}

/// A rate and its Monte-Carlo standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The rate.
    pub rate: f64,
    /// `sqrt(rate·(1 − rate)/replicates)`.
    pub se: f64,
}

impl Rates {
    /// A count as a rate.
    pub fn spread(&self, count: u64) -> Spread {
        let rate = count as f64 / self.replicates.max(1) as f64;
        Spread { rate, se: (rate * (1.0 - rate) / self.replicates.max(1) as f64).sqrt() }
    }

    fn sized(levels: usize) -> Self {
        Self {
            certified: vec![0; levels],
            tool_robust: vec![0; levels],
            failed: vec![0; levels],
            default: vec![0; levels],
            endpoints: vec![[0; 3]; levels],
            ..Self::default()
        }
    }

    fn add(&mut self, other: &Self) {
        self.replicates += other.replicates;
        self.no_verdict += other.no_verdict;
        let sums = [
            (&mut self.certified, &other.certified),
            (&mut self.tool_robust, &other.tool_robust),
            (&mut self.failed, &other.failed),
            (&mut self.default, &other.default),
        ];
        for (mine, theirs) in sums {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
        for (mine, theirs) in self.endpoints.iter_mut().flatten().zip(other.endpoints.iter().flatten()) {
            *mine += theirs;
        }
    }
}

impl Simulator {
    /// Precomputes the rule for a layout; `seed` is a text from which every scenario's streams are derived.
    ///
    /// # Errors
    /// A layout or rule that is none.
    pub fn new(protocol: &Protocol, layout: Layout, seed: &str) -> Result<Self, SimulateError> {
        layout.check()?;
        let rule = Rule::of(protocol)?;
        Ok(Self {
            layout,
            decision: Decision::new(&rule, &layout),
            canonical: protocol.canonical()?,
            seed: seed.to_owned(),
            planted_loss: protocol.test.margin.value() * f64::from(protocol.guards.planted_loss_margins),
            require_tool_robust: protocol.default_rule.require_tool_robust,
            require_replication: protocol.default_rule.require_replication,
        })
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn passes(&self, scenario: &Scenario, truths: &Truths, share: f64) -> Result<Passes, SimulateError> {
        truths.0.iter().try_for_each(|&truth| scenario.check(truth))?;
        Ok(Passes::new(scenario, truths, &self.layout, self.planted_loss, share))
    }

    pub(super) fn seed(&self, label: &str) -> Seed {
        derive_seed(&self.canonical, &format!("{}/simulate/{label}", self.seed))
    }

    #[cfg(test)]
    pub(super) fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Simulates levels with these true differences, in their order. Trial t draws from stream t of the seed of `label`.
    /// With `replicated`, every trial draws an independent replication run, for the default rule.
    ///
    /// # Errors
    /// [`SimulateError::Scenario`].
    pub fn rates(
        &self,
        scenario: &Scenario,
        truths: &Truths,
        label: &str,
        options: &Options,
    ) -> Result<Rates, SimulateError> {
        let share = options.selection_share.unwrap_or(scenario.selection_share);
        let passes = self.passes(scenario, truths, share)?;
        let seed = self.seed(label);
        let threads = options.threads.get() as u64;
        let parts: Vec<Rates> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|worker| {
                    let passes = &passes;
                    let trials = (worker..options.replicates).step_by(options.threads.get());
                    scope.spawn(move || self.trials(passes, seed, trials, options.replicated))
                })
                .collect();
            // A worker has nothing that could panic; one that did takes the process with it, never a part of the counts.
            workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let mut rates = Rates::sized(truths.0.len());
        parts.iter().for_each(|part| rates.add(part));
        Ok(rates)
    }

    fn trials(&self, passes: &Passes, seed: Seed, trials: impl Iterator<Item = u64>, replicated: bool) -> Rates {
        let mut scratch = Scratch::default();
        let levels = passes.levels();
        let mut rates = Rates::sized(levels);
        for trial in trials {
            let mut rng = stream(seed, trial);
            passes.draw(&mut rng, &mut scratch.drawn);
            let run = judge(&self.decision, &passes.layout, &mut scratch);
            rates.replicates += 1;
            rates.no_verdict += u64::from(!run.sensitive);
            for (place, level) in run.levels.iter().enumerate() {
                rates.certified[place] += u64::from(level.status == Status::Certified);
                rates.failed[place] += u64::from(level.status == Status::Failed);
                rates.tool_robust[place] += u64::from(level.tool_robust);
                let (selection, arguments) = level.endpoints;
                for (count, held) in
                    rates.endpoints[place].iter_mut().zip([selection, arguments, selection && arguments])
                {
                    *count += u64::from(held);
                }
            }
            if replicated {
                let eligible = |level: &super::trial::LevelOutcome| {
                    level.status == Status::Certified && (level.tool_robust || !self.require_tool_robust)
                };
                if run.levels.iter().any(eligible) {
                    passes.draw(&mut rng, &mut scratch.drawn);
                    let again = judge(&self.decision, &passes.layout, &mut scratch);
                    let certified =
                        |place: usize| !self.require_replication || again.levels[place].status == Status::Certified;
                    if let Some(chosen) =
                        (0..levels).rev().find(|&place| eligible(&run.levels[place]) && certified(place))
                    {
                        rates.default[chosen] += 1;
                    }
                }
            }
        }
        rates
    }
}

/// How a simulation is run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Trials.
    pub replicates: u64,
    /// Threads; the result does not depend on it.
    pub threads: NonZeroUsize,
    /// Whether every trial has a replication run.
    pub replicated: bool,
    /// Instead of the scenario's.
    pub selection_share: Option<f64>,
}
