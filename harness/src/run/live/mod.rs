//! Live runs: episodes against a model that costs money and time, many at once, each attempt reserved and on disk before it
//! leaves.
//!
//! One dispatcher holds the schedule and starts an executor per episode, as many as may be in flight. They talk by
//! messages: an executor hands back its episode, or what is known of it, and tells events as they happen. What all share
//! are the journal with its meter, the gate, the warm prefixes and the brake.

mod attempt;
mod breaker;
pub mod confirmatory;
mod driver;
pub mod events;
pub mod folder;
pub mod money;
pub mod overrun;
mod past;
pub mod remake;
pub mod schedule;
pub mod seen;
mod stop;
pub mod terms;
mod warm;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bench_protocol::digest::Digest;
use bench_results::record::{Durability, surface_path, whole::write_whole};
use tokio::{
    sync::{Notify, mpsc},
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};

pub use stop::Stop;

use self::{
    breaker::Breaker,
    driver::{Ended, Open},
    events::{Event, Listener, State},
    money::Money,
    past::Past,
    schedule::{Order, Place, Planned},
    stop::Brake,
    warm::Prefixes,
};
use super::{family::Family, prepare::Prepared};
use crate::{
    inputs::Inputs,
    journal::{Journal, JournalError, Recovered},
    meter::Books,
    models::{Model, gate::Gate, retry::RetryRule},
    surface::Surface,
    told::told,
    wire::Settings,
};

/// Rounds of re-asking that may bring nothing back before what is missing is recorded as missing.
const FRUITLESS_ROUNDS: u32 = 3;

/// Pace of [`Event::Tick`].
const TICK: Duration = Duration::from_millis(250);

/// Everything that a live run of one family is made of, beside its journal.
pub struct Setup {
    /// The inputs.
    pub inputs: Inputs,
    /// The families; the first is run.
    pub prepared: Arc<Prepared>,
    /// Which arms run which tasks.
    pub planned: Planned,
    /// In which order.
    pub order: Order,
    /// The model.
    pub model: Box<dyn Model>,
    /// Fixed fields of a request.
    pub settings: Settings,
    /// Prices.
    pub money: Money,
    /// Requests in flight at most.
    pub concurrency: u32,
    /// The reply must name the model asked for, the standard tier and no region: what prices rest on.
    pub strict: bool,
    /// What stays without an outcome is recorded as missing however much it is.
    pub accept_missing: bool,
    /// Folder of the record.
    pub folder: PathBuf,
}

/// How a run came out.
#[derive(Debug)]
pub struct Report {
    /// Why it ended early; none where every episode is on record.
    pub stop: Option<Stop>,
    /// Its books.
    pub books: Books,
    /// Episodes recorded as missing in this part of the run.
    pub missing: u64,
}

/// What the executors share.
struct Shared {
    inputs: Inputs,
    prepared: Arc<Prepared>,
    model: Box<dyn Model>,
    settings: Settings,
    money: Money,
    strict: bool,
    retry: RetryRule,
    journal: Journal,
    gate: Gate,
    prefixes: Prefixes,
    breaker: Breaker,
    brake: Brake,
    /// Told after every settlement: reservations may have been let go.
    settled: Notify,
    surfaces: Mutex<BTreeSet<Digest>>,
    folder: PathBuf,
    events: mpsc::UnboundedSender<Event>,
}

impl Shared {
    fn family(&self) -> &Family {
        &self.prepared.families[0]
    }

    /// Nobody may be listening any more when a run is torn down.
    fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// Keeps a surface's bytes once. No sync is waited for: the close makes anew what a power cut takes of them.
    fn keep_surface(&self, surface: &Surface) {
        let digest = surface.digest();
        if !self.surfaces.lock().unwrap_or_else(PoisonError::into_inner).insert(digest.clone()) {
            return;
        }
        let path = surface_path(&self.folder, digest);
        if !fs::read(&path).is_ok_and(|bytes| Digest::of(&bytes) == *digest)
            && let Err(error) = write_whole(&path, &surface.bytes(), Durability::None)
        {
            self.brake.pull(Stop::Fault(error.to_string()));
        }
    }

    fn state(&self) -> Result<State, JournalError> {
        Ok(State { books: self.journal.books()?, gate: self.gate.state() })
    }
}

/// Runs what is not yet on record, to the end or until something stops it. The first message on `interrupts` stops the run
/// once the requests under way are answered, the second one at once.
///
/// # Errors
/// The journal cannot be written any more.
pub async fn run(
    setup: Setup,
    journal: Journal,
    recovered: &Recovered,
    listener: &mut dyn Listener,
    interrupts: &mut mpsc::UnboundedReceiver<()>,
) -> Result<Report, JournalError> {
    let Setup { inputs, prepared, planned, order, model, settings, money, concurrency, strict, accept_missing, folder } =
        setup;
    let (events, told) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        retry: RetryRule::from(&inputs.protocol.missing),
        prefixes: Prefixes::new(&settings.cache),
        gate: Gate::new(concurrency),
        breaker: Breaker::new(Instant::now()),
        brake: Brake::new(),
        settled: Notify::new(),
        surfaces: Mutex::new(BTreeSet::new()),
        inputs,
        prepared: Arc::clone(&prepared),
        model,
        settings,
        money,
        strict,
        journal,
        folder,
        events,
    });
    let family = &prepared.families[0];
    let dispatcher = Dispatcher {
        shared: Arc::clone(&shared),
        family,
        recovered,
        queue: planned.schedule(family, order),
        again: VecDeque::new(),
        open: Open::Ask,
        left: Vec::new(),
        planned: &planned,
        episodes: planned.episodes(family),
        accept_missing,
        last: 0,
        fruitless: 0,
        missing: 0,
        executors: JoinSet::new(),
        most: usize::try_from(concurrency.max(1)).unwrap_or(usize::MAX),
        listener,
    };
    let missing = dispatcher.run(told, interrupts).await?;
    let stop = shared.brake.take();
    // Every executor has ended, so nobody else holds it.
    let books = match Arc::into_inner(shared) {
        Some(shared) => shared.journal.finish()?,
        None => return Err(JournalError::Broken("an episode outlived its run".to_owned())),
    };
    Ok(Report { stop, books, missing })
}

struct Dispatcher<'a> {
    shared: Arc<Shared>,
    family: &'a Family,
    recovered: &'a Recovered,
    queue: Box<dyn Iterator<Item = Place> + Send + 'a>,
    /// Episodes that go first: those to be asked again.
    again: VecDeque<(Place, Past)>,
    /// What is done with draws that have no reply.
    open: Open,
    /// Episodes that were left missing in this round.
    left: Vec<(Place, Past)>,
    planned: &'a Planned,
    /// Episodes planned.
    episodes: u64,
    accept_missing: bool,
    /// Episodes that the round before left missing; 0 before the first.
    last: u64,
    /// Rounds that brought nothing back, in a row.
    fruitless: u32,
    /// Episodes recorded as missing.
    missing: u64,
    executors: JoinSet<Ended>,
    most: usize,
    listener: &'a mut dyn Listener,
}

impl Dispatcher<'_> {
    async fn run(
        mut self,
        mut told: mpsc::UnboundedReceiver<Event>,
        interrupts: &mut mpsc::UnboundedReceiver<()>,
    ) -> Result<u64, JournalError> {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        self.tell(&Event::Started { planned: self.episodes, done: self.recovered.episodes.len() as u64 });
        let mut interrupted = false;
        loop {
            self.start()?;
            if self.executors.is_empty() && (self.shared.brake.is_pulled() || !self.next_round()) {
                break;
            }
            tokio::select! {
                Some(ended) = self.executors.join_next() => match ended {
                    Ok(ended) => self.take(ended),
                    Err(error) => self.shared.brake.pull(Stop::Fault(format!("an episode broke off: {error}"))),
                },
                Some(event) = told.recv() => self.tell(&event),
                Some(()) = interrupts.recv() => {
                    if interrupted {
                        self.executors.shutdown().await;
                    } else {
                        interrupted = true;
                        self.shared.brake.pull(Stop::Interrupted);
                        self.tell(&Event::Stopping);
                    }
                }
                _ = ticks.tick() => {
                    let state = self.shared.state()?;
                    self.tell(&Event::Tick(state));
                }
            }
        }
        told.close();
        while let Some(event) = told.recv().await {
            self.tell(&event);
        }
        let state = self.shared.state()?;
        self.tell(&Event::Finished(state));
        Ok(self.missing)
    }

    /// Starts executors while there is room and work.
    fn start(&mut self) -> Result<(), JournalError> {
        while self.executors.len() < self.most && !self.shared.brake.is_pulled() {
            let next = match self.again.pop_front() {
                Some(next) => Some(next),
                None => self.queued()?,
            };
            let Some((place, past)) = next else { break };
            self.executors.spawn(driver::run(Arc::clone(&self.shared), place, past, self.open));
        }
        Ok(())
    }

    /// The next episode of the schedule that is not on record, with what the journal knows of it.
    fn queued(&mut self) -> Result<Option<(Place, Past)>, JournalError> {
        for place in self.queue.by_ref() {
            if self.recovered.episodes.is_empty() && self.recovered.draws.is_empty() {
                return Ok(Some((place, Past::default())));
            }
            let Some(task) = self.family.tasks.task(place.task) else { continue };
            let arm: Arc<str> = self.family.arms[place.arm].info().id.0.as_str().into();
            if self.recovered.episodes.contains(task.id(), &arm) {
                continue;
            }
            let past = Past::recovered(self.recovered, task.id(), &arm)?;
            return Ok(Some((place, past)));
        }
        Ok(None)
    }

    fn take(&mut self, ended: Ended) {
        match ended {
            Ended::Done(record) => {
                if let Err(error) = self.shared.journal.episode(&record) {
                    self.shared.brake.pull(error.into());
                }
                self.tell(&Event::Episode { arm: record.arm });
            }
            Ended::Missing(place, past) => self.left.push((place, past)),
            Ended::Stopped => {}
        }
    }

    /// Called when nothing is left to start: asks again for what is missing, until its share is below the protocol's limit
    /// or no round brings anything back; then has it recorded as missing. Where that would take an arm its verdict, the run
    /// stops instead: it has one look, and the cause may pass. False once there is nothing to do.
    fn next_round(&mut self) -> bool {
        let left = std::mem::take(&mut self.left);
        let episodes = left.len() as u64;
        if episodes == 0 {
            return false;
        }
        let limit = self.shared.inputs.protocol.missing.reask_until_below.value();
        let few = (episodes as f64) < limit * self.episodes as f64;
        let broken = self.broken(&left).filter(|_| !self.accept_missing);
        self.fruitless = if self.last > 0 && episodes >= self.last { self.fruitless + 1 } else { 0 };
        self.last = episodes;
        let (fruitless, unbroken) = (self.fruitless >= FRUITLESS_ROUNDS, broken.is_none());
        if let Some(stop) = broken.filter(|_| fruitless) {
            self.shared.brake.pull(stop);
            return false;
        }
        if fruitless || (few && unbroken) {
            self.open = Open::Missing;
            self.missing = episodes;
            self.tell(&Event::Missing { episodes });
        } else {
            self.tell(&Event::Reasking { episodes });
        }
        self.again = left.into();
        true
    }

    /// The arm of which the largest share is missing, where that is more than a verdict on it bears.
    fn broken(&self, left: &[(Place, Past)]) -> Option<Stop> {
        let most = self.shared.inputs.protocol.guards.infrastructure_missing_limit.value();
        let mut missing: BTreeMap<usize, u64> = BTreeMap::new();
        for (place, _) in left {
            *missing.entry(place.arm).or_default() += 1;
        }
        let shares = missing.into_iter().map(|(arm, missing)| {
            let arm = &self.family.arms[arm].info().id.0;
            (arm, missing, self.planned.episodes_of(self.family, arm))
        });
        let worst = shares.max_by(|(_, a, of_a), (_, b, of_b)| (a * of_b).cmp(&(b * of_a)));
        let (arm, missing, planned) = worst.filter(|&(_, missing, planned)| missing as f64 > most * planned as f64)?;
        Some(Stop::Missing { arm: arm.as_str().into(), missing, planned })
    }

    fn tell(&mut self, event: &Event) {
        if let Err(error) = self.listener.on(event) {
            self.shared.brake.pull(Stop::Fault(told(&error)));
        }
    }
}
