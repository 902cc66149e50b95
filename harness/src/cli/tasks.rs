//! `bench tasks`: print or check tasks.

use std::io::Write as _;

use bench_protocol::rng::derive_seed;
use bench_tasks::{
    check,
    generate::{Generator, Plan},
    report,
    results_suite::ResultGenerator,
};

use super::{
    args::{SuiteArg, TasksAction, TasksArgs},
    failure::Failure,
    output::Output,
};
use crate::{exit, inputs::Inputs, plan};

/// Runs the command.
pub fn run(args: &TasksArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    match args.action {
        Some(TasksAction::Check) => run_check(inputs, output),
        Some(TasksAction::Report) => run_report(inputs, output),
        None => print(args, inputs, output),
    }
}

fn print(args: &TasksArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let seed_text = args.seed.as_deref().unwrap_or(&inputs.protocol.seeds.primary);
    let seeds = plan::SuiteSeeds::derive(&inputs.protocol, seed_text)?;
    match args.suite {
        SuiteArg::Tools => {
            let generator = Generator::new(&inputs.intents, &inputs.catalogs, seeds.tools, plan::tool_plan(&inputs.protocol, args.n))?;
            for index in 0..generator.len() {
                serde_json::to_writer(output.product(), &generator.task(index)?)?;
                output.product().write_all(b"\n")?;
            }
        }
        SuiteArg::Results => {
            let n = args.n.unwrap_or(inputs.protocol.suites.results.tasks);
            let generator = ResultGenerator::new(&inputs.catalogs, seeds.results, n)?;
            for index in 0..generator.len() {
                serde_json::to_writer(output.product(), &generator.task(index)?)?;
                output.product().write_all(b"\n")?;
            }
        }
    }
    Ok(exit::OK)
}
