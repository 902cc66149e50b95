//! What sizes are worth: sample size, power and the losses that can and can't be seen, exact, for assumptions of any kind.
//!
//! Everything here is about one endpoint of one level under G1's score test, for independent tasks, and for nested ones
//! through the planning design effect `1 + (m̄ − 1)·ρ` (statistics, decision D9). What the *whole* rule will say, with both
//! endpoints, controls, guards and the chain, is simulated: [`crate::simulate`].

use serde::{Deserialize, Serialize};

use crate::{
    spec::Protocol,
    stats::{
        Alpha, Margin, StatsError,
        power::{
            Truth, damage_power, exact_power, largest_discordance, largest_tolerated_loss, minimum_detectable_loss,
            sup_size,
        },
        sample_size::{MAX_PLANNED, inflated, planning_deff, sample_size},
    },
};

/// Assumptions of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumptions {
    /// ψ.
    pub discordance: f64,
    /// Δ.
    pub difference: f64,
    /// δ.
    pub margin: Margin,
    /// One-sided α.
    pub alpha: Alpha,
    /// Power wanted for one endpoint.
    pub target: f64,
    /// Tasks; none plans for the target alone.
    pub n: Option<u64>,
    /// Tasks of each cluster: frames, normally.
    pub cluster_size: f64,
    /// Correlation within a cluster.
    pub rho: f64,
}

impl Assumptions {
    /// Those of a protocol's tool suite.
    ///
    /// # Errors
    /// A level that is none.
    pub fn of(protocol: &Protocol) -> Result<Self, StatsError> {
        Ok(Self {
            discordance: protocol.power.discordance.value(),
            difference: protocol.power.difference.value(),
            margin: protocol.test.margin,
            alpha: Alpha::new(protocol.test.alpha.value())?,
            target: protocol.power.target_per_endpoint.value(),
            n: Some(protocol.suites.tools.tool_tasks),
            cluster_size: f64::from(protocol.suites.tools.tasks_per_frame),
            rho: protocol.power.rho_frame.value(),
        })
    }

    /// Those of a protocol's result suite: one item per frame, one endpoint.
    ///
    /// # Errors
    /// A level that is none.
    pub fn of_results(protocol: &Protocol) -> Result<Self, StatsError> {
        Ok(Self {
            discordance: protocol.power.results_discordance.value(),
            target: protocol.power.results_target.value(),
            n: Some(protocol.suites.results.tasks),
            cluster_size: 1.0,
            rho: 0.0,
            ..Self::of(protocol)?
        })
    }
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What it assumes.
    pub assumptions: Assumptions,
    /// Planning design effect.
    pub deff: f64,
    /// Sizes that reach the target; none where the assumed difference lies at or below −δ.
    pub sizes: Option<Sizes>,
    /// What the given number of tasks is worth.
    pub at_n: Option<Worth>,
}

/// Numbers of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    /// By exact power, for independent tasks.
    pub independent: u64,
    /// Exact power there.
    pub power: f64,
    /// Nam's formula (1997, Biometrics 53:1422).
    pub nam: f64,
    /// Wald's formula, far too small where ψ ≤ δ.
    pub wald: f64,
    /// `independent` times the design effect.
    pub nested: u64,
}

/// What a number of tasks is worth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// Tasks.
    pub n: u64,
    /// Tasks over the design effect: as many independent ones are worth the same.
    pub effective: u64,
    /// Exact power at the effective size.
    pub power: f64,
    /// Both endpoints hold at least this often, whatever their correlation: `1 − 2·(1 − power)`.
    pub joint_at_least: f64,
    /// Exact chance of showing damage under the assumptions.
    pub damage: f64,
    /// Exact size of the score test at n, over discordances up to a half.
    pub sup_size: f64,
    /// Largest ψ at which the target is reached; none where none.
    pub largest_discordance: Option<f64>,
    /// Largest true loss that is still certified with the target's power.
    pub largest_tolerated_loss: Option<f64>,
    /// Smallest true loss that is shown as damage with the target's power.
    pub minimum_detectable_loss: Option<f64>,
}

/// Plans.
///
/// # Errors
/// Assumptions that contradict each other, no power, no task.
pub fn plan(assumptions: &Assumptions) -> Result<Plan, StatsError> {
    let a = *assumptions;
    for (name, found) in [("rho", a.rho), ("target", a.target)] {
        if !(0.0..=1.0).contains(&found) {
            return Err(StatsError::Probability { name, found });
        }
    }
    let truth = Truth::new(a.discordance, a.difference)?;
    let deff = planning_deff(a.cluster_size.max(1.0), 0.0, a.rho);
    let sizes = match sample_size(truth, a.margin, a.alpha, a.target) {
        Ok(size) => Some(Sizes {
            independent: size.exact,
            power: size.power_at_exact,
            nam: size.nam,
            wald: size.wald,
            nested: inflated(size.exact, deff),
        }),
        Err(StatsError::NoSampleSize { .. }) => None,
        Err(error) => return Err(error),
    };
    let at_n = a.n.map(|n| worth(&a, truth, deff, n)).transpose()?;
    Ok(Plan { assumptions: a, deff, sizes, at_n })
}

fn worth(a: &Assumptions, truth: Truth, deff: f64, n: u64) -> Result<Worth, StatsError> {
    let effective = effective(n, deff)?;
    let power = exact_power(effective, truth, a.margin, a.alpha);
    Ok(Worth {
        n,
        effective,
        power,
        joint_at_least: (1.0 - 2.0 * (1.0 - power)).max(0.0),
        damage: damage_power(effective, truth, a.margin, a.alpha),
        sup_size: sup_size(n, a.margin, a.alpha, 0.5).p,
        largest_discordance: largest_discordance(effective, a.difference, a.margin, a.alpha, a.target)?,
        largest_tolerated_loss: largest_tolerated_loss(effective, a.discordance, a.margin, a.alpha, a.target)?,
        minimum_detectable_loss: minimum_detectable_loss(effective, a.discordance, a.margin, a.alpha, a.target)?,
    })
}

/// Whether the sizes of a protocol miss a target of its power: that of either suite's endpoints, under its own assumptions.
///
/// # Errors
/// As [`plan`].
pub fn underpowered(protocol: &Protocol) -> Result<bool, StatsError> {
    let misses = |a: Assumptions| -> Result<bool, StatsError> {
        let (n, truth) = (a.n.unwrap_or(0), Truth::new(a.discordance, a.difference)?);
        let effective = effective(n, planning_deff(a.cluster_size.max(1.0), 0.0, a.rho))?;
        Ok(exact_power(effective, truth, a.margin, a.alpha) < a.target)
    };
    Ok(misses(Assumptions::of(protocol)?)? || misses(Assumptions::of_results(protocol)?)?)
}

/// As many independent tasks are worth as much as `n` nested ones.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of tasks, at least 1")]
fn effective(n: u64, deff: f64) -> Result<u64, StatsError> {
    if n == 0 {
        return Err(StatsError::NoTasks);
    }
    if n > MAX_PLANNED {
        return Err(StatsError::PlanTooLarge { needed: n, limit: MAX_PLANNED });
    }
    Ok((n as f64 / deff).floor().max(1.0) as u64)
}

/// One curve: exact power by number of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// ψ.
    pub discordance: f64,
    /// Δ.
    pub difference: f64,
    /// Number of tasks and power there.
    pub points: Vec<(u64, f64)>,
}

/// Curves over `sizes` for some truths, with the assumptions' margin, level and design effect. Truths that contradict
/// themselves are left out.
///
/// # Errors
/// No task.
pub fn curves(assumptions: &Assumptions, truths: &[(f64, f64)], sizes: &[u64]) -> Result<Vec<Curve>, StatsError> {
    let deff = planning_deff(assumptions.cluster_size.max(1.0), 0.0, assumptions.rho);
    let mut curves = Vec::new();
    for &(discordance, difference) in truths {
        let Ok(truth) = Truth::new(discordance, difference) else { continue };
        let points = sizes
            .iter()
            .map(|&n| Ok((n, exact_power(effective(n, deff)?, truth, assumptions.margin, assumptions.alpha))))
            .collect::<Result<Vec<_>, StatsError>>()?;
        curves.push(Curve { discordance, difference, points });
    }
    Ok(curves)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assumptions(discordance: f64, target: f64, cluster_size: f64, rho: f64) -> Assumptions {
        Assumptions {
            discordance,
            difference: 0.0,
            margin: "0.02".parse().unwrap(),
            alpha: Alpha::new(0.05).unwrap(),
            target,
            n: None,
            cluster_size,
            rho,
        }
    }

    #[test]
    fn the_planning_decision_is_reproduced() {
        // Decision D9: 1,409 independent tasks, 1,832 with two tasks per frame; one per frame needs no more.
        let two = plan(&assumptions(0.05, 0.95, 2.0, 0.3)).unwrap();
        let sizes = two.sizes.unwrap();
        assert_eq!((sizes.independent, sizes.nested), (1_409, 1_832));
        assert!((two.deff - 1.3).abs() < 1e-12);
        assert_eq!(plan(&assumptions(0.05, 0.95, 1.0, 0.3)).unwrap().sizes.unwrap().nested, 1_409);
        // R: ψ = 0.02 at power 0.90.
        assert_eq!(plan(&assumptions(0.02, 0.90, 1.0, 0.0)).unwrap().sizes.unwrap().independent, 530);
    }

    #[test]
    fn the_planned_suite_reaches_its_target_and_the_shorter_one_does_not() {
        let at = |n, cluster_size| {
            let mut assumed = assumptions(0.05, 0.95, cluster_size, 0.3);
            assumed.n = Some(n);
            plan(&assumed).unwrap().at_n.unwrap()
        };
        let (planned, shorter) = (at(1_872, 2.0), at(1_404, 3.0));
        assert!(planned.power >= 0.95 && planned.joint_at_least >= 0.90, "{planned:?}");
        assert!(shorter.power < 0.90, "{shorter:?}");
        assert!(planned.largest_discordance.unwrap() > 0.05 && shorter.largest_discordance.unwrap() < 0.05);
    }

    #[test]
    fn more_tasks_than_a_plan_is_computed_for_are_refused() {
        let mut assumed = assumptions(0.05, 0.95, 1.0, 0.0);
        assumed.n = Some(1_000_000_000);
        assert!(matches!(plan(&assumed), Err(StatsError::PlanTooLarge { needed: 1_000_000_000, .. })));
    }

    #[test]
    fn a_protocol_is_underpowered_where_either_suite_misses_its_target() {
        let sized = |frames: u32, tasks: u32, results: u64| {
            let mut protocol = Protocol::built_in().unwrap();
            let suite = &mut protocol.suites.tools;
            (suite.frames_per_tool, suite.tasks_per_frame) = (frames, tasks);
            suite.tool_tasks = 78 * u64::from(frames * tasks);
            protocol.suites.results.tasks = results;
            underpowered(&protocol).unwrap()
        };
        assert!(!sized(12, 2, 630));
        assert!(sized(6, 3, 630) && sized(12, 2, 300));
    }

    #[test]
    fn a_loss_at_the_margin_has_no_sample_size() {
        let mut lost = assumptions(0.05, 0.95, 1.0, 0.0);
        lost.difference = -0.02;
        lost.n = Some(1_000);
        let plan = plan(&lost).unwrap();
        assert!(plan.sizes.is_none() && plan.at_n.unwrap().power <= 0.0505);
    }

    #[test]
    fn power_grows_along_a_curve_but_for_the_saw_tooth() {
        let curves =
            curves(&assumptions(0.05, 0.95, 1.0, 0.0), &[(0.05, 0.0), (0.01, -0.02)], &[200, 800, 2_000]).unwrap();
        assert_eq!(curves.len(), 1, "a difference larger than the discordance is no truth");
        assert!(curves[0].points.windows(2).all(|pair| pair[0].1 < pair[1].1));
    }
}
