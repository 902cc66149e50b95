//! The label *tool-robust* on top of a certificate: does the claim extend from other requests to other tools?
//!
//! Three conditions on every endpoint: S1 passes (tools as clusters); the gates pass on the tasks whose gold tool the arm
//! shows differently, since a large share of untouched tasks dilutes any loss; and gross losses, net of those that the
//! second raw pass was seen to have, stay within the margin, since gains elsewhere would hide them.

use super::{ArmInput, Imputation, Mark, Reason, Rule, VerdictError, evidence, input::EndpointInput};
use crate::stats::{ExactCache, Gates};

/// The gates on the affected tasks of one endpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Affected {
    /// The arm shows no task's tool differently: nothing to test.
    None,
    /// Fewer than two frames are affected: no gate is defined.
    TooFew {
        /// Affected tasks.
        tasks: u64,
    },
    /// Tested.
    Tested {
        /// Affected tasks.
        tasks: u64,
        /// Their gates.
        gates: Gates,
    },
}

impl Affected {
    /// Whether the condition holds.
    pub fn holds(&self) -> bool {
        match self {
            Self::None => true,
            Self::TooFew { .. } => false,
            Self::Tested { gates, .. } => gates.pass(),
        }
    }

    /// Affected tasks.
    pub fn tasks(&self) -> u64 {
        match *self {
            Self::None => 0,
            Self::TooFew { tasks } | Self::Tested { tasks, .. } => tasks,
        }
    }
}

/// The three conditions on one endpoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EndpointRobustness {
    /// S1 passes; false where there are fewer than two tools.
    pub tool_clusters: bool,
    /// The gates on affected tasks.
    pub affected: Affected,
    /// Losses of the arm, missing outcomes in the worst case, and of the second pass, observed ones alone.
    pub losses: (u64, u64),
    /// Net gross losses stay within the margin.
    pub losses_within_margin: bool,
}

impl EndpointRobustness {
    /// All three conditions hold.
    pub fn holds(&self) -> bool {
        self.tool_clusters && self.affected.holds() && self.losses_within_margin
    }
}

/// The gates on the affected tasks.
pub(crate) fn affected(rule: &Rule, input: &EndpointInput, exact: &ExactCache) -> Affected {
    let tasks = super::input::sum(&input.affected_frames).n();
    if tasks == 0 {
        return Affected::None;
    }
    match evidence::gates(rule, &input.affected_frames, None, Imputation::WorstCase, exact) {
        Ok(gates) => Affected::Tested { tasks, gates },
        Err(_) => Affected::TooFew { tasks },
    }
}

/// The conditions on one endpoint, and the reasons where they do not hold.
pub(crate) fn robustness(
    rule: &Rule,
    seen: &evidence::EndpointEvidence,
    arm: &ArmInput,
    again: Option<&ArmInput>,
    exact: &ExactCache,
) -> Result<(EndpointRobustness, Vec<Reason>), VerdictError> {
    let endpoint = seen.endpoint;
    let input = arm.endpoint(endpoint)?;
    let affected = affected(rule, input, exact);
    let (loss, n) = (seen.table.loss(), seen.table.n());
    // Without a second pass nothing is netted out; the assay has no verdict then anyway.
    let (noise_loss, noise_n) = match again {
        Some(again) => {
            // What excuses losses must have been seen: an outcome that the second pass lacks excuses none.
            let cells = again.endpoint(endpoint)?.total();
            (cells.of(Mark::Right, Mark::Wrong), cells.n().max(1))
        }
        None => (0, 1),
    };
    // loss/n − noise/noise_n ≤ num/den, cross-multiplied: counts stay at 10⁶ and below, the products below 10²¹.
    let net = i128::from(loss) * i128::from(noise_n) - i128::from(noise_loss) * i128::from(n);
    let bound = i128::from(rule.margin().num()) * i128::from(n) * i128::from(noise_n);
    let within = net * i128::from(rule.margin().den()) <= bound;
    let tool_clusters = seen.gates.s1.is_some_and(|s1| s1.pass);

    let mut reasons = Vec::new();
    match seen.gates.s1 {
        Some(s1) if s1.pass => {}
        Some(_) => reasons.push(Reason::ToolClusters { endpoint }),
        None => reasons.push(Reason::TooFewTools { endpoint, tools: input.tools.len() as u64 }),
    }
    if !affected.holds() {
        reasons.push(Reason::AffectedTasks { endpoint, tasks: affected.tasks() });
    }
    if !within {
        reasons.push(Reason::GainsHideLosses { endpoint, loss, noise_loss });
    }
    let robustness =
        EndpointRobustness { tool_clusters, affected, losses: (loss, noise_loss), losses_within_margin: within };
    Ok((robustness, reasons))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{
        Endpoint,
        fixture::{arm, cells, cluster, endpoint, rule},
    };

    fn check(level: &EndpointInput, again: &EndpointInput) -> (EndpointRobustness, Vec<Reason>) {
        let (rule, exact) = (rule(), ExactCache::new());
        let arm_input = arm("L2", level);
        let seen =
            evidence::weigh(&rule, &arm_input.arm, Endpoint::Arguments, level, Imputation::WorstCase, true, &exact)
                .unwrap();
        robustness(&rule, &seen, &arm_input, Some(&arm("raw-again", again)), &exact).unwrap()
    }

    #[test]
    fn losses_within_the_margin_beyond_those_of_noise_hold_and_one_more_does_not() {
        // 1,000 tasks, margin 20: 30 losses by noise allow 50.
        let noise = endpoint(1_000, 20, cells(970, 30, 0, 0));
        let (holds, _) = check(&endpoint(1_000, 20, cells(850, 50, 100, 0)), &noise);
        assert!(holds.losses_within_margin);
        let (too_many, reasons) = check(&endpoint(1_000, 20, cells(849, 51, 100, 0)), &noise);
        assert!(!too_many.losses_within_margin);
        assert!(reasons.contains(&Reason::GainsHideLosses { endpoint: Endpoint::Arguments, loss: 51, noise_loss: 30 }));
    }

    #[test]
    fn outcomes_that_the_second_pass_lacks_excuse_no_loss() {
        let mut lacking = cells(970, 10, 0, 0);
        lacking.count_many(Mark::Right, Mark::Missing, 10);
        lacking.count_many(Mark::Missing, Mark::Missing, 10);
        let noise = endpoint(1_000, 20, lacking);
        let (holds, _) = check(&endpoint(1_000, 20, cells(870, 30, 100, 0)), &noise);
        assert!(holds.losses_within_margin && holds.losses == (30, 10));
        assert!(!check(&endpoint(1_000, 20, cells(869, 31, 100, 0)), &noise).0.losses_within_margin);
    }

    #[test]
    fn a_single_tool_takes_the_label_with_a_reason_of_its_own() {
        let level = endpoint(1_000, 1, cells(1_000, 0, 0, 0));
        let (robust, reasons) = check(&level, &endpoint(1_000, 1, cells(1_000, 0, 0, 0)));
        assert!(!robust.holds());
        assert_eq!(reasons, [Reason::TooFewTools { endpoint: Endpoint::Arguments, tools: 1 }]);
    }

    #[test]
    fn an_arm_that_shows_every_tool_like_the_reference_has_nothing_affected() {
        let mut level = endpoint(1_000, 20, cells(1_000, 0, 0, 0));
        level.affected_frames.clear();
        let (robust, reasons) = check(&level, &endpoint(1_000, 20, cells(1_000, 0, 0, 0)));
        assert_eq!(robust.affected, Affected::None);
        assert!(robust.holds(), "{reasons:?}");
    }

    #[test]
    fn affected_tasks_that_lose_take_the_label_although_the_whole_passes() {
        let mut level = endpoint(1_900, 20, cells(1_894, 6, 0, 0));
        level.affected_frames = (0..10).map(|i| cluster(&format!("f{i}"), cells(9, u64::from(i < 6), 0, 0))).collect();
        let (robust, reasons) = check(&level, &endpoint(1_900, 20, cells(1_900, 0, 0, 0)));
        assert!(!robust.affected.holds() && robust.losses_within_margin);
        assert!(matches!(reasons.as_slice(), [Reason::AffectedTasks { tasks: 96, .. }]), "{reasons:?}");
    }

    #[test]
    fn a_single_affected_frame_is_too_few_to_hold() {
        let mut level = endpoint(1_900, 20, cells(1_900, 0, 0, 0));
        level.affected_frames = vec![cluster("f", cells(500, 0, 0, 0))];
        assert_eq!(
            check(&level, &endpoint(1_900, 20, cells(1_900, 0, 0, 0))).0.affected,
            Affected::TooFew { tasks: 500 }
        );
    }
}
