//! A live run as a process that is started, killed and resumed.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use bench_results::record::{EpisodeRecord, Record, Tail, Usage};

use crate::server::MockServer;

/// Arms of the run, the reference first.
pub(crate) const ARMS: [&str; 3] = ["raw", "L0", "L2"];

/// Which interface a run speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    /// Anthropic Messages, with the protocol's model.
    Messages,
    /// Chat Completions, with the model of the replication, on its own tasks.
    Chat,
}

/// A run, started or not.
pub(crate) struct Run {
    folder: tempfile::TempDir,
    url: String,
    api: Api,
    tasks: u64,
    concurrency: u32,
    /// Thousandths of a dollar.
    budget: u64,
    accepts_overrun: bool,
}

impl Run {
    /// A run that has not started, with a budget in thousandths of a dollar.
    pub(crate) fn new(server: &MockServer, concurrency: u32, budget: u64) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            url: server.url(),
            api: server.api(),
            tasks: server.tasks(),
            concurrency,
            budget,
            accepts_overrun: false,
        }
    }

    /// Starts or resumes it and waits; the exit code.
    pub(crate) fn finish(&mut self) -> Option<i32> {
        self.spawn().wait().unwrap().code()
    }

    /// Starts or resumes it, and kills it once the server has seen so many more requests. The exit code, where the end
    /// came first.
    pub(crate) fn for_a_while(&mut self, server: &MockServer, patience: Option<u64>) -> Option<i32> {
        let mut child = self.spawn();
        let Some(patience) = patience else { return child.wait().unwrap().code() };
        let goal = server.requests() + usize::try_from(patience).unwrap();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.code();
            }
            if server.requests() >= goal && self.record().is_some() {
                child.kill().unwrap();
                // It may have ended by itself in between.
                return child.wait().unwrap().code();
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Doubles the budget of the next start.
    pub(crate) fn raise(&mut self) {
        self.budget *= 2;
    }

    /// From the next start on, attempts that cost more than their reservation are accepted.
    pub(crate) fn accept_overrun(&mut self) {
        self.accepts_overrun = true;
    }

    /// What `bench verify` says of it, which must be good.
    pub(crate) fn verified(&self) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
        let output =
            command.current_dir(self.folder.path()).arg("verify").arg(self.record().unwrap()).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{out}");
        out
    }

    /// The budget in pico-dollars.
    pub(crate) fn budget(&self) -> u64 {
        self.budget * 1_000_000_000
    }

    /// The record's folder, once it can be resumed.
    pub(crate) fn record(&self) -> Option<PathBuf> {
        let runs = fs::read_dir(self.folder.path().join("results/runs")).ok()?;
        runs.flatten().map(|run| run.path()).find(|path| path.join("attempts.jsonl").exists())
    }

    /// What it said on stderr.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(self.folder.path().join("said")).unwrap_or_default()
    }

    /// Its episodes, apart from what depends on who warmed a cache and on what was lost.
    pub(crate) fn outcomes(&self) -> BTreeMap<(String, String), EpisodeRecord> {
        let record = Record::open(&self.record().unwrap()).unwrap();
        let episodes = record.episodes(Tail::Report).unwrap().map(|line| line.unwrap());
        episodes
            .map(|mut episode| {
                episode.usage = Usage::default();
                episode.billed = 0;
                ((episode.task.0.clone(), episode.arm.to_string()), episode)
            })
            .collect()
    }

    fn spawn(&self) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
        let said = fs::File::options().create(true).append(true).open(self.folder.path().join("said")).unwrap();
        command.current_dir(self.folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        let budget = format!("{}.{:03}", self.budget / 1_000, self.budget % 1_000);
        match self.record() {
            None => {
                command.args(["--live", "--mock-server", "--base-url", &self.url, "--arms", "L0,L2"]);
                command.args(["--tasks", &self.tasks.to_string(), "--concurrency", &self.concurrency.to_string()]);
                if self.api == Api::Chat {
                    command.args(["--provider", "openai", "--model", "gpt-5-mini"]);
                }
            }
            Some(record) => {
                command.arg("resume").arg(record.file_name().unwrap());
                if self.accepts_overrun {
                    command.arg("--accept-overrun");
                }
            }
        }
        command.args(["--budget-usd", &budget]).spawn().unwrap()
    }
}
