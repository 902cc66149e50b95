//! `bench mock-server`: the scripted model behind a socket.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bench_mock_model::{
    AnswerKey, Behaviour, Noise, ScriptedModel,
    server::{Ledger, MockServer, Options, Script},
};
use clap::Args;
use serde::Serialize;
use tokio::net::TcpListener;

use super::{failure::Failure, output::Output};
use crate::{
    exit,
    inputs::Inputs,
    plan::SuiteSeeds,
    run::{family::TaskSource, mock},
};

/// `bench mock-server`.
#[derive(Debug, Args)]
pub struct MockServerArgs {
    /// Address to listen on; port 0 takes a free one. The product line on stdout is the base URL.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Fault script (TOML): which requests are struck by what.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Behaviour of the scripted model.
    #[arg(long, value_name = "BEHAVIOUR", default_value = "noisy")]
    pub behaviour: Behaviour,
    /// Seed text of the tasks it knows the answers to; by default the protocol's primary seed.
    #[arg(long, value_name = "TEXT")]
    pub seed: Option<String>,
    /// Know the tasks of a run of N tool tasks too; the protocol's own are always known.
    #[arg(long, value_name = "N")]
    pub tasks: Option<u64>,
    /// Append what is billed for each request to this file (JSON Lines), before the reply leaves.
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// Milliseconds before each reply.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    pub delay: u64,
    /// Serve requests without a key too.
    #[arg(long)]
    pub keyless: bool,
}

#[derive(Serialize)]
struct Started {
    url: String,
}

/// Runs the command, until it is interrupted.
pub(super) fn run(args: &MockServerArgs, inputs: &Inputs, output: &mut Output) -> Result<u8, Failure> {
    let script = args.script.as_deref().map_or(Ok(Script::default()), read_script)?;
    let ledger = args.ledger.as_deref().map_or(Ok(Ledger::default()), Ledger::open);
    let server = MockServer::new(Options {
        model: model(args, inputs)?,
        script,
        ledger: ledger.map_err(|error| Failure::new(exit::INPUT, error))?,
        delay: Duration::from_millis(args.delay),
        keyless: args.keyless,
    })
    .map_err(|error| Failure::new(exit::BUG, error))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(args.listen, &server, output))
}

async fn serve(address: SocketAddr, server: &MockServer, output: &mut Output) -> Result<u8, Failure> {
    let unusable = |error| Failure::usage(format!("cannot listen on {address}: {error}; name another --listen"));
    let listener = TcpListener::bind(address).await.map_err(unusable)?;
    let url = format!("http://{}", listener.local_addr().map_err(unusable)?);
    if output.json {
        output.document(&Started { url })?;
    } else {
        writeln!(output.product(), "{url}")?;
    }
    output.flush()?;
    tokio::select! {
        served = server.serve(listener) => served?,
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    output.talk(&format!("billed {} pico-dollars", server.billed()));
    Ok(exit::OK)
}

fn read_script(path: &Path) -> Result<Script, Failure> {
    let named =
        |error: &dyn std::fmt::Display| Failure::new(exit::INPUT, anyhow::anyhow!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| named(&error))?;
    Script::parse(&text).map_err(|error| named(&error))
}

/// The model, with the key to the protocol's tasks and to those of the shorter run that was named.
fn model(args: &MockServerArgs, inputs: &Inputs) -> Result<ScriptedModel, Failure> {
    let protocol = &inputs.protocol;
    let seeds = SuiteSeeds::derive(protocol, args.seed.as_deref().unwrap_or(&protocol.seeds.primary))?;
    let mut key = AnswerKey::default();
    for n in [args.tasks, None] {
        // Of a folder of somebody's own catalogs a whole suite may not be had.
        let tools = TaskSource::tools(inputs, &seeds, n);
        match tools {
            Ok(tasks) => key = key.merge(mock::answer_key(&tasks)),
            Err(error) if n.is_some() || args.tasks.is_none() => return Err(error.into()),
            Err(_) => {}
        }
    }
    if let Ok(tasks) = TaskSource::results(inputs, &seeds, protocol.suites.results.tasks) {
        key = key.merge(mock::answer_key(&tasks));
    }
    Ok(ScriptedModel::new(args.behaviour, Arc::new(key), Noise::new(mock::rates(&protocol.mock), seeds.mock)))
}
