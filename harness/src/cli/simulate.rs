//! `bench simulate`: the operating characteristics of the whole rule, over a grid of scenarios.

use std::{
    io::Write,
    num::{NonZeroU32, NonZeroUsize},
    thread,
};

use bench_protocol::{
    simulate::{
        Claim, Layout, Outlook, Scenario, SimulateError, SimulationTable, Simulator,
        table::{At, Row},
    },
    spec::Protocol,
};

use super::{
    args::{LayoutArgs, SimulateArgs, TrialArgs},
    failure::Failure,
    output::Output,
};
use crate::{
    exit,
    inputs::Inputs,
    run::planted::{MARGIN, Planted, PlantedRates, Size, planted},
};

impl From<SimulateError> for Failure {
    fn from(error: SimulateError) -> Self {
        Self::new(exit::USAGE, error)
    }
}

impl LayoutArgs {
    /// The protocol with these sizes instead of its own.
    pub(super) fn over(self, protocol: &Protocol) -> Result<Protocol, SimulateError> {
        let mut protocol = protocol.clone();
        if self.tools.is_none() && self.frames_per_tool.is_none() && self.tasks_per_frame.is_none() {
            return Ok(protocol);
        }
        let layout = Layout::of(&protocol)?;
        let or = |given: Option<NonZeroU32>, own: u32| given.map_or(own, NonZeroU32::get);
        let suite = &mut protocol.suites.tools;
        suite.frames_per_tool = or(self.frames_per_tool, layout.frames_per_tool);
        suite.tasks_per_frame = or(self.tasks_per_frame, layout.tasks_per_frame);
        let sides = [or(self.tools, layout.tools), suite.frames_per_tool, suite.tasks_per_frame];
        suite.tool_tasks = sides.into_iter().map(u64::from).fold(1, u64::saturating_mul);
        Ok(protocol)
    }
}

impl TrialArgs {
    /// The seed text.
    pub(super) fn seed<'a>(&'a self, protocol: &'a Protocol) -> &'a str {
        self.seed.as_deref().unwrap_or(&protocol.seeds.primary)
    }

    /// The number of threads.
    pub(super) fn threads(&self) -> NonZeroUsize {
        self.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }
}

/// Runs the command.
pub(super) fn run(args: &SimulateArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    if let Some(runs) = args.through_program {
        return through_program(runs.get(), args, inputs, output);
    }
    if args.trials.replicates == 0 {
        return Err(Failure::usage("--replicates takes a number of at least 1"));
    }
    let protocol = args.layout.over(&inputs.protocol)?;
    let scenarios = chosen(Scenario::grid_of(&protocol), &args.scenario)?;
    let seed = args.trials.seed(&protocol);
    let simulator = Simulator::new(&protocol, Layout::of(&protocol)?, seed)?;
    let (replicates, threads) = (args.trials.replicates, args.trials.threads());
    let table = SimulationTable::new(&protocol, &simulator, scenarios, seed, replicates, threads)?;
    if output.json {
        output.document(&table)?;
    } else {
        print(&table, output)?;
    }
    Ok(exit::OK)
}

/// Sizes of full offline runs.
const THROUGH_PROGRAM: Size = Size { frames_per_tool: 2, tasks_per_frame: 3 };

/// Full offline runs with planted losses.
fn through_program(runs: u64, args: &SimulateArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let (seed, threads) = (args.trials.seed(&inputs.protocol), args.trials.threads());
    let alpha = inputs.protocol.test.alpha.value();
    let mut all: Vec<PlantedRates> = Vec::new();
    for kind in Planted::ALL {
        output.talk(&format!("{}: {runs} runs", kind.name()));
        all.push(planted(inputs, kind, THROUGH_PROGRAM, runs, seed, threads)?);
    }
    if output.json {
        output.document(&all)?;
    } else {
        let out = &mut output.product();
        writeln!(out, "full offline runs in which L0 truly loses the margin, {MARGIN}, of {} tasks", all[0].tasks)?;
        writeln!(
            out,
            "{:<18} {:>5} {:>10} {:>10} {:>12} {:>14} {:>11}",
            "losses", "runs", "mean loss", "certified", "tool-robust", "as independent", "no verdict"
        )?;
        for rates in &all {
            writeln!(
                out,
                "{:<18} {:>5} {:>10.4} {:>10} {:>12} {:>14} {:>11}{}",
                rates.planted.name(),
                rates.runs,
                rates.mean_loss,
                rates.certified,
                rates.tool_robust,
                rates.as_independent,
                rates.no_verdict,
                rates.defects(alpha).iter().map(|defect| format!("  {defect}")).collect::<String>()
            )?;
        }
        writeln!(
            out,
            "tools-0.1 is held to the tool-robust claim, the others to certified; as independent: G1 and G2 alone pass"
        )?;
    }
    let sound = all.iter().all(|rates| rates.defects(alpha).is_empty());
    Ok(if sound { exit::OK } else { exit::PLUMBING })
}

/// The scenarios of these names, all where none is named.
fn chosen(all: Vec<Scenario>, names: &[String]) -> Result<Vec<Scenario>, Failure> {
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|scenario| scenario.name != **name)) {
        let known: Vec<&str> = all.iter().map(|scenario| scenario.name.as_str()).collect();
        return Err(Failure::usage(format!("no scenario is called `{unknown}`; there are {}", known.join(", "))));
    }
    Ok(all.into_iter().filter(|scenario| names.is_empty() || names.contains(&scenario.name)).collect())
}

fn print(table: &SimulationTable, output: &mut Output) -> Result<(), Failure> {
    let layout = table.layout;
    let out = &mut output.product();
    writeln!(
        out,
        "n = {} ({} tools x {} frames x {} tasks), margin {}, one-sided alpha {}; {} trials per rate",
        layout.n(),
        layout.tools,
        layout.frames_per_tool,
        layout.tasks_per_frame,
        table.margin,
        table.alpha,
        table.replicates,
    )?;
    writeln!(
        out,
        "size of the score test at this n, over all discordances up to 0.5 (exact): {:.2} %\n",
        100.0 * table.sup_size
    )?;
    writeln!(out, "certified (frames) and certified tool-robust (tools): percent and its standard error")?;
    writeln!(out, "{:<20} {:<7} {:<7} {:>6}  by level", "scenario", "at", "claim", "psi")?;
    for scenario in &table.scenarios {
        for (at, at_name) in [(At::Margin, "margin"), (At::Null, "null")] {
            for (claim, claim_name) in [(Claim::Frames, "frames"), (Claim::Tools, "tools")] {
                let rows: Vec<&Row> = table
                    .rows
                    .iter()
                    .filter(|row| row.scenario == scenario.name && row.at == at && row.claim == claim)
                    .collect();
                let Some(first) = rows.first() else { continue };
                write!(out, "{:<20} {at_name:<7} {claim_name:<7} {:>6.3} ", scenario.name, first.discordance)?;
                for row in &rows {
                    let over = if row.within == Some(false) { "!" } else { " " };
                    write!(out, " {} {:>5.2} ({:.2}){over}", row.level, 100.0 * row.rate, 100.0 * row.se)?;
                }
                writeln!(out)?;
            }
        }
    }
    print_excesses(table, out)?;
    if !table.outlooks.is_empty() {
        writeln!(out)?;
        print_outlooks(&table.levels, &table.outlooks, out)?;
    }
    Ok(())
}

/// The rows that lie above the level, with the reason where one was known beforehand.
fn print_excesses(table: &SimulationTable, out: &mut dyn Write) -> Result<(), Failure> {
    let mut told: Vec<(&str, Claim)> = Vec::new();
    for row in table.rows.iter().filter(|row| row.within == Some(false)) {
        if told.is_empty() {
            writeln!(out, "\n! above alpha + 3 standard errors")?;
        }
        if told.contains(&(&row.scenario, row.claim)) {
            continue;
        }
        told.push((&row.scenario, row.claim));
        let why = row.caveat.as_deref().unwrap_or("UNEXPECTED: the rule does not hold its level here");
        let claim = if row.claim == Claim::Frames { "frames" } else { "tools" };
        writeln!(out, "  {} ({claim}): {why}", row.scenario)?;
    }
    if told.is_empty() {
        writeln!(out, "\nno rate at the margin lies above alpha + 3 standard errors")?;
    }
    Ok(())
}

/// What the whole rule will say, in percent.
pub(super) fn print_outlooks(levels: &[String], rows: &[Outlook], out: &mut dyn Write) -> Result<(), Failure> {
    let percent = |rate: f64| format!("{:.1}", 100.0 * rate);
    writeln!(out, "what the rule will say if every level has this true difference: percent")?;
    write!(out, "{:<20} {:>10} {:>6}", "scenario", "difference", "both")?;
    for level in levels {
        write!(out, " {level:>6}")?;
    }
    writeln!(out, " {:>7} {:>8} {:>9} {:>10}", "robust", "default", "fallback", "no verdict")?;
    for row in rows {
        write!(out, "{:<20} {:>10} {:>6}", row.scenario, row.difference, percent(row.endpoints[2].rate))?;
        for level in &row.certified {
            write!(out, " {:>6}", percent(level.rate))?;
        }
        let last = |all: &[bench_protocol::simulate::Spread]| all.last().map_or(0.0, |spread| spread.rate);
        writeln!(
            out,
            " {:>7} {:>8} {:>9} {:>10}",
            percent(last(&row.tool_robust)),
            percent(last(&row.default)),
            percent(row.default_none.rate),
            percent(row.no_verdict.rate)
        )?;
    }
    let largest = rows.iter().flat_map(|row| row.certified.iter().map(|spread| spread.se)).fold(0.0, f64::max);
    let last = levels.last().map_or("the last level", String::as_str);
    writeln!(
        out,
        "both: the gates pass on both endpoints of a level. L0 and on: certified, in the fixed sequence, so {last} is\n\
         the whole chain. robust: {last} certified and tool-robust. default: the default rule turns {last} on, after a\n\
         replication; fallback: it turns nothing on by its own merit. Standard errors up to {:.1} points.",
        100.0 * largest
    )?;
    Ok(())
}
