//! What must not outlast this program: the process groups that it started, and the folders that it made for them.
//!
//! Each is ended or removed by its owner. Where the program ends without its owners, on a second Ctrl-C or a panic,
//! [`clear`] does it for all of them. Children belong to a process, so their register does too.

use std::{
    fs,
    io::{self, ErrorKind},
    mem,
    os::unix::process::CommandExt as _,
    panic,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// How often something that is to come about is looked at.
const POLL: Duration = Duration::from_millis(5);
/// How long [`clear`] may wait for the register, and for what it killed to stop writing into a folder.
const PATIENCE: Duration = Duration::from_secs(1);
/// States of a process that has ended, as `/proc` writes them: not collected yet, or just being collected.
const ENDED: [char; 3] = ['Z', 'X', 'x'];

static REGISTER: Mutex<Register> = Mutex::new(Register { groups: Vec::new(), folders: Vec::new(), is_closed: false });

struct Register {
    groups: Vec<Pid>,
    folders: Vec<PathBuf>,
    /// The program is ending: nothing is entered any more.
    is_closed: bool,
}

impl Register {
    /// The register, while something can be entered. It is held from before a thing is made until it is entered, so that
    /// nothing is made that [`clear`] does not know of.
    fn open() -> io::Result<MutexGuard<'static, Self>> {
        let register = Self::lock();
        if register.is_closed {
            return Err(io::Error::new(ErrorKind::Interrupted, "this program is ending"));
        }
        Ok(register)
    }

    fn lock() -> MutexGuard<'static, Self> {
        REGISTER.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The register, unless it is held for too long: by a thread that panicked while it held it, and now asks for it.
    fn lock_until(until: Instant) -> Option<MutexGuard<'static, Self>> {
        loop {
            match REGISTER.try_lock() {
                Ok(register) => return Some(register),
                Err(TryLockError::Poisoned(held)) => return Some(held.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(POLL),
                Err(TryLockError::WouldBlock) => return None,
            }
        }
    }
}

/// A process and all that it starts, which end with this value.
pub(crate) struct Group {
    leader: Child,
    id: Pid,
    ended: bool,
}

impl Group {
    /// Starts a command in a process group of its own.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut register = Register::open()?;
        let leader = command.process_group(0).spawn()?;
        let id = Pid::from_child(&leader);
        register.groups.push(id);
        Ok(Self { leader, id, ended: false })
    }

    /// The process that was started.
    pub(crate) fn leader(&mut self) -> &mut Child {
        &mut self.leader
    }

    /// Sends a signal to all of them.
    pub(crate) fn signal(&self, signal: Signal) {
        // A group that is gone is what is wanted.
        let _ = kill_process_group(self.id, signal);
    }

    /// Whether processes of the group still run when the time is over that they have after its leader ended.
    pub(crate) fn outlasts(&self, grace: Duration) -> bool {
        let until = Instant::now() + grace;
        while runs(self.id) {
            if Instant::now() >= until {
                return true;
            }
            thread::sleep(POLL);
        }
        false
    }

    /// Ends what is left of it.
    pub(crate) fn end(&mut self) {
        if mem::replace(&mut self.ended, true) {
            return;
        }
        self.signal(Signal::KILL);
        // It left before its leader is collected: a number that is free again may become somebody else's.
        Register::lock().groups.retain(|id| *id != self.id);
        let _ = self.leader.wait();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// A temporary folder, removed with this value.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes a folder whose name begins so.
    pub(crate) fn new(prefix: &str) -> io::Result<Self> {
        let mut register = Register::open()?;
        let path = tempfile::Builder::new().prefix(prefix).tempdir()?.keep();
        register.folders.push(path.clone());
        Ok(Self(path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed is the system's to clean.
        let _ = fs::remove_dir_all(&self.0);
        Register::lock().folders.retain(|path| *path != self.0);
    }
}

/// Kills every process group and removes every folder, in bounded time and as far as that goes; none is made after this.
/// To be called where the program ends without dropping what it owns.
pub(crate) fn clear() {
    let until = Instant::now() + PATIENCE;
    let Some(mut register) = Register::lock_until(until) else { return };
    register.is_closed = true;
    for group in &register.groups {
        let _ = kill_process_group(*group, Signal::KILL);
    }
    let folders = mem::take(&mut register.folders);
    drop(register);
    for folder in folders {
        // Who was writing there may be ending just now.
        while fs::remove_dir_all(&folder).is_err_and(|error| error.kind() != ErrorKind::NotFound)
            && Instant::now() < until
        {
            thread::sleep(POLL);
        }
    }
}

/// From here on a panic [clears](clear) before it is told: where panics abort, nothing is dropped.
pub(crate) fn clear_on_panic() {
    let told = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        clear();
        told(panic);
    }));
}

/// Whether a process of the group runs. One that has ended and was not collected yet takes signals all the same: orphans
/// are collected by the system's first process, which in containers may take seconds. Where the system tells of
/// processes in files, such ones are told apart.
fn runs(group: Pid) -> bool {
    if test_kill_process_group(group).is_err() {
        return false;
    }
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    let mut told = false;
    for process in processes.flatten() {
        // A process may be gone by now, and most files are of no process.
        let Ok(stat) = fs::read(process.path().join("stat")) else { continue };
        let Some((state, of_group)) = state_and_group(&String::from_utf8_lossy(&stat)) else { continue };
        told = true;
        if of_group == group.as_raw_nonzero().get() && !ENDED.contains(&state) {
            return true;
        }
    }
    !told
}

/// State and process group of a line of `/proc/PID/stat`: `PID (name) state parent group …`, where the name may hold
/// anything.
fn state_and_group(stat: &str) -> Option<(char, i32)> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(1)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::{env, process::Stdio};

    use super::*;

    /// Tells a test binary that it is the one to panic, and where to say what it leaves.
    const SAYS: &str = "BENCH_TEST_PANIC_SAYS";

    #[test]
    fn a_line_of_a_process_is_read_whatever_its_name_holds() {
        assert_eq!(state_and_group("42 (sh) S 1 41 41 0 -1"), Some(('S', 41)));
        assert_eq!(state_and_group("42 (a) Z 9 (b) ) Z 1 7 7"), Some(('Z', 7)));
        assert_eq!(state_and_group("42 (sh"), None);
    }

    /// Runs a test of this module in a process of its own, which panics; what that process said before.
    fn panicking(test: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let says = folder.path().join("says");
        let panicked = Command::new(env::current_exe().unwrap())
            .args(["--exact", &format!("stdio::leftovers::tests::{test}")])
            .env(SAYS, &says)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(!panicked.success(), "it did not panic");
        fs::read_to_string(says).unwrap()
    }

    #[test]
    fn a_panic_that_drops_nothing_leaves_no_process_and_no_folder() {
        if let Some(says) = env::var_os(SAYS) {
            clear_on_panic();
            let folder = Folder::new("bench-test-").unwrap();
            let group = Group::start(Command::new("/bin/sh").args(["-c", "trap '' INT TERM; sleep 60; :"])).unwrap();
            fs::write(says, format!("{} {}", group.id.as_raw_nonzero(), folder.path().display())).unwrap();
            // As where panics abort.
            mem::forget((group, folder));
            panic!("as a fault of this program would");
        }
        let said = panicking("a_panic_that_drops_nothing_leaves_no_process_and_no_folder");
        let (id, folder) = said.split_once(' ').unwrap();
        let until = Instant::now() + 10 * PATIENCE;
        while runs(Pid::from_raw(id.parse().unwrap()).unwrap()) {
            assert!(Instant::now() < until, "{id} runs on");
            thread::sleep(POLL);
        }
        assert!(!Path::new(folder).exists(), "{folder}");
    }

    #[test]
    fn a_panic_of_who_holds_the_register_ends_all_the_same() {
        if let Some(says) = env::var_os(SAYS) {
            clear_on_panic();
            fs::write(says, "holding").unwrap();
            let _held = Register::lock();
            panic!("as a fault of this program would");
        }
        assert_eq!(panicking("a_panic_of_who_holds_the_register_ends_all_the_same"), "holding");
    }
}
