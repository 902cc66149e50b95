//! `bench sessions`: many requests of one user in one session, scripted model, accuracy and cost by position.

use std::{ops::Range, sync::Arc};

use anyhow::Context as _;
use bench_mock_model::{AnswerKey, Noise, ScriptedModel};
use bench_protocol::prices::{self, Geo, Price, PriceTable};
use bench_tasks::sessions::{SessionPlan, Sessions};
use serde::Serialize;

use super::{args::SessionsArgs, failure::Failure, output::Output, retrieval::embedder};
use crate::{
    arms::registry::Registry,
    exit,
    inputs::Inputs,
    plan::{self, SuiteSeeds},
    run::{
        family::TaskSource,
        mock::{self, Mock},
        offline::Setting,
        sessions::{self, SessionSetting, results::CannedResults, sums::ArmSums},
    },
    wire::Settings,
};

/// Arms that are run where none are named: those whose point needs more than one call, and what to hold them against.
const ARMS: [&str; 12] = [
    "raw",
    "L0",
    "L2",
    "L3",
    "L2+R",
    "search-invoke",
    "index-schema-invoke",
    "toolsearch-bm25-reimpl",
    "profile-core-reimpl",
    "uimcp-reimpl",
    "uimcp-pre-reimpl",
    "mcpdiet-reimpl",
];
/// What is run beside them where there is an embedder.
const EMBEDDED: [&str; 1] = ["uimcp-emb-reimpl"];
/// Positions that the table tells apart, from 0.
const SPANS: [Range<usize>; 4] = [0..1, 1..5, 5..10, 10..20];
/// Tokens below which the protocol's model does not cache a prompt.
const CACHE_MINIMUM: u64 = 4_096;

/// What is printed as JSON.
#[derive(Debug, Serialize)]
struct Report {
    sessions: u64,
    requests_per_session: usize,
    mock: &'static str,
    /// The embedder's model, where one was given.
    embedder: Option<String>,
    note: &'static str,
    arms: Vec<ArmSums>,
}

const NOTE: &str = "scripted model: shows mechanics and cost, not accuracy of a real model";

/// Runs the command.
pub(super) fn run(args: &SessionsArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let (protocol, asked) = (&inputs.protocol, args.sessions.get());
    let seeds = SuiteSeeds::derive(protocol, &protocol.seeds.primary)?;
    let source = TaskSource::tools(inputs, &seeds, None)
        .or_else(|_| TaskSource::tools(inputs, &seeds, Some(inputs.catalogs.tool_count() as u64)))
        .map_err(|error| Failure::new(exit::INPUT, error))?;
    let TaskSource::Tools(generator) = &source else {
        return Err(Failure::usage("sessions are made of the tool suite's tasks"));
    };
    let plan = SessionPlan::default();
    let sessions = Sessions::new(generator, seeds.sessions, plan).ok_or_else(|| {
        Failure::usage("the intents hold no request with a right call; write some (bench tasks scaffold)")
    })?;
    let tasks: Vec<_> = (0..asked).flat_map(|index| sessions.session(index).steps).map(|step| step.task).collect();
    let noise = Noise::new(mock::rates(&protocol.mock), seeds.mock);
    let model = Mock::scripted(ScriptedModel::new(args.mock, Arc::new(AnswerKey::of_tasks(&tasks)), noise));
    let settings = Settings::of(protocol);
    let results = CannedResults::new(&inputs.catalogs, seeds.results);
    let shared = SessionSetting {
        setting: Setting::scripted(inputs, &settings),
        results: &results,
        cache_minimum: CACHE_MINIMUM,
    };
    let registry = Registry::new(&plan::arm_context(inputs, &seeds))?;
    let embedder = embedder(args.embedder.as_deref())?;
    let model_of_embedder = embedder.as_ref().map(|embedder| embedder.model().to_owned());
    let registry = match embedder {
        Some(embedder) => registry.with_embedder(embedder),
        None => registry,
    };
    let with_embedder = EMBEDDED.iter().filter(|_| model_of_embedder.is_some());
    let ids: Vec<&str> = if args.arms.is_empty() {
        ARMS.iter().chain(with_embedder).copied().collect()
    } else {
        args.arms.iter().map(String::as_str).collect()
    };
    let mut arms = Vec::with_capacity(ids.len());
    for id in ids {
        let arm = registry.build(id)?;
        arms.push(sessions::run(arm.as_ref(), &sessions, asked, &shared, &model)?);
    }
    if output.json {
        let (sessions, requests_per_session) = (asked, plan.length);
        let (mock, embedder) = (args.mock.name(), model_of_embedder);
        output.document(&Report { sessions, requests_per_session, mock, embedder, note: NOTE, arms })?;
    } else {
        let table = PriceTable::built_in().map_err(|error| Failure::new(exit::BUG, error))?;
        let price = table.row(&protocol.model.id).with_context(|| format!("no price of {}", protocol.model.id))?;
        print(&arms, asked, model_of_embedder.as_deref(), price, output)?;
    }
    Ok(exit::OK)
}

fn print(
    arms: &[ArmSums],
    sessions: u64,
    embedder: Option<&str>,
    price: &Price,
    output: &mut Output,
) -> Result<(), Failure> {
    let out = &mut output.product();
    writeln!(out, "{sessions} sessions of 20 requests, by position. {NOTE}.")?;
    if let Some(model) = embedder {
        writeln!(out, "Arms that end in -emb-reimpl search by {model}; all others by words.")?;
    }
    writeln!(
        out,
        "{:<24} {:>9} {:>7} {:>7} {:>7} {:>9} {:>9} {:>7} {:>10}",
        "arm", "position", "right", "tool", "turns", "list tok", "prompt", "breaks", "$/1000"
    )?;
    for arm in arms {
        for (line, span) in SPANS.into_iter().enumerate() {
            let position =
                if span.len() == 1 { span.end.to_string() } else { format!("{}–{}", span.start + 1, span.end) };
            let sum = arm.over(span);
            if sum.requests == 0 {
                continue;
            }
            let dollars = prices::settle(&sum.classes.priced(), price, Geo::Global)
                .map_err(|error| Failure::new(exit::BUG, error))? as f64
                / 1e12;
            writeln!(
                out,
                "{:<24} {position:>9} {:>7.3} {:>7.3} {:>7.2} {:>9.0} {:>9.0} {:>7.2} {:>10.2}",
                match line {
                    0 => arm.arm.as_str(),
                    1 if !arm.ranked => "  shown, not ranked",
                    _ => "",
                },
                sum.mean(sum.arguments),
                sum.mean(sum.selection),
                sum.mean(sum.turns),
                sum.mean(sum.list_tokens),
                sum.mean(sum.classes.prompt()),
                sum.mean(sum.breaks),
                1_000.0 * dollars / sum.requests as f64,
            )?;
        }
    }
    writeln!(
        out,
        "Tokens: o200k of texts. prompt: all requests to the model for one request of the user. breaks: requests to the\n\
         model that found the tool list changed and so the cache broken. $: prices of {}, five-minute cache.",
        price.model
    )?;
    for arm in arms {
        for objection in &arm.objections {
            writeln!(out, "{}: its author would object: {objection}", arm.arm)?;
        }
    }
    Ok(())
}
