//! Questions over GitHub's lists and searches: commits, repositories, users, issues.

use serde_json::{Value, json};

use super::{Item, members};
use crate::results_suite::{
    shapes::github::{self, Issue, RepoRecord},
    world::{Person, Repo, World, day},
};

type Slots = Vec<(&'static str, String)>;

/// A commit row: hash, author, moment, message.
type Row = (String, Person, u64, String);

fn commits(w: &mut World<'_>, unicode: bool, gold: impl FnOnce(&Row) -> (String, Slots)) -> Item {
    const COUNT: usize = 5;
    let (repo, mut people) = (w.repo(), w.people(COUNT));
    if unicode {
        for (person, name) in people.iter_mut().zip(w.draw.entries(COUNT, &w.pools.unicode_names)) {
            name.clone_into(&mut person.name);
        }
    }
    let (hashes, messages, moments) = (w.hashes(COUNT), w.subjects(COUNT), w.moments(COUNT, 40));
    let rows: Vec<Row> =
        (0..COUNT).map(|i| (hashes[i].clone(), people[i].clone(), moments[i], messages[i].clone())).collect();
    let values: Vec<Value> = rows
        .iter()
        .map(|(hash, author, when, message)| github::commit(&repo, hash, message, (author, *when), &mut w.draw))
        .collect();
    let (gold, mut slots) = gold(&rows[w.draw.below(COUNT)]);
    slots.push(("repo", repo.full()));
    let arguments = members(json!({ "owner": repo.owner, "repo": repo.name, "perPage": COUNT }));
    Item { tool: "list_commits", arguments, text: github::text(&Value::Array(values)), gold, slots }
}

pub(super) fn email_by_message(w: &mut World<'_>) -> Item {
    commits(w, false, |(_, author, _, message)| (author.email.clone(), vec![("message", message.clone())]))
}

pub(super) fn day_by_hash(w: &mut World<'_>) -> Item {
    commits(w, false, |(hash, _, when, _)| (day(*when), vec![("sha", hash.chars().take(7).collect())]))
}

pub(super) fn unicode_name_by_hash(w: &mut World<'_>) -> Item {
    commits(w, true, |(hash, author, _, _)| (author.name.clone(), vec![("sha", hash.chars().take(7).collect())]))
}

/// Repositories of one search; names differ.
fn repositories(w: &mut World<'_>, count: usize) -> Vec<RepoRecord> {
    let pools = w.pools;
    let names = w.draw.entries(count, &pools.repos);
    let owners = w.draw.entries(count, &pools.owners);
    let about = w.draw.entries(count, &pools.about);
    let moments = w.moments(count, 200);
    let branches = w.draw.entries(count, &pools.stems);
    let mut order: Vec<usize> = (0..count).collect();
    w.draw.shuffle(&mut order);
    (0..count)
        .map(|i| RepoRecord {
            repo: Repo { owner: owners[i].to_owned(), name: names[i].to_owned() },
            id: w.draw.between(100_000_000, 899_999_999),
            owner_id: w.draw.between(1_000_000, 99_999_999),
            about: about[i].to_owned(),
            created: moments[order[i]] - 400 * 86_400,
            pushed: moments[order[i]],
            branch: format!("{}-trunk", branches[i]),
        })
        .collect()
}

fn search_item(w: &mut World<'_>, records: &[RepoRecord], gold: impl Into<String>, mut slots: Slots) -> Item {
    let topic = w.draw.pick(&w.pools.goods);
    let items: Vec<Value> = records.iter().map(|record| github::repository(record, &mut w.draw)).collect();
    let value = json!({ "total_count": items.len(), "incomplete_results": false, "items": items });
    slots.push(("query", format!("topic:{topic}")));
    let arguments = members(json!({ "query": format!("topic:{topic}"), "perPage": 30 }));
    Item { tool: "search_repositories", arguments, text: github::text(&value), gold: gold.into(), slots }
}

pub(super) fn default_branch(w: &mut World<'_>) -> Item {
    let records = repositories(w, 5);
    let target = &records[1 + w.draw.below(3)];
    let (gold, slots) = (target.branch.clone(), vec![("name", target.repo.full())]);
    search_item(w, &records, gold, slots)
}

pub(super) fn owner_id(w: &mut World<'_>) -> Item {
    let records = repositories(w, 5);
    let target = &records[1 + w.draw.below(3)];
    let (gold, slots) = (target.owner_id.to_string(), vec![("name", target.repo.full())]);
    search_item(w, &records, gold, slots)
}

/// Five owners have a repository of one name; the description decides.
pub(super) fn namesake(w: &mut World<'_>) -> Item {
    let mut records = repositories(w, 5);
    let (name, ends) = (records[0].repo.name.clone(), ["", "-next", "2", "-old", "s"]);
    for (record, end) in records.iter_mut().zip(ends) {
        record.repo.name = format!("{name}{end}");
    }
    let target = &records[w.draw.below(5)];
    let (gold, slots) = (target.repo.full(), vec![("about", target.about.clone())]);
    search_item(w, &records, gold, slots)
}

pub(super) fn latest_push(w: &mut World<'_>) -> Item {
    let records = repositories(w, 5);
    let latest = records.iter().max_by_key(|record| record.pushed).map(|record| record.repo.full());
    search_item(w, &records, latest.unwrap_or_default(), Vec::new())
}

/// An owner that the search did or did not find.
pub(super) fn absent_owner(w: &mut World<'_>) -> Item {
    let mut records = repositories(w, 6);
    let Some(spare) = records.pop() else { unreachable!("six records were made") };
    let present = w.draw.chance(1, 4);
    let owner = if present { records[2].repo.owner.clone() } else { spare.repo.owner };
    let gold = if present { records[2].repo.name.clone() } else { "none".to_owned() };
    search_item(w, &records, gold, vec![("owner", owner)])
}

pub(super) fn user_id(w: &mut World<'_>) -> Item {
    let people = w.people(5);
    let items: Vec<Value> = people.iter().map(|person| github::whole_user(person, &mut w.draw, true)).collect();
    let value = json!({ "total_count": items.len(), "incomplete_results": false, "items": items });
    let target = &people[1 + w.draw.below(3)];
    let house = w.draw.pick(&w.pools.owners);
    let query = format!("org:{house} type:user");
    Item {
        tool: "search_users",
        arguments: members(json!({ "q": query })),
        text: github::text(&value),
        gold: target.id.to_string(),
        slots: vec![("query", query), ("login", target.login.clone())],
    }
}

fn an_issue(w: &mut World<'_>, labels: usize) -> Issue {
    let pools = w.pools;
    let names = w.draw.entries(labels, &pools.labels);
    let notes = w.draw.entries(labels, &pools.label_notes);
    let people = w.people(2);
    let created = w.moment();
    Issue {
        number: w.draw.between(1000, 9999),
        title: w.titles(1).concat(),
        author: people[0].clone(),
        created,
        comments: w.draw.between(0, 30),
        body: w.prose(6).join("\n"),
        labels: names.into_iter().map(str::to_owned).zip(notes.into_iter().map(str::to_owned)).collect(),
        milestone: Some((w.draw.pick(&pools.milestones).to_owned(), people[1].clone(), created + 120 * 86_400)),
    }
}

fn issue_item(w: &mut World<'_>, issue: &Issue, gold: impl Into<String>, mut slots: Slots) -> Item {
    let repo = w.repo();
    slots.push(("issue", format!("{}#{}", repo.full(), issue.number)));
    let arguments = members(json!({ "owner": repo.owner, "repo": repo.name, "issue_number": issue.number }));
    let text = github::text(&github::issue(&repo, issue, &mut w.draw));
    Item { tool: "get_issue", arguments, text, gold: gold.into(), slots }
}

pub(super) fn milestone_title(w: &mut World<'_>) -> Item {
    let issue = an_issue(w, 2);
    let gold = issue.milestone.as_ref().map(|(title, ..)| title.clone()).unwrap_or_default();
    issue_item(w, &issue, gold, Vec::new())
}

pub(super) fn milestone_creator(w: &mut World<'_>) -> Item {
    let issue = an_issue(w, 2);
    let gold = issue.milestone.as_ref().map(|(_, creator, _)| creator.login.clone()).unwrap_or_default();
    issue_item(w, &issue, gold, Vec::new())
}

pub(super) fn label_note(w: &mut World<'_>) -> Item {
    let issue = an_issue(w, 6);
    let (name, note) = issue.labels[1 + w.draw.below(4)].clone();
    issue_item(w, &issue, note, vec![("label", name)])
}

pub(super) fn error_in_body(w: &mut World<'_>) -> Item {
    let mut issue = an_issue(w, 1);
    let shards = w.draw.numbers(3, 11, 96);
    let parts = w.draw.entries(3, &w.pools.components);
    let when = w.moment();
    let mut lines = w.prose(2);
    lines.push("```".to_owned());
    for (i, (part, shard)) in parts.iter().zip(&shards).enumerate() {
        let at = crate::results_suite::world::iso(when + 37 * i as u64);
        lines.push(format!("{at} INFO  [{part}] started"));
        lines.push(format!("{at} ERROR [{part}] checksum mismatch in shard {shard}"));
    }
    lines.push("```".to_owned());
    issue.body = lines.join("\n");
    issue_item(w, &issue, shards[1].to_string(), vec![("component", parts[1].to_owned())])
}

pub(super) fn unicode_title(w: &mut World<'_>) -> Item {
    let mut issue = an_issue(w, 2);
    w.draw.pick(&w.pools.unicode_words).clone_into(&mut issue.title);
    issue_item(w, &issue, issue.title.clone(), Vec::new())
}

/// Three issues that are sorted by their comments, not by their dates.
pub(super) fn oldest_issue(w: &mut World<'_>) -> Item {
    const COUNT: usize = 3;
    let repo = w.repo();
    let mut issues: Vec<Issue> = (0..COUNT).map(|_| an_issue(w, 1)).collect();
    let (numbers, moments) = (w.draw.numbers(COUNT, 1000, 9999), w.moments(COUNT, 300));
    let mut comments = w.draw.numbers(COUNT, 0, 40);
    comments.sort_unstable_by(|a, b| b.cmp(a));
    let mut order: Vec<usize> = (0..COUNT).collect();
    w.draw.shuffle(&mut order);
    for (i, issue) in issues.iter_mut().enumerate() {
        (issue.number, issue.created, issue.comments) = (numbers[i], moments[order[i]], comments[i]);
        issue.milestone = None;
    }
    let oldest = issues.iter().min_by_key(|issue| issue.created).map(|issue| issue.number.to_string());
    let values: Vec<Value> = issues.iter().map(|issue| github::issue(&repo, issue, &mut w.draw)).collect();
    let slots = vec![("repo", repo.full())];
    let arguments = members(json!({ "owner": repo.owner, "repo": repo.name, "sort": "comments", "per_page": COUNT }));
    let text = github::text(&Value::Array(values));
    Item { tool: "list_issues", arguments, text, gold: oldest.unwrap_or_default(), slots }
}
