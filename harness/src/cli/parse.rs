//! From the words of a command line to [`Cli`]. An argument that would mean nothing where it stands is refused: whoever
//! wrote it believes that it does something.

use std::ffi::OsString;

use clap::{
    Arg, ArgMatches, Args as _, Command, CommandFactory as _, Error, FromArgMatches as _, error::ErrorKind,
    parser::ValueSource,
};

use super::{args::Cli, live::args::LiveArgs};

/// Parses the words, the program's name first.
pub(super) fn cli(words: impl IntoIterator<Item = OsString>) -> Result<Cli, Error> {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(words)?;
    let stray = before_command(&command, &matches).or_else(|| only_live(&matches)).or_else(|| unread_input(&matches));
    if let Some(why) = stray {
        return Err(command.error(ErrorKind::ArgumentConflict, why));
    }
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// An argument of a command that another command follows, which does not read it. Clap's own
/// `args_conflicts_with_subcommands` would refuse the arguments that every command takes, too.
fn before_command(command: &Command, matches: &ArgMatches) -> Option<String> {
    let (name, inner) = matches.subcommand()?;
    let follows = command.find_subcommand(name)?;
    if let Some(stray) = command.get_arguments().find(|arg| !arg.is_global_set() && is_given(matches, arg)) {
        let stray = written(stray);
        return Some(format!(
            "{stray} stands before `{name}`, which does not read it; its own arguments follow its name"
        ));
    }
    before_command(follows, inner)
}

/// An argument of a live run where there is none. Without `--live` the two commands that know it ask the scripted model.
fn only_live(matches: &ArgMatches) -> Option<String> {
    let matches = match matches.subcommand() {
        None => matches,
        Some(("pilot", pilot)) => pilot,
        Some(_) => return None,
    };
    if matches.get_flag("live") {
        return None;
    }
    let live = LiveArgs::augment_args(Command::new("live"));
    let stray = written(live.get_arguments().find(|arg| is_given(matches, arg))?);
    Some(format!("{stray} is for live runs: add --live"))
}

/// The inputs that can be overridden, by the ids of their arguments.
const INPUTS: [&str; 3] = ["catalogs", "intents", "protocol"];

/// The inputs of a command that it reads where they are overridden, and what it reads in place of the others.
fn inputs_read(command: &[&str]) -> (&'static [&'static str], &'static str) {
    match command {
        ["verify" | "report" | "verdict" | "show" | "diff" | "bundle" | "sign" | "resume" | "runs", ..] => {
            (&[], "it takes everything from the record")
        }
        ["key" | "completions" | "man" | "doctor", ..] | ["catalog", "capture"] => (&[], "it needs none"),
        ["stats" | "power"] | ["tasks", "scaffold"] => (&["protocol"], "it needs no other input"),
        ["replay-server"] => (&["catalogs"], "it needs no other input"),
        _ => (&INPUTS, ""),
    }
}

/// An input that somebody named for a command that does not read it, wherever on the line.
fn unread_input(matches: &ArgMatches) -> Option<String> {
    let (mut command, mut inner) = (Vec::new(), matches);
    while let Some((name, next)) = inner.subcommand() {
        command.push(name);
        inner = next;
    }
    let (read, instead) = inputs_read(&command);
    let stray = INPUTS.into_iter().find(|id| !read.contains(id) && is_named(inner, id))?;
    Some(format!("--{stray} is not read by `{}`: {instead}", command.join(" ")))
}

/// An argument as it is written, without its value. An argument of a command that was not built does not print itself.
fn written(arg: &Arg) -> String {
    arg.get_long().map_or_else(|| arg.get_id().to_string(), |long| format!("--{long}"))
}

/// Whether somebody wrote the argument; a default is not written.
fn is_given(matches: &ArgMatches, arg: &Arg) -> bool {
    is_named(matches, arg.get_id().as_str())
}

/// As [`is_given`], by the argument's id.
fn is_named(matches: &ArgMatches, id: &str) -> bool {
    matches.try_contains_id(id).unwrap_or(false) && matches.value_source(id) == Some(ValueSource::CommandLine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> String {
        let error = cli(line.split(' ').map(OsString::from)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ArgumentConflict, "{line}: {error}");
        error.to_string()
    }

    #[test]
    fn an_argument_before_a_command_that_does_not_read_it_is_refused_by_name() {
        for (line, argument, command) in [
            ("bench --arms L2 compare", "--arms", "compare"),
            ("bench --mock noisy sessions", "--mock", "sessions"),
            ("bench --live plan", "--live", "plan"),
            ("bench --out runs verify RUN", "--out", "verify"),
            ("bench tasks --suite results check", "--suite", "check"),
            ("bench tasks --seed a report", "--seed", "report"),
        ] {
            let said = refusal(line);
            assert!(said.contains(&format!("{argument} stands before `{command}`")), "{line}: {said}");
        }
    }

    #[test]
    fn what_every_command_takes_may_stand_anywhere() {
        for line in
            ["bench --json --catalogs c compare", "bench compare --json --catalogs c", "bench tasks --quiet check"]
        {
            assert!(cli(line.split(' ').map(OsString::from)).is_ok(), "{line}");
        }
    }

    #[test]
    fn an_input_that_a_command_does_not_read_is_refused_wherever_it_stands() {
        for (command, arguments) in [
            ("verify", " RUN"),
            ("report", " RUN"),
            ("verdict", " RUN"),
            ("show", " RUN TASK"),
            ("diff", " RUN RUN"),
            ("bundle", " RUN"),
            ("sign", " RUN"),
            ("resume", " RUN"),
            ("runs", ""),
            ("key new", ""),
            ("completions", " bash"),
            ("man", ""),
            ("doctor", ""),
            ("catalog capture", " -- CMD"),
        ] {
            for input in INPUTS {
                for line in [
                    format!("bench --{input} X {command}{arguments}"),
                    format!("bench {command} --{input} X{arguments}"),
                ] {
                    let said = refusal(&line);
                    assert!(said.contains(&format!("--{input} is not read by `{command}`")), "{line}: {said}");
                }
            }
        }
        for (line, input, command) in [
            ("bench stats --table 1,0,0,0 --catalogs c", "catalogs", "stats"),
            ("bench power --intents i", "intents", "power"),
            ("bench replay-server --protocol p", "protocol", "replay-server"),
            ("bench --intents i tasks scaffold c.json", "intents", "tasks scaffold"),
        ] {
            let said = refusal(line);
            assert!(said.contains(&format!("--{input} is not read by `{command}`")), "{line}: {said}");
        }
    }

    #[test]
    fn every_argument_of_a_live_run_needs_one_even_where_it_repeats_the_default() {
        let live = LiveArgs::augment_args(Command::new("live"));
        let mut tried = 0;
        for arg in live.get_arguments().filter(|arg| arg.get_id() != "live" && arg.get_id() != "mock_server") {
            let value = match arg.get_id().as_str() {
                "provider" => " openai",
                "suite" => " tools",
                "order" => " interleaved",
                _ if arg.get_action().takes_values() => " 1",
                _ => "",
            };
            for command in ["bench", "bench pilot"] {
                let said = refusal(&format!("{command} --{}{value}", arg.get_long().unwrap()));
                assert!(said.contains(&format!("--{} ", arg.get_long().unwrap())), "{said}");
                assert!(said.contains("add --live"), "{said}");
            }
            tried += 1;
        }
        assert!(tried > 10, "{tried}");
    }

    #[test]
    fn a_live_run_refuses_what_only_the_scripted_model_reads() {
        for (line, argument) in [
            ("bench --live --budget-usd 2 --mock noisy", "--mock <BEHAVIOUR>"),
            ("bench --live --budget-usd 2 --threads 2", "--threads <N>"),
            ("bench pilot --live --budget-usd 2 --mock noisy", "--mock <BEHAVIOUR>"),
            ("bench pilot --live --budget-usd 2 --threads 2", "--threads <N>"),
        ] {
            let said = refusal(line);
            assert!(said.contains(argument) && said.contains("--live"), "{line}: {said}");
        }
    }

    #[test]
    fn what_is_read_is_taken() {
        for line in [
            "bench",
            "bench --mock oracle --threads 2 --arms L2",
            "bench --live --budget-usd 2 --suite results --arms R --tasks 50",
            "bench plan --suite results --arms R",
            "bench pilot --mock oracle --arms L2",
            "bench pilot --live --budget-usd 2 --arms L2 --out runs",
            "bench compare --arms L2 --mock oracle",
            "bench tasks --suite results --n 3",
            "bench rescore RUN --protocol p --catalogs c --intents i",
            "bench stats --table 1,0,0,0 --protocol p",
            "bench replay-server --catalogs c",
            "bench tasks check --intents i --catalogs c --protocol p",
            "bench show RUN",
            "bench sign RUN",
        ] {
            assert!(cli(line.split(' ').map(OsString::from)).is_ok(), "{line}");
        }
    }
}
