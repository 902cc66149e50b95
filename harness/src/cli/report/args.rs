//! Arguments of `bench report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `bench report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A record's folder, a bundle, or the beginning of a run's id under `--out`.
    pub run: String,
    /// One HTML page that holds everything.
    #[arg(long, conflicts_with_all = ["markdown", "csv"])]
    pub html: bool,
    /// Markdown, short enough for the summary of a CI job.
    #[arg(long, conflicts_with = "csv")]
    pub markdown: bool,
    /// One row per episode, or per attempt.
    #[arg(long, value_enum, value_name = "TABLE", num_args = 0..=1, require_equals = true, default_missing_value = "episodes")]
    pub csv: Option<Table>,
    /// File to write; `-` or nothing for stdout. An existing file is replaced once the report is whole.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The ledger as it is published now, for the check of the one look.
    #[arg(long, value_name = "FILE", conflicts_with = "unverified")]
    pub ledger: Option<PathBuf>,
    /// Do not verify the record; the report then says that nobody did.
    #[arg(long)]
    pub unverified: bool,
    /// Folder for records.
    #[arg(long, value_name = "DIR", default_value = "results/runs")]
    pub out: PathBuf,
}

/// A table of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// One row per episode.
    Episodes,
    /// One row per attempt.
    Attempts,
}
