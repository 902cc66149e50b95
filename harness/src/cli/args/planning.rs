//! Arguments of the commands that say what a verdict will be worth.

use std::{
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    path::PathBuf,
};

use bench_mock_model::Behaviour;
use bench_protocol::spec::Decimal;
use clap::Args;

use crate::cli::{live::args::LiveArgs, number::at_least_one};

/// Sizes of a suite, where they are not the protocol's.
#[derive(Debug, Clone, Copy, Args)]
pub struct LayoutArgs {
    /// Tools.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>, help_heading = "Sizes")]
    pub tools: Option<NonZeroU32>,
    /// Frames of each tool.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>, help_heading = "Sizes")]
    pub frames_per_tool: Option<NonZeroU32>,
    /// Tasks of each frame.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>, help_heading = "Sizes")]
    pub tasks_per_frame: Option<NonZeroU32>,
}

/// How a simulation is run.
#[derive(Debug, Clone, Args)]
pub struct TrialArgs {
    /// Trials for each rate.
    #[arg(long, value_name = "N", default_value_t = 2_000, help_heading = "Simulation")]
    pub replicates: u64,
    /// Seed text; by default the protocol's primary seed.
    #[arg(long, value_name = "TEXT", help_heading = "Simulation")]
    pub seed: Option<String>,
    /// Threads; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>, help_heading = "Simulation")]
    pub threads: Option<NonZeroUsize>,
}

/// `bench power`. What is not given is the protocol's.
#[derive(Debug, Args)]
pub struct PowerArgs {
    /// Plan the result suite (R) instead of the tool suite.
    #[arg(long)]
    pub results: bool,
    /// Assumed discordance ψ, the share of tasks on which the arm differs from raw.
    #[arg(long, value_name = "PSI")]
    pub discordance: Option<Decimal>,
    /// Assumed true difference Δ, arm minus raw.
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    pub difference: Option<Decimal>,
    /// Non-inferiority margin.
    #[arg(long, value_name = "D")]
    pub margin: Option<String>,
    /// One-sided level.
    #[arg(long, value_name = "A")]
    pub alpha: Option<Decimal>,
    /// Power wanted for one endpoint.
    #[arg(long, value_name = "P")]
    pub target: Option<Decimal>,
    /// Number of tasks, instead of the sizes below.
    #[arg(long, value_name = "N")]
    pub n: Option<u64>,
    /// Number of clusters (frames) that the tasks come in, equally many in each.
    #[arg(long, value_name = "K")]
    pub clusters: Option<u64>,
    /// Assumed correlation of tasks within a frame.
    #[arg(long, value_name = "RHO")]
    pub rho_frame: Option<Decimal>,
    /// Assumed correlation within a tool, for the outlooks that have tool effects.
    #[arg(long, value_name = "RHO", default_value = "0.05")]
    pub rho_tool: Decimal,
    /// Sizes.
    #[command(flatten)]
    pub layout: LayoutArgs,
    /// Simulation of the outlook; `--replicates 0` leaves it out.
    #[command(flatten)]
    pub trials: TrialArgs,
    /// Write the power curves as SVG.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `bench simulate`.
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// Only these scenarios of the grid.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub scenario: Vec<String>,
    /// Instead: this many full offline runs per scenario, the scripted model losing exactly the margin under L0.
    #[arg(long, value_name = "RUNS", value_parser = at_least_one::<NonZeroU64>, conflicts_with_all = ["scenario", "replicates", "tools", "frames_per_tool", "tasks_per_frame"])]
    pub through_program: Option<NonZeroU64>,
    /// Sizes.
    #[command(flatten)]
    pub layout: LayoutArgs,
    /// Trials, seed, threads.
    #[command(flatten)]
    pub trials: TrialArgs,
}

/// `bench pilot`.
#[derive(Debug, Args)]
pub struct PilotArgs {
    /// Behaviour of the scripted model.
    #[arg(long, value_name = "BEHAVIOUR", default_value = "noisy", conflicts_with = "live")]
    pub mock: Behaviour,
    /// Levels beside the two passes of raw; theirs is the discordance to plan with.
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_value = "L0,L1,L2,L3")]
    pub arms: Vec<String>,
    /// Tasks of each dev frame.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU32>, default_value = "3")]
    pub per_frame: NonZeroU32,
    /// Seed text.
    #[arg(long, value_name = "TEXT", default_value = "pilot")]
    pub seed: String,
    /// Threads of the scripted model; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>, conflicts_with = "live")]
    pub threads: Option<NonZeroUsize>,
    /// Folder for the record of a live pilot.
    #[arg(long, value_name = "DIR", default_value = "results/runs", requires = "live")]
    pub out: PathBuf,
    /// A real model in place of the scripted one.
    #[command(flatten)]
    pub live: LiveArgs,
}
