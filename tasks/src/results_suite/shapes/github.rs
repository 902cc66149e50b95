//! JSON of `@modelcontextprotocol/server-github` 2025.4.8: `JSON.stringify(value, null, 2)` of GitHub's REST objects.
//!
//! Issues, issue searches and user searches are passed through whole. Commits, repositories, pull requests, files,
//! statuses, comments and reviews go through the server's own schemas, which drop unknown members and fix their order.

use serde_json::{Value, json};

use crate::results_suite::{
    draw::Draw,
    world::{Person, Repo, iso},
};

const API: &str = "https://api.github.com";
const WEB: &str = "https://github.com";

/// `JSON.stringify(value, null, 2)`.
pub(in crate::results_suite) fn text(value: &Value) -> String {
    // `serde_json` indents by two blanks and writes empty containers closed, as JavaScript does.
    format!("{value:#}")
}

/// A user as the server's schemas let it through.
pub(in crate::results_suite) fn user(person: &Person) -> Value {
    let (login, id) = (&person.login, person.id);
    json!({
        "login": login,
        "id": id,
        "avatar_url": format!("https://avatars.githubusercontent.com/u/{id}?v=4"),
        "url": format!("{API}/users/{login}"),
        "html_url": format!("{WEB}/{login}"),
    })
}

/// A user as GitHub sends it; `score` is set in search results.
pub(in crate::results_suite) fn whole_user(person: &Person, draw: &mut Draw, score: bool) -> Value {
    let (login, id) = (&person.login, person.id);
    let api = format!("{API}/users/{login}");
    let mut user = json!({
        "login": login,
        "id": id,
        "node_id": format!("U_kgDO{}", draw.base62(6)),
        "avatar_url": format!("https://avatars.githubusercontent.com/u/{id}?v=4"),
        "gravatar_id": "",
        "url": api,
        "html_url": format!("{WEB}/{login}"),
        "followers_url": format!("{api}/followers"),
        "following_url": format!("{api}/following{{/other_user}}"),
        "gists_url": format!("{api}/gists{{/gist_id}}"),
        "starred_url": format!("{api}/starred{{/owner}}{{/repo}}"),
        "subscriptions_url": format!("{api}/subscriptions"),
        "organizations_url": format!("{api}/orgs"),
        "repos_url": format!("{api}/repos"),
        "events_url": format!("{api}/events{{/privacy}}"),
        "received_events_url": format!("{api}/received_events"),
        "type": "User",
        "user_view_type": "public",
        "site_admin": false,
    });
    if score && let Some(members) = user.as_object_mut() {
        members.insert("score".to_owned(), json!(1));
    }
    user
}

/// A repository as the server's schema lets it through.
#[derive(Debug, Clone)]
pub(in crate::results_suite) struct RepoRecord {
    pub(in crate::results_suite) repo: Repo,
    pub(in crate::results_suite) id: u64,
    pub(in crate::results_suite) owner_id: u64,
    pub(in crate::results_suite) about: String,
    pub(in crate::results_suite) created: u64,
    pub(in crate::results_suite) pushed: u64,
    pub(in crate::results_suite) branch: String,
}

/// One repository.
pub(in crate::results_suite) fn repository(record: &RepoRecord, draw: &mut Draw) -> Value {
    let (Repo { owner, name }, full) = (&record.repo, record.repo.full());
    json!({
        "id": record.id,
        "node_id": format!("R_kgDO{}", draw.base62(6)),
        "name": name,
        "full_name": full,
        "private": false,
        "owner": {
            "login": owner,
            "id": record.owner_id,
            "node_id": format!("O_kgDO{}", draw.base62(6)),
            "avatar_url": format!("https://avatars.githubusercontent.com/u/{}?v=4", record.owner_id),
            "url": format!("{API}/users/{owner}"),
            "html_url": format!("{WEB}/{owner}"),
            "type": "Organization",
        },
        "html_url": format!("{WEB}/{full}"),
        "description": record.about,
        "fork": false,
        "url": format!("{API}/repos/{full}"),
        "created_at": iso(record.created),
        "updated_at": iso(record.pushed + 41),
        "pushed_at": iso(record.pushed),
        "git_url": format!("git://github.com/{full}.git"),
        "ssh_url": format!("git@github.com:{full}.git"),
        "clone_url": format!("{WEB}/{full}.git"),
        "default_branch": record.branch,
    })
}

/// One file of `get_pull_request_files`; a binary or large one has no patch.
pub(in crate::results_suite) fn file(
    repo: &Repo,
    head: &str,
    path: &str,
    status: &str,
    (additions, deletions): (u64, u64),
    draw: &mut Draw,
) -> Value {
    let (full, escaped) = (repo.full(), path.replace('/', "%2F"));
    json!({
        "sha": draw.hex(40),
        "filename": path,
        "status": status,
        "additions": additions,
        "deletions": deletions,
        "changes": additions + deletions,
        "blob_url": format!("{WEB}/{full}/blob/{head}/{escaped}"),
        "raw_url": format!("{WEB}/{full}/raw/{head}/{escaped}"),
        "contents_url": format!("{API}/repos/{full}/contents/{escaped}?ref={head}"),
    })
}

/// One check of `get_pull_request_status`.
#[derive(Debug, Clone)]
pub(in crate::results_suite) struct Check {
    pub(in crate::results_suite) context: String,
    pub(in crate::results_suite) state: &'static str,
    pub(in crate::results_suite) description: String,
    pub(in crate::results_suite) created: u64,
    pub(in crate::results_suite) took: u64,
}

/// What `get_pull_request_status` returns.
pub(in crate::results_suite) fn combined_status(repo: &Repo, head: &str, checks: &[Check], draw: &mut Draw) -> Value {
    let full = repo.full();
    let has = |state: &str| checks.iter().any(|check| check.state == state);
    let state = if has("failure") || has("error") {
        "failure"
    } else if has("pending") {
        "pending"
    } else {
        "success"
    };
    let statuses: Vec<Value> = checks
        .iter()
        .map(|check| {
            json!({
                "url": format!("{API}/repos/{full}/statuses/{head}"),
                "state": check.state,
                "description": check.description,
                "target_url": format!("https://ci.{}.example/runs/{}", repo.owner, draw.hex(10)),
                "context": check.context,
                "created_at": iso(check.created),
                "updated_at": iso(check.created + check.took),
            })
        })
        .collect();
    json!({ "state": state, "statuses": statuses, "sha": head, "total_count": checks.len() })
}

/// One review of `get_pull_request_reviews`.
pub(in crate::results_suite) fn review(
    repo: &Repo,
    pull: u64,
    (head, state, body): (&str, &str, &str),
    (reviewer, when): (&Person, u64),
    draw: &mut Draw,
) -> Value {
    let full = repo.full();
    let id = draw.between(1_900_000_000, 2_899_999_999);
    json!({
        "id": id,
        "node_id": format!("PRR_kwDO{}", draw.base62(12)),
        "user": user(reviewer),
        "body": body,
        "state": state,
        "html_url": format!("{WEB}/{full}/pull/{pull}#pullrequestreview-{id}"),
        "pull_request_url": format!("{API}/repos/{full}/pulls/{pull}"),
        "commit_id": head,
        "submitted_at": iso(when),
        "author_association": "MEMBER",
    })
}

/// One comment of `get_pull_request_comments`.
pub(in crate::results_suite) fn comment(
    repo: &Repo,
    pull: u64,
    (head, path, position): (&str, &str, u64),
    (hunk, body): (&str, &str),
    (author, when): (&Person, u64),
    draw: &mut Draw,
) -> Value {
    let full = repo.full();
    let id = draw.between(1_200_000_000, 1_999_999_999);
    let (api, web) =
        (format!("{API}/repos/{full}/pulls/comments/{id}"), format!("{WEB}/{full}/pull/{pull}#discussion_r{id}"));
    let pull_url = format!("{API}/repos/{full}/pulls/{pull}");
    json!({
        "url": api,
        "id": id,
        "node_id": format!("PRRC_kwDO{}", draw.base62(12)),
        "pull_request_review_id": draw.between(1_900_000_000, 2_899_999_999),
        "diff_hunk": hunk,
        "path": path,
        "position": position,
        "original_position": position,
        "commit_id": head,
        "original_commit_id": head,
        "user": user(author),
        "body": body,
        "created_at": iso(when),
        "updated_at": iso(when),
        "html_url": web,
        "pull_request_url": pull_url,
        "author_association": "MEMBER",
        "_links": { "self": { "href": api }, "html": { "href": web }, "pull_request": { "href": pull_url } },
    })
}

/// One commit of `list_commits`.
pub(in crate::results_suite) fn commit(
    repo: &Repo,
    hash: &str,
    message: &str,
    (author, when): (&Person, u64),
    draw: &mut Draw,
) -> Value {
    let full = repo.full();
    let tree = draw.hex(40);
    let signature = json!({ "name": author.name, "email": author.email, "date": iso(when) });
    json!({
        "sha": hash,
        "node_id": format!("C_kwDO{}", draw.base62(20)),
        "commit": {
            "author": signature,
            "committer": signature,
            "message": message,
            "tree": { "sha": tree, "url": format!("{API}/repos/{full}/git/trees/{tree}") },
            "url": format!("{API}/repos/{full}/git/commits/{hash}"),
            "comment_count": draw.between(0, 2),
        },
        "url": format!("{API}/repos/{full}/commits/{hash}"),
        "html_url": format!("{WEB}/{full}/commit/{hash}"),
        "comments_url": format!("{API}/repos/{full}/commits/{hash}/comments"),
    })
}

/// One label.
pub(in crate::results_suite) fn label(repo: &Repo, name: &str, note: &str, draw: &mut Draw) -> Value {
    json!({
        "id": draw.between(2_000_000_000, 8_999_999_999),
        "node_id": format!("LA_kwDO{}", draw.base62(12)),
        "url": format!("{API}/repos/{}/labels/{name}", repo.full()),
        "name": name,
        "color": draw.hex(6),
        "default": false,
        "description": note,
    })
}

/// What an issue is about.
#[derive(Debug, Clone)]
pub(in crate::results_suite) struct Issue {
    pub(in crate::results_suite) number: u64,
    pub(in crate::results_suite) title: String,
    pub(in crate::results_suite) author: Person,
    pub(in crate::results_suite) created: u64,
    pub(in crate::results_suite) comments: u64,
    pub(in crate::results_suite) body: String,
    /// `(name, note)`.
    pub(in crate::results_suite) labels: Vec<(String, String)>,
    /// `(title, creator, due)`.
    pub(in crate::results_suite) milestone: Option<(String, Person, u64)>,
}

/// One issue as GitHub sends it.
pub(in crate::results_suite) fn issue(repo: &Repo, issue: &Issue, draw: &mut Draw) -> Value {
    let base = format!("{API}/repos/{}", repo.full());
    let url = format!("{base}/issues/{}", issue.number);
    let labels: Vec<Value> = issue.labels.iter().map(|(name, note)| label(repo, name, note, draw)).collect();
    let milestone = issue.milestone.as_ref().map(|(title, creator, due)| {
        let number = draw.between(2, 40);
        json!({
            "url": format!("{base}/milestones/{number}"),
            "html_url": format!("{WEB}/{}/milestone/{number}", repo.full()),
            "labels_url": format!("{base}/milestones/{number}/labels"),
            "id": draw.between(5_000_000, 12_999_999),
            "node_id": format!("MI_kwDO{}", draw.base62(10)),
            "number": number,
            "title": title,
            "description": "",
            "creator": whole_user(creator, draw, false),
            "open_issues": draw.between(3, 30),
            "closed_issues": draw.between(3, 30),
            "state": "open",
            "created_at": iso(due - 90 * 86_400),
            "updated_at": iso(due - 20 * 86_400),
            "due_on": iso(*due),
            "closed_at": null,
        })
    });
    let reactions = json!({
        "url": format!("{url}/reactions"),
        "total_count": 0, "+1": 0, "-1": 0, "laugh": 0, "hooray": 0, "confused": 0, "heart": 0, "rocket": 0, "eyes": 0,
    });
    json!({
        "url": url,
        "repository_url": base,
        "labels_url": format!("{url}/labels{{/name}}"),
        "comments_url": format!("{url}/comments"),
        "events_url": format!("{url}/events"),
        "html_url": format!("{WEB}/{}/issues/{}", repo.full(), issue.number),
        "id": draw.between(2_000_000_000, 3_999_999_999),
        "node_id": format!("I_kwDO{}", draw.base62(12)),
        "number": issue.number,
        "title": issue.title,
        "user": whole_user(&issue.author, draw, false),
        "labels": labels,
        "state": "open",
        "locked": false,
        "assignee": null,
        "assignees": [],
        "milestone": milestone,
        "comments": issue.comments,
        "created_at": iso(issue.created),
        "updated_at": iso(issue.created + 3 * 86_400),
        "closed_at": null,
        "author_association": "CONTRIBUTOR",
        "active_lock_reason": null,
        "body": issue.body,
        "closed_by": null,
        "reactions": reactions,
        "timeline_url": format!("{url}/timeline"),
        "performed_via_github_app": null,
        "state_reason": null,
    })
}

/// One side of a pull request.
#[derive(Debug, Clone)]
pub(in crate::results_suite) struct Side {
    pub(in crate::results_suite) branch: String,
    pub(in crate::results_suite) sha: String,
    pub(in crate::results_suite) user: Person,
    pub(in crate::results_suite) record: RepoRecord,
}

/// What `get_pull_request` returns.
pub(in crate::results_suite) fn pull(
    number: u64,
    (title, body): (&str, &str),
    (created, merge_sha): (u64, &str),
    reviewers: &[Person],
    (head, base): (&Side, &Side),
    draw: &mut Draw,
) -> Value {
    let full = base.record.repo.full();
    let (api, web) = (format!("{API}/repos/{full}/pulls/{number}"), format!("{WEB}/{full}/pull/{number}"));
    let side = |side: &Side, draw: &mut Draw| {
        json!({
            "label": format!("{}:{}", side.record.repo.owner, side.branch),
            "ref": side.branch,
            "sha": side.sha,
            "user": user(&side.user),
            "repo": repository(&side.record, draw),
        })
    };
    json!({
        "url": api,
        "id": draw.between(1_500_000_000, 2_999_999_999),
        "node_id": format!("PR_kwDO{}", draw.base62(12)),
        "html_url": web,
        "diff_url": format!("{web}.diff"),
        "patch_url": format!("{web}.patch"),
        "issue_url": format!("{API}/repos/{full}/issues/{number}"),
        "number": number,
        "state": "open",
        "locked": false,
        "title": title,
        "user": user(&head.user),
        "body": body,
        "created_at": iso(created),
        "updated_at": iso(created + 86_400),
        "closed_at": null,
        "merged_at": null,
        "merge_commit_sha": merge_sha,
        "assignee": null,
        "assignees": [],
        "requested_reviewers": reviewers.iter().map(user).collect::<Vec<_>>(),
        "labels": [],
        "head": side(head, draw),
        "base": side(base, draw),
    })
}
