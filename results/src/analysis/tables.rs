//! From bytes to tables: pairs by frame, tool, server and stratum, and the input of the verdict rule.

use std::{collections::BTreeMap, sync::Arc};

use bench_protocol::{
    rng::{stream, stream_id},
    stats::{
        Margin,
        cluster_bootstrap::{ClusterBootstrap, cluster_bootstrap},
    },
    verdict::{
        ArmInput, Cluster, Endpoint, EndpointInput, FamilyInput, FamilyKind, Imputation, Mark, PairCells,
        ReferenceInput,
    },
};

use super::{
    Accumulator, AnalysisError, Drift, Effort, Flow, PairedCost, Reporting, Role, cost::paired_cost, noise::drift,
    task_table::Key,
};

/// How often an arm was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    /// Right answers; a missing outcome is none.
    pub right: u64,
    /// Tasks, missing ones included.
    pub tasks: u64,
}

/// The pairs of an arm split by whether their tool is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PinnedSplit {
    /// Tools shown in full from the start.
    pub pinned: PairCells,
    /// The others.
    pub others: PairCells,
}

/// Sizes of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskCounts {
    /// Tasks in n.
    pub scored: u64,
    /// Abstain tasks, on top.
    pub abstain: u64,
    /// Frames of the tasks in n.
    pub frames: u64,
    /// Their tools.
    pub tools: u64,
}

/// Everything about one arm.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmAnalysis {
    /// The arm.
    pub arm: Arc<str>,
    /// What it is there for.
    pub role: Role,
    /// What it is compared with; none for the reference.
    pub baseline: Option<Arc<str>>,
    /// Its flow.
    pub flow: Flow,
    /// Its effort.
    pub effort: Effort,
    /// Rates over the tasks in n, by endpoint.
    pub rates: BTreeMap<Endpoint, Rate>,
    /// Rate over abstain tasks; none where there are none.
    pub abstain_rate: Option<Rate>,
    /// Pairs by endpoint; empty for the reference.
    pub pairs: BTreeMap<Endpoint, EndpointInput>,
    /// Pairs of abstain tasks.
    pub abstain: Option<PairCells>,
    /// Pairs by server, on the last primary endpoint.
    pub servers: Vec<Cluster>,
    /// Pairs by stratum, on the last primary endpoint.
    pub strata: Vec<Cluster>,
    /// Pairs by pinned and other tools, on the last primary endpoint; none where the arm pins nothing.
    pub pinned: Option<PinnedSplit>,
    /// The bootstrap over tools, by endpoint; levels only. Reported, not gating.
    pub cluster_bootstrap: BTreeMap<Endpoint, ClusterBootstrap>,
    /// Cost over that of the baseline.
    pub cost: Option<PairedCost>,
    /// Trend of the arm's accuracy over the run, on the last primary endpoint; the reference's alone, none where its
    /// frames cannot show one.
    pub drift: Option<Drift>,
}

/// A family, counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// Which family.
    pub kind: FamilyKind,
    /// Sizes.
    pub tasks: TaskCounts,
    /// Its arms, in the order of the specification.
    pub arms: Vec<ArmAnalysis>,
    /// What the verdict rule is given.
    pub input: FamilyInput,
}

/// Endpoints that are counted in a family.
fn counted(kind: FamilyKind) -> &'static [Endpoint] {
    match kind {
        FamilyKind::Levels | FamilyKind::Products => {
            &[Endpoint::Selection, Endpoint::Arguments, Endpoint::FirstCall, Endpoint::LookFirst]
        }
        FamilyKind::Results => &[Endpoint::Answer],
    }
}

/// The endpoint that losses are broken down on: the stricter co-primary.
pub(crate) fn strictest(kind: FamilyKind) -> Endpoint {
    if kind.has_tools() { Endpoint::Arguments } else { Endpoint::Answer }
}

impl Accumulator {
    /// Ends the pass. May be called on a part of a run: what was not attempted is counted as such.
    ///
    /// # Errors
    /// Counts that the reported bootstrap refuses.
    pub fn finish(&self, margin: Margin, reporting: &Reporting) -> Result<Analysis, AnalysisError> {
        let arms =
            (0..self.spec.arms.len()).map(|arm| self.arm(arm, margin, reporting)).collect::<Result<Vec<_>, _>>()?;
        let mut tasks = TaskCounts::default();
        let mut frames = vec![false; self.tasks.frames.names.len()];
        for task in 0..self.tasks.len() {
            if self.tasks.abstains(task) {
                tasks.abstain += 1;
            } else {
                tasks.scored += 1;
                if let Some(frame) = self.tasks.frames.of(task) {
                    frames[frame] = true;
                }
            }
        }
        tasks.frames = frames.into_iter().filter(|&used| used).count() as u64;
        tasks.tools = self.tasks.tools.names.len() as u64;
        let input = self.family_input(&arms);
        Ok(Analysis { kind: self.spec.kind, tasks, arms, input })
    }

    fn arm(&self, arm: usize, margin: Margin, reporting: &Reporting) -> Result<ArmAnalysis, AnalysisError> {
        let spec = &self.spec.arms[arm];
        let baseline = self.baselines[arm];
        let mut analysis = ArmAnalysis {
            arm: Arc::clone(&spec.id),
            role: spec.role,
            baseline: spec.baseline.clone(),
            flow: self.flow(arm),
            effort: self.effort[arm].clone(),
            rates: counted(self.spec.kind).iter().map(|&endpoint| (endpoint, self.rate(arm, endpoint))).collect(),
            abstain_rate: self.abstain_rate(arm),
            pairs: BTreeMap::new(),
            abstain: None,
            servers: Vec::new(),
            strata: Vec::new(),
            pinned: None,
            cluster_bootstrap: BTreeMap::new(),
            cost: None,
            drift: None,
        };
        if spec.role == Role::Reference {
            analysis.drift = self.drift(arm);
        }
        let Some(baseline) = baseline else { return Ok(analysis) };
        for &endpoint in counted(self.spec.kind) {
            analysis.pairs.insert(endpoint, self.pairs(baseline, arm, endpoint));
        }
        let strict = strictest(self.spec.kind);
        analysis.servers = self.clusters(&self.tasks.servers, baseline, arm, strict, |_| true);
        analysis.strata = self.clusters(&self.tasks.strata, baseline, arm, strict, |_| true);
        analysis.pinned = self.pinned_split(baseline, arm, strict);
        analysis.abstain = self.abstain_pairs(baseline, arm);
        analysis.cost = paired_cost(&spec.id, &self.cost[baseline], &self.cost[arm], reporting);
        if spec.role == Role::Level && self.spec.kind.has_tools() {
            for &endpoint in self.spec.kind.endpoints() {
                if let Some(seen) = Self::bootstrap(&analysis, endpoint, margin, reporting)? {
                    analysis.cluster_bootstrap.insert(endpoint, seen);
                }
            }
        }
        Ok(analysis)
    }

    fn bootstrap(
        analysis: &ArmAnalysis,
        endpoint: Endpoint,
        margin: Margin,
        reporting: &Reporting,
    ) -> Result<Option<ClusterBootstrap>, AnalysisError> {
        let Some(pairs) = analysis.pairs.get(&endpoint) else { return Ok(None) };
        let tools: Vec<_> = pairs.tools.iter().filter_map(|tool| tool.cells.counts(Imputation::WorstCase)).collect();
        if tools.len() < 2 {
            return Ok(None);
        }
        let mut rng = stream(reporting.seed, stream_id(&format!("{}/{endpoint}/cluster-bootstrap", analysis.arm)));
        cluster_bootstrap(&tools, margin, reporting.alpha, reporting.resamples, &mut rng)
            .map(Some)
            .map_err(|source| AnalysisError::Counts { arm: Arc::clone(&analysis.arm), source })
    }

    fn drift(&self, arm: usize) -> Option<Drift> {
        let strict = strictest(self.spec.kind);
        drift((0..self.tasks.len()).filter(|&task| !self.tasks.abstains(task)).filter_map(|task| {
            Some((self.tasks.frames.of(task)?, self.tasks.index[task], self.outcomes[arm][task].mark(strict)?))
        }))
    }

    fn flow(&self, arm: usize) -> Flow {
        let mut flow = Flow::default();
        for (task, outcome) in self.outcomes[arm].iter().enumerate() {
            flow.planned += u64::from(self.planned(arm, task));
            flow.attempted += u64::from(outcome.attempted());
            flow.missing += u64::from(outcome.missing());
        }
        flow.scored = flow.attempted - flow.missing;
        flow
    }

    fn rate(&self, arm: usize, endpoint: Endpoint) -> Rate {
        self.rate_where(arm, endpoint, |task| !self.tasks.abstains(task))
    }

    fn abstain_rate(&self, arm: usize) -> Option<Rate> {
        let rate = self.rate_where(arm, Endpoint::Selection, |task| self.tasks.abstains(task));
        (rate.tasks > 0).then_some(rate)
    }

    fn rate_where(&self, arm: usize, endpoint: Endpoint, keep: impl Fn(usize) -> bool) -> Rate {
        let mut rate = Rate::default();
        for (task, outcome) in self.outcomes[arm].iter().enumerate().filter(|(task, _)| keep(*task)) {
            let Some(mark) = outcome.mark(endpoint) else { continue };
            debug_assert!(self.planned(arm, task));
            rate.tasks += 1;
            rate.right += u64::from(mark == Mark::Right);
        }
        rate
    }

    /// The marks of a task's pair; none where one side was never attempted.
    fn pair(&self, baseline: usize, arm: usize, task: usize, endpoint: Endpoint) -> Option<(Mark, Mark)> {
        Some((self.outcomes[baseline][task].mark(endpoint)?, self.outcomes[arm][task].mark(endpoint)?))
    }

    fn pairs(&self, baseline: usize, arm: usize, endpoint: Endpoint) -> EndpointInput {
        EndpointInput {
            frames: self.clusters(&self.tasks.frames, baseline, arm, endpoint, |_| true),
            tools: self.clusters(&self.tasks.tools, baseline, arm, endpoint, |_| true),
            affected_frames: self
                .clusters(&self.tasks.frames, baseline, arm, endpoint, |task| self.tasks.affected(task, arm)),
        }
    }

    /// Pairs of the tasks in n by a key, in name order; groups without a pair are left out.
    fn clusters(
        &self,
        key: &Key,
        baseline: usize,
        arm: usize,
        endpoint: Endpoint,
        keep: impl Fn(usize) -> bool,
    ) -> Vec<Cluster> {
        let mut cells = vec![PairCells::default(); key.names.len()];
        for task in (0..self.tasks.len()).filter(|&task| !self.tasks.abstains(task) && keep(task)) {
            if let (Some(group), Some((reference, own))) = (key.of(task), self.pair(baseline, arm, task, endpoint)) {
                cells[group].count(reference, own);
            }
        }
        key.names
            .iter()
            .zip(cells)
            .filter(|(_, cells)| cells.n() > 0)
            .map(|(name, cells)| Cluster { name: Arc::clone(name), cells })
            .collect()
    }

    fn pinned_split(&self, baseline: usize, arm: usize, endpoint: Endpoint) -> Option<PinnedSplit> {
        let pinned = self.spec.arms[arm].pinned.as_ref()?;
        let mut split = PinnedSplit::default();
        for tool in self.clusters(&self.tasks.tools, baseline, arm, endpoint, |_| true) {
            let side = if pinned.contains(&tool.name) { &mut split.pinned } else { &mut split.others };
            side.add(&tool.cells);
        }
        Some(split)
    }

    fn abstain_pairs(&self, baseline: usize, arm: usize) -> Option<PairCells> {
        let pairs: PairCells = (0..self.tasks.len())
            .filter(|&task| self.tasks.abstains(task))
            .filter_map(|task| self.pair(baseline, arm, task, Endpoint::Selection))
            .collect();
        (pairs.n() > 0).then_some(pairs)
    }

    /// Planned pairs of which one side was never attempted.
    fn unattempted(&self, baseline: usize, arm: usize) -> u64 {
        let open = |task: &usize| {
            self.planned(arm, *task)
                && !(self.outcomes[baseline][*task].attempted() && self.outcomes[arm][*task].attempted())
        };
        (0..self.tasks.len()).filter(open).count() as u64
    }

    fn family_input(&self, arms: &[ArmAnalysis]) -> FamilyInput {
        let of_role = |role: Role| {
            arms.iter().enumerate().filter(move |(_, arm)| arm.role == role).filter_map(|(place, arm)| {
                let spec = &self.spec.arms[place];
                Some(ArmInput {
                    arm: Arc::clone(&arm.arm),
                    endpoints: arm.pairs.clone(),
                    abstain: arm.abstain,
                    unattempted: self.unattempted(self.baselines[place]?, place),
                    refused: spec.refused.clone(),
                })
            })
        };
        let reference = self.spec.reference().map(|place| &arms[place]);
        FamilyInput {
            kind: self.spec.kind,
            reference: ReferenceInput {
                arm: reference.map_or_else(|| Arc::from(""), |arm| Arc::clone(&arm.arm)),
                right: reference
                    .map(|arm| arm.rates.iter().map(|(&endpoint, rate)| (endpoint, rate.right)).collect())
                    .unwrap_or_default(),
                tasks: reference.and_then(|arm| arm.rates.get(&strictest(self.spec.kind))).map_or(0, |rate| rate.tasks),
                unattempted: reference.map_or(0, |arm| arm.flow.unattempted()),
            },
            levels: of_role(Role::Level).collect(),
            again: of_role(Role::Again).next(),
            must_not_certify: of_role(Role::MustNotCertify).collect(),
            must_show_damage: of_role(Role::MustShowDamage).collect(),
            required_controls: self.spec.required_controls.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use bench_protocol::{
        spec::Protocol,
        stats::ExactCache,
        verdict::{Rule, Status, evaluate},
    };
    use proptest::prelude::*;

    use super::*;
    use crate::{
        analysis::fixture::{accumulator, episodes, margin, reporting},
        record::End,
    };

    fn analyse(n: u64, order: impl Fn(&mut Vec<crate::record::EpisodeRecord>)) -> Analysis {
        let mut all = accumulator(n);
        let mut list = episodes(n);
        order(&mut list);
        for episode in &list {
            all.push(episode).unwrap();
        }
        all.finish(margin(), &reporting()).unwrap()
    }

    #[test]
    fn abstain_tasks_are_in_no_endpoint_and_not_in_n() {
        let analysis = analyse(200, |_| ());
        let level = analysis.arms.iter().find(|arm| &*arm.arm == "L0").unwrap();
        assert_eq!((analysis.tasks.scored, analysis.tasks.abstain), (190, 10));
        assert!(level.pairs.values().all(|pairs| pairs.total().n() == 190));
        assert_eq!(level.abstain.unwrap().n(), 10);
        assert_eq!(level.strata.iter().map(|stratum| stratum.cells.n()).sum::<u64>(), 190);
    }

    #[test]
    fn frames_tools_servers_and_strata_partition_the_same_pairs() {
        let analysis = analyse(400, |_| ());
        for arm in analysis.arms.iter().filter(|arm| arm.baseline.is_some()) {
            let sum = |clusters: &[Cluster]| {
                let mut all = PairCells::default();
                for cluster in clusters {
                    all.add(&cluster.cells);
                }
                all
            };
            let strict = &arm.pairs[&Endpoint::Arguments];
            assert_eq!(sum(&strict.frames), sum(&strict.tools));
            assert_eq!(sum(&arm.servers), sum(&arm.strata));
            assert_eq!(sum(&arm.servers), strict.total());
        }
    }

    #[test]
    fn a_run_cut_short_counts_what_was_never_attempted() {
        let analysis = analyse(100, |list| {
            list.retain(|episode| &*episode.arm != "L1" || *episode.task.0 < *"t0000000000000032");
        });
        let level = analysis.input.levels.iter().find(|arm| &*arm.arm == "L1").unwrap();
        assert_eq!(level.unattempted, 50);
        assert_eq!(level.endpoints[&Endpoint::Selection].total().n() + level.abstain.unwrap().n(), 50);
    }

    #[test]
    fn missing_episodes_are_in_the_flow_and_stay_missing_in_the_pairs() {
        let analysis = analyse(100, |list| {
            let lost = list.iter_mut().find(|episode| &*episode.arm == "L0" && episode.task.0 == "t0000000000000003");
            lost.unwrap().end = End::Missing;
        });
        let level = analysis.arms.iter().find(|arm| &*arm.arm == "L0").unwrap();
        assert_eq!(
            (level.flow.planned, level.flow.attempted, level.flow.scored, level.flow.missing),
            (100, 100, 99, 1)
        );
        assert_eq!(level.pairs[&Endpoint::Arguments].total().arm_missing(), 1);
    }

    #[test]
    fn the_whole_way_from_episodes_to_a_verdict_certifies_harmless_levels() {
        let analysis = analyse(1_000, |_| ());
        let rule = Rule::of(&Protocol::built_in().unwrap()).unwrap();
        let verdict = evaluate(&rule, &analysis.input, &ExactCache::new()).unwrap();
        assert!(verdict.assay.sensitive(), "{:?}", verdict.assay.reasons);
        assert!(verdict.levels.iter().all(|level| level.status == Status::Certified), "{:#?}", verdict.levels);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn the_order_of_episodes_changes_nothing(seed in any::<u64>()) {
            let shuffled = analyse(60, |list| {
                let mut rng = stream([0; 32], seed);
                bench_protocol::rng::shuffle(&mut rng, list);
            });
            prop_assert_eq!(shuffled, analyse(60, |_| ()));
        }
    }
}
