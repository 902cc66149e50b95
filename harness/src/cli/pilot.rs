//! `bench pilot`: what to assume before a protocol is locked, from dev frames.

use std::{num::NonZeroUsize, path::Path, thread};

use bench_protocol::plan::{Assumptions, Plan, plan};
use bench_results::{
    analysis::{Declaration, Pilot, PilotArm, Role},
    record::{Record, RunKind},
};
use serde::Serialize;

use super::{
    args::{GlobalArgs, PilotArgs},
    failure::Failure,
    live,
    output::Output,
};
use crate::{
    exit,
    inputs::Inputs,
    run::{
        mock::Mock,
        pilot::{self, PilotSpec},
        prepare::Prepared,
    },
};

/// What the command prints as JSON.
#[derive(Debug, Serialize)]
struct Report {
    /// What answered.
    model: String,
    /// Whether that was a scripted model, of which nothing is to be declared.
    scripted: bool,
    /// The estimates, and what to declare.
    pilot: Pilot,
    /// What the declared numbers ask for.
    plan: Plan,
}

/// Runs the command.
pub(super) fn run(args: &PilotArgs, global: &GlobalArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let asked = PilotSpec { levels: args.arms.clone(), per_frame: args.per_frame.get(), seed: args.seed.clone() };
    let spec = pilot::spec(inputs, &asked).map_err(|error| Failure::new(exit::USAGE, error))?;
    if args.live.live {
        return live::pilot(spec, &args.live, global, inputs, &args.out, output);
    }
    let prepared = Prepared::new(inputs, &spec).map_err(|error| Failure::new(exit::USAGE, error))?;
    let model = Mock::new(args.mock, &inputs.protocol.mock, &prepared);
    let threads = args.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let pilot = pilot::run(inputs, &prepared, &model, threads)?;
    show(format!("mock {}", args.mock), true, pilot, inputs, output)
}

/// Prints what a live pilot on record came to.
pub(super) fn of_record(folder: &Path, output: &mut Output) -> Result<u8, Failure> {
    let input = |error: anyhow::Error| Failure::new(exit::INPUT, error);
    let record = Record::open(folder).map_err(|error| input(error.into()))?;
    let (inputs, pilot) = pilot::of_record(&record).map_err(input)?;
    let manifest = record.manifest();
    show(manifest.model.asked.clone(), manifest.kind == RunKind::Plumbing, pilot, &inputs, output)
}

fn show(model: String, scripted: bool, pilot: Pilot, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let assumptions = Assumptions {
        discordance: pilot.declare.discordance,
        rho: pilot.declare.rho_frame.unwrap_or_else(|| inputs.protocol.power.rho_frame.value()),
        ..Assumptions::of(&inputs.protocol)?
    };
    let report = Report { model, scripted, plan: plan(&assumptions)?, pilot };
    if output.json {
        output.document(&report)?;
    } else {
        print(&report, output)?;
    }
    Ok(exit::OK)
}

fn print(report: &Report, output: &mut Output) -> Result<(), Failure> {
    let Report { model, scripted, pilot, plan } = report;
    let level = 100.0 * (1.0 - 2.0 * plan.assumptions.alpha.value());
    let out = &mut output.product();
    writeln!(
        out,
        "pilot with {model} on {} tasks of {} dev frames; intervals at {level} %\n",
        pilot.tasks, pilot.frames
    )?;
    for (endpoint, seen) in &pilot.accuracy {
        writeln!(
            out,
            "raw right on {:<10} {:>5} of {}, {:.3} [{:.3}, {:.3}]",
            endpoint.name(),
            seen.right,
            seen.tasks,
            seen.right as f64 / seen.tasks as f64,
            seen.interval.lower,
            seen.interval.upper
        )?;
    }
    writeln!(
        out,
        "\n{:<12} {:>6} {:>5} {:>12} {:>18} {:>10} {:>7} {:>9} {:>8}",
        "arm", "losses", "gains", "discordance", "interval", "rho frame", "turns", "tokens in", "out"
    )?;
    for arm in &pilot.arms {
        writeln!(
            out,
            "{:<12} {:>6} {:>5} {:>12.4} {:>18} {:>10} {:>7.2} {:>9.0} {:>8.0}",
            arm.arm,
            arm.loss,
            arm.gain,
            arm.discordance,
            format!("[{:.4}, {:.4}]", arm.discordance_interval.lower, arm.discordance_interval.upper),
            arm.rho_frame.map_or_else(|| "none".to_owned(), |rho| format!("{rho:.2}")),
            arm.turns,
            arm.prompt,
            arm.output
        )?;
    }
    for arm in pilot.arms.iter().filter(|arm| arm.billed > 0.0) {
        writeln!(out, "{:<12} {:.2} dollars per 1,000 episodes", arm.arm, arm.billed * 1e3 / 1e12)?;
    }
    noise(&pilot.arms, out)?;
    write!(out, "{}", declaration(*scripted, &pilot.declare))?;
    match (&plan.sizes, &plan.at_n) {
        (Some(sizes), Some(worth)) => writeln!(
            out,
            "\nwith these, power {} per endpoint takes {} tasks; the protocol's {} have {:.3}",
            plan.assumptions.target, sizes.nested, worth.n, worth.power
        )?,
        _ => writeln!(out, "\nno number of tasks reaches the target with these")?,
    }
    writeln!(out, "a pilot is no evidence: dev frames are never scored, and nothing here was tested")?;
    Ok(())
}

/// What the second pass of raw says.
fn noise(arms: &[PilotArm], out: &mut dyn std::io::Write) -> Result<(), Failure> {
    if let Some(again) = arms.iter().find(|arm| arm.role == Role::Again) {
        writeln!(
            out,
            "\nraw differs from itself on {:.2} % of tasks: no level can show less on average",
            100.0 * again.discordance
        )?;
    }
    Ok(())
}

/// What to write into the protocol. Whoever wrote a scripted model chose its noise: there is nothing to learn from it about
/// a real one.
fn declaration(scripted: bool, declare: &Declaration) -> String {
    if scripted {
        return "\na scripted model answered: do not declare these\n".to_owned();
    }
    let rho = match declare.rho_frame {
        Some(rho) => format!("rho_frame = \"{rho:.2}\""),
        None => "rho_frame: no frame shows any; keep the assumption".to_owned(),
    };
    format!(
        "\nto declare in the protocol before it is locked:\n  [power]  discordance = \"{:.3}\"\n  [power]  {rho}\n  [guards] \
         assay_floor = \"{:.2}\"\n",
        declare.discordance, declare.assay_floor
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_real_model_showed_is_to_be_declared() {
        let declare = Declaration { discordance: 0.035, rho_frame: Some(0.25), assay_floor: 0.8 };
        insta::assert_snapshot!(declaration(false, &declare), @r#"

        to declare in the protocol before it is locked:
          [power]  discordance = "0.035"
          [power]  rho_frame = "0.25"
          [guards] assay_floor = "0.80"
        "#);
        let unknown = declaration(false, &Declaration { rho_frame: None, ..declare });
        assert!(unknown.contains("keep the assumption"), "{unknown}");
        assert!(!declaration(true, &declare).contains("[power]"));
    }
}
