//! `bench completions` and `bench man`: from the one definition of the command line.

use clap::CommandFactory as _;
use clap_mangen::Man;

use super::args::CompletionsArgs;
use crate::{
    cli::{args::Cli, failure::Failure, output::Output},
    exit,
};

/// Prints a shell's completions.
pub(in crate::cli) fn completions(args: &CompletionsArgs, output: &mut Output) -> Result<u8, Failure> {
    // Made in memory: the generator panics where its writer fails, and a pipe may close.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "bench", &mut text);
    output.bytes().write_all(&text)?;
    Ok(exit::OK)
}

/// Prints the man page, commands included.
pub(in crate::cli) fn man(output: &mut Output) -> Result<u8, Failure> {
    let mut command = Cli::command();
    command.build();
    Man::new(command.clone()).render(output.bytes())?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let name = format!("bench-{}", sub.get_name());
        Man::new(sub.clone()).title(name).render(output.bytes())?;
    }
    Ok(exit::OK)
}
