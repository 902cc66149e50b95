//! A compressor as an arm: what its processes list is the surface, what they forward is the outcome.

use std::{
    collections::HashSet,
    fmt::Write as _,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use bench_tasks::catalog::Catalogs;
use thiserror::Error;

use super::{
    block::Block,
    client::{Limits, ListedTool},
    entry::Entry,
    fault::{Fault, Finding, Findings},
    inspect,
    launch::{self, Blueprint, Upstream},
    pool::Pool,
    session::ExternalSession,
    timing::{Timing, Timings},
};
use crate::{
    arms::{Affordance, Arm, ArmError, ArmId, ArmInfo, ArmSession, Scope, Waiver},
    surface::Surface,
};

/// What an arm from outside promises: nothing.
const WAIVERS: &[Waiver] =
    &[Waiver::Unreachable, Waiver::Order, Waiver::Removes, Waiver::LargerThanL0, Waiver::Rejects];
/// How long a change may be announced after an answer, where nothing else is said.
const SETTLE: Duration = Duration::from_millis(50);

/// Why a compressor cannot be an arm at all.
#[derive(Debug, Error)]
pub enum ExternalError {
    /// It is not there.
    #[error("arm `{name}`: {program} is not there{install}")]
    NotInstalled {
        /// The arm.
        name: String,
        /// The program.
        program: String,
        /// How to get it, as a clause.
        install: String,
    },
    /// This program does not know where it is.
    #[error("cannot find this program's own file, which is to be the upstream: {0}")]
    OwnProgram(std::io::Error),
}

/// A compressor under test.
pub struct ExternalArm {
    info: ArmInfo,
    shared: Arc<Shared>,
    not_started: Vec<NotStarted>,
}

/// A process that never came as far as a tool list.
#[derive(Debug, Clone, PartialEq)]
pub struct NotStarted {
    /// The server that it was to stand in front of; none where one process serves all.
    pub server: Option<Arc<str>>,
    /// The last of its faults.
    pub fault: Fault,
}

impl NotStarted {
    /// Why, with the command as its author wrote it.
    pub fn why(&self, entry: &Entry) -> String {
        // That it was tried again says nothing more.
        let fault = match &self.fault {
            Fault::GivenUp { last, .. } => last,
            fault => fault,
        };
        format!("`{}`: {fault}", entry.written())
    }
}

/// What all sessions of an arm share.
pub(super) struct Shared {
    pub(super) entry: Arc<Entry>,
    pub(super) catalogs: Arc<Catalogs>,
    pub(super) slots: Vec<Slot>,
    pub(super) limits: Limits,
    pub(super) surface: Arc<Surface>,
    pub(super) instructions: String,
    pub(super) findings: Arc<Findings>,
    pub(super) timings: Timings,
    faults_in_row: AtomicU32,
    given_up: Mutex<Option<Fault>>,
}

/// One process at a time, and what it lists.
pub(super) struct Slot {
    pub(super) server: Option<Arc<str>>,
    /// What is put before its tools' names.
    pub(super) label: Option<String>,
    pub(super) pool: Arc<Pool>,
    /// Its first process listed its tools. One that did not is not called: no model was shown what it has.
    pub(super) is_up: bool,
    /// What its first process listed.
    pub(super) tools: Arc<[ListedTool]>,
    pub(super) block: Arc<Block>,
    pub(super) settle: Duration,
}

impl Shared {
    /// Counts a fault; after too many in a row the arm is not tried again. The harness's own are noted only.
    pub(super) fn fault(&self, fault: &Fault) {
        self.findings.fault(fault);
        if fault.is_ours() {
            return;
        }
        let times = self.faults_in_row.fetch_add(1, Ordering::Relaxed) + 1;
        if times >= self.limits.faults {
            let mut given_up = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
            given_up.get_or_insert_with(|| Fault::GivenUp { times, last: Box::new(fault.clone()) });
        }
    }

    /// Notes that a call went through.
    pub(super) fn went_through(&self) {
        self.faults_in_row.store(0, Ordering::Relaxed);
    }

    /// Why it is not tried any more.
    pub(super) fn given_up(&self) -> Option<Fault> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Shared {
    /// Ends all processes and waits for that.
    fn close(&self) {
        thread::scope(|scope| {
            for slot in &self.slots {
                scope.spawn(|| slot.pool.close());
            }
        });
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

impl ExternalArm {
    /// Starts what the entry says in front of these catalogs and takes the first tool lists.
    ///
    /// An arm that does not come up for any server is an arm all the same, whose every episode would end as its fault;
    /// [`Self::never_started`] tells. Of one that comes up for some, the tools of the others cannot be seen.
    ///
    /// # Errors
    /// Its program is not there: that is nobody's fault.
    pub fn start(
        entry: Entry,
        catalogs: &Arc<Catalogs>,
        upstream: &Arc<Upstream>,
        limits: &Limits,
    ) -> Result<Self, ExternalError> {
        if let Some(program) = entry.missing_program() {
            let install = entry.install.as_ref().map_or_else(String::new, |line| format!("; to install it: {line}"));
            return Err(ExternalError::NotInstalled { name: entry.name, program, install });
        }
        let entry = Arc::new(entry);
        let servers: Arc<[Arc<str>]> = catalogs.catalogs.iter().map(|catalog| Arc::clone(&catalog.server)).collect();
        let findings = Arc::new(Findings::default());
        let pools: Vec<(Option<Arc<str>>, Arc<Pool>)> = launch::slots(&entry, &servers)
            .into_iter()
            .map(|server| {
                let blueprint = Blueprint {
                    entry: Arc::clone(&entry),
                    upstream: Arc::clone(upstream),
                    server: server.clone(),
                    servers: Arc::clone(&servers),
                };
                (server, Pool::new(blueprint, limits.clone(), 1, Arc::clone(&findings)))
            })
            .collect();
        let opened = Opened::open(&entry, catalogs, pools, &findings);
        let arm = Self::of(&entry, catalogs, limits, findings, opened);
        Ok(arm)
    }

    fn of(
        entry: &Arc<Entry>,
        catalogs: &Arc<Catalogs>,
        limits: &Limits,
        findings: Arc<Findings>,
        opened: Opened,
    ) -> Self {
        let tools = opened.slots.iter().flat_map(|slot| slot.block.tools.iter().cloned()).collect();
        let direct = opened.slots.iter().all(|slot| {
            slot.block.own.iter().all(|own| inspect::denoted(own, slot.server.as_deref(), catalogs).is_some())
        });
        let shared = Shared {
            entry: Arc::clone(entry),
            catalogs: Arc::clone(catalogs),
            slots: opened.slots,
            limits: limits.clone(),
            surface: Arc::new(Surface::new(tools, opened.instructions.clone())),
            instructions: opened.instructions,
            findings,
            timings: opened.timings,
            faults_in_row: AtomicU32::new(0),
            given_up: Mutex::new(opened.fault),
        };
        let not_started = opened.not_started;
        let info = ArmInfo {
            id: ArmId(entry.name.clone()),
            summary: "an external compressor over stdio",
            source: "its own package",
            affordance: if direct { Affordance::Direct } else { Affordance::IndexSchemaInvoke },
            extra_trips: if direct { 0 } else { 2 },
            waivers: WAIVERS,
            gaps: &[],
            objection: None,
            single_call: None,
            ranked: true,
            embedding: None,
            hears: false,
        };
        Self { info, shared: Arc::new(shared), not_started }
    }

    /// What its arms file says of it.
    pub fn entry(&self) -> &Entry {
        &self.shared.entry
    }

    /// The processes that never came as far as a tool list, in the order of the servers.
    pub fn not_started(&self) -> &[NotStarted] {
        &self.not_started
    }

    /// Whether none of its processes came as far as a tool list.
    pub fn never_started(&self) -> bool {
        self.not_started.len() == self.shared.slots.len()
    }

    /// What was found so far, by kind.
    pub fn findings(&self) -> std::collections::BTreeMap<&'static str, Finding> {
        self.shared.findings.all()
    }

    /// How long its calls and starts took so far.
    pub fn timing(&self) -> Timing {
        self.shared.timings.summary()
    }

    /// Why it is not tried any more.
    pub fn given_up(&self) -> Option<Fault> {
        self.shared.given_up()
    }

    /// Ends all its processes and waits for that: how they end is worth knowing too. No call goes through after it.
    pub fn close(&self) {
        self.shared.close();
    }
}

impl Arm for ExternalArm {
    fn info(&self) -> &ArmInfo {
        &self.info
    }

    /// Starts nothing: processes are taken when a call needs them.
    fn open(&self, scope: Scope<'_>) -> Result<Box<dyn ArmSession>, ArmError> {
        match scope {
            Scope::Catalogs => Ok(Box::new(ExternalSession::new(Arc::clone(&self.shared)))),
            Scope::Tool { .. } => Err(ArmError::Scope {
                id: self.info.id.0.clone(),
                why: "an external compressor stands in front of whole servers".to_owned(),
            }),
        }
    }
}

/// What came up.
struct Opened {
    slots: Vec<Slot>,
    instructions: String,
    timings: Timings,
    not_started: Vec<NotStarted>,
    /// Why no episode can go well.
    fault: Option<Fault>,
}

/// What the first process of a slot said of itself.
struct First {
    tools: Arc<[ListedTool]>,
    started_in: Duration,
    declares_changes: bool,
    instructions: String,
}

impl First {
    /// Waits for the first process.
    fn wait(pool: &Arc<Pool>) -> Result<Self, Fault> {
        pool.look(|live| Self {
            tools: Arc::clone(&live.tools),
            started_in: live.started_in,
            declares_changes: live.client.declares_changes,
            instructions: live.client.instructions.trim().to_owned(),
        })
    }

    /// Waits for the first process of every slot, for all at once: one that hangs holds up no other.
    fn wait_for_all(pools: &[(Option<Arc<str>>, Arc<Pool>)]) -> Vec<Result<Self, Fault>> {
        thread::scope(|scope| {
            let all: Vec<_> = pools.iter().map(|(_, pool)| scope.spawn(|| Self::wait(pool))).collect();
            let panicked = |_| Err(Fault::Harness { cause: "the thread that started it panicked".to_owned() });
            all.into_iter().map(|one| one.join().unwrap_or_else(panicked)).collect()
        })
    }
}

impl Opened {
    fn open(
        entry: &Entry,
        catalogs: &Catalogs,
        pools: Vec<(Option<Arc<str>>, Arc<Pool>)>,
        findings: &Findings,
    ) -> Self {
        let mut opened = Self {
            slots: Vec::new(),
            instructions: String::new(),
            timings: Timings::default(),
            not_started: Vec::new(),
            fault: None,
        };
        let mut taken = HashSet::new();
        let firsts = First::wait_for_all(&pools);
        for ((server, pool), first) in pools.into_iter().zip(firsts) {
            let label = match &server {
                _ if entry.names_servers => None,
                Some(server) => Some(server.to_string()),
                None => Some(entry.name.clone()),
            };
            let is_up = first.is_ok();
            let mut slot = Slot {
                server,
                label,
                pool,
                is_up,
                tools: Arc::from([]),
                block: Arc::default(),
                settle: Duration::ZERO,
            };
            match first {
                Err(fault) => {
                    findings.fault(&fault);
                    opened.not_started.push(NotStarted { server: slot.server.clone(), fault });
                }
                Ok(first) => {
                    if let Err(fault) = opened.fill(&mut slot, first, entry, catalogs, &mut taken) {
                        findings.fault(&fault);
                        // One such tool, and a provider takes no request at all.
                        opened.fault.get_or_insert(fault);
                    }
                }
            }
            opened.slots.push(slot);
        }
        if opened.not_started.len() == opened.slots.len() {
            opened.fault = opened.not_started.first().map(|first| first.fault.clone());
        }
        opened.instructions = inspect::own_instructions(&opened.instructions, catalogs);
        for (kind, what) in inspect::surface(catalogs, &opened.slots, &opened.instructions) {
            findings.oddity(kind, || what);
        }
        opened
    }

    fn fill(
        &mut self,
        slot: &mut Slot,
        first: First,
        entry: &Entry,
        catalogs: &Catalogs,
        taken: &mut HashSet<String>,
    ) -> Result<(), Fault> {
        let First { tools, started_in, declares_changes, instructions: said } = first;
        self.timings.start(started_in);
        slot.settle = match entry.settle_ms {
            Some(milliseconds) => Duration::from_millis(milliseconds),
            None if declares_changes && !entry.stateless => SETTLE,
            None => Duration::ZERO,
        };
        if !said.is_empty() {
            let own = slot.server.as_ref().and_then(|server| catalogs.get(server)?.instructions.as_deref());
            if own.map(str::trim) != Some(said.as_str()) {
                if !self.instructions.is_empty() {
                    self.instructions.push_str("\n\n");
                }
                if let Some(server) = &slot.server {
                    let _ = write!(self.instructions, "[{server}] ");
                }
                self.instructions.push_str(&said);
            }
        }
        slot.block = Arc::new(Block::new(slot.label.as_deref(), &tools, taken)?);
        slot.tools = tools;
        Ok(())
    }
}
