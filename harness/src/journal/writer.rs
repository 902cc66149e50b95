//! Group commit: one thread writes, and one `fsync` serves everybody who waits.
//!
//! While a sync is under way, lines gather; the next sync takes them all. Attempts are written and synced before episodes,
//! so that no episode can survive a power cut without the attempts it rests on.

use std::{
    fs::File,
    io::{self, Write as _},
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::sync::oneshot;

use super::JournalError;

/// How long settled outcomes may wait for a sync when no reservation brings one.
const IDLE_SYNC: Duration = Duration::from_millis(50);

/// Whether lines are synced to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Reservations are on disk before they are acknowledged: whatever may be billed.
    Synced,
    /// Lines reach the operating system only: a mock, which costs nothing.
    Buffered,
}

/// A file of the journal with its name for messages.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

/// Resolves once a line is on disk; an error says that it never will be.
pub(super) type Synced = oneshot::Receiver<()>;

#[derive(Debug)]
pub(super) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    attempts: Vec<u8>,
    episodes: Vec<u8>,
    waiting: Vec<oneshot::Sender<()>>,
    closing: bool,
    broken: Option<String>,
}

/// What the thread takes from the queue at once.
#[derive(Default)]
struct Batch {
    attempts: Vec<u8>,
    episodes: Vec<u8>,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Writer {
    pub(super) fn start(attempts: Lane, episodes: Lane, durability: Durability) -> Result<Self, JournalError> {
        let shared = Arc::new(Shared::default());
        let path = attempts.path.clone();
        let work = Work { shared: Arc::clone(&shared), attempts, episodes, durability, unsynced: false };
        let thread = thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || work.run())
            .map_err(JournalError::io(path, "starting the thread that writes it"))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Queues a line of attempts; the receiver resolves once it is on disk.
    pub(super) fn attempt_and_wait(&self, line: &[u8]) -> Result<Synced, JournalError> {
        let (done, synced) = oneshot::channel();
        self.push(|queue| {
            queue.attempts.extend_from_slice(line);
            queue.waiting.push(done);
        })?;
        Ok(synced)
    }

    /// Queues a line of attempts.
    pub(super) fn attempt(&self, line: &[u8]) -> Result<(), JournalError> {
        self.push(|queue| queue.attempts.extend_from_slice(line))
    }

    /// Queues a line of episodes.
    pub(super) fn episode(&self, line: &[u8]) -> Result<(), JournalError> {
        self.push(|queue| queue.episodes.extend_from_slice(line))
    }

    /// Why nothing is written any more.
    pub(super) fn broken(&self) -> JournalError {
        let queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        JournalError::Broken(queue.broken.clone().unwrap_or_else(|| "the journal is closed".to_owned()))
    }

    fn push(&self, add: impl FnOnce(&mut Queue)) -> Result<(), JournalError> {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &queue.broken {
            return Err(JournalError::Broken(why.clone()));
        }
        add(&mut queue);
        drop(queue);
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Writes and syncs all that is queued, and ends the thread.
    pub(super) fn close(mut self) -> Result<(), JournalError> {
        self.join();
        let queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.broken.as_ref().map_or(Ok(()), |why| Err(JournalError::Broken(why.clone())))
    }

    fn join(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner).closing = true;
        self.shared.wake.notify_one();
        if thread.join().is_err() {
            let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.broken.get_or_insert_with(|| "the thread that writes the journal panicked".to_owned());
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.join();
    }
}

/// The thread's own state.
struct Work {
    shared: Arc<Shared>,
    attempts: Lane,
    episodes: Lane,
    durability: Durability,
    /// Written lines wait for a sync.
    unsynced: bool,
}

impl Work {
    fn run(mut self) {
        while let Some(batch) = self.take() {
            if let Err((path, source)) = self.write(&batch) {
                // The cause stands before the batch, and with it its senders, is dropped: that tells everyone who waits.
                self.break_off(format!("{}: writing: {source}", path.display()));
                return;
            }
            for waiting in batch.waiting {
                // Whoever stopped waiting has given up the attempt; its reservation stands all the same.
                let _ = waiting.send(());
            }
        }
    }

    /// Accepts nothing any more, and lets go of everyone who waits.
    fn break_off(&self, why: String) {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.broken.get_or_insert(why);
        queue.waiting.clear();
    }

    /// The next batch, empty where lines have waited long enough for their sync; `None` once all is done.
    fn take(&self) -> Option<Batch> {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if !queue.attempts.is_empty() || !queue.episodes.is_empty() {
                return Some(Batch {
                    attempts: std::mem::take(&mut queue.attempts),
                    episodes: std::mem::take(&mut queue.episodes),
                    waiting: std::mem::take(&mut queue.waiting),
                });
            }
            if !self.unsynced {
                if queue.closing {
                    return None;
                }
                queue = self.shared.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            if queue.closing {
                return Some(Batch::default());
            }
            let (woken, timeout) =
                self.shared.wake.wait_timeout(queue, IDLE_SYNC).unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() && woken.attempts.is_empty() && woken.episodes.is_empty() {
                return Some(Batch::default());
            }
            queue = woken;
        }
    }

    fn write(&mut self, batch: &Batch) -> Result<(), (PathBuf, io::Error)> {
        let idle = batch.attempts.is_empty() && batch.episodes.is_empty();
        let failed = |lane: &Lane| {
            let path = lane.path.clone();
            move |source| (path, source)
        };
        self.attempts.file.write_all(&batch.attempts).map_err(failed(&self.attempts))?;
        if idle || !batch.waiting.is_empty() || !batch.episodes.is_empty() {
            self.sync(&self.attempts).map_err(failed(&self.attempts))?;
        }
        self.episodes.file.write_all(&batch.episodes).map_err(failed(&self.episodes))?;
        if idle {
            self.sync(&self.episodes).map_err(failed(&self.episodes))?;
        }
        self.unsynced = !idle;
        Ok(())
    }

    fn sync(&self, lane: &Lane) -> io::Result<()> {
        match self.durability {
            Durability::Synced => lane.file.sync_data(),
            Durability::Buffered => Ok(()),
        }
    }
}

impl Drop for Work {
    /// A panic on this thread must not leave anybody waiting for it.
    fn drop(&mut self) {
        if thread::panicking() {
            self.break_off("the thread that writes the journal panicked".to_owned());
        }
    }
}
