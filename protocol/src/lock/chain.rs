//! The chain of locks: each names its parent, the current one is the only leaf.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use super::{Lock, LockError};
use crate::digest::Digest;

include!(concat!(env!("OUT_DIR"), "/locks.rs"));

/// A checked chain, possibly empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chain {
    locks: BTreeMap<Digest, Lock>,
    leaf: Option<Digest>,
}

impl Chain {
    /// The chain compiled into the binary.
    ///
    /// # Errors
    /// As [`Chain::of_files`].
    pub fn built_in() -> Result<Self, LockError> {
        Self::of_files(EMBEDDED.iter().map(|(name, bytes)| (*name, *bytes)))
    }

    /// The chain in a folder: all its `*.json`. A folder that is not there is an empty chain.
    ///
    /// # Errors
    /// As [`Chain::of_files`], or the folder cannot be read.
    pub fn of_folder(folder: &Path) -> Result<Self, LockError> {
        let read = |path: &Path, source| LockError::Read { path: path.to_owned(), source };
        if !folder.exists() {
            return Ok(Self::default());
        }
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).map_err(|source| read(folder, source))? {
            let path = entry.map_err(|source| read(folder, source))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let bytes = fs::read(&path).map_err(|source| read(&path, source))?;
                files.insert(path.file_name().unwrap_or_default().to_string_lossy().into_owned(), bytes);
            }
        }
        Self::of_files(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())))
    }

    /// The chain of some files, by name and content.
    ///
    /// # Errors
    /// A file that is no lock, a wrong id or name, a missing parent, or more than one leaf.
    pub fn of_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Result<Self, LockError> {
        let mut locks = BTreeMap::new();
        for (file, bytes) in files {
            let lock = Lock::parse(file, bytes)?;
            if lock.file_name() != file {
                return Err(LockError::WrongName { file: file.to_owned(), id: lock.id().clone() });
            }
            locks.insert(lock.id().clone(), lock);
        }
        Self::of_locks(locks)
    }

    fn of_locks(locks: BTreeMap<Digest, Lock>) -> Result<Self, LockError> {
        let mut leaves: BTreeSet<&Digest> = locks.keys().collect();
        for lock in locks.values() {
            if let Some(parent) = &lock.body().parent {
                if !locks.contains_key(parent) {
                    return Err(LockError::MissingParent { file: lock.file_name(), parent: parent.clone() });
                }
                leaves.remove(parent);
            }
        }
        // Ids are hashes over the parent's id, so there are no loops and any lock at all leads to a leaf.
        if leaves.len() > 1 {
            let leaves = leaves.into_iter().map(|id| format!("{}.json", id.hex())).collect();
            return Err(LockError::SeveralLeaves { leaves });
        }
        let leaf = leaves.into_iter().next().cloned();
        Ok(Self { locks, leaf })
    }

    /// The current lock; none where the chain is empty.
    pub fn current(&self) -> Option<&Lock> {
        self.locks.get(self.leaf.as_ref()?)
    }

    /// A lock by its id.
    pub fn get(&self, id: &Digest) -> Option<&Lock> {
        self.locks.get(id)
    }

    /// The locks from the current one back to the first.
    pub fn history(&self) -> impl Iterator<Item = &Lock> {
        std::iter::successors(self.current(), |lock| self.locks.get(lock.body().parent.as_ref()?))
    }

    /// The chain with a new lock at its end.
    ///
    /// # Errors
    /// The lock's parent is not the current one.
    pub fn with(&self, lock: Lock) -> Result<Self, LockError> {
        let mut locks = self.locks.clone();
        locks.insert(lock.id().clone(), lock);
        Self::of_locks(locks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::tests::lock;

    fn files(locks: &[&Lock]) -> Result<Chain, LockError> {
        let files: Vec<(String, Vec<u8>)> =
            locks.iter().map(|lock| (lock.file_name(), lock.bytes().unwrap())).collect();
        Chain::of_files(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())))
    }

    #[test]
    fn the_current_lock_is_the_only_leaf_and_history_leads_to_the_first() {
        let first = lock("first", None);
        let second = lock("second", Some(&first));
        let third = lock("third", Some(&second));
        let chain = files(&[&third, &first, &second]).unwrap();
        assert_eq!(chain.current(), Some(&third));
        assert_eq!(
            chain.history().map(|lock| lock.body().reason.as_str()).collect::<Vec<_>>(),
            ["third", "second", "first"]
        );
    }

    #[test]
    fn no_lock_at_all_is_an_empty_chain() {
        assert_eq!(files(&[]).unwrap().current(), None);
    }

    #[test]
    fn two_leaves_are_an_error_that_names_both() {
        let first = lock("first", None);
        let (a, b) = (lock("a", Some(&first)), lock("b", Some(&first)));
        let message = files(&[&first, &a, &b]).unwrap_err().to_string();
        assert!(message.contains(a.id().hex()) && message.contains(b.id().hex()), "{message}");
    }

    #[test]
    fn a_missing_parent_is_an_error_that_names_it() {
        let first = lock("first", None);
        let message = files(&[&lock("second", Some(&first))]).unwrap_err().to_string();
        assert!(message.contains(first.id().as_str()), "{message}");
    }

    #[test]
    fn a_lock_under_another_name_is_an_error() {
        let bytes = lock("first", None).bytes().unwrap();
        assert!(matches!(Chain::of_files([("x.json", bytes.as_slice())]), Err(LockError::WrongName { .. })));
    }

    #[test]
    fn a_new_lock_must_follow_the_current_one() {
        let first = lock("first", None);
        let chain = files(&[&first]).unwrap();
        let second = lock("second", Some(&first));
        let longer = chain.with(second.clone()).unwrap();
        assert_eq!(longer.current(), Some(&second));
        assert!(matches!(longer.with(lock("fork", Some(&first))), Err(LockError::SeveralLeaves { .. })));
    }

    #[test]
    fn the_built_in_chain_loads() {
        Chain::built_in().unwrap();
    }
}
