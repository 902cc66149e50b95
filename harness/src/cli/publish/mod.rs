//! Commands over records that exist: publishing, reading and comparing them.

pub(super) mod args;
pub(super) mod bundle;
pub(super) mod diff;
pub(super) mod key;
mod listing;
pub(super) mod record;
pub(super) mod rescore;
pub(super) mod shell;
pub(super) mod show;
pub(super) mod sign;
pub(super) mod verdict;
