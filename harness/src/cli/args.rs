//! Arguments, one definition for parsing, help, completions and man page.

mod planning;

use std::{
    ffi::OsString,
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
};

use bench_mock_model::Behaviour;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub use planning::{LayoutArgs, PilotArgs, PowerArgs, SimulateArgs, TrialArgs};

use super::{
    ci::CiArgs,
    live::args::{LiveArgs, PlanArgs, ResumeArgs, RunsArgs},
    mock_server::MockServerArgs,
    number::at_least_one,
    publish::args::{
        BundleArgs, CompletionsArgs, DiffArgs, KeyArgs, RescoreArgs, ShowArgs, SignArgs, VerdictArgs, VerifyArgs,
    },
    report::args::ReportArgs,
};
use crate::inputs::Overrides;

/// A pre-registered accuracy benchmark harness for MCP compressors.
///
/// Without a command: the offline plumbing check. Every level and control is replayed over the real catalogs against a
/// scripted model, scored, tested and certified as plumbing. A scripted model is never evidence about a real one.
#[derive(Debug, Parser)]
#[command(name = "bench", version, max_term_width = 100, subcommand_negates_reqs = true)]
pub struct Cli {
    /// What to do; nothing: the offline check.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The offline check's own arguments.
    #[command(flatten)]
    pub run: RunArgs,
    /// A live run's arguments.
    #[command(flatten)]
    pub live: LiveArgs,
    /// Arguments that every command takes.
    #[command(flatten)]
    pub global: GlobalArgs,
}

/// Arguments that every command takes.
#[derive(Debug, Clone, Args)]
pub struct GlobalArgs {
    /// Folder of catalogs instead of the vendored ones (makes a run exploratory).
    #[arg(long, global = true, value_name = "DIR", help_heading = "Inputs")]
    pub catalogs: Option<PathBuf>,
    /// Folder of intents instead of the built-in ones (makes a run exploratory).
    #[arg(long, global = true, value_name = "DIR", help_heading = "Inputs")]
    pub intents: Option<PathBuf>,
    /// Protocol file instead of the built-in one (makes a run exploratory).
    #[arg(long, global = true, value_name = "FILE", help_heading = "Inputs")]
    pub protocol: Option<PathBuf>,
    /// Print one JSON document instead of tables.
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// Print nothing but the product and errors.
    #[arg(long, short, global = true, help_heading = "Output")]
    pub quiet: bool,
    /// Colours; `NO_COLOR` turns them off too.
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
}

impl GlobalArgs {
    /// The overrides among them.
    pub fn overrides(&self) -> Overrides {
        Overrides {
            catalogs: self.catalogs.clone(),
            intents: self.intents.clone(),
            protocol: self.protocol.clone(),
            locks: None,
        }
    }
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Arguments of a run.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Behaviour of the scripted model.
    #[arg(long, value_name = "BEHAVIOUR", default_value = "noisy", conflicts_with = "live", help_heading = "Run")]
    pub mock: Behaviour,
    /// Only these arms (the reference is always run).
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Run")]
    pub arms: Vec<String>,
    /// Only the first N tool tasks and as large a share of the other suite.
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub tasks: Option<u64>,
    /// Folder for records.
    #[arg(long, value_name = "DIR", default_value = "results/runs", help_heading = "Run")]
    pub out: PathBuf,
    /// Threads; the result does not depend on it.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>, conflicts_with = "live", help_heading = "Run")]
    pub threads: Option<NonZeroUsize>,
    /// Exit with the verdict of this arm: 0 certified, 10 failed, 11 inconclusive, 12 no verdict.
    #[arg(long, value_name = "ARM", help_heading = "Run")]
    pub require: Option<String>,
    /// For continuous integration.
    #[command(flatten)]
    pub ci: CiArgs,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the tasks of a suite as JSON Lines, or check the intents.
    Tasks(TasksArgs),
    /// Print what an arm shows the model at the start of a session.
    Surface(SurfaceArgs),
    /// Print tools, bytes and tokens per server and arm, and the saving against raw.
    Definitions(DefinitionsArgs),
    /// Test anybody's paired 2×2 table, or the worst case over all splits of published margins.
    Stats(StatsArgs),
    /// What a verdict will be worth: sample size, power, and what the whole rule will say.
    Power(PowerArgs),
    /// Simulate the whole rule on nested tasks: its size at the margin and its power, over a grid.
    Simulate(SimulateArgs),
    /// Estimate what a protocol should assume, on frames that are never scored.
    Pilot(PilotArgs),
    /// Show, check or freeze the protocol.
    Protocol(ProtocolArgs),
    /// Recompute a record's tasks, surfaces, scores, statistics and certificate.
    Verify(VerifyArgs),
    /// Power, cost and time of a live run, before anything is spent.
    Plan(PlanArgs),
    /// A run for readers: one HTML page, Markdown, tables, or one JSON document.
    Report(ReportArgs),
    /// Go on with a live run exactly where it ended.
    Resume(ResumeArgs),
    /// List runs: ids, state, model, cost.
    Runs(RunsArgs),
    /// What a product may turn on: the default rule over a primary and a replication run.
    Verdict(VerdictArgs),
    /// Print what a model saw and did on one task, or which tasks there are to look at.
    Show(ShowArgs),
    /// Compare two runs, pair by pair.
    Diff(DiffArgs),
    /// Score and judge an old record under the rules in force now (post hoc).
    Rescore(RescoreArgs),
    /// Pack a record into one archive, the same bytes wherever it is packed.
    Bundle(BundleArgs),
    /// Make a key for signing.
    Key(KeyArgs),
    /// Verify a record and sign what was found.
    ///
    /// The attestation, an in-toto statement in a DSSE envelope under your Ed25519 key, names every file of the record with
    /// its SHA-256: manifest, inputs, certificate, attempts, episodes. Surfaces are covered through the log of attempts, which
    /// names each by its digest. It also states the checks that were made, how far you stand behind the record, and which
    /// build checked. Not covered: the report, which is made from the record, and the ledger that a bundle takes along. A named
    /// file that was changed since, or a file that was added, makes the check `signature` of `bench verify` fail.
    Sign(SignArgs),
    /// Print completions for a shell.
    Completions(CompletionsArgs),
    /// Print the man page.
    Man,
    /// Serve the scripted model over both wire formats, with bills and faults (docs/mock-server.md).
    MockServer(MockServerArgs),
    /// List the arms.
    Arms(ArmsArgs),
    /// What each arm's search surfaces, and what its definitions cost, without a model.
    Retrieval(RetrievalArgs),
    /// Which tools a search by meaning is likely to take for one another.
    Rift(RiftArgs),
    /// Many requests of one user in one session, scripted model: accuracy and cost by position.
    Sessions(SessionsArgs),
    /// Capture the tool list of an MCP server, or look at catalogs for oddities.
    Catalog(CatalogArgs),
    /// Compare raw, built-in arms and compressors from outside on the same tasks.
    Compare(CompareArgs),
    /// Say which runtimes and compressors are there, and how to get the rest.
    Doctor(DoctorArgs),
    /// Be an MCP server on stdio that replays a catalog: the upstream of a compressor under test.
    ReplayServer(ReplayServerArgs),
}

/// `bench tasks`.
#[derive(Debug, Args)]
pub struct TasksArgs {
    /// Another action than printing tasks.
    #[command(subcommand)]
    pub action: Option<TasksAction>,
    /// Suite.
    #[arg(long, value_enum, default_value_t = SuiteArg::Tools)]
    pub suite: SuiteArg,
    /// Seed text; by default the protocol's primary seed.
    #[arg(long, value_name = "TEXT")]
    pub seed: Option<String>,
    /// Number of tasks; by default the protocol's.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU64>)]
    pub n: Option<NonZeroU64>,
}

/// Actions of `bench tasks`.
#[derive(Debug, Subcommand)]
pub enum TasksAction {
    /// Validate every intent: slots, golds under their schemas, strata, names, likeness, matchers by their tables.
    Check(TasksCheckArgs),
    /// Coverage by tool, stratum, voice and writer, how near frames are, and how hard they are for word overlap.
    Report,
    /// Write a commented intent file for a catalog, with a stub per tool and stratum.
    Scaffold(ScaffoldArgs),
    /// Turn requests that somebody else wrote into catalogs and intents.
    Import(ImportArgs),
    /// Print one utterance per frame, without golds, for a blind reader.
    AuditSheet(AuditSheetArgs),
    /// Hold a reader's answers against the golds.
    AuditScore(AuditScoreArgs),
}

/// `bench tasks check`.
#[derive(Debug, Args)]
pub struct TasksCheckArgs {
    /// Folder of matcher tables; by default the built-in ones, for the built-in intents only.
    #[arg(long, value_name = "DIR")]
    pub matchers: Option<PathBuf>,
}

/// `bench tasks audit-sheet`.
#[derive(Debug, Args)]
pub struct AuditSheetArgs {
    /// Only these frames, by full id; the sheet shows no id.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub frames: Vec<String>,
    /// Seed text of the sheet.
    #[arg(long, value_name = "TEXT", default_value = "audit")]
    pub seed: String,
}

/// `bench tasks audit-score`.
#[derive(Debug, Args)]
pub struct AuditScoreArgs {
    /// Answers, JSON Lines: `item`, `server`, `tool` (null for none), `arguments`, `note`.
    pub file: PathBuf,
    /// Seed text of the sheet.
    #[arg(long, value_name = "TEXT", default_value = "audit")]
    pub seed: String,
}

/// A suite, as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SuiteArg {
    /// Single-call tasks over all tools, abstain tasks included.
    Tools,
    /// Questions over one tool result.
    Results,
}

/// `bench surface`.
#[derive(Debug, Args)]
pub struct SurfaceArgs {
    /// The arm.
    #[arg(long, value_name = "ARM")]
    pub arm: String,
}

/// `bench definitions`.
#[derive(Debug, Args)]
pub struct DefinitionsArgs {
    /// Only these arms.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub arms: Vec<String>,
}

/// `bench stats`.
#[derive(Debug, Args)]
pub struct StatsArgs {
    /// Counts: both right, loss (only raw right), gain (only the arm right), both wrong.
    #[arg(
        long,
        value_name = "N11,N10,N01,N00",
        value_delimiter = ',',
        num_args = 1,
        required_unless_present_any = ["margins", "published"]
    )]
    pub table: Vec<u64>,
    /// Right under raw, right under the arm, tasks: worst-case p over every split.
    #[arg(long, value_name = "RAW_RIGHT,ARM_RIGHT,N", value_delimiter = ',', num_args = 1, conflicts_with = "table")]
    pub margins: Vec<u64>,
    /// Counts that somebody published, as a file: every split and clustering that fits them, read by the gates.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["table", "margins", "margin", "alpha"])]
    pub published: Option<PathBuf>,
    /// Non-inferiority margin; by default the protocol's.
    #[arg(long, value_name = "D")]
    pub margin: Option<String>,
    /// One-sided level; by default the protocol's.
    #[arg(long, value_name = "A")]
    pub alpha: Option<f64>,
    /// Print each step of the decision in words and numbers.
    #[arg(long, requires = "table", conflicts_with = "margins")]
    pub explain: bool,
}

/// `bench protocol`.
#[derive(Debug, Args)]
pub struct ProtocolArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: ProtocolAction,
}

/// Actions of `bench protocol`.
#[derive(Debug, Subcommand)]
pub enum ProtocolAction {
    /// Print the protocol and the current lock.
    Show,
    /// Recompute the lock's digests and name what drifted.
    Check,
    /// Write a new lock.
    Freeze(FreezeArgs),
}

/// `bench protocol freeze`.
#[derive(Debug, Args)]
pub struct FreezeArgs {
    /// Why a new lock is needed.
    #[arg(long)]
    pub reason: String,
    /// Whether any model output over these tasks had been seen.
    #[arg(long, value_enum)]
    pub data_seen: YesNo,
    /// Folder of locks.
    #[arg(long, value_name = "DIR", default_value = "protocol/locks")]
    pub locks: PathBuf,
    /// Output of `bench simulate --json` for this protocol; by default the one compiled in.
    #[arg(long, value_name = "FILE")]
    pub simulation: Option<PathBuf>,
    /// The ledger of live runs: after a look at the tasks of a lock, the next one needs new seeds.
    #[arg(long, value_name = "FILE", default_value = "results/ledger.jsonl")]
    pub ledger: PathBuf,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// `bench retrieval`.
#[derive(Debug, Args)]
pub struct RetrievalArgs {
    /// Only these arms.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// Number of tasks; by default the protocol's.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU64>)]
    pub n: Option<NonZeroU64>,
    /// A program that turns texts into vectors, for the arms that need one: see `scripts/embedder.py`.
    #[arg(long, value_name = "CMD")]
    pub embedder: Option<String>,
    /// A program that counts tokens, beside the tokenizers that are built in. May be given several times.
    #[arg(long, value_name = "CMD")]
    pub tokenizer: Vec<String>,
    /// Time searches at 28, 500 and 2,000 tools too.
    #[arg(long)]
    pub latency: bool,
}

/// `bench sessions`.
#[derive(Debug, Args)]
pub struct SessionsArgs {
    /// Only these arms.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// Behaviour of the scripted model.
    #[arg(long, value_name = "BEHAVIOUR", default_value = "oracle")]
    pub mock: Behaviour,
    /// Number of sessions.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroU64>, default_value = "25")]
    pub sessions: NonZeroU64,
    /// A program that turns texts into vectors, for the arms that need one: see `scripts/embedder.py`.
    #[arg(long, value_name = "CMD")]
    pub embedder: Option<String>,
}

/// `bench rift`.
#[derive(Debug, Args)]
pub struct RiftArgs {
    /// A program that turns texts into vectors; by default nearness is that of words.
    #[arg(long, value_name = "CMD")]
    pub embedder: Option<String>,
}

/// `bench arms`.
#[derive(Debug, Args)]
pub struct ArmsArgs {
    /// Another action than listing.
    #[command(subcommand)]
    pub action: Option<ArmsAction>,
}

/// Actions of `bench arms`.
#[derive(Debug, Subcommand)]
pub enum ArmsAction {
    /// Run the arm contract over the catalogs.
    Check,
}

/// `bench tasks scaffold`.
#[derive(Debug, Args)]
pub struct ScaffoldArgs {
    /// The catalog file, as `bench catalog capture` writes it; the server is named after it.
    pub catalog: PathBuf,
    /// File to write; stdout without it. An existing file is not overwritten.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// `bench tasks import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Where the requests come from.
    #[command(subcommand)]
    pub source: ImportSource,
}

/// Sources of `bench tasks import`.
#[derive(Debug, Subcommand)]
pub enum ImportSource {
    /// Files of the Berkeley Function-Calling Leaderboard: questions and possible answers, as JSON Lines, in any order.
    Bfcl(ImportFiles),
    /// A table with the columns utterance, server, tool, arguments, over the catalogs in use.
    Csv(ImportFiles),
    /// JSON Lines with the members utterance, server, tool, arguments, over the catalogs in use.
    Jsonl(ImportFiles),
}

/// Files to import and where to.
#[derive(Debug, Args)]
pub struct ImportFiles {
    /// The files.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Folder that gets `catalogs/` and `intents/`; it must not hold either yet.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// `bench catalog`.
#[derive(Debug, Args)]
pub struct CatalogArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: CatalogAction,
}

/// Actions of `bench catalog`.
#[derive(Debug, Subcommand)]
pub enum CatalogAction {
    /// Start an MCP server on stdio and keep its tool list byte for byte.
    Capture(CaptureArgs),
    /// List what is odd in the catalogs without making them unusable.
    Check,
}

/// `bench catalog capture`.
#[derive(Debug, Args)]
pub struct CaptureArgs {
    /// File to write, or a folder that gets `NAME.json`; stdout without it and without `--name`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Name of the catalog; by default the file's, or the server's own.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Seconds for the whole capture.
    #[arg(long, value_name = "S", value_parser = at_least_one::<NonZeroU64>, default_value = "30")]
    pub timeout: NonZeroU64,
    /// Milliseconds without an announced change after which the list counts.
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    pub settle: u64,
    /// The server's command, after `--`.
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// `bench replay-server`.
#[derive(Debug, Args)]
pub struct ReplayServerArgs {
    /// The catalog; without it all of them as one server, their tools called `server__tool`.
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// File or pipe that every call which arrives is appended to, as JSON Lines: server, tool, arguments, valid.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Whether the server declares that its tool list may change; by default as captured.
    #[arg(long, value_enum, value_name = "YES|NO")]
    pub list_changed: Option<YesNo>,
}

/// `bench compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Command of a compressor that speaks MCP on stdio, such as 'my-proxy -- {upstream}'; `{server}`, `{state}` and
    /// `{config}` are known too; relative paths are of the folder that this is run in. May be given several times.
    #[arg(long, value_name = "CMD")]
    pub proxy: Vec<String>,
    /// The compressors of --proxy keep nothing of an episode: one warm process serves all.
    #[arg(long, requires = "proxy")]
    pub stateless: bool,
    /// File of `[[arm]]` entries. May be given several times.
    #[arg(long, value_name = "FILE")]
    pub arms_file: Vec<PathBuf>,
    /// Only these built-in arms and those of --arms-file (raw and those of --proxy always take part). By default L0 to L3
    /// and the compressors of --proxy and --arms-file; without a compressor, or as `all`, all that are no control.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub arms: Vec<String>,
    /// A program that turns texts into vectors, for the arms that need one: see `scripts/embedder.py`.
    #[arg(long, value_name = "CMD")]
    pub embedder: Option<String>,
    /// Behaviour of the scripted model.
    #[arg(long, value_name = "BEHAVIOUR", default_value = "oracle")]
    pub mock: Behaviour,
    /// Only the first N tasks, 20 at least; by default as many as a run has.
    #[arg(long, value_name = "N")]
    pub tasks: Option<u64>,
    /// Threads; accuracy and cost do not depend on it.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>)]
    pub threads: Option<NonZeroUsize>,
    /// Seconds that a compressor may take to start.
    #[arg(long, value_name = "S", value_parser = at_least_one::<NonZeroU64>)]
    pub start_timeout: Option<NonZeroU64>,
    /// Seconds that a compressor may take to answer a call.
    #[arg(long, value_name = "S", value_parser = at_least_one::<NonZeroU64>)]
    pub call_timeout: Option<NonZeroU64>,
    /// Exit with what a live run with these counts would say of this arm: 0 certified, 10 failed, 11 inconclusive, 12 no
    /// verdict; 31 where a compressor did not start, required or not.
    #[arg(long, value_name = "ARM")]
    pub require: Option<String>,
    /// For continuous integration.
    #[command(flatten)]
    pub ci: CiArgs,
}

/// `bench doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// File of `[[arm]]` entries whose compressors are looked for. May be given several times.
    #[arg(long, value_name = "FILE")]
    pub arms_file: Vec<PathBuf>,
}
