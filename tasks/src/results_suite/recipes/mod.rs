//! How items are made: one recipe per kind and format.

mod app_log;
mod diffs;
mod git_log;
mod hub;
mod pulls;
mod worktree;

use serde_json::{Map, Value};

use super::{kind::Kind, world::World};

/// A made item, before its question is worded.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Upstream name of the source tool.
    pub(super) tool: &'static str,
    /// Arguments of the call.
    pub(super) arguments: Map<String, Value>,
    /// The tool's output.
    pub(super) text: String,
    /// The right answer.
    pub(super) gold: String,
    /// What the question names.
    pub(super) slots: Vec<(&'static str, String)>,
}

/// A way to make items of one kind from one format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recipe {
    pub(super) kind: Kind,
    /// The source, and what of it is asked: unique within the kind.
    pub(super) format: &'static str,
    pub(super) make: fn(&mut World<'_>) -> Item,
}

/// The members of an object; nothing where `value` is none, which no recipe passes.
fn members(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

/// How many of `rows` do `fit`, as an answer.
fn tally<T>(rows: &[T], fit: impl Fn(&T) -> bool) -> String {
    rows.iter().filter(|row| fit(row)).count().to_string()
}

/// The name of the `n`-th largest value, counted from 1; values must differ.
fn nth_largest(n: usize, rows: impl Iterator<Item = (u64, String)>) -> String {
    let mut rows: Vec<(u64, String)> = rows.collect();
    rows.sort_by(|a, b| b.cmp(a));
    rows.into_iter().nth(n - 1).map(|(_, name)| name).unwrap_or_default()
}

const fn recipe(kind: Kind, format: &'static str, make: fn(&mut World<'_>) -> Item) -> Recipe {
    Recipe { kind, format, make }
}

/// All recipes. The order decides which frames a short suite has, so neighbours are of different kinds.
pub(super) const RECIPES: &[Recipe] = &[
    recipe(Kind::RecordLookup, "log-author", git_log::author_by_hash),
    recipe(Kind::Count, "log-author", git_log::count_by_author),
    recipe(Kind::UncuedFact, "log-host", git_log::host_by_subject),
    recipe(Kind::Sum, "log-points", git_log::sum_of_points),
    recipe(Kind::Absence, "log-author", git_log::absent_author),
    recipe(Kind::ErrorInLog, "log-quoted", git_log::quoted_error),
    recipe(Kind::SecondLargest, "log-ms", git_log::second_slowest),
    recipe(Kind::Join, "log-reviewer", git_log::author_and_reviewer),
    recipe(Kind::Unicode, "log-author", git_log::unicode_author),
    recipe(Kind::NearDuplicate, "log-subject", git_log::repeated_subject),
    recipe(Kind::FirstLast, "log-earliest", git_log::earliest_of_author),
    recipe(Kind::LongBlocks, "log-bodies", git_log::ticket_in_long_bodies),
    recipe(Kind::NestedField, "commits-email", hub::email_by_message),
    recipe(Kind::RecordLookup, "log-day", git_log::day_by_subject),
    recipe(Kind::Count, "log-type", git_log::count_by_type),
    recipe(Kind::UncuedFact, "log-ms", git_log::ms_by_hash),
    recipe(Kind::Sum, "csv-warehouse", diffs::stock_sum),
    recipe(Kind::Absence, "applog-user", app_log::absent_user),
    recipe(Kind::ErrorInLog, "applog-shard", app_log::error_shard),
    recipe(Kind::SecondLargest, "csv-quantity", diffs::stock_second),
    recipe(Kind::Join, "applog-request", app_log::time_of_user),
    recipe(Kind::Unicode, "diff-locale", diffs::translation),
    recipe(Kind::NearDuplicate, "applog-batch", app_log::rows_of_batch),
    recipe(Kind::FirstLast, "log-latest", git_log::latest_of_type),
    recipe(Kind::LongBlocks, "diff-constants", diffs::constant),
    recipe(Kind::NestedField, "issue-milestone", hub::milestone_title),
    recipe(Kind::RecordLookup, "files-additions", pulls::additions_of_file),
    recipe(Kind::Count, "applog-warnings", app_log::count_warnings),
    recipe(Kind::UncuedFact, "diff-setting", diffs::setting),
    recipe(Kind::Sum, "applog-rows", app_log::sum_of_rows),
    recipe(Kind::Absence, "status-deletion", worktree::absent_deletion),
    recipe(Kind::ErrorInLog, "checks-exit", pulls::exit_code),
    recipe(Kind::SecondLargest, "applog-ms", app_log::second_slowest),
    recipe(Kind::Join, "files-folder", pulls::added_in_folder),
    recipe(Kind::Unicode, "commits-author", hub::unicode_name_by_hash),
    recipe(Kind::NearDuplicate, "branches-ticket", worktree::near_ticket),
    recipe(Kind::FirstLast, "applog-retry", app_log::last_retry),
    recipe(Kind::LongBlocks, "comments-author", pulls::comment_author),
    recipe(Kind::NestedField, "issue-creator", hub::milestone_creator),
    recipe(Kind::RecordLookup, "checks-cases", pulls::cases_of_check),
    recipe(Kind::Count, "status-untracked", worktree::count_untracked),
    recipe(Kind::UncuedFact, "applog-reload", app_log::reloaded_settings),
    recipe(Kind::Sum, "files-additions", pulls::sum_of_additions),
    recipe(Kind::Absence, "branches-ticket", worktree::absent_ticket),
    recipe(Kind::ErrorInLog, "issue-body", hub::error_in_body),
    recipe(Kind::SecondLargest, "files-changes", pulls::second_most_changes),
    recipe(Kind::Join, "reviews-day", pulls::approved_on),
    recipe(Kind::Unicode, "issue-title", hub::unicode_title),
    recipe(Kind::NearDuplicate, "status-sibling", worktree::staged_sibling),
    recipe(Kind::FirstLast, "checks-first", pulls::first_check),
    recipe(Kind::Join, "checks-system", pulls::pending_on_system),
    recipe(Kind::NestedField, "issue-label", hub::label_note),
    recipe(Kind::RecordLookup, "repos-branch", hub::default_branch),
    recipe(Kind::Count, "branches-prefix", worktree::count_prefix),
    recipe(Kind::UncuedFact, "status-renamed", worktree::renamed),
    recipe(Kind::Sum, "checks-cases", pulls::sum_of_cases),
    recipe(Kind::Absence, "repos-owner", hub::absent_owner),
    recipe(Kind::NearDuplicate, "checks-grid", pulls::grid_check),
    recipe(Kind::FirstLast, "reviews-last", pulls::last_review),
    recipe(Kind::NestedField, "pull-fork", pulls::fork_default_branch),
    recipe(Kind::RecordLookup, "commits-day", hub::day_by_hash),
    recipe(Kind::Count, "checks-pending", pulls::count_pending),
    recipe(Kind::UncuedFact, "pull-merge", pulls::merge_commit),
    recipe(Kind::NearDuplicate, "repos-namesake", hub::namesake),
    recipe(Kind::FirstLast, "repos-push", hub::latest_push),
    recipe(Kind::NestedField, "pull-base", pulls::base_repo_id),
    recipe(Kind::RecordLookup, "users-id", hub::user_id),
    recipe(Kind::Count, "files-removed", pulls::count_removed),
    recipe(Kind::NestedField, "repos-owner", hub::owner_id),
    recipe(Kind::Count, "reviews-state", pulls::count_comments_only),
    recipe(Kind::FirstLast, "issues-oldest", hub::oldest_issue),
    recipe(Kind::Count, "status-new", worktree::count_new_files),
    recipe(Kind::Count, "csv-rows", diffs::stock_count),
];
