//! From an entry to a process: folders of its own, a configuration file, the command with its placeholders filled.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    entry::{Entry, Serves},
    fault::Fault,
};
use crate::stdio::leftovers::{Folder, Group};

/// Folders below HOME, each named by its variable: nothing is read from or left in the user's own.
const XDG: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];
/// Variables that are passed on. Anything else could hold a key, or change what a compressor does.
const KEPT: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TERM"];
/// Bytes at the end of what a preparing command said on stderr that are read, and letters of its last line that are told.
const STDERR_READ: usize = 4096;
const STDERR_TOLD: usize = 300;
/// How often a preparing command is looked at.
const POLL: Duration = Duration::from_millis(10);

/// The replay server as a command.
#[derive(Debug, Clone)]
pub struct Upstream {
    /// This program.
    pub program: PathBuf,
    /// Catalogs other than the ones compiled in.
    pub catalogs: Option<PathBuf>,
}

impl Upstream {
    /// The command that replays one server, or all as one, and logs to `log`. Parameters go by arguments alone: some
    /// compressors scrub the environment.
    fn argv(&self, server: &str, log: &Path) -> Vec<String> {
        let mut argv = vec![text(&self.program), "replay-server".to_owned(), "--server".to_owned(), server.to_owned()];
        argv.extend(["--log".to_owned(), text(log)]);
        if let Some(catalogs) = &self.catalogs {
            argv.extend(["--catalogs".to_owned(), text(catalogs)]);
        }
        argv
    }
}

/// Everything that starting a process of an arm needs.
#[derive(Debug, Clone)]
pub(super) struct Blueprint {
    pub(super) entry: Arc<Entry>,
    pub(super) upstream: Arc<Upstream>,
    /// The server it stands in front of; none where it serves all.
    pub(super) server: Option<Arc<str>>,
    /// All servers, in catalog order.
    pub(super) servers: Arc<[Arc<str>]>,
}

/// A process to be started: its folder, command and environment.
pub(super) struct Prepared {
    /// Its HOME, removed when it is gone.
    pub(super) state: Folder,
    /// Where calls are logged.
    pub(super) log: PathBuf,
    pub(super) command: Vec<OsString>,
    pub(super) environment: Vec<(OsString, OsString)>,
}

impl Blueprint {
    /// Makes the folders, writes the configuration, runs the preparing commands.
    pub(super) fn prepare(&self, within: Duration) -> Result<Prepared, Fault> {
        let failed = |error: io::Error| Fault::Harness { cause: format!("a folder for {}: {error}", self.entry.name) };
        let state = Folder::new("bench-arm-").map_err(failed)?;
        let log = state.path().join("calls.jsonl");
        for (_, folder) in XDG {
            fs::create_dir_all(state.path().join(folder)).map_err(failed)?;
        }
        fs::create_dir(state.path().join("tmp")).map_err(failed)?;
        if let Some(config) = &self.entry.config {
            fs::write(state.path().join(&config.file), self.config(state.path(), &log)).map_err(failed)?;
        }
        let environment = self.environment(state.path(), &log);
        for command in &self.entry.prepare {
            run(&self.words(command, state.path(), &log), &environment, state.path(), within)?;
        }
        let command = self.words(&self.entry.command, state.path(), &log);
        Ok(Prepared { command: command.into_iter().map(Into::into).collect(), environment, log, state })
    }

    fn environment(&self, state: &Path, log: &Path) -> Vec<(OsString, OsString)> {
        let mut all: Vec<(OsString, OsString)> =
            KEPT.iter().filter_map(|name| Some((OsString::from(name), env::var_os(name)?))).collect();
        all.push(("HOME".into(), state.into()));
        all.push(("TMPDIR".into(), state.join("tmp").into()));
        all.extend(XDG.iter().map(|(name, folder)| (OsString::from(name), state.join(folder).into_os_string())));
        all.extend(self.entry.env.iter().map(|(name, value)| (name.into(), self.fill(value, state, log).into())));
        all
    }

    /// Words with their placeholders filled; `{upstream}` alone becomes several.
    fn words(&self, words: &[String], state: &Path, log: &Path) -> Vec<String> {
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            match (word.as_str(), &self.server) {
                ("{upstream}", Some(server)) => all.extend(self.upstream.argv(server, log)),
                _ => all.push(self.fill(word, state, log)),
            }
        }
        all
    }

    /// A text with its placeholders filled.
    fn fill(&self, text: &str, state: &Path, log: &Path) -> String {
        let server = self.server.as_deref().unwrap_or("all");
        let mut filled = text.replace("{state}", &self::text(state)).replace("{here}", &self::text(&self.entry.here));
        filled = filled.replace("{server}", server);
        if let Some(config) = &self.entry.config {
            filled = filled.replace("{config}", &self::text(&state.join(&config.file)));
        }
        if filled.contains("{upstream}") {
            let argv = self.upstream.argv(server, log);
            // Quoting fails on a zero byte alone, which no argument can hold.
            let joined = shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "));
            filled = filled.replace("{upstream}", &joined);
        }
        filled
    }

    /// The configuration file: an item per server that this process stands in front of.
    fn config(&self, state: &Path, log: &Path) -> String {
        let Some(config) = &self.entry.config else { return String::new() };
        let one = self.server.as_ref().map(std::slice::from_ref);
        let items: Vec<String> =
            one.unwrap_or(&self.servers).iter().map(|server| self.item(&config.item, server, state, log)).collect();
        let fill = |text: &str| self.fill(text, state, log);
        format!("{}{}{}", fill(&config.head), items.join(&config.separator), fill(&config.tail))
    }

    fn item(&self, item: &str, server: &str, state: &Path, log: &Path) -> String {
        let argv = self.upstream.argv(server, log);
        let words: Vec<String> = argv[1..].iter().map(|word| Value::from(word.as_str()).to_string()).collect();
        // Values go in last: what they hold is no placeholder.
        let known = [
            ("{state}", text(state)),
            ("{here}", text(&self.entry.here)),
            ("{server}", server.to_owned()),
            ("{name}", Value::from(server).to_string()),
            ("{program}", Value::from(argv[0].as_str()).to_string()),
            ("{args}", Value::from(argv[1..].to_vec()).to_string()),
            ("{argv}", Value::from(argv.clone()).to_string()),
            ("{words}", words.join(" ")),
        ];
        substitute(item, &known)
    }
}

/// Replaces placeholders in one pass, so that what is put in is not looked at again.
fn substitute(template: &str, known: &[(&str, String)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((name, value)) = known.iter().find(|(name, _)| rest.starts_with(name)) {
            out.push_str(value);
            rest = &rest[name.len()..];
        } else {
            out.push('{');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

/// Whether one process per server is needed, and for which.
pub(super) fn slots(entry: &Entry, servers: &[Arc<str>]) -> Vec<Option<Arc<str>>> {
    match entry.serves {
        Serves::All => vec![None],
        Serves::Server => servers.iter().cloned().map(Some).collect(),
    }
}

/// Runs a preparing command to its end, in bounded time. What it leaves running ends with it: nobody else would end that.
fn run(argv: &[String], environment: &[(OsString, OsString)], folder: &Path, within: Duration) -> Result<(), Fault> {
    // Whoever reads this never saw the folder.
    let own = format!("{}/", folder.display());
    let shown = argv.join(" ").replace(&own, "");
    let failed = |status: String, stderr: String| Fault::PrepareFailed { command: shown.clone(), status, stderr };
    let errors = folder.join("prepare.err");
    let stderr = fs::File::create(&errors).map_err(|error| failed(error.to_string(), String::new()))?;
    let mut command = Command::new(argv.first().map_or("", String::as_str));
    command
        .args(argv.iter().skip(1))
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr);
    let mut group = Group::start(&mut command).map_err(|error| Fault::CannotStart {
        program: argv.first().cloned().unwrap_or_default(),
        cause: error.to_string(),
    })?;
    let until = Instant::now() + within;
    loop {
        match group.leader().try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                let said = fs::read(&errors).unwrap_or_default();
                let said = String::from_utf8_lossy(&said[said.len().saturating_sub(STDERR_READ)..]).replace(&own, "");
                let last = said.lines().rev().find(|line| !line.trim().is_empty());
                let last: String = last.into_iter().flat_map(|line| line.chars().take(STDERR_TOLD)).collect();
                let clause = if last.is_empty() { last } else { format!("; {last}") };
                return Err(failed(status.to_string(), clause));
            }
            Ok(None) if Instant::now() < until => thread::sleep(POLL),
            Ok(None) => return Err(failed(format!("still running after {} s", within.as_secs()), String::new())),
            Err(error) => return Err(failed(error.to_string(), String::new())),
        }
    }
}

/// A path as text. Catalog names and temporary folders are ASCII; a path that is not Unicode fails to be opened later.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external::entry::Config;

    fn blueprint(command: &[&str], server: Option<&str>, config: Option<Config>) -> Blueprint {
        let mut entry = Entry::proxy("x {upstream}", Path::new("/arms")).unwrap();
        entry.command = command.iter().map(|word| (*word).to_owned()).collect();
        entry.config = config;
        entry.env.insert("OWN".to_owned(), "{state}/own".to_owned());
        Blueprint {
            entry: Arc::new(entry),
            upstream: Arc::new(Upstream { program: "/b/bench".into(), catalogs: None }),
            server: server.map(Arc::from),
            servers: ["git".into(), "time".into()].into(),
        }
    }

    #[test]
    fn the_upstream_is_a_command_of_words_and_one_word_inside_another() {
        let prepared = blueprint(&["{here}/p", "-n", "{server}", "--", "{upstream}"], Some("git"), None)
            .prepare(Duration::from_secs(1))
            .unwrap();
        let words: Vec<String> = prepared.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let log = text(&prepared.log);
        assert_eq!(
            words,
            ["/arms/p", "-n", "git", "--", "/b/bench", "replay-server", "--server", "git", "--log", &log]
        );
        let prepared =
            blueprint(&["p", "--cmd={upstream}"], Some("git"), None).prepare(Duration::from_secs(1)).unwrap();
        assert!(prepared.command[1].to_string_lossy().starts_with("--cmd=/b/bench replay-server --server git --log "));
    }

    #[test]
    fn a_configuration_has_an_item_per_server_as_json() {
        let config = Config {
            file: "c.json".to_owned(),
            head: "[".to_owned(),
            item: "{\"n\":{name},\"c\":{argv},\"d\":\"{server} server\"}".to_owned(),
            separator: ",".to_owned(),
            tail: "]".to_owned(),
        };
        let prepared = blueprint(&["p", "{config}"], None, Some(config)).prepare(Duration::from_secs(1)).unwrap();
        let path = prepared.state.path().join("c.json");
        assert_eq!(prepared.command[1].to_string_lossy(), path.to_string_lossy());
        let written: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        assert_eq!(written[1]["n"], "time");
        assert_eq!(written[1]["d"], "time server");
        assert_eq!(written[0]["c"][3], "git");
    }

    #[test]
    fn nothing_of_the_users_own_is_in_the_environment() {
        let prepared = blueprint(&["p", "{upstream}"], Some("git"), None).prepare(Duration::from_secs(1)).unwrap();
        let state = prepared.state.path().to_string_lossy().into_owned();
        for (name, value) in &prepared.environment {
            let name = name.to_string_lossy();
            assert!(KEPT.contains(&&*name) || value.to_string_lossy().starts_with(&state), "{name}");
        }
        let own = prepared.environment.iter().find(|(name, _)| name == "OWN").unwrap();
        assert_eq!(own.1.to_string_lossy(), format!("{state}/own"));
    }

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        let known = [("{a}", "{b}".to_owned()), ("{b}", "B".to_owned())];
        assert_eq!(substitute("{a}{b}{c} {", &known), "{b}B{c} {");
    }

    #[test]
    fn a_preparing_command_that_fails_or_hangs_is_a_fault_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let sh = |script: &str| ["/bin/sh", "-c", script].map(str::to_owned);
        let fails = run(&sh("echo no config >&2; exit 3"), &[], folder.path(), Duration::from_secs(5)).unwrap_err();
        assert!(fails.to_string().ends_with("failed (exit status: 3); no config"), "{fails}");
        let hangs = run(&sh("while :; do :; done"), &[], folder.path(), Duration::from_millis(100)).unwrap_err();
        assert_eq!(hangs.kind(), "prepare-failed");
    }

    #[test]
    fn what_a_preparing_command_started_ends_with_it_however_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        // All of them hold its other end: reading comes to an end when the last one is gone.
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (then, ends_well) in [("exit 0", true), ("exit 3", false), ("wait", false)] {
            let script = format!("exec >pipe; sleep 600 & {then}");
            let reader = thread::spawn({
                let pipe = pipe.clone();
                move || fs::read(pipe)
            });
            let argv = ["/bin/sh", "-c", &script].map(str::to_owned);
            let ended = run(&argv, &[], folder.path(), Duration::from_secs(1));
            assert_eq!(ended.is_ok(), ends_well, "{then}");
            let until = Instant::now() + Duration::from_secs(30);
            while !reader.is_finished() {
                assert!(Instant::now() < until, "{then}: what it started runs on");
                thread::sleep(POLL);
            }
        }
    }
}
