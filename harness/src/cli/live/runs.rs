//! `bench runs`: what was run, how far it came, what it cost.

use std::{fs, path::Path};

use bench_results::record::{ATTEMPTS, EPISODES, Manifest, Record};
use serde::Serialize;

use super::{
    args::RunsArgs,
    resume::{find, kind_word},
    session::{LEDGER, append, ledger_run, refused_by},
};
use crate::{
    cli::{failure::Failure, output::Output, publish::args::elsewhere},
    exit,
    inputs::Inputs,
    journal::Hold,
    ledger::{Chain, Event, Ledger},
    meter::{Books, dollars},
    run::live::folder,
    verify::Log,
};

/// A run that ended by itself before it was complete.
const STOPPED: &str = "stopped";
/// A run whose process was killed.
const OPEN: &str = "open";

/// One run, as listed.
#[derive(Debug, Serialize)]
struct Listed {
    /// Its id.
    id: String,
    /// `complete`, `running`, `stopped` and `open` (killed), which can both be resumed, `abandoned`, `unreadable`.
    state: &'static str,
    /// `live` or `plumbing`.
    kind: &'static str,
    /// Whether it can certify.
    confirmatory: bool,
    /// Model asked.
    model: String,
    /// Its arms.
    arms: Vec<String>,
    /// When it started, for live runs.
    started: Option<String>,
    /// Episodes on record.
    episodes: u64,
    /// Pico-dollars bound so far, kept reservations included; none for a model in process.
    spent: Option<u64>,
    /// The ceiling in pico-dollars.
    budget: Option<u64>,
}

impl Listed {
    /// A run in process has no ceiling; it is simply run again.
    fn can_be_resumed(&self) -> bool {
        [STOPPED, OPEN].contains(&self.state) && self.budget.is_some()
    }
}

/// Runs the command.
pub(in crate::cli) fn run(args: &RunsArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let ledger = Ledger::at(LEDGER);
    if let Some(text) = &args.abandon {
        return abandon(text, &args.out, inputs, &ledger, output);
    }
    let chain = ledger.read().map_err(|error| Failure::new(exit::INPUT, error))?;
    let mut runs = listed(&args.out, &chain)?;
    runs.sort_by(|a, b| (&b.started, &a.id).cmp(&(&a.started, &b.id)));
    if output.json {
        output.document(&runs)?;
        return Ok(exit::OK);
    }
    if runs.is_empty() {
        output.talk(&format!("no runs in {}", args.out.display()));
        return Ok(exit::OK);
    }
    writeln!(
        output.product(),
        "{:<11} {:<10} {:<12} {:<28} {:>8} {:>10} {:>10}",
        "id",
        "state",
        "kind",
        "model",
        "episodes",
        "spent",
        "ceiling"
    )?;
    for run in &runs {
        let money = |amount: Option<u64>| amount.map_or_else(|| "-".to_owned(), dollars);
        let kind = if run.confirmatory { "confirmatory" } else { run.kind };
        writeln!(
            output.product(),
            "{:<11} {:<10} {kind:<12} {:<28} {:>8} {:>10} {:>10}",
            run.id,
            run.state,
            run.model,
            run.episodes,
            money(run.spent),
            money(run.budget)
        )?;
    }
    if let Some(Listed { id, state, .. }) = runs.iter().find(|run| run.can_be_resumed()) {
        let out = elsewhere(&args.out);
        writeln!(
            output.product(),
            "{id} is {state}, not over: `bench resume {id}{out}` goes on with it, `bench runs --abandon {id}{out}` gives it up"
        )?;
    }
    Ok(exit::OK)
}

fn listed(out: &Path, chain: &Chain) -> Result<Vec<Listed>, Failure> {
    let entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::new(exit::INPUT, anyhow::anyhow!("{}: {error}", out.display()))),
    };
    let mut runs = Vec::new();
    for entry in entries {
        let folder = entry?.path();
        let Some(id) = folder.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        if !folder.join("manifest.json").is_file() {
            continue;
        }
        runs.push(match Record::open(&folder) {
            Ok(record) => of_record(&folder, record.manifest(), chain),
            Err(_) => unreadable(id),
        });
    }
    Ok(runs)
}

fn of_record(folder: &Path, manifest: &Manifest, chain: &Chain) -> Listed {
    let last = chain.runs().find(|(entry, _)| entry.run.as_str() == manifest.id).map(|(_, last)| last);
    let state = match last {
        _ if manifest.complete => "complete",
        Some(Event::Abandoned) => "abandoned",
        _ if is_locked(&folder.join(ATTEMPTS)) => "running",
        Some(Event::Stopped) => STOPPED,
        _ => OPEN,
    };
    let books = manifest.budget.map(|_| Log::books_of(folder));
    Listed {
        id: manifest.id.clone(),
        state,
        kind: kind_word(manifest.kind),
        confirmatory: manifest.confirmatory,
        model: manifest.model.asked.clone(),
        arms: manifest.arms.clone(),
        started: manifest.started.clone(),
        episodes: lines(&folder.join(EPISODES)),
        spent: books.map(|books: Books| books.spent.saturating_add(books.reserved)),
        budget: manifest.budget,
    }
}

fn unreadable(id: String) -> Listed {
    Listed {
        id,
        state: "unreadable",
        kind: "-",
        confirmatory: false,
        model: "-".to_owned(),
        arms: Vec::new(),
        started: None,
        episodes: 0,
        spent: None,
        budget: None,
    }
}

/// Whole lines of a file; one that is not there has none.
fn lines(path: &Path) -> u64 {
    fs::read(path)
        .unwrap_or_default()
        .split_inclusive(|&byte| byte == b'\n')
        .filter(|line| line.ends_with(b"\n"))
        .count() as u64
}

/// True where a process is writing the file.
fn is_locked(path: &Path) -> bool {
    fs::File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

fn abandon(text: &str, out: &Path, inputs: &Inputs, ledger: &Ledger, output: &Output) -> Result<u8, Failure> {
    let id = find(text, out)?;
    let folder = out.join(id.as_str());
    let malformed = |error: anyhow::Error| Failure::new(exit::INPUT, error);
    // Nobody may be asking on its behalf, or closing it, while it is given up.
    let _hold = Hold::take(&folder).map_err(|error| malformed(error.into()))?;
    let record = Record::open(&folder).map_err(|error| Failure::new(exit::INPUT, error))?;
    let own = Inputs::of_record(&record.inputs());
    let inputs = own.as_ref().unwrap_or(inputs);
    let Some(terms) = folder::terms(&folder).map_err(malformed)? else {
        return Err(Failure::usage(format!("run {id} is no live run; only those can be abandoned")));
    };
    if record.manifest().complete {
        return Err(Failure::usage(format!("run {id} is complete; it cannot be abandoned")));
    }
    let run = ledger_run(record.manifest(), &terms, inputs)?;
    append(ledger, Event::Abandoned, &run).map_err(refused_by)?;
    output.talk(&format!("run {id} is abandoned; its look is taken all the same"));
    Ok(exit::OK)
}
