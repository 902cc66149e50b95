//! What has drifted from a lock.

use std::{collections::BTreeMap, fmt};

use super::{Lock, LockDigests};
use crate::digest::Digest;

/// One thing that is not what the lock says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// What it is, such as `catalog git` or `surface L2`.
    pub what: String,
    /// The locked digest; none where the lock does not know it.
    pub locked: Option<Digest>,
    /// The digest found; none where it is gone.
    pub found: Option<Digest>,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.locked, &self.found) {
            (Some(locked), Some(found)) => write!(f, "{}: locked as {locked}, found {found}", self.what),
            (Some(_), None) => write!(f, "{}: locked, but not there", self.what),
            (None, _) => write!(f, "{}: not in the lock", self.what),
        }
    }
}

/// Everything that differs, in a fixed order; empty where nothing does.
pub fn drift(lock: &Lock, computed: &LockDigests) -> Vec<Drift> {
    let locked = lock.digests();
    let mut all = Vec::new();
    let mut single = |what: &str, locked: &Digest, found: &Digest| {
        if locked != found {
            all.push(Drift { what: what.to_owned(), locked: Some(locked.clone()), found: Some(found.clone()) });
        }
    };
    single("protocol", &locked.protocol, &computed.protocol);
    single("intents", &locked.intents, &computed.intents);
    single("prompts", &locked.prompts, &computed.prompts);
    let maps = [
        ("catalog", &locked.catalogs, &computed.catalogs),
        ("task list", &locked.tasks, &computed.tasks),
        ("surface", &locked.surfaces, &computed.surfaces),
        ("product", &locked.products, &computed.products),
    ];
    for (kind, locked, found) in maps {
        all.extend(map_drift(kind, locked, found));
    }
    // A lock from before they were kept says nothing of them, and nothing can differ from that.
    if !locked.replication_tasks.is_empty() {
        all.extend(map_drift("replication task list", &locked.replication_tasks, &computed.replication_tasks));
    }
    all
}

fn map_drift<'a>(
    kind: &'a str,
    locked: &'a BTreeMap<String, Digest>,
    found: &'a BTreeMap<String, Digest>,
) -> impl Iterator<Item = Drift> + 'a {
    let names = locked.keys().chain(found.keys().filter(|name| !locked.contains_key(*name)));
    names.filter_map(move |name| {
        let (locked, found) = (locked.get(name), found.get(name));
        (locked != found).then(|| Drift {
            what: format!("{kind} {name}"),
            locked: locked.cloned(),
            found: found.cloned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::tests::{digests, lock};

    #[test]
    fn equal_digests_do_not_drift() {
        assert_eq!(drift(&lock("first", None), &digests()), []);
    }

    #[test]
    fn replication_tasks_drift_under_a_lock_that_holds_them_and_not_under_one_from_before() {
        let mut found = digests();
        found.replication_tasks.insert("tools".to_owned(), Digest::of(b"new"));
        let old = lock("first", None);
        assert_eq!(drift(&old, &found), []);
        let mut body = old.body().clone();
        body.digests.replication_tasks.insert("tools".to_owned(), Digest::of(b"old"));
        let all = drift(&Lock::new(body).unwrap(), &found);
        assert_eq!(all.iter().map(|drift| drift.what.as_str()).collect::<Vec<_>>(), ["replication task list tools"]);
    }

    #[test]
    fn each_thing_that_drifts_is_named_with_what_was_locked_and_found() {
        let mut found = digests();
        found.protocol = Digest::of(b"other");
        found.catalogs.insert("git".to_owned(), Digest::of(b"other"));
        found.surfaces.clear();
        found.tasks.insert("results".to_owned(), Digest::of(b"new"));
        let all = drift(&lock("first", None), &found);
        assert_eq!(
            all.iter().map(|drift| drift.what.as_str()).collect::<Vec<_>>(),
            ["protocol", "catalog git", "task list results", "surface raw"]
        );
        assert_eq!(all[2].to_string(), "task list results: not in the lock");
        assert_eq!(all[3].to_string(), "surface raw: locked, but not there");
    }
}
