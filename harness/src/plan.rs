//! From inputs to what is run: seeds, sample sizes, warm-up trace, arms.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{
    ProtocolError,
    rng::{self, Seed},
    spec::Protocol,
};
use bench_tasks::{
    check::CheckOptions,
    generate::{FrameSet, Plan},
};

use crate::{
    arms::{ArmContext, WarmUp},
    inputs::Inputs,
    run::prepare::{RESULTS, TOOLS},
};

/// One seed per purpose, all derived from the canonical protocol and a seed text.
#[derive(Debug, Clone, Copy)]
pub struct SuiteSeeds {
    /// Of the tool suite's slots.
    pub tools: Seed,
    /// Of the result suite.
    pub results: Seed,
    /// Of the order of arms within a task.
    pub schedule: Seed,
    /// Of the warm-up trace: the primary seed's in every run, since the replication tests the very same arms.
    pub warm_up: Seed,
    /// Of the sessions that planted-loss breaks.
    pub planted_loss: Seed,
    /// Of the users and choices of the sessions suite.
    pub sessions: Seed,
    /// Of the key that signs cards.
    pub cards: Seed,
    /// Of the scripted model's noise.
    pub mock: Seed,
    /// Of the cluster bootstraps that are reported beside the gates.
    pub bootstrap: Seed,
}

impl SuiteSeeds {
    /// The seeds for a seed text, such as the protocol's primary one.
    pub fn derive(protocol: &Protocol, seed_text: &str) -> Result<Self, ProtocolError> {
        let canonical = protocol.canonical()?;
        let of = |text: &str, purpose: &str| rng::derive_seed(&canonical, &format!("{text}/{purpose}"));
        let seed = |purpose: &str| of(seed_text, purpose);
        Ok(Self {
            tools: seed("tools"),
            results: seed("results"),
            schedule: seed("schedule"),
            warm_up: of(&protocol.seeds.primary, "warm-up"),
            planted_loss: seed("planted-loss"),
            sessions: seed("sessions"),
            cards: seed("cards"),
            mock: seed("mock"),
            bootstrap: seed("bootstrap"),
        })
    }
}

/// Tasks of a whole suite, abstain tasks included; none for a suite that there is not.
pub fn tasks(protocol: &Protocol, suite: &str) -> Option<u64> {
    let sizes = &protocol.suites;
    match suite {
        TOOLS => Some(sizes.tools.tool_tasks + sizes.tools.abstain_tasks),
        RESULTS => Some(sizes.results.tasks),
        _ => None,
    }
}

/// The tool suite's plan: the protocol's, or `n` tasks in all with the protocol's share of abstain tasks.
pub fn tool_plan(protocol: &Protocol, n: Option<u64>) -> Plan {
    let tools = &protocol.suites.tools;
    let (tool_tasks, abstain_tasks) = match n {
        None => (tools.tool_tasks, tools.abstain_tasks),
        Some(n) => {
            let whole = u128::from(tools.tool_tasks + tools.abstain_tasks).max(1);
            let abstain = u128::from(n) * u128::from(tools.abstain_tasks) / whole;
            let abstain = u64::try_from(abstain).unwrap_or(n);
            (n - abstain, abstain)
        }
    };
    Plan {
        tool_tasks,
        abstain_tasks,
        frames_per_tool: tools.frames_per_tool as usize,
        abstain_frames: tools.abstain_frames as usize,
        frames: FrameSet::Scored,
        // A run over somebody's own servers takes what frames there are; the lock's plan is checked to be complete.
        allow_incomplete: n.is_some(),
    }
}

/// How intents are checked: as many scored frames as the protocol draws from, of each tool and for no tool.
pub fn check_options(protocol: &Protocol) -> CheckOptions {
    let tools = &protocol.suites.tools;
    CheckOptions {
        scored_frames: tools.frames_per_tool as usize,
        abstain_frames: tools.abstain_frames as usize,
        ..CheckOptions::default()
    }
}

/// Draws the warm-up trace: calls spread evenly over the servers, and within a server over its tools by a Zipf law over
/// a seeded rank. Integer arithmetic only, so that the trace is the same everywhere.
pub fn warm_up(inputs: &Inputs, seed: Seed) -> WarmUp {
    let spec = &inputs.protocol.warm_up;
    let servers = inputs.catalogs.catalogs.len() as u64;
    let mut uses = BTreeMap::new();
    for (position, catalog) in inputs.catalogs.catalogs.iter().enumerate() {
        let mut rng = rng::stream(seed, position as u64);
        let mut ranked: Vec<&str> = catalog.tools.iter().map(|tool| &*tool.name).collect();
        rng::shuffle(&mut rng, &mut ranked);
        let weights: Vec<u64> = (1..=ranked.len() as u64).map(|rank| zipf_weight(rank, spec.zipf_exponent)).collect();
        let total: u64 = weights.iter().sum();
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let share = u64::from(spec.calls) / servers + u64::from((position as u64) < u64::from(spec.calls) % servers);
        for _ in 0..share {
            let mut draw = rng::index(&mut rng, total.max(1));
            for (tool, weight) in ranked.iter().zip(&weights) {
                if draw < *weight {
                    *counts.entry((*tool).to_owned()).or_default() += 1;
                    break;
                }
                draw -= weight;
            }
        }
        uses.insert(catalog.server.to_string(), counts);
    }
    WarmUp { uses }
}

/// Weight of a rank, `scale / rank^exponent`, on a scale that keeps the first 1,000 ranks apart.
fn zipf_weight(rank: u64, exponent: u32) -> u64 {
    const SCALE: u64 = 1 << 40;
    (SCALE / rank.saturating_pow(exponent).max(1)).max(1)
}

/// Arms of the tool suite, in protocol order.
pub fn tool_arms(protocol: &Protocol) -> impl Iterator<Item = &str> {
    let arms = &protocol.arms;
    std::iter::once(&arms.reference).chain(&arms.levels).chain(&arms.controls).map(String::as_str)
}

/// Arms of the result suite, in protocol order.
pub fn result_arms(protocol: &Protocol) -> impl Iterator<Item = &str> {
    let arms = &protocol.arms;
    std::iter::once(&arms.results_reference).chain(&arms.results).chain(&arms.results_controls).map(String::as_str)
}

/// What arms are built from.
pub fn arm_context(inputs: &Inputs, seeds: &SuiteSeeds) -> ArmContext {
    let protocol = &inputs.protocol;
    let margin_ppm = protocol.test.margin.value() * 1e6 * f64::from(protocol.guards.planted_loss_margins);
    ArmContext {
        catalogs: Arc::clone(&inputs.catalogs),
        warm_up: warm_up(inputs, seeds.warm_up),
        pins: (protocol.warm_up.pins_per_server, protocol.warm_up.pin_min_uses),
        seed: seeds.planted_loss,
        // Rounded, so that the decimal margin gives a whole number of parts.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of one, in parts per million"
        )]
        planted_loss_ppm: margin_ppm.round() as u32,
    }
}
