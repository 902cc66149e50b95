//! Running a comparison and counting it.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroUsize,
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context as _;
use bench_mock_model::Behaviour;
use bench_protocol::{
    prices::PriceTable,
    stats::{Alpha, ExactCache, score::score_interval},
    verdict::{Endpoint, EndpointInput, FamilyKind, FamilyVerdict, Imputation, Rule, evaluate},
};
use bench_results::analysis::{
    Accumulator, Analysis, ArmAnalysis, ArmSpec, FamilySpec, Reporting, Role, TaskMeta, TaskTable,
};
use bench_results::record::End;
use bench_tasks::task::TaskId;

use super::{
    cost::{Resampling, dollars},
    field::Field,
    observe::{Observer, Sums},
    rows::{self, Against, ArmRow, Comparison, Down, ExternalRow, Share, Test, ToolLoss},
    table::SCRIPTED,
};
use crate::{
    arms::{Arm, ArmInfo, Scope, Tasks, names::Place, registry::Registry},
    external::ExternalArm,
    inputs::Inputs,
    plan::SuiteSeeds,
    run::{
        events::{Event, Listener},
        family::{AnyTask, Family, TaskSource},
        mock::Mock,
        offline::{self, Setting},
    },
    surface::Surface,
    wire::Settings,
};

/// What of a comparison is chosen.
#[derive(Debug, Clone)]
pub struct CompareSpec {
    /// Behaviour of the scripted model.
    pub mock: Behaviour,
    /// Seed text.
    pub seed: String,
    /// Tasks; `None`: the protocol's number.
    pub tasks: Option<u64>,
    /// Threads.
    pub threads: NonZeroUsize,
}

/// Runs every arm of a field over the tasks. `None` where `stop` was set before the end.
///
/// # Errors
/// Inputs that do not fit together, a listener that fails, counts that the statistics refuse.
pub fn compare(
    inputs: &Inputs,
    registry: &Registry,
    field: &Field,
    spec: &CompareSpec,
    stop: &AtomicBool,
    listener: &mut dyn Listener,
) -> anyhow::Result<Option<Comparison>> {
    let protocol = &inputs.protocol;
    let seeds = SuiteSeeds::derive(protocol, &spec.seed)?;
    let tasks = TaskSource::tools(inputs, &seeds, spec.tasks)?;
    let family = Family::new(FamilyKind::Products, tasks, field.arms.clone(), seeds.schedule);
    let names: Vec<String> = field.arms.iter().map(|arm| arm.info().id.0.clone()).collect();
    let surfaces = surfaces(&field.arms)?;
    let metas = metas(&family, registry, &surfaces);
    let mut accumulator = Accumulator::new(products(field), TaskTable::new(metas.iter().cloned(), names.len())?)?;
    let table = PriceTable::built_in()?;
    let price = table.row(&protocol.model.id).context("the protocol's model has no price row")?;
    let mut observer = Observer::new(price, &names, clusters(&metas));
    let model = Mock::of_families(spec.mock, &protocol.mock, std::slice::from_ref(&family), seeds.mock);
    let settings = Settings::of(protocol);
    let setting = Setting::scripted(inputs, &settings);
    {
        let mut all = Everyone { listener, accumulator: &mut accumulator, observer: &mut observer };
        all.on(&Event::Started { episodes: family.episodes() })?;
        offline::run(&family, setting, &model, spec.threads, stop, &mut all)?;
        all.on(&Event::Finished { interrupted: None })?;
    }
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(None);
    }
    // How processes end is a finding too.
    std::thread::scope(|scope| {
        for arm in &field.externals {
            scope.spawn(|| arm.close());
        }
    });
    let rule = Rule::of(protocol)?;
    let reporting =
        Reporting { alpha: rule.alpha(), resamples: protocol.test.cluster_bootstrap_resamples, seed: seeds.bootstrap };
    let analysis = accumulator.finish(rule.margin(), &reporting)?;
    let verdict = evaluate(&rule, &analysis.input, &ExactCache::new())?;
    let how = Resampling { alpha: reporting.alpha, resamples: reporting.resamples, seed: reporting.seed };
    let arms: Vec<ArmRow> = (0..names.len())
        .map(|place| {
            let external = field.externals.iter().find(|arm| arm.entry().name == names[place]);
            let info = field.arms[place].info();
            row(info, &analysis, &verdict, &observer.sums, place, external.map(|arm| &**arm), how)
        })
        .collect();
    Ok(Some(Comparison {
        schema: 1,
        says: SCRIPTED,
        mock: spec.mock.name().to_owned(),
        tasks: analysis.tasks.scored,
        task_servers: metas.iter().filter_map(|meta| meta.server.as_ref()).collect::<BTreeSet<_>>().len() as u64,
        servers: registry.definitions().servers.len() as u64,
        abstain_tasks: analysis.tasks.abstain,
        seed: spec.seed.clone(),
        level: 1.0 - 2.0 * reporting.alpha.value(),
        priced_as: (price.model.clone(), price.as_of.to_string()),
        embedder: registry.materials().embedding_model().map(str::to_owned),
        pareto: rows::pareto(&arms),
        exploratory_pairs: rows::pairs(&ranked(&arms, &observer.right))?,
        absent: field.absent.clone(),
        not_started: field.not_started.clone(),
        arms,
    }))
}

/// The ranked arms with their outcomes by task.
fn ranked<'a>(arms: &'a [ArmRow], right: &'a [Vec<Option<bool>>]) -> Vec<(&'a str, &'a [Option<bool>])> {
    let all = arms.iter().zip(right).filter(|(row, _)| row.ranked);
    all.map(|(row, right)| (row.arm.as_str(), right.as_slice())).collect()
}

/// Everybody who is told of an episode.
struct Everyone<'a, 'b> {
    listener: &'a mut dyn Listener,
    accumulator: &'a mut Accumulator,
    observer: &'a mut Observer<'b>,
}

impl Listener for Everyone<'_, '_> {
    fn on(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        if let Event::Episode(trace) = event {
            self.accumulator.push(&trace.record)?;
        }
        self.observer.on(event)?;
        self.listener.on(event)
    }
}

/// The family: every ranked arm against the first, without controls; the others are shown beside it.
fn products(field: &Field) -> FamilySpec {
    let reference: Option<Arc<str>> = field.arms.first().map(|arm| arm.info().id.0.as_str().into());
    let arm = |(place, arm): (usize, &Arc<dyn Arm>)| ArmSpec {
        id: arm.info().id.0.as_str().into(),
        role: match place {
            0 => Role::Reference,
            _ if arm.info().ranks(Tasks::Single) => Role::Level,
            _ => Role::Shown,
        },
        baseline: if place == 0 { None } else { reference.clone() },
        subset: None,
        pinned: None,
        refused: None,
    };
    FamilySpec {
        kind: FamilyKind::Products,
        arms: field.arms.iter().enumerate().map(arm).collect(),
        required_controls: Vec::new(),
    }
}

fn surfaces(arms: &[Arc<dyn Arm>]) -> anyhow::Result<Vec<Arc<Surface>>> {
    arms.iter().map(|arm| Ok(Arc::clone(arm.open(Scope::Catalogs)?.surface()))).collect()
}

/// The tasks, and which arms show their tool differently from the reference.
fn metas(family: &Family, registry: &Registry, surfaces: &[Arc<Surface>]) -> Vec<TaskMeta> {
    let definitions = registry.definitions();
    let mut affected: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for (server, at) in definitions.servers.iter().zip(0..) {
        for (tool, place) in server.tools.iter().zip(0..) {
            let name = definitions.names.tool(Place { server: at, tool: place });
            let shown: Vec<Option<&str>> =
                surfaces.iter().map(|surface| surface.tool(name).map(|tool| tool.json())).collect();
            let label = format!("{}/{}", server.name, tool.upstream.name);
            affected.insert(label, shown.iter().map(|own| *own != shown[0]).collect());
        }
    }
    let tasks = (0..family.tasks.len()).filter_map(|index| Some((index, family.tasks.task(index)?)));
    tasks
        .filter_map(|(index, task)| {
            let AnyTask::Tool(task) = task else { return None };
            let label = task.server.as_ref().zip(task.tool.as_ref()).map(|(server, tool)| format!("{server}/{tool}"));
            let known = label.and_then(|label| affected.get(&label).cloned());
            Some(TaskMeta {
                id: task.id,
                index,
                server: task.server,
                tool: task.tool,
                frame: task.frame,
                stratum: task.stratum.name().into(),
                affected: known.unwrap_or_else(|| vec![false; surfaces.len()]),
            })
        })
        .collect()
}

/// A number for every tool in name order, and one for what no tool serves.
fn clusters(metas: &[TaskMeta]) -> Vec<(TaskId, usize)> {
    let key = |meta: &TaskMeta| (meta.server.clone(), meta.tool.clone());
    let mut numbers: BTreeMap<_, usize> = metas.iter().map(|meta| (key(meta), 0)).collect();
    for (number, place) in numbers.values_mut().zip(0..) {
        *number = place;
    }
    metas.iter().map(|meta| (meta.id.clone(), numbers[&key(meta)])).collect()
}

fn row(
    info: &ArmInfo,
    analysis: &Analysis,
    verdict: &FamilyVerdict,
    sums: &[Vec<Sums>],
    place: usize,
    external: Option<&ExternalArm>,
    how: Resampling,
) -> ArmRow {
    let arm = &analysis.arms[place];
    let share = |endpoint| {
        let rate = arm.rates.get(&endpoint).copied().unwrap_or_default();
        let cells = arm.pairs.get(&endpoint).map(EndpointInput::total);
        Share { right: rate.right, n: rate.tasks - cells.map_or(0, |cells| cells.arm_missing()) }
    };
    let mut total = Sums::default();
    sums[place].iter().for_each(|own| total.add(*own));
    let tasks = total.tasks.max(1) as f64;
    let own_dollars =
        |purpose: &str, part| dollars(&format!("{}/{purpose}", arm.arm), &sums[0], &sums[place], part, how);
    let faults = arm.effort.ends.get(&End::ArmFault).copied().unwrap_or_default();
    let not_driven = external.is_some() && total.decided == 0 && faults < total.tasks;
    ArmRow {
        arm: arm.arm.to_string(),
        ranked: info.ranks(Tasks::Single) && !not_driven,
        gaps: info.gaps,
        objections: info.objections(Tasks::Single),
        selection: share(Endpoint::Selection),
        arguments: share(Endpoint::Arguments),
        against: against(arm, how.alpha),
        test: test(arm, verdict).filter(|_| !not_driven),
        losses: losses(arm),
        tools: (total.started > 0).then(|| total.start_tools as f64 / total.started as f64),
        tokens_at_start: (total.started > 0).then(|| total.start_tokens as f64 / total.started as f64),
        tokens_at_decision: (total.decided > 0).then(|| total.deciding_tokens as f64 / total.decided as f64),
        extra_trips: arm.effort.extra_trips as f64 / tasks,
        invalid_calls_per_thousand: 1000.0 * arm.effort.invalid_calls as f64 / tasks,
        rejected_calls_per_thousand: 1000.0 * arm.effort.rejected_calls as f64 / tasks,
        arm_faults: faults,
        missing: arm.flow.missing,
        dollars_uncached: own_dollars("uncached", |sums| sums.uncached),
        dollars_warm: own_dollars("warm", |sums| sums.warm),
        not_driven,
        external: external.map(|arm| ExternalRow {
            package: arm.entry().package.clone(),
            version: arm.entry().version.clone(),
            stateless: arm.entry().stateless,
            timing: arm.timing(),
            findings: arm.findings(),
            given_up: arm.given_up().map(|fault| fault.to_string()),
            not_started: down(arm),
            note: arm.entry().note.clone(),
        }),
    }
}

/// The servers that it did not come up for, by cause.
fn down(arm: &ExternalArm) -> Vec<Down> {
    let mut causes: Vec<Down> = Vec::new();
    for not_started in arm.not_started() {
        let (why, server) = (not_started.why(arm.entry()), not_started.server.iter().cloned());
        match causes.iter_mut().find(|cause| cause.why == why) {
            Some(cause) => cause.servers.extend(server),
            None => causes.push(Down { servers: server.collect(), why }),
        }
    }
    causes
}

/// As the verdict has it: what the arm has no outcome of counts at worst.
fn against(arm: &ArmAnalysis, alpha: Alpha) -> Option<Against> {
    let counts = arm.pairs.get(&Endpoint::Arguments)?.total().counts(Imputation::WorstCase)?;
    Some(Against {
        difference: counts.delta_hat(),
        interval: score_interval(counts, alpha),
        loss: counts.loss(),
        gain: counts.gain(),
    })
}

fn test(arm: &ArmAnalysis, verdict: &FamilyVerdict) -> Option<Test> {
    let level = verdict.level(&arm.arm)?;
    Some(Test {
        p: level.p,
        p_holm: level.p_adjusted,
        status: level.status,
        reasons: level.reasons.iter().map(ToString::to_string).collect(),
    })
}

fn losses(arm: &ArmAnalysis) -> Vec<ToolLoss> {
    let Some(pairs) = arm.pairs.get(&Endpoint::Arguments) else { return Vec::new() };
    let mut losses: Vec<ToolLoss> = pairs
        .tools
        .iter()
        .filter_map(|tool| {
            let table = tool.cells.table(Imputation::WorstCase).ok()?;
            let (loss, gain, tasks) = (table.loss(), table.gain(), table.n());
            (loss > 0).then(|| ToolLoss { tool: Arc::clone(&tool.name), loss, gain, tasks })
        })
        .collect();
    losses.sort_by(|a, b| b.loss.cmp(&a.loss).then_with(|| a.tool.cmp(&b.tool)));
    losses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::fixtures::context;

    #[test]
    fn the_family_that_is_tested_holds_the_ranked_arms_alone() {
        let registry = Registry::new(&context()).unwrap();
        let ids = ["raw", "L0", "stacklok-fts-reimpl", "uimcp-reimpl", "toolsearch-bm25-reimpl"];
        let arms = ids.iter().map(|id| registry.build(id).unwrap()).collect();
        let spec = products(&Field { arms, externals: Vec::new(), absent: Vec::new(), not_started: Vec::new() });
        let roles: Vec<Role> = spec.arms.iter().map(|arm| arm.role).collect();
        assert_eq!(roles, [Role::Reference, Role::Level, Role::Shown, Role::Shown, Role::Level]);
        assert!(spec.arms[1..].iter().all(|arm| arm.baseline.as_deref() == Some("raw")));
    }
}
