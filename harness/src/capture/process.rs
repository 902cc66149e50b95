//! The server as a process: bounded reading in threads, and an end that reaches its children too.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{CaptureError, CaptureOptions};

/// Bytes of stderr kept for messages.
const STDERR_KEPT: usize = 4096;
/// Lines that may wait to be read: a server that floods its stdout waits for us.
const LINES_WAITING: usize = 16;
/// How long a server may take to end after its stdin was closed, and again after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How often a process that is to end is looked at.
const POLL: Duration = Duration::from_millis(10);

/// What reading a line of stdout came to.
pub(super) enum Line {
    /// A line without its end.
    Text(Vec<u8>),
    /// Nothing came in time.
    TimedOut,
    /// Stdout was closed.
    Closed,
    /// The bound on bytes was reached.
    TooLarge,
}

/// A running server.
pub(super) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Line>,
    stderr: Arc<Mutex<Vec<u8>>>,
}

impl Process {
    /// Starts the command in a process group of its own.
    pub(super) fn start(options: &CaptureOptions) -> Result<Self, CaptureError> {
        let program = options.command.first().cloned().unwrap_or_default();
        let shown = || program.to_string_lossy().into_owned();
        let mut child = Command::new(&program)
            .args(options.command.iter().skip(1))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|source| match source.kind() {
                io::ErrorKind::NotFound => CaptureError::NotFound { program: shown() },
                _ => CaptureError::Spawn { program: shown(), source },
            })?;
        let stdin = child.stdin.take();
        let (send, lines) = sync_channel(LINES_WAITING);
        if let Some(stdout) = child.stdout.take() {
            let limit = options.max_bytes;
            // Not joined: a grandchild that left the group may keep the pipe open for ever.
            thread::spawn(move || read_lines(stdout, limit, &send));
        }
        let stderr = Arc::new(Mutex::new(Vec::new()));
        if let Some(pipe) = child.stderr.take() {
            let kept = Arc::clone(&stderr);
            thread::spawn(move || drain(pipe, &kept));
        }
        Ok(Self { child, stdin, lines, stderr })
    }

    /// Sends one message.
    pub(super) fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(message)?;
        stdin.write_all(b"\n")?;
        stdin.flush()
    }

    /// The next line of stdout, at the latest at `until`.
    pub(super) fn line(&self, until: Instant) -> Line {
        match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => Line::TimedOut,
            Err(RecvTimeoutError::Disconnected) => Line::Closed,
        }
    }

    /// How the process ended; waits a little, for stdout closes before the process is gone.
    pub(super) fn status(&mut self) -> String {
        self.wait(GRACE / 4).map_or_else(|| "still running, stdout closed".to_owned(), |status| status.to_string())
    }

    /// The last line on stderr, as a clause for messages; empty where there is none.
    pub(super) fn last_words(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        match text.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
            Some(line) => format!("; its last line on stderr: {}", line.chars().take(300).collect::<String>()),
            None => String::new(),
        }
    }

    /// Closes stdin, as the protocol asks a client to, then ends whatever is left of the process group.
    pub(super) fn end(&mut self) {
        self.stdin = None;
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let signal = |signal| {
            if let Some(group) = group {
                // A group that is gone is what is wanted.
                let _ = kill_process_group(group, signal);
            }
        };
        if self.wait(GRACE).is_none() {
            signal(Signal::TERM);
            let _ = self.wait(GRACE);
        }
        // Children of a launcher such as npx may outlive it.
        signal(Signal::KILL);
        let _ = self.child.wait();
    }

    fn wait(&mut self, at_most: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + at_most;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => thread::sleep(POLL),
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

/// Passes lines on until the end, the bound, or nobody listens.
fn read_lines(stdout: impl Read, limit: usize, send: &SyncSender<Line>) {
    // One byte more than allowed tells "reached" from "exceeded".
    let mut reader = BufReader::new(stdout.take(limit as u64 + 1));
    let mut taken = 0;
    loop {
        let mut line = Vec::new();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(read) => taken += read,
        }
        if taken > limit {
            let _ = send.send(Line::TooLarge);
            return;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if send.send(Line::Text(line)).is_err() {
            return;
        }
    }
}

/// Reads stderr to its end, so that the server never waits for it, and keeps the last of it.
fn drain(mut pipe: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = pipe.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..read]);
        let excess = kept.len().saturating_sub(STDERR_KEPT);
        kept.drain(..excess);
    }
}
