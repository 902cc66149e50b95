//! A server as a process: bounded reading and writing in threads, and an end that reaches its children too.

use std::{
    ffi::OsString,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use super::leftovers::Group;

/// Bytes of stderr kept for messages.
const STDERR_KEPT: usize = 4096;
/// Lines that may wait to be read: a server that floods its stdout waits for us.
const LINES_WAITING: usize = 16;
/// Messages that may wait to be written: a server that does not read its stdin is found out.
const MESSAGES_WAITING: usize = 16;
/// How long a server may take to end after its stdin was closed, and again after it was asked to; and as long again its
/// children, after it.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// How long a server whose stdout is closed may take to be gone, so that its status can be told.
const STATUS_WAIT: Duration = Duration::from_millis(500);
/// How often a process that is to end is looked at.
const POLL: Duration = Duration::from_millis(5);

/// What to start.
pub(crate) struct Launch<'a> {
    /// Program and arguments.
    pub(crate) command: &'a [OsString],
    /// Its whole environment; `None`: this program's own.
    pub(crate) environment: Option<&'a [(OsString, OsString)]>,
    /// Its working folder; `None`: this program's own.
    pub(crate) folder: Option<&'a Path>,
    /// Bytes that one line of stdout may have.
    pub(crate) line_bytes: usize,
    /// Bytes taken from stdout in all.
    pub(crate) total_bytes: u64,
    /// How long it may take to end; [`GRACE`] unless somebody knows better.
    pub(crate) grace: Duration,
}

/// Why a process could not be started.
#[derive(Debug)]
pub(crate) enum StartError {
    /// There is no such program.
    NotFound {
        /// The program.
        program: String,
    },
    /// The program could not be run.
    Spawn {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
}

/// What reading a line of stdout came to.
pub(crate) enum Line {
    /// A line without its end.
    Text(Vec<u8>),
    /// Nothing came in time.
    TimedOut,
    /// Stdout was closed.
    Closed,
    /// A bound on bytes was reached.
    TooLarge,
}

/// How a process was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ending {
    /// It had to be told twice: closing its stdin was not enough.
    pub(crate) forced: bool,
    /// Processes of its group ran on after it, longer than children take that end with it.
    pub(crate) left_children: bool,
}

/// A running server.
pub(crate) struct Process {
    group: Group,
    messages: Option<SyncSender<Vec<u8>>>,
    lines: Receiver<Line>,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// Its working folder with a slash, where it has one of its own.
    folder: Option<String>,
    grace: Duration,
    ended: bool,
}

impl Process {
    /// Starts the command in a process group of its own.
    pub(crate) fn start(launch: &Launch<'_>) -> Result<Self, StartError> {
        let program = launch.command.first().cloned().unwrap_or_default();
        let shown = || program.to_string_lossy().into_owned();
        let mut command = Command::new(&program);
        command.args(launch.command.iter().skip(1)).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(environment) = launch.environment {
            command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        }
        if let Some(folder) = launch.folder {
            command.current_dir(folder);
        }
        let mut group = Group::start(&mut command).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StartError::NotFound { program: shown() },
            _ => StartError::Spawn { program: shown(), source },
        })?;
        let child = group.leader();
        // None of these threads is joined: a grandchild that left the group may keep a pipe open for ever.
        let (messages, waiting) = sync_channel(MESSAGES_WAITING);
        if let Some(stdin) = child.stdin.take() {
            thread::spawn(move || write_messages(stdin, &waiting));
        }
        let (send, lines) = sync_channel(LINES_WAITING);
        if let Some(stdout) = child.stdout.take() {
            let (line, total) = (launch.line_bytes, launch.total_bytes);
            thread::spawn(move || read_lines(stdout, line, total, &send));
        }
        let stderr = Arc::new(Mutex::new(Vec::new()));
        if let Some(pipe) = child.stderr.take() {
            let kept = Arc::clone(&stderr);
            thread::spawn(move || drain(pipe, &kept));
        }
        let folder = launch.folder.map(|folder| format!("{}/", folder.display()));
        Ok(Self { group, messages: Some(messages), lines, stderr, folder, grace: launch.grace, ended: false })
    }

    /// Sends one message. Never waits: what the server does not read waits in a short queue.
    ///
    /// # Errors
    /// `WouldBlock` where the queue is full, `BrokenPipe` where the server reads no more.
    pub(crate) fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let messages = self.messages.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = Vec::with_capacity(message.len() + 1);
        line.extend_from_slice(message);
        line.push(b'\n');
        messages.try_send(line).map_err(|refused| match refused {
            TrySendError::Full(_) => io::ErrorKind::WouldBlock.into(),
            TrySendError::Disconnected(_) => io::ErrorKind::BrokenPipe.into(),
        })
    }

    /// The next line of stdout, at the latest at `until`.
    pub(crate) fn line(&self, until: Instant) -> Line {
        match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => Line::TimedOut,
            Err(RecvTimeoutError::Disconnected) => Line::Closed,
        }
    }

    /// How the process ended; waits a little, for stdout closes before the process is gone.
    pub(crate) fn status(&mut self) -> String {
        self.wait(STATUS_WAIT).map_or_else(|| "still running, stdout closed".to_owned(), |status| status.to_string())
    }

    /// The last line on stderr, as a clause for messages; empty where there is none. What lies in a working folder of its
    /// own is told by the path from there: whoever reads it never saw the folder.
    pub(crate) fn last_words(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        match text.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
            Some(line) => {
                let line = self.folder.as_deref().map_or_else(|| line.to_owned(), |folder| line.replace(folder, ""));
                format!("; its last line on stderr: {}", line.chars().take(300).collect::<String>())
            }
            None => String::new(),
        }
    }

    /// Closes stdin, as the protocol asks a client to, then ends whatever is left of the process group.
    pub(crate) fn end(&mut self) -> Ending {
        if std::mem::replace(&mut self.ended, true) {
            return Ending::default();
        }
        self.messages = None;
        let mut ending = Ending::default();
        if self.wait(self.grace).is_none() {
            ending.forced = true;
            self.group.signal(Signal::TERM);
            let _ = self.wait(self.grace);
        }
        if !ending.forced {
            ending.left_children = self.group.outlasts(self.grace);
        }
        // Children of a launcher such as npx may outlive it.
        self.group.end();
        ending
    }

    fn wait(&mut self, at_most: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + at_most;
        loop {
            match self.group.leader().try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => thread::sleep(POLL),
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Writes messages until nobody sends any more, then closes stdin.
fn write_messages(mut stdin: impl Write, messages: &Receiver<Vec<u8>>) {
    while let Ok(message) = messages.recv() {
        if stdin.write_all(&message).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Passes lines on until the end, a bound, or nobody listens.
fn read_lines(stdout: impl Read, line_bytes: usize, total_bytes: u64, send: &SyncSender<Line>) {
    let mut reader = BufReader::new(stdout);
    let mut left = total_bytes;
    loop {
        let mut line = Vec::new();
        // One byte more than allowed tells "reached" from "exceeded".
        let bound = (line_bytes as u64).min(left).saturating_add(1);
        match reader.by_ref().take(bound).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(read) if read as u64 == bound => {
                let _ = send.send(Line::TooLarge);
                return;
            }
            Ok(read) => left -= read as u64,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(script: &str) -> Ending {
        let command = ["/bin/sh", "-c", script].map(OsString::from);
        let launch = Launch {
            command: &command,
            environment: None,
            folder: None,
            line_bytes: 100,
            total_bytes: 100,
            grace: Duration::from_secs(2),
        };
        Process::start(&launch).unwrap().end()
    }

    #[test]
    fn only_children_that_run_on_are_left_behind() {
        let quiet = ">/dev/null 2>&1 </dev/null &";
        assert_eq!(ending(&format!("sleep 0.2 {quiet} exit 0")), Ending::default(), "it ended after its parent");
        assert_eq!(ending(&format!("sleep 60 {quiet} exit 0")), Ending { forced: false, left_children: true });
        assert_eq!(ending("trap '' TERM; exec sleep 60"), Ending { forced: true, left_children: false });
    }
}
