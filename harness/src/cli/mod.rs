//! The command line: arguments become values once, then one function per command runs.

pub mod args;
mod arms;
mod catalog;
mod check;
pub mod ci;
mod compare;
mod definitions;
mod doctor;
mod explain;
mod failure;
mod freeze;
mod import;
mod interrupt;
mod live;
mod mock_server;
mod number;
mod output;
mod parse;
mod pilot;
mod power;
mod progress;
mod protocol;
mod publish;
mod replay_server;
mod report;
mod retrieval;
mod rift;
mod sessions;
mod simulate;
mod stats;
mod surface;
mod tasks;
mod verify;

use std::io::Write as _;

use bench_results::report::text::spelled;

use args::{Cli, Command};
use failure::Failure;
use output::Output;

use crate::{exit, inputs::Inputs, stdio::leftovers, told::told};

/// Parses the command line, runs it, and says what went wrong. Returns the exit code.
pub fn main() -> u8 {
    leftovers::clear_on_panic();
    let cli = match parse::cli(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors; clap knows which stream each belongs to.
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE } else { exit::OK };
        }
    };
    let mut output = Output::new(&cli.global);
    let result = run(&cli, &mut output).and_then(|code| {
        output.flush()?;
        Ok(code)
    });
    match result {
        Ok(code) => code,
        Err(Failure { code: exit::OK, .. }) => exit::OK,
        Err(Failure { code, error }) => {
            // What was printed before the error belongs to the reader; a closed pipe takes nothing any more.
            let _ = output.flush();
            let _ = writeln!(std::io::stderr(), "error: {}", spelled(&told(&error)));
            code
        }
    }
}

fn run(cli: &Cli, output: &mut Output) -> Result<u8, Failure> {
    // Started once per call by some compressors, so it loads no more than it replays.
    if let Some(Command::ReplayServer(args)) = &cli.command {
        return replay_server::run(args, &cli.global);
    }
    let inputs = Inputs::load(&cli.global.overrides())?;
    match &cli.command {
        None if cli.live.live => live::run(&cli.run, &cli.live, &cli.global, &inputs, output),
        None => check::run(&cli.run, &cli.global, &inputs, output),
        Some(Command::Plan(args)) => live::plan(args, &cli.global, &inputs, output),
        Some(Command::Resume(args)) => live::resume(args, output),
        Some(Command::Runs(args)) => live::runs(args, &inputs, output),
        Some(Command::MockServer(args)) => mock_server::run(args, &inputs, output),
        Some(Command::Tasks(args)) => tasks::run(args, &inputs, output),
        Some(Command::Surface(args)) => surface::run(args, &inputs, output),
        Some(Command::Definitions(args)) => definitions::run(args, &inputs, output),
        Some(Command::Stats(args)) => stats::run(args, &inputs.protocol, output),
        Some(Command::Power(args)) => power::run(args, &inputs.protocol, output),
        Some(Command::Simulate(args)) => simulate::run(args, &inputs, output),
        Some(Command::Pilot(args)) => pilot::run(args, &cli.global, &inputs, output),
        Some(Command::Protocol(args)) => protocol::run(args, &inputs, output),
        Some(Command::Verify(args)) => verify::run(args, output),
        Some(Command::Report(args)) => report::run(args, output),
        Some(Command::Verdict(args)) => publish::verdict::run(args, output),
        Some(Command::Show(args)) => publish::show::run(args, output),
        Some(Command::Diff(args)) => publish::diff::run(args, output),
        Some(Command::Rescore(args)) => publish::rescore::run(args, &inputs, output),
        Some(Command::Bundle(args)) => publish::bundle::run(args, output),
        Some(Command::Key(args)) => publish::key::run(args, output),
        Some(Command::Sign(args)) => publish::sign::run(args, output),
        Some(Command::Completions(args)) => publish::shell::completions(args, output),
        Some(Command::Man) => publish::shell::man(output),
        Some(Command::Arms(args)) => arms::run(args, &inputs, output),
        Some(Command::Retrieval(args)) => retrieval::run(args, &inputs, output),
        Some(Command::Rift(args)) => rift::run(args, &inputs, output),
        Some(Command::Sessions(args)) => sessions::run(args, &inputs, output),
        Some(Command::Catalog(args)) => catalog::run(args, &inputs, output),
        Some(Command::Compare(args)) => compare::run(args, &cli.global, &inputs, output),
        Some(Command::Doctor(args)) => doctor::run(args, output),
        Some(Command::ReplayServer(args)) => replay_server::run(args, &cli.global),
    }
}
