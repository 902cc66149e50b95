//! What is said of a compressor in an arms file: data alone, so that adding one needs no code.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An arms file: `[[arm]]` entries.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArmsFile {
    arm: Vec<Entry>,
}

/// One compressor under test.
///
/// Words of `command`, `prepare`, values of `env` and the texts of `config` may hold placeholders: `{upstream}` (a word of
/// its own becomes the whole command of the replay server), `{server}`, `{state}` (a fresh folder per process, which is its
/// HOME too), `{config}` (the file that `config` describes), `{here}` (the folder of the arms file).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    /// The arm's name.
    pub name: String,
    /// Package, as its registry calls it.
    #[serde(default)]
    pub package: Option<String>,
    /// Exact version.
    #[serde(default)]
    pub version: Option<String>,
    /// The program that must be there to install it, such as `python3`.
    #[serde(default)]
    pub runtime: Option<String>,
    /// A shell line, run in the folder of the arms file, that installs it.
    #[serde(default)]
    pub install: Option<String>,
    /// Program and arguments.
    pub command: Vec<String>,
    /// What one process stands in front of.
    #[serde(default)]
    pub serves: Serves,
    /// Nothing of an episode is left in the process after it: one warm process serves all episodes.
    #[serde(default)]
    pub stateless: bool,
    /// Environment variables beside PATH, LANG, HOME and the XDG folders.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// A configuration file to write.
    #[serde(default)]
    pub config: Option<Config>,
    /// Commands to run before each start, in the environment of the process. What one leaves running ends with it.
    #[serde(default)]
    pub prepare: Vec<Vec<String>>,
    /// A call to repeat until the process is ready; its time is nobody's.
    #[serde(default)]
    pub ready: Option<Ready>,
    /// The process itself puts server names before tool names, as `server__tool`, so that no more is added.
    #[serde(default)]
    pub names_servers: bool,
    /// Milliseconds after an answer in which a changed list may be announced; by default 50 where the process says that
    /// its list may change and is not stateless, else 0.
    #[serde(default)]
    pub settle_ms: Option<u64>,
    /// What its author would want to be read beside its numbers.
    #[serde(default)]
    pub note: Option<String>,
    /// The folder of the arms file.
    #[serde(skip)]
    pub here: PathBuf,
    /// The line of `--proxy` that it comes from, as it was typed; none for an entry of a file.
    #[serde(skip)]
    pub typed: Option<String>,
}

/// What one process stands in front of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Serves {
    /// One server: there is a process per catalog.
    #[default]
    Server,
    /// All servers: there is one process.
    All,
}

/// A configuration file: a head, an item per server, a tail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Its name within `{state}`.
    pub file: String,
    /// Text before the items.
    #[serde(default)]
    pub head: String,
    /// Text of an item. Beside the placeholders of commands: `{name}`, `{program}` (both as JSON strings), `{args}`,
    /// `{argv}` (JSON arrays), `{words}` (the arguments as JSON strings with blanks between).
    pub item: String,
    /// Text between items.
    #[serde(default)]
    pub separator: String,
    /// Text after the items.
    #[serde(default)]
    pub tail: String,
}

/// A call that shows whether a process is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ready {
    /// The tool, under its own name.
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: String,
    /// What its reply holds once the process is ready: all of it.
    pub contains: Vec<String>,
}

/// Why there is no such entry.
#[derive(Debug, Error)]
pub enum EntryError {
    /// The file could not be read.
    #[error("{path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is malformed.
    #[error("{path}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// The cause, with its place.
        source: Box<toml::de::Error>,
    },
    /// An entry cannot be what it says.
    #[error("{path}: arm `{name}`: {why}")]
    Entry {
        /// The file.
        path: PathBuf,
        /// The entry.
        name: String,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// A command line of `--proxy` is not one.
    #[error("--proxy {text:?}: {why}")]
    Proxy {
        /// The text.
        text: String,
        /// What is wrong, and what would be right.
        why: String,
    },
}

/// The usual configuration file of MCP clients.
fn mcp_servers() -> Config {
    Config {
        file: "mcp.json".to_owned(),
        head: "{\"mcpServers\":{".to_owned(),
        item: "{name}:{\"command\":{program},\"args\":{args}}".to_owned(),
        separator: ",".to_owned(),
        tail: "}}".to_owned(),
    }
}

impl Entry {
    /// Reads an arms file.
    ///
    /// # Errors
    /// Names file, entry, place and cause.
    pub fn load(path: &Path) -> Result<Vec<Self>, EntryError> {
        let text = fs::read_to_string(path).map_err(|source| EntryError::Read { path: path.to_owned(), source })?;
        let file: ArmsFile = toml::from_str(&text)
            .map_err(|source| EntryError::Parse { path: path.to_owned(), source: Box::new(source) })?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let here = folder.canonicalize().map_err(|source| EntryError::Read { path: folder.to_owned(), source })?;
        let mut names = std::collections::BTreeSet::new();
        let mut entries = Vec::with_capacity(file.arm.len());
        for mut entry in file.arm {
            let refuse = |why: &str| {
                Err(EntryError::Entry { path: path.to_owned(), name: entry.name.clone(), why: why.to_owned() })
            };
            if let Some(why) = entry.wrong() {
                return refuse(why);
            }
            if !names.insert(entry.name.clone()) {
                return refuse("the file has two arms of this name");
            }
            entry.here.clone_from(&here);
            entries.push(entry);
        }
        Ok(entries)
    }

    /// The entry of a command line such as `my-proxy -- {upstream}`: a process per server, replaced after each episode
    /// that called it. With `{config}` in it there is one process for all servers. `here` is the folder that the line was
    /// written in: processes run in folders of their own, so what it names by a relative path is made absolute.
    ///
    /// # Errors
    /// A line that no shell would take, or that says nowhere what to stand in front of.
    pub fn proxy(text: &str, here: &Path) -> Result<Self, EntryError> {
        let refuse = |why: &str| Err(EntryError::Proxy { text: text.to_owned(), why: why.to_owned() });
        let Some(words) = shlex::split(text) else { return refuse("a quote is left open") };
        let command = words.into_iter().enumerate().map(|(at, word)| absolute(word, at == 0, here)).collect();
        let config = text.contains("{config}").then(mcp_servers);
        let entry = Self {
            name: "proxy".to_owned(),
            package: None,
            version: None,
            runtime: None,
            install: None,
            command,
            serves: if config.is_some() { Serves::All } else { Serves::Server },
            stateless: false,
            env: BTreeMap::new(),
            config,
            prepare: Vec::new(),
            ready: None,
            names_servers: false,
            settle_ms: None,
            note: None,
            here: here.to_owned(),
            typed: Some(text.to_owned()),
        };
        match entry.wrong() {
            Some(why) => refuse(why),
            None => Ok(entry),
        }
    }

    /// Its command as its author wrote it: the typed line, or the words of the file with their placeholders.
    pub fn written(&self) -> String {
        self.typed.clone().unwrap_or_else(|| self.command.join(" "))
    }

    /// The program, where it is not there; a name without a slash is looked up in PATH. A typed one is told as typed.
    pub fn missing_program(&self) -> Option<String> {
        let word = self.command.first().cloned().unwrap_or_default();
        let program = word.replace("{here}", &self.here.to_string_lossy());
        if program.contains('{') {
            return None;
        }
        let is_there = if program.contains('/') {
            PathBuf::from(&program).is_file()
        } else {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| folder.join(&program).is_file())
        };
        if is_there {
            return None;
        }
        let typed = self.typed.as_deref().and_then(shlex::split).and_then(|words| words.into_iter().next());
        Some(typed.unwrap_or(program))
    }

    /// What cannot be right about it.
    fn wrong(&self) -> Option<&'static str> {
        let names = |wanted: &str| {
            let words = self.command.iter().chain(self.prepare.iter().flatten()).chain(self.env.values());
            words.into_iter().any(|word| word.contains(wanted))
        };
        if self.name.is_empty() || !self.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.@".contains(c)) {
            return Some("a name holds letters, digits and `-_.@` only");
        }
        if self.name == "all" {
            return Some("`all` stands for all built-in arms: give it another name");
        }
        let program = self.command.first().map_or("", String::as_str);
        if program.is_empty() {
            return Some("`command` is empty");
        }
        if program.contains('/') && !program.starts_with(['/', '{']) {
            return Some(
                "the program's path is relative, and processes run in folders of their own: write {here}/… for it",
            );
        }
        if self.config.is_none() && names("{config}") {
            return Some("`{config}` is used, but there is no [arm.config]");
        }
        if self.config.is_none() && !names("{upstream}") {
            return Some("it says nowhere what to stand in front of: use {upstream}, or {config} with [arm.config]");
        }
        if self.serves == Serves::All && self.config.is_none() {
            return Some("serves = \"all\" needs [arm.config], which names the servers");
        }
        if self.config.as_ref().is_some_and(|config| config.file.contains("..") || config.file.starts_with('/')) {
            return Some("the configuration file must lie within {state}");
        }
        if let Some(ready) = &self.ready
            && serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&ready.arguments).is_err()
        {
            return Some("ready.arguments is no JSON object");
        }
        None
    }
}

/// A word of a command line as it means the same in any folder: the program where it is a path, an argument or the value
/// of an option where it names what is there. A name without a slash is a file's or nothing's: `serve` is more often a
/// subcommand than a folder.
fn absolute(word: String, is_program: bool, here: &Path) -> String {
    let there = |path: &str| here.join(path).to_string_lossy().into_owned();
    if word.contains('{') || word.starts_with('/') {
        return word;
    }
    if is_program {
        return if word.contains('/') { there(&word) } else { word };
    }
    let (option, path) = match word.split_once('=') {
        Some((option, path)) if option.starts_with('-') => (format!("{option}="), path),
        _ => (String::new(), word.as_str()),
    };
    let names_something = if path.contains('/') { here.join(path).exists() } else { here.join(path).is_file() };
    if names_something { format!("{option}{}", there(path)) } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Vec<Entry>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("arms.toml");
        fs::write(&path, text).unwrap();
        let shown = folder.path().display().to_string();
        Entry::load(&path).map_err(|error| format!("{:#}", anyhow::Error::new(error)).replace(&shown, "…"))
    }

    #[test]
    fn the_entries_that_come_along_are_sound_and_pinned() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers/arms.toml");
        let entries = Entry::load(&path).unwrap();
        for entry in &entries {
            assert!(entry.package.is_some() && entry.install.is_some() && entry.runtime.is_some(), "{}", entry.name);
            let version = entry.version.as_deref().unwrap();
            assert!(
                entry.install.as_deref().unwrap().contains(version),
                "{}: install line without {version}",
                entry.name
            );
        }
        let packages: std::collections::BTreeSet<_> =
            entries.iter().filter_map(|entry| entry.package.clone()).collect();
        assert_eq!(packages.len(), 7, "{packages:?}");
    }

    #[test]
    fn a_proxy_line_needs_no_file() {
        let entry = Entry::proxy("my-proxy --level 'very high' -- {upstream}", Path::new("/x")).unwrap();
        assert_eq!(entry.command, ["my-proxy", "--level", "very high", "--", "{upstream}"]);
        assert_eq!((entry.serves, entry.stateless), (Serves::Server, false));
        assert_eq!(Entry::proxy("my-proxy {config}", Path::new("/x")).unwrap().serves, Serves::All);
        for (text, why) in [("a 'b", "a quote"), ("", "empty"), ("my-proxy", "stand in front of")] {
            let error = Entry::proxy(text, Path::new("/x")).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn what_a_proxy_line_names_by_a_relative_path_is_found_from_any_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("dist/serve")).unwrap();
        fs::create_dir(folder.path().join("serve")).unwrap();
        fs::write(folder.path().join("dist/index.js"), "").unwrap();
        fs::write(folder.path().join("hook.mjs"), "").unwrap();
        let words = |text: &str| {
            let here = format!("{}/", folder.path().display());
            let entry = Entry::proxy(&format!("{text} -- {{upstream}}"), folder.path()).unwrap();
            let words: Vec<String> = entry.command.iter().map(|word| word.replace(&here, "HERE/")).collect();
            words.join(" ")
        };
        for (text, seen) in [
            ("node dist/index.js", "node HERE/dist/index.js -- {upstream}"),
            ("./proxy", "HERE/./proxy -- {upstream}"),
            ("../bin/proxy serve", "HERE/../bin/proxy serve -- {upstream}"),
            ("node --import=./hook.mjs hook.mjs", "node --import=HERE/./hook.mjs HERE/hook.mjs -- {upstream}"),
            ("npx -y @scope/proxy ./serve", "npx -y @scope/proxy HERE/./serve -- {upstream}"),
            ("/bin/proxy --root={here}/dist", "/bin/proxy --root={here}/dist -- {upstream}"),
        ] {
            assert_eq!(words(text), seen);
        }
    }

    #[test]
    fn what_cannot_be_right_is_refused_with_its_place() {
        let arm = "[[arm]]\nname = \"a\"\ncommand = [\"x\", \"{upstream}\"]\n";
        assert_eq!(load(arm).unwrap().len(), 1);
        assert_eq!(
            load(&format!("{arm}{arm}")).unwrap_err(),
            "…/arms.toml: arm `a`: the file has two arms of this name"
        );
        assert!(load(&format!("{arm}comand = 1\n")).unwrap_err().contains("unknown field `comand`"));
        assert!(load(&arm.replace("\"x\"", "\"bin/x\"")).unwrap_err().contains("write {here}/… for it"));
        for (line, why) in [
            ("serves = \"all\"", "needs [arm.config]"),
            ("prepare = [[\"x\", \"{config}\"]]", "there is no [arm.config]"),
            ("env = { A = \"{config}\" }", "there is no [arm.config]"),
            ("config = { file = \"../x\", item = \"\" }", "within {state}"),
            ("ready = { tool = \"t\", arguments = \"[]\", contains = [] }", "no JSON object"),
        ] {
            let error = load(&format!("{arm}{line}\n")).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
