//! From episodes to a certificate: the same code at the end of a run and in `bench verify`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bench_protocol::{
    digest::Digest,
    lock::Chain,
    spec::Protocol,
    stats::ExactCache,
    verdict::{FamilyKind, FamilyVerdict, Rule, evaluate},
};
use bench_results::{
    analysis::{Accumulator, Analysis, AnalysisError, FamilySpec, Reporting, TaskMeta, TaskTable},
    certificate::{
        ArmSubject, CatalogSubject, Certificate, LockSubject, ModelSubject, RecordSubject, ScheduleSubject, Spend,
        Subjects, SurfaceSize, TaskSubject, TokenSource,
    },
    record::{EpisodeRecord, Manifest, RunKind},
};

use serde::Serialize;

use crate::{
    arms::{Arm, Scope, names::Place},
    inputs::Inputs,
    locking::surface_digest,
    models::Provider,
    run::{
        family::{AnyTask, Family},
        live::schedule::{Order, Planned},
        prepare::{Prepared, RESULTS, TOOLS},
    },
    sizes::ArmSizes,
    wire::Settings,
};

/// Version of the task generator, as certificates state it.
const GENERATOR: u32 = 1;

/// What judges a run: takes its episodes in, in any order, then concludes.
pub struct Judge<'a> {
    inputs: &'a Inputs,
    prepared: &'a Prepared,
    rule: Rule,
    families: Vec<Accumulator>,
    episodes: u64,
}

/// What a record says beside its episodes.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Attempts in all.
    pub attempts: u64,
    /// Money; live only.
    pub spend: Option<Spend>,
    /// Digest of the log of attempts as recorded; live only.
    pub digest: Option<Digest>,
    /// Fields of the requests, where they are not the protocol's own.
    pub settings: Option<Settings>,
    /// Order of episodes.
    pub order: Order,
}

/// A judged run.
pub struct Conclusion {
    /// The certificate.
    pub certificate: Certificate,
    /// Counts and verdicts by family.
    pub families: Vec<(Analysis, FamilyVerdict)>,
}

impl<'a> Judge<'a> {
    /// A judge for the families of a run. Makes every task once, for its cluster keys.
    pub fn new(inputs: &'a Inputs, prepared: &'a Prepared) -> anyhow::Result<Self> {
        Self::of_planned(inputs, prepared, &Planned::default())
    }

    /// As [`Self::new`], for a run in which not every arm runs every task.
    pub fn of_planned(inputs: &'a Inputs, prepared: &'a Prepared, planned: &Planned) -> anyhow::Result<Self> {
        let families = prepared
            .families
            .iter()
            .map(|family| accumulator(inputs, prepared, family, planned))
            .collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self { inputs, prepared, rule: Rule::of(&inputs.protocol)?, families, episodes: 0 })
    }

    /// Takes one episode in.
    pub fn push(&mut self, episode: &EpisodeRecord) -> Result<(), AnalysisError> {
        self.episodes += 1;
        for family in &mut self.families {
            if family.takes(&episode.arm) {
                return family.push(episode);
            }
        }
        Err(AnalysisError::UnknownArm { task: episode.task.clone(), arm: Arc::clone(&episode.arm) })
    }

    /// Counts, tests, judges, and puts the certificate together.
    pub fn conclude(&self, manifest: &Manifest, facts: &Facts) -> anyhow::Result<Conclusion> {
        let protocol = &self.inputs.protocol;
        let reporting = Reporting {
            alpha: self.rule.alpha(),
            resamples: protocol.test.cluster_bootstrap_resamples,
            seed: self.prepared.seeds.bootstrap,
        };
        let exact = ExactCache::new();
        let mut families = Vec::new();
        for accumulator in &self.families {
            let analysis = accumulator.finish(self.rule.margin(), &reporting)?;
            let verdict = evaluate(&self.rule, &analysis.input, &exact)?;
            families.push((analysis, verdict));
        }
        let subjects = self.subjects(manifest, facts)?;
        let pairs: Vec<(&Analysis, &FamilyVerdict)> = families.iter().map(|(a, v)| (a, v)).collect();
        Ok(Conclusion { certificate: Certificate::new(&subjects, &self.rule, &pairs), families })
    }

    fn subjects(&self, manifest: &Manifest, facts: &Facts) -> anyhow::Result<Subjects> {
        let protocol = &self.inputs.protocol;
        let lock = manifest.lock.as_ref().and_then(|id| self.inputs.chain.get(id));
        let (mut arms, mut sizes, mut tasks) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for family in &self.prepared.families {
            let (name, sources) = match family.kind {
                FamilyKind::Results => (RESULTS, Some(family.tasks.sources())),
                FamilyKind::Levels | FamilyKind::Products => (TOOLS, None),
            };
            for arm in &family.arms {
                arms.insert(arm.info().id.0.clone(), arm_subject(arm.as_ref(), sources.as_ref())?);
                if sources.is_none() {
                    sizes.insert(arm.info().id.0.clone(), self.size(arm.as_ref())?);
                }
            }
            let seed = manifest.suites.get(name).map_or_else(|| protocol.seeds.primary.clone(), |s| s.seed.clone());
            tasks.insert(name.to_owned(), task_subject(family, seed)?);
        }
        let seed = manifest.suites.values().next().map_or_else(String::new, |suite| suite.seed.clone());
        Ok(Subjects {
            kind: manifest.kind,
            confirmatory: manifest.confirmatory,
            protocol: protocol.digest()?,
            locks: locks_of(manifest, &self.inputs.chain),
            catalogs: self.catalogs()?,
            arms,
            model: model_of(manifest, protocol, facts.settings.as_ref()),
            tasks,
            schedule: ScheduleSubject { rule: facts.order.rule().to_owned(), seed },
            sizes,
            spend: facts.spend,
            usage_source: match manifest.kind {
                RunKind::Plumbing => TokenSource::Estimate,
                RunKind::Live => TokenSource::Provider,
            },
            record: RecordSubject { attempts: facts.attempts, episodes: self.episodes, digest: facts.digest.clone() },
            power: lock.and_then(|lock| lock.body().operating_characteristics.clone()),
            underpowered: protocol.power.underpowered,
            deviations: manifest.deviations.clone(),
        })
    }

    fn catalogs(&self) -> anyhow::Result<BTreeMap<String, CatalogSubject>> {
        let mut origins = self.inputs.provenance_digests()?;
        let subjects = self
            .inputs
            .catalogs
            .catalogs
            .iter()
            .map(|catalog| {
                let provenance = catalog.provenance.as_ref();
                let subject = CatalogSubject {
                    digest: Digest::of(&catalog.bytes),
                    package: provenance.map(|known| known.package.clone()),
                    version: provenance.map(|known| known.version.clone()),
                    licence: provenance.map(|known| known.licence.clone()),
                    provenance: origins.remove(&*catalog.server),
                };
                (catalog.server.to_string(), subject)
            })
            .collect();
        Ok(subjects)
    }

    fn size(&self, arm: &dyn Arm) -> anyhow::Result<SurfaceSize> {
        let total = ArmSizes::of(arm, self.prepared.registry.definitions())?.total;
        Ok(SurfaceSize {
            tools: total.tools as u64,
            bytes: total.bytes as u64,
            tokens: total.tokens as u64,
            source: TokenSource::Bpe,
            counted_by: "o200k_base".to_owned(),
        })
    }
}

/// A unit variant as it is written in JSON.
fn kebab(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The locks that a run is under.
pub(crate) fn locks_of(manifest: &Manifest, chain: &Chain) -> Vec<LockSubject> {
    let lock = manifest.lock.as_ref().and_then(|id| chain.get(id));
    if lock.is_some() { LockSubject::history(chain) } else { Vec::new() }
}

/// The model of a run; `settings` are those of its requests where they are not the protocol's own.
pub(crate) fn model_of(manifest: &Manifest, protocol: &Protocol, settings: Option<&Settings>) -> ModelSubject {
    let model = &manifest.model;
    ModelSubject {
        provider: model.provider.clone(),
        asked: model.asked.clone(),
        returned: model.returned.clone(),
        host: model.host.clone(),
        // A scripted model is nobody's, and has no version.
        api_version: Provider::of(&model.provider)
            .ok()
            .filter(|_| manifest.kind == RunKind::Live)
            .and_then(|provider| provider.api_version(protocol))
            .map(str::to_owned),
        sampling: settings.map_or_else(|| sampling(&Settings::of(protocol)), sampling),
        days: days(manifest),
        prices: manifest.prices.clone(),
    }
}

/// Fields that were sent beside the prompt.
fn sampling(settings: &Settings) -> BTreeMap<String, String> {
    let mut sent = BTreeMap::from([("max_tokens".to_owned(), settings.max_tokens.to_string())]);
    if let Some(temperature) = &settings.temperature {
        sent.insert("temperature".to_owned(), temperature.clone());
    }
    sent
}

/// First and last day of a live run.
fn days(manifest: &Manifest) -> Option<[String; 2]> {
    let day = |time: &Option<String>| time.as_deref().and_then(|time| time.get(..10)).map(str::to_owned);
    (manifest.kind == RunKind::Live).then(|| Some([day(&manifest.started)?, day(&manifest.finished)?]))?
}

fn arm_subject(arm: &dyn Arm, sources: Option<&BTreeSet<(String, String)>>) -> anyhow::Result<ArmSubject> {
    let info = arm.info();
    Ok(ArmSubject {
        origin: "bench".to_owned(),
        summary: info.summary.to_owned(),
        version: None,
        licence: None,
        surface: surface_digest(arm, sources)?,
        fallbacks: arm.fallbacks(),
        waivers: info.waivers.iter().map(kebab).collect(),
    })
}

fn task_subject(family: &Family, seed: String) -> anyhow::Result<TaskSubject> {
    Ok(TaskSubject {
        generator: GENERATOR,
        seed,
        derivation: "SHA-256(canonical protocol, 0x00, seed text, \"/\", suite)".to_owned(),
        n: family.tasks.len(),
        digest: family.tasks_digest()?,
    })
}

/// What counts a family's episodes.
pub(crate) fn accumulator(
    inputs: &Inputs,
    prepared: &Prepared,
    family: &Family,
    planned: &Planned,
) -> anyhow::Result<Accumulator> {
    let ids: Vec<&str> = family.arms.iter().map(|arm| arm.info().id.0.as_str()).collect();
    let mut spec = match family.kind {
        FamilyKind::Results => FamilySpec::results(&inputs.protocol, &ids)?,
        FamilyKind::Levels | FamilyKind::Products => FamilySpec::levels(&inputs.protocol, &ids)?,
    };
    let shown = Shown::new(prepared, family)?;
    for (arm, spec) in spec.arms.iter_mut().enumerate() {
        spec.pinned.clone_from(&shown.pinned[arm]);
        spec.subset = planned.subsets.get(&*spec.id).cloned();
        spec.refused = planned.refused.get(&*spec.id).cloned();
    }
    let arms = spec.arms.len();
    let metas = (0..family.tasks.len()).filter_map(|index| {
        let task = family.tasks.task(index)?;
        Some(shown.meta(&task, index))
    });
    let table = TaskTable::new(metas, arms)?;
    Ok(Accumulator::new(spec, table)?)
}

/// How upstream tools stand on the arms' initial surfaces.
struct Shown {
    arms: usize,
    /// `server/tool` to, by arm, whether the arm shows the tool differently from the reference. Empty in the result
    /// suite: definitions are raw's in each of its arms, what differs is the result.
    affected: BTreeMap<String, Vec<bool>>,
    /// By arm: the tools that an arm which hides others shows in full from the start.
    pinned: Vec<Option<BTreeSet<Arc<str>>>>,
}

impl Shown {
    fn new(prepared: &Prepared, family: &Family) -> anyhow::Result<Self> {
        let arms = family.arms.len();
        let mut shown = Self { arms, affected: BTreeMap::new(), pinned: vec![None; arms] };
        if family.kind == FamilyKind::Results {
            return Ok(shown);
        }
        let sessions = family.arms.iter().map(|arm| arm.open(Scope::Catalogs)).collect::<Result<Vec<_>, _>>()?;
        let definitions = prepared.registry.definitions();
        let mut visible: Vec<BTreeSet<Arc<str>>> = vec![BTreeSet::new(); arms];
        for (server, at) in definitions.servers.iter().zip(0..) {
            for (tool, place) in server.tools.iter().zip(0..) {
                let name = definitions.names.tool(Place { server: at, tool: place });
                let label = format!("{}/{}", server.name, tool.upstream.name);
                let json: Vec<Option<&str>> =
                    sessions.iter().map(|session| session.surface().tool(name).map(|tool| tool.json())).collect();
                for (arm, json) in json.iter().enumerate() {
                    if json.is_some() {
                        visible[arm].insert(Arc::from(label.as_str()));
                    }
                }
                // The reference stands first.
                shown.affected.insert(label, json.iter().map(|own| *own != json[0]).collect());
            }
        }
        let all = shown.affected.len();
        shown.pinned =
            visible.into_iter().map(|tools| (!tools.is_empty() && tools.len() < all).then_some(tools)).collect();
        Ok(shown)
    }

    fn meta(&self, task: &AnyTask, index: u64) -> TaskMeta {
        match task {
            AnyTask::Tool(task) => {
                let label = task.server.as_ref().zip(task.tool.as_ref()).map(|(s, t)| format!("{s}/{t}"));
                let affected = label.and_then(|label| self.affected.get(&label)).cloned();
                TaskMeta {
                    id: task.id.clone(),
                    index,
                    server: task.server.clone(),
                    tool: task.tool.clone(),
                    frame: Arc::clone(&task.frame),
                    stratum: task.stratum.name().into(),
                    affected: affected.unwrap_or_else(|| vec![false; self.arms]),
                }
            }
            AnyTask::Result(task) => TaskMeta {
                id: task.id.clone(),
                index,
                server: Some(Arc::clone(&task.server)),
                tool: Some(Arc::clone(&task.tool)),
                frame: Arc::clone(&task.frame),
                stratum: Arc::clone(&task.kind),
                affected: vec![false; self.arms],
            },
        }
    }
}
