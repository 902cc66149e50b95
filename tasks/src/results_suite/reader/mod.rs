//! A reader without a language model: parses rows out of a result and evaluates the question over them.
//!
//! It shares nothing with the recipes but the slots of the question, so its answer on an undigested result proves the
//! gold, and its answer on a digested one shows what the digest lost.

mod parse;
mod rows;

use self::{
    parse::{app_log, branches, changed_values, json, log, messages, settings, status, stock},
    rows::Rows,
};
use super::kind::Kind;

#[expect(clippy::too_many_lines, reason = "one table: a line per kind and format")]
/// The answer to a question of `kind` and `format` about `text`; `None` where the rows give none or several.
pub(super) fn read(kind: Kind, format: &str, slots: &[(&'static str, String)], text: &str) -> Option<String> {
    let slot = |name: &str| slots.iter().find(|(slot, _)| *slot == name).map_or("", |(_, value)| value.as_str());
    match kind {
        Kind::RecordLookup => lookup(format, slot, text),
        Kind::ErrorInLog => match format {
            "log-quoted" => log(text).is("subject", slot("subject")).only("code"),
            "applog-shard" => app_log(text).is("level", "ERROR").is("component", slot("component")).only("shard"),
            "checks-exit" => checks(text)?.is("context", slot("context")).only("description.last"),
            "issue-body" => {
                let body = json(text, "")?.only("body")?;
                let lines = body.lines().flat_map(|line| ["+", line, "\n"]).collect::<String>();
                app_log(&lines).is("level", "ERROR").is("component", slot("component")).only("shard")
            }
            _ => None,
        },
        Kind::UncuedFact => match format {
            "log-host" => log(text).is("subject", slot("subject")).only("host"),
            "log-ms" => log(text).starts("hash", slot("sha")).only("ms"),
            "diff-setting" => settings(text).is("section", slot("section")).is("key", slot("key")).only("value"),
            "applog-reload" => app_log(text).is("component", slot("component")).only("settings"),
            "status-renamed" => status(text).is("change", "renamed").is("path", slot("path")).only("to"),
            "pull-merge" => json(text, "")?.only("merge_commit_sha").and_then(|sha| cut(&sha, 10)),
            _ => None,
        },
        Kind::Count => count(format, slot, text),
        Kind::Sum => match format {
            "log-points" => log(text).sum("Story-Points"),
            "csv-warehouse" => stock(text).is("warehouse", slot("warehouse")).sum("quantity"),
            "applog-rows" => app_log(text).is("component", slot("component")).having("batch").sum("rows"),
            "files-additions" => json(text, "")?.sum("additions"),
            "checks-cases" => checks(text)?.sum("description.first"),
            _ => None,
        },
        Kind::Absence => match format {
            "log-author" => log(text).is("author", slot("person")).only_or_none("hash", 7),
            "applog-user" => app_log(text).is("user", slot("user")).only_or_none("req", 6),
            "status-deletion" => status(text).is("change", "deleted").only_or_none("path", usize::MAX),
            "branches-ticket" => {
                branches(text).is("remote", "yes").is("ticket", slot("ticket")).only_or_none("name", usize::MAX)
            }
            "repos-owner" => items(text)?.is("owner.login", slot("owner")).only_or_none("name", usize::MAX),
            _ => None,
        },
        Kind::SecondLargest => match format {
            "log-ms" => log(text).second("ms", "hash").and_then(|hash| cut(&hash, 7)),
            "csv-quantity" => stock(text).second("quantity", "sku"),
            "applog-ms" => app_log(text).having("done").second("done", "req"),
            "files-changes" => json(text, "")?.second("changes", "filename"),
            _ => None,
        },
        Kind::Join => match format {
            "log-reviewer" => {
                let both = log(text).is("author", slot("author")).is("Reviewed-by", slot("reviewer"));
                both.only("hash").and_then(|hash| cut(&hash, 7))
            }
            "applog-request" => {
                let rows = app_log(text);
                let request = rows.clone().is("user", slot("user")).only("req")?;
                rows.is("req", &request).having("done").only("done")
            }
            "checks-system" => {
                let end = format!("({})", slot("system"));
                checks(text)?.is("state", "pending").ends("context", &end).only("context")
            }
            "files-folder" => json(text, "")?.starts("filename", slot("folder")).is("status", "added").only("filename"),
            "reviews-day" => {
                json(text, "")?.is("state", "APPROVED").starts("submitted_at", slot("day")).only("user.login")
            }
            _ => None,
        },
        Kind::NestedField => match format {
            "commits-email" => json(text, "")?.is("commit.message", slot("message")).only("commit.author.email"),
            "issue-milestone" => json(text, "")?.only("milestone.title"),
            "issue-creator" => json(text, "")?.only("milestone.creator.login"),
            "issue-label" => json(text, "/labels")?.is("name", slot("label")).only("description"),
            "pull-fork" => json(text, "")?.only("head.repo.default_branch"),
            "pull-base" => json(text, "")?.only("base.repo.id"),
            "repos-owner" => items(text)?.is("full_name", slot("name")).only("owner.id"),
            _ => None,
        },
        Kind::Unicode => match format {
            "log-author" => log(text).starts("hash", slot("sha")).only("author"),
            "diff-locale" => messages(text).is("path", slot("path")).is("key", slot("key")).only("value"),
            "commits-author" => json(text, "")?.starts("sha", slot("sha")).only("commit.author.name"),
            "issue-title" => json(text, "")?.only("title"),
            _ => None,
        },
        Kind::LongBlocks => match format {
            "log-bodies" => log(text).is("subject", slot("subject")).only("Refs"),
            "diff-constants" => {
                changed_values(text).is("path", slot("path")).is("name", slot("constant")).only("value")
            }
            "comments-author" => {
                json(text, "")?.is("path", slot("path")).is("position", slot("position")).only("user.login")
            }
            _ => None,
        },
        Kind::NearDuplicate => match format {
            "log-subject" => log(text).is("subject", slot("subject")).is("day", slot("day")).only("author"),
            "applog-batch" => app_log(text).is("batch", slot("batch")).only("rows"),
            "branches-ticket" => branches(text).is("ticket", slot("ticket")).only("name"),
            "status-sibling" => status(text).is("list", "staged").starts("path", slot("start")).only("path"),
            "checks-grid" => checks(text)?.is("context", slot("context")).only("description.first"),
            "repos-namesake" => items(text)?.is("description", slot("about")).only("full_name"),
            _ => None,
        },
        Kind::FirstLast => match format {
            "log-earliest" => {
                log(text).is("author", slot("person")).first("date", "hash").and_then(|hash| cut(&hash, 7))
            }
            "log-latest" => log(text).is("type", slot("kind")).last("date", "author"),
            "applog-retry" => app_log(text).is("component", slot("component")).having("retried").last("time", "req"),
            "checks-first" => checks(text)?.first("created_at", "context"),
            "reviews-last" => json(text, "")?.last("submitted_at", "user.login"),
            "repos-push" => items(text)?.last("pushed_at", "full_name"),
            "issues-oldest" => json(text, "")?.first("created_at", "number"),
            _ => None,
        },
    }
}

fn lookup<'a>(format: &str, slot: impl Fn(&str) -> &'a str, text: &str) -> Option<String> {
    match format {
        "log-author" => log(text).starts("hash", slot("sha")).only("author"),
        "log-day" => log(text).is("subject", slot("subject")).only("day"),
        "files-additions" => json(text, "")?.is("filename", slot("path")).only("additions"),
        "checks-cases" => checks(text)?.is("context", slot("context")).only("description.first"),
        "repos-branch" => items(text)?.is("full_name", slot("name")).only("default_branch"),
        "commits-day" => {
            json(text, "")?.starts("sha", slot("sha")).only("commit.author.date").and_then(|date| cut(&date, 10))
        }
        "users-id" => items(text)?.is("login", slot("login")).only("id"),
        _ => None,
    }
}

fn count<'a>(format: &str, slot: impl Fn(&str) -> &'a str, text: &str) -> Option<String> {
    match format {
        "log-author" => log(text).is("author", slot("person")).count(),
        "log-type" => log(text).is("type", slot("kind")).count(),
        "applog-warnings" => app_log(text).is("level", "WARN").is("component", slot("component")).count(),
        "status-untracked" => status(text).is("list", "untracked").ends("path", slot("extension")).count(),
        "status-new" => status(text).is("list", "staged").is("change", "new file").count(),
        "branches-prefix" => branches(text).is("remote", "yes").starts("whole", slot("prefix")).count(),
        "checks-pending" => checks(text)?.is("state", "pending").count(),
        "files-removed" => json(text, "")?.is("status", "removed").count(),
        "reviews-state" => json(text, "")?.is("state", "COMMENTED").count(),
        "csv-rows" => stock(text).is("warehouse", slot("warehouse")).count(),
        _ => None,
    }
}

fn checks(text: &str) -> Option<Rows> {
    json(text, "/statuses")
}

fn items(text: &str) -> Option<Rows> {
    json(text, "/items")
}

fn cut(text: &str, chars: usize) -> Option<String> {
    (text.chars().count() >= chars).then(|| text.chars().take(chars).collect())
}
