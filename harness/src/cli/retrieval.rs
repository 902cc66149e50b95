//! `bench retrieval`: what each search surfaces, and what each arm's definitions cost, without a model.

use std::{
    io::{self, Write},
    num::NonZeroU64,
    sync::Arc,
    time::Instant,
};

use bench_protocol::spec::Protocol;
use bench_tasks::{
    catalog::Catalogs,
    sessions::{SessionPlan, Sessions},
    task::{Stratum, Task},
};
use serde::Serialize;

use super::{args::RetrievalArgs, failure::Failure, output::Output, progress::Steps};
use crate::{
    arms::{
        Arm, ArmContext,
        embed::{Embedder, ProcessEmbedder},
        registry::Registry,
    },
    compare, exit,
    inputs::Inputs,
    plan::{self, SuiteSeeds},
    retrieval::{
        self, ArmRetrieval, EQUAL_K, Requests,
        ablation::{self, AblationRow},
        adversary::{self, AdversaryRow},
        latency::{self, LatencyRow},
        metrics::Metrics,
        ratios::{self, RatioRow},
        tokenizer::Tokenizer,
    },
    run::family::{AnyTask, TaskSource},
};

/// Sessions that the ablation replays.
const SESSIONS: u64 = 50;
/// Texts that a search is timed on.
const TIMED: usize = 101;

/// Everything that is measured.
#[derive(Debug, Serialize)]
struct Report {
    /// Tools searched.
    tools: usize,
    /// The embedder's model, where one was given.
    embedder: Option<String>,
    retrieval: Vec<ArmRetrieval>,
    adversary: Vec<AdversaryRow>,
    ablation: Vec<AblationRow>,
    ratios: Vec<RatioRow>,
    /// Only with `--latency`: the one part that two runs do not share.
    latency: Vec<LatencyRow>,
}

/// Runs the command.
pub(super) fn run(args: &RetrievalArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let seeds = SuiteSeeds::derive(&inputs.protocol, &inputs.protocol.seeds.primary)?;
    let context = plan::arm_context(inputs, &seeds);
    let embedder = embedder(args.embedder.as_deref())?;
    // Before anything is built: without tasks there is nothing to measure.
    let source = TaskSource::tools(inputs, &seeds, args.n.map(NonZeroU64::get))
        .map_err(|error| Failure::new(exit::INPUT, error))?;
    let tasks = || {
        (0..source.len()).filter_map(|index| match source.task(index) {
            Some(AnyTask::Tool(task)) => Some(task),
            _ => None,
        })
    };
    let bench = Bench { args, protocol: &inputs.protocol, embedder: embedder.clone() };
    let registry = bench.registry(&context)?;
    let arms = bench.arms(&registry)?;
    let searching = retrieval::searching(arms.iter().cloned());
    let tokenizers = bench.tokenizers()?;
    let searches = searching.len() * (2 + if args.latency { latency::SIZES.len() } else { 0 });
    let steps = Steps::new(output, "measurements", searches + arms.len() * tokenizers.len());
    let step = &|| steps.step();
    let report = Report {
        tools: inputs.catalogs.tool_count(),
        embedder: embedder.map(|embedder| embedder.model().to_owned()),
        retrieval: measured(&searching, &Requests::new(tasks(), &inputs.catalogs), step)?,
        adversary: bench.adversary(&context, &searching, tasks, step)?,
        ablation: ablations(&source, &seeds, inputs, &registry)?,
        ratios: ratio_rows(&registry, &arms, tasks, &tokenizers, step)?,
        latency: if args.latency { bench.latency(&context, &searching, tasks, step)? } else { Vec::new() },
    };
    drop(steps);
    if output.json {
        output.document(&report)?;
    } else {
        print(&report, output)?;
    }
    Ok(exit::OK)
}

/// The embedder that a command line names.
pub(super) fn embedder(command: Option<&str>) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let Some(command) = command else { return Ok(None) };
    let embedder = ProcessEmbedder::start(&words(command)?).map_err(|error| Failure::new(exit::RUNTIME, error))?;
    Ok(Some(Arc::new(embedder)))
}

fn words(command: &str) -> Result<Vec<String>, Failure> {
    shlex::split(command).ok_or_else(|| Failure::usage(format!("`{command}`: a quote is not closed")))
}

/// What the arguments ask for.
struct Bench<'a> {
    args: &'a RetrievalArgs,
    protocol: &'a Protocol,
    embedder: Option<Arc<dyn Embedder>>,
}

impl Bench<'_> {
    fn registry(&self, context: &ArmContext) -> Result<Registry, Failure> {
        let registry = Registry::new(context)?;
        Ok(match &self.embedder {
            Some(embedder) => registry.with_embedder(Arc::clone(embedder)),
            None => registry,
        })
    }

    /// The arms that were asked for; without `--arms` all but raw and controls, those that need an embedder where there
    /// is one.
    fn arms(&self, registry: &Registry) -> Result<Vec<Arc<dyn Arm>>, Failure> {
        let ids: Vec<String> =
            if self.args.arms.is_empty() { compare::built_in(self.protocol, registry) } else { self.args.arms.clone() };
        Ok(ids.iter().map(|id| registry.build(id)).collect::<Result<_, _>>()?)
    }

    fn adversary<T: Iterator<Item = Task>>(
        &self,
        context: &ArmContext,
        searching: &[Arc<dyn Arm>],
        tasks: impl Fn() -> T,
        step: &dyn Fn(),
    ) -> Result<Vec<AdversaryRow>, Failure> {
        let stuffed = adversary::stuffed(context)?;
        let registry = self.registry(&stuffed)?;
        let clean = Requests::new(tasks(), &context.catalogs);
        let requests = Requests::new(tasks(), &stuffed.catalogs);
        let mut rows = Vec::new();
        for arm in searching {
            let beside = registry.build(&arm.info().id.0)?;
            let row = adversary::measure((arm.as_ref(), &clean), (beside.as_ref(), &requests), &stuffed.catalogs);
            rows.extend(row.map_err(failed)?);
            step();
        }
        Ok(rows)
    }

    /// Those that are built in, and those of the command line.
    fn tokenizers(&self) -> Result<Vec<Tokenizer>, Failure> {
        let mut tokenizers = Tokenizer::built_in();
        for command in &self.args.tokenizer {
            tokenizers.push(Tokenizer::start(&words(command)?).map_err(|error| Failure::new(exit::RUNTIME, error))?);
        }
        Ok(tokenizers)
    }

    fn latency<T: Iterator<Item = Task>>(
        &self,
        context: &ArmContext,
        searching: &[Arc<dyn Arm>],
        tasks: impl Fn() -> T,
        step: &dyn Fn(),
    ) -> Result<Vec<LatencyRow>, Failure> {
        let texts: Vec<String> = tasks().map(|task| task.utterance).take(TIMED).collect();
        let start = Instant::now();
        let mut rows = Vec::new();
        for size in latency::SIZES {
            let catalogs: Catalogs = latency::grown(&context.catalogs, size)?;
            let registry = self.registry(&ArmContext { catalogs: Arc::new(catalogs), ..context.clone() })?;
            for arm in searching {
                let id = &arm.info().id.0;
                let grown = registry.build(id)?;
                let Some(search) = grown.ranker() else { continue };
                rows.push(latency::measure(id, search, size, &texts, &|| start.elapsed()).map_err(failed)?);
                step();
            }
        }
        Ok(rows)
    }
}

fn measured(searching: &[Arc<dyn Arm>], requests: &Requests, step: &dyn Fn()) -> Result<Vec<ArmRetrieval>, Failure> {
    let mut rows = Vec::with_capacity(searching.len());
    for arm in searching {
        rows.extend(retrieval::measure(arm.as_ref(), requests).map_err(failed)?);
        step();
    }
    Ok(rows)
}

fn ratio_rows<T: Iterator<Item = Task>>(
    registry: &Registry,
    arms: &[Arc<dyn Arm>],
    tasks: impl Fn() -> T,
    tokenizers: &[Tokenizer],
    step: &dyn Fn(),
) -> Result<Vec<RatioRow>, Failure> {
    let raw = registry.build("raw")?;
    let said: Vec<String> = tasks().map(|task| task.utterance).collect();
    ratios::measure(raw.as_ref(), arms, &said, registry.definitions(), tokenizers, step)
        .map_err(|error| Failure::new(exit::RUNTIME, error))
}

fn ablations(
    source: &TaskSource,
    seeds: &SuiteSeeds,
    inputs: &Inputs,
    registry: &Registry,
) -> Result<Vec<AblationRow>, Failure> {
    let TaskSource::Tools(generator) = source else { return Ok(Vec::new()) };
    let Some(sessions) = Sessions::new(generator, seeds.sessions, SessionPlan::default()) else {
        return Ok(Vec::new());
    };
    // The threshold was chosen for words, so that they are what it is tested on, whatever the embedder.
    let near = |text: &str| Ok(registry.materials().context_of(text));
    ablation::measure(&sessions, SESSIONS, &inputs.catalogs, &near).map_err(failed)
}

/// A search that fails is an embedder that failed.
fn failed(why: String) -> Failure {
    Failure::new(exit::RUNTIME, anyhow::anyhow!(why).context("searching"))
}

fn print(report: &Report, output: &mut Output) -> Result<(), Failure> {
    let out = &mut output.product();
    searches(report, out)?;
    strata(report, out)?;
    stuffed(report, out)?;
    if !report.ablation.is_empty() {
        parts(report, out)?;
    }
    sizes(report, out)?;
    if !report.latency.is_empty() {
        times(report, out)?;
    }
    Ok(())
}

fn searches(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "Retrieval over {} tools, shortlists of {EQUAL_K} for all; own K: each arm's own length.",
        report.tools
    )?;
    match &report.embedder {
        Some(model) => writeln!(out, "Arms that end in -emb-reimpl search by {model}; all others by words.")?,
        None => writeln!(out, "All search by words; --embedder adds arms that search by an embedding model.")?,
    }
    writeln!(out, "{:<26} {:>6} {:>6} {:>6} {:>6} {:>8} {:>6}", "arm", "R@1", "R@5", "MRR", "nDCG", "own K", "R@K")?;
    for row in &report.retrieval {
        let Metrics { r1, r5, mrr, ndcg, .. } = row.equal;
        let note = if row.ranked { "" } else { "  not ranked" };
        let (own_k, own) = (row.own_k, row.own.found);
        writeln!(out, "{:<26} {r1:>6.3} {r5:>6.3} {mrr:>6.3} {ndcg:>6.3} {own_k:>8} {own:>6.3}{note}", row.arm)?;
    }
    Ok(())
}

fn strata(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let strata = [Stratum::Plain, Stratum::Paraphrase, Stratum::Confusable, Stratum::Nested, Stratum::Optional];
    writeln!(out, "\nMisses by stratum, % of requests, shortlists of {EQUAL_K}.")?;
    let heads: Vec<String> = strata.iter().map(|stratum| format!("{:>11}", stratum.name())).collect();
    writeln!(out, "{:<26}{}", "arm", heads.concat())?;
    for row in &report.retrieval {
        let cells: Vec<String> = strata
            .iter()
            .map(|stratum| match row.misses.get(stratum) {
                Some(&(asked, missed)) if asked > 0 => format!("{:>11.1}", 100.0 * missed as f64 / asked as f64),
                _ => format!("{:>11}", "–"),
            })
            .collect();
        writeln!(out, "{:<26}{}", row.arm, cells.concat())?;
    }
    Ok(())
}

fn stuffed(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nWith a catalog of keyword-stuffed descriptions beside the others, shortlists of {EQUAL_K}.")?;
    writeln!(out, "{:<26} {:>10} {:>8} {:>10} {:>9}", "arm", "surfaced", "first", "R@5 before", "R@5 with")?;
    for row in &report.adversary {
        let (surfaced, first) = (100.0 * row.surfaced, 100.0 * row.first);
        let (clean, with) = (row.r5_clean, row.r5_stuffed);
        writeln!(out, "{:<26} {surfaced:>8.1} % {first:>6.1} % {clean:>10.3} {with:>9.3}", row.arm)?;
    }
    Ok(())
}

fn parts(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\nUIMCP's priority, part by part, without promotion: right tool there unasked, {SESSIONS} sessions of 20\n\
         requests. Nearness is that of words (TF-IDF), whatever the embedder."
    )?;
    writeln!(out, "{:<26} {:>9} {:>15}", "variant", "there", "tools/request")?;
    for row in &report.ablation {
        let name = format!("{}{}", row.variant.name(), if row.promotes { ", with promotion" } else { "" });
        writeln!(out, "{name:<26} {:>9.3} {:>15.2}", row.injected, row.tools_per_request)?;
    }
    Ok(())
}

fn sizes(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\nRaw tokens over the arm's: all servers, and each server alone (least, quartiles, most).\n\
         Of an arm that hears the user: the mean of what it shows once a request was said."
    )?;
    writeln!(
        out,
        "{:<26} {:<12} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "arm", "tokenizer", "all", "least", "25 %", "50 %", "75 %", "most"
    )?;
    for row in &report.ratios {
        write!(out, "{:<26} {:<12} {:>7.2}", row.arm, row.tokenizer, row.whole)?;
        for p in [0.0, 0.25, 0.5, 0.75, 1.0] {
            write!(out, " {:>7.2}", row.quantile(p))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn times(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nTime of a search on this machine, µs.")?;
    writeln!(out, "{:<26} {:>6} {:>10} {:>10}", "arm", "tools", "median", "95 %")?;
    for row in &report.latency {
        let (median, p95) = (row.median_ns as f64 / 1e3, row.p95_ns as f64 / 1e3);
        writeln!(out, "{:<26} {:>6} {median:>10.1} {p95:>10.1}", row.arm, row.tools)?;
    }
    Ok(())
}
