//! From inputs and a short description to families that can be run; `verify` does the same from a record's manifest.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::Context as _;
use bench_protocol::verdict::FamilyKind;
use bench_results::record::{Manifest, SuiteRun};
use bench_tasks::results_suite::ResultGenerator;
use thiserror::Error;

use super::family::{Family, TaskSource};
use crate::{
    arms::{Arm, ArmContext, registry::Registry},
    inputs::Inputs,
    plan::{self, SuiteSeeds},
};

/// What is to be run: everything that a manifest says and inputs don't.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSpec {
    /// Arms of both suites, in protocol order.
    pub arms: Vec<String>,
    /// Suites by name (`tools`, `results`), with number of tasks and seed text.
    pub suites: BTreeMap<String, SuiteRun>,
}

/// Name of the tool suite.
pub const TOOLS: &str = "tools";
/// Name of the result suite.
pub const RESULTS: &str = "results";

impl RunSpec {
    /// What a record's manifest says was run.
    pub fn of_manifest(manifest: &Manifest) -> Self {
        Self { arms: manifest.arms.clone(), suites: manifest.suites.clone() }
    }

    /// The protocol's whole run, or the part of it that `arms` (empty: all) and `tasks` (lines of the tool suite) ask
    /// for. A chosen arm brings its reference along; a suite without a chosen arm is not run.
    pub fn of(inputs: &Inputs, seed: &str, arms: &[String], tasks: Option<u64>) -> anyhow::Result<Self> {
        let protocol = &inputs.protocol;
        let (tool, result): (Vec<&str>, Vec<&str>) =
            (plan::tool_arms(protocol).collect(), plan::result_arms(protocol).collect());
        if let Some(unknown) = arms.iter().find(|id| !tool.contains(&id.as_str()) && !result.contains(&id.as_str())) {
            anyhow::bail!("arm `{unknown}` is not in the protocol; it has {}", [tool, result].concat().join(", "));
        }
        let chosen = |all: &[&str]| -> Vec<String> {
            let wanted = |id: &&str| arms.is_empty() || arms.iter().any(|arm| arm == id);
            if !all.iter().any(wanted) {
                return Vec::new();
            }
            // R-again is compared with R, so R runs wherever anything of its suite does.
            let baseline = |place: usize| place == 0 || (all[0] == protocol.arms.results_reference && place == 1);
            let kept = all.iter().enumerate().filter(|(place, id)| baseline(*place) || wanted(id));
            kept.map(|(_, id)| (*id).to_owned()).collect()
        };
        let sizes = &protocol.suites;
        let whole = sizes.tools.tool_tasks + sizes.tools.abstain_tasks;
        let n = tasks.unwrap_or(whole).min(whole.max(tasks.unwrap_or(0)));
        let share = u128::from(n) * u128::from(sizes.results.tasks) / u128::from(whole.max(1));
        let results = u64::try_from(share).context("too many tasks")?.min(sizes.results.tasks).max(1);
        let mut suites = BTreeMap::new();
        let (tool, result) = (chosen(&tool), chosen(&result));
        if !tool.is_empty() {
            suites.insert(TOOLS.to_owned(), SuiteRun { tasks: n, seed: seed.to_owned(), dev: false });
        }
        // Questions are built over the outputs of certain tools; a folder of other catalogs has none to ask about.
        if !result.is_empty() && ResultGenerator::new(&inputs.catalogs, [0; 32], 1).is_ok() {
            suites.insert(RESULTS.to_owned(), SuiteRun { tasks: results, seed: seed.to_owned(), dev: false });
        }
        let arms = tool.into_iter().chain(result).filter(|id| {
            let name = if plan::tool_arms(protocol).any(|arm| arm == id) { TOOLS } else { RESULTS };
            suites.contains_key(name)
        });
        Ok(Self { arms: arms.collect(), suites })
    }

    /// The arms among `all` that are run, in protocol order.
    fn ran<'a>(&self, all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        all.filter(|id| self.arms.iter().any(|arm| arm == id)).collect()
    }
}

/// A suite whose counted tasks are all of one frame: a difference is judged by how frames differ.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the {suite} suite would ask tasks of a single frame, and a difference is judged between frames; ask for more with --tasks, or write a second frame"
)]
pub struct SingleFrame {
    /// The suite.
    pub suite: &'static str,
}

/// Families ready to run, and what they were built from.
pub struct Prepared {
    /// The families, tool suite first.
    pub families: Vec<Family>,
    /// What the arms were built from.
    pub registry: Registry,
    /// Seeds of the run.
    pub seeds: SuiteSeeds,
    /// The warm-up trace and more.
    pub context: ArmContext,
}

impl Prepared {
    /// Builds the families of a run.
    pub fn new(inputs: &Inputs, spec: &RunSpec) -> anyhow::Result<Self> {
        let protocol = &inputs.protocol;
        let seed = spec.suites.values().next().map_or(&protocol.seeds.primary, |suite| &suite.seed);
        anyhow::ensure!(spec.suites.values().all(|suite| suite.seed == *seed), "both suites must share one seed text");
        let seeds = SuiteSeeds::derive(protocol, seed)?;
        let context = plan::arm_context(inputs, &seeds);
        let registry = Registry::new(&context)?;
        let mut families = Vec::new();
        let build = |ids: Vec<&str>| -> anyhow::Result<Vec<Arc<dyn Arm>>> {
            ids.into_iter().map(|id| Ok(registry.build(id)?)).collect()
        };
        if let Some(suite) = spec.suites.get(TOOLS) {
            let whole = protocol.suites.tools.tool_tasks + protocol.suites.tools.abstain_tasks;
            let tasks = if suite.dev {
                TaskSource::dev(inputs, &seeds, suite.tasks)?
            } else {
                TaskSource::tools(inputs, &seeds, (suite.tasks != whole).then_some(suite.tasks))?
            };
            let arms = build(spec.ran(plan::tool_arms(protocol)))?;
            families.push(Family::new(FamilyKind::Levels, tasks, arms, seeds.schedule));
        }
        if let Some(suite) = spec.suites.get(RESULTS) {
            let tasks = TaskSource::results(inputs, &seeds, suite.tasks)?;
            let arms = build(spec.ran(plan::result_arms(protocol)))?;
            families.push(Family::new(FamilyKind::Results, tasks, arms, seeds.schedule));
        }
        Ok(Self { families, registry, seeds, context })
    }

    /// Refuses what could be run and not judged.
    ///
    /// # Errors
    /// [`SingleFrame`].
    pub fn require_two_frames(&self) -> Result<(), SingleFrame> {
        match self.families.iter().find(|family| !family.tasks.has_two_frames()) {
            Some(family) => Err(SingleFrame { suite: if family.kind.has_tools() { TOOLS } else { RESULTS } }),
            None => Ok(()),
        }
    }

    /// Episodes in all.
    pub fn episodes(&self) -> u64 {
        self.families.iter().map(Family::episodes).sum()
    }
}
