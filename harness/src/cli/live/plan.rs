//! `bench plan`: what a live run would show, cost and take, before anything is spent.

use bench_protocol::plan::{Assumptions, Worth, plan};
use serde::Serialize;

use super::{
    args::{LiveArgs, LiveSuite, PlanArgs},
    undertaking::{Asked, Part, Undertaking},
};
use crate::{
    cli::{args::GlobalArgs, failure::Failure, output::Output, progress::span},
    estimate::{ArmEstimate, Pricing, estimate},
    exit,
    inputs::Inputs,
    meter::dollars,
    run::live::schedule::Planned,
};

/// How long an answer takes, in seconds, where nothing is measured yet.
const SECONDS: u64 = 2;

/// A plan, as a document. Money in pico-dollars.
#[derive(Debug, Serialize)]
struct Document<'a> {
    /// The model.
    model: &'a str,
    /// Where its prices were read, and when.
    prices: String,
    /// `tools` or `results`.
    suite: &'static str,
    /// Why the run could never certify; empty for a confirmatory one.
    exploratory: &'a [String],
    /// Shortest prefix that the model caches, in tokens, where it is known.
    cache_minimum: Option<u32>,
    /// What the number of tasks is worth, for one level and endpoint.
    worth: Option<Worth>,
    /// By arm.
    arms: &'a [ArmEstimate],
    /// Sums.
    total: Total,
    /// Minutes at the given concurrency.
    minutes: u64,
    /// Whether the ceiling holds the upper estimate; none where no ceiling is given.
    fits: Option<bool>,
}

/// Sums over the arms. Money in pico-dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Total {
    pub(super) episodes: u64,
    pub(super) requests: u64,
    pub(super) expected: u64,
    pub(super) upper: u64,
    pub(super) all_turns: u64,
}

impl Total {
    pub(super) fn of(arms: &[ArmEstimate]) -> Self {
        let sum = |part: fn(&ArmEstimate) -> u64| arms.iter().map(part).fold(0, u64::saturating_add);
        Self {
            episodes: sum(|arm| arm.episodes),
            requests: sum(|arm| arm.requests),
            expected: sum(|arm| arm.expected),
            upper: sum(|arm| arm.upper),
            all_turns: sum(|arm| arm.all_turns),
        }
    }
}

/// The estimate of an undertaking.
pub(super) fn of_undertaking(undertaking: &Undertaking, inputs: &Inputs) -> anyhow::Result<Vec<ArmEstimate>> {
    let family = &undertaking.prepared.families[0];
    let planned = Planned::of(&inputs.protocol, family, std::collections::BTreeMap::new());
    let money = undertaking.money();
    let pricing = Pricing {
        money: &money,
        settings: &undertaking.settings,
        wire: undertaking.provider.wire(),
        row: &undertaking.capability.row,
    };
    estimate(inputs, &undertaking.prepared, &planned, pricing)
}

/// Refuses a confirmatory run whose upper estimate is above the ceiling: arms are interleaved, so that a run cut short is
/// worth nothing.
pub(super) fn must_fit(undertaking: &Undertaking, inputs: &Inputs, budget: u64) -> Result<(), Failure> {
    if !undertaking.confirmatory() {
        return Ok(());
    }
    let total = Total::of(&of_undertaking(undertaking, inputs)?);
    if total.upper <= budget {
        return Ok(());
    }
    let tasks = undertaking.prepared.families[0].tasks.len();
    let fitting = u128::from(tasks) * u128::from(budget) / u128::from(total.upper.max(1));
    Err(Failure::usage(format!(
        "a run of {} episodes is expected to cost {} and may cost {}, the ceiling is {}; a confirmatory run cut short is worth \
         nothing: give --budget-usd {} or more, or look at {fitting} tasks with --exploratory --tasks {fitting}",
        total.episodes,
        dollars(total.expected),
        dollars(total.upper),
        dollars(budget),
        total.upper.div_ceil(1_000_000_000_000)
    )))
}

/// Runs the command.
pub(in crate::cli) fn run(
    args: &PlanArgs,
    global: &GlobalArgs,
    inputs: &Inputs,
    output: &mut Output,
) -> Result<u8, Failure> {
    let live: &LiveArgs = &args.live;
    let part = Part { arms: &args.arms, tasks: args.tasks };
    let undertaking = Undertaking::new(Asked::Part(part), live, global, inputs)?;
    if live.live {
        let budget =
            live.budget_usd.ok_or_else(|| Failure::usage("a live run needs a ceiling: give --budget-usd N"))?;
        super::may_start(&undertaking, live, global, inputs, budget, output)?;
    }
    let arms = of_undertaking(&undertaking, inputs)?;
    let total = Total::of(&arms);
    let worth = worth(live.suite, &undertaking, inputs)?;
    let seconds = total.requests * SECONDS / u64::from(live.concurrency.get());
    let fits = live.budget_usd.map(|budget| total.upper <= budget);
    let price = &undertaking.price;
    let document = Document {
        model: &undertaking.settings.model,
        prices: format!("{}, as of {}", price.source, price.as_of),
        suite: if live.suite == LiveSuite::Tools { "tools" } else { "results" },
        exploratory: &undertaking.exploratory,
        cache_minimum: undertaking.capability.row.cache_minimum_tokens,
        worth,
        arms: &arms,
        total,
        minutes: seconds.div_ceil(60),
        fits,
    };
    if output.json {
        output.document(&document)?;
    } else {
        table(&document, live, price, output)?;
    }
    Ok(exit::OK)
}

/// What the tasks are worth under the protocol's planning assumptions.
fn worth(suite: LiveSuite, undertaking: &Undertaking, inputs: &Inputs) -> Result<Option<Worth>, Failure> {
    let protocol = &inputs.protocol;
    let tasks = undertaking.prepared.families[0].tasks.len();
    let (assumed, whole) = match suite {
        LiveSuite::Tools => {
            let sizes = &protocol.suites.tools;
            (Assumptions::of(protocol), tasks == sizes.tool_tasks + sizes.abstain_tasks)
        }
        LiveSuite::Results => (Assumptions::of_results(protocol), true),
    };
    let bug = |error| Failure::new(exit::BUG, error);
    let mut assumed = assumed.map_err(bug)?;
    // Of a part of the suite, abstain tasks are a part too; a part has few tasks per frame.
    if !whole || suite == LiveSuite::Results {
        assumed.n = Some(tasks);
    }
    Ok(plan(&assumed).map_err(bug)?.at_n)
}

fn table(
    document: &Document<'_>,
    live: &LiveArgs,
    price: &bench_protocol::prices::Price,
    output: &mut Output,
) -> Result<(), Failure> {
    let kind = if document.exploratory.is_empty() { "confirmatory" } else { "exploratory" };
    let out = &mut output.product();
    writeln!(out, "{kind} run of the {} suite on {}", document.suite, document.model)?;
    writeln!(
        out,
        "prices per million tokens: input ${}, cache write ${}, cache read ${}, output ${} ({})",
        price.input, price.cache_write_5m, price.cache_read, price.output, document.prices
    )?;
    if let Some(minimum) = document.cache_minimum {
        writeln!(out, "prefixes of {minimum} tokens and more are cached")?;
    }
    if let Some(worth) = &document.worth {
        writeln!(
            out,
            "n = {} tasks, worth {} independent ones: power {:.3} per endpoint, at least {:.3} on both",
            worth.n, worth.effective, worth.power, worth.joint_at_least
        )?;
        let share = |value: Option<f64>| {
            value.map_or_else(|| "none".to_owned(), |value| format!("{:.2} points", 100.0 * value))
        };
        writeln!(
            out,
            "smallest loss shown as damage: {}; largest loss still certified: {}",
            share(worth.minimum_detectable_loss),
            share(worth.largest_tolerated_loss)
        )?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "{:<14} {:>8} {:>8} {:>7} {:>6} {:>12} {:>10} {:>10} {:>12}",
        "arm", "episodes", "requests", "prefix", "cached", "prompt tok", "expected", "upper", "all turns"
    )?;
    for arm in document.arms {
        writeln!(
            out,
            "{:<14} {:>8} {:>8} {:>7} {:>6} {:>12} {:>10} {:>10} {:>12}",
            arm.arm,
            arm.episodes,
            arm.requests,
            arm.prefix,
            if arm.cached { "yes" } else { "no" },
            arm.prompt,
            dollars(arm.expected),
            dollars(arm.upper),
            dollars(arm.all_turns)
        )?;
    }
    let total = &document.total;
    writeln!(
        out,
        "{:<14} {:>8} {:>8} {:>7} {:>6} {:>12} {:>10} {:>10} {:>12}",
        "total",
        total.episodes,
        total.requests,
        "",
        "",
        "",
        dollars(total.expected),
        dollars(total.upper),
        dollars(total.all_turns)
    )?;
    writeln!(out)?;
    let time = span(std::time::Duration::from_secs(document.minutes * 60));
    writeln!(out, "about {time} at {} in flight and {SECONDS} s an answer", live.concurrency)?;
    match (document.fits, live.budget_usd) {
        (Some(true), Some(budget)) => writeln!(out, "the ceiling of {} holds the upper estimate", dollars(budget))?,
        (Some(false), Some(budget)) => writeln!(
            out,
            "the ceiling of {} does not hold the upper estimate of {}: a confirmatory run would be refused",
            dollars(budget),
            dollars(total.upper)
        )?,
        _ => {
            writeln!(out, "a confirmatory run needs --budget-usd {} or more", total.upper.div_ceil(1_000_000_000_000))?;
        }
    }
    Ok(())
}
