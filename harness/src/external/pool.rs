//! Ready processes of one slot: started ahead, replaced and ended in the background.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::Map;

use super::{
    client::{Client, Limits, ListedTool},
    fault::{Fault, Findings, Oddity},
    launch::{Blueprint, Prepared},
    log::LogReader,
};
use crate::stdio::{leftovers::Folder, process::Launch};

/// A first list counts once no change was announced for this long; nobody waits for a start.
const SETTLE: Duration = Duration::from_millis(100);
/// How long to wait between two looks at whether a process is ready.
const READY_POLL: Duration = Duration::from_millis(50);

/// A process that has listed its tools.
pub(super) struct Live {
    pub(super) client: Client,
    pub(super) log: LogReader,
    /// Its first list.
    pub(super) tools: Arc<[ListedTool]>,
    /// Time from the start to the list.
    pub(super) started_in: Duration,
    /// Its HOME, which goes after it.
    _state: Folder,
}

/// What the processes of a slot have in common.
pub(super) struct Pool {
    blueprint: Blueprint,
    limits: Limits,
    /// Processes kept ready beside those in use.
    spares: usize,
    findings: Arc<Findings>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Live>,
    starting: usize,
    /// Processes in use.
    out: usize,
    /// Callers that wait for one.
    waiting: usize,
    /// Starts that failed in a row, and the last failure.
    failed: Option<(u32, Fault)>,
    closed: bool,
    /// Threads that start or end processes.
    threads: Vec<JoinHandle<()>>,
}

impl State {
    /// Processes to start, so that there is one for each that waits and `spares` at least.
    fn lacks(&self, spares: usize, stateless: bool) -> usize {
        // Where nothing is left in a process, those in use come back: one serves all.
        let out = if stateless { self.out } else { 0 };
        spares.max(self.waiting).saturating_sub(self.ready.len() + self.starting + out)
    }
}

impl Pool {
    /// A pool that keeps so many processes ready; the first are being started when this returns.
    pub(super) fn new(blueprint: Blueprint, limits: Limits, spares: usize, findings: Arc<Findings>) -> Arc<Self> {
        let pool = Arc::new(Self {
            blueprint,
            limits,
            spares,
            findings,
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
        });
        pool.refill(&mut pool.lock());
        pool
    }

    /// A process of one's own; waits for one that is being started.
    ///
    /// # Errors
    /// The fault of the last start, once several failed in a row; no process in time.
    pub(super) fn take(self: &Arc<Self>) -> Result<Live, Fault> {
        let mut state = self.wait()?;
        let Some(live) = state.ready.pop_front() else {
            return Err(Fault::Harness { cause: "a process that was ready is gone".to_owned() });
        };
        state.out += 1;
        self.refill(&mut state);
        Ok(live)
    }

    /// Looks at a process that is ready, without taking it.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub(super) fn look<T>(self: &Arc<Self>, at: impl FnOnce(&Live) -> T) -> Result<T, Fault> {
        let state = self.wait()?;
        let live = state.ready.front();
        live.map(at).ok_or_else(|| Fault::Harness { cause: "a process that was ready is gone".to_owned() })
    }

    /// Waits until a process is ready.
    fn wait(self: &Arc<Self>) -> Result<MutexGuard<'_, State>, Fault> {
        // A start is bounded by itself; this is for a machine so busy that its thread did not come to it.
        let until = Instant::now() + 2 * self.limits.start;
        let mut state = self.lock();
        state.waiting += 1;
        let fault = loop {
            if !state.ready.is_empty() {
                state.waiting -= 1;
                return Ok(state);
            }
            if let Some((times, last)) = state.failed.as_ref().filter(|(times, _)| *times >= self.limits.faults) {
                break Fault::GivenUp { times: *times, last: Box::new(last.clone()) };
            }
            if state.closed {
                break Fault::Harness { cause: "the arm was closed".to_owned() };
            }
            self.refill(&mut state);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // Where no start failed, it is this machine that did not come to one in time.
                break state.failed.as_ref().map_or_else(|| self.too_busy(), |(_, last)| last.clone());
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        };
        state.waiting -= 1;
        Err(fault)
    }

    fn too_busy(&self) -> Fault {
        let seconds = (2 * self.limits.start).as_secs_f64();
        Fault::Harness { cause: format!("no process was ready within {seconds} s, and no start failed") }
    }

    /// Takes back a process that nothing is left in.
    pub(super) fn give_back(&self, live: Live) {
        let mut state = self.lock();
        state.out -= 1;
        state.ready.push_front(live);
        drop(state);
        self.changed.notify_all();
    }

    /// Ends a process in the background.
    pub(super) fn retire(self: &Arc<Self>, live: Live) {
        let findings = Arc::clone(&self.findings);
        let thread = thread::spawn(move || end(live, &findings));
        let mut state = self.lock();
        state.out -= 1;
        state.threads.retain(|thread| !thread.is_finished());
        state.threads.push(thread);
        self.refill(&mut state);
    }

    /// Ends all processes and waits for that.
    pub(super) fn close(&self) {
        let (ready, mut threads) = {
            let mut state = self.lock();
            state.closed = true;
            (std::mem::take(&mut state.ready), std::mem::take(&mut state.threads))
        };
        for live in ready {
            let findings = Arc::clone(&self.findings);
            threads.push(thread::spawn(move || end(live, &findings)));
        }
        // What a start still under way had not handed over ends with its thread.
        for thread in threads {
            // A thread that panicked has nothing more to end.
            let _ = thread.join();
        }
    }

    /// Starts as many as are missing, the spares or one for each that waits, each in a thread of its own, so that starts
    /// overlap.
    fn refill(self: &Arc<Self>, state: &mut State) {
        let given_up = state.failed.as_ref().is_some_and(|(times, _)| *times >= self.limits.faults);
        if state.closed || given_up {
            return;
        }
        for _ in 0..state.lacks(self.spares, self.blueprint.entry.stateless) {
            state.starting += 1;
            let pool = Arc::clone(self);
            state.threads.retain(|thread| !thread.is_finished());
            state.threads.push(thread::spawn(move || pool.start_one()));
        }
    }

    fn start_one(&self) {
        let started = start(&self.blueprint, &self.limits);
        let mut state = self.lock();
        state.starting -= 1;
        let (unwanted, broken) = match started {
            Ok(live) => {
                state.failed = None;
                if state.closed {
                    (Some(live), None)
                } else {
                    state.ready.push_back(live);
                    (None, None)
                }
            }
            Err(failed) => {
                let Failed { fault, client, state: folder } = *failed;
                self.findings.fault(&fault);
                // What the harness could not do says nothing of the arm, which is tried again.
                if !fault.is_ours() {
                    let times = state.failed.as_ref().map_or(0, |(times, _)| *times) + 1;
                    state.failed = Some((times, fault));
                }
                (None, Some((client, folder)))
            }
        };
        drop(state);
        self.changed.notify_all();
        if let Some(live) = unwanted {
            end(live, &self.findings);
        }
        // Ending what failed takes its time, so whoever waits is told before; the process goes before its folder.
        drop(broken);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A start that failed, and what of it is to be ended.
struct Failed {
    fault: Fault,
    client: Option<Client>,
    state: Option<Folder>,
}

/// Starts a process, waits until it is ready, and lists its tools.
fn start(blueprint: &Blueprint, limits: &Limits) -> Result<Live, Box<Failed>> {
    let begun = Instant::now();
    let prepared = blueprint.prepare(limits.start);
    let Prepared { state, log, command, environment } =
        prepared.map_err(|fault| Box::new(Failed { fault, client: None, state: None }))?;
    let launch = Launch {
        command: &command,
        environment: Some(&environment),
        folder: Some(state.path()),
        line_bytes: limits.message_bytes,
        total_bytes: u64::MAX,
        grace: limits.end,
    };
    let mut client = match Client::start(&launch, limits) {
        Ok(client) => client,
        Err(fault) => return Err(Box::new(Failed { fault, client: None, state: Some(state) })),
    };
    let mut log = LogReader::new(log);
    match bring_up(&mut client, &mut log, blueprint, limits) {
        Ok(tools) => Ok(Live { client, log, tools: tools.into(), started_in: begun.elapsed(), _state: state }),
        Err(fault) => Err(Box::new(Failed { fault, client: Some(client), state: Some(state) })),
    }
}

/// Greets a process, waits until it is ready, and lists its tools.
fn bring_up(
    client: &mut Client,
    log: &mut LogReader,
    blueprint: &Blueprint,
    limits: &Limits,
) -> Result<Vec<ListedTool>, Fault> {
    let until = Instant::now() + limits.start;
    client.greet(until)?;
    let mut tools = client.list(until, SETTLE)?;
    if let Some(ready) = &blueprint.entry.ready {
        let arguments: Map<String, serde_json::Value> = serde_json::from_str(&ready.arguments).unwrap_or_default();
        loop {
            let text = client.call(&ready.tool, &arguments)?.text;
            let Some(wanted) = ready.contains.iter().find(|wanted| !text.contains(*wanted)) else { break };
            if Instant::now() >= until {
                let (probe, wanted) = (ready.tool.clone(), wanted.clone());
                return Err(Fault::NotReady { seconds: limits.start.as_secs_f64(), probe, wanted });
            }
            thread::sleep(READY_POLL);
        }
        if client.list_changed(Duration::ZERO)? {
            tools = client.list(until, SETTLE)?;
        }
    }
    // What a probe reached is nobody's call.
    log.take().map_err(|error| Fault::Harness { cause: format!("the replay server's log: {error}") })?;
    Ok(tools)
}

/// Ends a process, and notes how it went.
fn end(mut live: Live, findings: &Findings) {
    if live.log.take().is_ok_and(|late| !late.is_empty()) {
        findings.oddity(Oddity::LateCall, || "a call reached the server after the episode".to_owned());
    }
    let ending = live.client.end();
    if ending.forced {
        findings.oddity(Oddity::IgnoredClose, || "it had to be killed: closing its stdin did not end it".to_owned());
    }
    if ending.left_children {
        findings.oddity(Oddity::LeftChildren, || "processes that it started were still there after it".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_overlap_for_those_who_wait_and_what_comes_back_is_not_started_again() {
        let lacks = |starting, out, waiting, stateless| {
            State { starting, out, waiting, ..State::default() }.lacks(1, stateless)
        };
        assert_eq!(lacks(0, 0, 0, false), 1, "a spare is kept though nobody waits");
        assert_eq!(lacks(1, 0, 3, false), 2, "three wait and one is being started");
        assert_eq!(lacks(0, 2, 0, false), 1, "what is in use is not used again");
        assert_eq!(lacks(0, 1, 1, true), 0, "what is in use comes back");
        assert_eq!(lacks(4, 0, 1, false), 0);
    }
}
