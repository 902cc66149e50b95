//! The gates of one endpoint: G1 to G3 certify together, S1 adds the stronger label *tool-robust*.
//!
//! Every p is compared with alpha under the declared dead band, which never certifies (see [`Alpha::certifies`]). The
//! decision is p against alpha; that the score interval agrees is asserted, not used.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bootstrap::bootstrap_p;
use super::clusters::{ClusterTest, cluster_test, pooled};
use super::error::StatsError;
use super::exact::{ExactCache, SEARCH_ALLOWANCE};
use super::level::{Alpha, DEAD_BAND};
use super::margin::Margin;
use super::score::{score_interval, score_test};
use super::table::{PairedCounts, PairedTable};

/// The gates that certify together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Gate {
    /// Score test with the exact guard.
    G1,
    /// Exact bootstrap.
    G2,
    /// Score test deflated by frames.
    G3,
}

impl Gate {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::G1, Self::G2, Self::G3];
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::G1 => "G1 (score test and exact guard)",
            Self::G2 => "G2 (exact bootstrap)",
            Self::G3 => "G3 (frames as clusters)",
        })
    }
}

/// What the protocol fixes about the gates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRule {
    /// Non-inferiority margin δ.
    pub margin: Margin,
    /// One-sided level of every gate.
    pub alpha: Alpha,
    /// Floor under the design effect of frames (G3), normally 1.
    pub frame_floor: f64,
    /// Floor under the design effect of tools (S1), normally 1.5.
    pub tool_floor: f64,
}

/// G1: the score test and the exact guard, the larger of `p_tango` and `p_exact + 1e-6`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScoreGate {
    /// Score statistic T(−δ).
    pub t: f64,
    /// Its p.
    pub p_tango: f64,
    /// Exact unconditional p, without the allowance.
    pub p_exact: f64,
    /// What is compared with alpha. Never 0, also where no pair is discordant.
    pub p: f64,
    /// Whether the gate passes.
    pub pass: bool,
}

/// G2: the exact multinomial bootstrap. Its p is 0 where no pair is discordant; G1 is what guards that case.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BootstrapGate {
    /// P*(Δ* ≤ −δ).
    pub p: f64,
    /// Whether the gate passes.
    pub pass: bool,
}

/// G3 and S1: the score test deflated by a design effect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClusterGate {
    /// Statistic, clusters, design effects and p.
    pub test: ClusterTest,
    /// Whether the gate passes.
    pub pass: bool,
}

/// All gates of one endpoint of one arm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gates {
    /// Score test and exact guard.
    pub g1: ScoreGate,
    /// Exact bootstrap.
    pub g2: BootstrapGate,
    /// Clusters are frames.
    pub g3: ClusterGate,
    /// Clusters are tools; none where the claim has no tool-robust label, or all tasks are of one tool: a variance between
    /// tools needs two of them.
    pub s1: Option<ClusterGate>,
}

impl Gates {
    /// Evaluates all gates on a table, its frames, and its tools if the claim can be tool-robust.
    ///
    /// # Errors
    /// Frames or tools that don't add up to the table, fewer than two frames, or a floor below 1.
    pub fn evaluate(
        rule: GateRule,
        table: PairedTable,
        frames: &[PairedCounts],
        tools: Option<&[PairedCounts]>,
        exact: &ExactCache,
    ) -> Result<Self, StatsError> {
        let counts = table.counts();
        let clusters = |level, clusters: &[PairedCounts], floor| {
            check_partition(level, clusters, counts)?;
            let test = cluster_test(clusters, rule.margin, floor)?;
            Ok(ClusterGate { test, pass: rule.alpha.certifies(test.p) })
        };
        let s1 = match tools {
            Some(one) if one.len() < 2 => {
                check_partition("tools", one, counts)?;
                None
            }
            Some(tools) => Some(clusters("tools", tools, rule.tool_floor)?),
            None => None,
        };
        let p_boot = bootstrap_p(counts, rule.margin);
        Ok(Self {
            g1: score_gate(rule, counts, exact),
            g2: BootstrapGate { p: p_boot, pass: rule.alpha.certifies(p_boot) },
            g3: clusters("frames", frames, rule.frame_floor)?,
            s1,
        })
    }

    /// Every gate that certifies, its p, and whether it passes. The one place that says which they are: a gate that is
    /// added does not compile until it stands here, or is left out by name.
    pub fn each(&self) -> [(Gate, f64, bool); Gate::ALL.len()] {
        let Self { g1, g2, g3, s1: _label } = self;
        [(Gate::G1, g1.p, g1.pass), (Gate::G2, g2.p, g2.pass), (Gate::G3, g3.test.p, g3.pass)]
    }

    /// G1, G2 and G3 pass.
    pub fn pass(&self) -> bool {
        self.each().into_iter().all(|(_, _, pass)| pass)
    }

    /// The gates that do not pass.
    pub fn failing(&self) -> impl Iterator<Item = Gate> + use<> {
        self.each().into_iter().filter_map(|(gate, _, pass)| (!pass).then_some(gate))
    }

    /// S1 passes on top of them.
    pub fn tool_robust(&self) -> bool {
        self.pass() && self.s1.is_some_and(|s1| s1.pass)
    }

    /// The largest p of G1 to G3: the p-value of this endpoint's claim, for multiplicity.
    pub fn p(&self) -> f64 {
        self.each().into_iter().map(|(_, p, _)| p).fold(0.0, f64::max)
    }
}

/// What G1 compares with alpha: the larger of the score test's p and the exact guard's, to which the allowance for its
/// finite search is added.
pub fn g1_p(p_tango: f64, p_exact: f64) -> f64 {
    p_tango.max(p_exact + SEARCH_ALLOWANCE)
}

fn score_gate(rule: GateRule, counts: PairedCounts, exact: &ExactCache) -> ScoreGate {
    let score = score_test(counts, rule.margin);
    let p_exact = exact.p(counts, rule.margin);
    let p = g1_p(score.p_lower, p_exact);
    debug_assert!(
        (score.p_lower - rule.alpha.value()).abs() < DEAD_BAND
            || (score.p_lower < rule.alpha.value())
                == (score_interval(counts, rule.alpha).lower > -rule.margin.value()),
        "test and interval disagree on {counts:?}"
    );
    ScoreGate { t: score.t_lower, p_tango: score.p_lower, p_exact, p, pass: rule.alpha.certifies(p) }
}

fn check_partition(level: &'static str, clusters: &[PairedCounts], table: PairedCounts) -> Result<(), StatsError> {
    let sum = pooled(clusters)?;
    if sum == table {
        return Ok(());
    }
    Err(StatsError::ClusterMismatch {
        level,
        n: sum.n(),
        gain: sum.gain(),
        loss: sum.loss(),
        table_n: table.n(),
        table_gain: table.gain(),
        table_loss: table.loss(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Gate, GateRule, Gates};
    use crate::stats::{Alpha, ExactCache, PairedCounts, PairedTable, StatsError};

    fn rule() -> GateRule {
        GateRule {
            margin: "0.02".parse().unwrap(),
            alpha: Alpha::new(0.05).unwrap(),
            frame_floor: 1.0,
            tool_floor: 1.5,
        }
    }

    /// A table of `n` tasks in clusters of `size`, losses in the first places, gains in the last, both dealt one per cluster.
    fn dealt(n: u64, size: u64, loss: u64, gain: u64) -> Vec<PairedCounts> {
        let k = n / size;
        let share = |total: u64, i: u64| total / k + u64::from(i < total % k);
        (0..k).map(|i| PairedCounts::new(size, share(gain, k - 1 - i), share(loss, i)).unwrap()).collect()
    }

    fn gates(n: u64, loss: u64, gain: u64) -> Gates {
        let table = PairedTable::new(n - loss - gain, loss, gain, 0).unwrap();
        let (frames, tools) = (dealt(n, 2, loss, gain), dealt(n, 20, loss, gain));
        Gates::evaluate(rule(), table, &frames, Some(&tools), &ExactCache::new()).unwrap()
    }

    #[test]
    fn a_harmless_arm_passes_and_a_harmful_one_fails_every_gate() {
        let harmless = gates(1_000, 6, 8);
        assert!(harmless.pass() && harmless.tool_robust());
        let harmful = gates(1_000, 45, 5);
        assert!(!harmful.g1.pass && !harmful.g2.pass && !harmful.g3.pass && !harmful.tool_robust());
        assert!(harmful.p() > 0.99);
        assert_eq!((harmless.failing().count(), harmful.failing().collect::<Vec<_>>()), (0, Gate::ALL.to_vec()));
    }

    #[test]
    fn one_gate_that_does_not_pass_is_enough_and_is_named_and_the_largest_p_is_the_claims() {
        let harmless = gates(1_000, 6, 8);
        for gate in Gate::ALL {
            let mut all = harmless;
            let (p, pass) = match gate {
                Gate::G1 => (&mut all.g1.p, &mut all.g1.pass),
                Gate::G2 => (&mut all.g2.p, &mut all.g2.pass),
                Gate::G3 => (&mut all.g3.test.p, &mut all.g3.pass),
            };
            (*p, *pass) = (0.5, false);
            assert!(!all.pass() && !all.tool_robust() && (all.p() - 0.5).abs() < f64::EPSILON, "{gate}");
            assert_eq!(all.failing().collect::<Vec<_>>(), [gate]);
        }
    }

    #[test]
    fn silence_certifies_only_from_the_exact_floor_on_and_never_with_p_zero() {
        // At δ = 0.02 the score test passes from 133 tasks on, the exact guard from 149; here with even numbers of tasks.
        let silent = |n| gates(n, 0, 0);
        let score_only = silent(140);
        assert!(score_only.g1.p_tango < 0.05 && score_only.g1.p_exact > 0.05 && !score_only.g1.pass);
        assert!(score_only.g2.pass && score_only.g2.p == 0.0, "the bootstrap alone would certify");
        let certified = silent(160);
        assert!(certified.g1.pass && certified.g1.p > 0.01 && certified.p() > 0.01);
    }

    #[test]
    fn losses_in_one_frame_or_tool_cost_more_than_losses_spread_out() {
        let table = PairedTable::new(988, 12, 0, 0).unwrap();
        let spread = dealt(1_000, 20, 12, 0);
        let mut lumped = vec![PairedCounts::new(20, 0, 0).unwrap(); 49];
        lumped.push(PairedCounts::new(20, 0, 12).unwrap());
        let evaluate =
            |tools: &[PairedCounts]| Gates::evaluate(rule(), table, tools, Some(tools), &ExactCache::new()).unwrap();
        assert!(evaluate(&spread).pass() && !evaluate(&lumped).g3.pass);
        assert!(evaluate(&lumped).g1.pass, "independent tasks would not have noticed");
    }

    #[test]
    fn clusters_that_do_not_partition_the_table_are_refused() {
        let table = PairedTable::new(90, 5, 5, 0).unwrap();
        let frames = dealt(100, 2, 5, 4);
        let error = Gates::evaluate(rule(), table, &frames, None, &ExactCache::new()).unwrap_err();
        assert!(
            matches!(error, StatsError::ClusterMismatch { level: "frames", gain: 4, table_gain: 5, .. }),
            "{error}"
        );
        let one = [table.counts()];
        let error = Gates::evaluate(rule(), table, &one, None, &ExactCache::new()).unwrap_err();
        assert_eq!(error, StatsError::TooFewClusters { found: 1 });
    }

    #[test]
    fn tasks_of_one_tool_have_no_tool_robust_label_and_must_still_add_up() {
        let table = PairedTable::new(1_000, 0, 0, 0).unwrap();
        let evaluate = |tool: PairedCounts| {
            Gates::evaluate(rule(), table, &dealt(1_000, 1, 0, 0), Some(&[tool]), &ExactCache::new())
        };
        let gates = evaluate(table.counts()).unwrap();
        assert!(gates.pass() && !gates.tool_robust() && gates.s1.is_none());
        let other = evaluate(PairedCounts::new(999, 0, 0).unwrap()).unwrap_err();
        assert!(matches!(other, StatsError::ClusterMismatch { level: "tools", n: 999, .. }), "{other}");
    }

    #[test]
    fn without_tools_there_is_no_tool_robust_label() {
        let table = PairedTable::new(1_000, 0, 0, 0).unwrap();
        let gates = Gates::evaluate(rule(), table, &dealt(1_000, 1, 0, 0), None, &ExactCache::new()).unwrap();
        assert!(gates.pass() && !gates.tool_robust() && gates.s1.is_none());
    }
}
