//! `bench power`: what a verdict will be worth, before a cent is spent.

use std::{fs, io::Write as _};

use bench_protocol::{
    plan::{Assumptions, Curve, Plan, curves, plan},
    simulate::{Layout, Outlook, Scenario, Simulator, table::outlooks},
    spec::{Decimal, Protocol},
    stats::sample_size::MAX_PLANNED,
};
use serde::Serialize;

use super::{args::PowerArgs, failure::Failure, output::Output, simulate};
use crate::{exit, plot};

/// Discordances that curves are drawn for.
const DISCORDANCES: [f64; 6] = [0.01, 0.02, 0.03, 0.05, 0.08, 0.10];

/// What the command prints as JSON.
#[derive(Debug, Serialize)]
struct Report {
    /// Which suite.
    suite: &'static str,
    /// One endpoint of one level, exact.
    plan: Plan,
    /// Exact power by number of tasks.
    curves: Vec<Curve>,
    /// What the whole rule will say, simulated; none where it was not asked for or the tasks do not nest.
    outlook: Option<Simulated>,
}

/// What the whole rule will say.
#[derive(Debug, Serialize)]
struct Simulated {
    /// Sizes.
    layout: Layout,
    /// Trials per row.
    replicates: u64,
    /// Levels, in the order of testing.
    levels: Vec<String>,
    /// By scenario and true difference.
    rows: Vec<Outlook>,
}

/// Runs the command.
pub(super) fn run(args: &PowerArgs, protocol: &Protocol, output: &mut Output) -> Result<u8, Failure> {
    // An unwritable path is told before the work starts.
    let svg = args.svg.as_ref().map(fs::File::create).transpose()?;
    let protocol = args.over(protocol)?;
    let assumptions = args.assumptions(&protocol)?;
    let plan = plan(&assumptions)?;
    let report = Report {
        suite: if args.results { "results" } else { "tools" },
        curves: curves(&assumptions, &truths(&assumptions), &sizes(&plan, 6))?,
        outlook: if args.results { None } else { simulated(args, &protocol, output)? },
        plan,
    };
    if let Some(mut file) = svg {
        let drawn = curves(&assumptions, &truths(&assumptions), &sizes(&report.plan, 60))?;
        let title = format!("Power of one endpoint, margin {}", assumptions.margin);
        let text = plot::power_curves(&title, &drawn, assumptions.target, assumptions.n)?;
        file.write_all(text.as_bytes())?;
    }
    if output.json {
        output.document(&report)?;
    } else {
        print(&report, output)?;
    }
    Ok(exit::OK)
}

impl PowerArgs {
    /// The protocol with what was given instead of its own values.
    fn over(&self, protocol: &Protocol) -> Result<Protocol, Failure> {
        let mut protocol = self.layout.over(protocol)?;
        if let Some(text) = &self.margin {
            protocol.test.margin = text.parse()?;
        }
        let replace = |to: &mut Decimal, value: &Option<Decimal>| {
            if let Some(value) = value {
                to.clone_from(value);
            }
        };
        replace(&mut protocol.test.alpha, &self.alpha);
        replace(&mut protocol.power.rho_frame, &self.rho_frame);
        replace(&mut protocol.power.difference, &self.difference);
        if self.results {
            replace(&mut protocol.power.results_discordance, &self.discordance);
            replace(&mut protocol.power.results_target, &self.target);
            protocol.suites.results.tasks = self.n.unwrap_or(protocol.suites.results.tasks);
        } else {
            replace(&mut protocol.power.discordance, &self.discordance);
            replace(&mut protocol.power.target_per_endpoint, &self.target);
            protocol.suites.tools.tool_tasks = self.n.unwrap_or(protocol.suites.tools.tool_tasks);
        }
        Ok(protocol)
    }

    /// The assumptions of the exact part; `--clusters` makes frames of a size that need not be whole.
    fn assumptions(&self, protocol: &Protocol) -> Result<Assumptions, Failure> {
        let mut assumed = if self.results { Assumptions::of_results(protocol)? } else { Assumptions::of(protocol)? };
        if let (Some(clusters), Some(n)) = (self.clusters, assumed.n) {
            if clusters == 0 || clusters > n {
                return Err(Failure::usage(format!(
                    "--clusters takes a number from 1 to the {n} tasks, not {clusters}"
                )));
            }
            assumed.cluster_size = n as f64 / clusters as f64;
        }
        if self.results && self.rho_frame.is_some() {
            assumed.rho = protocol.power.rho_frame.value();
        }
        Ok(assumed)
    }
}

/// The whole rule at the planned sizes; none where it is not asked for or there is no layout for it.
fn simulated(args: &PowerArgs, protocol: &Protocol, output: &Output) -> Result<Option<Simulated>, Failure> {
    if args.trials.replicates == 0 {
        return Ok(None);
    }
    let layout = match Layout::of(protocol) {
        Ok(layout) if args.clusters.is_none_or(|clusters| clusters == layout.frames()) => layout,
        Ok(layout) => {
            output.talk(&format!(
                "the outlook is left out: the sizes have {} frames; give --frames-per-tool and --tasks-per-frame",
                layout.frames()
            ));
            return Ok(None);
        }
        Err(error) => {
            output.talk(&format!("the outlook is left out: {error}"));
            return Ok(None);
        }
    };
    let simulator = Simulator::new(protocol, layout, args.trials.seed(protocol))?;
    let power = &protocol.power;
    let scenarios = Scenario::outlooks(
        protocol.test.margin.value(),
        power.discordance.value(),
        power.rho_frame.value(),
        args.rho_tool.value(),
    );
    let levels = &protocol.arms.levels;
    let rows = outlooks(&simulator, &scenarios, levels.len(), args.trials.replicates, args.trials.threads())?;
    Ok(Some(Simulated { layout, replicates: args.trials.replicates, levels: levels.clone(), rows }))
}

/// The truths that curves are drawn for: the usual discordances and the assumed one.
fn truths(assumptions: &Assumptions) -> Vec<(f64, f64)> {
    let mut all = DISCORDANCES.to_vec();
    all.push(assumptions.discordance);
    all.sort_by(f64::total_cmp);
    all.dedup();
    all.into_iter().map(|discordance| (discordance, assumptions.difference)).collect()
}

/// Numbers of tasks up to twice what is planned or needed, within what a plan is computed for.
fn sizes(plan: &Plan, points: u64) -> Vec<u64> {
    let planned = plan.at_n.as_ref().map_or(0, |worth| worth.n);
    let needed = plan.sizes.map_or(0, |sizes| sizes.nested);
    let top = if planned > 0 { planned } else { needed }.max(100);
    let last = (2 * top).min(MAX_PLANNED);
    (1..=points).map(|step| (last * step).div_ceil(points)).collect()
}

fn print(report: &Report, output: &mut Output) -> Result<(), Failure> {
    let Plan { assumptions, deff, sizes, at_n } = &report.plan;
    let out = &mut output.product();
    writeln!(
        out,
        "{} suite, one endpoint of one level: margin {}, one-sided alpha {}, exact",
        report.suite,
        assumptions.margin,
        assumptions.alpha.value()
    )?;
    writeln!(
        out,
        "assumed: discordance {}, difference {}, correlation {} in frames of {} (design effect {deff:.2})\n",
        assumptions.discordance,
        assumptions.difference,
        assumptions.rho,
        short(assumptions.cluster_size)
    )?;
    match sizes {
        Some(sizes) => writeln!(
            out,
            "{:<37}{} independent (Nam {:.0}, Wald {:.0}), {} in such frames",
            format!("tasks for power {}", assumptions.target),
            sizes.independent,
            sizes.nam,
            sizes.wald,
            sizes.nested
        )?,
        None => writeln!(out, "no number of tasks certifies a difference at or below the margin")?,
    }
    if let Some(worth) = at_n {
        let rate = |found: Option<f64>| found.map_or_else(|| "none".to_owned(), |rate| format!("{rate:.4}"));
        writeln!(out, "at n = {}, worth {} independent tasks", worth.n, worth.effective)?;
        writeln!(out, "  {:<35}{:.3}", "power", worth.power)?;
        if report.suite == "tools" {
            writeln!(out, "  {:<35}{:.3}", "both endpoints, at least", worth.joint_at_least)?;
        }
        writeln!(out, "  {:<35}{:.4}", "size of the score test, at most", worth.sup_size)?;
        let target = assumptions.target;
        let lines = [
            ("largest discordance certified", worth.largest_discordance),
            ("largest true loss certified", worth.largest_tolerated_loss),
            ("smallest true loss shown as damage", worth.minimum_detectable_loss),
        ];
        for (name, found) in lines {
            writeln!(out, "  {name:<35}{} with power {target}", rate(found))?;
        }
    }
    print_curves(&report.curves, assumptions.difference, out)?;
    if let Some(simulated) = &report.outlook {
        writeln!(out)?;
        print_outlook(simulated, out)?;
    }
    Ok(())
}

/// A number without a fraction that says nothing.
fn short(value: f64) -> String {
    format!("{value:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn print_curves(curves: &[Curve], difference: f64, out: &mut dyn std::io::Write) -> Result<(), Failure> {
    let Some(first) = curves.first() else { return Ok(()) };
    writeln!(out, "\npower by tasks (rows) and discordance (columns), at difference {difference}")?;
    write!(out, "{:>7}", "")?;
    for curve in curves {
        write!(out, "{:>7}", curve.discordance)?;
    }
    writeln!(out)?;
    for (row, &(n, _)) in first.points.iter().enumerate() {
        write!(out, "{n:>7}")?;
        for (_, power) in curves.iter().filter_map(|curve| curve.points.get(row)) {
            write!(out, "{power:>7.3}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn print_outlook(simulated: &Simulated, out: &mut dyn std::io::Write) -> Result<(), Failure> {
    let layout = &simulated.layout;
    writeln!(
        out,
        "the whole rule at n = {} ({} tools x {} frames x {} tasks), {} trials",
        layout.n(),
        layout.tools,
        layout.frames_per_tool,
        layout.tasks_per_frame,
        simulated.replicates
    )?;
    simulate::print_outlooks(&simulated.levels, &simulated.rows, out)
}
