//! What a pilot on dev frames says about the planning assumptions of a protocol.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{
    stats::{Alpha, Interval, clusters::cluster_variance, single::clopper_pearson},
    verdict::{Endpoint, Imputation},
};
use serde::Serialize;

use super::{Analysis, Rate, Role};

/// How an arm differed from its baseline on the stricter endpoint.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PilotArm {
    /// The arm.
    pub arm: Arc<str>,
    /// What it is there for.
    pub role: Role,
    /// Pairs with both outcomes.
    pub n: u64,
    /// Losses.
    pub loss: u64,
    /// Gains.
    pub gain: u64,
    /// ψ̂.
    pub discordance: f64,
    /// Clopper–Pearson interval of ψ, level `1 − 2·alpha`.
    pub discordance_interval: Interval,
    /// Moment estimate `(deff − 1)/(m̄ − 1)` of the correlation of differences within a frame, m̄ = Σm²/Σm; none where
    /// frames hold one task each or no pair differs. Can be negative.
    pub rho_frame: Option<f64>,
    /// Answered requests per episode.
    pub turns: f64,
    /// Input tokens per episode.
    pub prompt: f64,
    /// Output tokens per episode.
    pub output: f64,
    /// Pico-dollars per episode; 0 for a mock.
    pub billed: f64,
}

/// Accuracy of the reference on an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PilotAccuracy {
    /// Right answers.
    pub right: u64,
    /// Tasks.
    pub tasks: u64,
    /// Clopper–Pearson interval, level `1 − 2·alpha`.
    pub interval: Interval,
}

/// What to write into the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Declaration {
    /// ψ: the largest upper limit among the arms, up to the next 0.005. ψ of the second pass is a lower bound for any
    /// level, so a pilot without levels declares too little.
    pub discordance: f64,
    /// ρ within frames: the largest estimate, up to the next 0.05, between 0 and 1; none where none could be estimated.
    pub rho_frame: Option<f64>,
    /// Floor of the assay: 0.05 below the least lower limit of the reference's accuracy, down to the next 0.05.
    pub assay_floor: f64,
}

/// A pilot, estimated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pilot {
    /// Tasks.
    pub tasks: u64,
    /// Their frames.
    pub frames: u64,
    /// The reference, by endpoint.
    pub accuracy: BTreeMap<Endpoint, PilotAccuracy>,
    /// The other arms; the second pass is `ψ_AA`.
    pub arms: Vec<PilotArm>,
    /// What to declare.
    pub declare: Declaration,
}

impl Pilot {
    /// Estimates from what was counted on dev frames. None where nothing was run.
    pub fn of(analysis: &Analysis, alpha: Alpha) -> Option<Self> {
        let reference = analysis.arms.iter().find(|arm| arm.role == Role::Reference)?;
        let accuracy: BTreeMap<Endpoint, PilotAccuracy> = analysis
            .kind
            .endpoints()
            .iter()
            .filter_map(|&endpoint| {
                let &Rate { right, tasks } = reference.rates.get(&endpoint).filter(|rate| rate.tasks > 0)?;
                Some((endpoint, PilotAccuracy { right, tasks, interval: clopper_pearson(right, tasks, alpha) }))
            })
            .collect();
        let strict = super::tables::strictest(analysis.kind);
        let arms: Vec<PilotArm> = analysis
            .arms
            .iter()
            // Controls that are harmful on purpose say nothing about what levels will do.
            .filter(|arm| matches!(arm.role, Role::Again | Role::Level))
            .filter_map(|arm| {
                let frames: Vec<_> = arm
                    .pairs
                    .get(&strict)?
                    .frames
                    .iter()
                    .filter_map(|frame| frame.cells.counts(Imputation::CompletePairs))
                    .collect();
                let n: u64 = frames.iter().map(|frame| frame.n()).sum();
                let (gain, loss) = frames.iter().fold((0, 0), |sum, f| (sum.0 + f.gain(), sum.1 + f.loss()));
                let squares: u64 = frames.iter().map(|frame| frame.n() * frame.n()).sum();
                let beyond = squares as f64 / n.max(1) as f64 - 1.0;
                let estimable = n > 0 && gain + loss > 0 && beyond > 0.0;
                let deff = cluster_variance(&frames).ok().map(|seen| seen.deff);
                let per_episode = |sum: u64| sum as f64 / arm.effort.episodes.max(1) as f64;
                (n > 0).then(|| PilotArm {
                    arm: Arc::clone(&arm.arm),
                    role: arm.role,
                    n,
                    loss,
                    gain,
                    discordance: (gain + loss) as f64 / n as f64,
                    discordance_interval: clopper_pearson(gain + loss, n, alpha),
                    rho_frame: deff.filter(|_| estimable).map(|deff| (deff - 1.0) / beyond),
                    turns: per_episode(arm.effort.turns),
                    prompt: per_episode(arm.effort.usage.prompt()),
                    output: per_episode(arm.effort.usage.output),
                    billed: per_episode(arm.effort.billed),
                })
            })
            .collect();
        let declare = declare(&accuracy, &arms)?;
        Some(Self { tasks: analysis.tasks.scored, frames: analysis.tasks.frames, accuracy, arms, declare })
    }
}

fn declare(accuracy: &BTreeMap<Endpoint, PilotAccuracy>, arms: &[PilotArm]) -> Option<Declaration> {
    let discordance = arms.iter().map(|arm| arm.discordance_interval.upper).reduce(f64::max)?;
    let rho_frame = arms.iter().filter_map(|arm| arm.rho_frame).reduce(f64::max);
    let least = accuracy.values().map(|seen| seen.interval.lower).reduce(f64::min)?;
    Some(Declaration {
        discordance: up(discordance, 200.0),
        rho_frame: rho_frame.map(|rho| up(rho.clamp(0.0, 1.0), 20.0)),
        assay_floor: (((least - 0.05) * 20.0 + 1e-9).floor() / 20.0).max(0.05),
    })
}

/// Up to the next step of `1/per`.
fn up(value: f64, per: f64) -> f64 {
    (value * per - 1e-9).ceil() / per
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::{accumulator, episodes, margin, reporting};

    fn pilot() -> Pilot {
        let mut all = accumulator(600);
        for episode in &episodes(600) {
            all.push(episode).unwrap();
        }
        Pilot::of(&all.finish(margin(), &reporting()).unwrap(), Alpha::new(0.05).unwrap()).unwrap()
    }

    #[test]
    fn the_second_pass_gives_the_noise_floor_and_levels_bound_the_declared_discordance() {
        let pilot = pilot();
        let again = pilot.arms.iter().find(|arm| arm.role == Role::Again).unwrap();
        assert_eq!(again.n, 570);
        assert!((again.discordance - (again.loss + again.gain) as f64 / 570.0).abs() < 1e-15);
        let largest = pilot.arms.iter().map(|arm| arm.discordance_interval.upper).fold(0.0, f64::max);
        assert!(pilot.declare.discordance >= largest && pilot.declare.discordance < largest + 0.005);
    }

    #[test]
    fn independent_flips_have_no_correlation_within_frames_to_speak_of() {
        let level = pilot().arms.into_iter().find(|arm| &*arm.arm == "L1").unwrap();
        assert!(level.rho_frame.unwrap().abs() < 0.2, "{level:?}");
    }

    #[test]
    fn the_declared_floor_lies_below_what_raw_reached() {
        let pilot = pilot();
        let least = pilot.accuracy.values().map(|seen| seen.interval.lower).fold(1.0, f64::min);
        assert!(pilot.declare.assay_floor <= least - 0.05 && pilot.declare.assay_floor > least - 0.11);
    }

    #[test]
    fn rounding_goes_up_and_leaves_whole_steps_alone() {
        assert!((up(0.05, 200.0) - 0.05).abs() < 1e-12 && (up(0.0501, 200.0) - 0.055).abs() < 1e-12);
    }
}
