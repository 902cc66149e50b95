//! Texts of `mcp-server-git`: `git_log` prints commits by its own format, the other tools pass git's output through.

use std::fmt::Write as _;

use crate::results_suite::world::{Person, python_time};

/// One commit of a history.
#[derive(Debug, Clone)]
pub(in crate::results_suite) struct Commit {
    pub(in crate::results_suite) hash: String,
    pub(in crate::results_suite) author: Person,
    pub(in crate::results_suite) when: u64,
    pub(in crate::results_suite) subject: String,
    /// Lines of the body, trailers excluded.
    pub(in crate::results_suite) body: Vec<String>,
    /// `(key, value)`, after the body.
    pub(in crate::results_suite) trailers: Vec<(&'static str, String)>,
}

impl Commit {
    fn message(&self) -> String {
        let mut message = format!("{}\n", self.subject);
        if !self.body.is_empty() {
            let _ = write!(message, "\n{}\n", self.body.join("\n"));
        }
        if !self.trailers.is_empty() {
            message.push('\n');
            for (key, value) in &self.trailers {
                let _ = writeln!(message, "{key}: {value}");
            }
        }
        message
    }

    /// The hash's first seven digits.
    pub(in crate::results_suite) fn short(&self) -> String {
        self.hash.chars().take(7).collect()
    }
}

/// What `git_log` returns: `Commit history:` and one paragraph per commit.
pub(in crate::results_suite) fn log(commits: &[Commit]) -> String {
    let entries: Vec<String> = commits
        .iter()
        .map(|commit| {
            let (hash, name, when) = (&commit.hash, &commit.author.name, python_time(commit.when));
            format!("Commit: {hash}\nAuthor: {name}\nDate: {when}\nMessage: {}\n", commit.message())
        })
        .collect();
    format!("Commit history:\n{}", entries.join("\n"))
}

/// One hunk: its first line number and its lines with their sign.
#[derive(Debug, Clone)]
pub(in crate::results_suite) struct Hunk {
    pub(in crate::results_suite) start: u64,
    pub(in crate::results_suite) lines: Vec<String>,
}

/// One changed file of a diff.
#[derive(Debug, Clone)]
pub(in crate::results_suite) struct FileDiff {
    pub(in crate::results_suite) path: String,
    /// Abbreviated blob hashes before and after.
    pub(in crate::results_suite) blobs: (String, String),
    pub(in crate::results_suite) hunks: Vec<Hunk>,
}

/// git's unified diff of `files`.
pub(in crate::results_suite) fn diff(files: &[FileDiff]) -> String {
    let mut text = String::new();
    for file in files {
        let (path, (before, after)) = (&file.path, &file.blobs);
        let _ =
            write!(text, "diff --git a/{path} b/{path}\nindex {before}..{after} 100644\n--- a/{path}\n+++ b/{path}\n");
        let mut drift = 0_i64;
        for hunk in &file.hunks {
            let count = |sign: char| hunk.lines.iter().filter(|line| !line.starts_with(sign)).count();
            let (old, new) = (count('+'), count('-'));
            let start = i64::try_from(hunk.start).unwrap_or(1);
            let _ = writeln!(text, "@@ -{start},{old} +{},{new} @@", start + drift);
            drift += i64::try_from(new).unwrap_or(0) - i64::try_from(old).unwrap_or(0);
            for line in &hunk.lines {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    // GitPython strips the last line end.
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// What `git status` tells of a working tree.
#[derive(Debug, Clone, Default)]
pub(in crate::results_suite) struct WorkTree {
    pub(in crate::results_suite) branch: String,
    /// Commits ahead of the upstream branch.
    pub(in crate::results_suite) ahead: u64,
    /// `(change, path)`: `modified`, `new file`, `deleted`, or `renamed` with `old -> new`.
    pub(in crate::results_suite) staged: Vec<(&'static str, String)>,
    pub(in crate::results_suite) unstaged: Vec<(&'static str, String)>,
    pub(in crate::results_suite) untracked: Vec<String>,
}

/// What `git_status` returns.
pub(in crate::results_suite) fn status(tree: &WorkTree) -> String {
    let WorkTree { branch, ahead, staged, unstaged, untracked } = tree;
    let mut text = format!(
        "Repository status:\nOn branch {branch}\nYour branch is ahead of 'origin/{branch}' by {ahead} commits.\n  (use \"git push\" to publish your local commits)\n"
    );
    let list = |text: &mut String, entries: &[(&str, String)]| {
        for (change, path) in entries {
            let _ = writeln!(text, "\t{:<12}{path}", format!("{change}:"));
        }
    };
    if !staged.is_empty() {
        text.push_str("\nChanges to be committed:\n  (use \"git restore --staged <file>...\" to unstage)\n");
        list(&mut text, staged);
    }
    if !unstaged.is_empty() {
        let add = if unstaged.iter().any(|(change, _)| *change == "deleted") { "add/rm" } else { "add" };
        let _ = write!(
            text,
            "\nChanges not staged for commit:\n  (use \"git {add} <file>...\" to update what will be committed)\n  (use \"git restore <file>...\" to discard changes in working directory)\n"
        );
        list(&mut text, unstaged);
    }
    if !untracked.is_empty() {
        text.push_str("\nUntracked files:\n  (use \"git add <file>...\" to include in what will be committed)\n");
        for path in untracked {
            let _ = writeln!(text, "\t{path}");
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// What `git_branch` returns for `all`: local branches, the current one starred, then remote ones, each in name order.
pub(in crate::results_suite) fn branches(local: &[String], current: &str, remote: &[String]) -> String {
    let (mut local, mut remote) = (local.to_vec(), remote.to_vec());
    local.sort_unstable();
    remote.sort_unstable();
    let mut lines: Vec<String> =
        local.iter().map(|name| format!("{} {name}", if name == current { "*" } else { " " })).collect();
    lines.push("  remotes/origin/HEAD -> origin/main".to_owned());
    lines.extend(remote.iter().map(|name| format!("  remotes/origin/{name}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_the_captured_form() {
        let author = Person { name: "demo".into(), login: String::new(), email: String::new(), id: 1 };
        let commit = Commit {
            hash: "a90161053cfbfe395effcf1436f17378cab2528f".into(),
            author,
            when: 1_795_973_179,
            subject: "first".into(),
            body: Vec::new(),
            trailers: Vec::new(),
        };
        let captured = "Commit history:\nCommit: a90161053cfbfe395effcf1436f17378cab2528f\nAuthor: demo\nDate: 2026-11-29 17:26:19+00:00\nMessage: first\n\n";
        assert_eq!(log(&[commit]), captured);
    }

    #[test]
    fn hunk_heads_count_their_lines_and_carry_the_drift() {
        let hunk = |start, lines: &[&str]| Hunk { start, lines: lines.iter().map(|&line| line.to_owned()).collect() };
        let file = FileDiff {
            path: "a".into(),
            blobs: ("1".into(), "2".into()),
            hunks: vec![hunk(3, &[" x", "+y", "+z"]), hunk(20, &["-u", " v"])],
        };
        let expected = "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -3,1 +3,3 @@\n x\n+y\n+z\n@@ -20,2 +22,1 @@\n-u\n v";
        assert_eq!(diff(&[file]), expected);
    }
}
