//! Questions over `git_status` and `git_branch`.

use serde_json::json;

use super::{Item, members, tally};
use crate::results_suite::{
    shapes::git::{self, WorkTree},
    world::{Repo, World},
};

/// A busy working tree; no path is in two of its lists.
fn tree(w: &mut World<'_>, staged: usize, unstaged: usize, untracked: usize) -> WorkTree {
    let mut paths = w.paths(staged + unstaged + untracked);
    let mut take = |count: usize| {
        let mut part: Vec<String> = paths.split_off(paths.len() - count);
        part.sort_unstable();
        part
    };
    let (first, second, third) = (take(staged), take(unstaged), take(untracked));
    let staged = first.into_iter().map(|path| (["modified", "new file"][w.draw.below(2)], path)).collect();
    let unstaged = second.into_iter().map(|path| ("modified", path)).collect();
    let branch = format!("feature/{}", w.draw.pick(&w.pools.stems));
    WorkTree { branch, ahead: w.draw.between(2, 60), staged, unstaged, untracked: third }
}

fn status_item(tree: &WorkTree, repo: &Repo, gold: impl Into<String>, mut slots: Vec<(&'static str, String)>) -> Item {
    slots.push(("repo", repo.path()));
    let arguments = members(json!({ "repo_path": repo.path() }));
    Item { tool: "git_status", arguments, text: git::status(tree), gold: gold.into(), slots }
}

pub(super) fn count_untracked(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let tree = tree(w, 8, 16, 22);
    let extension = tree.untracked[w.draw.below(22)].rsplit('.').next().unwrap_or_default().to_owned();
    let end = format!(".{extension}");
    let count = tally(&tree.untracked, |path| path.ends_with(&end));
    status_item(&tree, &repo, count, vec![("extension", end)])
}

pub(super) fn count_new_files(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let tree = tree(w, 18, 12, 14);
    let count = tally(&tree.staged, |(change, _)| *change == "new file");
    status_item(&tree, &repo, count, Vec::new())
}

/// Three files were renamed; one of them is asked for.
pub(super) fn renamed(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let mut tree = tree(w, 24, 14, 8);
    let all: Vec<String> = tree.staged.iter().map(|(_, path)| path.clone()).collect();
    let fresh: Vec<String> = w.paths(30).into_iter().filter(|path| !all.contains(path)).collect();
    let mut places: Vec<usize> = (4..20).collect();
    w.draw.shuffle(&mut places);
    for (to, &place) in fresh.iter().zip(&places).take(3) {
        let from = tree.staged[place].1.clone();
        tree.staged[place] = ("renamed", format!("{from} -> {to}"));
    }
    status_item(&tree, &repo, &fresh[0], vec![("path", all[places[0]].clone())])
}

/// A file was deleted in one item of four.
pub(super) fn absent_deletion(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let mut tree = tree(w, 10, 26, 10);
    let mut gold = "none".to_owned();
    if w.draw.chance(1, 4) {
        let at = 3 + w.draw.below(20);
        tree.unstaged[at].0 = "deleted";
        gold.clone_from(&tree.unstaged[at].1);
    }
    status_item(&tree, &repo, gold, Vec::new())
}

/// Files whose names differ in one ending; one of them is staged.
pub(super) fn staged_sibling(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let mut tree = tree(w, 12, 16, 10);
    let (dir, stem) = (w.draw.pick(&w.pools.dirs).to_owned(), w.draw.pick(&w.pools.stems).to_owned());
    let start = format!("{dir}/{stem}_rows");
    let of_family = |path: &str| path.starts_with(&start);
    tree.staged.retain(|(_, path)| !of_family(path));
    let mut family = ["", "_old", "_tmp", "_v2", "s"].map(|end| format!("{start}{end}.py")).to_vec();
    w.draw.shuffle(&mut family);
    let gold = family[0].clone();
    tree.staged.push(("modified", gold.clone()));
    tree.staged.sort_by(|a, b| a.1.cmp(&b.1));
    tree.unstaged.extend(family[1..3].iter().map(|path| ("modified", path.clone())));
    tree.unstaged.sort_by(|a, b| a.1.cmp(&b.1));
    tree.untracked.extend_from_slice(&family[3..]);
    tree.untracked.sort_unstable();
    status_item(&tree, &repo, gold, vec![("start", start)])
}

/// Local and remote branches for tickets.
fn branches(w: &mut World<'_>, count: usize) -> (Vec<String>, Vec<String>) {
    let pools = w.pools;
    let tickets = w.tickets(count);
    let remote: Vec<String> = tickets
        .into_iter()
        .map(|ticket| {
            let (prefix, stem) = (w.draw.pick(&pools.prefixes), w.draw.pick(&pools.stems));
            format!("{prefix}/{ticket}-{stem}{}", w.draw.pick(&pools.suffixes).replace('_', "-"))
        })
        .collect();
    let local = remote.iter().take(count / 5).cloned().chain(["main".to_owned()]).collect();
    (local, remote)
}

fn branch_item(
    (local, remote): &(Vec<String>, Vec<String>),
    repo: &Repo,
    gold: impl Into<String>,
    mut slots: Vec<(&'static str, String)>,
) -> Item {
    slots.push(("repo", repo.path()));
    let arguments = members(json!({ "repo_path": repo.path(), "branch_type": "all" }));
    Item { tool: "git_branch", arguments, text: git::branches(local, "main", remote), gold: gold.into(), slots }
}

pub(super) fn count_prefix(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let all = branches(w, 36);
    let prefix = all.1[w.draw.below(36)].split('/').next().unwrap_or_default().to_owned();
    let count = tally(&all.1, |name| name.starts_with(&format!("{prefix}/")));
    branch_item(&all, &repo, count, vec![("prefix", format!("origin/{prefix}/"))])
}

/// The ticket has a branch in one item of four.
pub(super) fn absent_ticket(w: &mut World<'_>) -> Item {
    let repo = w.repo();
    let mut all = branches(w, 37);
    let spare = all.1.pop().unwrap_or_default();
    let (ticket_of, gold) =
        if w.draw.chance(1, 4) { (all.1[20].clone(), all.1[20].clone()) } else { (spare, "none".to_owned()) };
    branch_item(&all, &repo, gold, vec![("ticket", ticket(&ticket_of))])
}

/// `OPS-4312` of `team/OPS-4312-cursor-view`.
fn ticket(branch: &str) -> String {
    let tail = branch.split('/').nth(1).unwrap_or_default();
    tail.split('-').take(2).collect::<Vec<_>>().join("-")
}

/// Tickets whose numbers contain one another.
pub(super) fn near_ticket(w: &mut World<'_>) -> Item {
    let (repo, pools) = (w.repo(), w.pools);
    let mut all = branches(w, 30);
    let number = w.draw.between(101, 899);
    let near = [number, 10 * number + 1, 10 * number + 7, 1000 + number, 9000 + number];
    let stems = w.draw.entries(5, &pools.stems);
    let mut gold = String::new();
    for (near, stem) in near.into_iter().zip(stems) {
        let clash = format!("/OPS-{near}-");
        all.0.retain(|name| !name.contains(&clash));
        all.1.retain(|name| !name.contains(&clash));
        let name = format!("feature/OPS-{near}-{stem}-sync");
        if near == number {
            gold.clone_from(&name);
        }
        all.1.push(name);
    }
    branch_item(&all, &repo, gold, vec![("ticket", format!("OPS-{number}"))])
}
