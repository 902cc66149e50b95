//! How many calls per second the client and the mock server make together over loopback, whole tool lists in every
//! request: `cargo bench -p bench --bench loopback [-- CALLS [CONCURRENCY]]`. Prints calls, bytes and processor time.

#![expect(clippy::print_stdout, reason = "its figures are its product")]

use std::{
    fs,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use bench_harness::{
    inputs::{Inputs, Overrides},
    models::{Attempt, BaseUrl, Endpoint, Model, Outcome, Provider, Timeouts, connect},
    run::{
        family::Family,
        mock,
        prepare::{Prepared, RunSpec},
    },
    wire::{Request, Settings},
};
use bench_mock_model::{
    Behaviour, Noise, ScriptedModel,
    server::{Ledger, MockServer, Options, Script},
};
use bench_results::record::DrawId;
use tokio::{net::TcpListener, task::JoinSet};

/// Calls unless another number is given.
const CALLS: u64 = 20_000;

/// Requests in flight unless another number is given.
const CONCURRENCY: usize = 64;

/// Tasks that the calls go round.
const TASKS: u64 = 400;

/// What all workers share.
struct Load {
    inputs: Inputs,
    family: Family,
    settings: Settings,
    model: Box<dyn Model>,
    calls: u64,
    next_task: AtomicU64,
    made: AtomicU64,
    bytes: AtomicU64,
}

fn main() -> anyhow::Result<()> {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let calls = numbers.first().copied().unwrap_or(CALLS);
    let concurrency = numbers.get(1).map_or(Ok(CONCURRENCY), |&number| usize::try_from(number))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(calls, concurrency))
}

async fn measure(calls: u64, concurrency: usize) -> anyhow::Result<()> {
    let inputs = Inputs::load(&Overrides::default())?;
    let spec = RunSpec::of(&inputs, &inputs.protocol.seeds.primary, &["raw".to_owned()], Some(TASKS))?;
    let mut prepared = Prepared::new(&inputs, &spec)?;
    let family = prepared.families.swap_remove(0);
    let noise = Noise::new(mock::rates(&inputs.protocol.mock), prepared.seeds.mock);
    let key = Arc::new(mock::answer_key(&family.tasks));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = MockServer::new(Options {
        model: ScriptedModel::new(Behaviour::Noisy, key, noise),
        script: Script::default(),
        ledger: Ledger::open(tempfile::NamedTempFile::new()?.path())?,
        delay: Duration::ZERO,
        keyless: true,
    })?;
    let serving = tokio::spawn(async move { server.serve(listener).await });
    let load = Arc::new(Load {
        settings: Settings { service_tier: Some("standard_only".to_owned()), ..Settings::of(&inputs.protocol) },
        model: client(address, &inputs)?,
        inputs,
        family,
        calls,
        next_task: AtomicU64::new(0),
        made: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    });
    let (start, before) = (Instant::now(), processor_time()?);
    let mut workers = JoinSet::new();
    for _ in 0..concurrency {
        workers.spawn(work(Arc::clone(&load)));
    }
    while let Some(worker) = workers.join_next().await {
        worker??;
    }
    let (elapsed, spent) = (start.elapsed(), processor_time()?.saturating_sub(before));
    serving.abort();
    let (made, bytes) = (load.made.load(Ordering::Relaxed), load.bytes.load(Ordering::Relaxed));
    println!(
        "{made} calls in {:.2} s at concurrency {concurrency}: {:.0} calls/s; {:.0} bytes per request; {:.0} µs of processor \
         time per call (client and server), so {:.0} calls/s on two free cores",
        elapsed.as_secs_f64(),
        made as f64 / elapsed.as_secs_f64(),
        bytes as f64 / made as f64,
        spent.as_secs_f64() * 1e6 / made as f64,
        2.0 * made as f64 / spent.as_secs_f64(),
    );
    Ok(())
}

fn client(address: SocketAddr, inputs: &Inputs) -> anyhow::Result<Box<dyn Model>> {
    Ok(connect(Endpoint {
        provider: Provider::Anthropic,
        base: BaseUrl::parse(&format!("http://{address}"))?,
        key: None,
        model: inputs.protocol.model.id.clone(),
        api_version: inputs.protocol.model.api_version.clone(),
        timeouts: Timeouts::default(),
        mock: true,
    })?)
}

/// Plays whole episodes until enough calls were made.
async fn work(load: Arc<Load>) -> anyhow::Result<()> {
    let Load { inputs, family, settings, model, .. } = &*load;
    let arm = &family.arms[0];
    let mut body = Vec::new();
    loop {
        let index = load.next_task.fetch_add(1, Ordering::Relaxed) % family.tasks.len();
        let task = family.tasks.task(index).context("a task of the plan")?;
        let mut episode = task.episode(arm.as_ref(), &inputs.catalogs, &inputs.protocol.episode)?;
        while !episode.ended() {
            if load.made.fetch_add(1, Ordering::Relaxed) >= load.calls {
                load.made.fetch_sub(1, Ordering::Relaxed);
                return Ok(());
            }
            let surface = Arc::clone(episode.surface());
            let system = family.system(&inputs.protocol);
            model
                .wire()
                .encode(&Request { settings, system, surface: &surface, entries: episode.entries() }, &mut body);
            load.bytes.fetch_add(body.len() as u64, Ordering::Relaxed);
            let draw = DrawId { task: task.id().clone(), arm: arm.info().id.0.as_str().into(), turn: episode.turn() };
            match model.complete(Attempt { body: &body, draw: &draw }).await {
                Outcome::Reply(answered) => episode.accept(answered.reply),
                other => anyhow::bail!("{other:?}"),
            }
        }
    }
}

/// Processor time of this process so far, all threads. Linux: fields 14 and 15 of `/proc/self/stat`, in hundredths of a
/// second.
fn processor_time() -> anyhow::Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').context("a process name in brackets")?.1;
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap_or(0)).sum();
    Ok(Duration::from_millis(ticks * 10))
}
