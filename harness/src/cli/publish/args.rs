//! Arguments of the commands over records.

use std::path::{Path, PathBuf};

use bench_protocol::digest::{Digest, NotADigest};
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::cli::ci::CiArgs;

/// Where records are kept.
const RUNS: &str = "results/runs";

/// ` --out DIR` for a command that is printed; nothing where the records lie where they do by default.
pub(in crate::cli) fn elsewhere(out: &Path) -> String {
    if out == Path::new(RUNS) { String::new() } else { format!(" --out {}", out.display()) }
}

/// A record and where to look for it.
#[derive(Debug, Clone, Args)]
pub struct RecordArgs {
    /// A record's folder, a bundle, or the beginning of a run's id under `--out`.
    pub run: String,
    /// Folder for records.
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    pub out: PathBuf,
}

/// `bench verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Records: folders, bundles, or beginnings of run ids under `--out`.
    #[arg(required = true)]
    pub runs: Vec<String>,
    /// Folder for records.
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    pub out: PathBuf,
    /// The ledger as it is published now, for the one look.
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// A public key that must have signed the record.
    #[arg(long, value_name = "PUB")]
    pub key: Option<PathBuf>,
    /// The lock that the run must be under, by its id (`sha256:…`).
    #[arg(long, value_name = "ID", value_parser = digest)]
    pub lock: Option<Digest>,
    /// Notes fail too: no lock, deviations, no signature, checks that could not be made.
    #[arg(long)]
    pub strict: bool,
    /// For continuous integration.
    #[command(flatten)]
    pub ci: CiArgs,
}

fn digest(text: &str) -> Result<Digest, NotADigest> {
    Digest::try_from(text.to_owned())
}

/// `bench bundle`.
#[derive(Debug, Args)]
pub struct BundleArgs {
    /// The record.
    #[command(flatten)]
    pub record: RecordArgs,
    /// File to write, `-` for stdout; by default `<id>.tar.gz` here.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Withhold private catalogs and all that quotes them; says what can then no longer be verified.
    #[arg(long)]
    pub redact: bool,
    /// The ledger to take along; where it is not there, none is.
    #[arg(long, value_name = "FILE", default_value = "results/ledger.jsonl")]
    pub ledger: PathBuf,
}

/// `bench key`.
#[derive(Debug, Args)]
pub struct KeyArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: KeyAction,
}

/// Actions of `bench key`.
#[derive(Debug, Subcommand)]
pub enum KeyAction {
    /// Make a key pair: FILE for you alone, FILE.pub for everybody.
    New(KeyFile),
    /// Print the id of a public key.
    Id(PublicKeyFile),
}

/// `bench key new`.
#[derive(Debug, Args)]
pub struct KeyFile {
    /// File to write.
    #[arg(short, long, value_name = "FILE", default_value = "bench.key")]
    pub output: PathBuf,
}

/// `bench key id`.
#[derive(Debug, Args)]
pub struct PublicKeyFile {
    /// The public key.
    pub file: PathBuf,
}

/// How far the signer stands behind a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AssuranceArg {
    /// You ran it.
    SelfAttested,
    /// You recomputed somebody else's.
    ReVerified,
    /// You ran it again: name your run with `--replication`.
    Replicated,
}

/// `bench sign`.
#[derive(Debug, Args)]
pub struct SignArgs {
    /// The record; its folder gets `attestation.json`.
    #[command(flatten)]
    pub record: RecordArgs,
    /// Your secret key; `bench key new` makes one.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// How far you stand behind it.
    #[arg(long, value_enum, default_value_t = AssuranceArg::SelfAttested)]
    pub assurance: AssuranceArg,
    /// Your own run of the same protocol.
    #[arg(long, value_name = "RUN", required_if_eq("assurance", "replicated"))]
    pub replication: Option<String>,
}

/// `bench verdict`.
#[derive(Debug, Args)]
pub struct VerdictArgs {
    /// Runs of the primary and of the replication model, any number of families, in any order.
    #[arg(required = true)]
    pub runs: Vec<String>,
    /// Folder for records.
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    pub out: PathBuf,
    /// The ledger, whose runs are all listed.
    #[arg(long, value_name = "FILE", default_value = "results/ledger.jsonl")]
    pub ledger: PathBuf,
}

/// `bench show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The record.
    #[command(flatten)]
    pub record: RecordArgs,
    /// The task's id, or the beginning of it; without it the tasks are listed on which an arm and its reference differ.
    pub task: Option<String>,
    /// Only this arm.
    #[arg(long, value_name = "ARM")]
    pub arm: Option<String>,
    /// Also the tool list of the first turn, as shown.
    #[arg(long, requires = "task")]
    pub surface: bool,
}

/// `bench diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The earlier run.
    pub first: String,
    /// The later run.
    pub second: String,
    /// Folder for records.
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    pub out: PathBuf,
}

/// `bench rescore`.
#[derive(Debug, Args)]
pub struct RescoreArgs {
    /// The record; it stays as it is.
    #[command(flatten)]
    pub record: RecordArgs,
}

/// `bench completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: Shell,
}
