//! Questions over what hangs on one pull request: files, checks, reviews, comments, the pull request itself.

use serde_json::{Value, json};

use super::{Item, members, nth_largest, tally};
use crate::results_suite::{
    shapes::github::{self, Check, RepoRecord, Side},
    world::{Repo, World, day},
};

/// The pull request that is asked about.
struct Pull {
    repo: Repo,
    number: u64,
    head: String,
}

impl Pull {
    fn new(w: &mut World<'_>) -> Self {
        Self { repo: w.repo(), number: w.draw.between(1000, 9999), head: w.draw.hex(40) }
    }

    fn item(
        &self,
        tool: &'static str,
        value: &Value,
        gold: impl Into<String>,
        mut slots: Vec<(&'static str, String)>,
    ) -> Item {
        slots.push(("pull", format!("{}#{}", self.repo.full(), self.number)));
        let arguments =
            members(json!({ "owner": self.repo.owner, "repo": self.repo.name, "pull_number": self.number }));
        Item { tool, arguments, text: github::text(value), gold: gold.into(), slots }
    }
}

/// A changed file of a pull request.
struct Changed {
    path: String,
    status: &'static str,
    additions: u64,
    deletions: u64,
}

fn files(w: &mut World<'_>, count: usize, high: u64) -> Vec<Changed> {
    let mut paths = w.paths(count);
    paths.sort_unstable();
    let (additions, deletions) = (w.draw.numbers(count, 2, high), w.draw.numbers(count, 1, high));
    let mut changed = Vec::with_capacity(count);
    for ((path, additions), deletions) in paths.into_iter().zip(additions).zip(deletions) {
        changed.push(match w.draw.below(4) {
            0 => Changed { path, status: "added", additions, deletions: 0 },
            1 => Changed { path, status: "removed", additions: 0, deletions },
            _ => Changed { path, status: "modified", additions, deletions },
        });
    }
    changed
}

fn files_item(
    w: &mut World<'_>,
    files: &[Changed],
    gold: impl Into<String>,
    slots: Vec<(&'static str, String)>,
) -> Item {
    let pull = Pull::new(w);
    let values: Vec<Value> = files
        .iter()
        .map(|file| {
            let counts = (file.additions, file.deletions);
            github::file(&pull.repo, &pull.head, &file.path, file.status, counts, &mut w.draw)
        })
        .collect();
    pull.item("get_pull_request_files", &Value::Array(values), gold, slots)
}

pub(super) fn additions_of_file(w: &mut World<'_>) -> Item {
    let files = files(w, 7, 600);
    let target = &files[w.draw.below(7)];
    let (gold, slots) = (target.additions.to_string(), vec![("path", target.path.clone())]);
    files_item(w, &files, gold, slots)
}

pub(super) fn count_removed(w: &mut World<'_>) -> Item {
    let files = files(w, 8, 90);
    let count = tally(&files, |file| file.status == "removed");
    files_item(w, &files, count, Vec::new())
}

pub(super) fn sum_of_additions(w: &mut World<'_>) -> Item {
    let files = files(w, 7, 80);
    let sum: u64 = files.iter().map(|file| file.additions).sum();
    files_item(w, &files, sum.to_string(), Vec::new())
}

pub(super) fn second_most_changes(w: &mut World<'_>) -> Item {
    let mut files = files(w, 8, 900);
    // Totals must differ, or there is no second.
    let totals = w.draw.numbers(8, 40, 1400);
    for (file, total) in files.iter_mut().zip(totals) {
        match file.status {
            "added" => file.additions = total,
            "removed" => file.deletions = total,
            _ => (file.additions, file.deletions) = (total / 3, total - total / 3),
        }
    }
    let gold = nth_largest(2, files.iter().map(|file| (file.additions + file.deletions, file.path.clone())));
    files_item(w, &files, gold, Vec::new())
}

/// One added file in the folder; it holds other files and there are other added ones.
pub(super) fn added_in_folder(w: &mut World<'_>) -> Item {
    let mut files = files(w, 9, 300);
    let folder = w.draw.pick(&w.pools.dirs);
    let start = format!("{folder}/");
    files.retain(|file| !file.path.starts_with(&start));
    files.truncate(5);
    let stems = w.draw.entries(4, &w.pools.stems);
    let gold = format!("{start}{}_intake.go", stems[0]);
    files.push(Changed { path: gold.clone(), status: "added", additions: 44, deletions: 0 });
    for (stem, status) in stems[1..].iter().zip(["modified", "removed", "modified"]) {
        let path = format!("{start}{stem}_intake.go");
        let (additions, deletions) = if status == "removed" { (0, 31) } else { (12, 9) };
        files.push(Changed { path, status, additions, deletions });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files_item(w, &files, gold, vec![("folder", start)])
}

/// Named checks that passed, each with a number of tests; moments differ.
fn checks(w: &mut World<'_>, count: usize) -> (Vec<Check>, Vec<u64>) {
    let pools = w.pools;
    let contexts = w.draw.distinct(count, |draw| {
        let (name, system) = (draw.pick(&pools.checks), draw.pick(&pools.systems));
        format!("ci/{name} ({system})")
    });
    let tests = w.draw.numbers(count, 12, 99);
    let start = w.moment();
    let offsets = w.draw.numbers(count, 0, 3000);
    let checks = contexts
        .into_iter()
        .zip(&tests)
        .zip(offsets)
        .map(|((context, tests), offset)| Check {
            context,
            state: "success",
            description: format!("{tests} cases passed in {} s", w.draw.between(100, 900)),
            created: start + offset,
            took: w.draw.between(100, 900),
        })
        .collect();
    (checks, tests)
}

fn status_item(
    w: &mut World<'_>,
    checks: &[Check],
    gold: impl Into<String>,
    slots: Vec<(&'static str, String)>,
) -> Item {
    let pull = Pull::new(w);
    let value = github::combined_status(&pull.repo, &pull.head, checks, &mut w.draw);
    pull.item("get_pull_request_status", &value, gold, slots)
}

pub(super) fn cases_of_check(w: &mut World<'_>) -> Item {
    let (checks, tests) = checks(w, 9);
    let at = 1 + w.draw.below(7);
    status_item(w, &checks, tests[at].to_string(), vec![("context", checks[at].context.clone())])
}

pub(super) fn sum_of_cases(w: &mut World<'_>) -> Item {
    let (checks, tests) = checks(w, 8);
    status_item(w, &checks, tests.iter().sum::<u64>().to_string(), Vec::new())
}

pub(super) fn count_pending(w: &mut World<'_>) -> Item {
    let (mut checks, _) = checks(w, 11);
    let pending = 2 + w.draw.below(5);
    let mut places: Vec<usize> = (0..11).collect();
    w.draw.shuffle(&mut places);
    for &place in &places[..pending] {
        checks[place].state = "pending";
        "Waiting for a free runner".clone_into(&mut checks[place].description);
    }
    status_item(w, &checks, pending.to_string(), Vec::new())
}

pub(super) fn exit_code(w: &mut World<'_>) -> Item {
    let (mut checks, _) = checks(w, 9);
    let codes = w.draw.numbers(2, 3, 255);
    let mut places: Vec<usize> = (1..8).collect();
    w.draw.shuffle(&mut places);
    for (code, &place) in codes.iter().zip(&places) {
        checks[place].state = "failure";
        checks[place].description = format!("Job failed with exit code {code}");
    }
    status_item(w, &checks, codes[0].to_string(), vec![("context", checks[places[0]].context.clone())])
}

/// One check name on a grid of systems and runtimes.
pub(super) fn grid_check(w: &mut World<'_>) -> Item {
    let (mut checks, tests) = checks(w, 9);
    let name = w.draw.pick(&w.pools.checks);
    let cells: Vec<String> = ["linux", "macos", "windows"]
        .iter()
        .flat_map(|system| ["3.1", "3.11", "3.10"].map(|runtime| format!("ci/{name} ({system}, {runtime})")))
        .collect();
    for (check, cell) in checks.iter_mut().zip(&cells) {
        check.context.clone_from(cell);
    }
    let at = w.draw.below(9);
    let (gold, slots) = (tests[at].to_string(), vec![("context", cells[at].clone())]);
    let mut order: Vec<usize> = (0..9).collect();
    w.draw.shuffle(&mut order);
    let shuffled: Vec<Check> = order.into_iter().map(|i| checks[i].clone()).collect();
    status_item(w, &shuffled, gold, slots)
}

pub(super) fn first_check(w: &mut World<'_>) -> Item {
    let (checks, _) = checks(w, 9);
    let first = checks.iter().min_by_key(|check| check.created).map(|check| check.context.clone());
    status_item(w, &checks, first.unwrap_or_default(), Vec::new())
}

/// One check is pending on the system asked for; others are pending elsewhere, and others ran on that system.
pub(super) fn pending_on_system(w: &mut World<'_>) -> Item {
    let (mut checks, _) = checks(w, 10);
    let wanted = w.draw.below(10);
    let system_of =
        |check: &Check| check.context.rsplit('(').next().unwrap_or_default().trim_end_matches(')').to_owned();
    let system = system_of(&checks[wanted]);
    for (at, check) in checks.iter_mut().enumerate() {
        if at == wanted || (system_of(check) != system && w.draw.chance(1, 2)) {
            check.state = "pending";
            "Waiting for a free runner".clone_into(&mut check.description);
        }
    }
    let gold = checks[wanted].context.clone();
    status_item(w, &checks, gold, vec![("system", system)])
}

/// Reviews of people on different days: `(reviewer, state, moment)`.
fn reviews(
    w: &mut World<'_>,
    states: &[&'static str],
    gold: impl FnOnce(&[(String, &str, u64)]) -> (String, Vec<(&'static str, String)>),
) -> Item {
    let pull = Pull::new(w);
    let (people, moments) = (w.people(states.len()), w.moments(states.len(), 30));
    let bodies = w.draw.entries(states.len(), &w.pools.requests);
    let mut rows: Vec<(String, &str, u64)> = Vec::new();
    let mut values = Vec::new();
    // GitHub lists the oldest review first; here a dismissed and re-requested round is mixed in.
    let mut order: Vec<usize> = (0..states.len()).collect();
    w.draw.shuffle(&mut order);
    for (i, at) in order.into_iter().enumerate() {
        let person = &people[at];
        // Two reviews fall on each day, so that a day alone decides nothing.
        let when = if i % 2 == 1 { rows[i - 1].2 + 601 } else { moments[at] };
        values.push(github::review(
            &pull.repo,
            pull.number,
            (&pull.head, states[i], bodies[i]),
            (person, when),
            &mut w.draw,
        ));
        rows.push((person.login.clone(), states[i], when));
    }
    let (gold, slots) = gold(&rows);
    pull.item("get_pull_request_reviews", &Value::Array(values), gold, slots)
}

pub(super) fn count_comments_only(w: &mut World<'_>) -> Item {
    let states: Vec<&str> =
        (0..8).map(|_| ["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "COMMENTED"][w.draw.below(4)]).collect();
    reviews(w, &states, |rows| (tally(rows, |row| row.1 == "COMMENTED"), Vec::new()))
}

pub(super) fn approved_on(w: &mut World<'_>) -> Item {
    let at = w.draw.below(8);
    let states: Vec<&str> =
        (0..8).map(|i| ["COMMENTED", "CHANGES_REQUESTED", "APPROVED"][(i + 2 - at % 3) % 3]).collect();
    reviews(w, &states, |rows| (rows[at].0.clone(), vec![("day", day(rows[at].2))]))
}

pub(super) fn last_review(w: &mut World<'_>) -> Item {
    let states = ["COMMENTED", "APPROVED", "COMMENTED", "CHANGES_REQUESTED", "COMMENTED", "APPROVED", "COMMENTED"];
    reviews(w, &states, |rows| {
        let last = rows.iter().max_by_key(|row| row.2).map(|row| row.0.clone());
        (last.unwrap_or_default(), Vec::new())
    })
}

/// Five comments under code; the file and the line decide who wrote.
pub(super) fn comment_author(w: &mut World<'_>) -> Item {
    let pull = Pull::new(w);
    let (people, paths, moments) = (w.people(5), w.paths(2), w.moments(5, 20));
    let bodies = w.draw.entries(5, &w.pools.requests);
    let positions = w.draw.numbers(5, 3, 80);
    let mut values = Vec::new();
    for i in 0..5 {
        let prose = w.prose(3);
        let start = w.draw.between(5, 200);
        let hunk = format!("@@ -{start},3 +{start},4 @@\n // {}\n // {}\n+// {}", prose[0], prose[1], prose[2]);
        values.push(github::comment(
            &pull.repo,
            pull.number,
            (&pull.head, &paths[i % 2], positions[i]),
            (&hunk, bodies[i]),
            (&people[i], moments[i]),
            &mut w.draw,
        ));
    }
    let at = w.draw.below(5);
    let slots = vec![("path", paths[at % 2].clone()), ("position", positions[at].to_string())];
    pull.item("get_pull_request_comments", &Value::Array(values), people[at].login.clone(), slots)
}

/// A repository record; its owner may differ from the pull request's.
fn record(w: &mut World<'_>, repo: Repo, branch: &str) -> RepoRecord {
    let about = w.draw.pick(&w.pools.about).to_owned();
    let created = w.moment();
    RepoRecord {
        repo,
        id: w.draw.between(100_000_000, 899_999_999),
        owner_id: w.draw.between(1_000_000, 99_999_999),
        about,
        created,
        pushed: created + w.draw.between(100, 900) * 3600,
        branch: branch.to_owned(),
    }
}

/// Pull request between a fork and its origin; `gold` picks from both sides and the merge commit.
fn whole(w: &mut World<'_>, gold: impl FnOnce(&Side, &Side, &str) -> String) -> Item {
    let pull = Pull::new(w);
    let people = w.people(4);
    let fork = Repo { owner: people[0].login.clone(), name: pull.repo.name.clone() };
    let names = w.draw.entries(4, &w.pools.stems);
    let head = Side {
        branch: format!("{}/{}-rows", w.draw.pick(&w.pools.prefixes), names[0]),
        sha: pull.head.clone(),
        user: people[0].clone(),
        record: record(w, fork, &format!("{}-trunk", names[1])),
    };
    let base = Side {
        branch: format!("{}-next", names[2]),
        sha: w.draw.hex(40),
        user: people[1].clone(),
        record: record(w, pull.repo.clone(), &format!("{}-stable", names[3])),
    };
    let (title, merge) = (w.titles(1).concat(), w.draw.hex(40));
    let body = w.prose(5).join(" ");
    let created = w.moment();
    let value =
        github::pull(pull.number, (&title, &body), (created, &merge), &people[2..], (&head, &base), &mut w.draw);
    let gold = gold(&head, &base, &merge);
    pull.item("get_pull_request", &value, gold, Vec::new())
}

pub(super) fn fork_default_branch(w: &mut World<'_>) -> Item {
    whole(w, |head, _, _| head.record.branch.clone())
}

pub(super) fn base_repo_id(w: &mut World<'_>) -> Item {
    whole(w, |_, base, _| base.record.id.to_string())
}

pub(super) fn merge_commit(w: &mut World<'_>) -> Item {
    whole(w, |_, _, merge| merge.chars().take(10).collect())
}
