//! Arguments of live runs, and of what prepares, resumes and lists them.

use std::{num::NonZeroU32, path::PathBuf};

use clap::{Args, ValueEnum};

use crate::{
    cli::{ci::CiArgs, number::at_least_one},
    models::Provider,
    run::live::schedule::Order,
};

/// Arguments of a live run.
#[derive(Debug, Clone, Args)]
pub struct LiveArgs {
    /// Ask a real model; needs `--budget-usd`.
    #[arg(long, help_heading = "Live run")]
    pub live: bool,
    /// The ceiling in US dollars; no request leaves that could break it. `0` will do for a model that is free.
    #[arg(long, value_name = "N", value_parser = parse_usd, help_heading = "Live run")]
    pub budget_usd: Option<u64>,
    /// The interface to speak; by default the protocol's.
    #[arg(long, value_enum, help_heading = "Live run")]
    pub provider: Option<Provider>,
    /// Exact model id; by default the protocol's.
    #[arg(long, value_name = "ID", help_heading = "Live run")]
    pub model: Option<String>,
    /// Where the API lives, up to the version; by default the provider's own (another makes a run exploratory).
    #[arg(long, value_name = "URL", help_heading = "Live run")]
    pub base_url: Option<String>,
    /// Variable that holds the API key; by default `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, sent to the provider alone.
    #[arg(long, value_name = "VAR", conflicts_with = "api_key_file", help_heading = "Live run")]
    pub api_key_env: Option<String>,
    /// File that holds the API key, readable by its owner alone.
    #[arg(long, value_name = "FILE", help_heading = "Live run")]
    pub api_key_file: Option<PathBuf>,
    /// Requests in flight at most.
    #[arg(long, value_name = "N", default_value = "16", value_parser = at_least_one::<NonZeroU32>, help_heading = "Live run")]
    pub concurrency: NonZeroU32,
    /// Seconds that one attempt may take.
    #[arg(long, value_name = "S", default_value = "600", value_parser = at_least_one::<NonZeroU32>, help_heading = "Live run")]
    pub timeout: NonZeroU32,
    /// The suite to run.
    #[arg(long, value_enum, default_value_t = LiveSuite::Tools, help_heading = "Live run")]
    pub suite: LiveSuite,
    /// Look without the right to certify.
    #[arg(long, help_heading = "Live run")]
    pub exploratory: bool,
    /// Order of episodes; `blocked` reuses prefixes and confounds drift with the arm (makes a run exploratory).
    #[arg(long, value_enum, default_value_t = OrderArg::Interleaved, help_heading = "Live run")]
    pub order: OrderArg,
    /// Price rows that are added to the built-in table or replace its own.
    #[arg(long, value_name = "FILE", help_heading = "Live run")]
    pub prices: Option<PathBuf>,
    /// The endpoint is `bench mock-server`: it is told the draw of each request, and the run is plumbing.
    #[arg(long, requires = "base_url", help_heading = "Live run")]
    pub mock_server: bool,
}

/// A suite, as an argument of live runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LiveSuite {
    /// Single-call tasks over all tools, under the levels and their controls.
    Tools,
    /// Questions over one tool result, under R and its controls.
    Results,
}

/// An order, as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    /// All arms of a task, then the next task.
    Interleaved,
    /// All tasks of an arm, then the next arm.
    Blocked,
}

impl From<OrderArg> for Order {
    fn from(arg: OrderArg) -> Self {
        match arg {
            OrderArg::Interleaved => Self::Interleaved,
            OrderArg::Blocked => Self::Blocked,
        }
    }
}

/// `bench plan`.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Only these arms (the reference is always run).
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// Only the first N tasks.
    #[arg(long, value_name = "N")]
    pub tasks: Option<u64>,
    /// The run that is planned. With `--live`, everything that would refuse it is checked too.
    #[command(flatten)]
    pub live: LiveArgs,
}

/// `bench resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The run: its id, or a beginning that no other id has.
    pub run: String,
    /// Another ceiling in US dollars, mostly a higher one (a recorded deviation).
    #[arg(long, value_name = "N", value_parser = parse_usd)]
    pub budget_usd: Option<u64>,
    /// Go on although attempts cost more than they had reserved (a recorded deviation); the next one stops the run again.
    #[arg(long)]
    pub accept_overrun: bool,
    /// Record as missing what asking again brings no outcome for, however much it is (a recorded deviation).
    #[arg(long)]
    pub accept_missing: bool,
    /// Requests in flight at most; by default as the run was started.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>)]
    pub concurrency: Option<NonZeroU32>,
    /// Variable that holds the API key; needed where the record names another address than the provider's or this machine.
    #[arg(long, value_name = "VAR", conflicts_with = "api_key_file")]
    pub api_key_env: Option<String>,
    /// File that holds the API key, where the run was started with one.
    #[arg(long, value_name = "FILE")]
    pub api_key_file: Option<PathBuf>,
    /// Folder for records.
    #[arg(long, value_name = "DIR", default_value = "results/runs")]
    pub out: PathBuf,
    /// Exit with the verdict of this arm: 0 certified, 10 failed, 11 inconclusive, 12 no verdict.
    #[arg(long, value_name = "ARM")]
    pub require: Option<String>,
    /// For continuous integration.
    #[command(flatten)]
    pub ci: CiArgs,
}

/// `bench runs`.
#[derive(Debug, Args)]
pub struct RunsArgs {
    /// Declare that this run will not be resumed; the ledger keeps it.
    #[arg(long, value_name = "ID")]
    pub abandon: Option<String>,
    /// Folder for records.
    #[arg(long, value_name = "DIR", default_value = "results/runs")]
    pub out: PathBuf,
}

/// Pico-dollars of a plain decimal number of dollars. Exact: what is finer than a pico-dollar is refused.
fn parse_usd(text: &str) -> Result<u64, String> {
    const PLACES: usize = 12;
    let number = text.strip_prefix('$').unwrap_or(text);
    let (whole, places) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(places) || places.len() > PLACES {
        return Err("not a plain number of dollars such as 80 or 0.50".to_owned());
    }
    format!("{whole}{places:0<PLACES$}").parse().map_err(|_| "more dollars than can be counted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse_usd;

    #[test]
    fn dollars_are_exact_or_refused() {
        assert_eq!(parse_usd("80"), Ok(80_000_000_000_000));
        assert_eq!(parse_usd("$0.50"), Ok(500_000_000_000));
        assert_eq!(parse_usd("0"), Ok(0));
        assert_eq!(parse_usd("0.000000000001"), Ok(1));
        for text in ["", "-1", "1e3", "1,5", ".5", "5.", "0.0000000000001", "99999999999", "NaN", "∞"] {
            assert!(parse_usd(text).is_err(), "{text}");
        }
    }
}
