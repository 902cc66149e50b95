//! Questions over `git_log`.

use std::collections::BTreeSet;

use serde_json::json;

use super::{Item, members, nth_largest, tally};
use crate::results_suite::{
    shapes::git::{self, Commit},
    world::{Repo, World, day},
};

/// Plain commits of a team of five, latest first, each with a line of prose.
fn history(w: &mut World<'_>, count: usize) -> Vec<Commit> {
    let team = w.people(5);
    let (hashes, subjects, moments) = (w.hashes(count), w.subjects(count), w.moments(count, 90));
    let mut commits = Vec::with_capacity(count);
    for ((hash, subject), when) in hashes.into_iter().zip(subjects).zip(moments) {
        let author = team[w.draw.below(team.len())].clone();
        commits.push(Commit { hash, author, when, subject, body: w.prose(1), trailers: Vec::new() });
    }
    commits
}

fn item(commits: &[Commit], repo: &Repo, gold: impl Into<String>, mut slots: Vec<(&'static str, String)>) -> Item {
    slots.push(("repo", repo.path()));
    Item {
        tool: "git_log",
        arguments: members(json!({ "repo_path": repo.path(), "max_count": commits.len() })),
        text: git::log(commits),
        gold: gold.into(),
        slots,
    }
}

/// An index away from the first and the last commits, which a digest keeps.
fn middle(w: &mut World<'_>, count: usize) -> usize {
    2 + w.draw.below(count - 4)
}

pub(super) fn author_by_hash(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let commits = history(w, 16);
    let target = &commits[middle(w, 16)];
    item(&commits, &repo, &target.author.name, vec![("sha", target.short())])
}

pub(super) fn day_by_subject(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let commits = history(w, 15);
    let target = &commits[middle(w, 15)];
    item(&commits, &repo, day(target.when), vec![("subject", target.subject.clone())])
}

/// Commits that each say where and how fast they were measured; also the times.
fn measured(w: &mut World<'_>, count: usize) -> (Vec<Commit>, Vec<(String, u64)>) {
    let mut commits = history(w, count);
    let pools = w.pools;
    let hosts = w.draw.entries(count, &pools.hosts);
    let times = w.draw.numbers(count, 110, 990);
    let facts: Vec<(String, u64)> = hosts.into_iter().map(str::to_owned).zip(times).collect();
    for (commit, (host, ms)) in commits.iter_mut().zip(&facts) {
        commit.body.push(format!("Measured on {host}, {ms} ms per batch."));
    }
    (commits, facts)
}

pub(super) fn host_by_subject(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let (commits, facts) = measured(w, 14);
    let at = middle(w, 14);
    item(&commits, &repo, &facts[at].0, vec![("subject", commits[at].subject.clone())])
}

pub(super) fn ms_by_hash(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let (commits, facts) = measured(w, 14);
    let at = middle(w, 14);
    item(&commits, &repo, facts[at].1.to_string(), vec![("sha", commits[at].short())])
}

pub(super) fn second_slowest(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let (commits, facts) = measured(w, 12);
    let gold = nth_largest(2, commits.iter().zip(&facts).map(|(commit, (_, ms))| (*ms, commit.short())));
    item(&commits, &repo, gold, Vec::new())
}

pub(super) fn count_by_author(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let commits = history(w, 18);
    let who = commits[w.draw.below(18)].author.name.clone();
    let count = tally(&commits, |commit| commit.author.name == who);
    item(&commits, &repo, count, vec![("person", who)])
}

pub(super) fn count_by_type(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let commits = history(w, 18);
    let kind = commits[w.draw.below(18)].subject.split(':').next().unwrap_or_default().to_owned();
    let count = tally(&commits, |commit| commit.subject.starts_with(&format!("{kind}:")));
    item(&commits, &repo, count, vec![("kind", kind)])
}

pub(super) fn sum_of_points(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let count = 8 + w.draw.below(4);
    let mut commits = history(w, count);
    let mut sum = 0;
    for commit in &mut commits {
        let points = [1, 2, 3, 5, 8][w.draw.below(5)];
        sum += points;
        commit.trailers.push(("Story-Points", points.to_string()));
    }
    item(&commits, &repo, sum.to_string(), Vec::new())
}

/// The person asked for wrote nothing in three of four items, one commit in the fourth.
pub(super) fn absent_author(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let mut commits = history(w, 16);
    let known: BTreeSet<String> = commits.iter().map(|commit| commit.author.name.clone()).collect();
    let Some(stranger) = w.people(6).into_iter().find(|person| !known.contains(&person.name)) else {
        unreachable!("six people of whom at most five are known");
    };
    let mut gold = "none".to_owned();
    let who = stranger.name.clone();
    if w.draw.chance(1, 4) {
        let at = middle(w, 16);
        commits[at].author = stranger;
        gold = commits[at].short();
    }
    item(&commits, &repo, gold, vec![("person", who)])
}

/// One commit by the author was reviewed by the reviewer; both have others.
pub(super) fn author_and_reviewer(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let people = w.people(5);
    let mut commits = history(w, 14);
    let at = middle(w, 14);
    let pairs = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)];
    let wanted = (w.draw.below(3), w.draw.below(3));
    let others: Vec<(usize, usize)> = pairs.into_iter().filter(|pair| *pair != wanted).collect();
    for (i, commit) in commits.iter_mut().enumerate() {
        let (author, reviewer) = if i == at { wanted } else { others[w.draw.below(others.len())] };
        commit.author = people[author].clone();
        commit.trailers.push(("Reviewed-by", people[(author + 1 + reviewer) % 5].name.clone()));
    }
    let reviewer = people[(wanted.0 + 1 + wanted.1) % 5].name.clone();
    let slots = vec![("author", people[wanted.0].name.clone()), ("reviewer", reviewer)];
    item(&commits, &repo, commits[at].short(), slots)
}

pub(super) fn unicode_author(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let mut commits = history(w, 14);
    let pools = w.pools;
    let names = w.draw.entries(14, &pools.unicode_names);
    for (commit, name) in commits.iter_mut().zip(names) {
        name.clone_into(&mut commit.author.name);
    }
    let target = &commits[middle(w, 14)];
    item(&commits, &repo, &target.author.name, vec![("sha", target.short())])
}

/// One subject stands four times, by four people on four days.
pub(super) fn repeated_subject(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let mut commits = history(w, 15);
    let people = w.people(4);
    let subject = commits[0].subject.clone();
    let mut places: Vec<usize> = (2..13).collect();
    w.draw.shuffle(&mut places);
    for (person, &place) in people.iter().zip(&places) {
        commits[place].subject.clone_from(&subject);
        commits[place].author = person.clone();
    }
    commits[0].subject = w.titles(1).concat();
    let target = &commits[places[0]];
    item(&commits, &repo, &target.author.name, vec![("subject", subject), ("day", day(target.when))])
}

/// Author dates that a rebase left out of order.
fn rebased(w: &mut World<'_>, count: usize) -> Vec<Commit> {
    let mut commits = history(w, count);
    let mut moments: Vec<u64> = commits.iter().map(|commit| commit.when).collect();
    w.draw.shuffle(&mut moments);
    for (commit, when) in commits.iter_mut().zip(moments) {
        commit.when = when;
    }
    commits
}

pub(super) fn earliest_of_author(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let commits = rebased(w, 16);
    let who = commits[w.draw.below(16)].author.name.clone();
    let first = commits.iter().filter(|commit| commit.author.name == who).min_by_key(|commit| commit.when);
    item(&commits, &repo, first.map(Commit::short).unwrap_or_default(), vec![("person", who)])
}

pub(super) fn latest_of_type(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let commits = rebased(w, 16);
    let kind = commits[w.draw.below(16)].subject.split(':').next().unwrap_or_default().to_owned();
    let start = format!("{kind}:");
    let last = commits.iter().filter(|commit| commit.subject.starts_with(&start)).max_by_key(|commit| commit.when);
    let gold = last.map(|commit| commit.author.name.clone()).unwrap_or_default();
    item(&commits, &repo, gold, vec![("kind", kind)])
}

pub(super) fn ticket_in_long_bodies(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let mut commits = history(w, 17);
    let tickets = w.tickets(17);
    for (commit, ticket) in commits.iter_mut().zip(&tickets) {
        let sentences = 4 + w.draw.below(4);
        commit.body = w.prose(sentences);
        commit.trailers.push(("Refs", ticket.clone()));
    }
    let at = middle(w, 17);
    item(&commits, &repo, &tickets[at], vec![("subject", commits[at].subject.clone())])
}

/// Five commits quote the error that they put right.
pub(super) fn quoted_error(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let mut commits = history(w, 15);
    let codes = w.draw.numbers(5, 1001, 8999);
    let mut places: Vec<usize> = (1..14).collect();
    w.draw.shuffle(&mut places);
    for (code, &place) in codes.iter().zip(&places) {
        let worker = w.draw.between(2, 40);
        commits[place].body.push(format!("The nightly run had stopped with error E{code} in worker {worker}."));
    }
    item(&commits, &repo, format!("E{}", codes[0]), vec![("subject", commits[places[0]].subject.clone())])
}
